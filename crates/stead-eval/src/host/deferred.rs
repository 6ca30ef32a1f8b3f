//! Host functions for what is put off until after apply: built-ins, functions of the program, choices.

use rquickjs::{Array, Ctx, Function, Persistent, Value};
use stead_model::{Builtin, Code, Diagnostic, Expr, ExprId, FunctionRef, Input, Operand, SourceRef};

use super::refusals::record;
use super::{Host, Kept, Shared};
use crate::builtins::{self, MethodKind};
use crate::outputs;
use crate::walk::{NotData, Walker, to_js};

/// Adds an expression: its number, or why it cannot be put off.
type Deferred<'js> = rquickjs::Result<Value<'js>>;

impl<'js> Host<'js> {
    pub(super) fn deferred(&self) -> rquickjs::Result<()> {
        self.object.set("methods", builtins::METHODS)?;
        self.object.set("globals", builtins::CARRIED_GLOBALS)?;
        self.function("methodKind", |name: String| match builtins::method(&name) {
            MethodKind::Pure => "pure",
            MethodKind::Changes => "changes",
            MethodKind::Iterates => "iterates",
            MethodKind::CallsBack => "callback",
            MethodKind::Other => "other",
        })?;
        let (session, kept) = (self.session.clone(), self.kept.clone());
        self.function(
            "builtin",
            move |ctx: Ctx<'js>, kind: u8, name: String, operands: Array<'js>, patterns: Array<'js>| {
                let builtin = match kind {
                    0 => Builtin::Method(name),
                    1 => Builtin::Operator(name),
                    _ => Builtin::Global(name),
                };
                built_in(&ctx, &session, &kept, builtin, &operands, &patterns)
            },
        )?;
        let (session, kept) = (self.session.clone(), self.kept.clone());
        self.function("choose", move |ctx: Ctx<'js>, condition: u32, arms: Array<'js>| {
            choose(&ctx, &session, &kept, condition, &arms)
        })?;
        self.applied()
    }

    fn applied(&self) -> rquickjs::Result<()> {
        let kept = self.kept.clone();
        self.function("runApplied", move |ctx: Ctx<'js>, function: Function<'js>| {
            kept.run_applied.replace(Some(Persistent::save(&ctx, function)));
        })?;
        let (session, kept) = (self.session.clone(), self.kept.clone());
        self.function("apply", move |ctx: Ctx<'js>, ordinal: u32, arguments: Array<'js>, stack: String| {
            apply(&ctx, &session, &kept, ordinal, &arguments, &stack)
        })?;
        let (session, kept) = (self.session.clone(), self.kept.clone());
        self.function("checkResult", move |ctx: Ctx<'js>, result: Value<'js>, stack: String| {
            let problem = result_problem(&ctx, &session, &kept, &result)?;
            problem.map_or(Ok(Value::new_undefined(ctx.clone())), |(message, help)| {
                text(&ctx, &report(&session, message, help, &stack))
            })
        })?;
        let session = self.session.clone();
        self.function("refuseInside", move |what: String, site: i32, stack: String| {
            record(&session, |session| {
                let place = match usize::try_from(site) {
                    Ok(site) => Some(session.site_place(site)),
                    Err(_) => session.stack_place(&stack),
                };
                let (message, help) = inside_words(&what);
                let code = if what == "decide" { Code::UNKNOWN_BRANCH } else { Code::UNKNOWN_OPERATION };
                let problem = Diagnostic::error(code, message).help(help);
                place.into_iter().fold(problem, |problem, place| problem.at(place.at, place.length, "here"))
            })
        })
    }
}

fn inside_words(what: &str) -> (&'static str, &'static str) {
    match what {
        "allocate" => (
            "a function given to `stead.apply` makes a resource",
            "the whole graph must be known before anything is applied: make the resource outside, and let the \
             function compute one of its properties",
        ),
        "read" => (
            "a function given to `stead.apply` reads a property that exists only after apply",
            "pass it to the function as an argument: `stead.all([a, b], (a, b) => …)`",
        ),
        "look" => (
            "a function given to `stead.apply` looks something up",
            "look it up outside, and use what was found inside",
        ),
        "pin" => (
            "a resource is pinned in a function or expression that is decided only after apply",
            "what is pinned must be known while planning: set `pinned` outside",
        ),
        _ => (
            "a resource is made in an expression that is decided only after apply",
            "whether a resource is made must be known while planning: decide on `config`, `env`, or a \
             property that you set",
        ),
    }
}

fn text<'js>(ctx: &Ctx<'js>, text: &str) -> rquickjs::Result<Value<'js>> {
    rquickjs::String::from_str(ctx.clone(), text).map(rquickjs::String::into_value)
}

fn number<'js>(ctx: &Ctx<'js>, id: Option<ExprId>) -> Deferred<'js> {
    id.map(|id| Value::new_int(ctx.clone(), id.0 as i32))
        .ok_or_else(|| rquickjs::Exception::throw_internal(ctx, "out of memory"))
}

