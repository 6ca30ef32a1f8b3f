//! Host functions that add expressions to the graph.

use rquickjs::{Array, Ctx, Value};
use stead_model::{Constant, Expr, ExprId, Input, Number, TemplatePart, Value as Plain, ValueKind};
use stead_schema::Shape;

use super::errors::record;
use super::{Host, SharedSession};
use crate::engine::session::{NotAdded, Session};
use crate::unknown::{errors, members};

impl<'js> Host<'js> {
    pub(super) fn expressions(&self) -> rquickjs::Result<()> {
        let session = self.session.clone();
        self.function("property", move |ctx: Ctx<'js>, node: u32, name: String| {
            session.borrow_mut().property(node, &name).map(|id| id.0).ok_or_else(|| out_of_memory(&ctx))
        })?;
        let session = self.session.clone();
        self.function("get", move |ctx: Ctx<'js>, of: u32, key: String| -> rquickjs::Result<i32> {
            let mut session = session.borrow_mut();
            if members::is_method(&session, ExprId(of), &key) {
                return Ok(-1);
            }
            session.get(of, &key).map(|id| id.0 as i32).ok_or_else(|| out_of_memory(&ctx))
        })?;
        let session = self.session.clone();
        self.function("lacks", move |of: u32, key: String| {
            members::is_impossible(&session.borrow(), ExprId(of), &key)
        })?;
        let session = self.session.clone();
        self.function("lacksMethod", move |of: u32, key: String| {
            members::is_impossible_method(&session.borrow(), ExprId(of), &key)
        })?;
        let session = self.session.clone();
        self.function("json", move |ctx: Ctx<'js>, of: u32| {
            let json = Expr::Json { of: Box::new(Input::Deferred(ExprId(of))), indent: 0 };
            added(&ctx, session.borrow_mut().expression(json, 0), ExprId(of))
        })?;
        let session = self.session.clone();
        self.function("template", move |ctx: Ctx<'js>, parts: Array<'js>| -> rquickjs::Result<i32> {
            let (parts, bytes) = template_parts(&parts)?;
            let first = parts.iter().find_map(|part| match part {
                TemplatePart::Hole(Input::Deferred(id)) | TemplatePart::Item(Input::Deferred(id)) => {
                    Some(*id)
                }
                _ => None,
            });
            let made = session.borrow_mut().expression(Expr::Template(parts), bytes);
            added(&ctx, made, first.unwrap_or(ExprId(0)))
        })?;
        let session = self.session.clone();
        self.function("isScalar", move |id: u32| is_scalar(&session.borrow(), ExprId(id)))?;
        let session = self.session.clone();
        self.function("mayBeUndefined", move |id: u32| session.borrow().may_be_undefined(ExprId(id)))?;
        self.addition()
    }

    fn addition(&self) -> rquickjs::Result<()> {
        let shared = self.session.clone();
        self.function(
            "add",
            move |ctx: Ctx<'js>,
                  left: i32,
                  left_value: Value<'js>,
                  right: i32,
                  right_value: Value<'js>,
                  site: usize|
                  -> rquickjs::Result<Value<'js>> {
                let any = left.max(right).unsigned_abs();
                let operands = (
                    operand(&ctx, &shared, left, &left_value)?,
                    operand(&ctx, &shared, right, &right_value)?,
                );
                if let (Some(left), Some(right)) = operands {
                    let bytes = 2 * size_of::<Input>() + text_bytes(&left) + text_bytes(&right);
                    let expr = Expr::Add(Box::new(left), Box::new(right));
                    let made = shared.borrow_mut().expression(expr, bytes);
                    return Ok(Value::new_int(ctx.clone(), added(&ctx, made, ExprId(any))?));
                }
                let message = record(&shared, |session| errors::at_site(session, site, any));
                rquickjs::String::from_str(ctx, &message).map(|text| text.into_value())
            },
        )
    }
}

