//! Ranges of versions: comparators, `^`, `~`, `x`, hyphens and `||`.

use std::cmp::Ordering;

use super::{Identifier, Version, identifiers, number};

/// Alternatives, of which a version must be in one.
pub(super) struct Ranges(Vec<Vec<Comparator>>);

#[derive(Clone, Debug)]
struct Comparator {
    /// The orders of a version to the bound that fit.
    fits: &'static [Ordering],
    bound: Version,
}

const LESS: &[Ordering] = &[Ordering::Less];
const UP_TO: &[Ordering] = &[Ordering::Less, Ordering::Equal];
const FROM: &[Ordering] = &[Ordering::Greater, Ordering::Equal];
const GREATER: &[Ordering] = &[Ordering::Greater];
const EQUAL: &[Ordering] = &[Ordering::Equal];

/// Version with missing parts, such as `1.x`.
struct Partial {
    /// Major, minor, patch: a missing part and all parts after it are `None`.
    main: [Option<u64>; 3],
    prerelease: Vec<Identifier>,
}

impl Ranges {
    pub(super) fn read(text: &str) -> Result<Ranges, String> {
        let wrong = || format!("{text:?} is not a range of versions, such as \"^1.2.3\" or \">=1.2 <3\"");
        text.split("||").map(alternative).collect::<Option<_>>().map(Ranges).ok_or_else(wrong)
    }

    /// Returns true if the version is in one alternative. A prerelease is, only if a bound is a prerelease of the same version.
    pub(super) fn contain(&self, version: &Version) -> bool {
        self.0.iter().any(|all| {
            let fits = all.iter().all(|one| one.fits.contains(&version.order(&one.bound)));
            let near = |one: &Comparator| !one.bound.prerelease.is_empty() && one.bound.main == version.main;
            fits && (version.prerelease.is_empty() || all.iter().any(near))
        })
    }
}

/// Reads one alternative: comparators separated by spaces, or `from - to`.
fn alternative(text: &str) -> Option<Vec<Comparator>> {
    let words: Vec<&str> = text.split_whitespace().collect();
    if let [from, "-", to] = words.as_slice() {
        return Some(lowest(&partial(from)?).into_iter().chain(highest(&partial(to)?)).collect());
    }
    let mut all = Vec::new();
    let mut words = words.into_iter();
    while let Some(word) = words.next() {
        let (operator, version) = split_operator(word);
        // An operator may stand apart from its version.
        let version = if version.is_empty() && !operator.is_empty() { words.next()? } else { version };
        all.extend(comparators(operator, &partial(version)?));
    }
    Some(all)
}

fn split_operator(word: &str) -> (&str, &str) {
    let operators = ["~>", "^", "~", ">=", "<=", ">", "<", "="];
    let found = operators.iter().find(|operator| word.starts_with(**operator));
    found.map_or(("", word), |operator| word.split_at(operator.len()))
}

fn partial(text: &str) -> Option<Partial> {
    let text = text.trim_start_matches(['v', '=']);
    let text = text.split_once('+').map_or(text, |(text, _)| text);
    let (main, prerelease) = match text.split_once('-') {
        Some((main, prerelease)) => (main, identifiers(prerelease)?),
        None => (text, Vec::new()),
    };
    let mut parts = [None; 3];
    if !main.is_empty() {
        let words: Vec<&str> = main.split('.').collect();
        let places = parts.get_mut(..words.len())?;
        let mut open = false;
        for (place, word) in places.iter_mut().zip(words) {
            match word {
                "x" | "X" | "*" => open = true,
                word => *place = Some(number(word)?).filter(|_| !open),
            }
        }
    }
    let whole = parts.iter().all(Option::is_some);
    Some(Partial { main: parts, prerelease: if whole { prerelease } else { Vec::new() } })
}

impl Partial {
    /// Returns the least version of this form.
    fn start(&self) -> Version {
        Version {
            prerelease: self.prerelease.clone(),
            ..Version::of(self.main.map(Option::unwrap_or_default))
        }
    }
}

/// Returns the bound before the first version of the next major, minor or patch, and before its prereleases.
fn before(main: [u64; 3]) -> Comparator {
    let bound = Version { prerelease: vec![Identifier::Number(0)], ..Version::of(main) };
    Comparator { fits: LESS, bound }
}

/// Returns the first version after all versions of a partial one.
fn after(partial: &Partial) -> Option<[u64; 3]> {
    match partial.main {
        [None, ..] => None,
        [Some(major), None, _] => Some([major + 1, 0, 0]),
        [Some(major), Some(minor), None] => Some([major, minor + 1, 0]),
        [Some(major), Some(minor), Some(patch)] => Some([major, minor, patch + 1]),
    }
}

fn lowest(partial: &Partial) -> Option<Comparator> {
    partial.main[0].map(|_| Comparator { fits: FROM, bound: partial.start() })
}

fn highest(partial: &Partial) -> Option<Comparator> {
    match partial.main[2] {
        Some(_) => Some(Comparator { fits: UP_TO, bound: partial.start() }),
        None => after(partial).map(before),
    }
}

fn comparators(operator: &str, partial: &Partial) -> Vec<Comparator> {
    let whole = partial.main[2].is_some();
    let one = |fits| vec![Comparator { fits, bound: partial.start() }];
    let between = |end: Option<[u64; 3]>| lowest(partial).into_iter().chain(end.map(before)).collect();
    let nothing = || vec![before([0, 0, 0])];
    match operator {
        "^" => between(match partial.main {
            [Some(0), Some(0), Some(patch)] => Some([0, 0, patch + 1]),
            [Some(0), Some(minor), _] => Some([0, minor + 1, 0]),
            [Some(major), ..] => Some([major + 1, 0, 0]),
            [None, ..] => None,
        }),
        "~" | "~>" => between(match partial.main {
            [Some(major), Some(minor), _] => Some([major, minor + 1, 0]),
            _ => after(partial),
        }),
        ">" if whole => one(GREATER),
        ">" => after(partial)
            .map_or_else(nothing, |main| vec![Comparator { fits: FROM, bound: Version::of(main) }]),
        ">=" => lowest(partial).into_iter().collect(),
        "<" if whole => one(LESS),
        "<" if partial.main[0].is_none() => nothing(),
        "<" => vec![before(partial.start().main)],
        "<=" => highest(partial).into_iter().collect(),
        _ if whole => one(EQUAL),
        _ => between(after(partial)),
    }
}
