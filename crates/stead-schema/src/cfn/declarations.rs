//! TypeScript types of published forms. Definitions become interfaces in a namespace named after the class.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use stead_model::Value;

use super::{Form, FormId, Kinds, Rest, Schema};

/// Depth at which an unnamed type becomes `any`, because forms may be recursive.
const MAX_DEPTH: usize = 16;

/// Returns the TypeScript type of a form.
pub(crate) fn typescript(schema: &Schema, id: FormId) -> String {
    named(schema, id, 0)
}

fn named(schema: &Schema, id: FormId, depth: usize) -> String {
    let form = schema.form(id);
    match &form.name {
        Some(name) if is_interface(form) => format!("{}.{}", class(schema), identifier(name)),
        _ if depth > MAX_DEPTH => "any".to_owned(),
        _ => spelled(schema, id, depth + 1),
    }
}

/// Writes an interface for each definition that is an object.
pub(crate) fn interfaces(out: &mut String, schema: &Schema, class: &str) {
    let named = schema.forms.iter().filter(|form| is_interface(form));
    let named: BTreeMap<String, &Form> =
        named.filter_map(|form| Some((identifier(form.name.as_ref()?), form))).collect();
    if named.is_empty() {
        return;
    }
    let _ = write!(out, "\nexport namespace {class} {{\n");
    for (name, form) in named {
        let _ = writeln!(out, "  interface {name} {}", members(schema, form, "  ", 0));
    }
    out.push_str("}\n");
}

fn is_interface(form: &Form) -> bool {
    form.name.is_some() && !form.properties.is_empty() && form.one_of.is_empty() && form.any_of.is_empty()
}

fn class(schema: &Schema) -> &str {
    schema.type_name.rsplit("::").next().unwrap_or_default()
}

/// Returns the name of a definition as a TypeScript identifier.
fn identifier(name: &str) -> String {
    let safe: String = name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    if safe.starts_with(|c: char| c.is_ascii_digit()) { format!("_{safe}") } else { safe }
}

fn spelled(schema: &Schema, id: FormId, depth: usize) -> String {
    let form = schema.form(id);
    if !form.choices.is_empty() {
        return form.choices.iter().map(Value::to_json).collect::<Vec<_>>().join(" | ");
    }
    if !form.properties.is_empty() && form.one_of.is_empty() && form.any_of.is_empty() {
        return members(schema, form, "", depth);
    }
    if let Some(items) = schema.element(id) {
        return format!("Array<{}>", named(schema, items, depth));
    }
    if let Rest::Of(inner) = form.rest {
        return format!("Record<string, {}>", named(schema, inner, depth));
    }
    if let [only] = form.all_of.as_slice()
        && form.one_of.is_empty()
        && form.any_of.is_empty()
    {
        return named(schema, *only, depth);
    }
    let alternatives: Vec<FormId> = form.one_of.iter().chain(&form.any_of).copied().collect();
    if form.kinds.is_any() && form.all_of.is_empty() && form.properties.is_empty() && !alternatives.is_empty()
    {
        let mut texts: Vec<String> = alternatives.iter().map(|part| named(schema, *part, depth)).collect();
        texts.sort();
        texts.dedup();
        return texts.join(" | ");
    }
    scalar(form.kinds)
}

fn scalar(kinds: Kinds) -> String {
    let names = [
        (Kinds::STRING, "string"),
        (Kinds::NUMBER, "number"),
        (Kinds::INTEGER, "number"),
        (Kinds::BOOLEAN, "boolean"),
        (Kinds::OBJECT, "Record<string, any>"),
        (Kinds::ARRAY, "any[]"),
        (Kinds::NULL, "null"),
    ];
    let mut found: Vec<&str> = Vec::new();
    for (kind, name) in names {
        if kinds.has(kind) && !found.contains(&name) {
            found.push(name);
        }
    }
    if found.is_empty() { "any".to_owned() } else { found.join(" | ") }
}

fn members(schema: &Schema, form: &Form, indent: &str, depth: usize) -> String {
    let mut out = String::from("{\n");
    for (name, inner) in &form.properties {
        let optional = if form.required.contains(name) { "" } else { "?" };
        let key = if identifier(name) == *name { name.clone() } else { format!("{name:?}") };
        let _ = writeln!(out, "{indent}  {key}{optional}: {};", named(schema, *inner, depth));
    }
    let _ = write!(out, "{indent}}}");
    out
}
