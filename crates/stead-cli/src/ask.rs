//! Passphrases and secret values, asked at the terminal without echo.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use console::Term;
use stead::secrets::{Ask, Question, strength};
use zeroize::Zeroizing;

use crate::redact;

/// The person at the terminal. Answers are kept until the process ends, so that nobody is asked twice for one passphrase.
#[derive(Default)]
pub(crate) struct AskAtTerminal {
    answers: Mutex<BTreeMap<String, Zeroizing<String>>>,
    /// The new passphrase of this command. A key is tried out before it is made, and a stack and its config file share it.
    chosen: Mutex<Option<Zeroizing<String>>>,
}

#[async_trait::async_trait]
impl Ask for AskAtTerminal {
    async fn ask(&self, question: &Question) -> Option<Zeroizing<String>> {
        match question {
            Question::Passphrase { owner } => {
                let (known, other) = self.known(owner);
                if known.is_some() {
                    return known;
                }
                let other = other.or_else(|| self.chosen());
                let or_same = if other.is_some() { " (Enter: the same as before)" } else { "" };
                let answer = read_hidden(&format!("Passphrase of {}{or_same}: ", described(owner)))?;
                let answer = if answer.is_empty() { other? } else { answer };
                self.keep(owner, &answer);
                Some(answer)
            }
            Question::NewPassphrase { owner } => {
                if let Some(chosen) = self.chosen() {
                    return Some(chosen);
                }
                let answer = read_twice(&format!("New passphrase for {}", described(owner)))?;
                let told = strength(&answer);
                tell(&format!("The passphrase is {} (about {} bits).", told.words, told.bits));
                *self.chosen.lock().unwrap_or_else(PoisonError::into_inner) = Some(answer.clone());
                Some(answer)
            }
            Question::SshKey { file } => {
                read_hidden(&format!("Passphrase of the SSH key {}: ", file.display()))
            }
        }
    }
}

impl AskAtTerminal {
    /// Returns the passphrase of an owner, and that of another one.
    fn known(&self, owner: &str) -> (Option<Zeroizing<String>>, Option<Zeroizing<String>>) {
        let answers = self.answers.lock().unwrap_or_else(PoisonError::into_inner);
        (answers.get(owner).cloned(), answers.values().next().cloned())
    }

    fn chosen(&self) -> Option<Zeroizing<String>> {
        self.chosen.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn keep(&self, owner: &str, answer: &Zeroizing<String>) {
        let mut answers = self.answers.lock().unwrap_or_else(PoisonError::into_inner);
        answers.insert(owner.to_owned(), answer.clone());
    }
}

/// Reads a line without echo. `None` if there is no terminal, or the person gave up.
pub(crate) fn read_hidden(question: &str) -> Option<Zeroizing<String>> {
    let terminal = Term::stderr();
    terminal.write_str(question).ok()?;
    let answer = terminal.read_secure_line().ok().map(Zeroizing::new)?;
    redact::add(&answer);
    Some(answer)
}

/// Reads a line twice without echo, until both are the same. An empty line gives up.
fn read_twice(question: &str) -> Option<Zeroizing<String>> {
    loop {
        let first = read_hidden(&format!("{question}: ")).filter(|text| !text.is_empty())?;
        let second = read_hidden("The same once more: ")?;
        if first == second {
            return Some(first);
        }
        tell("The two lines differ.");
    }
}

fn tell(sentence: &str) {
    let _ = Term::stderr().write_line(sentence);
}

/// Returns the owner of a key in the words of a person.
fn described(owner: &str) -> String {
    match owner.split(':').collect::<Vec<_>>().as_slice() {
        ["config", _, environment] => format!("stead.{environment}.toml"),
        ["stack", ..] => "this stack".to_owned(),
        _ => owner.to_owned(),
    }
}
