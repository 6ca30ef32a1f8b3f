//! Runs: asks the providers, carries plans out, finishes what an earlier run left behind.
//!
//! **Invariants:** a provider is called to change something only with a receipt, from one place
//! ([`call`](crate::call)); nothing here knows what a resource type is; events go out, text does not.

mod call;
mod context;
mod execute;
mod limits;
mod queue;
mod recover;
mod refresh;
mod stack;
mod transfer;
mod verdicts;

use std::sync::Arc;

use stead_model::{Functions, NoFunctions};
use stead_provider::Providers;
use stead_schema::Catalog;
use stead_world::World;

pub use execute::{Permitted, Report, Stop};
pub use recover::{Doubtful, Recovered};
pub use refresh::{Drift, Refreshed};
pub use stack::{Settled, Stack};
pub use transfer::{Transfer, finish_transfers, transfer, waiting_sources};

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
}

impl Engine {
    pub fn new(world: World, providers: Providers, parallel: usize) -> Engine {
        let catalog = providers.catalog();
        Engine { world, providers, catalog, parallel: parallel.max(1), functions: Arc::new(NoFunctions) }
    }

    /// The same engine, with an interpreter.
    #[must_use]
    pub fn with_functions(self, functions: Arc<dyn Functions>) -> Engine {
        Engine { functions, ..self }
    }
}
