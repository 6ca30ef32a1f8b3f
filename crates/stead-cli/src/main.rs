//! `stead`: arguments in, exit code out. Everything in between is other crates'.

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

/// A run makes and drops small things by the million, on several threads; this one gives memory back.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

fn main() -> ExitCode {
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => {
            // Help and version are asked for and go to stdout; mistakes go to stderr.
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
        Err(failure) => ui.failed(&failure),
    };
    // Child processes and file work that are still under way must not keep a finished command alive.
    runtime.shutdown_background();
    ExitCode::from(code)
}
