//! Versions and ranges by the rules of npm: `1.2.3-beta.1`, `^1.2 || >=3 <4`.

mod range;

use std::cmp::Ordering;
use std::fmt;

use stead_model::{Number, Value};

use super::{Tree, text_at, texts_at};
use range::Ranges;

/// Part of a prerelease. Numbers come before words.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Identifier {
    Number(u64),
    Word(String),
}

impl fmt::Display for Identifier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Identifier::Number(number) => write!(f, "{number}"),
            Identifier::Word(word) => f.write_str(word),
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Version {
    /// Major, minor and patch.
    main: [u64; 3],
    prerelease: Vec<Identifier>,
    build: Vec<String>,
}

/// Largest number that JavaScript holds exactly.
const MOST: u64 = (1 << 53) - 1;

fn number(text: &str) -> Option<u64> {
    let plain = !text.is_empty() && text.chars().all(|digit| digit.is_ascii_digit());
    let leading_zero = text.len() > 1 && text.starts_with('0');
    text.parse().ok().filter(|number| plain && !leading_zero && *number <= MOST)
}

fn is_word(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '-')
}

fn identifiers(text: &str) -> Option<Vec<Identifier>> {
    text.split('.')
        .map(|part| match part.chars().all(|digit| digit.is_ascii_digit()) {
            true => number(part).map(Identifier::Number),
            false => is_word(part).then(|| Identifier::Word(part.to_owned())),
        })
        .collect()
}

impl Version {
    fn of(main: [u64; 3]) -> Version {
        Version { main, prerelease: Vec::new(), build: Vec::new() }
    }

    fn parse(text: &str) -> Option<Version> {
        let text = text.trim();
        let text = text.strip_prefix('v').unwrap_or(text);
        let (text, build) = match text.split_once('+') {
            Some((text, build)) => {
                (text, build.split('.').map(|part| is_word(part).then(|| part.to_owned())).collect())
            }
            None => (text, Some(Vec::new())),
        };
        let (main, prerelease) = match text.split_once('-') {
            Some((main, prerelease)) => (main, identifiers(prerelease)),
            None => (text, Some(Vec::new())),
        };
        let numbers: Vec<u64> = main.split('.').map(number).collect::<Option<_>>()?;
        Some(Version { main: numbers.try_into().ok()?, prerelease: prerelease?, build: build? })
    }

    fn read(text: &str) -> Result<Version, String> {
        Version::parse(text).ok_or_else(|| format!("{text:?} is not a version, such as \"1.2.3\""))
    }

    /// Orders by the version, without the build. A prerelease comes before its release.
    fn order(&self, other: &Version) -> Ordering {
        let released = |version: &Version| version.prerelease.is_empty();
        self.main.cmp(&other.main).then_with(|| match (released(self), released(other)) {
            (true, true) => Ordering::Equal,
            (true, false) => Ordering::Greater,
            (false, true) => Ordering::Less,
            (false, false) => self.prerelease.cmp(&other.prerelease),
        })
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [major, minor, patch] = self.main;
        write!(f, "{major}.{minor}.{patch}")?;
        for (index, part) in self.prerelease.iter().enumerate() {
            write!(f, "{}{part}", if index == 0 { "-" } else { "." })?;
        }
        Ok(())
    }
}

fn version_at(arguments: &[Value], index: usize) -> Result<Version, String> {
    Version::read(text_at(arguments, index, "a version")?)
}

pub(super) fn parse(arguments: &[Value]) -> Result<Tree, String> {
    let version = version_at(arguments, 0)?;
    let whole = |number: u64| Tree::Value(Value::Number(Number::from_u64(number)));
    let part = |part: &Identifier| match part {
        Identifier::Number(number) => whole(*number),
        Identifier::Word(word) => word.as_str().into(),
    };
    let [major, minor, patch] = version.main;
    Ok(Tree::Map(vec![
        ("version".to_owned(), version.to_string().into()),
        ("major".to_owned(), whole(major)),
        ("minor".to_owned(), whole(minor)),
        ("patch".to_owned(), whole(patch)),
        ("prerelease".to_owned(), Tree::List(version.prerelease.iter().map(part).collect())),
        ("build".to_owned(), Tree::List(version.build.iter().map(|part| part.as_str().into()).collect())),
    ]))
}

