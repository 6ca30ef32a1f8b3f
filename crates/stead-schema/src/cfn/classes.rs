//! Classes of properties: sets of paths that say how a property may be set and changed.

use stead_model::{PathPattern, PatternPart, PropertyPath, Segment};

/// Property class of a published schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Class {
    /// Set by the service, never by the user.
    ReadOnly,
    /// Settable at creation only: a change replaces the resource.
    CreateOnly,
    /// Never returned by a read.
    WriteOnly,
    /// Some changes are possible in place, others need a replacement; only the service can tell which.
    ConditionalCreateOnly,
    /// Used internally and never returned by a read.
    NonPublic,
    Deprecated,
}

impl Class {
    pub const ALL: [Class; 6] = [
        Class::ReadOnly,
        Class::CreateOnly,
        Class::WriteOnly,
        Class::ConditionalCreateOnly,
        Class::NonPublic,
        Class::Deprecated,
    ];

    /// Returns the key of a published schema that lists the members of this class.
    pub fn key(self) -> &'static str {
        match self {
            Class::ReadOnly => "readOnlyProperties",
            Class::CreateOnly => "createOnlyProperties",
            Class::WriteOnly => "writeOnlyProperties",
            Class::ConditionalCreateOnly => "conditionalCreateOnlyProperties",
            Class::NonPublic => "nonPublicProperties",
            Class::Deprecated => "deprecatedProperties",
        }
    }

    /// Returns the name of this class for messages.
    pub fn word(self) -> &'static str {
        match self {
            Class::ReadOnly => "read-only",
            Class::CreateOnly => "create-only",
            Class::WriteOnly => "write-only",
            Class::ConditionalCreateOnly => "conditionally create-only",
            Class::NonPublic => "non-public",
            Class::Deprecated => "deprecated",
        }
    }
}

/// Set of path patterns. A pattern covers the path that it names and all paths under it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PathSet {
    patterns: Vec<PathPattern>,
}

impl PathSet {
    pub fn patterns(&self) -> &[PathPattern] {
        &self.patterns
    }

    pub fn covers(&self, path: &PropertyPath) -> bool {
        self.patterns.iter().any(|pattern| pattern.covers(path))
    }

    /// Returns a cursor at the root of a value, where no path is covered yet.
    pub fn cursor(&self) -> Cursor<'_> {
        self.cursor_without(&[])
    }

    /// Returns a cursor that leaves out the patterns of some top-level properties.
    pub(crate) fn cursor_without(&self, properties: &[&str]) -> Cursor<'_> {
        let left_out = |parts: &&[PatternPart]| match parts.first() {
            Some(PatternPart::Key(key)) => properties.contains(&key.as_str()),
            _ => false,
        };
        let patterns = self.patterns.iter().map(PathPattern::parts);
        Cursor { below: patterns.filter(|parts| !left_out(parts)).collect(), covered: false }
    }
}

impl FromIterator<PathPattern> for PathSet {
    fn from_iter<I: IntoIterator<Item = PathPattern>>(patterns: I) -> PathSet {
        PathSet { patterns: patterns.into_iter().collect() }
    }
}

/// Position in a value, with the rest of each pattern that continues below it.
#[derive(Clone, Debug, Default)]
pub struct Cursor<'a> {
    below: Vec<&'a [PatternPart]>,
    covered: bool,
}

impl<'a> Cursor<'a> {
    /// Returns true if the position is in the set.
    pub fn is_covered(&self) -> bool {
        self.covered
    }

    /// Returns true if the position, or a position under it, may be in the set.
    pub fn reaches(&self) -> bool {
        self.covered || !self.below.is_empty()
    }

    #[must_use]
    pub fn key(&self, key: &str) -> Cursor<'a> {
        self.step(|part| match part {
            PatternPart::Any => true,
            PatternPart::Key(name) => name == key,
            PatternPart::Index(_) => false,
        })
    }

    /// Returns the cursor of any element of a list.
    #[must_use]
    pub fn element(&self) -> Cursor<'a> {
        self.step(|part| !matches!(part, PatternPart::Key(_)))
    }

    #[must_use]
    pub fn segment(&self, segment: &Segment) -> Cursor<'a> {
        match segment {
            Segment::Key(key) => self.key(key),
            Segment::Index(_) => self.element(),
        }
    }

    fn step(&self, fits: impl Fn(&PatternPart) -> bool) -> Cursor<'a> {
        if self.covered {
            return Cursor { below: Vec::new(), covered: true };
        }
        let mut next = Cursor::default();
        for (first, rest) in self.below.iter().filter_map(|pattern| pattern.split_first()) {
            if fits(first) {
                next.covered |= rest.is_empty();
                next.below.push(rest);
            }
        }
        if next.covered {
            next.below.clear();
        }
        next
    }
}

/// The six property classes of a type.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Classes {
    sets: [PathSet; 6],
}

impl Classes {
    pub fn of(&self, class: Class) -> &PathSet {
        &self.sets[class as usize]
    }

    /// Returns a cursor over the properties that a read never returns: write-only and non-public.
    pub fn hidden(&self) -> Cursor<'_> {
        let mut cursor = self.of(Class::WriteOnly).cursor();
        cursor.below.extend(self.of(Class::NonPublic).cursor().below);
        cursor
    }

    pub(crate) fn set(&mut self, class: Class, paths: PathSet) {
        self.sets[class as usize] = paths;
    }
}
