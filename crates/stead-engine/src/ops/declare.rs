//! Where a graph comes from: a program, an earlier run, or nothing at all.

use std::sync::Arc;

use async_trait::async_trait;
use stead_journal::load_run;
use stead_model::{Code, Diagnostic, Functions, Graph, Hint, NameError, NextStep, NoFunctions, RunId};

use crate::ops::OpError;
use crate::{Stack, graph_of};

/// The resources that shall exist, before the pinfile is applied.
pub struct Declaration {
    pub graph: Graph,
    /// The interpreter for the deferred expressions of the graph.
    pub functions: Arc<dyn Functions>,
    /// Today's program, where the graph is not made from it. Its marks and pins add to the recorded ones.
    pub protection: Option<Graph>,
}

impl Declaration {
    /// A graph without deferred functions.
    pub fn of(graph: Graph) -> Declaration {
        Declaration { graph, functions: Arc::new(NoFunctions), protection: None }
    }

    /// Evaluates today's program for its marks and pins.
    async fn protected_by(mut self, program: Option<&dyn Declares>) -> Result<Declaration, OpError> {
        if let Some(program) = program {
            self.protection = Some(program.declare().await.map_err(not_evaluated)?.graph);
        }
        Ok(self)
    }
}

/// Explains why a program that fails stops an operation that declares nothing by it.
pub(super) fn not_evaluated(error: OpError) -> OpError {
    let OpError::Program(mut problems) = error else { return error };
    if let Some(last) = problems.pop() {
        let hint = Hint::text("fix the program, or go by the recorded protection alone: ");
        problems.push(
            last.note("The program says which resources are protected, so it is asked before anything is deleted. Nothing was changed.")
                .help(hint.then(NextStep::WithoutProgram)),
        );
    }
    OpError::Program(problems)
}

/// A source of declarations.
///
/// `declare` must give the same graph each time as long as its sources are unchanged.
#[async_trait(?Send)]
pub trait Declares {
    async fn declare(&self) -> Result<Declaration, OpError>;
}

/// Declares no resource, for a destroy.
#[derive(Default)]
pub struct Nothing<'a> {
    /// Today's program, which can only add protection; `None` goes by the records alone.
    pub program: Option<&'a dyn Declares>,
}

#[async_trait(?Send)]
impl Declares for Nothing<'_> {
    async fn declare(&self) -> Result<Declaration, OpError> {
        Declaration::of(Graph::default()).protected_by(self.program).await
    }
}

/// Declares what another source declares, under the protection of today's program.
pub struct Protecting<'a> {
    pub declared: &'a dyn Declares,
    /// Today's program; `None` where its sources are not here.
    pub program: Option<&'a dyn Declares>,
}

#[async_trait(?Send)]
impl Declares for Protecting<'_> {
    async fn declare(&self) -> Result<Declaration, OpError> {
        self.declared.declare().await?.protected_by(self.program).await
    }
}

/// Declares the resources that were recorded at the end of an earlier run, for a rollback.
///
/// A stack that was renamed since has other names now, and so have the declared resources.
pub struct EarlierRun<'a> {
    pub stack: Stack,
    pub run: RunId,
    /// Today's program, which can only add protection; `None` goes by the records alone.
    pub program: Option<&'a dyn Declares>,
}

#[async_trait(?Send)]
impl Declares for EarlierRun<'_> {
    async fn declare(&self) -> Result<Declaration, OpError> {
        match load_run(&self.stack.store, &self.stack.keys, &self.run).await? {
            Some(snapshot) => {
                let environment = self.stack.keys.environment().parse().map_err(|error: NameError| {
                    OpError::invalid(Diagnostic::error(Code::USAGE, error.to_string()))
                })?;
                let snapshot = snapshot.in_environment(&environment);
                self.stack.open_earlier(&snapshot).await?;
                Declaration::of(graph_of(&snapshot)).protected_by(self.program).await
            }
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
