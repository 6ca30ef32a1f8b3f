//! Owners at plan: what another stack owns, and two resources of this stack that are one real resource.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use stead_model::{
    Code, CopyRef, Diagnostic, Graph, Hint, Inputs, Lifecycle, Map, Name, NextStep, PhysicalIdentity,
    Resource, SourceRef,
};
use stead_plan::{Action, Plan, Step};
use stead_provider::{Description, OwnerMark, Provider};
use stead_state::State;

use crate::Engine;
use crate::owners::calls::owner_text;
use crate::owners::identities::{described, identities_of};
use crate::owners::{Stacks, Standing};

/// Most refusals that one plan lists.
const MAX_REFUSALS: usize = 20;

/// A real resource that a plan touches.
pub(super) struct Touched<'a> {
    pub(super) step: &'a Step,
    verb: &'static str,
    pub(super) identities: Vec<PhysicalIdentity>,
    provider: Option<Arc<dyn Provider>>,
}

/// Resources of one provider that a plan touches.
type Asked<'a> = (Arc<dyn Provider>, Vec<(&'a Step, &'static str, PhysicalIdentity)>);

impl Engine {
    /// Returns a refusal for each step that would touch what another stack owns, up to a limit.
    pub(crate) async fn foreign_owners(&self, plan: &Plan, base: &State, graph: &Graph) -> Vec<Diagnostic> {
        let Some(owners) = &self.owners else { return Vec::new() };
        let taken = |step: &Step| owners.take_over.iter().any(|glob| glob.matches(&step.name));
        let mut asked: Vec<Asked<'_>> = Vec::new();
        for Touched { step, verb, identities, provider } in self.touched(plan, base, graph).await {
            let Some(provider) = provider.filter(|_| !taken(step) && !identities.is_empty()) else {
                continue;
            };
            let touched = identities.into_iter().map(|identity| (step, verb, identity));
            match asked.iter_mut().find(|(known, _)| Arc::ptr_eq(known, &provider)) {
                Some((_, of_provider)) => of_provider.extend(touched),
                None => asked.push((provider, touched.collect())),
            }
        }
        let (mut refused, mut stacks) = (Vec::new(), Stacks::default());
        for (provider, touched) in asked {
            let Some(ownership) = provider.ownership() else { continue };
            let is_create = |step: &Step| matches!(step.action, Action::Create { .. });
            let touched: Vec<_> = touched
                .into_iter()
                .filter(|(step, ..)| !(is_create(step) && ownership.marks_are_inside()))
                .collect();
            let identities = touched.iter().map(|(_, _, identity)| identity.clone()).collect();
            let marks = ownership.owners(identities).await;
            // One refusal for a step is enough, also if its resource consists of several parts.
            let mut last: Option<&Name> = None;
            for ((step, verb, identity), mark) in touched.into_iter().zip(marks) {
                let more = refused.len() < MAX_REFUSALS && last != Some(&step.name);
                let mark = mark.unwrap_or_else(|problem| {
                    owners.note(problem);
                    None
                });
                let Some(mark) = mark.filter(|_| more) else { continue };
                match stacks.standing(owners, &mark).await {
                    Standing::Own | Standing::Stale => {}
                    standing => {
                        refused.push(owned_elsewhere(step, verb, &identity, &mark, &standing));
                        last = Some(&step.name);
                    }
                }
            }
        }
        refused
    }

    /// Returns an error for each created or imported resource that is the same real resource as another one.
    pub(crate) async fn same_thing_twice(&self, plan: &Plan, base: &State, graph: &Graph) -> Vec<Diagnostic> {
        let is_new = |step: &&Step| matches!(step.action, Action::Create { .. } | Action::Import { .. });
        if !plan.steps.iter().any(|step| is_new(&step)) {
            return Vec::new();
        }
        let new: Vec<Touched<'_>> = self
            .touched(plan, base, graph)
            .await
            .into_iter()
            .filter(|touched| is_new(&touched.step))
            .collect();
        if new.iter().all(|touched| touched.identities.is_empty()) {
            return Vec::new();
        }
        let mut holders: HashMap<PhysicalIdentity, (Name, SourceRef)> = HashMap::new();
        let kept = remaining(plan, base);
        let of_kept = kept.iter().map(|copy| described(self, base, copy)).collect();
        for (copy, identities) in kept.iter().zip(identities_of(of_kept).await) {
            for identity in identities {
                holders.entry(identity).or_insert_with(|| (copy.name.clone(), copy.source.clone()));
            }
        }
        let mut problems = Vec::new();
        for Touched { step, identities, .. } in new {
            for identity in identities {
                if let Some((name, source)) = holders.get(&identity) {
                    problems.push(same_thing(step, &identity, name, source));
                    break;
                }
                holders.insert(identity, (step.name.clone(), step.source.clone()));
            }
        }
        problems
    }

