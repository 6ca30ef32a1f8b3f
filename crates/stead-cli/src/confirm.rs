//! Asks before anything is changed.

use std::io::Write as _;

use stead_model::{Code, Diagnostic};

use crate::failure::{Failure, Kind};
use crate::session::Session;
use crate::ui::Ui;

/// Yes from the flag or from the keyboard; anything else ends the command without a change.
pub(crate) fn confirm(session: &Session, ui: &Ui, question: &str) -> Result<(), Failure> {
    if session.yes {
        return Ok(());
    }
    if !ui.interactive() {
        return Err(refused("confirmation needed, but stdin is not a terminal")
            .help("look at the plan, then run it again with `--yes`")
            .into());
    }
    let mut stderr = std::io::stderr().lock();
    let _ = write!(stderr, "{question} [y/N] ");
    let _ = stderr.flush();
    let mut answer = String::new();
    let read = std::io::stdin().read_line(&mut answer);
    match (read, answer.trim().to_lowercase().as_str()) {
        (Ok(_), "y" | "yes") => Ok(()),
        _ => Err(refused("not confirmed").into()),
    }
}

fn refused(message: &str) -> Diagnostic {
    Diagnostic::error(Code::NOT_CONFIRMED, message).note("Nothing was changed.")
}

impl From<Diagnostic> for Failure {
    fn from(problem: Diagnostic) -> Failure {
        Failure::new(Kind::Usage, problem)
    }
}
