//! Runs a loaded program: sets the engine up with its limits, runs the prelude, the program, and all its jobs.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::mpsc::Receiver;

use rquickjs::loader::{ImportAttributes, Loader, Resolver};
use rquickjs::module::Declared;
use rquickjs::promise::PromiseState;
use rquickjs::{
    Context, Ctx, Error, Module, Object, Persistent, Promise, Runtime, Value, context::intrinsic,
};
use stead_model::{Code, Diagnostic, Graph};

use crate::functions::ApplyCall;
use crate::host::{self, Kept, Shared};
use crate::load::Loaded;
use crate::memory::Limited;
use crate::{apply, declare, failure, names, outputs, prelude};

/// Stack for the program's calls, the most that rquickjs limits: it takes a larger number as "no limit". The
/// thread has more, for what Rust needs on top.
const SCRIPT_STACK: usize = 16 << 20;
/// Nearly all that a program makes it keeps: looking for garbage before this many bytes are in use finds little.
const FIRST_COLLECTION: usize = 32 << 20;
pub(crate) const THREAD_STACK: usize = 64 << 20;

type Intrinsics = (
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

/// A promise that was rejected while nobody listened, and what it was rejected with.
type Rejection = (Persistent<Value<'static>>, Persistent<Value<'static>>);

/// A program that has begun: what it exports, and what settles when it has run through.
struct Begun {
    exports: Persistent<Object<'static>>,
    done: Persistent<Promise<'static>>,
}

struct Engine {
    session: Shared,
    kept: Rc<Kept>,
    rejections: Rc<RefCell<Vec<Rejection>>>,
    interrupts: Rc<Cell<u64>>,
    /// The program wanted more memory than it may have.
    starved: Rc<Cell<bool>>,
}

/// Takes the graph, if there is one, and says which calls of the program's functions follow.
pub(crate) type Deliver<'a> = &'a dyn Fn(Option<Graph>) -> Option<Receiver<ApplyCall>>;

/// Delivers the graph, if nothing was reported to the session, and answers calls as long as there are any.
pub(crate) fn run(session: &Shared, loaded: Loaded, deliver: Deliver<'_>) {
    let engine = Engine {
        session: session.clone(),
        kept: Rc::default(),
        rejections: Rc::default(),
        interrupts: Rc::default(),
        starved: Rc::default(),
    };
    if let Err(error) = engine.start(loaded, deliver) {
        let message = format!("the JavaScript engine failed: {error}");
        session.borrow_mut().report(Diagnostic::error(Code::EVALUATION_LIMIT, message));
        deliver(None);
    }
}

impl Engine {
    fn start(&self, mut loaded: Loaded, deliver: Deliver<'_>) -> rquickjs::Result<()> {
        let entry = loaded.code.remove(&self.session.borrow().setting.entry).unwrap_or_default();
        let limits = self.session.borrow().limits;
        let runtime = Runtime::new_with_alloc(Limited::new(limits.evaluation_heap, self.starved.clone()))?;
        runtime.set_max_stack_size(SCRIPT_STACK);
        runtime.set_gc_threshold(FIRST_COLLECTION);
        let (interrupts, starved) = (self.interrupts.clone(), self.starved.clone());
        let exhausted = self.session.borrow().exhausted.clone();
        runtime.set_interrupt_handler(Some(Box::new(move || {
            interrupts.set(interrupts.get() + 1);
            interrupts.get() > limits.evaluation_interrupts || exhausted.get() || starved.get()
        })));
        let rejections = self.rejections.clone();
        runtime.set_host_promise_rejection_tracker(Some(Box::new(move |ctx, promise, reason, handled| {
            track(&rejections, &ctx, promise, reason, handled);
        })));
        runtime.set_loader(Links(loaded.links), Modules(loaded.code));
        let context = Context::custom::<Intrinsics>(&runtime)?;
        let begun = context.with(|ctx| self.begin(&ctx, entry));
        self.run_jobs(&runtime, &context);
        let graph = begun.and_then(|begun| context.with(|ctx| self.finish(&ctx, begun)));
        let graph = graph.filter(|_| self.session.borrow().diagnostics.is_empty());
        for ApplyCall { function, arguments, reply } in deliver(graph).into_iter().flatten() {
            self.interrupts.set(0);
            self.starved.set(false);
            let result = context.with(|ctx| {
                apply::answer(&ctx, &self.session, &self.kept, &function, &arguments, &|| self.stops())
            });
            drop(reply.send(result));
        }
        context.with(|_| {
            self.rejections.borrow_mut().clear();
            self.kept.clear();
        });
        runtime.set_interrupt_handler(None);
        Ok(())
    }

    /// Runs the prelude, and the program up to where it waits.
    fn begin<'js>(&self, ctx: &Ctx<'js>, code: String) -> Option<Begun> {
        let started = host::install(ctx, &self.session, &self.kept).and_then(|()| {
            let started = Module::evaluate(ctx.clone(), "stead:start", prelude::START)?;
            while ctx.execute_pending_job() {}
            started.finish::<()>()
        });
        self.caught(ctx, started)?;
        let entry = self.session.borrow().setting.entry.clone();
        let module = self.caught(ctx, Module::declare(ctx.clone(), entry, code))?;
        let (module, done) = self.caught(ctx, module.eval())?;
        let exports = self.caught(ctx, module.namespace())?;
        Some(Begun { exports: Persistent::save(ctx, exports), done: Persistent::save(ctx, done) })
    }

    /// Runs what the program has put off, until nothing is left or the program is stopped.
    fn run_jobs(&self, runtime: &Runtime, context: &Context) {
        while self.stopped().is_none() {
            if context.with(|ctx| self.caught(&ctx, self.kept.before_job(&ctx))).is_none() {
                return;
            }
            match runtime.execute_pending_job() {
                Ok(true) => {}
                Ok(false) => return,
                // No promise takes it: a job of `queueMicrotask` threw, or the program was stopped.
                Err(thrown) => thrown.0.with(|ctx| self.failed(&ctx, &ctx.catch())),
            }
        }
    }

    fn finish<'js>(&self, ctx: &Ctx<'js>, begun: Begun) -> Option<Graph> {
        let done = self.caught(ctx, begun.done.restore(ctx))?;
        self.settle(ctx, &done);
        self.report_rejections(ctx);
        if self.stopped().is_some() && self.session.borrow().diagnostics.is_empty() {
            // What stopped the program got lost on the way here.
            self.failed(ctx, &Value::new_undefined(ctx.clone()));
        }
        if !self.session.borrow().diagnostics.is_empty() {
            // What is declared wrongly is still worth hearing of.
            declare::check_schemas(&mut self.session.borrow_mut());
            return None;
        }
        let world = self.caught(ctx, self.kept.world(ctx))?;
        let exports = self.caught(ctx, begun.exports.restore(ctx))?;
        let outputs = self.caught(ctx, outputs::read(&self.session, &world, &exports))?;
        let mut session = self.session.borrow_mut();
        declare::check_schemas(&mut session);
        let graph = names::graph(&mut session);
        Some(Graph { outputs, ..graph })
    }

    /// Reports an exception of the engine as the program's.
    fn caught<'js, T>(&self, ctx: &Ctx<'js>, result: rquickjs::Result<T>) -> Option<T> {
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

    fn failed<'js>(&self, ctx: &Ctx<'js>, thrown: &Value<'js>) {
        if self.session.borrow().exhausted.get() {
            return; // The reason is reported; what follows from it is noise.
        }
        failure::report(ctx, &self.session, &self.kept, thrown, &self.stops());
    }

    fn stops(&self) -> failure::Stops {
        let limits = self.session.borrow().limits;
        failure::Stops {
            stopped: self.stopped(),
            interrupts: limits.evaluation_interrupts,
            heap: limits.evaluation_heap,
        }
    }

    /// Which limit ended the program, if one did.
    fn stopped(&self) -> Option<failure::Stop> {
        if self.starved.get() {
            return Some(failure::Stop::Memory);
        }
        let most = self.session.borrow().limits.evaluation_interrupts;
        (self.interrupts.get() > most).then_some(failure::Stop::Time)
    }

    fn settle<'js>(&self, ctx: &Ctx<'js>, promise: &Promise<'js>) {
        match promise.state() {
            PromiseState::Resolved => {}
            PromiseState::Rejected => drop(self.caught(ctx, promise.finish::<Value<'js>>())),
            // The limit is what is reported.
            PromiseState::Pending if self.stopped().is_some() => {}
            PromiseState::Pending => {
                let mut session = self.session.borrow_mut();
                let mut problem = Diagnostic::error(
                    Code::PROGRAM_THREW,
                    "the program waits for a promise that never settles",
                )
                .help("every promise must be resolved by the program itself: nothing comes from outside");
                let awaits = session.files.values().flat_map(|file| {
                    file.awaits.iter().map(|span| file.source.place(*span)).collect::<Vec<_>>()
                });
                for place in awaits.take(5).collect::<Vec<_>>() {
                    problem = problem.at(place.at, place.length, "it waits at an `await` such as this one");
                }
                session.report(problem);
            }
        }
    }

    /// A promise that failed unheard is a program that failed.
    fn report_rejections<'js>(&self, ctx: &Ctx<'js>) {
        let unheard = std::mem::take(&mut *self.rejections.borrow_mut());
        let mut seen: Vec<Value<'js>> = Vec::new();
        for (_, reason) in unheard {
            if let Ok(reason) = reason.restore(ctx)
                && !seen.contains(&reason)
            {
                self.failed(ctx, &reason);
                seen.push(reason);
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

/// Imports were resolved when the program was loaded.
struct Links(HashMap<(String, String), String>);

impl Resolver for Links {
    fn resolve<'js>(
        &mut self,
        _: &Ctx<'js>,
        base: &str,
        name: &str,
        _: Option<ImportAttributes<'js>>,
    ) -> rquickjs::Result<String> {
        // The header of every module, and the prelude itself, name modules of the prelude.
        if prelude::has(name) {
            return Ok(name.to_owned());
        }
        let link = self.0.get(&(base.to_owned(), name.to_owned()));
        link.cloned().ok_or_else(|| Error::new_resolving(base, name))
    }
}

struct Modules(HashMap<String, String>);

impl Loader for Modules {
    fn load<'js>(
        &mut self,
        ctx: &Ctx<'js>,
        name: &str,
        _: Option<ImportAttributes<'js>>,
    ) -> rquickjs::Result<Module<'js, Declared>> {
        if let Some(module) = prelude::load(ctx, name) {
            return module;
        }
        let code = self.0.remove(name).ok_or_else(|| Error::new_loading(name))?;
        Module::declare(ctx.clone(), name, code)
    }
}
