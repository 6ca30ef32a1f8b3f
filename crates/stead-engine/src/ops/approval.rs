//! An approved plan: exactly this is applied, or nothing.
//!
//! An approval holds the versions of the records that the plan was made from, and digests of the graph and of every step.
//! Applying it evaluates and plans again on the state of that time, and refuses unless the same records were read in the
//! same versions and every step is the same. Resources that the plan did not read may have changed.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use stead_guard::pins::Orphans;
use stead_model::{BLINDED, Binding, Crypter, Digest, Graph, Name, Secret, Unopened, Value};
use stead_plan::{Action, Incarnation, Plan, Request, Step};
use stead_state::State;

use super::read_set::ReadSet;

/// An approved plan. Serialised as a part of a saved plan.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Approval {
    read: ReadSet,
    graph: Digest,
    plan: ApprovedPlan,
    /// The request that the plan was made for.
    pub request: Request,
    pins: ApprovedPins,
}

/// Everything that a person sees of a plan, as digests.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct ApprovedPlan {
    steps: Vec<ApprovedStep>,
    /// The order of the steps.
    order: Digest,
    /// Changed outputs, suggestions and settings.
    rest: Digest,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct ApprovedStep {
    name: Name,
    digest: Digest,
}

impl ApprovedPlan {
    /// Secrets count by keyed digests, so that the file tells nothing about them and a changed secret is another plan.
    fn of(plan: &Plan, crypter: &dyn Crypter) -> Result<ApprovedPlan, Unopened> {
        let mut unopened = None;
        let plan = plan.map_secrets(&mut |secret| {
            digest_of(secret, crypter).unwrap_or_else(|why| {
                unopened = Some(why);
                Value::Null
            })
        });
        if let Some(why) = unopened {
            return Err(why);
        }
        let Plan { steps, output_changes, places, suggestions, ambiguities, purpose, outer, .. } =
            plan.as_ref();
        let step = |step: &Step| ApprovedStep { name: step.name.clone(), digest: digest(&comparable(step)) };
        Ok(ApprovedPlan {
            steps: steps.iter().map(step).collect(),
            order: digest(&steps.iter().map(|step| &step.after).collect::<Vec<_>>()),
            rest: digest(&(output_changes, places, suggestions, ambiguities, purpose, outer)),
        })
    }

    /// Returns the names of the steps that only one of the two plans has.
    fn differing(&self, other: &ApprovedPlan) -> BTreeSet<Name> {
        let [one, two] = [self, other].map(|plan| plan.steps.iter().collect::<BTreeSet<_>>());
        one.symmetric_difference(&two).map(|step| step.name.clone()).collect()
    }
}

/// Returns a value that stands for a secret in a digest.
fn digest_of(secret: &Secret, crypter: &dyn Crypter) -> Result<Value, Unopened> {
    match secret.reveal() {
        Ok(plain) => {
            let digest = crypter.digest(plain.to_json().as_bytes(), Binding(&["plan"]))?;
            Ok(Value::from(digest.0))
        }
        Err(Unopened::NotKept) => Ok(Value::from(BLINDED)),
        Err(why) => Err(why),
    }
}

/// Returns a step without its place among other steps, and without the counter of uids, which every other run moves on.
fn comparable(step: &Step) -> Step {
    let mut step = Step { after: Vec::new(), ..step.clone() };
    if let Action::Create { incarnation: Incarnation::First { counter }, .. }
    | Action::Import { incarnation: Incarnation::First { counter }, .. } = &mut step.action
    {
        *counter = 0;
    }
    step
}

/// The pinfile that a plan was made with.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct ApprovedPins {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pinfile: Option<String>,
    #[serde(default)]
    update_pins: bool,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    keep_pinned: bool,
}

/// Why an approved plan does not fit any more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stale {
    /// The plan was made on a stack that was removed since, or on one of another environment.
    AnotherStack,
    /// Resources that the plan read, or names that it found free, changed since.
    StateChanged {
        changed: Vec<Name>,
    },
    ProgramChanged,
    /// The rest of the stack changed, and the program now gives a plan with other steps.
    PlanChanged {
        differing: Vec<Name>,
    },
    /// The same program and state give another plan.
    NotReproduced,
}

impl Approval {
    pub(super) fn new(
        recorded: &State,
        graph: &Graph,
        plan: &Plan,
        request: Request,
        pinfile: Option<String>,
        orphans: Orphans,
        crypter: &dyn Crypter,
    ) -> Result<Approval, Unopened> {
        let pins = ApprovedPins {
            pinfile,
            update_pins: orphans == Orphans::Release,
            keep_pinned: orphans == Orphans::Keep,
        };
        let read = ReadSet::of(recorded, graph, plan);
        Ok(Approval { read, graph: digest(graph), plan: ApprovedPlan::of(plan, crypter)?, request, pins })
    }

    pub(super) fn orphans(&self) -> Orphans {
        match (self.pins.update_pins, self.pins.keep_pinned) {
            (true, _) => Orphans::Release,
            (false, true) => Orphans::Keep,
            (false, false) => Orphans::Refuse,
        }
    }

    /// The text of the pinfile when the plan was made.
    pub(super) fn pinfile(&self) -> Option<&str> {
        self.pins.pinfile.as_deref()
    }

    /// Fails if a record that the plan read has changed. Called before the plan is made again, because planning could
    /// fail on the changed record with a less helpful message.
    pub(super) fn check_state(&self, state: &State) -> Result<(), Stale> {
        if self.read.is_of_another_stack(state) {
            return Err(Stale::AnotherStack);
        }
        unchanged(self.read.changed_in(state))
    }

    /// Fails unless the plan that was made again is the approved one, and was made from the same records.
    pub(super) fn check_plan(
        &self,
        state: &State,
        graph: &Graph,
        plan: &Plan,
        crypter: &dyn Crypter,
    ) -> Result<(), Stale> {
        if self.graph != digest(graph) {
            return Err(Stale::ProgramChanged);
        }
        // Without its key, a secret of the plan cannot be compared with the approved one.
        let now = ApprovedPlan::of(plan, crypter).map_err(|_| Stale::NotReproduced)?;
        if now != self.plan {
            return Err(self.another_plan(state, self.plan.differing(&now)));
        }
        unchanged(self.read.differing(&ReadSet::of(state, graph, plan)))
    }

    /// Returns the reason for a plan that is not the approved one.
    pub(super) fn another_plan(&self, state: &State, differing: BTreeSet<Name>) -> Stale {
        if self.read.is_same_state(state) {
            return Stale::NotReproduced;
        }
        Stale::PlanChanged { differing: differing.into_iter().collect() }
    }
}

fn unchanged(changed: BTreeSet<Name>) -> Result<(), Stale> {
    if changed.is_empty() {
        return Ok(());
    }
    Err(Stale::StateChanged { changed: changed.into_iter().collect() })
}

fn digest<T: Serialize>(value: &T) -> Digest {
    // Our types always serialise.
    Digest::of(&serde_json::to_vec(value).unwrap_or_default())
}
