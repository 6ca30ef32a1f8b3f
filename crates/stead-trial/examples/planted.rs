//! Enables the planted bugs one by one and counts the lives until each is detected: `cargo xtask trial --planted [NAME …]`.

#![allow(clippy::disallowed_methods, clippy::disallowed_types, reason = "a tool for developers")]
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a command-line tool")]

use std::process::ExitCode;

fn main() -> ExitCode {
    eprintln!("the bugs are not compiled in; use `cargo xtask trial --planted`");
    ExitCode::from(2)
}
