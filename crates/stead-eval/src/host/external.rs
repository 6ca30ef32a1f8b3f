//! Host functions for external values: secrets, existing resources, outputs of other stacks.
//!
//! Each returns an object with the result, or with a `problem` that is already reported.

use std::collections::BTreeSet;

use rquickjs::{Ctx, Object, Value};
use stead_model::{
    Code, Diagnostic, Environment, Expr, ExprId, Hint, Input, Map, NextStep, SecretInput, SourceRef,
    TypeToken,
};

use super::errors::record;
use super::{Handles, Host, SharedSession, answer};
use crate::StackRef;
use crate::declare::input_reader::InputReader;
use crate::engine::values::{define, to_js};

impl<'js> Host<'js> {
    pub(super) fn external(&self) -> rquickjs::Result<()> {
        let (session, handles) = (self.session.clone(), self.handles.clone());
        self.function("secret", move |ctx: Ctx<'js>, value: Value<'js>, from: String, stack: String| {
            let made = secret(&ctx, &session, &handles, &value, from, &stack)?;
            answer(&ctx, made, |out, id| define(out, "expression", id.0))
        })?;
        let session = self.session.clone();
        self.function("lookUp", move |ctx: Ctx<'js>, token: String, id: String, stack: String| {
            let found = look_up(&session, TypeToken(token), &id, &stack);
            answer(&ctx, found, |out, map| define(out, "properties", object(&ctx, &map)?))
        })?;
        let session = self.session.clone();
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
                answer(&ctx, found, |out, map| define(out, "outputs", object(&ctx, &map)?))
            },
        )
    }
}

/// Returns a JavaScript object without prototype, so that a missing name reads as undefined.
fn object<'js>(ctx: &Ctx<'js>, map: &Map) -> rquickjs::Result<Object<'js>> {
    let out = Object::new(ctx.clone())?;
    out.set_prototype(None)?;
    for (key, value) in map {
        define(&out, key.as_str(), to_js(ctx, value)?)?;
    }
    Ok(out)
}

/// Adds an expression for a secret. The graph holds the expressions that the secret depends on, never its value.
fn secret<'js>(
    ctx: &Ctx<'js>,
    session: &SharedSession,
    handles: &Handles,
    value: &Value<'js>,
    from: String,
    stack: &str,
) -> rquickjs::Result<Result<ExprId, String>> {
    let intrinsics = handles.intrinsics(ctx)?;
    let mut reader = InputReader::new(&intrinsics, session.borrow().limits.property_bytes, None);
    let Some(input) = reader.input(value)? else {
        let why = reader.problems.first().map(|problem| problem.message.clone()).unwrap_or_default();
        return Ok(Err(report(
            session,
            Code::NOT_DATA,
            format!("a secret must be data: {why}"),
            stack,
            Vec::new(),
        )));
    };
    let mut needs = BTreeSet::new();
    expressions(&input, &mut needs);
    let mut session = session.borrow_mut();
    let start = SourceRef { file: session.settings.entry.clone(), line: 1, column: 1 };
    let source = session.locate_stack(stack).map_or(start, |place| place.at);
    let bytes = from.len() + needs.len() * size_of::<ExprId>();
    let value = SecretInput::new(input);
    let expr = Expr::Secret { from, source, needs: needs.into_iter().collect(), value };
    Ok(session.expression(expr, bytes).map_err(|_| "out of memory".to_owned()))
}

fn expressions(input: &Input, found: &mut BTreeSet<ExprId>) {
    match input {
        Input::Known(_) => {}
        Input::Deferred(id) => drop(found.insert(*id)),
        Input::List(items) => items.iter().for_each(|item| expressions(item, found)),
        Input::Map(map) => map.values().for_each(|item| expressions(item, found)),
    }
}

fn look_up(session: &SharedSession, token: TypeToken, id: &str, stack: &str) -> Result<Map, String> {
    let requester = session.borrow().requester.clone();
    match requester.look_up(&token, id) {
        Ok(Some(properties)) => Ok(properties),
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
