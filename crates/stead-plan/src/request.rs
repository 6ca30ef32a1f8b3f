//! The request for a plan: its purpose, the selected resources, and the policy for likely moves.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use stead_guard::OuterLevels;
use stead_model::{Code, Diagnostic, Module, Name, NameParts, ScopePart, Spelling, Uid};

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
    /// Treat them as different resources, and match unnamed siblings by identity and content, as the other policies do.
    Regroup,
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

    /// Returns the selection in which a pattern with folders, such as `lib/net:*`, has the spelling of names.
    ///
    /// A pattern that matches names as it stands keeps that meaning. A name that has both meanings is refused with both.
    pub(crate) fn spelled_as(&self, names: &[Vec<&Name>]) -> Result<Selection, Diagnostic> {
        let resolve = |globs: &[Glob]| -> Result<Vec<Glob>, Diagnostic> {
            let resolved = globs.iter().map(|glob| glob.spelled_as(names)).collect::<Result<Vec<_>, _>>()?;
            Ok(resolved.into_iter().flatten().collect())
        };
        let (targets, exclude) = (resolve(&self.targets)?, resolve(&self.exclude)?);
        Ok(Selection { targets, exclude, reach: self.reach })
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
        let whole = name.to_string();
        // Plans show names without their environment, and people paste them.
        let known = name.environment().to_string();
        let shown = |whole: &str| {
            let rest = whole.strip_prefix(&known).unwrap_or(whole);
            rest.strip_prefix(':').unwrap_or(rest).to_owned()
        };
        let has = |text: &str| matches_text(&pattern, text);
        // Earlier versions wrote folders as `%2F`, which no module has in the spelling of today.
        let earlier = || self.0.contains("%2F").then(|| name.spelled(Spelling::Encoded).to_string());
        has(&whole)
            || has(&shown(&whole))
            || has(name.short())
            || earlier().is_some_and(|text| has(&text) || has(&shown(&text)))
    }

    fn spelled_as(&self, names: &[Vec<&Name>]) -> Result<Vec<Glob>, Diagnostic> {
        let all = || names.iter().flatten().copied();
        let by_folders = || all().filter(|name| self.matches_folders(name));
        if !self.0.contains('/') || by_folders().next().is_none() {
            return Ok(vec![self.clone()]);
        }
        match all().find(|name| self.matches(name)) {
            None => Ok(by_folders().map(|name| Glob::new(name.to_string())).collect()),
            Some(_) if self.0.contains(['*', '?']) => Ok(vec![self.clone()]),
            Some(own) => {
                let message = format!("`{}` has more than one meaning", self.0);
                let problem = Diagnostic::error(Code::NOTHING_SELECTED, message).note("Nothing was changed.");
                let readings = std::iter::once(own).chain(by_folders());
                let problem =
                    readings.fold(problem, |problem, name| problem.note(format!("it may mean {name}")));
                Err(problem.help("use one of these names, with `.` between folders"))
            }
        }
    }

    /// Returns true if the pattern matches the name with `/` between the folders of its module, and not otherwise.
    fn matches_folders(&self, name: &Name) -> bool {
        if !self.0.contains('/') || self.matches(name) {
            return false;
        }
        let NameParts::Placed { module, .. } = &**name else { return false };
        if !module.0.contains('/') {
            return false;
        }
        // The module `lib/net` reads like the class `net` in the module `lib`.
        let mut folders = module.0.split('/');
        let mut name = name.clone();
        if let NameParts::Placed { module, scope, .. } = name.parts_mut() {
            let first = folders.next().unwrap_or_default().to_owned();
            let classes = folders.map(|folder| ScopePart { class: folder.to_owned(), id: None });
            *scope = classes.chain(std::mem::take(scope)).collect();
            *module = Module(first);
        }
        self.matches(&name)
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
        let net: Name = "dev:lib.net/Web#a:local.File#index".parse().unwrap();
        for pattern in ["lib.net/*", "dev:lib%2Fnet/*", "lib%2Fnet/Web#a:local.File#index", "dev:lib.*"] {
            assert!(Glob::new(pattern).matches(&net), "{pattern}");
        }
        for pattern in ["Index", "ndex", "dev:main", "i?ex", "local.File", ""] {
            assert!(!Glob::new(pattern).matches(&name), "{pattern}");
        }
    }

    #[test]
    fn pattern_with_folders_selects_their_module_and_a_name_with_two_meanings_is_refused() {
        let names =
            ["dev:lib.net:T#a", "dev:lib.net:T#b", "dev:main:T#c"].map(|name| name.parse::<Name>().unwrap());
        let resolve = |pattern: &str, names: &[Name]| {
            let selection = Selection { targets: vec![Glob::new(pattern)], ..Selection::default() };
            let names: Vec<Vec<&Name>> = names.iter().map(|name| vec![name]).collect();
            let selection = selection.spelled_as(&names)?;
            Ok(selection.targets.iter().map(|glob| glob.as_str().to_owned()).collect::<Vec<_>>())
        };
        let resolved = |pattern: &str| resolve(pattern, &names).map_err(|_: Diagnostic| ()).unwrap();
        assert_eq!(resolved("lib/net:T#a"), ["dev:lib.net:T#a"]);
        assert_eq!(resolved("dev:lib/net:*"), ["dev:lib.net:T#a", "dev:lib.net:T#b"]);
        assert_eq!(resolved("main:T#c"), ["main:T#c"]);
        let with_class = [&names[..], &["dev:lib/net:T#a".parse().unwrap()]].concat();
        let refused = resolve("lib/net:T#a", &with_class).unwrap_err().message;
        assert!(refused.contains("more than one meaning"), "{refused}");
    }
}
