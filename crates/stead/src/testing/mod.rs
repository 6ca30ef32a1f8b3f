//! Tests of a program: finds the test files of a project, runs them offline, and returns their results.
//!
//! ```text
//! *.test.ts ──run_tests──▶ declare / plan / snapshot ──FileHost──▶ Declared, Proposal
//!                          freshStack().apply()      ──FileHost──▶ LiveStack ──▶ TestCloud
//! ```
//!
//! `declare` evaluates the program as every operation does; `plan` previews and permits it on a stack in memory, where
//! placeholders stand for the answers of providers. A `LiveStack` applies it to an embedded cloud. **Invariants:** a run touches
//! no state, lock or network, and writes only snapshots; its results have the order of the files, however many run at a time.

mod cloud;
mod declare;
mod discover;
mod expression;
mod git;
mod host;
mod live;
mod placeholder;
mod provider;
mod requests;
mod snapshots;
mod stack;
mod version;
mod view;
mod watch;

use std::sync::Arc;

use stead_eval::{TestFile, TestFileResult, TestOutcome};
use stead_model::{Argument, Builtin, Code, Diagnostic, Limits, Value};
use stead_schema::Catalog;
use tokio::runtime::Handle;
use tokio::sync::Semaphore;

use crate::Project;
use crate::program::sources::ProjectSources;
use declare::Declarations;
use host::{FileHost, Shared};
use snapshots::{AllRan, Snapshots};
use stack::Stacks;

pub use snapshots::{SnapshotMode, SnapshotReport};
pub use stead_eval::{Difference, TEST_DECLARATIONS, TestFailure, TestOutcome as Outcome, TestResult};
pub use watch::{Fingerprint, fingerprint};

/// The tests to run, and how.
#[derive(Clone, Debug, Default)]
pub struct TestRequest {
    /// Parts of paths; a file runs if its path contains one of them. Empty runs all.
    pub files: Vec<String>,
    /// Regular expression that the names of tests match.
    pub name: Option<String>,
    pub snapshots: SnapshotMode,
    /// Number of files that run at the same time.
    pub parallel: usize,
}

/// Results of one test file.
#[derive(Clone, Debug, Default)]
pub struct TestFileReport {
    /// Path relative to the project.
    pub path: String,
    pub result: TestFileResult,
    pub snapshots: SnapshotReport,
}

/// Results of a test run, in the order of the files.
#[derive(Clone, Debug, Default)]
pub struct TestReport {
    pub files: Vec<TestFileReport>,
}

/// Number of tests by outcome.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TestCounts {
    pub passed: usize,
    pub failed: usize,
    pub skipped: usize,
    pub todo: usize,
    /// Files that do not load.
    pub unloaded: usize,
}

impl TestReport {
    pub fn counts(&self) -> TestCounts {
        let mut counts = TestCounts::default();
        for file in &self.files {
            counts.unloaded += usize::from(!file.result.problems.is_empty());
            for test in &file.result.tests {
                match test.outcome {
                    TestOutcome::Passed => counts.passed += 1,
                    TestOutcome::Failed(_) => counts.failed += 1,
                    TestOutcome::Skipped => counts.skipped += 1,
                    TestOutcome::Todo => counts.todo += 1,
                }
            }
        }
        counts
    }
}

/// Runs the tests of a project.
///
/// Fails if there is no test to run, or if the request itself is wrong.
pub async fn test(
    project: &Project,
    catalog: Catalog,
    request: &TestRequest,
) -> Result<TestReport, Diagnostic> {
    check_pattern(request.name.as_deref())?;
    let world = project.world();
    let all = discover::test_files(world, &project.root);
    let chosen =
        |path: &&String| request.files.is_empty() || request.files.iter().any(|part| path.contains(part));
    let files: Vec<String> = all.iter().filter(chosen).cloned().collect();
    if files.is_empty() {
        return Err(no_file(&all, request));
    }
    let runtime = Handle::current();
    let shared = Arc::new(Shared {
        declarations: Declarations::new(project, catalog, runtime),
        stacks: Stacks::default(),
    });
    let turns = Arc::new(Semaphore::new(request.parallel.max(1)));
    let running: Vec<_> = files
        .into_iter()
        .map(|path| {
            let (shared, turns) = (shared.clone(), turns.clone());
            let (project, request, runtime) = (project.clone(), request.clone(), Handle::current());
            tokio::spawn(async move {
                let _turn = turns.acquire_owned().await;
                let work = move || run_file(&project, &request, path, &shared, &runtime);
                tokio::task::spawn_blocking(work).await
            })
        })
        .collect();
    let mut report = TestReport::default();
    for file in running {
        match file.await {
            Ok(Ok(file)) => report.files.push(file),
            Ok(Err(failed)) | Err(failed) => {
                let message = format!("the tests ended unexpectedly: {failed}");
                return Err(Diagnostic::error(Code::PROGRAM_THREW, message));
            }
        }
    }
    match &request.name {
        Some(name) if report.counts() == TestCounts::default() => Err(no_match(&report, name)),
        _ => Ok(report),
    }
}

