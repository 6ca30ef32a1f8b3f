//! What is wrong with a mark, in words.

use stead_model::{Code, Diagnostic, Level, MarkSource, SourceRef, nearest};

use super::Given;
use super::key::MarkKey;
use super::value::{BadValue, POLICIES};

/// A mark that cannot be understood, or that contradicts another one of its level.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadMark {
    pub code: Code,
    /// What is wrong, with the place, and what to write instead.
    pub message: String,
    pub place: Option<SourceRef>,
    pub help: Option<String>,
}

impl BadMark {
    pub fn diagnostic(&self) -> Diagnostic {
        let problem = Diagnostic::error(self.code, &self.message);
        let problem = match &self.place {
            Some(place) => problem.at(place.clone(), 0, "set here"),
            None => problem,
        };
        let problem = problem.note(match self.code {
            Code::MARKS_DISAGREE => "Nobody can tell which of the two is meant, so nothing is done.",
            _ => "A mark that is not understood protects nothing, so nothing is done before it is.",
        });
        self.help.iter().fold(problem, Diagnostic::help)
    }

    pub(super) fn value(source: &MarkSource, name: MarkKey, given: &Given, problem: BadValue) -> BadMark {
        let MarkSource { level, key, place } = source;
        let given = match given {
            Given::Bool(value) => value.to_string(),
            Given::Text(text) => format!("{text:?}"),
            Given::Other(text) => text.clone(),
        };
        let shown = if key == name.as_str() { key.to_owned() } else { format!("{} ({key})", name.as_str()) };
        let at = bracketed(place.as_ref());
        let message = match problem {
            BadValue::Use(these) => format!("invalid {shown} {given} on {level}{at}: {these}"),
            BadValue::NotYet => format!("{shown} {given} on {level}{at} is not supported yet: {POLICIES}"),
        };
        BadMark { code: Code::BAD_MARK, message, place: place.clone(), help: None }
    }

    pub(super) fn unknown_key(level: &Level, key: &str, place: Option<SourceRef>) -> BadMark {
        let at = bracketed(place.as_ref());
        let name = key.rsplit_once('/').map_or(key, |(_, name)| name);
        let known = MarkKey::ALL.map(MarkKey::as_str);
        let help = match nearest(name, known) {
            Some(meant) if meant != name => format!("did you mean `{meant}`?"),
            Some(meant) => format!("write `{meant}`, or a service before it: `s3/{meant}`"),
            None => format!(
                "there are {}; each also for one service, like `s3/deletion-policy`",
                known.join(", ")
            ),
        };
        let message = format!("there is no mark `{key}`, which is set on {level}{at}");
        BadMark { code: Code::BAD_MARK, message, place, help: Some(help) }
    }

    pub(super) fn lock_out_of_place(source: &MarkSource) -> BadMark {
        let MarkSource { level, key, place } = source;
        let at = bracketed(place.as_ref());
        let message = format!("`{key}` cannot be set on {level}{at}: a lock is for many resources");
        let help =
            "set it for a namespace, an environment or the project; on a resource, use `prevent-delete`";
        BadMark { code: Code::BAD_MARK, message, place: place.clone(), help: Some(help.to_owned()) }
    }

    pub(super) fn disagreement(
        (one, its_value): (&MarkSource, &str),
        (other, other_value): (&MarkSource, &str),
    ) -> BadMark {
        let place = other.place.clone().or_else(|| one.place.clone());
        let at = bracketed(place.as_ref());
        let (level, one, other) = (&one.level, &one.key, &other.key);
        let message = format!(
            "two settings disagree on {level}{at}: {one} is {its_value} but {other} is {other_value}"
        );
        let help = "say it once, or say the same twice".to_owned();
        BadMark { code: Code::MARKS_DISAGREE, message, place, help: Some(help) }
    }
}

fn bracketed(place: Option<&SourceRef>) -> String {
    place.map(|place| format!(" ({}:{})", place.file, place.line)).unwrap_or_default()
}
