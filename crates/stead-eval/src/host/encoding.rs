//! Host functions for text, bytes and digests. They do not use the session.

use rquickjs::{Ctx, TypedArray, Value};

use super::Host;
use crate::engine::codec;

impl<'js> Host<'js> {
    pub(super) fn encoding(&self) -> rquickjs::Result<()> {
        self.function("encodeText", |ctx: Ctx<'js>, text: String| {
            TypedArray::<u8>::new(ctx, text.into_bytes())
        })?;
        self.function(
            "decodeText",
            |ctx: Ctx<'js>, bytes: TypedArray<'js, u8>, strict: bool| -> rquickjs::Result<Value<'js>> {
                let bytes = copied(&bytes)?;
                let text = match std::str::from_utf8(&bytes) {
                    Err(_) if strict => return Ok(Value::new_undefined(ctx)),
                    _ => String::from_utf8_lossy(&bytes),
                };
                rquickjs::String::from_str(ctx, &text).map(|text| text.into_value())
            },
        )?;
        self.function("base64Encode", |bytes: Value<'js>| -> rquickjs::Result<String> {
            Ok(codec::to_base64(&text_or_bytes(bytes)?))
        })?;
        self.function("base64Decode", |ctx: Ctx<'js>, text: String| -> rquickjs::Result<Value<'js>> {
            match codec::from_base64(&text) {
                Some(bytes) => TypedArray::<u8>::new(ctx, bytes).map(TypedArray::into_value),
                None => Ok(Value::new_undefined(ctx)),
            }
        })?;
        self.function(
            "hash",
            |ctx: Ctx<'js>, bytes: Value<'js>, algorithm: String| -> rquickjs::Result<Value<'js>> {
                match codec::hash(&text_or_bytes(bytes)?, &algorithm) {
                    Some(digest) => rquickjs::String::from_str(ctx, &digest).map(|text| text.into_value()),
                    None => Ok(Value::new_undefined(ctx)),
                }
            },
        )
    }
}

pub(super) fn text_or_bytes(value: Value<'_>) -> rquickjs::Result<Vec<u8>> {
    match value.as_string() {
        Some(text) => text.to_string().map(String::into_bytes),
        None => copied(&TypedArray::from_value(value)?),
    }
}

/// Copies bytes one at a time. Borrowing the buffer would be unsafe, because the engine may free it.
fn copied(bytes: &TypedArray<'_, u8>) -> rquickjs::Result<Vec<u8>> {
    (0..bytes.len() as u32).map(|index| bytes.as_object().get::<u32, u8>(index)).collect()
}
