//! Host functions for external values: secrets, existing resources, outputs of other stacks.
//!
//! Each returns an object with the result, or with a `problem` that is already reported.

use rquickjs::{Ctx, Object, Value};
use stead_model::{
    Code, Diagnostic, Environment, ExprId, Hint, Input, Map, NextStep, Text, TypeToken, Value as Plain,
};

use super::deferred::first_in;
use super::errors::record;
use super::expressions::added;
use super::secrets::{Origin, check_size, to_js_marked};
use super::{Handles, Host, SharedSession, answer};
use crate::declare::input_reader::InputReader;
use crate::engine::values::{define, to_js};
use crate::{LookUpProvider, StackRef};

impl<'js> Host<'js> {
    pub(super) fn external(&self) -> rquickjs::Result<()> {
        let (session, handles) = (self.session.clone(), self.handles.clone());
        self.function("secret", move |ctx: Ctx<'js>, value: Value<'js>, from: String, stack: String| {
            let made = secret(&ctx, &session, &handles, &value, from, &stack)?;
            answer(&ctx, made, |out, id| define(out, "expression", id))
        })?;
        let (session, handles) = (self.session.clone(), self.handles.clone());
        self.function(
            "lookUp",
            move |ctx: Ctx<'js>, token: String, id: String, provider: i32, stack: String| {
                let token = TypeToken(token);
                let found = settings_of(&session, provider, &stack);
                let found = found.and_then(|provider| look_up(&session, &token, &id, provider, &stack));
                let found = found.and_then(|map| fitting(&session, map, &stack));
                let name = |key: &str, rest: &str| format!("`{key}{rest}` of {token} `{id}`");
                answer(&ctx, found, |out, map| {
                    define(out, "properties", object(&ctx, &session, &handles, &map, &stack, &name)?)
                })
            },
        )?;
        let (session, handles) = (self.session.clone(), self.handles.clone());
        self.function(
            "stackOutputs",
            move |ctx: Ctx<'js>,
                  project: String,
                  env: Option<String>,
                  namespace: Option<String>,
                  target: Option<String>,
                  stack: String| {
                let named = stack_ref(&session, project, env, namespace, target);
                let found = outputs(&session, &named, &stack);
                let found = found.and_then(|map| fitting(&session, map, &stack));
                let name = |key: &str, rest: &str| format!("output `{key}{rest}` of project {named}");
                answer(&ctx, found, |out, map| {
                    define(out, "outputs", object(&ctx, &session, &handles, &map, &stack, &name)?)
                })
            },
        )
    }
}

/// Returns a JavaScript object without prototype, so that a missing name reads as undefined.
///
/// Secrets become deferred expressions. `name` describes the value of a key and a path inside it.
fn object<'js>(
    ctx: &Ctx<'js>,
    session: &SharedSession,
    handles: &Handles,
    map: &Map,
    stack: &str,
    name: &dyn Fn(&str, &str) -> String,
) -> rquickjs::Result<Object<'js>> {
    let out = Object::new(ctx.clone())?;
    out.set_prototype(None)?;
    let place = map.values().any(Plain::has_secrets).then(|| session.borrow_mut().place_of(stack));
    for (key, value) in map {
        let js = match &place {
            Some(place) => {
                let name = |rest: &str| name(key, rest);
                to_js_marked(ctx, session, handles, value, &Origin { place, name: &name })?
            }
            None => to_js(ctx, value)?,
        };
        define(&out, key.as_str(), js)?;
    }
    Ok(out)
}

/// Adds an expression for a secret. Its number is negative if the value is too large.
fn secret<'js>(
    ctx: &Ctx<'js>,
    session: &SharedSession,
    handles: &Handles,
    value: &Value<'js>,
    from: String,
    stack: &str,
) -> rquickjs::Result<Result<i32, String>> {
    let intrinsics = handles.intrinsics(ctx)?;
    let mut reader = InputReader::new(&intrinsics, session.borrow().limits.property_bytes, None);
    let Some(input) = reader.input(value)? else {
        let problem = reader.problems.first();
        let why = problem.map(|problem| problem.message.clone()).unwrap_or_default();
        let code = match problem {
            Some(problem) if problem.too_large => Code::EVALUATION_LIMIT,
            _ => Code::NOT_DATA,
        };
        let message = format!("a secret must be data: {why}");
        return Ok(Err(report(session, code, message, stack, Vec::new())));
    };
    let bytes = reader.spent;
    let operand = first_in(&input).unwrap_or(ExprId(0));
    let mut session = session.borrow_mut();
    let source = session.place_of(stack);
    let made = session.secret(from, source, input, bytes);
    added(ctx, made, operand).map(Ok)
}

