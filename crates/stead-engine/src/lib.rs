//! Runs: asks the providers, carries plans out, finishes what an earlier run left behind.
//!
//! **Invariants:** a provider is called to change something only with a receipt, from one place
//! ([`call`](crate::call)); nothing here knows what a resource type is; events go out, text does not.

mod execute;
mod gather;
pub mod ops;
mod physical_ids;
mod pinfile;
mod recover;
mod rollback;
mod stack;
mod transfer;

use std::sync::Arc;
use std::time::Duration;

use stead_guard::pins::PinfileStatus;
use stead_model::{Functions, NoFunctions, Operation, Timeouts, TypeToken};
use stead_provider::{Provider, Providers};
use stead_schema::Catalog;
use stead_world::World;

pub use execute::{Executed, OnFailure, PermittedPlan, Stop};
pub use gather::{Drift, Refreshed};
pub use pinfile::{KnownTypes, OpenPinfile, PinfileLocation, PinfileWrite, SettledPins};
pub use recover::{CurrentGuards, Doubtful, Recovered, Resolution};
pub use rollback::graph_of;
pub use stack::{RecoveryResult, Stack};
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
    pub pins: PinfileStatus,
    /// The pinfile that is written once a run went well; `None`: none is.
    pub pinfile: Option<Arc<SettledPins>>,
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
            pins: PinfileStatus::default(),
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
    pub fn with_pins(self, pins: PinfileStatus) -> Engine {
        Engine { pins, ..self }
    }

    /// The same engine, for a run that goes by a pinfile and writes it.
    #[must_use]
    pub fn with_pinfile(self, pinned: Arc<SettledPins>) -> Engine {
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
        option.or_else(schema).unwrap_or_else(|| provider.timeout(operation, resource))
    }
}
