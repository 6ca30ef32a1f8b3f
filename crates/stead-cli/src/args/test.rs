//! Arguments of `stead test`.

use clap::{Args, ValueEnum};

#[derive(Args)]
pub(crate) struct TestArguments {
    /// Part of the path of a test file; without one, all test files run
    #[arg(value_name = "FILTER")]
    pub files: Vec<String>,
    /// Run only tests whose full name matches this regular expression
    #[arg(long, value_name = "REGEX")]
    pub name: Option<String>,
    /// Form of the results
    #[arg(long, value_name = "FORM", default_value = "pretty")]
    pub reporter: Reporter,
    /// Record every snapshot again, and remove those that no test uses
    #[arg(short = 'u', long, conflicts_with = "ci")]
    pub update_snapshots: bool,
    /// Record no snapshot: a missing one fails its test [default: set if the variable CI is]
    #[arg(long)]
    pub ci: bool,
    /// Run the tests again whenever a file of the project changes, until Ctrl-C
    #[arg(long)]
    pub watch: bool,
}

/// Form of the results of a test run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Reporter {
    /// Text for a person
    Pretty,
    /// Test Anything Protocol, version 14
    Tap,
    /// XML as JUnit writes it
    Junit,
    /// One JSON object per line
    Json,
}
