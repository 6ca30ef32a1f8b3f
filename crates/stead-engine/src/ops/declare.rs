//! Where a graph comes from: a program, an earlier run, or nothing at all.

use std::sync::Arc;

use async_trait::async_trait;
use stead_journal::load_run;
use stead_model::{Code, Diagnostic, Functions, Graph, Hint, NextStep, NoFunctions, RunId};

use crate::ops::OpError;
use crate::{Stack, graph_of};

/// The resources that shall exist, before the pinfile is applied.
pub struct Declaration {
    pub graph: Graph,
    /// The interpreter for the deferred expressions of the graph.
    pub functions: Arc<dyn Functions>,
}

impl Declaration {
    /// A graph without deferred functions.
    pub fn of(graph: Graph) -> Declaration {
        Declaration { graph, functions: Arc::new(NoFunctions) }
    }
}

/// A source of declarations.
///
/// `declare` must give the same graph each time as long as its sources are unchanged.
#[async_trait(?Send)]
pub trait Declares {
    async fn declare(&self) -> Result<Declaration, OpError>;
}

/// Declares no resource, for a destroy.
pub struct Nothing;

#[async_trait(?Send)]
impl Declares for Nothing {
    async fn declare(&self) -> Result<Declaration, OpError> {
        Ok(Declaration::of(Graph::default()))
    }
}

/// Declares the resources that were recorded at the end of an earlier run, for a rollback.
pub struct EarlierRun {
    pub stack: Stack,
    pub run: RunId,
}

#[async_trait(?Send)]
impl Declares for EarlierRun {
    async fn declare(&self) -> Result<Declaration, OpError> {
        match load_run(&self.stack.store, &self.stack.keys, &self.run).await? {
            Some(snapshot) => Ok(Declaration::of(graph_of(&snapshot))),
            None => {
                let message = format!("there is no run \"{}\" in this stack's history", self.run);
                Err(OpError::not_found(
                    Diagnostic::error(Code::NOT_FOUND, message)
                        .help(Hint::from(NextStep::ShowHistory).and(" lists the runs")),
                ))
            }
        }
    }
}
