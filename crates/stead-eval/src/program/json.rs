//! JSON with the order of its keys, and with the comments that `tsconfig.json` may have.
//!
//! The order matters for the conditions of `exports` in a `package.json`: the first match wins.

use std::fmt;

use oxc_allocator::Allocator;
use oxc_ast::ast::{Expression, ObjectPropertyKind};
use oxc_parser::Parser;
use oxc_span::SourceType;
use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};

/// JSON value. Numbers and booleans are not distinguished, because no reader needs them.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Json {
    Null,
    Scalar,
    Text(String),
    List(Vec<Json>),
    Map(Vec<(String, Json)>),
}

impl Json {
    pub(crate) fn parse(text: &str) -> Result<Json, serde_json::Error> {
        serde_json::from_str(text.strip_prefix('\u{feff}').unwrap_or(text))
    }

    /// Parses JSON with comments and trailing commas; `None` if it is not that.
    pub(crate) fn parse_lenient(text: &str) -> Option<Json> {
        let allocator = Allocator::default();
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let expression = Parser::new(&allocator, text, SourceType::cjs()).parse_expression().ok()?;
        Json::of(&expression)
    }

    fn of(expression: &Expression<'_>) -> Option<Json> {
        Some(match expression.get_inner_expression() {
            Expression::NullLiteral(_) => Json::Null,
            Expression::StringLiteral(text) => Json::Text(text.value.to_string()),
            Expression::ArrayExpression(array) => {
                let items = array.elements.iter().filter_map(|item| item.as_expression());
                Json::List(items.map(Json::of).collect::<Option<_>>()?)
            }
            Expression::ObjectExpression(object) => {
                let members = object.properties.iter().map(|property| match property {
                    ObjectPropertyKind::ObjectProperty(property) => {
                        Some((property.key.static_name()?.to_string(), Json::of(&property.value)?))
                    }
                    ObjectPropertyKind::SpreadProperty(_) => None,
                });
                Json::Map(members.collect::<Option<_>>()?)
            }
            _ => Json::Scalar,
        })
    }

    /// Returns the member with this key.
    pub(crate) fn get(&self, key: &str) -> Option<&Json> {
        self.members().iter().rev().find(|(name, _)| name == key).map(|(_, value)| value)
    }

    pub(crate) fn text(&self) -> Option<&str> {
        match self {
            Json::Text(text) => Some(text),
            _ => None,
        }
    }

    pub(crate) fn list(&self) -> &[Json] {
        match self {
            Json::List(items) => items,
            _ => &[],
        }
    }

    pub(crate) fn members(&self) -> &[(String, Json)] {
        match self {
            Json::Map(members) => members,
            _ => &[],
        }
    }
}

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Json, D::Error> {
        from.deserialize_any(Reader)
    }
}

struct Reader;

impl<'de> Visitor<'de> for Reader {
    type Value = Json;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<Json, E> {
        Ok(Json::Null)
    }

    fn visit_bool<E>(self, _: bool) -> Result<Json, E> {
        Ok(Json::Scalar)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Json, E> {
        Ok(Json::Scalar)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Json, E> {
        Ok(Json::Scalar)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Json, E> {
        Ok(Json::Scalar)
    }

    fn visit_str<E>(self, text: &str) -> Result<Json, E> {
        Ok(Json::Text(text.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut from: A) -> Result<Json, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = from.next_element()? {
            items.push(item);
        }
        Ok(Json::List(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut from: A) -> Result<Json, A::Error> {
        let mut members = Vec::new();
        while let Some(member) = from.next_entry()? {
            members.push(member);
        }
        Ok(Json::Map(members))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_keep_their_order() {
        let keys = |json: Json| json.members().iter().map(|(key, _)| key.clone()).collect::<Vec<_>>();
        assert_eq!(keys(Json::parse(r#"{ "z": 1, "a": [true, null], "m": "t" }"#).unwrap()), ["z", "a", "m"]);
        let lenient = "// comment\n{ \"z\": 1, /* more */ \"a\": [\"x\",], }\n";
        assert_eq!(keys(Json::parse_lenient(lenient).unwrap()), ["z", "a"]);
        assert_eq!(Json::parse_lenient("{ broken"), None);
    }
}
