//! Host functions that defer built-ins, functions of the program and choices until after apply.

use rquickjs::{Array, Ctx, Function, Persistent, Value};
use stead_model::{Builtin, Code, Diagnostic, Expr, ExprId, FunctionRef, Input, Operand};

use super::errors::record;
use super::expressions::{added, constant};
use super::{Handles, Host, SharedSession};
use crate::declare::input_reader::{InputReader, NotData};
use crate::declare::outputs;
use crate::engine::values::to_js;
use crate::unknown::builtins::{self, MethodKind};

/// Number of a new expression, or a message why the operation cannot be deferred.
type Deferred<'js> = rquickjs::Result<Value<'js>>;

impl<'js> Host<'js> {
    pub(super) fn deferred(&self) -> rquickjs::Result<()> {
        self.object.set("methods", builtins::METHODS)?;
        self.object.set("globals", builtins::DEFERRABLE_GLOBALS)?;
        self.function("methodKind", |name: String| match builtins::method(&name) {
            MethodKind::Pure => "pure",
            MethodKind::Changes => "changes",
            MethodKind::Iterates => "iterates",
            MethodKind::CallsBack => "callback",
            MethodKind::Other => "other",
        })?;
        let (session, handles) = (self.session.clone(), self.handles.clone());
        self.function(
            "builtin",
            move |ctx: Ctx<'js>, kind: u8, name: String, operands: Array<'js>, patterns: Array<'js>| {
                let builtin = match kind {
                    0 => Builtin::Method(name),
                    1 => Builtin::Operator(name),
                    _ => Builtin::Global(name),
                };
                built_in(&ctx, &session, &handles, builtin, &operands, &patterns)
            },
        )?;
        let (session, handles) = (self.session.clone(), self.handles.clone());
        self.function("choose", move |ctx: Ctx<'js>, condition: u32, arms: Array<'js>| {
            choose(&ctx, &session, &handles, condition, &arms)
        })?;
        let (session, handles) = (self.session.clone(), self.handles.clone());
        self.function("orDefault", move |ctx: Ctx<'js>, of: u32, otherwise: Value<'js>| {
            or_default(&ctx, &session, &handles, of, &otherwise)
        })?;
        self.deferred_functions()
    }

    fn deferred_functions(&self) -> rquickjs::Result<()> {
        let handles = self.handles.clone();
        self.function("runDeferred", move |ctx: Ctx<'js>, function: Function<'js>| {
            handles.run_deferred.replace(Some(Persistent::save(&ctx, function)));
        })?;
        let handles = self.handles.clone();
        self.function("checkDeferred", move |ctx: Ctx<'js>, function: Function<'js>| {
            handles.check_deferred.replace(Some(Persistent::save(&ctx, function)));
        })?;
        let (session, handles) = (self.session.clone(), self.handles.clone());
        self.function("apply", move |ctx: Ctx<'js>, ordinal: u32, arguments: Array<'js>, stack: String| {
            apply(&ctx, &session, &handles, ordinal, &arguments, &stack)
        })?;
        let session = self.session.clone();
        self.function("ephemeral", move |ctx: Ctx<'js>, ordinal: u32, stack: String| {
            let function = {
                let mut session = session.borrow_mut();
                session.deferred_functions = ordinal + 1;
                session.ephemeral_functions.insert(ordinal);
                FunctionRef { ordinal, source: session.place_of(&stack) }
            };
            add(&ctx, &session, Expr::Ephemeral { function }, 0, None)
        })?;
        let (session, handles) = (self.session.clone(), self.handles.clone());
        self.function("checkResult", move |ctx: Ctx<'js>, result: Value<'js>, stack: String| {
            let problem = result_error(&ctx, &session, &handles, &result, Giver::Apply)?;
            problem.map_or(Ok(Value::new_undefined(ctx.clone())), |(message, help)| {
                text(&ctx, &report(&session, message, help, &stack))
            })
        })?;
        let session = self.session.clone();
        self.function("refuseInside", move |what: String, site: i32, stack: String| {
            record(&session, |session| {
                let (message, help) = inside_words(&what);
                let code = if what == "decide" { Code::UNKNOWN_BRANCH } else { Code::UNKNOWN_OPERATION };
                let problem = Diagnostic::error(code, message).help(help);
                match usize::try_from(site) {
                    Ok(site) => {
                        let place = session.locate_site(site);
                        problem.at(place.at, place.length, "here")
                    }
                    Err(_) => session.label_stack(problem, &stack),
                }
            })
        })
    }
}

