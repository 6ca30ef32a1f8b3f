//! Names of resources whose inputs leave them out.

use stead_model::{Map, PropertyPath, Segment, Value};
use stead_schema::cfn::{Class, Form, FormId, Kinds, Schema};

use crate::service::ids::Ids;

/// Adds the parts of the primary identifier that the inputs may leave out and the service does not set by itself.
pub(super) fn fill(schema: &Schema, model: &mut Map, ids: &mut Ids) {
    for path in &schema.primary_identifier {
        let [Segment::Key(key)] = path.0.as_slice() else { continue };
        if model.contains_key(key.as_str()) || super::table::has(&schema.type_name, key) {
            continue;
        }
        let read_only = schema.classes.of(Class::ReadOnly).covers(&PropertyPath::of(key));
        let Some(form) = schema.member(Schema::ROOT, key).filter(|_| !read_only) else { continue };
        let choices = schema.find(form, &mut Vec::new(), &|form| form.choices.first().cloned());
        let kinds = schema.find(form, &mut Vec::new(), &|form| (!form.kinds.is_any()).then_some(form.kinds));
        let value = match (choices, kinds.unwrap_or(Kinds::STRING)) {
            (Some(choice), _) => choice,
            (None, kinds) if kinds.has(Kinds::STRING) => {
                Value::from(fitting(schema, form, generated(&schema.type_name, ids)))
            }
            (None, kinds) if kinds.has(Kinds::INTEGER) => Value::from((ids.draw() % 1_000_000) as i64),
            _ => continue,
        };
        model.insert(key.clone(), value);
    }
}

/// Returns a name with other separators if the type does not take dashes.
fn fitting(schema: &Schema, form: FormId, name: String) -> String {
    let allows = |name: &String| {
        let pattern = |form: &Form| form.limits.pattern.as_ref().map(|pattern| pattern.allows(name));
        schema.find(form, &mut Vec::new(), &pattern).unwrap_or(true)
    };
    let others = [name.replace('-', "_"), name.replace('-', "")];
    std::iter::once(&name).chain(&others).find(|name| allows(name)).cloned().unwrap_or(name.clone())
}

/// Returns a name that no other resource has.
pub(super) fn generated(type_name: &str, ids: &mut Ids) -> String {
    format!("{}-{}", kind(type_name), ids.lower(12))
}

/// Returns the last part of a type name as it is written in ARNs: `LogGroup` is `log-group`.
pub(super) fn kind(type_name: &str) -> String {
    let name = type_name.rsplit("::").next().unwrap_or_default();
    let mut out = String::new();
    let letters: Vec<char> = name.chars().collect();
    for (at, letter) in letters.iter().enumerate() {
        let starts = letter.is_uppercase()
            && at > 0
            && (letters[at - 1].is_lowercase()
                || letters.get(at + 1).is_some_and(|next| next.is_lowercase()));
        if starts {
            out.push('-');
        }
        out.extend(letter.to_lowercase());
    }
    out
}
