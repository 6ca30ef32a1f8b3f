//! Runs: asks the providers, carries plans out, finishes what an earlier run left behind.
//!
//! **Invariants:** a provider is called to change something only with a receipt, from one place
//! ([`call`](crate::call)); nothing here knows what a resource type is; events go out, text does not.

mod answered;
mod answers;
mod call;
mod context;
mod earlier;
mod execute;
mod executor;
mod identities;
mod less;
mod limits;
mod look;
pub mod ops;
mod pause;
mod pinning;
mod problems;
mod queue;
mod readers;
mod recover;
mod refresh;
mod stack;
mod today;
mod transfer;
mod turns;
mod verdicts;

use std::sync::Arc;
use std::time::Duration;

use stead_guard::pins::Standing;
use stead_model::{Functions, NoFunctions, Operation, Timeouts, TypeToken};
use stead_provider::{Provider, Providers};
use stead_schema::Catalog;
use stead_world::World;

pub use answered::Word;
pub use earlier::graph_of;
pub use execute::{Executed, OnFailure, PermittedPlan, Stop};
pub use pinning::{KnownTypes, PinPlace, Pinned, Pinning, Written};
pub use recover::{Doubtful, Recovered};
pub use refresh::{Drift, Refreshed};
pub use stack::{Settled, Stack};
pub use today::Today;
pub use transfer::{Transfer, awaited_targets, finish_transfers, transfer, waiting_sources};

/// Everything that a run needs besides the stack itself.
#[derive(Clone)]
pub struct Engine {
    pub world: World,
    pub providers: Providers,
    pub catalog: Catalog,
    /// How many provider calls may be under way at once.
    pub parallel: usize,
    /// The interpreter, for the deferred expressions that need one.
    pub functions: Arc<dyn Functions>,
    pub on_failure: OnFailure,
    /// What the pinfile holds against deletions. As long as nobody says so, what state remembers is pinned.
    pub pins: Standing,
    /// The pinfile that is written once a run went well; `None`: none is.
    pub pinfile: Option<Arc<Pinned>>,
}

impl Engine {
    pub fn new(world: World, providers: Providers, parallel: usize) -> Engine {
        let catalog = providers.catalog();
        Engine {
            world,
            providers,
            catalog,
            parallel: parallel.max(1),
            functions: Arc::new(NoFunctions),
            on_failure: OnFailure::GoOn,
            pins: Standing::default(),
            pinfile: None,
        }
    }

    /// The same engine, with an interpreter.
    #[must_use]
    pub fn with_functions(self, functions: Arc<dyn Functions>) -> Engine {
        Engine { functions, ..self }
    }

    /// The same engine, with another idea of what a failure means for the rest.
    #[must_use]
    pub fn on_failure(self, on_failure: OnFailure) -> Engine {
        Engine { on_failure, ..self }
    }

    /// The same engine, with what the pinfile says.
    #[must_use]
    pub fn with_pins(self, pins: Standing) -> Engine {
        Engine { pins, ..self }
    }

    /// The same engine, for a run that goes by a pinfile and writes it.
    #[must_use]
    pub fn with_pinfile(self, pinned: Arc<Pinned>) -> Engine {
        Engine { pins: pinned.standing(), pinfile: Some(pinned), ..self }
    }

    /// How long to wait for an answer: what the option says, else the schema, else the provider.
    pub(crate) fn patience(
        &self,
        options: Option<&Timeouts>,
        provider: &Arc<dyn Provider>,
        operation: Operation,
        resource: &TypeToken,
    ) -> Duration {
        let option = options.and_then(|timeouts| timeouts.of(operation));
        let schema = || self.catalog.get(resource).and_then(|schema| schema.timeouts.of(operation));
        option.or_else(schema).unwrap_or_else(|| provider.patience(operation, resource))
    }
}