fn run_file(
    project: &Project,
    request: &TestRequest,
    path: String,
    shared: &Shared,
    runtime: &Handle,
) -> TestFileReport {
    let world = project.world();
    let failed = |path: String, problem: Diagnostic| TestFileReport {
        path,
        result: TestFileResult { problems: vec![problem], ..TestFileResult::default() },
        snapshots: SnapshotReport::default(),
    };
    let snapshots = match Snapshots::open(world, &project.root, &path, request.snapshots) {
        Ok(snapshots) => snapshots,
        Err(problem) => return failed(path, problem),
    };
    let host = FileHost::new(shared, snapshots);
    let sources = ProjectSources::files_of(world, &project.root, runtime);
    let file = TestFile { path: &path, project: &project.name, pattern: request.name.as_deref() };
    let catalog = shared.declarations.catalog();
    let mut result = stead_eval::run_tests(&file, catalog, &sources, &host, &Limits::default());
    let ran = |outcome: &TestOutcome| matches!(outcome, TestOutcome::Passed | TestOutcome::Failed(_));
    if result.tests.is_empty() && result.deselected == 0 && result.problems.is_empty() {
        let problem = Diagnostic::error(Code::NO_TESTS, format!("{path} has no test"));
        result.problems.push(problem.help("a test is `test(\"name\", () => { … })`"));
    }
    let all_ran = result.deselected == 0
        && result.problems.is_empty()
        && result.tests.iter().all(|test| ran(&test.outcome));
    let all_ran = if all_ran { AllRan::Yes } else { AllRan::No };
    let snapshots = match host.snapshots.into_inner().close(world, all_ran) {
        Ok(report) => report,
        Err(problem) => {
            result.problems.push(problem);
            SnapshotReport::default()
        }
    };
    TestFileReport { path, result, snapshots }
}

/// Refuses a pattern that is no regular expression.
fn check_pattern(pattern: Option<&str>) -> Result<(), Diagnostic> {
    let Some(pattern) = pattern else { return Ok(()) };
    let regex = Argument::Regex { source: pattern.to_owned(), flags: String::new() };
    let search = Builtin::Method("search".to_owned());
    let found = stead_eval::interpreter().builtin(&search, &[Argument::Value(Value::from("").into()), regex]);
    found.map(|_| ()).map_err(|error| {
        Diagnostic::error(Code::USAGE, format!("`{pattern}` is not a regular expression: {error}"))
    })
}

fn no_file(all: &[String], request: &TestRequest) -> Diagnostic {
    if all.is_empty() {
        let message = "there is no test file in this project";
        return Diagnostic::error(Code::NO_TESTS, message)
            .note("A test file has a name that ends in `.test.ts`, such as `main.test.ts` beside `main.ts`.")
            .help("write one: `import { test, expect, declare } from \"stead/test\"`");
    }
    let message = format!("no test file has `{}` in its path", request.files.join("` or `"));
    Diagnostic::error(Code::NO_TESTS, message).note(format!("The test files are: {}", all.join(", ")))
}

fn no_match(report: &TestReport, name: &str) -> Diagnostic {
    let deselected: usize = report.files.iter().map(|file| file.result.deselected).sum();
    Diagnostic::error(Code::NO_TESTS, format!("none of {deselected} tests has a name that matches `{name}`"))
}
