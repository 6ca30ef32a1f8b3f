//! Host functions: the Rust functions that the prelude calls.
//!
//! **Invariant:** a value of the program is read before the session is borrowed, never while it is borrowed.

mod clock;
mod code;
mod config;
mod deferred;
mod encoding;
mod errors;
mod expressions;
mod external;
mod files;
mod library;
pub(crate) mod math;
mod pins;
mod secrets;

use std::cell::RefCell;
use std::rc::Rc;

use rquickjs::function::IntoJsFunc;
use rquickjs::{Array, Ctx, Function, Object, Persistent, Symbol, Value};
use stead_model::{Input, TypeToken, ValuePool};

use crate::declare;
use crate::engine::prelude;
use crate::engine::session::{Progress, Session};
use crate::engine::values::{Intrinsics, define};

pub(crate) use deferred::{Giver, result_error};
pub(crate) use errors::meant_by_undefined;
pub(crate) use secrets::input_to_js;

pub(crate) type SharedSession = Rc<RefCell<Session>>;

/// Engine objects that outlive a call.
///
/// **Invariant:** they are dropped before the engine.
#[derive(Default)]
pub(crate) struct Handles {
    node_of: RefCell<Option<Persistent<Function<'static>>>>,
    /// Prelude function that returns the unknown of an expression.
    unknown: RefCell<Option<Persistent<Function<'static>>>>,
    symbols: RefCell<Option<(Persistent<Symbol<'static>>, Persistent<Symbol<'static>>)>>,
    prototype: RefCell<Option<Persistent<Object<'static>>>>,
    thrown_at: RefCell<Option<Persistent<Function<'static>>>>,
    before_job: RefCell<Option<Persistent<Function<'static>>>>,
    /// Runs work of the program that waits until no job is left.
    waiting: RefCell<Option<Persistent<Function<'static>>>>,
    run_deferred: RefCell<Option<Persistent<Function<'static>>>>,
    /// Prelude function that returns a module of Node.js.
    node_module: RefCell<Option<Persistent<Function<'static>>>>,
    /// Symbol of the number that the exception of a catchable error carries.
    number_symbol: RefCell<Option<Persistent<Symbol<'static>>>>,
    check_deferred: RefCell<Option<Persistent<Function<'static>>>>,
    /// Function of the module `stead/test` that runs one test.
    pub(crate) run_test: RefCell<Option<Persistent<Function<'static>>>>,
    /// Function of the module `stead/test` that tells whether a test is selected.
    pub(crate) select_test: RefCell<Option<Persistent<Function<'static>>>>,
    pool: Rc<RefCell<ValuePool>>,
}

