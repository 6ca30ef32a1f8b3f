//! The functions that the prelude calls. Each does one small thing to the session.
//!
//! **Invariant:** a value of the program is walked before the session is borrowed, never while it is.

mod assets;
mod deferred;
mod encoding;
mod expressions;
mod outside;
mod pins;
mod refusals;

use std::cell::RefCell;
use std::rc::Rc;

use rquickjs::function::IntoJsFunc;
use rquickjs::{Array, Ctx, Function, Object, Persistent, Symbol, Value};
use stead_model::TypeToken;

use crate::declare;
use crate::session::{Progress, Session};
use crate::walk::{World, define, to_js};

pub(crate) use deferred::result_problem;

pub(crate) type Shared = Rc<RefCell<Session>>;

/// Things of the engine that outlive a call. They must be dropped before the engine is.
#[derive(Default)]
pub(crate) struct Kept {
    node_of: RefCell<Option<Persistent<Function<'static>>>>,
    symbols: RefCell<Option<(Persistent<Symbol<'static>>, Persistent<Symbol<'static>>)>>,
    prototype: RefCell<Option<Persistent<Object<'static>>>>,
    thrown_at: RefCell<Option<Persistent<Function<'static>>>>,
    before_job: RefCell<Option<Persistent<Function<'static>>>>,
    run_applied: RefCell<Option<Persistent<Function<'static>>>>,
}

impl Kept {
    pub(crate) fn world<'js>(&self, ctx: &Ctx<'js>) -> rquickjs::Result<World<'js>> {
        let missing = || rquickjs::Exception::throw_internal(ctx, "the prelude has not run");
        let node_of = self.node_of.borrow().clone().ok_or_else(missing)?;
        let (id_symbol, _) = self.symbols.borrow().clone().ok_or_else(missing)?;
        let prototype = self.prototype.borrow().clone().ok_or_else(missing)?;
        Ok(World {
            id_symbol: id_symbol.restore(ctx)?,
            node_of: node_of.restore(ctx)?,
            object_prototype: prototype.restore(ctx)?,
        })
    }

    /// Whether an error is one that the session knows already.
    pub(crate) fn is_refusal<'js>(&self, ctx: &Ctx<'js>, error: &Value<'js>) -> bool {
        let symbol = self.symbols.borrow().clone().and_then(|(_, symbol)| symbol.restore(ctx).ok());
        let (Some(symbol), Some(object)) = (symbol, error.as_object()) else { return false };
        !error.is_function() && object.get::<_, Value<'js>>(symbol.as_atom()).is_ok_and(|mark| mark.is_bool())
    }

    /// The site at which something was thrown.
    pub(crate) fn thrown_at<'js>(&self, ctx: &Ctx<'js>, thrown: &Value<'js>) -> Option<usize> {
        let function = self.thrown_at.borrow().clone()?.restore(ctx).ok()?;
        function.call::<_, Option<usize>>((thrown.clone(),)).ok().flatten()
    }

    /// A job of the engine is about to run.
    pub(crate) fn before_job<'js>(&self, ctx: &Ctx<'js>) -> rquickjs::Result<()> {
        match self.before_job.borrow().clone() {
            Some(function) => function.restore(ctx)?.call(()),
            None => Ok(()),
        }
    }

    /// Runs a function that the program put off, by its number.
    pub(crate) fn run_applied<'js>(&self, ctx: &Ctx<'js>) -> rquickjs::Result<Function<'js>> {
        let missing = || rquickjs::Exception::throw_internal(ctx, "the prelude has not run");
        self.run_applied.borrow().clone().ok_or_else(missing)?.restore(ctx)
    }

    pub(crate) fn clear(&self) {
        self.run_applied.replace(None);
        self.before_job.replace(None);
        self.thrown_at.replace(None);
        self.node_of.replace(None);
        self.symbols.replace(None);
        self.prototype.replace(None);
    }
}

