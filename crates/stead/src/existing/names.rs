//! Names of imported resources: from their own names and tags, without collisions.

use std::collections::BTreeSet;

use stead_model::{Map, TypeToken, Value};

/// Words that no constant can be called.
const RESERVED: &[&str] = &[
    "aws",
    "await",
    "break",
    "case",
    "catch",
    "class",
    "const",
    "continue",
    "debugger",
    "default",
    "delete",
    "do",
    "else",
    "enum",
    "export",
    "extends",
    "false",
    "finally",
    "for",
    "function",
    "if",
    "implements",
    "import",
    "in",
    "instanceof",
    "interface",
    "let",
    "new",
    "null",
    "package",
    "private",
    "protected",
    "public",
    "return",
    "static",
    "super",
    "switch",
    "this",
    "throw",
    "true",
    "try",
    "typeof",
    "undefined",
    "var",
    "void",
    "while",
    "with",
    "yield",
];

/// Returns an id for a resource: its tag `Name`, its own name, or the end of its physical id.
pub(super) fn id_of(
    ty: &TypeToken,
    physical: &str,
    outputs: &Map,
    taken: &mut BTreeSet<String>,
    written: &str,
) -> String {
    let class = class_of(ty);
    let own = own_name(class, outputs).or_else(|| tag_name(outputs));
    let last = physical.rsplit(['|', '/', ':']).next().unwrap_or(physical);
    let wanted = cleaned(own.as_deref().unwrap_or(last));
    // A bare number is no id.
    let wanted = match wanted.trim_start_matches(|c: char| c.is_ascii_digit()) {
        "" => format!("{}-{wanted}", class.to_lowercase()).trim_end_matches('-').to_owned(),
        _ => wanted,
    };
    let is_free = |id: &String| !taken.contains(id) && !declares(written, ty, id);
    let mut candidates = std::iter::once(wanted.clone()).chain((2..).map(|n: u32| format!("{wanted}-{n}")));
    let id = candidates.find(is_free).unwrap_or(wanted);
    taken.insert(id.clone());
    id
}

/// Returns the name that a resource gives itself: `BucketName` of a bucket, or `Name`.
fn own_name(class: &str, outputs: &Map) -> Option<String> {
    let names = [format!("{class}Name"), "Name".to_owned(), format!("{class}Identifier")];
    let text =
        |name: &String| outputs.get(name.as_str()).and_then(Value::as_str).filter(|text| !text.is_empty());
    names.iter().find_map(text).map(|name| name.rsplit('/').next().unwrap_or(name).to_owned())
}

fn tag_name(outputs: &Map) -> Option<String> {
    let found = match outputs.get("Tags")? {
        Value::Map(tags) => tags.get("Name")?,
        Value::List(tags) => tags.iter().filter_map(Value::as_map).find_map(|tag| {
            (tag.get("Key").and_then(Value::as_str) == Some("Name")).then(|| tag.get("Value"))?
        })?,
        _ => return None,
    };
    found.as_str().filter(|name| !name.is_empty()).map(str::to_owned)
}

/// Returns a text of letters, digits, `-`, `_` and single dashes for all others.
fn cleaned(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c {
            c if c.is_ascii_alphanumeric() || c == '_' => out.push(c),
            _ if out.ends_with('-') => {}
            _ => out.push('-'),
        }
    }
    out.trim_matches('-').to_owned()
}

/// Returns true if the file declares a resource of this type with this id.
fn declares(written: &str, ty: &TypeToken, id: &str) -> bool {
    let (start, end) = (format!("new {ty}("), format!("{{ id: {} }}", Value::from(id).to_json()));
    written.split("\nconst ").any(|part| part.contains(&start) && part.contains(&end))
}

/// Returns the constants that a file declares.
pub(super) fn variables_in(written: &str) -> BTreeSet<String> {
    let starts = written.lines().filter_map(|line| line.strip_prefix("const "));
    starts.filter_map(|rest| rest.split([' ', ':', '=']).next()).map(str::to_owned).collect()
}

/// Returns the name of a constant that is not taken.
pub(super) fn variable_of(id: &str, ty: &TypeToken, taken: &mut BTreeSet<String>) -> String {
    let short = camel(id);
    let long = format!("{short}{}", class_of(ty));
    let is_free = |name: &String| !taken.contains(name) && !RESERVED.contains(&name.as_str());
    let numbered = (2..).map(|n: u32| format!("{long}{n}"));
    let mut candidates = [short.clone(), long.clone()].into_iter().chain(numbered);
    let variable = candidates.find(is_free).unwrap_or(short);
    taken.insert(variable.clone());
    variable
}

fn camel(id: &str) -> String {
    let mut out = String::new();
    for part in id.split(|c: char| !c.is_ascii_alphanumeric()).filter(|part| !part.is_empty()) {
        let mut characters = part.chars();
        let first = characters.next().into_iter();
        match out.is_empty() {
            true => out.extend(first.flat_map(char::to_lowercase)),
            false => out.extend(first.flat_map(char::to_uppercase)),
        }
        out.extend(characters);
    }
    match out.chars().next() {
        Some(first) if first.is_ascii_alphabetic() => out,
        _ => format!("r{out}"),
    }
}

/// Returns the last part of a type: `Bucket` of `aws.s3.Bucket`.
pub(super) fn class_of(ty: &TypeToken) -> &str {
    ty.as_str().rsplit('.').next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(physical: &str, outputs: &str, taken: &mut BTreeSet<String>) -> String {
        let outputs = serde_json::from_str(outputs).unwrap();
        id_of(&TypeToken("aws.s3.Bucket".into()), physical, &outputs, taken, "")
    }

    #[test]
    fn ids_come_from_names_tags_and_physical_ids_without_collisions() {
        let taken = &mut BTreeSet::new();
        assert_eq!(id("b", r#"{"BucketName":"my.uploads"}"#, taken), "my-uploads");
        assert_eq!(id("b2", r#"{"BucketName":"my-uploads"}"#, taken), "my-uploads-2");
        assert_eq!(id("x", r#"{"Tags":[{"Key":"Name","Value":"web site"}]}"#, taken), "web-site");
        assert_eq!(id("x", r#"{"Tags":{"Name":"map"}}"#, taken), "map");
        assert_eq!(id("arn:aws:x:1:y/last", "{}", taken), "last");
        assert_eq!(id("42", "{}", taken), "bucket-42");
        assert_eq!(id("///", "{}", taken), "bucket");
    }

    #[test]
    fn variables_are_identifiers_that_no_other_constant_has() {
        let ty = TypeToken("aws.s3.Bucket".into());
        let taken = &mut variables_in("const uploads = new aws.s3.Bucket({\n");
        assert_eq!(variable_of("uploads", &ty, taken), "uploadsBucket");
        assert_eq!(variable_of("uploads", &ty, taken), "uploadsBucket2");
        assert_eq!(variable_of("web-site_2", &ty, taken), "webSite2");
        assert_eq!(variable_of("1st", &ty, taken), "r1st");
        assert_eq!(variable_of("delete", &ty, taken), "deleteBucket");
    }
}
