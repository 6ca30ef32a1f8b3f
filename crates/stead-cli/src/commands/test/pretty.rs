//! Results of tests as text for a person.

use std::fmt::Write as _;
use std::time::Duration;

use stead::testing::{Outcome, TestCounts, TestFailure, TestFileReport, TestReport, TestResult};
use stead_render::{Detail, Paint, Style, expectation};

use crate::ui::{Ui, console_text};

/// Number of tests up to which each is listed. Of more, only those that failed are.
const MANY: usize = 40;

pub(super) fn show(report: &TestReport, took: Duration, ui: &Ui) {
    let style = ui.out_style();
    let total: usize = report.files.iter().map(|file| file.result.tests.len()).sum();
    let listed = total <= MANY || style.detail == Detail::Full;
    for file in &report.files {
        ui.result(&file_lines(file, listed, &style));
    }
    for file in &report.files {
        ui.result(&failures(file, ui, &style));
    }
    for line in super::snapshot_lines(report) {
        ui.result(&format!("{line}\n"));
    }
    ui.result(&summary(report.counts(), &style));
    ui.note(&format!("{} in {:.2} s.", files(report.files.len()), took.as_secs_f64()));
}

fn files(count: usize) -> String {
    if count == 1 { "1 file".to_owned() } else { format!("{count} files") }
}

fn file_lines(file: &TestFileReport, listed: bool, style: &Style) -> String {
    let mut out = format!("{}\n", style.paint(Paint::Strong, &file.path));
    if !file.result.problems.is_empty() {
        let _ = writeln!(out, "  {} does not load", style.paint(Paint::Danger, "failed"));
    }
    for test in &file.result.tests {
        let paint = match test.outcome {
            Outcome::Passed => Paint::Good,
            Outcome::Failed(_) => Paint::Danger,
            Outcome::Skipped | Outcome::Todo => Paint::Quiet,
        };
        if listed || matches!(test.outcome, Outcome::Failed(_)) {
            let word = style.paint(paint, super::word(&test.outcome));
            let _ = writeln!(out, "  {word} {}", test.path.join(" > "));
        }
    }
    out
}

/// Returns each failure with its places in the source, its difference, and the output of the test.
fn failures(file: &TestFileReport, ui: &Ui, style: &Style) -> String {
    let mut out = String::new();
    for problem in &file.result.problems {
        let _ = write!(out, "\n{}", ui.problem_text(problem, style));
    }
    for test in &file.result.tests {
        if let Outcome::Failed(failures) = &test.outcome {
            let title = format!("{} > {}", file.path, test.path.join(" > "));
            let _ = writeln!(out, "\n{} {title}\n", style.paint(Paint::Danger, "failed"));
            failures.iter().for_each(|failure| out.push_str(&failure_text(failure, ui, style)));
            out.push_str(&console(test));
        }
    }
    out
}

/// Returns a failure as text, for every reporter.
pub(super) fn failure_text(failure: &TestFailure, ui: &Ui, style: &Style) -> String {
    let mut out = String::new();
    for problem in &failure.problems {
        out.push_str(&ui.problem_text(problem, style));
    }
    if let Some(difference) = &failure.difference {
        let _ = write!(out, "\n{}", expectation(&difference.expected, &difference.received, style));
    }
    out
}

fn console(test: &TestResult) -> String {
    let mut out = String::new();
    for line in &test.console {
        let _ = writeln!(out, "  console: {}", console_text(line));
    }
    out
}

fn summary(counts: TestCounts, style: &Style) -> String {
    let TestCounts { passed, failed, skipped, todo, unloaded } = counts;
    let parts = [
        (unloaded, Paint::Danger, "files do not load"),
        (failed, Paint::Danger, "failed"),
        (passed, Paint::Good, "passed"),
        (skipped, Paint::Quiet, "skipped"),
        (todo, Paint::Quiet, "to do"),
    ];
    let parts = parts.iter().filter(|(count, _, _)| *count > 0);
    let parts: Vec<String> =
        parts.map(|(count, paint, word)| style.paint(*paint, &format!("{count} {word}"))).collect();
    format!("\nTests: {}.\n", parts.join(", "))
}