impl Handles {
    pub(crate) fn intrinsics<'js>(&self, ctx: &Ctx<'js>) -> rquickjs::Result<Intrinsics<'js>> {
        let missing = || rquickjs::Exception::throw_internal(ctx, "the prelude has not run");
        let node_of = self.node_of.borrow().clone().ok_or_else(missing)?;
        let (id_symbol, _) = self.symbols.borrow().clone().ok_or_else(missing)?;
        let prototype = self.prototype.borrow().clone().ok_or_else(missing)?;
        Ok(Intrinsics {
            id_symbol: id_symbol.restore(ctx)?,
            node_of: node_of.restore(ctx)?,
            object_prototype: prototype.restore(ctx)?,
            pool: self.pool.clone(),
        })
    }

    /// Returns the unknown of an expression, as a program holds it.
    pub(crate) fn unknown<'js>(&self, ctx: &Ctx<'js>, id: i32) -> rquickjs::Result<Value<'js>> {
        let missing = || rquickjs::Exception::throw_internal(ctx, "the prelude has not run");
        let unknown = self.unknown.borrow().clone().ok_or_else(missing)?;
        unknown.restore(ctx)?.call((id,))
    }

    /// Returns true if an exception stands for an error that the session has already recorded.
    pub(crate) fn is_refusal<'js>(&self, ctx: &Ctx<'js>, error: &Value<'js>) -> bool {
        let symbol = self.symbols.borrow().clone().and_then(|(_, symbol)| symbol.restore(ctx).ok());
        let (Some(symbol), Some(object)) = (symbol, error.as_object()) else { return false };
        !error.is_function() && object.get::<_, Value<'js>>(symbol.as_atom()).is_ok_and(|mark| mark.is_bool())
    }

    /// Returns the number of the catchable error that an exception stands for.
    pub(crate) fn catchable<'js>(&self, ctx: &Ctx<'js>, error: &Value<'js>) -> Option<usize> {
        let symbol = self.number_symbol.borrow().clone()?.restore(ctx).ok()?;
        let object = error.as_object().filter(|_| error.is_error())?;
        object.get::<_, Option<usize>>(symbol.as_atom()).ok().flatten()
    }

    /// Returns the number of the recorded failure that an exception of a test stands for.
    pub(crate) fn failure_of<'js>(&self, ctx: &Ctx<'js>, error: &Value<'js>) -> Option<usize> {
        let symbol = self.symbols.borrow().clone().and_then(|(_, symbol)| symbol.restore(ctx).ok())?;
        let object = error.as_object().filter(|_| !error.is_function())?;
        object
            .get::<_, Value<'js>>(symbol.as_atom())
            .ok()?
            .as_int()
            .and_then(|number| usize::try_from(number).ok())
    }

    /// Returns the site that threw a value.
    pub(crate) fn thrown_at<'js>(&self, ctx: &Ctx<'js>, thrown: &Value<'js>) -> Option<usize> {
        let function = self.thrown_at.borrow().clone()?.restore(ctx).ok()?;
        function.call::<_, Option<usize>>((thrown.clone(),)).ok().flatten()
    }

    /// Notifies the prelude that a job of the engine is about to run.
    pub(crate) fn before_job<'js>(&self, ctx: &Ctx<'js>) -> rquickjs::Result<()> {
        match self.before_job.borrow().clone() {
            Some(function) => function.restore(ctx)?.call(()),
            None => Ok(()),
        }
    }

    /// Runs work of the program that waits until no job is left. Returns false if nothing waits.
    pub(crate) fn run_waiting<'js>(&self, ctx: &Ctx<'js>) -> rquickjs::Result<bool> {
        match self.waiting.borrow().clone() {
            Some(function) => function.restore(ctx)?.call(()),
            None => Ok(false),
        }
    }

    /// Inspects the values that deferred functions use. Mistakes are recorded in the session.
    pub(crate) fn check_deferred<'js>(&self, ctx: &Ctx<'js>) -> rquickjs::Result<()> {
        match self.check_deferred.borrow().clone() {
            Some(function) => function.restore(ctx)?.call(()),
            None => Ok(()),
        }
    }

    /// Returns the prelude function that runs a deferred function by its number.
    pub(crate) fn run_deferred<'js>(&self, ctx: &Ctx<'js>) -> rquickjs::Result<Function<'js>> {
        let missing = || rquickjs::Exception::throw_internal(ctx, "the prelude has not run");
        self.run_deferred.borrow().clone().ok_or_else(missing)?.restore(ctx)
    }

    pub(crate) fn clear(&self) {
        self.run_test.replace(None);
        self.select_test.replace(None);
        self.run_deferred.replace(None);
        self.node_module.replace(None);
        self.number_symbol.replace(None);
        self.check_deferred.replace(None);
        self.before_job.replace(None);
        self.waiting.replace(None);
        self.thrown_at.replace(None);
        self.node_of.replace(None);
        self.unknown.replace(None);
        self.symbols.replace(None);
        self.prototype.replace(None);
        self.pool.take();
    }
}

/// Installs the host object as a global, which the prelude removes.
///
/// `work` counts interrupts for a built-in that runs without any, and returns true if the limit is exceeded.
pub(crate) fn install<'js>(
    ctx: &Ctx<'js>,
    session: &SharedSession,
    handles: &Rc<Handles>,
    work: impl Fn(u64) -> bool + 'js,
) -> rquickjs::Result<()> {
    math::install(ctx)?;
    let object = Object::new(ctx.clone())?;
    let id = Symbol::with_description(ctx.clone(), "stead expression")?;
    let refusal = Symbol::with_description(ctx.clone(), "stead refusal")?;
    object.set("idSymbol", id.clone())?;
    object.set("refusalSymbol", refusal.clone())?;
    let number = Symbol::with_description(ctx.clone(), "stead error")?;
    object.set("numberSymbol", number.clone())?;
    handles.number_symbol.replace(Some(Persistent::save(ctx, number)));
    handles.symbols.replace(Some((Persistent::save(ctx, id), Persistent::save(ctx, refusal))));
    if let Some(prototype) = Object::new(ctx.clone())?.get_prototype() {
        handles.prototype.replace(Some(Persistent::save(ctx, prototype)));
    }
    let work: Rc<dyn Fn(u64) -> bool + 'js> = Rc::new(work);
    let host = Host { object, session: session.clone(), handles: handles.clone(), work: work.clone() };
    host.program(ctx)?;
    host.config()?;
    host.expressions()?;
    host.deferred()?;
    host.resources()?;
    host.types()?;
    host.errors()?;
    host.messages()?;
    host.encoding()?;
    host.files()?;
    host.library()?;
    host.external()?;
    host.pins()?;
    host.function("work", move |units: f64| work(units as u64))?;
    host.function("lazy", |ctx: Ctx<'js>, name: String| prelude::load_now(&ctx, &name))?;
    host.code()?;
    if session.borrow().tests.is_some() {
        host.tests(ctx)?;
    }
    ctx.globals().set("__stead_host", host.object)
}

pub(crate) struct Host<'js> {
    pub(crate) object: Object<'js>,
    pub(crate) session: SharedSession,
    pub(crate) handles: Rc<Handles>,
    /// Counts interrupts, and returns true if the limit is exceeded.
    work: Rc<dyn Fn(u64) -> bool + 'js>,
}

