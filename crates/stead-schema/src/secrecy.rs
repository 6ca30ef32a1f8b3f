//! Properties that a schema calls secret, and the marking of their values.

use stead_model::{Input, Inputs, Kept, Map, Secret, Value};

use crate::cfn::{self, Cursor};
use crate::{Shape, TypeSchema, identity};

/// How secret a property is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Secrecy {
    /// Its value is stored encrypted.
    Sensitive,
    /// The provider never returns its value, so only a keyed digest is stored.
    WriteOnly,
}

impl Secrecy {
    fn mark(self) -> Mark {
        match self {
            Secrecy::Sensitive => Mark::Secret(Kept::Value),
            Secrecy::WriteOnly => Mark::Secret(Kept::Digest),
        }
    }
}

/// The reason why a schema conceals a value.
#[derive(Clone, Copy)]
enum Mark {
    /// The value is a secret.
    Secret(Kept),
    /// A published schema says that no read returns the value. It may be a password or the type of a machine, so that a run does not
    /// look for it elsewhere.
    Unreadable,
}

impl Mark {
    fn conceal(self, value: Value) -> Value {
        let kept = match self {
            Mark::Secret(kept) => kept,
            Mark::Unreadable => Kept::Digest,
        };
        let secret = match value {
            // An absent value is nothing to hide, and an ephemeral one stays ephemeral.
            Value::Null => return Value::Null,
            Value::Secret(secret) if secret.recorded() >= kept => secret,
            Value::Secret(secret) => secret.keeping(kept),
            value => Secret::local(value, kept),
        };
        Value::Secret(match self {
            Mark::Secret(_) => secret.shared(),
            Mark::Unreadable => secret,
        })
    }
}

