//! A view on values and inputs that both sides of a change share.

use stead_model::{BLINDED, Input, Kept, Secret, Value};

use crate::visible;

const UNKNOWN: &str = "(known after apply)";
const EPHEMERAL: &str = "(ephemeral)";

/// A value, of which parts may be unknown until the apply.
pub(crate) enum Node<'a> {
    Unknown,
    Leaf(&'a Value),
    List(Vec<Node<'a>>),
    Map(Vec<(&'a str, Node<'a>)>),
}

impl<'a> From<&'a Value> for Node<'a> {
    fn from(value: &'a Value) -> Node<'a> {
        match (value.as_list(), value.as_map()) {
            (Some(items), _) => Node::List(items.iter().map(Node::from).collect()),
            (_, Some(map)) => {
                Node::Map(map.iter().map(|(key, value)| (key.as_ref(), value.into())).collect())
            }
            _ => Node::Leaf(value),
        }
    }
}

impl<'a> From<&'a Input> for Node<'a> {
    fn from(input: &'a Input) -> Node<'a> {
        match input {
            Input::Known(value) => value.into(),
            Input::Deferred(_) => Node::Unknown,
            Input::List(items) => Node::List(items.iter().map(Node::from).collect()),
            Input::Map(map) => {
                Node::Map(map.iter().map(|(key, input)| (key.as_ref(), input.into())).collect())
            }
        }
    }
}

impl Node<'_> {
    pub(crate) fn as_str(&self) -> Option<&str> {
        match self {
            Node::Leaf(value) => value.as_str(),
            _ => None,
        }
    }

    /// Returns true if the values are equal. Two secrets are compared by their values, which their texts do not tell.
    pub(crate) fn is_same(&self, other: &Node<'_>) -> bool {
        self.text() == other.text() && self.secrets().eq(&other.secrets())
    }

    /// Returns the secrets in the value, in the order of its text.
    pub(crate) fn secrets(&self) -> Vec<&Secret> {
        match self {
            Node::Leaf(Value::Secret(secret)) => vec![secret],
            Node::Unknown | Node::Leaf(_) => Vec::new(),
            Node::List(items) => items.iter().flat_map(Node::secrets).collect(),
            Node::Map(entries) => entries.iter().flat_map(|(_, item)| item.secrets()).collect(),
        }
    }

    /// Returns the value on one line, as JSON. Different values have different texts, except for their secrets.
    pub(crate) fn text(&self) -> String {
        let mut json = String::new();
        self.write(&mut json);
        visible::escaped(&json)
    }

    fn write(&self, out: &mut String) {
        match self {
            Node::Unknown => out.push_str(UNKNOWN),
            Node::Leaf(Value::Secret(secret)) if secret.recorded() == Kept::Nothing => {
                out.push_str(EPHEMERAL)
            }
            Node::Leaf(Value::Secret(_)) => out.push_str(BLINDED),
            Node::Leaf(value) => out.push_str(&value.to_json()),
            Node::List(items) => {
                out.push('[');
                for (index, item) in items.iter().enumerate() {
                    out.push_str(if index == 0 { "" } else { "," });
                    item.write(out);
                }
                out.push(']');
            }
            Node::Map(entries) => {
                out.push('{');
                for (index, (key, item)) in entries.iter().enumerate() {
                    out.push_str(if index == 0 { "" } else { "," });
                    out.push_str(&Value::from(*key).to_json());
                    out.push(':');
                    item.write(out);
                }
                out.push('}');
            }
        }
    }
}
