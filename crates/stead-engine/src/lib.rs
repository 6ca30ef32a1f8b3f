//! The engine: gathers the answers of providers for a plan, executes plans, and recovers interrupted runs.
//!
//! **Invariants:** a provider is called to change a resource only with a receipt, and only in `execute/call.rs`; no resource type
//! is special here; the engine reports events and diagnostics, and prints no text.

mod execute;
mod functions;
mod gather;
pub mod ops;
mod owners;
mod physical_ids;
mod pinfile;
mod recover;
mod rollback;
mod secrets;
mod serving;
mod stack;
mod transfer;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use stead_guard::pins::PinfileStatus;
use stead_model::{Functions, Name, NoFunctions, Operation, SourceRef, Timeouts, TypeToken};
use stead_provider::{Provider, Providers};
use stead_schema::Catalog;
use stead_world::World;

use crate::functions::SearchedFunctions;

pub use execute::{Executed, OnFailure, PermittedPlan, Stop};
pub use gather::{Drift, Refreshed};
pub use owners::{OwnedThing, Owners, Standing, Stores};
pub use pinfile::{KnownTypes, OpenPinfile, PinfileLocation, PinfileWrite, SettledPins};
pub use recover::{CurrentGuards, Doubtful, LackingSecret, Recovered, Resolution, StatedOutputs};
pub use rollback::graph_of;
pub use secrets::{KeySource, NoKeySource, OneManager, StackSecrets};
pub use stack::{RecoveryResult, Stack};
pub use transfer::{Transfer, awaited_targets, finish_transfers, transfer, waiting_sources};

/// Providers and settings of a run, without the stack.
#[derive(Clone)]
pub struct Engine {
    pub world: World,
    pub providers: Providers,
    pub catalog: Catalog,
    /// Largest number of provider calls in flight.
    pub parallel: usize,
    /// Interpreter of deferred expressions that call functions of the program.
    pub functions: Arc<dyn Functions>,
    pub on_failure: OnFailure,
    /// Pins of the pinfile. By default every resource with a recorded pin is pinned.
    pub pins: PinfileStatus,
    /// Pins that no run recorded yet, with their places in the program of today.
    pub program_pins: BTreeMap<Name, SourceRef>,
    /// The pinfile to write after a successful run; `None` writes none.
    pub pinfile: Option<Arc<SettledPins>>,
    /// The stack that claims real resources; `None` asks and sets no owner marks.
    pub owners: Option<Owners>,
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
            program_pins: BTreeMap::new(),
            pinfile: None,
            owners: None,
        }
    }

    /// Returns the engine with an interpreter. Secrets that functions of the program receive are searched for in later results.
    #[must_use]
    pub fn with_functions(self, functions: Arc<dyn Functions>) -> Engine {
        Engine { functions: Arc::new(SearchedFunctions::new(functions)), ..self }
    }

    /// Returns the engine with another policy for the steps after a failure.
    #[must_use]
    pub fn on_failure(self, on_failure: OnFailure) -> Engine {
        Engine { on_failure, ..self }
    }

    /// Returns the engine with the pins of a pinfile.
    #[must_use]
    pub fn with_pins(self, pins: PinfileStatus) -> Engine {
        Engine { pins, ..self }
    }

    /// Returns the engine with a pinfile that guards deletions and is written after the run.
    #[must_use]
    pub fn with_pinfile(self, pinned: Arc<SettledPins>) -> Engine {
        Engine { pins: pinned.standing(), pinfile: Some(pinned), ..self }
    }

    /// Returns how long an operation may take. The option of the resource comes before the schema, and the schema before the
    /// provider.
    pub(crate) fn operation_timeout(
        &self,
        options: Option<&Timeouts>,
        provider: &Arc<dyn Provider>,
        operation: Operation,
        ty: &TypeToken,
    ) -> Duration {
        let option = options.and_then(|timeouts| timeouts.of(operation));
        let schema = || self.catalog.get(ty).and_then(|schema| schema.timeouts.of(operation));
        option.or_else(schema).unwrap_or_else(|| provider.timeout(operation, ty))
    }
}
