//! Runs many cloud lives on all cores: `cargo xtask trial --clouds N [--seed S] [--log FILE]`.

#![allow(clippy::disallowed_methods, clippy::disallowed_types, reason = "a tool for developers")]
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a command-line tool")]

mod many;

use std::process::ExitCode;

fn main() -> ExitCode {
    many::run("clouds", stead_trial::cloud_life)
}