    /// Returns the steps that create, import, change or delete, with the identities that are known.
    pub(super) async fn touched<'a>(&self, plan: &'a Plan, base: &State, graph: &Graph) -> Vec<Touched<'a>> {
        let steps: Vec<_> = self
            .step_providers(plan, base, graph)
            .into_iter()
            .filter_map(|(step, provider)| Some((touched_by(step, base)?, provider)))
            .collect();
        let described = steps.iter().map(|((.., of), provider)| (provider.clone(), of.clone())).collect();
        let found = identities_of(described).await;
        let touched =
            |(((step, verb, _), provider), identities)| Touched { step, verb, identities, provider };
        steps.into_iter().zip(found).map(touched).collect()
    }
}

fn touched_by<'a>(step: &'a Step, base: &State) -> Option<(&'a Step, &'static str, Description)> {
    let recorded = |copy: &CopyRef| base.copy(copy).map(Description::of_record);
    let described = |id, properties| Description { ty: step.ty.clone(), id, properties };
    match &step.action {
        Action::Create { inputs, .. } => Some((step, "create", described(None, known(inputs)))),
        Action::Import { id, inputs, outputs, .. } => {
            // The id may be spelled in another way than the properties spell it.
            let mut properties = outputs.clone();
            properties.extend(inputs.iter().map(|(key, value)| (key.clone(), value.clone())));
            Some((step, "import", described(Some(id.clone()), properties)))
        }
        Action::Update { copy, .. } => Some((step, "update", recorded(copy)?)),
        Action::Delete { copy, .. } => Some((step, "delete", recorded(copy)?)),
        _ => None,
    }
}

fn known(inputs: &Inputs) -> Map {
    inputs.iter().filter_map(|(key, input)| Some((key.clone(), input.as_known()?.clone()))).collect()
}

/// Returns the recorded copies that exist and that the plan leaves in place, sorted.
fn remaining<'a>(plan: &Plan, base: &'a State) -> Vec<&'a Resource> {
    let leaving: HashSet<&CopyRef> = plan
        .steps
        .iter()
        .filter_map(|step| match &step.action {
            Action::Delete { copy, .. } | Action::Forget { copy, .. } => Some(copy),
            _ => None,
        })
        .collect();
    let exists = |copy: &&Resource| copy.lifecycle != Lifecycle::Replacing;
    base.resources().into_iter().filter(exists).filter(|copy| !leaving.contains(&copy.copy())).collect()
}

fn owned_elsewhere(
    step: &Step,
    verb: &str,
    identity: &PhysicalIdentity,
    mark: &OwnerMark,
    standing: &Standing,
) -> Diagnostic {
    let owner = owner_text(identity, mark, standing);
    Diagnostic::error(Code::OWNED_ELSEWHERE, format!("cannot {verb} {}: {owner}", step.name))
        .at(step.source.clone(), 0, "declared here")
        .note("Two stacks that manage one real resource undo and delete each other's work. Nothing was changed.")
        .help("let the other stack manage it alone; or let it go there first, with a retain policy or by forgetting it")
        .help(Hint::text("to take it from that stack: ").then(NextStep::TakeOver { name: step.name.clone() }))
}

fn same_thing(step: &Step, identity: &PhysicalIdentity, other: &Name, place: &SourceRef) -> Diagnostic {
    let message = format!("{} and {other} are the same real resource: {identity}", step.name);
    Diagnostic::error(Code::SAME_RESOURCE, message)
        .at(step.source.clone(), 0, format!("{} is declared here", step.name))
        .at(place.clone(), 0, format!("{other} is declared here"))
        .note("Each of the two would overwrite the other, and deleting one would delete both.")
        .help("give one of them another place, or remove one of them")
}
