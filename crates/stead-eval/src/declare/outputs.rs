//! Reads the exports of the entry point as outputs of the stack.

use rquickjs::{Object, Value};
use stead_model::{Code, Diagnostic, Expr, ExprId, Input, Inputs};

use crate::declare::input_reader::{InputReader, NotData};
use crate::engine::session::{Progress, Session};
use crate::engine::values::Intrinsics;
use crate::host::SharedSession;
use crate::program::source_text::SourceSpan;

/// Returns the outputs: data and unknowns unchanged, a resource as the map of its properties.
///
/// Functions and classes are not outputs.
pub(crate) fn read<'js>(
    session: &SharedSession,
    intrinsics: &Intrinsics<'js>,
    exports: &Object<'js>,
) -> rquickjs::Result<Inputs> {
    let limits = session.borrow().limits;
    let expand = |node: i32| properties(session, node);
    let mut outputs = Inputs::new();
    for name in exports.keys::<String>() {
        let name = name?;
        let value: Value<'js> = exports.get(name.as_str())?;
        if value.is_undefined() || (value.is_function() && !is_unknown(intrinsics, &value)?) {
            continue;
        }
        let mut reader = InputReader::new(intrinsics, limits.resource_bytes, Some(&expand));
        let output = reader.input(&value)?;
        for problem in reader.problems {
            report(session, &name, problem);
        }
        if let Some(output) = output {
            let ephemeral = session.borrow().exprs.ephemeral_in(&output);
            match ephemeral {
                Some(id) => report_ephemeral(session, &name, id),
                None => drop(outputs.insert(name, output)),
            }
        }
    }
    Ok(outputs)
}

fn is_unknown<'js>(intrinsics: &Intrinsics<'js>, value: &Value<'js>) -> rquickjs::Result<bool> {
    match value.as_object() {
        Some(object) => Ok(object.get::<_, Value<'js>>(intrinsics.id_symbol.as_atom())?.is_int()),
        None => Ok(false),
    }
}

/// Returns the properties of a provisioned resource: its inputs, and expressions for the values that the provider sets.
pub(crate) fn properties(session: &SharedSession, node: i32) -> Option<Input> {
    let mut session = session.borrow_mut();
    let draft = session.draft(node).filter(|draft| draft.progress == Progress::Declared)?;
    let token = draft.token.clone()?;
    let mut properties = draft.inputs.clone();
    let schema = session.schema(&token)?;
    for property in schema.properties.iter().filter(|property| property.provisioned()) {
        if !properties.contains_key(&property.name) {
            let value = session.property(node.unsigned_abs(), &property.name)?;
            properties.insert(property.name.clone(), Input::Deferred(value));
        }
    }
    Some(Input::map(properties))
}

/// Reports an output with an ephemeral value, which state cannot record.
fn report_ephemeral(session: &SharedSession, name: &str, id: ExprId) {
    let mut session = session.borrow_mut();
    let message = format!("the output `{name}` is an ephemeral value, which is never recorded");
    let problem = exported(&session, Diagnostic::error(Code::EPHEMERAL_OUTPUT, message), name);
    let problem = match session.exprs.get(id) {
        Some(Expr::Ephemeral { function }) => problem.at(function.source.clone(), 0, "made ephemeral here"),
        _ => problem,
    };
    session.report(
        problem
            .note("the outputs of a stack are part of its state, and an ephemeral value exists only while a provider is called")
            .help("remove the export, or export a value that is not computed from it")
            .help("if the value may be stored encrypted, use `stead.secret` instead of `stead.ephemeral`"),
    );
}

/// Adds the place of an export to a problem.
fn exported(session: &Session, problem: Diagnostic, name: &str) -> Diagnostic {
    let entry = session.files.get(&session.settings.entry);
    let place = entry.and_then(|file| Some(file.source.locate(file.exports.span(name)?)));
    place
        .into_iter()
        .fold(problem, |problem, SourceSpan { at, length }| problem.at(at, length, "exported here"))
}

fn report(session: &SharedSession, name: &str, found: NotData) {
    let mut session = session.borrow_mut();
    let inside = if found.path.0.is_empty() { String::new() } else { format!(", at `{}`", found.path) };
    let message = format!("the output `{name}`{inside}: {}", found.message);
    let code = if found.too_large { Code::EVALUATION_LIMIT } else { Code::NOT_DATA };
    let problem = exported(&session, Diagnostic::error(code, message), name);
    session.report(found.help.into_iter().fold(problem, Diagnostic::help));
}
