//! The TypeScript evaluator: a program, its config and a catalog of types in; a complete graph out.
//!
//! Synchronous and pure. **Invariant:** no clock, environment, file or randomness; sources come in through
//! [`Sources`], and the same inputs give the same graph. Nothing outside this crate knows that a JavaScript
//! engine is behind it.

mod apply;
mod assets;
mod builtins;
mod codec;
mod compile;
mod declare;
mod engine;
mod failure;
mod functions;
mod host;
mod interpreter;
mod load;
mod memory;
mod names;
mod options;
mod outputs;
mod package;
mod packages;
mod place;
mod plain;
mod port;
mod prelude;
mod refuse;
mod session;
mod site;
mod specifier;
mod trace;
mod walk;

use std::cell::RefCell;
use std::fmt;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::mpsc::{SyncSender, sync_channel};

use stead_model::{
    Code, Diagnostic, Environment, Extent, Functions, Graph, Limits, Map, SourceRef, TypeToken,
};
use stead_schema::Catalog;

use interpreter::Interpreter;
use port::Port;
use session::{Session, Setting};

/// TypeScript declarations of the module `"stead"`, for an editor.
pub const DECLARATIONS: &str = include_str!("stead.d.ts");

/// What the program may ask for: its files, and what exists already. Every answer is written down by whoever
/// wants to evaluate again.
pub trait Sources {
    /// The text of a file; `None` if there is no such file. `path` is relative to the project's root,
    /// separated by `/`, without `.` or `..` in it. An error is one that a person can read.
    fn read(&self, path: &str) -> Result<Option<String>, String>;

    /// The bytes of a file that becomes an asset; `None` if there is no such file. What leads out of the
    /// project by a symbolic link is an error.
    fn read_bytes(&self, path: &str) -> Result<Option<Vec<u8>>, String>;

    /// What stands in a folder, sorted by name; `None` if there is no such folder. The root is `""`.
    fn list(&self, folder: &str) -> Result<Option<Vec<Entry>>, String>;

    /// The properties of something that exists already, by its id; `None` if it does not exist.
    fn look_up(&self, token: &TypeToken, id: &str) -> Result<Option<Map>, String>;

    /// The outputs of another stack; `None` if there is no such stack.
    fn outputs(&self, stack: &StackRef) -> Result<Option<Map>, String>;
}

/// Another stack, as a program names it.
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

/// One name in a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    pub name: String,
    pub kind: EntryKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryKind {
    File,
    Folder,
    /// A symbolic link, or something that is neither.
    Other,
}

/// What to evaluate, and for what.
#[derive(Clone, Debug)]
pub struct Program<'a> {
    /// The entry point, as a path that [`Sources`] understands.
    pub entry: &'a str,
    pub environment: Environment,
    pub project: &'a str,
    pub target: &'a str,
    pub config: &'a Map,
    pub branches: UnknownBranches,
}

/// What happens where the program decides on a value that exists only after apply.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum UnknownBranches {
    #[default]
    Refuse,
    /// What chooses between values is decided after apply. What makes resources is refused even so.
    Allow,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConsoleLevel {
    Debug,
    Info,
    Warn,
    Error,
}

/// One call of `console.*` in the program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConsoleLine {
    pub level: ConsoleLevel,
    pub text: String,
    pub place: Option<SourceRef>,
}

/// What a program declared.
#[derive(Clone)]
pub struct Evaluation {
    pub graph: Graph,
    pub console: Vec<ConsoleLine>,
    /// Evaluates the graph's expressions later, also those that need the program. Dropping it ends the program.
    pub functions: Arc<dyn Functions + Send + Sync>,
}

impl fmt::Debug for Evaluation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Evaluation").field("graph", &self.graph).field("console", &self.console).finish()
    }
}

/// Why there is no graph, and what the program printed until then.
#[derive(Clone, Debug)]
pub struct EvalFailure {
    pub diagnostics: Vec<Diagnostic>,
    pub console: Vec<ConsoleLine>,
}

/// Runs the program and returns everything that it declares.
pub fn evaluate(
    program: &Program<'_>,
    catalog: &Catalog,
    sources: &dyn Sources,
    limits: &Limits,
) -> Result<Evaluation, EvalFailure> {
    let setting = Setting {
        entry: program.entry.to_owned(),
        environment: program.environment.clone(),
        project: program.project.to_owned(),
        target: program.target.to_owned(),
        config: program.config.clone(),
        branches: program.branches,
    };
    let (port, desk) = port::open();
    let limits = *limits;
    let (outcome, result) = sync_channel(1);
    let thread = std::thread::Builder::new().name("stead-eval".to_owned()).stack_size(engine::THREAD_STACK);
    match thread.spawn(move || run(setting, limits, port, &outcome)) {
        Ok(_) => {
            desk.serve(sources, catalog);
            result.recv().unwrap_or_else(|_| Err(broken("the evaluator failed")))
        }
        Err(error) => Err(broken(&format!("no thread for the evaluator: {error}"))),
    }
}

/// Evaluates built-ins where no program was evaluated. Nothing is started before the first call.
pub fn interpreter() -> Arc<dyn Functions + Send + Sync> {
    Arc::new(Interpreter::new(Limits::default()))
}

type Outcome = Result<Evaluation, EvalFailure>;

fn run(setting: Setting, limits: Limits, port: Port, outcome: &SyncSender<Outcome>) {
    let mut loaded = match load::load(&setting.entry, &port, setting.branches) {
        Ok(loaded) => loaded,
        Err(diagnostics) => {
            return drop(outcome.send(Err(EvalFailure { diagnostics, console: Vec::new() })));
        }
    };
    let session = Rc::new(RefCell::new(Session::new(setting, limits, port, &mut loaded)));
    engine::run(&session, loaded, &|graph| {
        let mut session = session.borrow_mut();
        session.port = Port::closed();
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
        let (functions, calls) = functions::of_program(limits, session.applied > 0);
        drop(outcome.send(Ok(Evaluation { graph, console, functions: Arc::new(functions) })));
        calls
    });
}

/// A graph whose shape is more than a stack may hold. The resources were counted while they were declared.
fn too_large(graph: &Graph, limits: &Limits) -> Option<Diagnostic> {
    let edges = graph.edges();
    let needs = edges.iter().map(|needs| needs.iter().map(|need| need.index()).collect());
    let excess = limits.exceeded(&Extent::of(&needs.collect::<Vec<_>>()))?;
    let problem = Diagnostic::error(Code::LIMIT, format!("the program declares {excess}"));
    Some(problem.help("split it into several stacks; `docs/limits.md` lists the limits"))
}

fn broken(message: &str) -> EvalFailure {
    EvalFailure { diagnostics: vec![Diagnostic::error(Code::EVALUATION_LIMIT, message)], console: Vec::new() }
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_declarations_are_typescript() {
        let allocator = oxc_allocator::Allocator::default();
        let kind = oxc_span::SourceType::d_ts();
        let parsed = oxc_parser::Parser::new(&allocator, super::DECLARATIONS, kind).parse();
        assert!(parsed.diagnostics.is_empty(), "{:?}", parsed.diagnostics);
    }
}
