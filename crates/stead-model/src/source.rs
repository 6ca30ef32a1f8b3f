//! Places in the source of a program.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A place in a source file: path relative to the project, line and column from 1.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SourceRef {
    pub file: String,
    pub line: u32,
    pub column: u32,
}

impl fmt::Display for SourceRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.file, self.line, self.column)
    }
}
