//! Host functions that report errors and console output.

use rquickjs::{Ctx, Function, Persistent};
use stead_model::{Code, Diagnostic, TypeToken, nearest};

use super::{Host, SharedSession};
use crate::engine::code::CatchableError;
use crate::engine::session::Session;
use crate::program::source_text::SourceSpan;
use crate::unknown::{errors, members};
use crate::{ConsoleLevel, ConsoleLine};

impl<'js> Host<'js> {
    pub(super) fn errors(&self) -> rquickjs::Result<()> {
        let session = self.session.clone();
        self.function("refuseAt", move |site: usize, id: u32, stack: String| {
            record(&session, |session| {
                let problem = errors::at_site(session, site, id);
                by_caller(session, problem, &stack)
            })
        })?;
        let session = self.session.clone();
        self.function("refuse", move |what: String, id: u32, detail: String, stack: String| {
            record(&session, |session| {
                let problem = errors::by_stack(session, &what, id, &detail, &stack);
                by_caller(session, problem, &stack)
            })
        })?;
        let session = self.session.clone();
        self.function("refuseMember", move |site: usize, id: u32, key: String| {
            record(&session, |session| {
                let place = session.locate_site(site);
                members::no_member(session, "member", id, &key, Some(place))
            })
        })?;
        let session = self.session.clone();
        self.function("refuseResource", move |node: i32, stack: String| {
            record(&session, |session| errors::resource_as_text(session, node, &stack))
        })?;
        let session = self.session.clone();
        self.function("refuseBuiltin", move |name: String, help: String, stack: String| {
            session.borrow_mut().keep(CatchableError::Builtin { name, help, stack }) as u32
        })?;
        let session = self.session.clone();
        self.function("refuseFinally", move |name: String, help: String, stack: String| {
            let mut session = session.borrow_mut();
            let number = session.keep(CatchableError::Builtin { name, help, stack });
            let problem = session.uncaught(number);
            let message = problem.as_ref().map(|problem| problem.message.clone()).unwrap_or_default();
            problem.into_iter().for_each(|problem| session.report(problem));
            message
        })?;
        let session = self.session.clone();
        self.function("notAClass", move |site: usize| not_a_class(&session.borrow(), site))?;
        let session = self.session.clone();
        self.function("noSuchProperty", move |token: String, key: String, node: i32, stack: String| {
            record(&session, |session| no_such_property(session, token, &key, node, &stack))
        })
    }

    pub(super) fn messages(&self) -> rquickjs::Result<()> {
        let session = self.session.clone();
        self.function("log", move |level: u8, text: String, stack: String| {
            let mut session = session.borrow_mut();
            // A deferred function may hold a secret, so that nothing it prints is kept.
            if session.has_run() {
                return;
            }
            if !session.reserve(text.len() + size_of::<ConsoleLine>()) {
                if let Some(problem) = session.diagnostics.pop() {
                    let problem = session.label_stack(problem, &stack);
                    session.report(problem);
                }
                return;
            }
            let place = session.locate_stack(&stack).map(|place| place.at);
            let level = match level {
                0 => ConsoleLevel::Debug,
                1 => ConsoleLevel::Info,
                2 => ConsoleLevel::Warn,
                _ => ConsoleLevel::Error,
            };
            session.console.push(ConsoleLine { level, text, place });
        })?;
        let handles = self.handles.clone();
        self.function("thrownAt", move |ctx: Ctx<'js>, function: Function<'js>| {
            handles.thrown_at.replace(Some(Persistent::save(&ctx, function)));
        })?;
        let session = self.session.clone();
        self.function("describe", move |id: u32| errors::describe(&session.borrow(), id))?;
        let session = self.session.clone();
        self.function("describeNode", move |node: i32| session.borrow().describe_node(node))
    }
}

/// Puts the caller's place in the program first for an error inside a package, and proposes `apply` for the call.
fn by_caller(session: &mut Session, problem: Diagnostic, stack: &str) -> Diagnostic {
    let labels = problem.labels.len();
    let own = problem.labels.first().map(|label| label.place.file.clone());
    let problem = session.caller_first(problem, stack);
    let moved =
        problem.labels.first().map(|label| label.place.file.clone()) != own || problem.labels.len() > labels;
    if !moved {
        return problem;
    }
    problem.help("call the package once the value is known: `stead.apply(value, v => …)` with the call in the function")
}

