//! Host functions for config: values by key, and declarations in the program.
//!
//! Each returns an object with the result, or with a `problem` that is already reported.

use rquickjs::{Array, Ctx, Object, Value};
use stead_model::{Code, Diagnostic, Map, Value as Plain};

use super::errors::record;
use super::secrets::{Origin, check_size, to_js_marked};
use super::{Handles, Host, SharedSession, answer};
use crate::config::{Coverage, Key, Schema, ValueType, look_up, typed};
use crate::engine::session::Session;
use crate::engine::values::{define, to_js};

/// Value of a config key for the program.
struct Found {
    key: Key,
    value: Option<Plain>,
    /// The value is a text whose type the program decides.
    untyped: bool,
}

impl<'js> Host<'js> {
    pub(super) fn config(&self) -> rquickjs::Result<()> {
        let (session, handles) = (self.session.clone(), self.handles.clone());
        self.function(
            "config",
            move |ctx: Ctx<'js>, key: String, kind: String, conceal: bool, stack: String| {
                let found = by_text(&session, &key, &stack).and_then(|mut found| {
                    if conceal {
                        found.value = found.value.map(Plain::secret);
                    }
                    fitting(&session, found, &stack)
                });
                answer(&ctx, found, |out, found| fill(&ctx, &session, &handles, out, found, &kind, &stack))
            },
        )?;
        let (session, handles) = (self.session.clone(), self.handles.clone());
        self.function(
            "declaredConfig",
            move |ctx: Ctx<'js>, parts: Array<'js>, stack: String| -> rquickjs::Result<Object<'js>> {
                let parts = parts.iter::<String>().collect::<rquickjs::Result<Vec<_>>>()?;
                let found = declared(&session, Key::of(parts.iter().map(String::as_str)));
                let found = found.and_then(|found| fitting(&session, found, &stack));
                answer(&ctx, found, |out, found| fill(&ctx, &session, &handles, out, found, "", &stack))
            },
        )?;
        let session = self.session.clone();
        self.function("declareConfig", move |ctx: Ctx<'js>, declarations: String, stack: String| {
            let declared = declare(&session, &declarations, &stack);
            answer(&ctx, declared, |_, ()| Ok(()))
        })
    }
}

fn fitting(session: &SharedSession, found: Found, stack: &str) -> Result<Found, String> {
    found.value.iter().try_for_each(|value| check_size(session, value, stack))?;
    Ok(found)
}

/// Writes the value as the program gets it. `kind` is the type that the program asks for, or empty.
///
/// The program checks the type of a value that is not secret; a secret of another type is reported as `mismatch`.
fn fill<'js>(
    ctx: &Ctx<'js>,
    session: &SharedSession,
    handles: &Handles,
    out: &Object<'js>,
    found: Found,
    kind: &str,
    stack: &str,
) -> rquickjs::Result<()> {
    define(out, "untyped", found.untyped)?;
    let Found { key, value, .. } = found;
    let value = match value {
        None => return define(out, "value", Value::new_undefined(ctx.clone())),
        Some(value) if value.has_secrets() => match of_kind(session, &key, value, kind) {
            Ok(value) => value,
            Err(is) => return define(out, "mismatch", is),
        },
        Some(value) => return define(out, "value", to_js(ctx, &value)?),
    };
    let place = session.borrow_mut().place_of(stack);
    let name = |rest: &str| format!("config `{key}{rest}`");
    let value = to_js_marked(ctx, session, handles, &value, &Origin { place: &place, name: &name })?;
    define(out, "value", value)
}

/// Returns a secret as the type that the program asks for, or the type that it has.
///
/// A secret text without a declared type takes it, because an encrypted value is entered as text. A locked secret is not checked.
fn of_kind(session: &SharedSession, key: &Key, value: Plain, kind: &str) -> Result<Plain, &'static str> {
    let Plain::Secret(secret) = &value else {
        return if kind.is_empty() { Ok(value) } else { Err("object") };
    };
    let Ok(revealed) = secret.reveal().cloned() else { return Ok(value) };
    let is = match &revealed {
        Plain::String(_) => "string",
        Plain::Number(_) => "number",
        Plain::Bool(_) => "boolean",
        _ => "object",
    };
    if kind.is_empty() || kind == is {
        return Ok(value);
    }
    let state = session.borrow();
    let schemas = state.settings.config.schema.iter().chain(&state.declared_config);
    let is_declared = schemas.into_iter().any(|schema| schema.get(key).is_some());
    let ty = if kind == "number" { ValueType::Number } else { ValueType::Boolean };
    match &revealed {
        Plain::String(text) if !is_declared => typed(text, ty).map(Plain::secret).map_err(|_| is),
        _ => Err(is),
    }
}