/// Returns message and help for an action that a deferred function must not do.
fn inside_words(what: &str) -> (&'static str, &'static str) {
    match what {
        "allocate" => (
            "a function given to `stead.apply` or `stead.ephemeral` creates a resource",
            "every resource must be known before apply: create the resource outside the function, and let the \
             function compute one of its properties",
        ),
        "read" => (
            "a function given to `stead.apply` or `stead.ephemeral` reads a property that is known only after apply",
            "pass it to the function as an argument: `stead.all([a, b], (a, b) => …)`",
        ),
        "file" => (
            "a function given to `stead.apply` or `stead.ephemeral` reads a file",
            "read the file outside the function, and use its contents inside",
        ),
        "clock" => (
            "a function given to `stead.apply` or `stead.ephemeral` reads the clock",
            "a program must give the same result on every run; take the time from `config`",
        ),
        "random" => (
            "a function given to `stead.apply` or `stead.ephemeral` uses randomness",
            "use `new local.RandomString(…)`, which keeps its value, or a value of `config`",
        ),
        "look" => (
            "a function given to `stead.apply` or `stead.ephemeral` performs a look-up",
            "do the look-up outside the function, and use its result inside",
        ),
        "pin" => (
            "a resource is pinned in a function or expression that is evaluated only after apply",
            "pins must be known while planning: set `pinned` outside of it",
        ),
        "move" => (
            "`move` is called in a function or expression that is evaluated only after apply",
            "moves must be known while planning: call `move` outside of it",
        ),
        _ => (
            "a resource is created in an expression that is evaluated only after apply",
            "whether a resource exists must be known while planning: decide on `config`, `env`, or a \
             property that the program sets",
        ),
    }
}

fn text<'js>(ctx: &Ctx<'js>, text: &str) -> rquickjs::Result<Value<'js>> {
    rquickjs::String::from_str(ctx.clone(), text).map(rquickjs::String::into_value)
}

/// Adds an expression and returns its number. `operand` is one of its operands.
fn add<'js>(
    ctx: &Ctx<'js>,
    session: &SharedSession,
    expr: Expr,
    bytes: usize,
    operand: Option<ExprId>,
) -> Deferred<'js> {
    let made = session.borrow_mut().expression(expr, bytes);
    added(ctx, made, operand.unwrap_or(ExprId(0))).map(|id| Value::new_int(ctx.clone(), id))
}

/// Reads an operand: data, an unknown, or a value that only the language has.
fn operand<'js>(
    ctx: &Ctx<'js>,
    session: &SharedSession,
    reader: &mut InputReader<'js, '_>,
    value: &Value<'js>,
) -> rquickjs::Result<Option<Input>> {
    let Some(constant) = constant(value) else { return reader.input(value) };
    let made = session.borrow_mut().constant(constant);
    let made = made.map_err(|_| rquickjs::Exception::throw_internal(ctx, "out of memory"))?;
    Ok(Some(Input::Deferred(made)))
}

/// Returns the first expression in an input.
pub(super) fn first_in(input: &Input) -> Option<ExprId> {
    match input {
        Input::Known(_) => None,
        Input::Deferred(id) => Some(*id),
        Input::List(items) => items.iter().find_map(first_in),
        Input::Map(map) => map.values().find_map(first_in),
    }
}

fn built_in<'js>(
    ctx: &Ctx<'js>,
    session: &SharedSession,
    handles: &Handles,
    builtin: Builtin,
    operands: &Array<'js>,
    patterns: &Array<'js>,
) -> Deferred<'js> {
    let intrinsics = handles.intrinsics(ctx)?;
    let mut reader = InputReader::new(&intrinsics, session.borrow().limits.property_bytes, None);
    let mut all = Vec::with_capacity(operands.len());
    let compares = |name: &str| matches!(name, "==" | "!=" | "===" | "!==");
    let takes_undefined = match &builtin {
        Builtin::Method(_) => true,
        Builtin::Operator(name) => compares(name),
        Builtin::Global(_) => false,
    };
    for index in 0..operands.len() {
        let pattern: Option<Vec<String>> = patterns.get(index)?;
        all.push(match pattern.as_deref() {
            Some([source, flags]) => Operand::Regex { source: source.clone(), flags: flags.clone() },
            _ if !takes_undefined && operands.get::<Value<'js>>(index)?.is_undefined() => {
                return text(ctx, "undefined");
            }
            _ => match operand(ctx, session, &mut reader, &operands.get::<Value<'js>>(index)?)? {
                Some(input) => Operand::Input(input),
                None => return text(ctx, &reason(&reader.problems)),
            },
        });
    }
    let bytes = reader.spent + all.len() * size_of::<Operand>();
    let first = all.iter().find_map(|operand| match operand {
        Operand::Input(input) => first_in(input),
        Operand::Regex { .. } => None,
    });
    add(ctx, session, Expr::Builtin { builtin, operands: all }, bytes, first)
}

fn reason(problems: &[NotData]) -> String {
    problems.first().map_or_else(|| "a value that is not data".to_owned(), |problem| problem.message.clone())
}