fn built_in<'js>(
    ctx: &Ctx<'js>,
    session: &Shared,
    kept: &Kept,
    builtin: Builtin,
    operands: &Array<'js>,
    patterns: &Array<'js>,
) -> Deferred<'js> {
    let world = kept.world(ctx)?;
    let mut walker = Walker::new(&world, session.borrow().limits.property_bytes, None);
    let mut all = Vec::with_capacity(operands.len());
    for index in 0..operands.len() {
        let pattern: Option<Vec<String>> = patterns.get(index)?;
        all.push(match pattern.as_deref() {
            Some([source, flags]) => Operand::Regex { source: source.clone(), flags: flags.clone() },
            _ => match walker.input(&operands.get::<Value<'js>>(index)?)? {
                Some(input) => Operand::Input(input),
                None => return text(ctx, &reason(&walker.problems)),
            },
        });
    }
    let bytes = walker.spent + all.len() * size_of::<Operand>();
    let expr = Expr::Builtin { builtin, operands: all };
    let id = session.borrow_mut().expression(expr, bytes);
    number(ctx, id)
}

fn reason(problems: &[NotData]) -> String {
    problems
        .first()
        .map_or_else(|| "something that is not data".to_owned(), |problem| problem.message.clone())
}

/// `arms` are what it is if the condition is true, and what it is if not.
fn choose<'js>(
    ctx: &Ctx<'js>,
    session: &Shared,
    kept: &Kept,
    condition: u32,
    arms: &Array<'js>,
) -> Deferred<'js> {
    let world = kept.world(ctx)?;
    let mut walker = Walker::new(&world, session.borrow().limits.property_bytes, None);
    let mut inputs = Vec::with_capacity(2);
    for index in 0..2 {
        let arm: Value<'js> = arms.get(index)?;
        // A property that is not set and one that is null are the same to a provider.
        let arm = if arm.is_undefined() { Value::new_null(ctx.clone()) } else { arm };
        match walker.input(&arm)? {
            Some(input) => inputs.push(Box::new(input)),
            None => return text(ctx, &reason(&walker.problems)),
        }
    }
    let bytes = walker.spent + 3 * size_of::<Input>();
    let (Some(otherwise), Some(then)) = (inputs.pop(), inputs.pop()) else { return text(ctx, "") };
    let condition = Box::new(Input::Deferred(ExprId(condition)));
    let id = session.borrow_mut().expression(Expr::Choose { condition, then, otherwise }, bytes);
    number(ctx, id)
}

/// The number of the expression; or the arguments as plain values, if all are known; or a message.
fn apply<'js>(
    ctx: &Ctx<'js>,
    session: &Shared,
    kept: &Kept,
    ordinal: u32,
    arguments: &Array<'js>,
    stack: &str,
) -> Deferred<'js> {
    let world = kept.world(ctx)?;
    let expand = |node: i32| outputs::properties(session, node);
    let mut walker = Walker::new(&world, session.borrow().limits.property_bytes, Some(&expand));
    let mut inputs = Vec::with_capacity(arguments.len());
    for argument in arguments.iter::<Value<'js>>() {
        match walker.input(&argument?)? {
            Some(input) => inputs.push(input),
            None => {
                let message =
                    format!("an argument of `stead.apply` is not data: {}", reason(&walker.problems));
                let help = walker.problems.first().and_then(|problem| problem.help);
                let help = help.unwrap_or("pass plain values");
                return text(ctx, &report(session, message, help, stack));
            }
        }
    }
    if let Some(values) = inputs.iter().map(Input::as_known).collect::<Option<Vec<_>>>() {
        let copies = Array::new(ctx.clone())?;
        for (index, value) in values.into_iter().enumerate() {
            copies.set(index, to_js(ctx, value)?)?;
        }
        return Ok(copies.into_value());
    }
    let mut session = session.borrow_mut();
    let start = SourceRef { file: session.setting.entry.clone(), line: 1, column: 1 };
    let source = session.stack_place(stack).map_or(start, |place| place.at);
    session.applied = ordinal + 1;
    let expr = Expr::Apply { function: FunctionRef { ordinal, source }, arguments: inputs };
    let id = session.expression(expr, walker.spent);
    number(ctx, id)
}

/// Why a value cannot be the result of a function that was put off.
pub(crate) fn result_problem<'js>(
    ctx: &Ctx<'js>,
    session: &Shared,
    kept: &Kept,
    result: &Value<'js>,
) -> rquickjs::Result<Option<(String, &'static str)>> {
    if result.is_undefined() {
        return Ok(None);
    }
    if result.is_promise() {
        let message = "the function given to `stead.apply` returns a promise".to_owned();
        return Ok(Some((message, "return the value itself: the function cannot wait")));
    }
    let world = kept.world(ctx)?;
    let mut walker = Walker::new(&world, session.borrow().limits.property_bytes, None);
    Ok(match walker.input(result)? {
        Some(Input::Known(_)) => None,
        Some(_) => Some((
            "the function given to `stead.apply` returns a value that exists only after apply".to_owned(),
            "pass it to the function as an argument: `stead.all([a, b], (a, b) => …)`",
        )),
        None => Some((
            format!("the function given to `stead.apply` must return data: {}", reason(&walker.problems)),
            "return a string, a number, a boolean, a list or a plain object",
        )),
    })
}

fn report(session: &Shared, message: String, help: &str, stack: &str) -> String {
    record(session, |session| {
        let problem = Diagnostic::error(Code::UNKNOWN_OPERATION, message).help(help);
        match session.stack_place(stack) {
            Some(place) => problem.at(place.at, place.length, "here"),
            None => problem,
        }
    })
}
