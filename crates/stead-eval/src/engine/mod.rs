//! Runs a loaded program in the JavaScript engine: sets limits, runs the prelude, the program and its pending jobs.

pub(crate) mod code;
pub(crate) mod codec;
pub(crate) mod exceptions;
mod memory;
mod modules;
pub(crate) mod prelude;
pub(crate) mod session;
mod stopwatch;
pub(crate) mod values;

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::mpsc::Receiver;

use rquickjs::promise::PromiseState;
use rquickjs::{
    Context, Ctx, Error, Module, Object, Persistent, Promise, Runtime, Value, context::intrinsic,
};
use stead_model::{Code, Diagnostic, Graph};

use crate::compile::Format;
use crate::declare::{self, names, outputs};
use crate::host::{self, Handles, SharedSession};
use crate::testing::TestFileResult;
use crate::unknown::apply;
use crate::unknown::functions::ApplyCall;
use memory::LimitedAllocator;
use modules::{ImportResolver, ModuleLoader};
use stopwatch::Stopwatch;

/// Stack limit for calls of the program. rquickjs treats a larger number as "no limit".
///
/// The thread has a larger stack, because host functions run on it too.
const SCRIPT_STACK: usize = 16 << 20;
/// Heap size of the first garbage collection. Programs keep nearly all objects they create, so an earlier one frees little.
const FIRST_COLLECTION: usize = 32 << 20;
/// Pending jobs that count as one interrupt. A job costs far more than a step, and most jobs end before an interrupt.
const JOBS_PER_INTERRUPT: u64 = 40;
pub(crate) const THREAD_STACK: usize = 64 << 20;

type Features = (
    intrinsic::Date,
    intrinsic::Eval,
    intrinsic::RegExpCompiler,
    intrinsic::RegExp,
    intrinsic::Json,
    intrinsic::Proxy,
    intrinsic::MapSet,
    intrinsic::TypedArrays,
    intrinsic::Promise,
);

/// Promise that was rejected without a handler, with its reason.
type Rejection = (Persistent<Value<'static>>, Persistent<Value<'static>>);

/// Program whose top level has started: its exports, and the promise of its completion.
struct StartedProgram {
    exports: Persistent<Object<'static>>,
    done: Persistent<Promise<'static>>,
}

pub(crate) struct Engine {
    pub(crate) session: SharedSession,
    pub(crate) handles: Rc<Handles>,
    rejections: Rc<RefCell<Vec<Rejection>>>,
    pub(crate) interrupts: Rc<Cell<u64>>,
    /// The program exceeded its memory limit.
    pub(crate) out_of_memory: Rc<Cell<bool>>,
    stopwatch: Rc<Stopwatch>,
}

/// Callback that takes the graph, or `None` on failure, and returns the queue of calls to the program's functions.
pub(crate) type Deliver<'a> = &'a dyn Fn(Option<Graph>) -> Option<Receiver<ApplyCall>>;

/// Runs the program, delivers its graph unless an error was reported, and then answers calls until their queue closes.
pub(crate) fn run(session: &SharedSession, deliver: Deliver<'_>) {
    let engine = Engine::of(session);
    if let Err(error) = engine.start(deliver) {
        session.borrow_mut().report(engine_failure(error));
        deliver(None);
    }
}

/// Runs a test file: its top level, and then each of its tests.
pub(crate) fn run_tests(session: &SharedSession) -> TestFileResult {
    let engine = Engine::of(session);
    engine.start_tests().unwrap_or_else(|error| TestFileResult {
        problems: vec![engine_failure(error)],
        ..TestFileResult::default()
    })
}

fn engine_failure(error: Error) -> Diagnostic {
    Diagnostic::error(Code::EVALUATION_LIMIT, format!("the JavaScript engine failed: {error}"))
}

impl Engine {
    fn of(session: &SharedSession) -> Engine {
        let (clock, limit) = {
            let session = session.borrow();
            (session.settings.processor_clock, session.limits.evaluation_time)
        };
        Engine {
            session: session.clone(),
            handles: Rc::default(),
            rejections: Rc::default(),
            interrupts: Rc::default(),
            out_of_memory: Rc::default(),
            stopwatch: Rc::new(Stopwatch::start(clock, limit)),
        }
    }

    /// Returns the engine with its limits and the modules of a program.
    fn open(&self) -> rquickjs::Result<(Runtime, Context)> {
        let limits = self.session.borrow().limits;
        let runtime = Runtime::new_with_alloc(LimitedAllocator::new(
            limits.evaluation_heap,
            self.interrupts.clone(),
            self.out_of_memory.clone(),
            self.stopwatch.clone(),
        ))?;
        runtime.set_max_stack_size(SCRIPT_STACK);
        runtime.set_gc_threshold(FIRST_COLLECTION);
        let (interrupts, out_of_memory) = (self.interrupts.clone(), self.out_of_memory.clone());
        let (exhausted, stopwatch) = (self.session.borrow().exhausted.clone(), self.stopwatch.clone());
        runtime.set_interrupt_handler(Some(Box::new(move || {
            interrupts.set(interrupts.get() + 1);
            let stopped = exhausted.get() || out_of_memory.get();
            interrupts.get() > limits.evaluation_interrupts || stopped || stopwatch.look()
        })));
        let rejections = self.rejections.clone();
        runtime.set_host_promise_rejection_tracker(Some(Box::new(move |ctx, promise, reason, handled| {
            track(&rejections, &ctx, promise, reason, handled);
        })));
        runtime.set_loader(ImportResolver(self.session.clone()), ModuleLoader(self.session.clone()));
        let context = Context::custom::<Features>(&runtime)?;
        Ok((runtime, context))
    }

