//! `stead`: parses the arguments, runs the command, and returns its exit code.

mod args;
mod commands;
mod confirm;
mod failure;
mod hints;
mod pins;
mod session;
mod ui;
mod wiring;

#[cfg(stead_planted)]
compile_error!("stead is never built with planted bugs");

use std::process::ExitCode;

use clap::Parser as _;
use mimalloc::MiMalloc;

use crate::args::Arguments;
use crate::ui::Ui;

/// Allocator that returns memory to the system: a run allocates millions of small values on several threads.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

fn main() -> ExitCode {
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => {
            // Requested help and version go to stdout, usage errors to stderr.
            let _ = error.print();
            return ExitCode::from(if error.use_stderr() { 2 } else { 0 });
        }
    };
    let ui = Ui::new(&arguments.common, wiring::terminal());
    let runtime = match wiring::runtime() {
        Ok(runtime) => runtime,
        Err(error) => {
            ui.note(&format!("cannot start: {error}"));
            return ExitCode::FAILURE;
        }
    };
    let code = match runtime.block_on(commands::run(arguments, &ui)) {
        Ok(code) => code,
        Err(failure) => ui.report_failure(&failure),
    };
    // A finished command does not wait for child processes and blocking file operations.
    runtime.shutdown_background();
    ExitCode::from(code)
}
