//! Converts between JavaScript values and the values of deferred expressions.

use rquickjs::object::Filter;
use rquickjs::{Array, Ctx, Object, Type, Value};
use stead_model::{Computed, MAX_DEFERRED_BYTES, MAX_NESTING, Value as Plain};

use crate::engine::values::{self, define};

/// Converts a result of the engine. Returns a message for a value that is neither data nor `undefined` nor a number.
pub(crate) fn from_js(value: &Value<'_>) -> Result<Computed, String> {
    Converter { budget: MAX_DEFERRED_BYTES }.convert(value, 0)
}

struct Converter {
    /// Remaining size in bytes.
    budget: usize,
}

impl Converter {
    fn spend(&mut self, bytes: usize) -> Result<(), String> {
        self.budget = self.budget.checked_sub(bytes).ok_or_else(|| {
            format!(
                "the result takes more than {} MiB, the limit of a deferred value",
                MAX_DEFERRED_BYTES >> 20
            )
        })?;
        Ok(())
    }

    fn convert(&mut self, value: &Value<'_>, depth: usize) -> Result<Computed, String> {
        self.spend(1)?;
        if value.is_undefined() {
            return Ok(Computed::Undefined(None));
        }
        if value.is_null() {
            return Ok(Plain::Null.into());
        }
        if let Some(flag) = value.as_bool() {
            return Ok(Plain::Bool(flag).into());
        }
        if let Some(number) = value.as_number() {
            return Ok(Computed::number(number));
        }
        if let Some(text) = value.as_string() {
            let text = text.to_string().map_err(|_| "the result contains an unpaired surrogate")?;
            self.spend(text.len())?;
            return Ok(Plain::from(text).into());
        }
        if depth >= MAX_NESTING {
            return Err(format!("the result is nested deeper than {MAX_NESTING} levels"));
        }
        if let Some(array) = value.as_array() {
            let items = array.iter::<Value<'_>>().map(|item| match item {
                Ok(item) => self.convert(&item, depth + 1),
                Err(_) => Err("an item of the result cannot be read".to_owned()),
            });
            return items.collect::<Result<_, _>>().map(Computed::list);
        }
        match value.as_object() {
            Some(object) if !value.is_function() && value.type_of() == Type::Object => {
                let mut members = Vec::new();
                for property in object.own_props::<String, Value<'_>>(Filter::new().string().enum_only()) {
                    let (key, item) = property.map_err(|_| "a property of the result cannot be read")?;
                    self.spend(key.len())?;
                    members.push((key.into(), self.convert(&item, depth + 1)?));
                }
                Ok(Computed::map(members.into_iter().collect()))
            }
            _ => Err(format!("the result is a {}, which is not data", value.type_name())),
        }
    }
}

/// Converts a value of a deferred expression to a JavaScript value.
pub(crate) fn to_js<'js>(ctx: &Ctx<'js>, value: &Computed) -> rquickjs::Result<Value<'js>> {
    Ok(match value {
        Computed::Data(value) => values::to_js(ctx, value)?,
        Computed::Undefined(_) => Value::new_undefined(ctx.clone()),
        // The engine's own conversion makes an integer of negative zero.
        Computed::Number(number) if *number == 0.0 && number.is_sign_negative() => {
            Value::new_float(ctx.clone(), *number)
        }
        Computed::Number(number) => Value::new_number(ctx.clone(), *number),
        Computed::List(items) => {
            let array = Array::new(ctx.clone())?;
            for (index, item) in items.iter().enumerate() {
                define(&array, index as u32, to_js(ctx, item)?)?;
            }
            array.into_value()
        }
        Computed::Map(members) => {
            let object = Object::new(ctx.clone())?;
            for (key, member) in members {
                define(&object, key.as_str(), to_js(ctx, member)?)?;
            }
            object.into_value()
        }
    })
}
