//! base64 and digests of text.

use stead_model::Value;

use super::{Tree, text_at};
use crate::engine::codec;

pub(super) fn base64_encode(arguments: &[Value]) -> Result<Tree, String> {
    Ok(codec::to_base64(text_at(arguments, 0, "the text")?.as_bytes()).into())
}

pub(super) fn base64_encode_url(arguments: &[Value]) -> Result<Tree, String> {
    Ok(codec::to_url_safe(&codec::to_base64(text_at(arguments, 0, "the text")?.as_bytes())).into())
}

pub(super) fn base64_decode(arguments: &[Value]) -> Result<Tree, String> {
    decode(text_at(arguments, 0, "the text")?)
}

pub(super) fn base64_decode_url(arguments: &[Value]) -> Result<Tree, String> {
    let text = codec::from_url_safe(text_at(arguments, 0, "the text")?);
    decode(&text.ok_or("the text is not valid base64url")?)
}

fn decode(text: &str) -> Result<Tree, String> {
    let bytes = codec::from_base64(text).ok_or("the text is not valid base64")?;
    let text = String::from_utf8(bytes).map_err(|_| "the bytes are not text; use `base64.decodeBytes`")?;
    Ok(text.into())
}

pub(super) fn hash(arguments: &[Value]) -> Result<Tree, String> {
    let algorithm = match arguments.get(1) {
        None => "sha256",
        Some(_) => text_at(arguments, 1, "the algorithm")?,
    };
    let digest = codec::hash(text_at(arguments, 0, "the value")?.as_bytes(), algorithm);
    digest
        .map(Tree::from)
        .ok_or_else(|| format!("unknown algorithm `{algorithm}`; use md5, sha1, sha256, sha384 or sha512"))
}