/// Returns the number of a new expression. A negative number means that its value would be too large; it holds the number of an
/// operand, as `-1 - number`. Throws if the memory limit is exceeded.
pub(super) fn added(ctx: &Ctx<'_>, made: Result<ExprId, NotAdded>, operand: ExprId) -> rquickjs::Result<i32> {
    match made {
        Ok(id) => Ok(id.0 as i32),
        Err(NotAdded::TooLarge) => Ok(-1 - operand.0 as i32),
        Err(NotAdded::OutOfMemory) => Err(out_of_memory(ctx)),
    }
}

fn out_of_memory(ctx: &Ctx<'_>) -> rquickjs::Error {
    rquickjs::Exception::throw_internal(ctx, "out of memory")
}

fn text_bytes(input: &Input) -> usize {
    input.as_known().and_then(Plain::as_str).map_or(0, str::len)
}

/// Returns the parts and their approximate size in bytes. A negative number is an item of a joined list.
fn template_parts(parts: &Array<'_>) -> rquickjs::Result<(Vec<TemplatePart>, usize)> {
    let mut bytes = parts.len() * size_of::<TemplatePart>();
    let mut out: Vec<TemplatePart> = Vec::with_capacity(parts.len());
    for part in parts.iter::<Value<'_>>() {
        let part = part?;
        if let Some(id) = part.as_int() {
            out.push(match u32::try_from(id) {
                Ok(id) => TemplatePart::Hole(Input::Deferred(ExprId(id))),
                Err(_) => TemplatePart::Item(Input::Deferred(ExprId((-1 - id).unsigned_abs()))),
            });
        } else if let Some(text) = part.as_string() {
            let text = text.to_string()?;
            bytes += text.len();
            match out.last_mut() {
                _ if text.is_empty() => {}
                Some(TemplatePart::Text(before)) => before.push_str(&text),
                _ => out.push(TemplatePart::Text(text)),
            }
        }
    }
    Ok((out, bytes))
}

/// Reads one operand of `+`. Returns `None` unless it is an unknown or a primitive value that is not a bigint or a symbol.
fn operand(
    ctx: &Ctx<'_>,
    session: &SharedSession,
    id: i32,
    value: &Value<'_>,
) -> rquickjs::Result<Option<Input>> {
    if let Ok(id) = u32::try_from(id) {
        return Ok(Some(Input::Deferred(ExprId(id))));
    }
    // `undefined` would give NaN, or the text "undefined".
    if let Some(constant) = constant(value).filter(|constant| *constant != Constant::Undefined) {
        let made = session.borrow_mut().constant(constant);
        return made.map(|id| Some(Input::Deferred(id))).map_err(|_| out_of_memory(ctx));
    }
    let plain = if let Some(text) = value.as_string() {
        text.to_string().ok().map(Plain::from)
    } else if let Some(number) = value.as_number() {
        Number::from_f64(number).map(Plain::Number)
    } else if let Some(flag) = value.as_bool() {
        Some(Plain::Bool(flag))
    } else {
        value.is_null().then_some(Plain::Null)
    };
    Ok(plain.map(Input::Known))
}

/// Returns the value as a constant, if data cannot hold it.
pub(super) fn constant(value: &Value<'_>) -> Option<Constant> {
    if value.is_undefined() {
        return Some(Constant::Undefined);
    }
    let number = value.as_number()?;
    if number.is_nan() {
        Some(Constant::NaN)
    } else if number.is_infinite() {
        Some(if number > 0.0 { Constant::Infinity } else { Constant::NegativeInfinity })
    } else {
        (number == 0.0 && number.is_sign_negative()).then_some(Constant::NegativeZero)
    }
}

/// Returns true if the JSON text of the value has one line, whatever the value will be.
fn is_scalar(session: &Session, id: ExprId) -> bool {
    match session.shape(id) {
        None | Some(Shape::Published(_)) => false,
        Some(shape) => {
            matches!(shape.kind(), Some(ValueKind::String | ValueKind::Number | ValueKind::Boolean))
        }
    }
}