pub(super) fn compare(arguments: &[Value]) -> Result<Tree, String> {
    let order = version_at(arguments, 0)?.order(&version_at(arguments, 1)?);
    Ok(Tree::Value(Value::from(order as i64)))
}

pub(super) fn satisfies(arguments: &[Value]) -> Result<Tree, String> {
    let ranges = Ranges::read(text_at(arguments, 1, "the range")?)?;
    Ok(Value::Bool(ranges.contain(&version_at(arguments, 0)?)).into())
}

/// Returns the greatest version of a list that is in a range, or null.
pub(super) fn max_satisfying(arguments: &[Value]) -> Result<Tree, String> {
    let ranges = Ranges::read(text_at(arguments, 1, "the range")?)?;
    let mut best: Option<(Version, &str)> = None;
    for text in texts_at(arguments, 0, "the versions")? {
        let version = Version::read(text)?;
        let greater = best.as_ref().is_none_or(|(best, _)| version.order(best) == Ordering::Greater);
        if greater && ranges.contain(&version) {
            best = Some((version, text));
        }
    }
    Ok(best.map_or(Value::Null, |(_, text)| Value::from(text)).into())
}

/// Sorts versions in ascending order. Versions that differ only in their build are ordered by it.
pub(super) fn sort(arguments: &[Value]) -> Result<Tree, String> {
    let texts = texts_at(arguments, 0, "the versions")?;
    let read = texts.into_iter().map(|text| Version::read(text).map(|version| (version, text)));
    let mut all = read.collect::<Result<Vec<_>, String>>()?;
    let builds = |version: &Version| {
        let part =
            |part: &String| number(part).map_or_else(|| Identifier::Word(part.clone()), Identifier::Number);
        version.build.iter().map(part).collect::<Vec<_>>()
    };
    all.sort_by(|(one, _), (other, _)| one.order(other).then_with(|| builds(one).cmp(&builds(other))));
    Ok(Tree::List(all.into_iter().map(|(_, text)| text.into()).collect()))
}

const RELEASES: &str = "major, minor, patch, premajor, preminor, prepatch or prerelease";

/// Returns the next version of a kind.
pub(super) fn inc(arguments: &[Value]) -> Result<Tree, String> {
    let mut version = version_at(arguments, 0)?;
    let release = text_at(arguments, 1, "the kind of release")?;
    let word = match arguments.get(2) {
        None | Some(Value::Null) => None,
        Some(_) => Some(text_at(arguments, 2, "the identifier")?),
    };
    if word.is_some_and(|word| identifiers(word).is_none()) {
        return Err("the identifier must consist of letters, digits and `-`".to_owned());
    }
    let [major, minor, patch] = version.main;
    let is_prerelease = !version.prerelease.is_empty();
    let next = match release {
        "major" if is_prerelease && minor == 0 && patch == 0 => [major, 0, 0],
        "major" | "premajor" => [major + 1, 0, 0],
        "minor" if is_prerelease && patch == 0 => [major, minor, 0],
        "minor" | "preminor" => [major, minor + 1, 0],
        "patch" if is_prerelease => [major, minor, patch],
        "prerelease" if is_prerelease => [major, minor, patch],
        "patch" | "prerelease" => [major, minor, patch + 1],
        "prepatch" if is_prerelease => [major, minor, patch + 1],
        "prepatch" => [major, minor, patch + 1],
        other => return Err(format!("{other:?} is not a kind of release; use {RELEASES}")),
    };
    version.main = next;
    if release != "prerelease" {
        version.prerelease.clear();
    }
    if release.starts_with("pre") {
        next_prerelease(&mut version.prerelease, word);
    }
    version.build.clear();
    Ok(version.to_string().into())
}

fn next_prerelease(parts: &mut Vec<Identifier>, word: Option<&str>) {
    let last = parts.iter_mut().rev().find_map(|part| match part {
        Identifier::Number(number) => Some(number),
        Identifier::Word(_) => None,
    });
    match last {
        Some(number) => *number += 1,
        None => parts.push(Identifier::Number(0)),
    }
    let Some(word) = word else { return };
    let word = number(word).map_or_else(|| Identifier::Word(word.to_owned()), Identifier::Number);
    let counts = matches!(parts.get(1), Some(Identifier::Number(_)));
    if parts.first() != Some(&word) || !counts {
        *parts = vec![word, Identifier::Number(0)];
    }
}
