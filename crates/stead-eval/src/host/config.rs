//! Host functions for config: values by key, and declarations in the program.
//!
//! Each returns an object with the result, or with a `problem` that is already reported.

use rquickjs::{Array, Ctx, Object, Value};
use stead_model::{Code, Diagnostic, Map, Value as Plain};

use super::errors::record;
use super::{Host, SharedSession, answer};
use crate::config::{Coverage, Key, Schema, look_up};
use crate::engine::session::Session;
use crate::engine::values::{define, to_js};

/// Value of a config key for the program.
struct Found {
    value: Option<Plain>,
    secret: bool,
    /// The value is a text whose type the program decides.
    untyped: bool,
}

impl<'js> Host<'js> {
    pub(super) fn config(&self) -> rquickjs::Result<()> {
        let session = self.session.clone();
        self.function("config", move |ctx: Ctx<'js>, key: String, stack: String| {
            let found = by_text(&session, &key, &stack);
            answer(&ctx, found, |out, found| fill(&ctx, out, found))
        })?;
        let session = self.session.clone();
        self.function(
            "declaredConfig",
            move |ctx: Ctx<'js>, parts: Array<'js>| -> rquickjs::Result<Object<'js>> {
                let parts = parts.iter::<String>().collect::<rquickjs::Result<Vec<_>>>()?;
                let key = Key::of(parts.iter().map(String::as_str));
                let session = session.borrow();
                let found = session.declared_config.as_ref().map(|schema| {
                    let value =
                        session.settings.config.resolve_with(Some(schema), Coverage::SomeKeys).value(&key);
                    Found { value, secret: is_secret(&session, &key), untyped: false }
                });
                let missing = || "the program has declared no config".to_owned();
                answer(&ctx, found.ok_or_else(missing), |out, found| fill(&ctx, out, found))
            },
        )?;
        let session = self.session.clone();
        self.function("declareConfig", move |ctx: Ctx<'js>, declarations: String, stack: String| {
            let declared = declare(&session, &declarations, &stack);
            answer(&ctx, declared, |_, ()| Ok(()))
        })
    }
}

fn fill<'js>(ctx: &Ctx<'js>, out: &Object<'js>, found: Found) -> rquickjs::Result<()> {
    define(out, "secret", found.secret)?;
    define(out, "untyped", found.untyped)?;
    match &found.value {
        Some(value) => define(out, "value", to_js(ctx, value)?),
        None => define(out, "value", Value::new_undefined(ctx.clone())),
    }
}

fn is_secret(session: &Session, key: &Key) -> bool {
    let schemas = session.settings.config.schema.iter().chain(&session.declared_config);
    schemas.into_iter().any(|schema| schema.is_secret(key))
}

/// Returns the value of a key as the program writes it. Fails if a schema exists and does not declare the key.
fn by_text(session: &SharedSession, text: &str, stack: &str) -> Result<Found, String> {
    let state = session.borrow();
    let found = look_up(&state.config.values, text);
    let key = found.as_ref().map(|(_, key)| key.clone()).or_else(|| Key::parse(text));
    let Some(key) = key else { return Ok(Found { value: None, secret: false, untyped: false }) };
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
    Ok(Found { value: found.map(|(value, _)| value.clone()), secret: is_secret(&state, &key), untyped })
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
