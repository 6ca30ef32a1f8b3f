//! Invalid marks and their diagnostics.

use stead_model::{Code, Diagnostic, Level, MarkSource, SourceRef, nearest};

use super::RawValue;
use super::key::MarkKey;
use super::value::{BadValue, POLICIES};

/// A mark that is invalid, or that contradicts another one of its level.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadMark {
    pub code: Code,
    /// The problem, with the position and the valid values.
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
            Code::MARKS_DISAGREE => "It is ambiguous which of the two is meant, so the command stops.",
            _ => "An invalid mark protects nothing, so the command stops until it is corrected.",
        });
        self.help.iter().fold(problem, Diagnostic::help)
    }

    pub(super) fn value(source: &MarkSource, name: MarkKey, value: &RawValue, problem: BadValue) -> BadMark {
        let MarkSource { level, key, place } = source;
        let value = match value {
            RawValue::Bool(value) => value.to_string(),
            RawValue::Text(text) => format!("{text:?}"),
            RawValue::Other(text) => text.clone(),
        };
        let mark = if key == name.as_str() { key.to_owned() } else { format!("{} ({key})", name.as_str()) };
        let at = bracketed(place.as_ref());
        let message = match problem {
            BadValue::Use(valid) => format!("invalid {mark} {value} on {level}{at}: {valid}"),
            BadValue::NotYet => format!("{mark} {value} on {level}{at} is not supported yet: {POLICIES}"),
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
                "the marks are {}; each can be set for one service, as in `s3/deletion-policy`",
                known.join(", ")
            ),
        };
        let message = format!("unknown mark `{key}` on {level}{at}");
        BadMark { code: Code::BAD_MARK, message, place, help: Some(help) }
    }

    pub(super) fn lock_out_of_place(source: &MarkSource) -> BadMark {
        let MarkSource { level, key, place } = source;
        let at = bracketed(place.as_ref());
        let message = format!("`{key}` cannot be set on {level}{at}: a lock applies to many resources");
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
        let help = "remove one of them, or give both the same value".to_owned();
        BadMark { code: Code::MARKS_DISAGREE, message, place, help: Some(help) }
    }
}

fn bracketed(place: Option<&SourceRef>) -> String {
    place.map(|place| format!(" ({}:{})", place.file, place.line)).unwrap_or_default()
}