    fn start(&self, deliver: Deliver<'_>) -> rquickjs::Result<()> {
        let (runtime, context) = self.open()?;
        let program = context.with(|ctx| self.begin(&ctx));
        self.run_jobs(&runtime, &context);
        let graph = program.and_then(|program| context.with(|ctx| self.finish(&ctx, program)));
        let graph = graph.filter(|_| self.session.borrow().diagnostics.is_empty());
        for ApplyCall { function, arguments, reply } in deliver(graph).into_iter().flatten() {
            self.renew_limits();
            let result = context.with(|ctx| {
                apply::answer(&ctx, &self.session, &self.handles, &function, &arguments, &|| {
                    self.limit_state()
                })
            });
            drop(reply.send(result));
        }
        self.close(&runtime, &context);
        Ok(())
    }

    fn start_tests(&self) -> rquickjs::Result<TestFileResult> {
        let (runtime, context) = self.open()?;
        let file = context.with(|ctx| self.begin(&ctx));
        self.run_jobs(&runtime, &context);
        context.with(|ctx| {
            let done = file.and_then(|file| self.caught(&ctx, file.done.restore(&ctx)));
            done.into_iter().for_each(|done| self.settle(&ctx, &done));
            self.report_rejections(&ctx);
        });
        let result = self.tests(&runtime, &context);
        self.close(&runtime, &context);
        Ok(result)
    }

    /// Drops the engine's objects, which must not outlive it.
    fn close(&self, runtime: &Runtime, context: &Context) {
        context.with(|_| {
            self.rejections.borrow_mut().clear();
            self.handles.clear();
        });
        runtime.set_interrupt_handler(None);
    }

    /// Gives the next piece of work all that an evaluation may use.
    pub(crate) fn renew_limits(&self) {
        self.interrupts.set(0);
        self.out_of_memory.set(false);
        self.stopwatch.restart();
    }

