//! The least permissions that AWS must give for a plan.

use stead_aws::{MoreProperties, Permissions, Settings, TypeUse, UsedProvider, known_by_id, least};
use stead_engine::ops::Proposal;
use stead_model::{CopyRef, Graph, Inputs, Map, Node, Resource, Value};
use stead_plan::{Action, Certainty, Plan, Step, Why};
use stead_schema::cfn::HandlerKind;
use stead_state::State;

use crate::program::LookUp;
use crate::{Project, Transcript};

/// Settings of a provider that choose its credentials.
const CREDENTIALS: [&str; 2] = ["profile", "role"];

/// Returns the least IAM policies for making this plan with a look at every resource, and for applying it.
///
/// `transcript` has the look-ups of the program that the plan was made from.
pub fn permissions(
    project: &Project,
    target: &str,
    proposal: &Proposal,
    transcript: &Transcript,
) -> Permissions {
    let base = proposal.base();
    let mut uses: Vec<TypeUse> =
        base.copies().filter(|copy| copy.id.is_some()).map(|copy| read(copy, base)).collect();
    uses.extend(transcript.answered().map(looked_up));
    let plan = proposal.plan();
    uses.extend(plan.steps.iter().flat_map(|step| changes(step, plan, base, proposal.graph())));
    least(&uses, &settings(project, target, base))
}

/// Returns the settings of the target. The region of an earlier run stands for one of the environment.
fn settings(project: &Project, target: &str, base: &State) -> Settings {
    let settings = project.aws_settings(target);
    let recorded = base.places().of("aws").and_then(|place| place.0.get("region")).cloned();
    Settings { region: settings.region.or(recorded), ..settings }
}

fn read(copy: &Resource, base: &State) -> TypeUse {
    TypeUse {
        ty: copy.ty.clone(),
        handler: HandlerKind::Read,
        known: copy.outputs.clone(),
        more: MoreProperties::None,
        provider: recorded_provider(copy, base),
    }
}

fn looked_up(look_up: LookUp<'_>) -> TypeUse {
    let mut known = known_by_id(&look_up.ty, look_up.id);
    known.extend(look_up.properties.iter().map(|(name, value)| (name.clone(), value.clone())));
    let provider = look_up.provider.map(|(name, settings)| UsedProvider {
        name: name.to_owned(),
        settings: settings.clone(),
        more: MoreProperties::None,
    });
    TypeUse { ty: look_up.ty, handler: HandlerKind::Read, known, more: MoreProperties::None, provider }
}

fn changes(step: &Step, plan: &Plan, base: &State, graph: &Graph) -> Vec<TypeUse> {
    let used = |handler, known: Map, provider: Option<UsedProvider>| {
        let more = MoreProperties::None;
        TypeUse { ty: step.ty.clone(), handler, known, more, provider }
    };
    let recorded = |copy: &CopyRef| base.copy(copy).map(|copy| copy.outputs.clone()).unwrap_or_default();
    let of_record = |copy: &CopyRef| base.copy(copy).and_then(|copy| recorded_provider(copy, base));
    let update = |copy: &CopyRef, inputs: &Inputs| {
        // A role that the resource gets is in the new inputs.
        let mut properties = recorded(copy);
        properties.extend(known(inputs));
        TypeUse { more: more(inputs), ..used(HandlerKind::Update, properties, of_record(copy)) }
    };
    let old_copy = || plan.existing.get(&step.node?);
    let of_program = || declared_provider(graph.node(step.node?)?, graph);
    match &step.action {
        Action::Create { inputs, .. } => {
            let create =
                TypeUse { more: more(inputs), ..used(HandlerKind::Create, known(inputs), of_program()) };
            let mut uses = vec![create, used(HandlerKind::Read, known(inputs), of_program())];
            // The change is tried in place first.
            if let Why::Replaced { certainty: Certainty::Possible, .. } = &step.why {
                uses.extend(old_copy().map(|old| update(old, inputs)));
            }
            uses
        }
        Action::Import { outputs, .. } => vec![used(HandlerKind::Read, outputs.clone(), of_program())],
        Action::Update { copy, inputs, .. } => {
            vec![update(copy, inputs)]
        }
        Action::Delete { copy, .. } => vec![used(HandlerKind::Delete, recorded(copy), of_record(copy))],
        Action::Record { .. } | Action::Move { .. } | Action::Forget { .. } | Action::Barrier => Vec::new(),
    }
}

fn recorded_provider(copy: &Resource, base: &State) -> Option<UsedProvider> {
    let provider = copy.ties.provider.as_ref()?;
    let record = base.resolve(provider);
    let mut settings = record.map(|record| record.inputs.clone()).unwrap_or_default();
    if let Some((region, value)) = record.and_then(|record| record.outputs.get_key_value("region")) {
        settings.insert(region.clone(), value.clone());
    }
    let locked = |name: &&str| settings.get(*name).is_some_and(Value::has_secrets);
    let is_known = record.is_some() && !CREDENTIALS.iter().any(locked);
    let more = if is_known { MoreProperties::None } else { MoreProperties::Unknown };
    let name = record.map(|record| record.name.to_string()).unwrap_or_default();
    Some(UsedProvider { name, settings, more })
}

fn declared_provider(node: &Node, graph: &Graph) -> Option<UsedProvider> {
    let provider = graph.node(node.options.provider?)?;
    let is_unknown = |name: &&str| provider.inputs.get(*name).is_some_and(|input| input.as_known().is_none());
    let more = match CREDENTIALS.iter().any(is_unknown) {
        true => MoreProperties::Unknown,
        false => MoreProperties::None,
    };
    Some(UsedProvider { name: provider.name.to_string(), settings: known(&provider.inputs), more })
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
