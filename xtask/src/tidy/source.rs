//! Files to check, and findings.

use std::fmt;
use std::io::ErrorKind;
use std::path::Path;

use crate::workspace;

/// Text file, with its path from the root of the repository.
#[derive(Clone, Debug)]
pub(crate) struct SourceFile {
    pub(crate) path: String,
    pub(crate) text: String,
}

/// Violation of a rule.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Finding {
    path: String,
    line: Option<usize>,
    message: String,
}

impl SourceFile {
    pub(crate) fn is_rust(&self) -> bool {
        self.path.ends_with(".rs")
    }

    /// Returns true for a test, recognised by its path. Tests may use the real machine.
    pub(crate) fn is_test(&self) -> bool {
        self.path.ends_with("/tests.rs") || self.path.split('/').any(|part| part == "tests")
    }

    pub(crate) fn finding(&self, line: usize, message: impl Into<String>) -> Finding {
        Finding { path: self.path.clone(), line: Some(line), message: message.into() }
    }
}

impl Finding {
    /// Creates a finding about a whole file, or about a missing one.
    pub(crate) fn whole(path: impl Into<String>, message: impl Into<String>) -> Finding {
        Finding { path: path.into(), line: None, message: message.into() }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(f, "{}:{line}: {}", self.path, self.message),
            None => write!(f, "{}: {}", self.path, self.message),
        }
    }
}

/// Reads every text file of the repository. Files that are not UTF-8 are skipped.
pub(crate) fn load(root: &Path) -> Result<Vec<SourceFile>, String> {
    let mut files = Vec::new();
    for path in workspace::files(root)? {
        match std::fs::read_to_string(root.join(&path)) {
            Ok(text) => files.push(SourceFile { path, text }),
            // A file deleted before the commit; a link to a folder; a picture.
            Err(error)
                if matches!(
                    error.kind(),
                    ErrorKind::NotFound | ErrorKind::IsADirectory | ErrorKind::InvalidData
                ) => {}
            Err(error) => return Err(format!("cannot read {path}: {error}")),
        }
    }
    Ok(files)
}

/// Builds files in memory, for the tests of the checks.
#[cfg(test)]
pub(crate) fn files<const N: usize>(files: [(&str, &str); N]) -> Vec<SourceFile> {
    files.map(|(path, text)| SourceFile { path: path.to_owned(), text: text.to_owned() }).into()
}

/// Returns findings as text, for the tests of the checks.
#[cfg(test)]
pub(crate) fn shown(findings: &[Finding]) -> Vec<String> {
    findings.iter().map(Finding::to_string).collect()
}