impl TypeSchema {
    /// Returns true if the value of a property is secret as a whole.
    pub fn is_secret(&self, property: &str) -> bool {
        let covers = |(cursor, _): &(Cursor<'_>, Mark)| cursor.key(property).is_covered();
        self.property(property).is_some_and(|property| property.secrecy.is_some())
            || (self.published_secrets().iter().flatten().any(covers) && !self.identifies(property))
    }

    /// Returns true if a property is secret for no other reason than that a published schema calls it write-only.
    pub fn is_only_write_only(&self, property: &str) -> bool {
        let is_declared = self.property(property).is_some_and(|property| property.secrecy.is_some());
        let is_made = |(cursor, mark): &(Cursor<'_>, Mark)| {
            matches!(mark, Mark::Secret(_)) && cursor.key(property).reaches()
        };
        !is_declared && !self.published_secrets().iter().flatten().any(is_made)
    }

    /// Returns true if any property of the type is secret.
    fn has_secrets(&self) -> bool {
        self.properties.iter().any(|property| property.secrecy.is_some())
            || self.published_secrets().iter().any(Option::is_some)
    }

    /// Returns true if a resource with these inputs has a secret by its schema: one that is given, or one that the provider makes.
    pub fn records_secrets(&self, inputs: &Inputs) -> bool {
        let is_given = |name: &str| {
            inputs
                .get(name)
                .is_some_and(|input| !matches!(input.as_known(), Some(Value::Null | Value::Bool(false))))
        };
        let made = || {
            self.properties.iter().any(|property| property.provisioned() && property.secrecy.is_some())
                || self
                    .published()
                    .and_then(cfn::Schema::secret_outputs)
                    .is_some_and(|made| made.are_made(is_given))
        };
        let given = |name: &stead_model::Text| {
            let reaches = |(cursor, _): &(Cursor<'_>, Mark)| cursor.key(name).reaches();
            self.property(name).is_some_and(|property| property.secrecy.is_some())
                || (self.published_secrets().iter().flatten().any(reaches) && !self.identifies(name))
        };
        self.has_secrets() && (made() || inputs.keys().any(given))
    }

    /// Returns cursors over the secret properties of a published schema, each with its mark: write-only ones, and secrets
    /// that the service makes and returns.
    ///
    /// A property that identifies the resource is no secret: a name prefix is write-only because a read returns the whole name.
    fn published_secrets(&self) -> [Option<(Cursor<'_>, Mark)>; 2] {
        let Some(schema) = self.published() else { return [None, None] };
        let write_only = Some(schema.secrets()).filter(Cursor::reaches);
        let made = schema.secret_outputs().map(cfn::SecretOutputs::cursor);
        [
            write_only.map(|cursor| (cursor, Mark::Unreadable)),
            made.map(|cursor| (cursor, Mark::Secret(Kept::Value))),
        ]
    }

    fn published(&self) -> Option<&cfn::Schema> {
        match self.properties.first().map(|property| &property.shape) {
            Some(Shape::Published(published)) => Some(&published.schema),
            _ => None,
        }
    }

    fn identifies(&self, property: &str) -> bool {
        identity(self).contains(&property)
    }

    /// Marks the values of secret properties.
    #[must_use]
    pub fn conceal(&self, values: Map) -> Map {
        if !self.has_secrets() {
            return values;
        }
        let cursors = self.published_secrets();
        let member = |(name, mut value): (stead_model::Text, Value)| {
            let declared = self.property(&name).and_then(|property| property.secrecy);
            if let Some(secrecy) = declared {
                value = secrecy.mark().conceal(value);
            } else if !self.identifies(&name) {
                for (cursor, mark) in cursors.iter().flatten() {
                    value = conceal_under(&cursor.key(&name), value, *mark);
                }
            }
            (name, value)
        };
        values.into_iter().map(member).collect()
    }

    /// Marks the known values of secret properties. Deferred ones are marked once they are known.
    #[must_use]
    pub fn conceal_inputs(&self, inputs: Inputs) -> Inputs {
        if !self.has_secrets() {
            return inputs;
        }
        let cursors = self.published_secrets();
        let member = |(name, mut input): (stead_model::Text, Input)| {
            let declared = self.property(&name).and_then(|property| property.secrecy);
            if let Some(secrecy) = declared {
                input = conceal_input(input, &|value| secrecy.mark().conceal(value));
            } else if !self.identifies(&name) {
                for (cursor, mark) in cursors.iter().flatten() {
                    input = conceal_input_under(&cursor.key(&name), input, *mark);
                }
            }
            (name, input)
        };
        inputs.into_iter().map(member).collect()
    }
}

fn conceal_under(cursor: &Cursor<'_>, value: Value, mark: Mark) -> Value {
    if cursor.is_covered() {
        return mark.conceal(value);
    }
    if !cursor.reaches() {
        return value;
    }
    match value {
        Value::List(items) => {
            Value::List(items.into_iter().map(|item| conceal_under(&cursor.element(), item, mark)).collect())
        }
        Value::Map(map) => {
            let member = |(key, item): (stead_model::Text, Value)| {
                let item = conceal_under(&cursor.key(&key), item, mark);
                (key, item)
            };
            Value::Map(map.into_iter().map(member).collect())
        }
        other => other,
    }
}

fn conceal_input(input: Input, conceal: &dyn Fn(Value) -> Value) -> Input {
    match input {
        Input::Known(value) => Input::Known(conceal(value)),
        Input::Deferred(id) => Input::Deferred(id),
        Input::List(items) => {
            Input::list(items.into_iter().map(|item| conceal_input(item, conceal)).collect())
        }
        Input::Map(map) => {
            Input::map(map.into_iter().map(|(key, item)| (key, conceal_input(item, conceal))).collect())
        }
    }
}

fn conceal_input_under(cursor: &Cursor<'_>, input: Input, mark: Mark) -> Input {
    if cursor.is_covered() {
        return conceal_input(input, &|value| mark.conceal(value));
    }
    if !cursor.reaches() {
        return input;
    }
    match input {
        Input::Known(value) => Input::Known(conceal_under(cursor, value, mark)),
        Input::Deferred(id) => Input::Deferred(id),
        Input::List(items) => Input::list(
            items.into_iter().map(|item| conceal_input_under(&cursor.element(), item, mark)).collect(),
        ),
        Input::Map(map) => {
            let member = |(key, item): (stead_model::Text, Input)| {
                let item = conceal_input_under(&cursor.key(&key), item, mark);
                (key, item)
            };
            Input::map(map.into_iter().map(member).collect())
        }
    }
}
