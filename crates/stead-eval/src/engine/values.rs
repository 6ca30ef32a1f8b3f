//! Converts between JavaScript values and plain values of the model.

use std::cell::RefCell;
use std::rc::Rc;

use rquickjs::object::Property;
use rquickjs::{Array, Ctx, Function, IntoAtom, IntoJs, Object, Symbol, Value};
use stead_model::{Value as Plain, ValuePool};

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

/// Converts a plain value to a JavaScript value. Fails for a secret, which only an expression may carry.
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
        Plain::Secret(_) => {
            return Err(rquickjs::Exception::throw_type(
                ctx,
                "the data holds a secret, which cannot be read",
            ));
        }
    })
}
