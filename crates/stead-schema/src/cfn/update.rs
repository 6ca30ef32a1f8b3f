//! Result of a comparison: no change, a patch, a replacement, or an update that the service cannot do.

use serde::Serialize;
use stead_model::{Map, PropertyPath, Segment, Value};

use crate::ReplaceOrder;

/// One operation of an RFC 6902 patch. `add` also replaces, so `replace` is not needed.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Operation {
    pub path: PropertyPath,
    pub edit: Edit,
    /// Reason, for the user.
    pub why: String,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Edit {
    Add(Value),
    Remove,
}

/// Property that decided the result, and why.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Reason {
    pub path: PropertyPath,
    pub why: String,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Update {
    /// The live resource matches the desired inputs.
    Nothing,
    Patch {
        operations: Vec<Operation>,
        /// Changed properties that the service may refuse to change in place; then a replacement is needed.
        conditional: Vec<PropertyPath>,
    },
    Replace {
        forced_by: Vec<Reason>,
        order: ReplaceOrder,
    },
    /// The service offers no way to make the change.
    Impossible(Vec<Reason>),
}

/// Returns the patch document in the service's format.
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

/// Returns a path as an RFC 6901 pointer.
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
    fn patch_document_has_the_format_of_the_service() {
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
