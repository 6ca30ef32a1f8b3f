//! Host functions for code that is loaded while the program runs, and for the modules of Node.js.

use rquickjs::context::EvalOptions;
use rquickjs::promise::PromiseState;
use rquickjs::{Array, Ctx, Function, Module, Object, Persistent, TypedArray, Value};
use stead_model::{Code, Diagnostic, SourceRef};

use super::encoding::text_or_bytes;
use super::{Host, SharedSession, answer, clock};
use crate::EntryKind;
use crate::compile::wrapper_arguments;
use crate::engine::code::{CatchableError, declaration};
use crate::engine::codec;
use crate::engine::session::Session;
use crate::engine::values::define;
use crate::program::load::facade::Required;
use crate::program::specifier::{PROJECT, join};

impl<'js> Host<'js> {
    pub(super) fn code(&self) -> rquickjs::Result<()> {
        self.object.set("wrapperArguments", wrapper_arguments())?;
        self.object.set("projectFolder", PROJECT)?;
        let session = self.session.clone();
        self.function("require", move |ctx: Ctx<'js>, base: String, specifier: String| {
            let found = session.borrow_mut().require(&base, &specifier);
            let found = found.map_err(|problem| keep(&session, problem));
            required(&ctx, found)
        })?;
        let session = self.session.clone();
        self.function("commonjs", move |ctx: Ctx<'js>, path: String| -> rquickjs::Result<Value<'js>> {
            let code = session.borrow_mut().take_commonjs(&path);
            script(&ctx, path, code.unwrap_or_default())
        })?;
        let session = self.session.clone();
        self.function("reachesFile", move |module: String, file: String| {
            let session = session.borrow();
            session.loader.as_ref().is_some_and(|loader| loader.out.reaches(&module, &file))
        })?;
        let session = self.session.clone();
        self.function("requireModule", move |ctx: Ctx<'js>, path: String| -> rquickjs::Result<()> {
            let (name, code) = session.borrow_mut().required_module(&path);
            let evaluated = Module::evaluate(ctx.clone(), name, code)?;
            match evaluated.state() {
                PromiseState::Rejected => evaluated.finish::<()>(),
                PromiseState::Resolved | PromiseState::Pending => Ok(()),
            }
        })?;
        let session = self.session.clone();
        self.function(
            "functionFromText",
            move |ctx: Ctx<'js>, kind: String, parameters: String, body: String, stack: String| {
                let text = declaration(&kind, &parameters, &body);
                let made = session.borrow_mut().function(text, &stack);
                match made {
                    Ok((name, code)) => script(&ctx, name, code),
                    Err(message) => rquickjs::String::from_str(ctx, &message).map(|text| text.into_value()),
                }
            },
        )?;
        let session = self.session.clone();
        self.function(
            "noExport",
            move |name: String, module: String, file: String, line: u32, column: u32| {
                no_export(&mut session.borrow_mut(), &name, &module, SourceRef { file, line, column })
            },
        )?;
        self.function("loadsPackage", |stack: String| clock::loads_package(&stack))?;
        self.function("ignoresTime", |stack: String| clock::ignores_time(&stack))?;
        self.node_modules()
    }

    fn node_modules(&self) -> rquickjs::Result<()> {
        let handles = self.handles.clone();
        self.function("provideNode", move |ctx: Ctx<'js>, function: Function<'js>| {
            handles.node_module.replace(Some(Persistent::save(&ctx, function)));
        })?;
        let handles = self.handles.clone();
        self.function("nodeModule", move |ctx: Ctx<'js>, name: String| -> rquickjs::Result<Value<'js>> {
            if handles.node_module.borrow().is_none() {
                Module::evaluate(ctx.clone(), "stead:start-commonjs", "import \"stead:commonjs\";")?;
            }
            let function = handles.node_module.borrow().clone();
            match function {
                Some(function) => function.restore(&ctx)?.call((name,)),
                None => Ok(Value::new_undefined(ctx)),
            }
        })?;
        let session = self.session.clone();
        self.function("environment", move |ctx: Ctx<'js>| -> rquickjs::Result<Object<'js>> {
            let variables = session.borrow().requester.environment();
            let object = Object::new(ctx)?;
            for (name, value) in variables.unwrap_or_default() {
                define(&object, name, value)?;
            }
            Ok(object)
        })?;
        let (session, spend) = (self.session.clone(), self.spend_work());
        self.function("nodeReadBytes", move |ctx: Ctx<'js>, path: String| {
            spend(&ctx)?;
            let read = inside(&path).and_then(|path| session.borrow().requester.read_bytes(&path));
            let fits = read.as_ref().is_ok_and(|bytes| {
                bytes.as_ref().is_none_or(|bytes| session.borrow_mut().reserve(bytes.len()))
            });
            answer(&ctx, read.map(|bytes| bytes.filter(|_| fits)), |object, bytes| match bytes {
                Some(bytes) => define(object, "bytes", TypedArray::<u8>::new(ctx.clone(), bytes)?),
                None => Ok(()),
            })
        })?;
        let (session, spend) = (self.session.clone(), self.spend_work());
        self.function("nodeListFolder", move |ctx: Ctx<'js>, path: String| {
            spend(&ctx)?;
            let read = inside(&path).and_then(|path| session.borrow().requester.list(&path));
            answer(&ctx, read, |object, entries| {
                let Some(entries) = entries else { return Ok(()) };
                let names = Array::new(ctx.clone())?;
                for (index, entry) in entries.iter().enumerate() {
                    let kind = match entry.kind {
                        EntryKind::File => 'f',
                        EntryKind::Folder => 'd',
                        EntryKind::Other => '?',
                    };
                    define(&names, index as u32, format!("{kind}{}", entry.name))?;
                }
                define(object, "entries", names)
            })
        })?;
        let session = self.session.clone();
        self.function("nodeRealPath", move |ctx: Ctx<'js>, path: String| {
            let real = inside(&path).and_then(|path| session.borrow().requester.real_path(&path));
            answer(&ctx, real, |object, real| {
                define(object, "path", format!("{PROJECT}/{real}").trim_end_matches('/'))
            })
        })?;
        self.function("promiseState", promise_state)?;
        self.function("proxyTarget", |value: Value<'js>| {
            value.into_proxy().and_then(|proxy| proxy.target().ok())
        })?;
        self.digests()
    }

    fn digests(&self) -> rquickjs::Result<()> {
        self.function(
            "digest",
            |ctx: Ctx<'js>, algorithm: String, bytes: Value<'js>| -> rquickjs::Result<Value<'js>> {
                bytes_or_undefined(&ctx, codec::digest(&text_or_bytes(bytes)?, &algorithm))
            },
        )?;
        self.function(
            "hmac",
            |ctx: Ctx<'js>,
             algorithm: String,
             key: Value<'js>,
             bytes: Value<'js>|
             -> rquickjs::Result<Value<'js>> {
                let (key, bytes) = (text_or_bytes(key)?, text_or_bytes(bytes)?);
                bytes_or_undefined(&ctx, codec::hmac(&key, &bytes, &algorithm))
            },
        )
    }
}

