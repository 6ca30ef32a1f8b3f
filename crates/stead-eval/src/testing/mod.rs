//! Test files: loads a `*.test.ts` file, runs its tests one by one, and returns what each of them found.
//!
//! A test file runs in an interpreter of its own and declares no resource. Its requests (declare a program, plan, compare a
//! snapshot) go to a [`TestHost`], which evaluates programs in further interpreters. **Invariant:** a test that fails, throws or
//! never ends does not affect the tests after it.

mod host;
mod run;

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::mpsc::{SyncSender, sync_channel};

use stead_model::{Diagnostic, Environment, Limits, Map, SourceRef, Value};
use stead_schema::Catalog;

use crate::engine::session::{Purpose, Session, Settings};
use crate::program::load;
use crate::program::requests::{self, Requester};
use crate::{ConsoleLine, Sources, UnknownBranches, engine};

pub(crate) use host::TestSession;

/// TypeScript declarations of the module `"stead/test"`, for an editor.
pub const TEST_DECLARATIONS: &str = include_str!("../stead-test.d.ts");

/// Ending of test files.
pub const TEST_FILE: &str = ".test.ts";

/// Answers the requests of a test file.
pub trait TestHost {
    /// Returns the answer to a request of the module `stead/test`, or the reasons for a refusal.
    fn answer(&self, request: &str, argument: &Value) -> Result<Value, Refused>;

    /// Compares a value with its snapshot.
    fn snapshot(&self, test: &str, hint: &str, value: &Value) -> Compared;
}

/// Refused request of a test.
#[derive(Clone, Debug)]
pub enum Refused {
    /// The program or the plan is refused. A test can expect it.
    Expectable(Vec<Diagnostic>),
    /// The request itself is wrong, so the test is.
    Misuse(Box<Diagnostic>),
}

/// Result of a comparison with a snapshot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Compared {
    Same,
    Differs { message: String, difference: Option<Difference> },
}

/// The expected and the received value of an assertion, as text of several lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    pub expected: String,
    pub received: String,
}

/// Test file to run.
#[derive(Clone, Debug)]
pub struct TestFile<'a> {
    /// Path of the file, in the form [`Sources::read`] takes.
    pub path: &'a str,
    pub project: &'a str,
    /// Regular expression that the names of the tests to run match.
    pub pattern: Option<&'a str>,
}

/// Reason why a test failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TestFailure {
    pub problems: Vec<Diagnostic>,
    pub difference: Option<Difference>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TestOutcome {
    Passed,
    Failed(Vec<TestFailure>),
    /// Marked with `skip`, or another test is marked with `only`.
    Skipped,
    /// Marked with `todo`: it has no code yet.
    Todo,
}

/// Result of one test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TestResult {
    /// Names of the groups around the test, and its own.
    pub path: Vec<String>,
    pub place: Option<SourceRef>,
    pub outcome: TestOutcome,
    pub console: Vec<ConsoleLine>,
}

/// Results of one file.
#[derive(Clone, Debug, Default)]
pub struct TestFileResult {
    /// Errors of the file itself: it does not load, and none of its tests ran.
    pub problems: Vec<Diagnostic>,
    /// The selected tests, in the order of the file.
    pub tests: Vec<TestResult>,
    /// Number of tests that the pattern does not select.
    pub deselected: usize,
    pub console: Vec<ConsoleLine>,
}

/// Runs the tests of a file.
pub fn run_tests(
    file: &TestFile<'_>,
    catalog: &Catalog,
    sources: &dyn Sources,
    host: &dyn TestHost,
    limits: &Limits,
) -> TestFileResult {
    let settings = Settings {
        entry: file.path.to_owned(),
        environment: Environment::new("test"),
        project: file.project.to_owned(),
        target: "test".to_owned(),
        config: Map::new().into(),
        branches: UnknownBranches::Refuse,
        purpose: Purpose::Tests { pattern: file.pattern.map(str::to_owned) },
        processor_clock: sources.processor_clock(),
        compiled: sources.compiled_files(),
    };
    let (requester, responder) = requests::open();
    let limits = *limits;
    let (outcome, result) = sync_channel(1);
    let failed = |message: String| TestFileResult {
        problems: crate::internal_failure(&message).diagnostics,
        ..TestFileResult::default()
    };
    let thread = std::thread::Builder::new().name("stead-test".to_owned()).stack_size(engine::THREAD_STACK);
    match thread.spawn(move || run(settings, limits, requester, &outcome)) {
        Ok(_) => {
            responder.serve_tests(sources, catalog, host);
            result.recv().unwrap_or_else(|_| failed("the evaluator failed".to_owned()))
        }
        Err(error) => failed(format!("cannot start the evaluator thread: {error}")),
    }
}

fn run(settings: Settings, limits: Limits, requester: Requester, outcome: &SyncSender<TestFileResult>) {
    let loaded = load::load_tests(&settings, &requester);
    let loader = match loaded {
        Ok(loader) => loader,
        Err(problems) => return drop(outcome.send(TestFileResult { problems, ..TestFileResult::default() })),
    };
    let session = Rc::new(RefCell::new(Session::new(settings, limits, requester, loader)));
    let result = engine::run_tests(&session);
    session.borrow_mut().requester = Requester::closed();
    drop(outcome.send(result));
}

#[cfg(test)]
mod tests {
    #[test]
    fn declarations_of_the_test_module_are_valid_typescript() {
        let allocator = oxc_allocator::Allocator::default();
        let kind = oxc_span::SourceType::d_ts();
        let parsed = oxc_parser::Parser::new(&allocator, super::TEST_DECLARATIONS, kind).parse();
        assert!(parsed.diagnostics.is_empty(), "{:?}", parsed.diagnostics);
    }
}
