//! Results of tests as XML of the form that JUnit writes, which continuous integrations read.

use std::fmt::Write as _;

use stead::testing::{Outcome, TestFileReport, TestReport};
use stead_render::Style;

use super::pretty::failure_text;
use crate::ui::Ui;

pub(super) fn text(project: &str, report: &TestReport, ui: &Ui) -> String {
    let counts = report.counts();
    let tests = counts.passed + counts.failed + counts.skipped + counts.todo;
    let mut out = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n".to_owned();
    let _ = writeln!(
        out,
        "<testsuites name=\"{}\" tests=\"{tests}\" failures=\"{}\" errors=\"{}\">",
        escaped(project),
        counts.failed,
        counts.unloaded
    );
    report.files.iter().for_each(|file| suite(file, ui, &mut out));
    out.push_str("</testsuites>\n");
    out
}

fn suite(file: &TestFileReport, ui: &Ui, out: &mut String) {
    let (style, path) = (Style::default(), escaped(&file.path));
    let tests = &file.result.tests;
    let failed = tests.iter().filter(|test| matches!(test.outcome, Outcome::Failed(_))).count();
    let skipped =
        tests.iter().filter(|test| matches!(test.outcome, Outcome::Skipped | Outcome::Todo)).count();
    let errors = usize::from(!file.result.problems.is_empty());
    let _ = writeln!(
        out,
        "  <testsuite name=\"{path}\" tests=\"{}\" failures=\"{failed}\" errors=\"{errors}\" skipped=\"{skipped}\">",
        tests.len()
    );
    if errors > 0 {
        let problems: String = file.result.problems.iter().map(|one| ui.problem_text(one, &style)).collect();
        let message = file.result.problems.first().map(|one| escaped(&one.message)).unwrap_or_default();
        let _ = writeln!(out, "    <testcase classname=\"{path}\" name=\"{path}\">");
        let _ = writeln!(
            out,
            "      <error message=\"{message}\">{}</error>\n    </testcase>",
            escaped(&problems)
        );
    }
    for test in tests {
        let line = test.place.as_ref().map(|place| format!(" line=\"{}\"", place.line)).unwrap_or_default();
        let name = escaped(&test.path.join(" > "));
        let head = format!("    <testcase classname=\"{path}\" name=\"{name}\" file=\"{path}\"{line}");
        match &test.outcome {
            Outcome::Passed => {
                let _ = writeln!(out, "{head}/>");
            }
            Outcome::Skipped | Outcome::Todo => {
                let _ = writeln!(out, "{head}>\n      <skipped/>\n    </testcase>");
            }
            Outcome::Failed(failures) => {
                let first = failures.iter().flat_map(|failure| &failure.problems).next();
                let message = first.map(|one| escaped(&one.message)).unwrap_or_default();
                let code = first.map(|one| one.code.as_str()).unwrap_or_default();
                let text: String = failures.iter().map(|one| failure_text(one, ui, &style)).collect();
                let _ = writeln!(
                    out,
                    "{head}>\n      <failure type=\"{code}\" message=\"{message}\">{}</failure>\n    </testcase>",
                    escaped(&text)
                );
            }
        }
    }
    out.push_str("  </testsuite>\n");
}

/// Escapes text for XML. Characters that XML cannot contain become spaces.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\n' | '\t' => out.push(c),
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => out.push(' '),
            c => out.push(c),
        }
    }
    out
}
