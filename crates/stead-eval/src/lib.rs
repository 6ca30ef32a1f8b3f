//! The TypeScript evaluator: takes a program, its config and a catalog of types, and returns a complete graph.
//!
//! **Invariant:** evaluation is pure. It uses no clock, environment variable, file or randomness; sources come in through
//! [`Sources`], and the same inputs give the same graph. No other crate depends on the JavaScript engine.
//!
//! The way of a program: `program` loads its files, `compile` instruments them, `engine` runs them with the functions of
//! `host`, `declare` turns each `new` into a node of the graph, and `unknown` handles values known only after apply.

mod compile;
pub mod config;
mod declare;
mod engine;
mod host;
mod library;
mod math;
mod program;
mod testing;
mod unknown;

use std::cell::RefCell;
use std::fmt;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::time::Duration;

use stead_model::{
    Code, Diagnostic, Environment, Extent, Functions, Graph, Limits, Map, SourceRef, TypeToken,
};
use stead_schema::Catalog;

use config::Config;
use engine::session::{Purpose, Session, Settings};
use program::load;
use program::requests::{self, Requester};
use unknown::functions;
use unknown::interpreter::Interpreter;

pub use compile::CompiledFiles;
pub use testing::{
    Compared, Difference, Refused, TEST_DECLARATIONS, TEST_FILE, TestFailure, TestFile, TestFileResult,
    TestHost, TestOutcome, TestResult, run_tests,
};

/// TypeScript declarations of the module `"stead"`, for an editor.
pub const DECLARATIONS: &str = include_str!("stead.d.ts");

/// Inputs that a program may request while it runs: files, existing resources, and outputs of other stacks.
///
/// A caller that records every answer can evaluate the program again later with the same result.
pub trait Sources {
    /// Returns the text of a file, or `None` if the file does not exist.
    ///
    /// `path` is relative to the project folder, separated by `/`, and contains no `.` or `..`. The error is a message
    /// for the user.
    fn read(&self, path: &str) -> Result<Option<String>, String>;

    /// Returns the bytes of a file for an asset, or `None` if the file does not exist.
    ///
    /// A symbolic link that points outside the project is an error.
    fn read_bytes(&self, path: &str) -> Result<Option<Vec<u8>>, String>;

    /// Returns the entries of a folder sorted by name, or `None` if the folder does not exist. The root is `""`.
    fn list(&self, folder: &str) -> Result<Option<Vec<Entry>>, String>;

    /// Returns the path behind the symbolic links of a path. A link that leads out of the project is an error.
    fn real_path(&self, path: &str) -> Result<String, String> {
        Ok(path.to_owned())
    }

    /// Returns the variables of the environment that the project grants to its program and that are set.
    fn environment(&self) -> Result<Vec<(String, String)>, String> {
        Ok(Vec::new())
    }

    /// Returns the properties of an existing resource, or `None` if no resource has this id.
    fn look_up(
        &self,
        token: &TypeToken,
        id: &str,
        provider: Option<&LookUpProvider>,
    ) -> Result<Option<Map>, String>;

    /// Returns the outputs of another stack, or `None` if the stack does not exist.
    fn outputs(&self, stack: &StackRef) -> Result<Option<Map>, String>;

    /// Returns the clock of [`Limits::evaluation_time`]. Without one, only the count of steps ends a program.
    fn processor_clock(&self) -> Option<ProcessorClock> {
        None
    }

    /// Returns the compiled files of earlier evaluations. Without them, each evaluation compiles all its files.
    fn compiled_files(&self) -> Option<CompiledFiles> {
        None
    }
}

/// Reads the only document of a YAML text, with the rules of `yaml.parse`. The error is a message with its place.
pub fn read_yaml(text: &str) -> Result<stead_model::Value, String> {
    library::read_yaml(text)
}

/// Function that returns the processor time of the thread that calls it.
pub type ProcessorClock = fn() -> Duration;

/// The provider resource that a look-up names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LookUpProvider {
    /// Type and position of the declaration, which tell it from other providers of the program.
    pub place: String,
    pub settings: Map,
}

/// Identity of another stack, as a program names it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct StackRef {
    pub project: String,
    pub environment: Environment,
    pub target: String,
}

impl fmt::Display for StackRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} in environment {} on target {}", self.project, self.environment, self.target)
    }
}

/// Entry of a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    pub name: String,
    pub kind: EntryKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryKind {
    File,
    Folder,
    /// A symbolic link or a special file.
    Other,
}

/// Program to evaluate, with the stack it is evaluated for.
#[derive(Clone, Debug)]
pub struct Program<'a> {
    /// Path of the entry point, in the form [`Sources::read`] takes.
    pub entry: &'a str,
    pub environment: Environment,
    pub project: &'a str,
    pub target: &'a str,
    pub config: &'a Config,
    pub branches: UnknownBranches,
}

