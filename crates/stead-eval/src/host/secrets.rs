//! Hands values that contain secrets to the program: each secret becomes a deferred expression.
//!
//! **Invariant:** the program never holds the value of a secret. A deferred function receives it after the graph is delivered.

use rquickjs::{Array, Ctx, Object, Value};
use stead_model::{Code, Diagnostic, ExprId, Input, SourceRef, Value as Plain};

use super::errors::record;
use super::expressions::added;
use super::{Handles, SharedSession};
use crate::engine::values::{define, to_js};

/// Origin of a value, for the messages about its secrets.
pub(super) struct Origin<'a> {
    pub(super) place: &'a SourceRef,
    /// Describes the value at a path inside it, such as `.password` or `[0]`.
    pub(super) name: &'a dyn Fn(&str) -> String,
}

/// Converts a plain value to a JavaScript value with an unknown in place of each secret.
pub(super) fn to_js_marked<'js>(
    ctx: &Ctx<'js>,
    session: &SharedSession,
    handles: &Handles,
    value: &Plain,
    origin: &Origin<'_>,
) -> rquickjs::Result<Value<'js>> {
    Converter { ctx, session, handles, origin, path: String::new() }.convert(value)
}

/// Converts an input to a JavaScript value with an unknown in place of each expression.
pub(crate) fn input_to_js<'js>(
    ctx: &Ctx<'js>,
    handles: &Handles,
    input: &Input,
) -> rquickjs::Result<Value<'js>> {
    Ok(match input {
        Input::Known(value) => to_js(ctx, value)?,
        Input::Deferred(id) => handles.unknown(ctx, id.0 as i32)?,
        Input::List(items) => {
            let array = Array::new(ctx.clone())?;
            for (index, item) in items.iter().enumerate() {
                define(&array, index as u32, input_to_js(ctx, handles, item)?)?;
            }
            array.into_value()
        }
        Input::Map(map) => {
            let object = Object::new(ctx.clone())?;
            for (key, item) in map {
                define(&object, key.as_str(), input_to_js(ctx, handles, item)?)?;
            }
            object.into_value()
        }
    })
}

/// Reports a secret in the value that is larger than a property may be.
pub(super) fn check_size(session: &SharedSession, value: &Plain, stack: &str) -> Result<(), String> {
    let limit = session.borrow().limits.property_bytes;
    let mut fits = true;
    value.each_secret(&mut Vec::new(), &mut |secret, _| {
        fits &= secret.reveal().map_or(0, size) <= limit;
    });
    if fits {
        return Ok(());
    }
    Err(record(session, |session| {
        let message = "a secret exceeds the size limit of a property";
        session.label_stack(Diagnostic::error(Code::EVALUATION_LIMIT, message), stack)
    }))
}

/// Returns the approximate size of a value as JSON, in bytes.
fn size(value: &Plain) -> usize {
    match value {
        Plain::Null | Plain::Bool(_) | Plain::Number(_) => 8,
        Plain::String(text) => text.len() + 2,
        Plain::List(items) => items.iter().map(|item| size(item) + 1).sum(),
        Plain::Map(map) => map.iter().map(|(key, item)| key.len() + 5 + size(item)).sum(),
        Plain::Secret(secret) => secret.reveal().map_or(8, size),
    }
}

struct Converter<'js, 'a> {
    ctx: &'a Ctx<'js>,
    session: &'a SharedSession,
    handles: &'a Handles,
    origin: &'a Origin<'a>,
    path: String,
}

impl<'js> Converter<'js, '_> {
    fn convert(&mut self, value: &Plain) -> rquickjs::Result<Value<'js>> {
        Ok(match value {
            Plain::Secret(_) => self.secret(value)?,
            value if !value.has_secrets() => to_js(self.ctx, value)?,
            Plain::List(items) => {
                let array = Array::new(self.ctx.clone())?;
                for (index, item) in items.iter().enumerate() {
                    define(&array, index as u32, self.inside(&format!("[{index}]"), item)?)?;
                }
                array.into_value()
            }
            Plain::Map(map) => {
                let object = Object::new(self.ctx.clone())?;
                for (key, item) in map {
                    define(&object, key.as_str(), self.inside(&format!(".{}", key.as_str()), item)?)?;
                }
                object.into_value()
            }
            value => to_js(self.ctx, value)?,
        })
    }

    fn inside(&mut self, step: &str, value: &Plain) -> rquickjs::Result<Value<'js>> {
        let length = self.path.len();
        self.path.push_str(step);
        let converted = self.convert(value);
        self.path.truncate(length);
        converted
    }

    fn secret(&self, value: &Plain) -> rquickjs::Result<Value<'js>> {
        let from = (self.origin.name)(&self.path);
        let place = self.origin.place.clone();
        let made = self.session.borrow_mut().secret(from, place, Input::Known(value.clone()), size(value));
        self.handles.unknown(self.ctx, added(self.ctx, made, ExprId(0))?)
    }
}
