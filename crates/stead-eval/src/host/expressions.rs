//! Host functions that add expressions to the graph.

use rquickjs::{Array, Ctx, Value};
use stead_model::{Expr, ExprId, Input, Number, TemplatePart, Value as Plain};
use stead_schema::Shape;

use super::Host;
use super::errors::record;
use crate::engine::session::Session;
use crate::unknown::errors;

impl<'js> Host<'js> {
    pub(super) fn expressions(&self) -> rquickjs::Result<()> {
        let session = self.session.clone();
        self.function("property", move |ctx: Ctx<'js>, node: u32, name: String| {
            number(&ctx, session.borrow_mut().property(node, &name))
        })?;
        let session = self.session.clone();
        self.function("get", move |ctx: Ctx<'js>, of: u32, key: String| {
            number(&ctx, session.borrow_mut().get(of, &key))
        })?;
        let session = self.session.clone();
        self.function("json", move |ctx: Ctx<'js>, of: u32| {
            let of = Box::new(Input::Deferred(ExprId(of)));
            number(&ctx, session.borrow_mut().expression(Expr::Json { of, indent: 0 }, 0))
        })?;
        let session = self.session.clone();
        self.function("template", move |ctx: Ctx<'js>, parts: Array<'js>| -> rquickjs::Result<u32> {
            let (parts, bytes) = template_parts(&parts)?;
            number(&ctx, session.borrow_mut().expression(Expr::Template(parts), bytes))
        })?;
        let session = self.session.clone();
        self.function("isScalar", move |id: u32| is_scalar(&mut session.borrow_mut(), ExprId(id)))?;
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
                if let (Some(left), Some(right)) = (operand(left, &left_value), operand(right, &right_value))
                {
                    let bytes = 2 * size_of::<Input>() + text_bytes(&left) + text_bytes(&right);
                    let expr = Expr::Add(Box::new(left), Box::new(right));
                    let id = number(&ctx, shared.borrow_mut().expression(expr, bytes))?;
                    return Ok(Value::new_int(ctx, id as i32));
                }
                let id = left.max(right).unsigned_abs();
                let message = record(&shared, |session| errors::at_site(session, site, id));
                rquickjs::String::from_str(ctx, &message).map(|text| text.into_value())
            },
        )
    }
}

/// Returns the number of an expression, or throws if the memory limit is exceeded.
fn number(ctx: &Ctx<'_>, id: Option<ExprId>) -> rquickjs::Result<u32> {
    id.map(|id| id.0).ok_or_else(|| rquickjs::Exception::throw_internal(ctx, "out of memory"))
}

fn text_bytes(input: &Input) -> usize {
    input.as_known().and_then(Plain::as_str).map_or(0, str::len)
}

/// Returns the parts and their approximate size in bytes.
fn template_parts(parts: &Array<'_>) -> rquickjs::Result<(Vec<TemplatePart>, usize)> {
    let mut bytes = parts.len() * size_of::<TemplatePart>();
    let mut out: Vec<TemplatePart> = Vec::with_capacity(parts.len());
    for part in parts.iter::<Value<'_>>() {
        let part = part?;
        if let Some(id) = part.as_int() {
            out.push(TemplatePart::Hole(Input::Deferred(ExprId(id as u32))));
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

/// Reads one operand of `+`. Returns `None` unless it is an unknown, a string, a number, a boolean or null.
fn operand(id: i32, value: &Value<'_>) -> Option<Input> {
    if id >= 0 {
        return Some(Input::Deferred(ExprId(id as u32)));
    }
    let plain = if let Some(text) = value.as_string() {
        Plain::from(text.to_string().ok()?)
    } else if let Some(number) = value.as_number() {
        Plain::Number(Number::from_f64(number)?)
    } else if let Some(flag) = value.as_bool() {
        Plain::Bool(flag)
    } else if value.is_null() {
        Plain::Null
    } else {
        return None;
    };
    Some(Input::Known(plain))
}

/// Returns true if the JSON text of the value has one line, whatever the value will be.
fn is_scalar(session: &mut Session, id: ExprId) -> bool {
    let (node, property) = match session.exprs.get(id) {
        Some(Expr::Template(_) | Expr::Add(..) | Expr::Json { .. }) => return true,
        Some(Expr::Property { node, property }) => (*node, property.clone()),
        _ => return false,
    };
    let token = session.drafts.get(node.index()).and_then(|draft| draft.token.clone());
    let schema = token.and_then(|token| session.schema(&token));
    let shape = schema.as_ref().and_then(|schema| schema.property(&property)).map(|property| &property.shape);
    !matches!(shape, None | Some(Shape::Any | Shape::List(_) | Shape::Map(_) | Shape::Published(_)))
}