impl<'js> Host<'js> {
    pub(crate) fn function<P, F: IntoJsFunc<'js, P> + 'js>(
        &self,
        name: &str,
        function: F,
    ) -> rquickjs::Result<()> {
        self.object.set(name, Function::new(self.object.ctx().clone(), function)?)
    }

    fn program(&self, ctx: &Ctx<'js>) -> rquickjs::Result<()> {
        let program = Object::new(ctx.clone())?;
        let session = self.session.borrow();
        program.set("env", session.settings.environment.name.as_str())?;
        program.set("namespace", session.settings.environment.namespace.as_deref())?;
        if session.settings.environment.namespace.is_none() {
            program.set("namespace", Value::new_undefined(ctx.clone()))?;
        }
        program.set("project", session.settings.project.as_str())?;
        program.set("target", session.settings.target.as_str())?;
        drop(session);
        self.object.set("program", program)
    }

    fn resources(&self) -> rquickjs::Result<()> {
        let handles = self.handles.clone();
        self.function("nodeOf", move |ctx: Ctx<'js>, function: Function<'js>| {
            handles.node_of.replace(Some(Persistent::save(&ctx, function)));
        })?;
        let handles = self.handles.clone();
        self.function("unknown", move |ctx: Ctx<'js>, function: Function<'js>| {
            handles.unknown.replace(Some(Persistent::save(&ctx, function)));
        })?;
        let handles = self.handles.clone();
        self.function("beforeJob", move |ctx: Ctx<'js>, function: Function<'js>| {
            handles.before_job.replace(Some(Persistent::save(&ctx, function)));
        })?;
        let handles = self.handles.clone();
        self.function("whenIdle", move |ctx: Ctx<'js>, function: Function<'js>| {
            handles.waiting.replace(Some(Persistent::save(&ctx, function)));
        })?;
        let session = self.session.clone();
        self.function(
            "begin",
            move |ctx: Ctx<'js>, site: usize, parent: i32, class: String, token: String| {
                let begun = session.borrow_mut().begin(site, parent, class, token);
                match begun {
                    Ok(node) => Ok(Value::new_int(ctx, node as i32)),
                    Err(message) => rquickjs::String::from_str(ctx, &message).map(|text| text.into_value()),
                }
            },
        )?;
        let session = self.session.clone();
        self.function("abandon", move |node: usize| {
            if let Some(draft) = session.borrow_mut().drafts.get_mut(node) {
                draft.progress = Progress::Abandoned;
            }
        })?;
        let (session, handles) = (self.session.clone(), self.handles.clone());
        self.function(
            "declare",
            move |ctx: Ctx<'js>, node: usize, inputs: Value<'js>, options: Value<'js>| {
                let intrinsics = handles.intrinsics(&ctx)?;
                let secret = declare::provisioned(&session, &intrinsics, node, &inputs, &options)?;
                if secret.is_empty() {
                    return Ok(Value::new_undefined(ctx));
                }
                input_to_js(&ctx, &handles, &Input::Map(secret))
            },
        )?;
        let (session, handles) = (self.session.clone(), self.handles.clone());
        self.function(
            "declareGroup",
            move |ctx: Ctx<'js>, node: usize, id: Value<'js>, options: Value<'js>| {
                declare::group(&session, &handles.intrinsics(&ctx)?, node, &id, &options)
            },
        )
    }

    fn types(&self) -> rquickjs::Result<()> {
        let session = self.session.clone();
        self.function("types", move |ctx: Ctx<'js>, provider: String| -> rquickjs::Result<Array<'js>> {
            let tokens = session.borrow().requester.types(&provider);
            let all = Array::new(ctx.clone())?;
            for (index, token) in tokens.iter().enumerate() {
                define(&all, index as u32, token.as_str())?;
            }
            Ok(all)
        })?;
        let session = self.session.clone();
        self.function("schema", move |ctx: Ctx<'js>, token: String| -> rquickjs::Result<Object<'js>> {
            let schema = session.borrow_mut().schema(&TypeToken(token));
            let out = Object::new(ctx.clone())?;
            let members = Array::new(ctx.clone())?;
            if let Some(schema) = schema {
                define(&out, "class", schema.class())?;
                for (index, property) in schema.properties.iter().enumerate() {
                    let member = Object::new(ctx.clone())?;
                    define(&member, "name", property.name.as_str())?;
                    define(&member, "provisioned", property.provisioned())?;
                    define(&members, index as u32, member)?;
                }
            }
            define(&out, "members", members)?;
            Ok(out)
        })
    }
}

/// Returns an object without prototype that holds the result, or the error message as `problem`.
fn answer<'js, T>(
    ctx: &Ctx<'js>,
    result: Result<T, String>,
    fill: impl FnOnce(&Object<'js>, T) -> rquickjs::Result<()>,
) -> rquickjs::Result<Object<'js>> {
    let object = Object::new(ctx.clone())?;
    object.set_prototype(None)?;
    match result {
        Ok(result) => fill(&object, result)?,
        Err(problem) => define(&object, "problem", problem)?,
    }
    Ok(object)
}
