//! The functions that the prelude calls. Each does one small thing to the session.
//!
//! **Invariant:** a value of the program is walked before the session is borrowed, never while it is.

use std::cell::RefCell;
use std::rc::Rc;

use rquickjs::convert::List;
use rquickjs::function::IntoJsFunc;
use rquickjs::{Array, Ctx, Function, Object, Persistent, Symbol, Value};
use stead_model::{
    Code, Diagnostic, Expr, ExprId, Input, Number, TemplatePart, TypeToken, Value as Plain, nearest,
};
use stead_schema::Shape;

use crate::session::{Progress, Session};
use crate::walk::{World, to_js};
use crate::{ConsoleLevel, ConsoleLine, declare, refuse};

pub(crate) type Shared = Rc<RefCell<Session>>;

/// Things of the engine that outlive a call. They must be dropped before the engine is.
#[derive(Default)]
pub(crate) struct Kept {
    node_of: RefCell<Option<Persistent<Function<'static>>>>,
    symbols: RefCell<Option<(Persistent<Symbol<'static>>, Persistent<Symbol<'static>>)>>,
    prototype: RefCell<Option<Persistent<Object<'static>>>>,
    thrown_at: RefCell<Option<Persistent<Function<'static>>>>,
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

    pub(crate) fn clear(&self) {
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
    host.resources()?;
    host.types()?;
    host.refusals()?;
    host.messages()?;
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

    fn expressions(&self) -> rquickjs::Result<()> {
        let session = self.session.clone();
        self.function("property", move |ctx: Ctx<'js>, node: u32, name: String| {
            number(&ctx, session.borrow_mut().property(node, &name))
        })?;
        let session = self.session.clone();
        self.function("get", move |ctx: Ctx<'js>, of: u32, key: String| {
            number(&ctx, session.borrow_mut().get(of, &key))
        })?;
        let session = self.session.clone();
        self.function("json", move |ctx: Ctx<'js>, of: u32| {
            let of = Box::new(Input::Deferred(ExprId(of)));
            number(&ctx, session.borrow_mut().expression(Expr::Json { of, indent: 0 }, 0))
        })?;
        let session = self.session.clone();
        self.function("template", move |ctx: Ctx<'js>, parts: Array<'js>| -> rquickjs::Result<u32> {
            let (parts, bytes) = template_parts(&parts)?;
            number(&ctx, session.borrow_mut().expression(Expr::Template(parts), bytes))
        })?;
        let session = self.session.clone();
        self.function("isScalar", move |id: u32| is_scalar(&mut session.borrow_mut(), ExprId(id)))?;
        let session = self.session.clone();
        self.function(
            "add",
            move |ctx: Ctx<'js>,
                  left: i32,
                  left_value: Value<'js>,
                  right: i32,
                  right_value: Value<'js>,
                  site: usize|
                  -> rquickjs::Result<u32> {
                let operands = (operand(left, &left_value), operand(right, &right_value));
                let mut session = session.borrow_mut();
                if let (Some(left), Some(right)) = operands {
                    let bytes = 2 * size_of::<Input>() + text_bytes(&left) + text_bytes(&right);
                    let expr = Expr::Add(Box::new(left), Box::new(right));
                    return number(&ctx, session.expression(expr, bytes));
                }
                let problem = refuse::at_site(&mut session, site, left.max(right).unsigned_abs());
                let message = problem.message.clone();
                session.report(problem);
                drop(session);
                Err(rquickjs::Exception::throw_type(&ctx, &message))
            },
        )
    }

    fn resources(&self) -> rquickjs::Result<()> {
        let kept = self.kept.clone();
        self.function("nodeOf", move |ctx: Ctx<'js>, function: Function<'js>| {
            kept.node_of.replace(Some(Persistent::save(&ctx, function)));
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
                let entry = Object::new(ctx.clone())?;
                entry.set("token", token.as_str())?;
                entry.set("path", token.as_str().split('.').skip(1).collect::<Vec<_>>())?;
                all.set(index, entry)?;
            }
            Ok(all)
        })?;
        let session = self.session.clone();
        self.function("schema", move |ctx: Ctx<'js>, token: String| -> rquickjs::Result<Object<'js>> {
            let schema = session.borrow_mut().schema(&TypeToken(token));
            let out = Object::new(ctx.clone())?;
            let members = Array::new(ctx.clone())?;
            if let Some(schema) = schema {
                out.set("class", schema.class())?;
                for (index, property) in schema.properties.iter().enumerate() {
                    members.set(index, List((property.name.as_str(), property.provisioned())))?;
                }
            }
            out.set("members", members)?;
            Ok(out)
        })
    }

    fn refusals(&self) -> rquickjs::Result<()> {
        let session = self.session.clone();
        self.function("refuseAt", move |site: usize, id: u32| {
            record(&session, |session| refuse::at_site(session, site, id))
        })?;
        let session = self.session.clone();
        self.function("refuse", move |what: String, id: u32, detail: String, stack: String| {
            record(&session, |session| refuse::by_stack(session, &what, id, &detail, &stack))
        })?;
        let session = self.session.clone();
        self.function("refuseResource", move |node: i32, stack: String| {
            record(&session, |session| refuse::resource_as_text(session, node, &stack))
        })?;
        let session = self.session.clone();
        self.function("refuseBuiltin", move |name: String, help: String, stack: String| {
            record(&session, |session| {
                let problem = Diagnostic::error(Code::PROGRAM_THREW, format!("a program cannot use {name}"));
                at_stack(session, problem, &stack).help(help)
            })
        })?;
        let session = self.session.clone();
        self.function("noSuchProperty", move |token: String, key: String, node: i32, stack: String| {
            record(&session, |session| no_such_property(session, token, &key, node, &stack))
        })
    }

    fn messages(&self) -> rquickjs::Result<()> {
        let session = self.session.clone();
        self.function("log", move |level: u8, text: String, stack: String| {
            let mut session = session.borrow_mut();
            if !session.keep(text.len() + size_of::<ConsoleLine>()) {
                return;
            }
            let place = session.stack_place(&stack).map(|place| place.at);
            let level = match level {
                0 => ConsoleLevel::Debug,
                1 => ConsoleLevel::Info,
                2 => ConsoleLevel::Warn,
                _ => ConsoleLevel::Error,
            };
            session.console.push(ConsoleLine { level, text, place });
        })?;
        let kept = self.kept.clone();
        self.function("thrownAt", move |ctx: Ctx<'js>, function: Function<'js>| {
            kept.thrown_at.replace(Some(Persistent::save(&ctx, function)));
        })?;
        let session = self.session.clone();
        self.function("describe", move |id: u32| {
            format!("{}, known after apply", refuse::describe(&session.borrow(), id))
        })?;
        let session = self.session.clone();
        self.function("describeNode", move |node: i32| session.borrow().describe_node(node))
    }
}

