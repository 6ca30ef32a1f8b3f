//! Confirmation before a change.

use std::io::Write as _;

use stead_model::{Code, Diagnostic};

use crate::failure::{Failure, Kind};
use crate::redact::{self, Disclosure};
use crate::session::Session;
use crate::ui::Ui;

/// Asks for confirmation, unless `--yes` was passed.
///
/// Any answer but yes is an error, and so is a stdin that is not a terminal.
pub(crate) fn confirm(session: &Session, ui: &Ui, question: &str) -> Result<(), Failure> {
    if session.yes {
        return Ok(());
    }
    if !ui.interactive() {
        return Err(not_confirmed("confirmation needed, but stdin is not a terminal")
            .help("check the plan, then run the command again with `--yes`")
            .into());
    }
    accept(ask(&format!("{question} [y/N] ")).as_deref().unwrap_or_default())
}

/// Asks for confirmation that secrets are shown in the clear.
pub(crate) fn confirm_disclosure(session: &Session, ui: &Ui, question: &str) -> Result<Disclosure, Failure> {
    confirm(session, ui, question)?;
    Ok(Disclosure(()))
}

/// Fails unless the answer is yes. Another answer is no mistake on the command line, so that it is no wrong usage.
fn accept(answer: &str) -> Result<(), Failure> {
    match answer.trim().to_lowercase().as_str() {
        "y" | "yes" => Ok(()),
        _ => Err(Failure::new(Kind::Failed, not_confirmed("not confirmed"))),
    }
}

/// Asks a question at the terminal. Returns the answer without spaces around it.
pub(crate) fn ask(question: &str) -> Option<String> {
    let mut stderr = std::io::stderr().lock();
    let _ = write!(stderr, "{}", redact::text(question));
    let _ = stderr.flush();
    let mut answer = String::new();
    std::io::stdin().read_line(&mut answer).ok()?;
    Some(answer.trim().to_owned())
}

fn not_confirmed(message: &str) -> Diagnostic {
    Diagnostic::error(Code::NOT_CONFIRMED, message).note("Nothing was changed.")
}

impl From<Diagnostic> for Failure {
    fn from(problem: Diagnostic) -> Failure {
        Failure::new(Kind::Usage, problem)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_answer_but_yes_fails_and_is_not_wrong_usage() {
        for yes in ["y\n", "YES\n", " yes "] {
            assert!(accept(yes).is_ok(), "{yes:?}");
        }
        for no in ["n\n", "", "\n", "yess\n"] {
            let failure = accept(no).unwrap_err();
            assert_eq!(failure.kind as u8, 1, "{no:?}");
            assert_eq!(failure.problems[0].code, Code::NOT_CONFIRMED);
        }
    }
}
