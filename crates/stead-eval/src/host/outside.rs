//! Host functions for what comes from outside: secrets, things that exist already, outputs of other stacks.
//!
//! Each returns an object with what was found, or with a `problem`, which is reported already.

use std::collections::BTreeSet;

use rquickjs::{Ctx, Object, Value};
use stead_model::{Code, Diagnostic, Environment, Expr, ExprId, Input, Map, SourceRef, TypeToken};

use super::refusals::record;
use super::{Host, Kept, Shared};
use crate::StackRef;
use crate::walk::{Walker, define, to_js};

impl<'js> Host<'js> {
    pub(super) fn outside(&self) -> rquickjs::Result<()> {
        let (session, kept) = (self.session.clone(), self.kept.clone());
        self.function("secret", move |ctx: Ctx<'js>, value: Value<'js>, from: String, stack: String| {
            let made = secret(&ctx, &session, &kept, &value, from, &stack)?;
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

fn answer<'js, T>(
    ctx: &Ctx<'js>,
    found: Result<T, String>,
    fill: impl FnOnce(&Object<'js>, T) -> rquickjs::Result<()>,
) -> rquickjs::Result<Object<'js>> {
    let out = Object::new(ctx.clone())?;
    out.set_prototype(None)?;
    match found {
        Ok(found) => fill(&out, found)?,
        Err(problem) => define(&out, "problem", problem)?,
    }
    Ok(out)
}

/// Values as the program sees them, without a prototype: a name that is not there reads as undefined.
fn object<'js>(ctx: &Ctx<'js>, map: &Map) -> rquickjs::Result<Object<'js>> {
    let out = Object::new(ctx.clone())?;
    out.set_prototype(None)?;
    for (key, value) in map {
        define(&out, key.as_str(), to_js(ctx, value)?)?;
    }
    Ok(out)
}

/// The value itself is dropped here: of a secret the graph holds only what it waits for.
fn secret<'js>(
    ctx: &Ctx<'js>,
    session: &Shared,
    kept: &Kept,
    value: &Value<'js>,
    from: String,
    stack: &str,
) -> rquickjs::Result<Result<ExprId, String>> {
    let world = kept.world(ctx)?;
    let mut walker = Walker::new(&world, session.borrow().limits.property_bytes, None);
    let Some(input) = walker.input(value)? else {
        let why = walker.problems.first().map(|problem| problem.message.clone()).unwrap_or_default();
        return Ok(Err(report(session, Code::NOT_DATA, format!("a secret must be data: {why}"), stack, &[])));
    };
    let mut needs = BTreeSet::new();
    expressions(&input, &mut needs);
    let mut session = session.borrow_mut();
    let start = SourceRef { file: session.setting.entry.clone(), line: 1, column: 1 };
    let source = session.stack_place(stack).map_or(start, |place| place.at);
    let bytes = from.len() + needs.len() * size_of::<ExprId>();
    let expr = Expr::Secret { from, source, needs: needs.into_iter().collect() };
    Ok(session.expression(expr, bytes).ok_or_else(|| "out of memory".to_owned()))
}

fn expressions(input: &Input, found: &mut BTreeSet<ExprId>) {
    match input {
        Input::Known(_) => {}
        Input::Deferred(id) => drop(found.insert(*id)),
        Input::List(items) => items.iter().for_each(|item| expressions(item, found)),
        Input::Map(map) => map.values().for_each(|item| expressions(item, found)),
    }
}

fn look_up(session: &Shared, token: TypeToken, id: &str, stack: &str) -> Result<Map, String> {
    let port = session.borrow().port.clone();
    match port.look_up(&token, id) {
        Ok(Some(properties)) => Ok(properties),
        Ok(None) => {
            let message = format!("there is no {token} with the id `{id}`");
            let help =
                "look-ups are for what exists already and is not declared here; to make one, use `new`";
            Err(report(session, Code::LOOK_UP, message, stack, &[help]))
        }
        Err(why) => {
            let message = format!("the {token} with the id `{id}` cannot be read: {why}");
            Err(report(session, Code::LOOK_UP, message, stack, &[]))
        }
    }
}

fn stack_ref(
    session: &Shared,
    project: String,
    env: Option<String>,
    namespace: Option<String>,
    target: Option<String>,
) -> StackRef {
    let setting = &session.borrow().setting;
    // Another environment has namespaces of its own.
    let inherited = || setting.environment.namespace.clone().filter(|_| env.is_none());
    let namespace = namespace.or_else(inherited);
    let name = env.clone().unwrap_or_else(|| setting.environment.name.clone());
    let target = target.unwrap_or_else(|| setting.target.clone());
    StackRef { project, environment: Environment { name, namespace }, target }
}

fn outputs(session: &Shared, named: &StackRef, stack: &str) -> Result<Map, String> {
    let port = session.borrow().port.clone();
    match port.outputs(named) {
        Ok(Some(outputs)) => Ok(outputs),
        Ok(None) => {
            let message = format!("there is no stack of {named}");
            let help = [
                "apply that project first, with the same state: `stead stack ls` lists the stacks there are",
                "its state must be in the same place: `[state] path` in both stead.toml files",
            ];
            Err(report(session, Code::LOOK_UP, message, stack, &help))
        }
        Err(why) => {
            let message = format!("the outputs of {named} cannot be read: {why}");
            Err(report(session, Code::LOOK_UP, message, stack, &[]))
        }
    }
}

fn report(session: &Shared, code: Code, message: String, stack: &str, help: &[&str]) -> String {
    record(session, |session| {
        let place = session.stack_place(stack);
        let problem = Diagnostic::error(code, message);
        let problem =
            place.into_iter().fold(problem, |problem, place| problem.at(place.at, place.length, "here"));
        help.iter().fold(problem, |problem, help| problem.help(*help))
    })
}
