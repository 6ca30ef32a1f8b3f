//! Results of tests as lines of JSON: one for each file that does not load, one for each test, and a summary.

use serde::Serialize;
use stead::testing::{Outcome, TestReport};
use stead_model::{Diagnostic, SourceRef};
use stead_render::json_line;

use crate::ui::Ui;

#[derive(Serialize)]
struct TestLine<'a> {
    file: &'a str,
    name: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    place: Option<&'a SourceRef>,
    outcome: &'static str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    failures: Vec<FailureLine<'a>>,
}

#[derive(Serialize)]
struct FailureLine<'a> {
    problems: Vec<Diagnostic>,
    #[serde(skip_serializing_if = "Option::is_none")]
    expected: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    received: Option<&'a str>,
}

#[derive(Serialize)]
struct UnloadedLine<'a> {
    file: &'a str,
    problems: Vec<Diagnostic>,
}

#[derive(Serialize)]
struct SummaryLine {
    passed: usize,
    failed: usize,
    skipped: usize,
    todo: usize,
    unloaded: usize,
}

pub(super) fn show(report: &TestReport, ui: &Ui) {
    let phrased = |problems: &[Diagnostic]| -> Vec<Diagnostic> {
        problems.iter().map(|problem| problem.phrased(&|step| ui.phrase(step))).collect()
    };
    for file in &report.files {
        if !file.result.problems.is_empty() {
            let line = UnloadedLine { file: &file.path, problems: phrased(&file.result.problems) };
            ui.raw(&json_line("test_file_failed", &line));
        }
        for test in &file.result.tests {
            let failures = match &test.outcome {
                Outcome::Failed(failures) => failures.as_slice(),
                _ => &[],
            };
            let failure = |failure: &'_ stead::testing::TestFailure| phrased(&failure.problems);
            let failures = failures.iter().map(|one| FailureLine {
                problems: failure(one),
                expected: one.difference.as_ref().map(|difference| difference.expected.as_str()),
                received: one.difference.as_ref().map(|difference| difference.received.as_str()),
            });
            let line = TestLine {
                file: &file.path,
                name: &test.path,
                place: test.place.as_ref(),
                outcome: super::word(&test.outcome),
                failures: failures.collect(),
            };
            ui.raw(&json_line("test", &line));
        }
    }
    let counts = report.counts();
    let (passed, failed, skipped) = (counts.passed, counts.failed, counts.skipped);
    let line = SummaryLine { passed, failed, skipped, todo: counts.todo, unloaded: counts.unloaded };
    ui.raw(&json_line("tests", &line));
}
