//! An approved plan: exactly this is applied, or nothing.
//!
//! An approval holds digests of the state that the plan was made on, of the graph and of the plan itself. Applying it evaluates and
//! plans again, and refuses unless every digest is the same.

use serde::{Deserialize, Serialize};
use stead_model::{Digest, Graph};
use stead_plan::{Plan, Request};
use stead_state::State;

use stead_guard::pins::Orphans;

/// An approved plan. Serialised as a part of a saved plan.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Approval {
    state: Digest,
    graph: Digest,
    plan: Digest,
    /// The request that the plan was made for; a file without this field asked for everything.
    #[serde(default)]
    pub request: Request,
    #[serde(default)]
    pins: ApprovedPins,
}

/// The pinfile that a plan was made with.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct ApprovedPins {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pinfile: Option<String>,
    #[serde(default)]
    update_pins: bool,
}

/// Why an approved plan does not fit any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stale {
    StateChanged,
    ProgramChanged,
    /// The same program and state give another plan.
    PlanChanged,
}

impl Approval {
    pub(super) fn new(
        base: &State,
        graph: &Graph,
        plan: &Plan,
        request: Request,
        pinfile: Option<String>,
        orphans: Orphans,
    ) -> Approval {
        let pins = ApprovedPins { pinfile, update_pins: orphans == Orphans::Remove };
        Approval { state: state_digest(base), graph: digest(graph), plan: digest(plan), request, pins }
    }

    pub(super) fn orphans(&self) -> Orphans {
        if self.pins.update_pins { Orphans::Remove } else { Orphans::Refuse }
    }

    /// The text of the pinfile when the plan was made.
    pub(super) fn pinfile(&self) -> Option<&str> {
        self.pins.pinfile.as_deref()
    }

    pub(super) fn check_state(&self, base: &State) -> Result<(), Stale> {
        if self.state == state_digest(base) { Ok(()) } else { Err(Stale::StateChanged) }
    }

    pub(super) fn check_plan(&self, graph: &Graph, plan: &Plan) -> Result<(), Stale> {
        if self.graph != digest(graph) {
            return Err(Stale::ProgramChanged);
        }
        let approved = self.plan == digest(plan) || self.plan == digest(&counted_as_before(plan));
        if approved { Ok(()) } else { Err(Stale::PlanChanged) }
    }
}

/// The same plan with the summary of files from before renamed resources were told apart from unchanged ones.
fn counted_as_before(plan: &Plan) -> Plan {
    let mut plan = plan.clone();
    plan.summary.unchanged += plan.summary.only_renamed;
    plan
}

fn digest<T: Serialize>(value: &T) -> Digest {
    // Our types always serialise.
    Digest::of(&serde_json::to_vec(value).unwrap_or_default())
}

fn state_digest(state: &State) -> Digest {
    state.snapshot(None).encode().1
}
