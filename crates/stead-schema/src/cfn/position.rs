//! Position in a resource during a comparison: its path, its form and its property classes.

use stead_model::{PropertyPath, Segment, Value};

use super::{Class, Cursor, FormId, Schema, settable};

#[derive(Clone)]
pub(crate) struct Position<'a> {
    pub(crate) schema: &'a Schema,
    pub(crate) path: PropertyPath,
    /// Form of the value here, or `None` if the schema does not describe it.
    pub(crate) form: Option<FormId>,
    read_only: Cursor<'a>,
    create_only: Cursor<'a>,
    hidden: Cursor<'a>,
    deprecated: Cursor<'a>,
}

impl<'a> Position<'a> {
    pub(crate) fn root(schema: &'a Schema) -> Position<'a> {
        let cursor = |class| schema.classes.of(class).cursor();
        Position {
            schema,
            path: PropertyPath::default(),
            form: Some(Schema::ROOT),
            read_only: cursor(Class::ReadOnly),
            create_only: cursor(Class::CreateOnly),
            hidden: schema.classes.hidden(),
            deprecated: cursor(Class::Deprecated),
        }
    }

    /// Returns the position at a path.
    pub(crate) fn at(schema: &'a Schema, path: &PropertyPath) -> Position<'a> {
        path.0.iter().fold(Position::root(schema), |position, segment| match segment {
            Segment::Key(key) => position.key(key),
            Segment::Index(index) => position.index(*index),
        })
    }

    pub(crate) fn key(&self, key: &str) -> Position<'a> {
        Position {
            schema: self.schema,
            path: self.path.key(key),
            form: self.form.and_then(|form| self.schema.member(form, key)),
            read_only: self.read_only.key(key),
            create_only: self.create_only.key(key),
            hidden: self.hidden.key(key),
            deprecated: self.deprecated.key(key),
        }
    }

    pub(crate) fn index(&self, index: usize) -> Position<'a> {
        Position {
            schema: self.schema,
            path: self.path.index(index),
            form: self.form.and_then(|form| self.schema.element(form)),
            read_only: self.read_only.element(),
            create_only: self.create_only.element(),
            hidden: self.hidden.element(),
            deprecated: self.deprecated.element(),
        }
    }

    pub(crate) fn is_read_only(&self) -> bool {
        self.read_only.is_covered()
    }

    pub(crate) fn is_create_only(&self) -> bool {
        self.create_only.is_covered()
    }

    /// Returns true if a read never returns the value: it is write-only or non-public.
    pub(crate) fn is_hidden(&self) -> bool {
        self.hidden.is_covered()
    }

    /// Returns the part of a value that a program can declare: without read-only parts.
    pub(crate) fn settable(&self, value: &Value) -> Option<Value> {
        settable::part(value, &self.read_only)
    }

    /// Returns true if an update cannot send the value: it is read-only, or create-only and hidden.
    pub(crate) fn is_unsendable(&self) -> bool {
        self.is_read_only() || (self.is_create_only() && self.is_hidden())
    }

    pub(crate) fn is_deprecated(&self) -> bool {
        self.deprecated.is_covered()
    }

    /// Returns true if the value, or a part of it, may be hidden.
    pub(crate) fn contains_hidden(&self) -> bool {
        self.hidden.reaches()
    }

    /// Returns true if the value, or a part of it, may be read-only or create-only.
    pub(crate) fn contains_fixed(&self) -> bool {
        self.read_only.reaches() || self.create_only.reaches()
    }

    pub(crate) fn is_unordered(&self) -> bool {
        self.form.is_some_and(|form| self.schema.is_unordered(form))
    }

    /// Returns true for the list or map of the resource's tags.
    pub(crate) fn is_tags(&self) -> bool {
        let specified = |segment: &Segment| match segment {
            Segment::Key(key) => key.starts_with("TagSpecification"),
            Segment::Index(_) => false,
        };
        self.schema.tagging.property.as_ref() == Some(&self.path)
            || (self.name() == "Tags" && self.path.0.iter().any(specified))
    }

    /// Returns the name of the nearest enclosing property.
    pub(crate) fn name(&self) -> &str {
        self.path
            .0
            .iter()
            .rev()
            .find_map(|segment| match segment {
                Segment::Key(key) => Some(key.as_str()),
                Segment::Index(_) => None,
            })
            .unwrap_or_default()
    }
}