/// Puts the host object where the prelude takes it from.
pub(crate) fn install<'js>(ctx: &Ctx<'js>, session: &Shared, kept: &Rc<Kept>) -> rquickjs::Result<()> {
    let object = Object::new(ctx.clone())?;
    let id = Symbol::with_description(ctx.clone(), "stead expression")?;
    let refusal = Symbol::with_description(ctx.clone(), "stead refusal")?;
    object.set("idSymbol", id.clone())?;
    object.set("refusalSymbol", refusal.clone())?;
    kept.symbols.replace(Some((Persistent::save(ctx, id), Persistent::save(ctx, refusal))));
    if let Some(prototype) = Object::new(ctx.clone())?.get_prototype() {
        kept.prototype.replace(Some(Persistent::save(ctx, prototype)));
    }
    let host = Host { object, session: session.clone(), kept: kept.clone() };
    host.program(ctx)?;
    host.expressions()?;
    host.deferred()?;
    host.resources()?;
    host.types()?;
    host.refusals()?;
    host.messages()?;
    host.encoding()?;
    host.assets()?;
    host.outside()?;
    host.pins()?;
    ctx.globals().set("__stead_host", host.object)
}

struct Host<'js> {
    object: Object<'js>,
    session: Shared,
    kept: Rc<Kept>,
}

impl<'js> Host<'js> {
    fn function<P, F: IntoJsFunc<'js, P> + 'js>(&self, name: &str, function: F) -> rquickjs::Result<()> {
        self.object.set(name, Function::new(self.object.ctx().clone(), function)?)
    }

    fn program(&self, ctx: &Ctx<'js>) -> rquickjs::Result<()> {
        let program = Object::new(ctx.clone())?;
        let session = self.session.borrow();
        program.set("env", session.setting.environment.name.as_str())?;
        program.set("namespace", session.setting.environment.namespace.as_deref())?;
        if session.setting.environment.namespace.is_none() {
            program.set("namespace", Value::new_undefined(ctx.clone()))?;
        }
        program.set("project", session.setting.project.as_str())?;
        program.set("target", session.setting.target.as_str())?;
        drop(session);
        self.object.set("program", program)?;
        let session = self.session.clone();
        self.function("config", move |ctx: Ctx<'js>, key: String| -> rquickjs::Result<Value<'js>> {
            let value = session.borrow().setting.config.get(&key).cloned();
            match value {
                Some(value) => to_js(&ctx, &value),
                None => Ok(Value::new_undefined(ctx)),
            }
        })
    }

    fn resources(&self) -> rquickjs::Result<()> {
        let kept = self.kept.clone();
        self.function("nodeOf", move |ctx: Ctx<'js>, function: Function<'js>| {
            kept.node_of.replace(Some(Persistent::save(&ctx, function)));
        })?;
        let kept = self.kept.clone();
        self.function("beforeJob", move |ctx: Ctx<'js>, function: Function<'js>| {
            kept.before_job.replace(Some(Persistent::save(&ctx, function)));
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
        let (session, kept) = (self.session.clone(), self.kept.clone());
        self.function(
            "declare",
            move |ctx: Ctx<'js>, node: usize, inputs: Value<'js>, options: Value<'js>| {
                declare::provisioned(&session, &kept.world(&ctx)?, node, &inputs, &options)
            },
        )?;
        let (session, kept) = (self.session.clone(), self.kept.clone());
        self.function(
            "declareGroup",
            move |ctx: Ctx<'js>, node: usize, id: Value<'js>, options: Value<'js>| {
                declare::group(&session, &kept.world(&ctx)?, node, &id, &options)
            },
        )
    }

    fn types(&self) -> rquickjs::Result<()> {
        let session = self.session.clone();
        self.function("types", move |ctx: Ctx<'js>, provider: String| -> rquickjs::Result<Array<'js>> {
            let tokens = session.borrow().port.types(&provider);
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
