//! What a type's schema says about changing its properties: sets of paths, each covering all under it.

use stead_model::{PathPattern, PatternPart, PropertyPath, Segment};

/// What one class says of a property.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Class {
    /// Set by the service; never by the user.
    ReadOnly,
    /// Set at creation only: a change replaces the resource.
    CreateOnly,
    /// Never shown again once it is set.
    WriteOnly,
    /// Some changes can be made in place, others need a replacement; only trying tells.
    ConditionalCreateOnly,
    /// Used and never shown.
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

    /// The list that names its members in a published schema.
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

    /// For people.
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

/// Paths that belong together. A pattern covers what it names and all under it.
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

    /// At the top: nothing is covered yet.
    pub fn cursor(&self) -> Cursor<'_> {
        Cursor { below: self.patterns.iter().map(PathPattern::parts).collect(), covered: false }
    }
}

impl FromIterator<PathPattern> for PathSet {
    fn from_iter<I: IntoIterator<Item = PathPattern>>(patterns: I) -> PathSet {
        PathSet { patterns: patterns.into_iter().collect() }
    }
}

/// A place in a value, and what of a set is still to come below it.
#[derive(Clone, Debug, Default)]
pub struct Cursor<'a> {
    below: Vec<&'a [PatternPart]>,
    covered: bool,
}

impl<'a> Cursor<'a> {
    /// This place is in the set.
    pub fn is_covered(&self) -> bool {
        self.covered
    }

    /// Something at or under this place may be in the set.
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

    /// Any element of a list.
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

/// The six classes of a type.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Classes {
    sets: [PathSet; 6],
}

impl Classes {
    pub fn of(&self, class: Class) -> &PathSet {
        &self.sets[class as usize]
    }

    /// What a read never shows: write-only and non-public together.
    pub fn hidden(&self) -> Cursor<'_> {
        let mut cursor = self.of(Class::WriteOnly).cursor();
        cursor.below.extend(self.of(Class::NonPublic).cursor().below);
        cursor
    }

    pub(crate) fn set(&mut self, class: Class, paths: PathSet) {
        self.sets[class as usize] = paths;
    }
}
