//! A problem as data: message, places, reasons, hints. Only `stead-render` turns it into text.

use serde::Serialize;

use crate::{Code, Hint, NextStep, SourceRef};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    Error,
    Warning,
}

/// A span of source text with a remark.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Label {
    pub place: SourceRef,
    /// Number of characters of the line; 0 points between two characters.
    pub length: usize,
    pub text: String,
}

/// An error or a warning for the user.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Diagnostic {
    pub code: Code,
    pub severity: Severity,
    pub message: String,
    /// Places in the source. The first is where the problem is.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub labels: Vec<Label>,
    /// Reasons and background, as full sentences.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// Advice on how to fix the problem.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub help: Vec<Hint>,
}

impl Diagnostic {
    pub fn error(code: Code, message: impl Into<String>) -> Diagnostic {
        Diagnostic {
            code,
            severity: Severity::Error,
            message: message.into(),
            labels: Vec::new(),
            notes: Vec::new(),
            help: Vec::new(),
        }
    }

    pub fn warning(code: Code, message: impl Into<String>) -> Diagnostic {
        Diagnostic { severity: Severity::Warning, ..Diagnostic::error(code, message) }
    }

    #[must_use]
    pub fn at(mut self, place: SourceRef, length: usize, text: impl Into<String>) -> Diagnostic {
        self.labels.push(Label { place, length, text: text.into() });
        self
    }

    #[must_use]
    pub fn note(mut self, note: impl Into<String>) -> Diagnostic {
        self.notes.push(note.into());
        self
    }

    #[must_use]
    pub fn help(mut self, help: impl Into<Hint>) -> Diagnostic {
        self.help.push(help.into());
        self
    }

    /// Returns the same problem with every hint as the text that a front end shows.
    #[must_use]
    pub fn phrased(&self, phrase: &dyn Fn(&NextStep) -> String) -> Diagnostic {
        let help = self.help.iter().map(|hint| Hint::text(hint.phrased(phrase))).collect();
        Diagnostic { help, ..self.clone() }
    }
}