/// Reports an error and returns its message for the exception.
pub(super) fn record(session: &SharedSession, problem: impl FnOnce(&mut Session) -> Diagnostic) -> String {
    let mut session = session.borrow_mut();
    let problem = problem(&mut session);
    let message = problem.message.clone();
    session.report(problem);
    message
}

/// Returns the message for a `new` of a value that is not a class, usually a misspelled name.
fn not_a_class(session: &Session, site: usize) -> String {
    let place = session.locate_site(site);
    let written = session.files.get(&place.at.file).and_then(|file| {
        let text = file.source.from(&place.at).strip_prefix("new")?.trim_start();
        Some(text.split(|c: char| c.is_whitespace() || "(;,)".contains(c)).next()?.to_owned())
    });
    let Some(written) = written.filter(|written| !written.is_empty()) else {
        return "not a class".to_owned();
    };
    let meant = written.rsplit_once('.').and_then(|(before, class)| {
        let types =
            session.files.get(&place.at.file).map(|file| types_of(session, file.source.text(), before));
        let types = types.unwrap_or_default();
        let classes = types.iter().filter_map(|token| token.as_str().rsplit('.').next());
        nearest(class, classes).map(|meant| format!("; did you mean `{before}.{meant}`?"))
    });
    format!("`{written}` is not a class{}", meant.unwrap_or_default())
}

/// Returns the type or service that a program may mean by `s3.Buket` in `s3.Buket.get("x")`, whose member `key` was read.
pub(crate) fn meant_by_undefined(session: &Session, place: &SourceSpan, key: &str) -> Option<String> {
    let file = session.files.get(&place.at.file)?;
    let rest = file.source.from(&place.at);
    let is_name = |c: char| c.is_alphanumeric() || "_$.".contains(c);
    let path = rest.match_indices(&format!(".{key}")).find_map(|(at, _)| {
        let start = rest[..at].rfind(|c| !is_name(c)).map_or(0, |before| before + 1);
        rest[start..at].rsplit_once('.')
    });
    let (before, member) = path.filter(|(before, _)| !before.is_empty())?;
    let own = session.requester.types(before);
    let services = own.iter().filter_map(|token| token.as_str().split('.').nth(1));
    let types = types_of(session, file.source.text(), before);
    let classes = types.iter().filter(|token| !own.contains(token));
    let names = classes.filter_map(|token| token.as_str().rsplit('.').next()).chain(services);
    let names: std::collections::BTreeSet<&str> = names.collect();
    let meant = nearest(member, names.iter().copied()).filter(|_| !names.contains(member))?;
    Some(format!("`{before}.{member}` does not exist; did you mean `{before}.{meant}`?"))
}

/// Returns the types that a program may mean by the name before a class: those of the provider with that name, or those
/// of a service with that name, of the providers that the file imports.
fn types_of(session: &Session, text: &str, before: &str) -> Vec<TypeToken> {
    let service = before.rsplit('.').next().unwrap_or_default();
    let imported = text
        .split("stead/")
        .skip(1)
        .map(|rest| rest.split(|c: char| !c.is_ascii_alphanumeric() && c != '-').next().unwrap_or_default());
    let imported: std::collections::BTreeSet<&str> = imported.collect();
    let all = imported.into_iter().flat_map(|provider| session.requester.types(provider));
    let in_service = all.filter(|token| token.as_str().rsplit('.').nth(1) == Some(service));
    let own = session.requester.types(before);
    own.into_iter().chain(in_service).collect()
}

fn no_such_property(session: &mut Session, token: String, key: &str, node: i32, stack: &str) -> Diagnostic {
    let token = TypeToken(token);
    let schema = session.schema(&token);
    let names: Vec<&str> =
        schema.iter().flat_map(|schema| &schema.properties).map(|property| property.name.as_str()).collect();
    let mut problem = Diagnostic::error(Code::NO_SUCH_PROPERTY, format!("{token} has no property `{key}`"));
    if let Some(place) = session.locate_stack(stack) {
        let file = session.files.get(&place.at.file);
        let place = file.map_or(place.clone(), |file| file.source.member_near(&place, key));
        problem = problem.at(place.at, place.length, "read here");
    }
    if let Some(place) = session.declared_at(node) {
        problem = problem.at(place.at, place.length, "the resource is declared here");
    }
    match nearest(key, names.iter().copied()) {
        Some(meant) => problem.help(format!("did you mean `{meant}`?")),
        None => problem.help(format!("its properties are: {}", names.join(", "))),
    }
}
