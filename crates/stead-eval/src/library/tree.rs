//! Plain data whose objects keep the order of their keys, as a program sees it. The graph sorts keys.

use rquickjs::{Array, Ctx, Object, Value as JsValue};
use stead_model::{Map, Value};

use crate::engine::values::{define, to_js};

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Tree {
    Value(Value),
    List(Vec<Tree>),
    Map(Vec<(String, Tree)>),
}

impl<T: Into<Value>> From<T> for Tree {
    fn from(value: T) -> Tree {
        Tree::Value(value.into())
    }
}

impl Tree {
    pub(crate) fn into_value(self) -> Value {
        match self {
            Tree::Value(value) => value,
            Tree::List(items) => items.into_iter().map(Tree::into_value).collect(),
            Tree::Map(entries) => {
                let mut map = Map::new();
                entries.into_iter().for_each(|(key, item)| drop(map.insert(key, item.into_value())));
                Value::Map(map)
            }
        }
    }

    pub(crate) fn to_js<'js>(&self, ctx: &Ctx<'js>) -> rquickjs::Result<JsValue<'js>> {
        match self {
            Tree::Value(value) => to_js(ctx, value),
            Tree::List(items) => {
                let array = Array::new(ctx.clone())?;
                for (index, item) in items.iter().enumerate() {
                    define(&array, index as u32, item.to_js(ctx)?)?;
                }
                Ok(array.into_value())
            }
            Tree::Map(entries) => {
                let object = Object::new(ctx.clone())?;
                for (key, item) in entries {
                    define(&object, key.as_str(), item.to_js(ctx)?)?;
                }
                Ok(object.into_value())
            }
        }
    }
}
