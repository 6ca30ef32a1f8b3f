//! A place in a resource while two values are compared there: its path, its form, and its classes.

use stead_model::{PropertyPath, Segment};

use super::{Class, Cursor, FormId, Schema};

#[derive(Clone)]
pub(crate) struct Place<'a> {
    pub(crate) schema: &'a Schema,
    pub(crate) path: PropertyPath,
    /// `None`: the schema does not say what is here.
    pub(crate) form: Option<FormId>,
    read_only: Cursor<'a>,
    create_only: Cursor<'a>,
    hidden: Cursor<'a>,
    deprecated: Cursor<'a>,
}

impl<'a> Place<'a> {
    pub(crate) fn root(schema: &'a Schema) -> Place<'a> {
        let cursor = |class| schema.classes.of(class).cursor();
        Place {
            schema,
            path: PropertyPath::default(),
            form: Some(Schema::ROOT),
            read_only: cursor(Class::ReadOnly),
            create_only: cursor(Class::CreateOnly),
            hidden: schema.classes.hidden(),
            deprecated: cursor(Class::Deprecated),
        }
    }

    pub(crate) fn key(&self, key: &str) -> Place<'a> {
        Place {
            schema: self.schema,
            path: self.path.key(key),
            form: self.form.and_then(|form| self.schema.member(form, key)),
            read_only: self.read_only.key(key),
            create_only: self.create_only.key(key),
            hidden: self.hidden.key(key),
            deprecated: self.deprecated.key(key),
        }
    }

    pub(crate) fn index(&self, index: usize) -> Place<'a> {
        Place {
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

    /// Write-only or non-public: a read never shows it.
    pub(crate) fn is_hidden(&self) -> bool {
        self.hidden.is_covered()
    }

    /// An update may not send it: the service sets it, or only a creation does and no read shows what it set.
    pub(crate) fn is_unsendable(&self) -> bool {
        self.is_read_only() || (self.is_create_only() && self.is_hidden())
    }

    pub(crate) fn is_deprecated(&self) -> bool {
        self.deprecated.is_covered()
    }

    /// Something at or under this place may be hidden.
    pub(crate) fn hides(&self) -> bool {
        self.hidden.reaches()
    }

    /// Something at or under this place may be fixed: set by the service, or at creation.
    pub(crate) fn fixes(&self) -> bool {
        self.read_only.reaches() || self.create_only.reaches()
    }

    pub(crate) fn is_unordered(&self) -> bool {
        self.form.is_some_and(|form| self.schema.is_unordered(form))
    }

    /// This is the list, or the map, of the resource's tags.
    pub(crate) fn is_tags(&self) -> bool {
        self.schema.tagging.property.as_ref() == Some(&self.path)
    }

    /// The name of the property that is here.
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
