//! The least permissions that AWS must give for a plan.

use stead_aws::{MoreProperties, Permissions, TypeUse, least};
use stead_engine::ops::Proposal;
use stead_model::{Inputs, Map, Resource};
use stead_plan::{Action, Step};
use stead_schema::cfn::HandlerKind;
use stead_state::State;

/// Returns the least IAM policies for making this plan with a look at every resource, and for applying it.
pub fn permissions(proposal: &Proposal) -> Permissions {
    let base = proposal.base();
    let mut uses: Vec<TypeUse> = base.copies().filter(|copy| copy.id.is_some()).map(read).collect();
    uses.extend(proposal.plan().steps.iter().flat_map(|step| changes(step, base)));
    least(&uses)
}

fn read(copy: &Resource) -> TypeUse {
    let (ty, known, more) = (copy.ty.clone(), copy.outputs.clone(), MoreProperties::None);
    TypeUse { ty, handler: HandlerKind::Read, known, more }
}

fn changes(step: &Step, base: &State) -> Vec<TypeUse> {
    let used = |handler, known: Map| {
        let more = MoreProperties::None;
        TypeUse { ty: step.ty.clone(), handler, known, more }
    };
    let recorded = |copy| base.copy(copy).map(|copy| copy.outputs.clone()).unwrap_or_default();
    match &step.action {
        Action::Create { inputs, .. } => {
            let create = TypeUse { more: more(inputs), ..used(HandlerKind::Create, known(inputs)) };
            vec![create, used(HandlerKind::Read, known(inputs))]
        }
        Action::Import { outputs, .. } => vec![used(HandlerKind::Read, outputs.clone())],
        Action::Update { copy, inputs, .. } => {
            // A role that the resource gets is in the new inputs.
            let mut properties = recorded(copy);
            properties.extend(known(inputs));
            vec![TypeUse { more: more(inputs), ..used(HandlerKind::Update, properties) }]
        }
        Action::Delete { copy, .. } => vec![used(HandlerKind::Delete, recorded(copy))],
        Action::Record { .. } | Action::Move { .. } | Action::Forget { .. } | Action::Barrier => Vec::new(),
    }
}

fn more(inputs: &Inputs) -> MoreProperties {
    match inputs.values().all(|input| input.as_known().is_some()) {
        true => MoreProperties::None,
        false => MoreProperties::Unknown,
    }
}

fn known(inputs: &Inputs) -> Map {
    inputs.iter().filter_map(|(name, input)| Some((name.clone(), input.as_known()?.clone()))).collect()
}
