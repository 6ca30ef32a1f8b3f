//! The TypeScript evaluator: a program, its config and a catalog of types in; a complete graph out.
//!
//! Synchronous and pure. **Invariant:** no clock, environment, file or randomness; sources come in through
//! [`Sources`], and the same inputs give the same graph. Nothing outside this crate knows that a JavaScript
//! engine is behind it.

mod compile;
mod declare;
mod engine;
mod failure;
mod host;
mod load;
mod names;
mod options;
mod outputs;
mod package;
mod packages;
mod place;
mod port;
mod refuse;
mod session;
mod site;
mod specifier;
mod trace;
mod walk;

use std::cell::RefCell;
use std::rc::Rc;

use stead_model::{Code, Diagnostic, Environment, Graph, Limits, Map, SourceRef};
use stead_schema::Catalog;

use port::Port;
use session::{Session, Setting};

/// TypeScript declarations of the module `"stead"`, for an editor.
pub const DECLARATIONS: &str = include_str!("stead.d.ts");

/// The program's files.
pub trait Sources {
    /// The text of a file; `None` if there is no such file. `path` is relative to the project's root,
    /// separated by `/`, without `.` or `..` in it. An error is one that a person can read.
    fn read(&self, path: &str) -> Result<Option<String>, String>;

    /// The bytes of a file that becomes an asset; `None` if there is no such file. What leads out of the
    /// project by a symbolic link is an error.
    fn read_bytes(&self, path: &str) -> Result<Option<Vec<u8>>, String>;

    /// What stands in a folder, sorted by name; `None` if there is no such folder. The root is `""`.
    fn list(&self, folder: &str) -> Result<Option<Vec<Entry>>, String>;
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
#[derive(Clone, Debug)]
pub struct Evaluation {
    pub graph: Graph,
    pub console: Vec<ConsoleLine>,
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
    };
    let (port, desk) = port::open();
    let limits = *limits;
    std::thread::scope(|scope| {
        let thread =
            std::thread::Builder::new().name("stead-eval".to_owned()).stack_size(engine::THREAD_STACK);
        let running = thread.spawn_scoped(scope, move || run(setting, limits, port));
        match running {
            Ok(running) => {
                desk.serve(sources, catalog);
                running.join().unwrap_or_else(|_| Err(broken("the evaluator failed")))
            }
            Err(error) => Err(broken(&format!("no thread for the evaluator: {error}"))),
        }
    })
}

fn run(setting: Setting, limits: Limits, port: Port) -> Result<Evaluation, EvalFailure> {
    let mut loaded = load::load(&setting.entry, &port)
        .map_err(|diagnostics| EvalFailure { diagnostics, console: Vec::new() })?;
    let session = Session::new(setting, limits, port, &mut loaded);
    let session = Rc::new(RefCell::new(session));
    let graph = engine::run(&session, loaded);
    let mut session = session.borrow_mut();
    let console = std::mem::take(&mut session.console);
    match graph {
        Some(graph) => Ok(Evaluation { graph, console }),
        None => Err(EvalFailure { diagnostics: std::mem::take(&mut session.diagnostics), console }),
    }
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