    /// Runs the prelude, then the program up to its first pending `await`.
    fn begin<'js>(&self, ctx: &Ctx<'js>) -> Option<StartedProgram> {
        let (interrupts, most) =
            (self.interrupts.clone(), self.session.borrow().limits.evaluation_interrupts);
        let stopwatch = self.stopwatch.clone();
        let work = move |units: u64| {
            interrupts.set(interrupts.get().saturating_add(units));
            interrupts.get() > most || stopwatch.look()
        };
        let started = host::install(ctx, &self.session, &self.handles, work).and_then(|()| {
            let started = Module::evaluate(ctx.clone(), "stead:start", prelude::START)?;
            while ctx.execute_pending_job() {}
            started.finish::<()>()
        });
        self.caught(ctx, started)?;
        let entry = self.session.borrow().settings.entry.clone();
        let code =
            self.session.borrow_mut().loader.as_mut().and_then(|loader| loader.out.code.remove(&entry));
        let code = code.unwrap_or_default();
        let module = self.caught(ctx, modules::declare(ctx, &entry, code))?;
        let (module, done) = self.caught(ctx, module.eval())?;
        if self.session.borrow().files.get(&entry).is_some_and(|file| file.format == Format::CommonJs) {
            // The top level of a CommonJS file is no job: what waits comes before the first one.
            self.caught(ctx, self.handles.run_waiting(ctx))?;
        }
        let exports = self.caught(ctx, module.namespace())?;
        Some(StartedProgram { exports: Persistent::save(ctx, exports), done: Persistent::save(ctx, done) })
    }

    /// Runs pending jobs until none is left or a limit is exceeded.
    pub(crate) fn run_jobs(&self, runtime: &Runtime, context: &Context) {
        for job in 1_u64.. {
            if self.exceeded().is_some() {
                return;
            }
            if job.is_multiple_of(JOBS_PER_INTERRUPT) {
                self.interrupts.set(self.interrupts.get() + 1);
            }
            if context.with(|ctx| self.caught(&ctx, self.handles.before_job(&ctx))).is_none() {
                return;
            }
            match runtime.execute_pending_job() {
                Ok(true) => {}
                Ok(false) => {
                    let went_on = context.with(|ctx| self.caught(&ctx, self.handles.run_waiting(&ctx)));
                    if went_on != Some(true) {
                        return;
                    }
                }
                // The exception belongs to no promise: a `queueMicrotask` job threw, or a limit was exceeded.
                Err(thrown) => thrown.0.with(|ctx| self.failed(&ctx, &ctx.catch())),
            }
        }
    }

    fn finish<'js>(&self, ctx: &Ctx<'js>, program: StartedProgram) -> Option<Graph> {
        let done = self.caught(ctx, program.done.restore(ctx))?;
        self.settle(ctx, &done);
        self.report_rejections(ctx);
        if self.exceeded().is_some() && self.session.borrow().diagnostics.is_empty() {
            // The engine lost the exception that reports the limit.
            self.failed(ctx, &Value::new_undefined(ctx.clone()));
        }
        if self.exceeded().is_none() {
            self.caught(ctx, self.handles.check_deferred(ctx));
        }
        if !self.session.borrow().diagnostics.is_empty() {
            // Report schema errors together with the other errors.
            declare::check_schemas(&mut self.session.borrow_mut());
            return None;
        }
        let intrinsics = self.caught(ctx, self.handles.intrinsics(ctx))?;
        let exports = self.caught(ctx, program.exports.restore(ctx))?;
        let outputs = self.caught(ctx, outputs::read(&self.session, &intrinsics, &exports))?;
        let mut session = self.session.borrow_mut();
        declare::check_schemas(&mut session);
        let graph = names::graph(&mut session);
        Some(Graph { outputs, ..graph })
    }

    /// Returns the value, or reports the exception as an error of the program.
    pub(crate) fn caught<'js, T>(&self, ctx: &Ctx<'js>, result: rquickjs::Result<T>) -> Option<T> {
        match result {
            Ok(value) => Some(value),
            Err(Error::Exception) => {
                self.failed(ctx, &ctx.catch());
                None
            }
            Err(error) => {
                let message = format!("the JavaScript engine failed: {error}");
                self.session.borrow_mut().report(Diagnostic::error(Code::PROGRAM_THREW, message));
                None
            }
        }
    }

    pub(crate) fn failed<'js>(&self, ctx: &Ctx<'js>, thrown: &Value<'js>) {
        if self.session.borrow().exhausted.get() {
            return; // The limit is already reported; this exception only follows from it.
        }
        exceptions::report(ctx, &self.session, &self.handles, thrown, &self.limit_state());
    }

    fn limit_state(&self) -> exceptions::LimitState {
        let limits = self.session.borrow().limits;
        exceptions::LimitState {
            exceeded: self.exceeded(),
            interrupts: limits.evaluation_interrupts,
            time: limits.evaluation_time,
            heap: limits.evaluation_heap,
        }
    }

    /// Returns the limit that the program exceeded, if any.
    pub(crate) fn exceeded(&self) -> Option<exceptions::ExceededLimit> {
        if self.out_of_memory.get() {
            return Some(exceptions::ExceededLimit::Memory);
        }
        let most = self.session.borrow().limits.evaluation_interrupts;
        if self.interrupts.get() > most {
            return Some(exceptions::ExceededLimit::Steps);
        }
        self.stopwatch.has_expired().then_some(exceptions::ExceededLimit::Time)
    }

    fn settle<'js>(&self, ctx: &Ctx<'js>, promise: &Promise<'js>) {
        match promise.state() {
            PromiseState::Resolved => {}
            PromiseState::Rejected => drop(self.caught(ctx, promise.finish::<Value<'js>>())),
            PromiseState::Pending if self.exceeded().is_some() => {}
            PromiseState::Pending => {
                let mut session = self.session.borrow_mut();
                let mut problem = Diagnostic::error(
                    Code::PROGRAM_THREW,
                    "the program waits for a promise that never settles",
                )
                .help("the program itself must resolve every promise: there are no timers and no I/O");
                let awaits = session.files.values().flat_map(|file| {
                    file.awaits.iter().map(|span| file.source.locate(*span)).collect::<Vec<_>>()
                });
                for place in awaits.take(5).collect::<Vec<_>>() {
                    problem = problem.at(place.at, place.length, "possibly waiting at this `await`");
                }
                session.report(problem);
            }
        }
    }

    /// Reports each rejected promise without a handler as an error of the program.
    pub(crate) fn report_rejections<'js>(&self, ctx: &Ctx<'js>) {
        let unhandled = std::mem::take(&mut *self.rejections.borrow_mut());
        let mut reported: Vec<Value<'js>> = Vec::new();
        for (_, reason) in unhandled {
            if let Ok(reason) = reason.restore(ctx)
                && !reported.contains(&reason)
            {
                self.failed(ctx, &reason);
                reported.push(reason);
            }
        }
    }
}

fn track<'js>(
    rejections: &RefCell<Vec<Rejection>>,
    ctx: &Ctx<'js>,
    promise: Value<'js>,
    reason: Value<'js>,
    handled: bool,
) {
    if !handled {
        rejections.borrow_mut().push((Persistent::save(ctx, promise), Persistent::save(ctx, reason)));
        return;
    }
    let same = |(known, _): &Rejection| known.clone().restore(ctx).is_ok_and(|known| known == promise);
    rejections.borrow_mut().retain(|rejection| !same(rejection));
}