/// Adds a choice between two values: `arms` holds the value for a true condition and the one for a false condition.
fn choose<'js>(
    ctx: &Ctx<'js>,
    session: &SharedSession,
    handles: &Handles,
    condition: u32,
    arms: &Array<'js>,
) -> Deferred<'js> {
    let intrinsics = handles.intrinsics(ctx)?;
    let mut reader = InputReader::new(&intrinsics, session.borrow().limits.property_bytes, None);
    let mut inputs = Vec::with_capacity(2);
    for index in 0..2 {
        let arm: Value<'js> = arms.get(index)?;
        match operand(ctx, session, &mut reader, &arm)? {
            Some(input) => inputs.push(Box::new(input)),
            None => return text(ctx, &reason(&reader.problems)),
        }
    }
    let bytes = reader.spent + 3 * size_of::<Input>();
    let (Some(otherwise), Some(then)) = (inputs.pop(), inputs.pop()) else { return text(ctx, "") };
    let condition = Box::new(Input::Deferred(ExprId(condition)));
    let expr = Expr::Choose { condition, then, otherwise };
    add(ctx, session, expr, bytes, None)
}

/// Adds the default of a value that may be `undefined`.
fn or_default<'js>(
    ctx: &Ctx<'js>,
    session: &SharedSession,
    handles: &Handles,
    of: u32,
    otherwise: &Value<'js>,
) -> Deferred<'js> {
    let intrinsics = handles.intrinsics(ctx)?;
    let mut reader = InputReader::new(&intrinsics, session.borrow().limits.property_bytes, None);
    let Some(otherwise) = operand(ctx, session, &mut reader, otherwise)? else {
        return text(ctx, &reason(&reader.problems));
    };
    let bytes = reader.spent + size_of::<Input>();
    let of = ExprId(of);
    add(ctx, session, Expr::Default { of, otherwise: Box::new(otherwise) }, bytes, Some(of))
}

/// Returns the number of the expression, the arguments as plain values if all are known, or an error message.
fn apply<'js>(
    ctx: &Ctx<'js>,
    session: &SharedSession,
    handles: &Handles,
    ordinal: u32,
    arguments: &Array<'js>,
    stack: &str,
) -> Deferred<'js> {
    let intrinsics = handles.intrinsics(ctx)?;
    let expand = |node: i32| outputs::properties(session, node);
    let mut reader = InputReader::new(&intrinsics, session.borrow().limits.property_bytes, Some(&expand));
    let mut inputs = Vec::with_capacity(arguments.len());
    for argument in arguments.iter::<Value<'js>>() {
        match reader.input(&argument?)? {
            Some(input) => inputs.push(input),
            None => {
                let message =
                    format!("an argument of `stead.apply` is not data: {}", reason(&reader.problems));
                let help = reader.problems.first().and_then(|problem| problem.help);
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
    let source = {
        let mut session = session.borrow_mut();
        session.deferred_functions = ordinal + 1;
        session.place_of(stack)
    };
    let expr = Expr::Apply { function: FunctionRef { ordinal, source }, arguments: inputs };
    add(ctx, session, expr, reader.spent, None)
}

/// Function of module `stead` that a program gives a function to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Giver {
    Apply,
    Ephemeral,
}

impl Giver {
    /// Returns the words for the function of the program.
    pub(crate) fn function(self) -> &'static str {
        match self {
            Giver::Apply => "the function given to `stead.apply`",
            Giver::Ephemeral => "the function given to `stead.ephemeral`",
        }
    }
}

/// Returns message and help if a value cannot be the result of a deferred function.
pub(crate) fn result_error<'js>(
    ctx: &Ctx<'js>,
    session: &SharedSession,
    handles: &Handles,
    result: &Value<'js>,
    giver: Giver,
) -> rquickjs::Result<Option<(String, &'static str)>> {
    if result.is_undefined() {
        return Ok(None);
    }
    let function = giver.function();
    if result.is_promise() {
        let message = format!("{function} returns a promise");
        return Ok(Some((message, "return the value itself; the function cannot be asynchronous")));
    }
    let intrinsics = handles.intrinsics(ctx)?;
    let mut reader = InputReader::new(&intrinsics, session.borrow().limits.property_bytes, None);
    Ok(match reader.input(result)? {
        Some(Input::Known(_)) => None,
        Some(_) => Some((
            format!("{function} returns a value that is known only after apply"),
            "pass it to the function as an argument: `stead.all([a, b], (a, b) => …)`",
        )),
        None => Some((
            format!("{function} must return data: {}", reason(&reader.problems)),
            "return a string, a number, a boolean, a list or a plain object",
        )),
    })
}

fn report(session: &SharedSession, message: String, help: &str, stack: &str) -> String {
    record(session, |session| {
        let problem = Diagnostic::error(Code::UNKNOWN_OPERATION, message).help(help);
        session.label_stack(problem, stack)
    })
}
