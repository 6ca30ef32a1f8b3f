//! What is being compared: ways to turn a wish into an update.

use stead_model::{Map, Value};
use stead_schema::cfn::Schema;

/// What a strategy may look at.
pub(crate) struct Question<'a> {
    pub(crate) schema: &'a Schema,
    /// What was asked for when the resource was last created or updated.
    pub(crate) last: &'a Map,
    /// What the service shows.
    pub(crate) live: &'a Map,
    pub(crate) want: &'a Map,
}

#[derive(Debug)]
pub(crate) enum Answer {
    Nothing,
    /// A patch document.
    Patch(Value),
    Replace,
    Impossible(String),
}

pub(crate) trait Strategy {
    fn name(&self) -> &'static str;

    fn answer(&self, question: &Question<'_>) -> Answer;
}

/// The parts of a patch document.
pub(crate) fn operation(op: &str, path: &str, value: Option<Value>) -> Value {
    let mut map = Map::from([("op".to_owned(), Value::from(op)), ("path".to_owned(), Value::from(path))]);
    map.extend(value.map(|value| ("value".to_owned(), value)));
    Value::Map(map)
}

pub(crate) fn step(key: &str) -> String {
    format!("/{}", key.replace('~', "~0").replace('/', "~1"))
}
