//! The request for a plan: its purpose, the selected resources, and the policy for likely moves.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use stead_guard::OuterLevels;
use stead_model::{Name, Uid};

/// The purpose of a plan.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Purpose {
    /// Make the stack match the program.
    #[default]
    Up,
    /// Delete all resources. The graph is empty.
    Destroy,
}

/// The policy for a removed and a new resource that look like the same resource.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum MovePolicy {
    /// Report them as suggestions.
    #[default]
    Suggest,
    /// Apply the certain ones as moves.
    Accept,
    /// Treat them as different resources, and match unnamed siblings by their counters.
    Refuse,
}

/// The resources that a plan may touch. The empty selection selects all.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Selection {
    pub targets: Vec<Glob>,
    pub exclude: Vec<Glob>,
    pub reach: Reach,
}

/// How far a selection extends beyond its targets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reach {
    pub dependencies: Follow,
    #[serde(rename = "dependants")]
    pub dependents: Follow,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Follow {
    #[default]
    No,
    Yes,
}

impl Follow {
    pub fn from_flag(flag: bool) -> Follow {
        if flag { Follow::Yes } else { Follow::No }
    }
}

/// Settings of a plan, besides state, graph and verdicts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Request {
    pub purpose: Purpose,
    pub moves: MovePolicy,
    pub selection: Selection,
    /// Recorded resources that the plan leaves alone, because a pin holds them and the user keeps them.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub held: BTreeSet<Uid>,
    /// Declared resources to replace even without a change: names, or ids that only one resource has.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub replace: Vec<String>,
    /// Marks of the outer levels, which apply to resources that the program does not declare.
    #[serde(default, skip_serializing_if = "OuterLevels::is_empty")]
    pub outer: OuterLevels,
}

impl From<Purpose> for Request {
    fn from(purpose: Purpose) -> Request {
        Request { purpose, ..Request::default() }
    }
}

impl Selection {
    pub fn is_everything(&self) -> bool {
        self.targets.is_empty() && self.exclude.is_empty()
    }

    /// Returns true if a target matches one of the names, or if there are no targets.
    pub(crate) fn targets_any(&self, names: &[&Name]) -> bool {
        self.targets.is_empty() || self.targets.iter().any(|glob| names.iter().any(|name| glob.matches(name)))
    }

    pub(crate) fn excludes_any(&self, names: &[&Name]) -> bool {
        self.exclude.iter().any(|glob| names.iter().any(|name| glob.matches(name)))
    }
}

/// A pattern for names: `*` matches any text, `?` one character.
///
/// The pattern must match the whole name or the whole id.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Glob(String);

impl Glob {
    pub fn new(pattern: impl Into<String>) -> Glob {
        Glob(pattern.into())
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    pub fn matches(&self, name: &Name) -> bool {
        let pattern: Vec<char> = self.0.chars().collect();
        // Plans show names without their environment, and people paste them.
        let shown = name.shown_in(name.environment());
        [&name.to_string(), &shown, name.short()].iter().any(|text| matches_text(&pattern, text))
    }
}

/// Matches greedily and backtracks to the last `*` only, which is enough for globs.
fn matches_text(pattern: &[char], text: &str) -> bool {
    let text: Vec<char> = text.chars().collect();
    let (mut p, mut t) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while t < text.len() {
        match pattern.get(p) {
            Some('*') => {
                star = Some((p, t));
                p += 1;
            }
            Some(wanted) if *wanted == '?' || *wanted == text[t] => {
                p += 1;
                t += 1;
            }
            _ => match star {
                Some((at, taken)) => {
                    star = Some((at, taken + 1));
                    p = at + 1;
                    t = taken + 1;
                }
                None => return false,
            },
        }
    }
    pattern[p..].iter().all(|left| *left == '*')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn glob_matches_the_whole_name_with_or_without_its_environment_or_the_whole_id() {
        let name: Name = "dev:main/Web#a:local.File#index".parse().unwrap();
        for pattern in [
            "index",
            "ind*",
            "dev:main/*:local.File#index",
            "main/Web#a:local.File#index",
            "*File*",
            "i?dex",
            "*",
        ] {
            assert!(Glob::new(pattern).matches(&name), "{pattern}");
        }
        for pattern in ["Index", "ndex", "dev:main", "i?ex", "local.File", ""] {
            assert!(!Glob::new(pattern).matches(&name), "{pattern}");
        }
    }
}
