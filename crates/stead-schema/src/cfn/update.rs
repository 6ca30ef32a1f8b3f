//! What an update comes to: nothing, a patch, a replacement, or something that cannot be done.

use serde::Serialize;
use stead_model::{Map, PropertyPath, Segment, Value};

use crate::ReplaceOrder;

/// One operation of an RFC 6902 patch. `add` also replaces; nothing else is needed.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Operation {
    pub path: PropertyPath,
    pub edit: Edit,
    /// For people.
    pub why: String,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Edit {
    Add(Value),
    Remove,
}

/// A property, and what it has to do with the outcome.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Reason {
    pub path: PropertyPath,
    pub why: String,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Update {
    /// Everything is as wanted.
    Nothing,
    Patch {
        operations: Vec<Operation>,
        /// Changes that the service may refuse to make in place; then only a replacement helps.
        conditional: Vec<PropertyPath>,
    },
    Replace {
        forced_by: Vec<Reason>,
        order: ReplaceOrder,
    },
    /// The service offers no way.
    Impossible(Vec<Reason>),
}

/// The patch as the service takes it.
pub fn patch_document(operations: &[Operation]) -> Value {
    let text = |text: &str| Value::from(text);
    let operation = |operation: &Operation| {
        let mut map = Map::from([("path".to_owned(), Value::from(pointer(&operation.path)))]);
        match &operation.edit {
            Edit::Add(value) => {
                map.insert("op".to_owned(), text("add"));
                map.insert("value".to_owned(), value.clone());
            }
            Edit::Remove => drop(map.insert("op".to_owned(), text("remove"))),
        }
        Value::Map(map)
    };
    Value::List(operations.iter().map(operation).collect())
}

/// A path as RFC 6901 writes it.
pub fn pointer(path: &PropertyPath) -> String {
    let mut text = String::new();
    for segment in &path.0 {
        text.push('/');
        match segment {
            Segment::Index(index) => text.push_str(&index.to_string()),
            Segment::Key(key) => text.push_str(&key.replace('~', "~0").replace('/', "~1")),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_patch_is_written_as_the_service_takes_it() {
        let path = PropertyPath::of("Tags").key("kubernetes.io/cluster~x");
        let operations = [
            Operation { path: path.clone(), edit: Edit::Add(Value::from("owned")), why: String::new() },
            Operation { path: PropertyPath::of("Old"), edit: Edit::Remove, why: String::new() },
        ];
        assert_eq!(
            patch_document(&operations).to_json(),
            r#"[{"op":"add","path":"/Tags/kubernetes.io~1cluster~0x","value":"owned"},{"op":"remove","path":"/Old"}]"#
        );
    }
}
