//! Templates of names: text with properties in braces, such as `/aws/lambda/{FunctionName}`.
//!
//! `{A.B}` is a member, `{A.*}` every element of a list or member of an object. A template has a text for each combination, and
//! none if a property is missing.

use stead_model::{Map, Value};

/// Returns the texts of a template for a resource with these properties.
pub(super) fn texts(template: &str, properties: &Map) -> Vec<String> {
    let Some((before, rest)) = template.split_once('{') else { return vec![template.to_owned()] };
    let Some((path, after)) = rest.split_once('}') else { return vec![template.to_owned()] };
    let path: Vec<&str> = path.split('.').collect();
    let mut found = Vec::new();
    if let Some((first, path)) = path.split_first() {
        properties.get(*first).into_iter().for_each(|value| collect(value, path, &mut found));
    }
    let ends = texts(after, properties);
    found.iter().flat_map(|text| ends.iter().map(move |end| format!("{before}{text}{end}"))).collect()
}

/// Returns the paths of the properties in a template.
#[cfg(test)]
pub(super) fn paths(template: &str) -> Vec<Vec<&str>> {
    let parts = template.split('{').skip(1).filter_map(|part| part.split('}').next());
    parts.map(|path| path.split('.').collect()).collect()
}

fn collect(value: &Value, path: &[&str], found: &mut Vec<String>) {
    match (value, path.split_first()) {
        (Value::String(text), None) if !text.is_empty() => found.push(text.to_string()),
        (Value::Number(number), None) => found.push(number.to_string()),
        (Value::List(items), Some((&"*", rest))) => items.iter().for_each(|item| collect(item, rest, found)),
        (Value::Map(map), Some((&"*", rest))) => map.values().for_each(|item| collect(item, rest, found)),
        (Value::Map(map), Some((key, rest))) => {
            map.get(*key).into_iter().for_each(|item| collect(item, rest, found));
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn template_has_a_text_for_each_combination_and_none_without_a_property() {
        let map: Map =
            serde_json::from_str(r#"{"Name":"db","Logs":["error","slow"],"D":{"x":{"G":"g"}}}"#).unwrap();
        assert_eq!(texts("/rds/{Name}/{Logs.*}", &map), ["/rds/db/error", "/rds/db/slow"]);
        assert_eq!(texts("{D.*.G}", &map), ["g"]);
        assert_eq!(texts("plain", &map), ["plain"]);
        assert_eq!(texts("{Name}/{Missing}", &map), [""; 0]);
    }
}