fn bytes_or_undefined<'js>(ctx: &Ctx<'js>, bytes: Option<Vec<u8>>) -> rquickjs::Result<Value<'js>> {
    match bytes {
        Some(bytes) => TypedArray::<u8>::new(ctx.clone(), bytes).map(TypedArray::into_value),
        None => Ok(Value::new_undefined(ctx.clone())),
    }
}

/// Returns state and result of a promise, which only `util.inspect` shows; undefined for another value.
fn promise_state<'js>(ctx: Ctx<'js>, value: Value<'js>) -> rquickjs::Result<Option<Object<'js>>> {
    let Some(promise) = value.into_promise() else { return Ok(None) };
    let object = Object::new(ctx.clone())?;
    let (state, result) = match promise.result::<Value<'js>>() {
        None => ("pending", None),
        Some(Ok(result)) => ("resolved", Some(result)),
        Some(Err(_)) => ("rejected", Some(ctx.catch())),
    };
    define(&object, "state", state)?;
    define(&object, "result", result)?;
    Ok(Some(object))
}

/// Returns the path in the project of a path as the program sees it.
fn inside(path: &str) -> Result<String, String> {
    let rest = path.strip_prefix(PROJECT).filter(|rest| rest.is_empty() || rest.starts_with('/'));
    rest.and_then(|rest| join("", rest)).ok_or_else(|| "it is outside the project".to_owned())
}

/// Evaluates the expression that the code of a file is.
fn script<'js>(ctx: &Ctx<'js>, name: String, code: String) -> rquickjs::Result<Value<'js>> {
    let mut options = EvalOptions::default();
    options.strict = false;
    options.filename = Some(name);
    ctx.eval_with_options(code, options)
}

fn keep(session: &SharedSession, problem: Diagnostic) -> (String, usize) {
    let message = problem.message.clone();
    (message, session.borrow_mut().keep(CatchableError::Problem(problem)))
}

fn required<'js>(ctx: &Ctx<'js>, found: Result<Required, (String, usize)>) -> rquickjs::Result<Object<'js>> {
    let object = Object::new(ctx.clone())?;
    object.set_prototype(None)?;
    let (kind, name) = match found {
        Ok(Required::CommonJs(path)) => ("commonjs", path),
        Ok(Required::Json(path, text)) => {
            define(&object, "text", text)?;
            ("json", path)
        }
        Ok(Required::Module(path)) => ("module", path),
        Ok(Required::Stead) => ("stead", String::new()),
        Ok(Required::Provider(provider)) => ("provider", provider),
        Err((message, number)) => {
            define(&object, "number", number as u32)?;
            ("problem", message)
        }
    };
    define(&object, "kind", kind)?;
    define(&object, "name", name)?;
    Ok(object)
}

fn no_export(session: &mut Session, name: &str, module: &str, at: SourceRef) -> String {
    let message = format!("`{module}` has no export `{name}`");
    let problem = Diagnostic::error(Code::MODULE_NOT_FOUND, message.clone())
        .at(at, name.chars().count(), "imported here")
        .note("the file is CommonJS: its exports are the members of `module.exports` after it has run")
        .help("import the default, and look at its members: `import all from \"…\"`");
    session.report(problem);
    message
}