/// Treatment of branches on values known only after apply.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum UnknownBranches {
    #[default]
    Refuse,
    /// Expressions that choose between values are evaluated after apply. A choice between resources is still refused.
    Allow,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConsoleLevel {
    Debug,
    Info,
    Warn,
    Error,
}

/// Output of one `console.*` call in the program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConsoleLine {
    pub level: ConsoleLevel,
    pub text: String,
    pub place: Option<SourceRef>,
}

/// Result of evaluating a program.
#[derive(Clone)]
pub struct Evaluation {
    pub graph: Graph,
    pub console: Vec<ConsoleLine>,
    /// Evaluates deferred expressions of the graph, including functions of the program. Dropping it ends the program's
    /// thread.
    pub functions: Arc<dyn Functions + Send + Sync>,
}

impl fmt::Debug for Evaluation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Evaluation").field("graph", &self.graph).field("console", &self.console).finish()
    }
}

/// Errors of a program without a graph, and its console output up to the failure.
#[derive(Clone, Debug)]
pub struct EvalFailure {
    pub diagnostics: Vec<Diagnostic>,
    pub console: Vec<ConsoleLine>,
}

/// Runs a program and returns the graph that it declares.
pub fn evaluate(
    program: &Program<'_>,
    catalog: &Catalog,
    sources: &dyn Sources,
    limits: &Limits,
) -> Result<Evaluation, EvalFailure> {
    let settings = Settings {
        entry: program.entry.to_owned(),
        environment: program.environment.clone(),
        project: program.project.to_owned(),
        target: program.target.to_owned(),
        config: program.config.clone(),
        branches: program.branches,
        purpose: Purpose::Program,
        processor_clock: sources.processor_clock(),
        compiled: sources.compiled_files(),
    };
    let (requester, responder) = requests::open();
    let limits = *limits;
    let (outcome, result) = sync_channel(1);
    let thread = std::thread::Builder::new().name("stead-eval".to_owned()).stack_size(engine::THREAD_STACK);
    match thread.spawn(move || run(settings, limits, requester, &outcome)) {
        Ok(_) => {
            responder.serve(sources, catalog);
            result.recv().unwrap_or_else(|_| Err(internal_failure("the evaluator failed")))
        }
        Err(error) => Err(internal_failure(&format!("cannot start the evaluator thread: {error}"))),
    }
}

/// Returns an evaluator of deferred built-ins that needs no program. Its thread starts with the first call.
pub fn interpreter() -> Arc<dyn Functions + Send + Sync> {
    Arc::new(Interpreter::new(Limits::default()))
}

type Outcome = Result<Evaluation, EvalFailure>;

fn run(settings: Settings, limits: Limits, requester: Requester, outcome: &SyncSender<Outcome>) {
    let loader = match load::load(&settings, &requester) {
        Ok(loader) => loader,
        Err(diagnostics) => {
            return drop(outcome.send(Err(EvalFailure { diagnostics, console: Vec::new() })));
        }
    };
    let session = Rc::new(RefCell::new(Session::new(settings, limits, requester, loader)));
    engine::run(&session, &|graph| {
        let mut session = session.borrow_mut();
        session.requester = Requester::closed();
        session.loader = None;
        let console = std::mem::take(&mut session.console);
        let Some(graph) = graph else {
            let diagnostics = std::mem::take(&mut session.diagnostics);
            drop(outcome.send(Err(EvalFailure { diagnostics, console })));
            return None;
        };
        if let Some(problem) = too_large(&graph, &limits) {
            drop(outcome.send(Err(EvalFailure { diagnostics: vec![problem], console })));
            return None;
        }
        let (functions, calls) = functions::of_program(limits, session.deferred_functions > 0);
        drop(outcome.send(Ok(Evaluation { graph, console, functions: Arc::new(functions) })));
        calls
    });
}

/// Returns an error if the graph exceeds a limit on its shape. The number of resources is checked during declaration.
fn too_large(graph: &Graph, limits: &Limits) -> Option<Diagnostic> {
    let edges = graph.edges();
    let needs = edges.iter().map(|needs| needs.iter().map(|need| need.index()).collect());
    let excess = limits.exceeded(&Extent::of(&needs.collect::<Vec<_>>()))?;
    let problem = Diagnostic::error(Code::LIMIT, format!("the program declares {excess}"));
    Some(problem.help("split it into several stacks; `docs/limits.md` lists the limits"))
}

fn internal_failure(message: &str) -> EvalFailure {
    EvalFailure { diagnostics: vec![Diagnostic::error(Code::EVALUATION_LIMIT, message)], console: Vec::new() }
}

#[cfg(test)]
mod tests {
    #[test]
    fn declarations_are_valid_typescript() {
        let allocator = oxc_allocator::Allocator::default();
        let kind = oxc_span::SourceType::d_ts();
        let parsed = oxc_parser::Parser::new(&allocator, super::DECLARATIONS, kind).parse();
        assert!(parsed.diagnostics.is_empty(), "{:?}", parsed.diagnostics);
    }
}
