//! What a plan is asked for: to build or to destroy, which resources, and what becomes of likely moves.

use serde::{Deserialize, Serialize};
use stead_guard::Outer;
use stead_model::Name;

/// What a plan is made for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Purpose {
    /// Everything becomes as declared.
    #[default]
    Up,
    /// Everything goes; the graph is empty.
    Destroy,
}

/// What becomes of a removed and a new resource that look like one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Moves {
    /// They are reported as suggestions, and nobody's mind is made up for him.
    #[default]
    Suggest,
    /// The certain ones are taken.
    Accept,
    /// They are different things; unnamed siblings keep their counters.
    Refuse,
}

/// Which resources a plan may touch. Empty: all of them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Selection {
    pub targets: Vec<Glob>,
    pub exclude: Vec<Glob>,
    pub reach: Reach,
}

/// How far a selection reaches beyond what it names.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reach {
    pub dependencies: Follow,
    pub dependants: Follow,
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

/// Everything that a plan depends on besides state, graph and verdicts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Request {
    pub purpose: Purpose,
    pub moves: Moves,
    pub selection: Selection,
    /// The marks around the program, for what the program does not declare.
    #[serde(default, skip_serializing_if = "Outer::is_empty")]
    pub outer: Outer,
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

    /// Whether any of the names is named as a target, or none had to be.
    pub(crate) fn aims_at(&self, names: &[&Name]) -> bool {
        self.targets.is_empty() || self.targets.iter().any(|glob| names.iter().any(|name| glob.fits(name)))
    }

    pub(crate) fn excludes(&self, names: &[&Name]) -> bool {
        self.exclude.iter().any(|glob| names.iter().any(|name| glob.fits(name)))
    }
}

/// A pattern for names: `*` stands for any text, `?` for one character.
///
/// It is compared with the whole name, and with the id alone.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Glob(String);

impl Glob {
    pub fn new(pattern: impl Into<String>) -> Glob {
        Glob(pattern.into())
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    pub fn fits(&self, name: &Name) -> bool {
        let pattern: Vec<char> = self.0.chars().collect();
        fits(&pattern, &name.to_string()) || fits(&pattern, name.short())
    }
}

/// Greedy matching that goes back to the last `*` only, which is enough for globs.
fn fits(pattern: &[char], text: &str) -> bool {
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
    fn globs_fit_whole_names_or_ids() {
        let name: Name = "dev:main/Web#a:local.File#index".parse().unwrap();
        for pattern in ["index", "ind*", "dev:main/*:local.File#index", "*File*", "i?dex", "*"] {
            assert!(Glob::new(pattern).fits(&name), "{pattern}");
        }
        for pattern in ["Index", "ndex", "dev:main", "i?ex", "local.File", ""] {
            assert!(!Glob::new(pattern).fits(&name), "{pattern}");
        }
    }
}
