//! Evaluates deferred built-ins on plain values with the semantics of JavaScript, without a program.
//!
//! A thread with its own small engine starts with the first call and ends when the handle is dropped.
//!
//! **Invariant:** only built-ins that [`builtins`] lists are run.

use std::cell::Cell;
use std::rc::Rc;
use std::sync::OnceLock;
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};

use rquickjs::{
    Array, CatchResultExt, Context, Ctx, Function, Persistent, Runtime, Value, context::intrinsic,
};
use stead_model::{Argument, Builtin, Computed, EvalError, FunctionRef, Functions, Limits};

use crate::host::math;
use crate::library;
use crate::unknown::builtins::{self, MethodKind};
use crate::unknown::computed::{from_js, to_js};

const SCRIPT_STACK: usize = 1 << 20;
const THREAD_STACK: usize = 8 << 20;

type Features =
    (intrinsic::Eval, intrinsic::RegExpCompiler, intrinsic::RegExp, intrinsic::Json, intrinsic::MapSet);

struct Call {
    builtin: Builtin,
    arguments: Vec<Argument>,
    reply: SyncSender<Result<Computed, EvalError>>,
}

/// Handle to the interpreter's thread.
pub(crate) struct Interpreter {
    limits: Limits,
    /// `None` if the thread could not be started.
    calls: OnceLock<Option<Sender<Call>>>,
}

impl Interpreter {
    pub(crate) fn new(limits: Limits) -> Interpreter {
        Interpreter { limits, calls: OnceLock::new() }
    }

    fn start(&self) -> Option<Sender<Call>> {
        let (sender, calls) = channel();
        let limits = self.limits;
        let thread = std::thread::Builder::new().name("stead-builtins".to_owned()).stack_size(THREAD_STACK);
        thread.spawn(move || serve(&limits, calls)).ok().map(|_| sender)
    }
}

impl Functions for Interpreter {
    fn builtin(&self, builtin: &Builtin, arguments: &[Argument]) -> Result<Computed, EvalError> {
        if let Some(result) = library_call(builtin, arguments) {
            return result;
        }
        check(builtin, arguments)?;
        let calls = self.calls.get_or_init(|| self.start()).as_ref().ok_or(EvalError::NoInterpreter)?;
        let (reply, answer) = sync_channel(1);
        let call = Call { builtin: builtin.clone(), arguments: arguments.to_vec(), reply };
        calls.send(call).map_err(|_| EvalError::NoInterpreter)?;
        answer.recv().map_err(|_| EvalError::NoInterpreter)?
    }

    fn apply(&self, _: &FunctionRef, _: &[Computed]) -> Result<Computed, EvalError> {
        Err(threw("the function belongs to a program that is not loaded".to_owned()))
    }

    fn ephemeral(&self, function: &FunctionRef) -> Result<Computed, EvalError> {
        self.apply(function, &[])
    }
}

/// Calls a function of the library, which needs no interpreter; `None` for other built-ins.
fn library_call(builtin: &Builtin, arguments: &[Argument]) -> Option<Result<Computed, EvalError>> {
    let Builtin::Global(name) = builtin else { return None };
    let name = name.strip_prefix(library::PREFIX)?;
    let values = arguments.iter().map(|argument| match argument {
        Argument::Value(value) => value.as_data().cloned(),
        Argument::Regex { .. } => None,
    });
    let Some(values) = values.collect::<Option<Vec<_>>>() else {
        return Some(Err(threw(format!("{name}: an argument is undefined or not data"))));
    };
    let result = library::call(name, &values)?;
    Some(result.map(|tree| tree.into_value().into()).map_err(threw))
}

/// Returns an error if the built-in cannot be deferred: a saved plan may contain any name.
fn check(builtin: &Builtin, arguments: &[Argument]) -> Result<(), EvalError> {
    let (listed, name) = match builtin {
        Builtin::Method(name) => (builtins::method(name) == MethodKind::Pure && !arguments.is_empty(), name),
        Builtin::Operator(name) => {
            let unary = matches!(name.as_str(), "+" | "-" | "~" | "!");
            let binary = !matches!(name.as_str(), "~" | "!");
            let fits = (arguments.len() == 1 && unary) || (arguments.len() == 2 && binary);
            (builtins::is_operator(name) && fits, name)
        }
        Builtin::Global(name) => (builtins::is_global(name), name),
    };
    if listed { Ok(()) } else { Err(threw(format!("`{name}` cannot be deferred until after apply"))) }
}

fn serve(limits: &Limits, calls: Receiver<Call>) {
    let interrupts = Rc::new(Cell::new(0));
    let started = start(limits, &interrupts);
    for Call { builtin, arguments, reply } in calls {
        let result = match &started {
            Ok((_, context, evaluate)) => {
                interrupts.set(0);
                context.with(|ctx| run(&ctx, evaluate, &builtin, &arguments))
            }
            Err(error) => Err(threw(format!("the interpreter cannot start: {error}"))),
        };
        drop(reply.send(result));
    }
    if let Ok((_, context, evaluate)) = started {
        // Drop the function before the engine that created it.
        context.with(|_| drop(evaluate));
    }
}

type Started = (Runtime, Context, Persistent<Function<'static>>);

fn start(limits: &Limits, interrupts: &Rc<Cell<u64>>) -> rquickjs::Result<Started> {
    let runtime = Runtime::new()?;
    runtime.set_max_stack_size(SCRIPT_STACK);
    runtime.set_memory_limit(limits.evaluation_heap);
    let (count, most) = (interrupts.clone(), limits.evaluation_interrupts);
    runtime.set_interrupt_handler(Some(Box::new(move || {
        count.set(count.get() + 1);
        count.get() > most
    })));
    let context = Context::custom::<Features>(&runtime)?;
    let evaluate = context.with(|ctx| {
        math::install(&ctx)?;
        let evaluate: Function<'_> = ctx.eval(include_str!("../prelude/interpreter.js"))?;
        rquickjs::Result::Ok(Persistent::save(&ctx, evaluate))
    })?;
    Ok((runtime, context, evaluate))
}

fn run(
    ctx: &Ctx<'_>,
    evaluate: &Persistent<Function<'static>>,
    builtin: &Builtin,
    arguments: &[Argument],
) -> Result<Computed, EvalError> {
    let (kind, name) = match builtin {
        Builtin::Method(name) => ("method", name),
        Builtin::Operator(name) => ("operator", name),
        Builtin::Global(name) => ("global", name),
    };
    let result = evaluate.clone().restore(ctx).and_then(|evaluate| {
        let all = Array::new(ctx.clone())?;
        for (index, given) in arguments.iter().enumerate() {
            all.set(index, argument(ctx, given)?)?;
        }
        evaluate.call::<_, Value<'_>>((kind, name.as_str(), all))
    });
    match result.catch(ctx) {
        Ok(value) => from_js(&value).map_err(|problem| threw(format!("`{name}`: {problem}"))),
        Err(error) => Err(threw(match error {
            rquickjs::CaughtError::Exception(thrown) => thrown.message().unwrap_or_default(),
            other => other.to_string(),
        })),
    }
}

fn argument<'js>(ctx: &Ctx<'js>, argument: &Argument) -> rquickjs::Result<Value<'js>> {
    match argument {
        Argument::Value(value) => to_js(ctx, value),
        Argument::Regex { source, flags } => {
            let constructor: rquickjs::function::Constructor<'js> = ctx.globals().get("RegExp")?;
            constructor.construct((source.as_str(), flags.as_str()))
        }
    }
}

fn threw(message: String) -> EvalError {
    EvalError::Threw { message, place: None }
}
