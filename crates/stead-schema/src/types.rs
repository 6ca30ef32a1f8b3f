//! Schemas as data, with small builders for hand-written providers.

use std::fmt;
use std::sync::Arc;

use stead_model::{Timeouts, TypeToken};

use crate::{Secrecy, cfn};

/// Values that a property accepts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Shape {
    Any,
    String,
    /// One of these strings.
    Choice(Vec<String>),
    Number,
    Integer,
    Boolean,
    List(Box<Shape>),
    Map(Box<Shape>),
    /// Constraints of a published schema.
    Published(PublishedForm),
}

/// Form of a published schema, with its schema.
#[derive(Clone)]
pub struct PublishedForm {
    pub schema: Arc<cfn::Schema>,
    pub form: cfn::FormId,
}

impl PartialEq for PublishedForm {
    fn eq(&self, other: &PublishedForm) -> bool {
        self.schema.type_name == other.schema.type_name && self.form == other.form
    }
}

impl Eq for PublishedForm {}

impl fmt::Debug for PublishedForm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}#{}", self.schema.type_name, self.form.0)
    }
}

/// Party that sets a property.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// The user must set it.
    Required,
    /// The user may set it; otherwise it has no value.
    Optional,
    /// The user may set it; otherwise the provider does.
    Filled,
    /// Only the provider sets it.
    ReadOnly,
}

/// Order of the two halves of a replacement.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReplaceOrder {
    #[default]
    CreateFirst,
    DeleteFirst,
}

/// One property of a type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Property {
    pub name: String,
    pub shape: Shape,
    pub access: Access,
    /// Settable at creation only: a change replaces the resource.
    pub create_only: bool,
    /// Unchanged by any update of the resource.
    pub stable: bool,
    /// `None`: the value may be shown and stored in the clear.
    pub secrecy: Option<Secrecy>,
    pub doc: String,
}

/// One resource type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TypeSchema {
    pub token: TypeToken,
    pub doc: String,
    pub properties: Vec<Property>,
    pub replace_order: ReplaceOrder,
    /// Timeouts of its operations, where they differ from the provider's.
    pub timeouts: Timeouts,
}

impl Property {
    pub fn new(name: &str, shape: Shape, access: Access, doc: &str) -> Property {
        Property {
            name: name.to_owned(),
            shape,
            access,
            create_only: false,
            stable: false,
            secrecy: None,
            doc: doc.to_owned(),
        }
    }

    #[must_use]
    pub fn create_only(self) -> Property {
        Property { create_only: true, stable: true, ..self }
    }

    #[must_use]
    pub fn stable(self) -> Property {
        Property { stable: true, ..self }
    }

    /// Marks the value as one to store encrypted.
    #[must_use]
    pub fn sensitive(self) -> Property {
        Property { secrecy: Some(Secrecy::Sensitive), ..self }
    }

    /// Marks the value as one that the provider never returns and that is not stored.
    #[must_use]
    pub fn write_only(self) -> Property {
        Property { secrecy: Some(Secrecy::WriteOnly), ..self }
    }

    /// Returns true if the user may set the property.
    pub fn settable(&self) -> bool {
        self.access != Access::ReadOnly
    }

    /// Returns true if the provider may set the property to a value that the program does not know.
    pub fn provisioned(&self) -> bool {
        matches!(self.access, Access::Filled | Access::ReadOnly)
    }
}

impl TypeSchema {
    pub fn new(token: &str, doc: &str, properties: Vec<Property>) -> TypeSchema {
        TypeSchema {
            token: TypeToken(token.to_owned()),
            doc: doc.to_owned(),
            properties,
            replace_order: ReplaceOrder::CreateFirst,
            timeouts: Timeouts::default(),
        }
    }

    #[must_use]
    pub fn timeouts(self, timeouts: Timeouts) -> TypeSchema {
        TypeSchema { timeouts, ..self }
    }

    #[must_use]
    pub fn delete_first(self) -> TypeSchema {
        TypeSchema { replace_order: ReplaceOrder::DeleteFirst, ..self }
    }

    pub fn property(&self, name: &str) -> Option<&Property> {
        self.properties.iter().find(|property| property.name == name)
    }

    /// Returns the class name in a program: the last part of the token.
    pub fn class(&self) -> &str {
        self.token.as_str().rsplit('.').next().unwrap_or_default()
    }
}