/// Marks the values of keys that a schema declares secret.
fn conceal(session: &Session, key: &Key, value: Plain) -> Plain {
    let schemas = || session.settings.config.schema.iter().chain(&session.declared_config);
    if schemas().any(|schema| schema.conceals(key)) {
        return Plain::secret(value);
    }
    match value {
        Plain::Map(map) if schemas().any(|schema| schema.is_secret(key)) => {
            let member = |(name, value): (stead_model::Text, Plain)| {
                let value = conceal(session, &key.child(name.as_str()), value);
                (name, value)
            };
            Plain::Map(map.into_iter().map(member).collect())
        }
        value => value,
    }
}

/// Returns the value of a key that the program has declared.
fn declared(session: &SharedSession, key: Key) -> Result<Found, String> {
    let session = session.borrow();
    let schema = session.declared_config.as_ref();
    let schema = schema.ok_or_else(|| "the program has declared no config".to_owned())?;
    let value = session.settings.config.resolve_with(Some(schema), Coverage::SomeKeys).value(&key);
    let value = value.map(|value| conceal(&session, &key, value));
    Ok(Found { key, value, untyped: false })
}

/// Returns the value of a key as the program writes it. Fails if a schema exists and does not declare the key.
fn by_text(session: &SharedSession, text: &str, stack: &str) -> Result<Found, String> {
    let state = session.borrow();
    let found = look_up(&state.config.values, text);
    let key = found.as_ref().map(|(_, key)| key.clone()).or_else(|| Key::parse(text));
    let Some(key) = key else { return Ok(Found { key: Key::of([text]), value: None, untyped: false }) };
    let schema = match (&state.settings.config.schema, &state.declared_config) {
        (Some(schema), _) | (None, Some(schema)) => Some(schema),
        (None, None) => None,
    };
    if let Some(schema) = schema.filter(|schema| !schema.declares(&key)) {
        let meant = schema.nearest(&key);
        let declared: Vec<String> = schema.keys().take(20).map(Key::to_string).collect();
        drop(state);
        return Err(record(session, |session| {
            let message = format!("config `{key}` is not declared in the schema");
            let problem = session.label_stack(Diagnostic::error(Code::CONFIG_VALUE, message), stack);
            match meant {
                Some(meant) => problem.help(format!("did you mean `{meant}`?")),
                None => problem.help(format!("the schema declares: {}", declared.join(", "))),
            }
        }));
    }
    if state.config.withheld.iter().any(|held| *held == key || key.contains(held)) {
        drop(state);
        return Err(record(session, |session| {
            let message = format!("the secret config `{key}` is not part of a saved plan");
            session.label_stack(Diagnostic::error(Code::CONFIG_VALUE, message), stack)
        }));
    }
    let untyped = state.config.untyped.contains(&key);
    let value = found.map(|(value, _)| conceal(&state, &key, value));
    Ok(Found { key, value, untyped })
}

/// Adds declarations of the program, and checks the values of their keys.
fn declare(session: &SharedSession, declarations: &str, stack: &str) -> Result<(), String> {
    let table: Map = serde_json::from_str(declarations).unwrap_or_default();
    let place = session.borrow_mut().locate_stack(stack);
    let at = place.as_ref().map(|place| place.at.clone());
    let problems = match Schema::read(&table, &|_| at.clone()) {
        Ok(schema) => check(&mut session.borrow_mut(), schema),
        Err(problems) => problems
            .into_iter()
            .map(|problem| {
                let message = format!("config `{}`: {}", problem.key, problem.message);
                let diagnostic = Diagnostic::error(Code::CONFIG_VALUE, message);
                problem
                    .place
                    .into_iter()
                    .fold(diagnostic, |diagnostic, at| diagnostic.at(at, 0, "declared here"))
            })
            .collect(),
    };
    let Some(first) = problems.first().map(|problem| problem.message.clone()) else { return Ok(()) };
    problems.into_iter().for_each(|problem| session.borrow_mut().report(problem));
    Err(first)
}

fn check(session: &mut Session, schema: Schema) -> Vec<Diagnostic> {
    let mut problems = Vec::new();
    if let Some(project) = &session.settings.config.schema {
        for (key, declaration) in schema.declarations().filter(|(key, _)| project.get(key).is_none()) {
            let message = format!("config `{key}` is not declared in the schema of the project");
            let problem = Diagnostic::error(Code::CONFIG_VALUE, message);
            let problem = declaration
                .place
                .iter()
                .fold(problem, |problem, at| problem.at(at.clone(), 0, "declared here"));
            problems.push(match project.nearest(key) {
                Some(meant) => problem.help(format!("did you mean `{meant}`?")),
                None => {
                    problem.help("declare every key in one place: in `[config.schema]`, or in the program")
                }
            });
        }
    }
    problems.extend(session.settings.config.resolve_with(Some(&schema), Coverage::SomeKeys).problems);
    session.declared_config.get_or_insert_default().extend(schema);
    problems
}
