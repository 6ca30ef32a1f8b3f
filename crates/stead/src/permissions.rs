//! The least permissions that AWS must give for a plan.

use stead_aws::{Permissions, TypeUse, least};
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
    TypeUse { ty: copy.ty.clone(), handler: HandlerKind::Read, known: copy.outputs.clone() }
}

fn changes(step: &Step, base: &State) -> Vec<TypeUse> {
    let used = |handler, known: Map| TypeUse { ty: step.ty.clone(), handler, known };
    let recorded = |copy| base.copy(copy).map(|copy| copy.outputs.clone()).unwrap_or_default();
    match &step.action {
        Action::Create { inputs, .. } => {
            vec![used(HandlerKind::Create, known(inputs)), used(HandlerKind::Read, known(inputs))]
        }
        Action::Import { outputs, .. } => vec![used(HandlerKind::Read, outputs.clone())],
        Action::Update { copy, .. } => vec![used(HandlerKind::Update, recorded(copy))],
        Action::Delete { copy, .. } => vec![used(HandlerKind::Delete, recorded(copy))],
        Action::Record { .. } | Action::Move { .. } | Action::Forget { .. } | Action::Barrier => Vec::new(),
    }
}

fn known(inputs: &Inputs) -> Map {
    inputs.iter().filter_map(|(name, input)| Some((name.clone(), input.as_known()?.clone()))).collect()
}
