//! Retained resources at plan: no create takes the place of a resource that this stack let go and that still exists.
//!
//! A provider may overwrite what it finds there. **Invariant:** nothing here changes or claims a resource.

use std::collections::{BTreeSet, HashMap};

use stead_model::{Code, Diagnostic, Graph, Hint, Name, NextStep, PhysicalIdentity, TypeToken, Uid};
use stead_plan::{Action, Plan, Step, Why};
use stead_provider::Description;
use stead_state::{Retained, State};

use crate::Engine;
use crate::owners::identities::{Described, described, identities_of};
use crate::owners::verdict::Touched;

/// A real resource that the stack does not manage after the run although it exists.
enum Kept<'a> {
    /// The plan retains it.
    Leaving { name: &'a Name, uid: &'a Uid },
    /// An earlier run retained it.
    Left(&'a Retained),
}

impl Engine {
    /// Returns a refusal for each create in the place of a retained resource. A replacement of that resource is left to the guards.
    pub(crate) async fn created_over_retained(
        &self,
        plan: &Plan,
        base: &State,
        graph: &Graph,
    ) -> Vec<Diagnostic> {
        let creates = |step: &Step| matches!(step.action, Action::Create { .. });
        let retains = |step: &Step| step.why == Why::Retained;
        let some_kept = base.retained().next().is_some() || plan.steps.iter().any(retains);
        if !some_kept || !plan.steps.iter().any(creates) {
            return Vec::new();
        }
        let touched = self.touched(plan, base, graph).await;
        let created: Vec<&Touched<'_>> =
            touched.iter().filter(|one| creates(one.step) && !one.identities.is_empty()).collect();
        if created.is_empty() {
            return Vec::new();
        }
        let types: BTreeSet<&TypeToken> = created.iter().map(|one| &one.step.ty).collect();
        let kept = self.kept(plan, base, &types).await;
        let refused = |one: &&Touched<'_>| {
            let found = one.identities.iter().find_map(|identity| Some((identity, kept.get(identity)?)));
            let (identity, kept) = found?;
            let own = one.step.node.and_then(|node| plan.existing.get(&node)).map(|copy| &copy.uid);
            let replaces = matches!(kept, Kept::Leaving { uid, .. } if own == Some(*uid));
            (!replaces).then(|| created_over(one.step, identity, kept))
        };
        created.iter().filter_map(refused).collect()
    }

    /// Returns the identities of retained resources that exist, of these types.
    async fn kept<'a>(
        &self,
        plan: &'a Plan,
        base: &'a State,
        types: &BTreeSet<&TypeToken>,
    ) -> HashMap<PhysicalIdentity, Kept<'a>> {
        let (mut kept, mut of): (Vec<Kept<'a>>, Vec<Described>) = (Vec::new(), Vec::new());
        for step in plan.steps.iter().filter(|step| step.why == Why::Retained) {
            let Action::Forget { copy, .. } = &step.action else { continue };
            let Some(resource) = base.copy(copy) else { continue };
            kept.push(Kept::Leaving { name: &resource.name, uid: &resource.uid });
            of.push(described(self, base, resource));
        }
        for retained in base.retained().filter(|retained| types.contains(&retained.resource)) {
            // A resource that cannot be read here may have been kept elsewhere.
            let Ok(Some(live)) = self.find(&retained.resource, &retained.id, None).await else { continue };
            let mut values = live.outputs;
            values.extend(live.inputs);
            kept.push(Kept::Left(retained));
            let (ty, id) = (retained.resource.clone(), Some(retained.id.clone()));
            of.push((
                self.providers.of(&retained.resource).cloned(),
                Description { ty, id, properties: values },
            ));
        }
        let found = identities_of(of).await;
        let each = |(kept, identities): (Kept<'a>, Vec<PhysicalIdentity>)| match kept {
            Kept::Leaving { name, uid } => {
                identities.into_iter().map(|one| (one, Kept::Leaving { name, uid })).collect::<Vec<_>>()
            }
            Kept::Left(retained) => identities.into_iter().map(|one| (one, Kept::Left(retained))).collect(),
        };
        kept.into_iter().zip(found).flat_map(each).collect()
    }
}

fn created_over(step: &Step, identity: &PhysicalIdentity, kept: &Kept<'_>) -> Diagnostic {
    let (reason, help) = match kept {
        Kept::Leaving { name, .. } => {
            let rename = NextStep::Rename { from: (*name).clone(), to: step.name.clone() };
            let reason = format!("{name}, which this run would retain");
            (reason, Hint::text("to manage it under the new name: ").then(rename))
        }
        Kept::Left(Retained { name, resource, id, reason }) => {
            let (ty, id) = (resource.clone(), id.clone());
            let import = NextStep::ImportAs { ty, name: step.name.clone(), id };
            let reason = format!("{name}, which was kept by {} and still exists", reason.run);
            (reason, Hint::text("to manage it again: ").then(import))
        }
    };
    Diagnostic::error(Code::SAME_RESOURCE, format!("{} would be created in the place of {reason}", step.name))
        .at(step.source.clone(), 0, "declared here")
        .note(format!("Both are {identity}. A create could overwrite a resource that was to be kept. Nothing was changed."))
        .help(help)
        .help("or give the new resource another place")
}
