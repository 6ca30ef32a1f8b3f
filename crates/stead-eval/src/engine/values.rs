//! Converts between JavaScript values and plain values of the model.

use std::cell::RefCell;
use std::rc::Rc;

use rquickjs::object::{Filter, Property};
use rquickjs::{Array, Ctx, Function, IntoAtom, IntoJs, Object, Symbol, Type, Value};
use stead_model::{Number, Value as Plain, ValuePool};

const MAX_DEPTH: usize = stead_model::MAX_NESTING;

/// Objects of the engine that distinguish unknowns, resources and plain objects.
#[derive(Clone)]
pub(crate) struct Intrinsics<'js> {
    pub(crate) id_symbol: Symbol<'js>,
    pub(crate) node_of: Function<'js>,
    pub(crate) object_prototype: Object<'js>,
    /// Values read so far, so that an object that the program passes twice is one value.
    pub(crate) pool: Rc<RefCell<ValuePool>>,
}

impl<'js> Intrinsics<'js> {
    /// Returns true for an object that a literal creates: not a function, an array or an instance of a class.
    pub(crate) fn is_plain(&self, value: &Value<'js>, object: &Object<'js>) -> bool {
        let plain = || object.get_prototype().is_none_or(|prototype| prototype == self.object_prototype);
        !value.is_function() && !value.is_array() && plain()
    }
}

/// Converts a value without unknowns and resources; `undefined` becomes null. Returns a message for other values.
pub(crate) fn from_js(value: &Value<'_>) -> Result<Plain, String> {
    convert(value, 0)
}

fn convert(value: &Value<'_>, depth: usize) -> Result<Plain, String> {
    if value.is_null() || value.is_undefined() {
        return Ok(Plain::Null);
    }
    if let Some(flag) = value.as_bool() {
        return Ok(Plain::Bool(flag));
    }
    if let Some(number) = value.as_number() {
        let name = if number.is_nan() { "NaN" } else { "Infinity" };
        return Number::from_f64(number)
            .map(Plain::Number)
            .ok_or_else(|| format!("the result is {name}, which cannot be stored"));
    }
    if let Some(text) = value.as_string() {
        let text = text.to_string().map_err(|_| "the result contains an unpaired surrogate")?;
        return Ok(Plain::from(text));
    }
    if depth >= MAX_DEPTH {
        return Err(format!("the result is nested deeper than {MAX_DEPTH} levels"));
    }
    if let Some(array) = value.as_array() {
        let items = array.iter::<Value<'_>>().map(|item| match item {
            Ok(item) => convert(&item, depth + 1),
            Err(_) => Err("an item of the result cannot be read".to_owned()),
        });
        return items.collect();
    }
    match value.as_object() {
        Some(object) if !value.is_function() && value.type_of() == Type::Object => {
            let mut members = Vec::new();
            for property in object.own_props::<String, Value<'_>>(Filter::new().string().enum_only()) {
                let (key, item) = property.map_err(|_| "a property of the result cannot be read")?;
                if !item.is_undefined() {
                    members.push((key, convert(&item, depth + 1)?));
                }
            }
            Ok(Plain::Map(members.into_iter().collect()))
        }
        _ => Err(format!("the result is a {}, which is not data", value.type_name())),
    }
}

/// Returns the length of an array. `len` of the binding fails for lengths above 31 bits.
pub(crate) fn length_of(array: &Array<'_>) -> rquickjs::Result<usize> {
    array.as_object().get::<_, f64>("length").map(|length| length as usize)
}

/// Defines a property of an object without running setters that the program may have put into prototypes.
pub(crate) fn define<'js>(
    object: &Object<'js>,
    key: impl IntoAtom<'js>,
    value: impl IntoJs<'js>,
) -> rquickjs::Result<()> {
    object.prop(key, Property::from(value).writable().enumerable().configurable())
}

/// Converts a plain value to a JavaScript value.
pub(crate) fn to_js<'js>(ctx: &Ctx<'js>, value: &Plain) -> rquickjs::Result<Value<'js>> {
    Ok(match value {
        Plain::Null => Value::new_null(ctx.clone()),
        Plain::Bool(flag) => Value::new_bool(ctx.clone(), *flag),
        Plain::Number(number) => Value::new_number(ctx.clone(), number.as_f64()),
        Plain::String(text) => rquickjs::String::from_str(ctx.clone(), text)?.into_value(),
        Plain::List(items) => {
            let array = Array::new(ctx.clone())?;
            for (index, item) in items.iter().enumerate() {
                define(&array, index as u32, to_js(ctx, item)?)?;
            }
            array.into_value()
        }
        Plain::Map(map) => {
            let object = Object::new(ctx.clone())?;
            for (key, item) in map {
                define(&object, key.as_str(), to_js(ctx, item)?)?;
            }
            object.into_value()
        }
    })
}
