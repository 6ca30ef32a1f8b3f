//! Writer of the section of `docs/aws-coverage.md` with the results.

use std::fmt::Write as _;

use crate::census::Census;
use crate::life::Stage;

/// Start of the section, which is the last of the page.
pub(crate) const HEADING: &str = "## End to end\n";

const HOW: &str = "\
Written by the test in `crates/stead/tests/every_type`; `UPDATE=1 cargo test -p stead --test every_type` updates it.

For each type that can be created, read and deleted, a program in TypeScript declares a resource with all properties that can be
generated from the schema, and the resources that these refer to. The library evaluates the program, plans, asks the guards and
applies; the provider sends its requests to an embedded cloud, which checks references. After each step, the cloud has exactly
the declared values, and a plan with and without `--refresh` has nothing to do. One type in fifty goes the same way over a loopback
port.
";

pub(crate) fn section(census: &Census) -> String {
    let mut text = format!("{HEADING}\n{HOW}\n| step | types that pass | not applicable |\n|---|---:|---|\n");
    for stage in Stage::ALL {
        let tally = census.tally(stage);
        let reasons: Vec<String> =
            tally.not_applicable.iter().map(|(why, count)| format!("{count}: {why}")).collect();
        let _ = writeln!(text, "| {} | {} | {} |", stage.title(), tally.passed, reasons.join("<br>"));
    }
    let failures = census.failures();
    text.push_str("\n### Types that fail\n\n");
    match failures.is_empty() {
        true => text.push_str("None.\n"),
        false => failures.iter().for_each(|failure| {
            let _ = writeln!(text, "- {failure}");
        }),
    }
    text
}
