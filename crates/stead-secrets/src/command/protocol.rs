//! The lines that are exchanged with an external program.

use serde_json::{Value, json};
use zeroize::{Zeroize as _, Zeroizing};

use crate::cipher::{from_base64, to_base64};
use crate::{DataKey, ManagerErrorClass, WrapContext};

/// A request to the program.
pub(super) enum Request<'a> {
    Wrap { context: &'a WrapContext, key: &'a DataKey },
    Unwrap { context: &'a WrapContext, wrapped: &'a str },
}

impl Request<'_> {
    /// Returns the argument that the program is run with.
    pub(super) fn operation(&self) -> &'static str {
        match self {
            Request::Wrap { .. } => "wrap",
            Request::Unwrap { .. } => "unwrap",
        }
    }

    /// Returns the request as one line of JSON.
    pub(super) fn to_line(&self) -> Zeroizing<Vec<u8>> {
        // The key is written by hand, because the writer of JSON would leave copies in memory. Base64 needs no escapes.
        let (context, field, value) = match self {
            Request::Wrap { context, key } => {
                let text = Zeroizing::new(to_base64(key.expose()));
                (context, "key", Zeroizing::new(format!("\"{}\"", *text)))
            }
            Request::Unwrap { context, wrapped } => {
                (context, "wrapped", Zeroizing::new(Value::from(*wrapped).to_string()))
            }
        };
        let head = json!({
            "stead-secrets": 1,
            "operation": self.operation(),
            "owner": context.owner,
            "keyId": context.key.0,
        });
        let head = head.to_string();
        let mut line = String::with_capacity(head.len() + value.len() + 16);
        line.push_str(&head[..head.len() - 1]);
        line.push_str(&format!(",\"{field}\":"));
        line.push_str(&value);
        line.push_str("}\n");
        Zeroizing::new(line.into_bytes())
    }
}

/// An answer of the program.
pub(super) enum Answer {
    Wrapped(String),
    Key(DataKey),
    Error { class: ManagerErrorClass, message: String },
}

impl Answer {
    /// Parses one line of JSON with exactly one known field; `None` if the output is anything else.
    pub(super) fn parse(output: &[u8]) -> Option<Answer> {
        let Value::Object(mut fields) = serde_json::from_slice(output).ok()? else { return None };
        let one_line = !output.trim_ascii().contains(&b'\n');
        if fields.len() != 1 || !one_line {
            return None;
        }
        if let Some(Value::String(mut key)) = fields.remove("key") {
            let bytes = from_base64(&key);
            key.zeroize();
            return DataKey::from_slice(&bytes?).map(Answer::Key);
        }
        if let Some(Value::String(wrapped)) = fields.remove("wrapped") {
            return Some(Answer::Wrapped(wrapped));
        }
        let error = fields.remove("error")?;
        let message = error.get("message")?.as_str()?.to_owned();
        let class = match error.get("class")?.as_str()? {
            "wrong-key" => ManagerErrorClass::WrongKey,
            "denied" => ManagerErrorClass::Denied,
            "not-found" => ManagerErrorClass::NoSuchKey,
            "unavailable" => ManagerErrorClass::Unavailable,
            "not-configured" => ManagerErrorClass::NotConfigured,
            _ => return None,
        };
        Some(Answer::Error { class, message })
    }
}

#[cfg(test)]
mod tests {
    use stead_model::KeyId;

    use super::*;

    #[test]
    fn request_is_one_line_of_json() {
        let context = WrapContext { owner: "stack:\"1\"\n".to_owned(), key: KeyId("k".to_owned()) };
        let line = Request::Wrap { context: &context, key: &DataKey::new([0; 32]) }.to_line();
        assert_eq!(line.iter().filter(|byte| **byte == b'\n').count(), 1);
        let expected = json!({
            "stead-secrets": 1, "operation": "wrap", "owner": "stack:\"1\"\n", "keyId": "k",
            "key": "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=",
        });
        assert_eq!(serde_json::from_slice::<Value>(&line).unwrap(), expected);
        let line = Request::Unwrap { context: &context, wrapped: "w\"" }.to_line();
        assert_eq!(serde_json::from_slice::<Value>(&line).unwrap()["wrapped"], "w\"");
    }

    #[test]
    fn answer_outside_the_protocol_is_none() {
        for broken in [
            "",
            "{}",
            "[]",
            "null",
            r#"{"wrapped":1}"#,
            r#"{"key":"AAAA"}"#,
            r#"{"wrapped":"w","key":"x"}"#,
            r#"{"error":{"class":"odd","message":"m"}}"#,
            r#"{"error":"m"}"#,
            "{\n\"wrapped\":\"w\"}",
            r#"{"other":"w"}"#,
        ] {
            assert!(Answer::parse(broken.as_bytes()).is_none(), "{broken}");
        }
        assert!(
            matches!(Answer::parse(b"{\"wrapped\":\"w\"}\n"), Some(Answer::Wrapped(text)) if text == "w")
        );
    }
}