/// Reports a problem and returns its message, for the error that the program sees.
fn record(session: &Shared, problem: impl FnOnce(&mut Session) -> Diagnostic) -> String {
    let mut session = session.borrow_mut();
    let problem = problem(&mut session);
    let message = problem.message.clone();
    session.report(problem);
    message
}

fn at_stack(session: &mut Session, problem: Diagnostic, stack: &str) -> Diagnostic {
    match session.stack_place(stack) {
        Some(place) => problem.at(place.at, place.length, "here"),
        None => problem,
    }
}

fn no_such_property(session: &mut Session, token: String, key: &str, node: i32, stack: &str) -> Diagnostic {
    let token = TypeToken(token);
    let schema = session.schema(&token);
    let names: Vec<&str> =
        schema.iter().flat_map(|schema| &schema.properties).map(|property| property.name.as_str()).collect();
    let mut problem = Diagnostic::error(Code::NO_SUCH_PROPERTY, format!("{token} has no property `{key}`"));
    if let Some(place) = session.stack_place(stack) {
        let file = session.files.get(&place.at.file);
        let place = file.map_or(place.clone(), |file| file.source.member_near(&place, key));
        problem = problem.at(place.at, place.length, "read here");
    }
    if let Some(place) = session.declared_at(node) {
        problem = problem.at(place.at, place.length, "the resource is declared here");
    }
    match nearest(key, names.iter().copied()) {
        Some(meant) => problem.help(format!("did you mean `{meant}`?")),
        None => problem.help(format!("it has: {}", names.join(", "))),
    }
}

/// The number that stands for an expression in the prelude.
fn number(ctx: &Ctx<'_>, id: Option<ExprId>) -> rquickjs::Result<u32> {
    id.map(|id| id.0).ok_or_else(|| rquickjs::Exception::throw_internal(ctx, "out of memory"))
}

fn text_bytes(input: &Input) -> usize {
    input.as_known().and_then(Plain::as_str).map_or(0, str::len)
}

/// The parts, and roughly how many bytes they take.
fn template_parts(parts: &Array<'_>) -> rquickjs::Result<(Vec<TemplatePart>, usize)> {
    let mut bytes = parts.len() * size_of::<TemplatePart>();
    let mut out: Vec<TemplatePart> = Vec::with_capacity(parts.len());
    for part in parts.iter::<Value<'_>>() {
        let part = part?;
        if let Some(id) = part.as_int() {
            out.push(TemplatePart::Hole(Input::Deferred(ExprId(id as u32))));
        } else if let Some(text) = part.as_string() {
            let text = text.to_string()?;
            bytes += text.len();
            match out.last_mut() {
                _ if text.is_empty() => {}
                Some(TemplatePart::Text(before)) => before.push_str(&text),
                _ => out.push(TemplatePart::Text(text)),
            }
        }
    }
    Ok((out, bytes))
}

/// One side of `+`. What is not a string, a number, a boolean or null has no place in an expression.
fn operand(id: i32, value: &Value<'_>) -> Option<Input> {
    if id >= 0 {
        return Some(Input::Deferred(ExprId(id as u32)));
    }
    let plain = if let Some(text) = value.as_string() {
        Plain::String(text.to_string().ok()?)
    } else if let Some(number) = value.as_number() {
        Plain::Number(Number::from_f64(number)?)
    } else if let Some(flag) = value.as_bool() {
        Plain::Bool(flag)
    } else if value.is_null() {
        Plain::Null
    } else {
        return None;
    };
    Some(Input::Known(plain))
}

/// Whether the value takes one line of JSON, whatever it will be.
fn is_scalar(session: &mut Session, id: ExprId) -> bool {
    let (node, property) = match session.exprs.get(id) {
        Some(Expr::Template(_) | Expr::Add(..) | Expr::Json { .. }) => return true,
        Some(Expr::Property { node, property }) => (*node, property.clone()),
        _ => return false,
    };
    let token = session.drafts.get(node.index()).and_then(|draft| draft.token.clone());
    let schema = token.and_then(|token| session.schema(&token));
    let shape = schema.as_ref().and_then(|schema| schema.property(&property)).map(|property| &property.shape);
    !matches!(shape, None | Some(Shape::Any | Shape::List(_) | Shape::Map(_)))
}
