//! Results of tests in the Test Anything Protocol, version 14.

use std::fmt::Write as _;

use stead::testing::{Outcome, TestReport};
use stead_render::Style;

use super::pretty::failure_text;
use crate::ui::Ui;

pub(super) fn text(report: &TestReport, ui: &Ui) -> String {
    let points = |file: &stead::testing::TestFileReport| {
        file.result.tests.len() + usize::from(!file.result.problems.is_empty())
    };
    let mut out = format!("TAP version 14\n1..{}\n", report.files.iter().map(points).sum::<usize>());
    let (style, mut number) = (Style::default(), 0);
    for file in &report.files {
        if !file.result.problems.is_empty() {
            number += 1;
            let _ = writeln!(out, "not ok {number} - {}", escaped(&file.path));
            let problems: String =
                file.result.problems.iter().map(|one| ui.problem_text(one, &style)).collect();
            details(&mut out, &problems);
        }
        for test in &file.result.tests {
            number += 1;
            let name = escaped(&format!("{} > {}", file.path, test.path.join(" > ")));
            match &test.outcome {
                Outcome::Passed => {
                    let _ = writeln!(out, "ok {number} - {name}");
                }
                Outcome::Skipped => {
                    let _ = writeln!(out, "ok {number} - {name} # SKIP");
                }
                Outcome::Todo => {
                    let _ = writeln!(out, "not ok {number} - {name} # TODO");
                }
                Outcome::Failed(failures) => {
                    let _ = writeln!(out, "not ok {number} - {name}");
                    let text: String = failures.iter().map(|one| failure_text(one, ui, &style)).collect();
                    details(&mut out, &text);
                }
            }
        }
    }
    out
}

/// Adds a block of YAML with the text of a failure.
fn details(out: &mut String, text: &str) {
    out.push_str("  ---\n  message: |\n");
    for line in text.lines() {
        let _ = writeln!(out, "    {}", line.trim_end());
    }
    out.push_str("  ...\n");
}

/// Escapes the characters that start a directive, and line breaks.
fn escaped(name: &str) -> String {
    name.replace('\\', "\\\\").replace('#', "\\#").replace('\n', " ")
}