/// Refuses a map with a secret that is larger than a property may be.
fn fitting(session: &SharedSession, map: Map, stack: &str) -> Result<Map, String> {
    map.values().try_for_each(|value| check_size(session, value, stack))?;
    Ok(map)
}

/// Returns the settings of the provider resource at a node; `None` for a negative number, the default provider.
fn settings_of(session: &SharedSession, node: i32, stack: &str) -> Result<Option<LookUpProvider>, String> {
    let Ok(index) = usize::try_from(node) else { return Ok(None) };
    let declared = session.borrow().drafts.get(index).map(|draft| {
        let known = |(name, input): (&Text, &Input)| Some((name.clone(), input.as_known()?.clone()));
        let settings: Option<Map> = draft.inputs.iter().map(known).collect();
        (draft.token.clone(), settings)
    });
    match declared {
        Some((Some(token), Some(settings))) if token.as_str().ends_with(".Provider") => {
            let place = format!("{token} {index}");
            Ok(Some(LookUpProvider { place, settings }))
        }
        Some((Some(token), None)) if token.as_str().ends_with(".Provider") => {
            let message =
                "the provider of a look-up has a setting that is not known while planning".to_owned();
            let help = "give it known settings, or read the resource with another provider";
            Err(report(session, Code::LOOK_UP, message, stack, vec![help.into()]))
        }
        _ => {
            let message = "the `provider` of a look-up must be a resource of a type `….Provider`".to_owned();
            Err(report(session, Code::LOOK_UP, message, stack, Vec::new()))
        }
    }
}

/// Returns the properties of an existing resource; those that its schema calls secret are secrets.
fn look_up(
    session: &SharedSession,
    token: &TypeToken,
    id: &str,
    provider: Option<LookUpProvider>,
    stack: &str,
) -> Result<Map, String> {
    let requester = session.borrow().requester.clone();
    match requester.look_up(token, id, provider) {
        Ok(Some(properties)) => {
            let schema = session.borrow_mut().schema(token);
            Ok(schema.map_or_else(|| properties.clone(), |schema| schema.conceal(properties.clone())))
        }
        Ok(None) => {
            let message = format!("there is no {token} with the id `{id}`");
            let help = "`get` reads an existing resource that this program does not declare; to create one, use `new`";
            Err(report(session, Code::LOOK_UP, message, stack, vec![help.into()]))
        }
        Err(why) => {
            let message = format!("the {token} with the id `{id}` cannot be read: {why}");
            Err(report(session, Code::LOOK_UP, message, stack, Vec::new()))
        }
    }
}

fn stack_ref(
    session: &SharedSession,
    project: String,
    env: Option<String>,
    namespace: Option<String>,
    target: Option<String>,
) -> StackRef {
    let settings = &session.borrow().settings;
    // The current namespace does not apply to another environment.
    let inherited = || settings.environment.namespace.clone().filter(|_| env.is_none());
    let namespace = namespace.or_else(inherited);
    let name = env.clone().unwrap_or_else(|| settings.environment.name.clone());
    let target = target.unwrap_or_else(|| settings.target.clone());
    StackRef { project, environment: Environment { name, namespace }, target }
}

fn outputs(session: &SharedSession, named: &StackRef, stack: &str) -> Result<Map, String> {
    let requester = session.borrow().requester.clone();
    match requester.outputs(named) {
        Ok(Some(outputs)) => Ok(outputs),
        Ok(None) => {
            let message = format!("there is no stack of project {named}");
            let stacks = Hint::text("apply that project first; to see the existing stacks: ");
            let help = vec![
                stacks.then(NextStep::ListStacks),
                "both projects must use the same state: compare `[state] path` in their stead.toml files"
                    .into(),
            ];
            Err(report(session, Code::LOOK_UP, message, stack, help))
        }
        Err(why) => {
            let message = format!("the outputs of project {named} cannot be read: {why}");
            Err(report(session, Code::LOOK_UP, message, stack, Vec::new()))
        }
    }
}

fn report(session: &SharedSession, code: Code, message: String, stack: &str, help: Vec<Hint>) -> String {
    record(session, |session| {
        let problem = session.label_stack(Diagnostic::error(code, message), stack);
        help.into_iter().fold(problem, Diagnostic::help)
    })
}
