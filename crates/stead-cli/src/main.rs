//! `stead`: parses the arguments, runs the command, and returns its exit code.

mod args;
mod ask;
mod commands;
mod confirm;
mod failure;
mod foreign_words;
mod hints;
mod pins;
mod progress;
mod redact;
mod session;
mod terminal;
mod ui;
mod usage;
mod wiring;

use std::process::ExitCode;

use mimalloc::MiMalloc;

use stead_model::{Code, Diagnostic};

use crate::failure::Failure;
use crate::terminal::{ColourChoice, Terminal};
use crate::ui::{Reader, Ui};

/// Allocator that returns memory to the system: a run allocates millions of small values on several threads.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

fn main() -> ExitCode {
    stead_world::forbid_core_dumps();
    redact::start();
    let words = match foreign_words::translate(wiring::arguments()) {
        Ok(words) => words,
        Err(problem) => {
            let terminal = Terminal::new(ColourChoice::Auto, &wiring::surroundings());
            let ui = Ui::with_reader(Reader::of_words(wiring::arguments()), terminal);
            return ExitCode::from(ui.report_failure(&Failure::from(problem)));
        }
    };
    let arguments = match usage::parse(words) {
        Ok(arguments) => arguments,
        Err(error) => {
            // Requested help and version go to stdout, usage errors to stderr.
            let _ = error.print();
            return ExitCode::from(if error.use_stderr() { 2 } else { 0 });
        }
    };
    let terminal = Terminal::new(arguments.common.color, &wiring::surroundings());
    let ui = Ui::new(&arguments.common, terminal);
    let colour = if terminal.stderr.colour { wiring::Colour::On } else { wiring::Colour::Off };
    if let Err(problem) = wiring::start_log(arguments.common.verbose, colour) {
        return ExitCode::from(ui.report_failure(&Failure::from(Diagnostic::error(Code::USAGE, problem))));
    }
    let runtime = match wiring::runtime() {
        Ok(runtime) => runtime,
        Err(error) => {
            ui.note(&format!("cannot start: {error}"));
            return ExitCode::FAILURE;
        }
    };
    let command = async {
        wiring::report_file_size_limit();
        commands::run(arguments, &ui).await
    };
    let code = match runtime.block_on(command) {
        Ok(code) => code,
        Err(failure) => ui.report_failure(&failure),
    };
    // A finished command does not wait for child processes and blocking file operations.
    runtime.shutdown_background();
    ExitCode::from(code)
}
