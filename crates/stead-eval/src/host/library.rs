//! Host functions for the library of module `"stead"`, YAML and templates.
//!
//! A call whose arguments are all known is evaluated at once; any other becomes a built-in of the graph.

use rquickjs::object::Filter;
use rquickjs::{Array, Ctx, Object, Value};
use stead_model::{
    Builtin, Code, Diagnostic, Expr, ExprId, Input, Operand, SourceRef, TemplatePart, Value as Plain, nearest,
};

use super::errors::record;
use super::{Handles, Host, SharedSession, answer};
use crate::declare::input_reader::InputReader;
use crate::engine::session::NotAdded;
use crate::engine::values::{Intrinsics, define};
use crate::library::{self, Piece, Tree, YamlText};

/// Result of a library call.
enum Outcome {
    Known(Tree),
    Deferred(ExprId),
}

impl<'js> Host<'js> {
    pub(super) fn library(&self) -> rquickjs::Result<()> {
        let (session, handles) = (self.session.clone(), self.handles.clone());
        self.function("library", move |ctx: Ctx<'js>, name: String, arguments: Array<'js>| {
            let outcome = call(&ctx, &session, &handles, &name, &arguments)?;
            answer(&ctx, outcome, |out, outcome| fill(&ctx, out, &outcome))
        })?;
        let (session, handles) = (self.session.clone(), self.handles.clone());
        self.function("yamlStringify", move |ctx: Ctx<'js>, value: Value<'js>| {
            let outcome = stringify(&ctx, &session, &handles, &value)?;
            answer(&ctx, outcome, |out, outcome| fill(&ctx, out, &outcome))
        })?;
        let session = self.session.clone();
        self.function("templatePieces", move |ctx: Ctx<'js>, text: String, file: String, stack: String| {
            let pieces = library::pieces(&text).map_err(|(message, line, column)| {
                template_problem(&session, message, None, (&file, line, column), &stack)
            });
            answer(&ctx, pieces, |out, pieces| define(out, "pieces", piece_list(&ctx, &pieces)?))
        })?;
        let session = self.session.clone();
        self.function(
            "templateProblem",
            move |message: String, wanted: String, names: Vec<String>, place: Array<'js>, stack: String| {
                let file: String = place.get(0).unwrap_or_default();
                let (line, column) = (place.get(1).unwrap_or_default(), place.get(2).unwrap_or_default());
                let meant = nearest(&wanted, names.iter().map(String::as_str));
                let help = meant.map(|meant| format!("did you mean `{meant}`?"));
                template_problem(&session, message, help, (&file, line, column), &stack)
            },
        )
    }
}

fn fill<'js>(ctx: &Ctx<'js>, out: &Object<'js>, outcome: &Outcome) -> rquickjs::Result<()> {
    match outcome {
        Outcome::Known(tree) => define(out, "value", tree.to_js(ctx)?),
        Outcome::Deferred(id) => define(out, "deferred", id.0),
    }
}

/// Calls a function, or defers it if an argument is unknown. The error is the message of an exception.
fn call<'js>(
    ctx: &Ctx<'js>,
    session: &SharedSession,
    handles: &Handles,
    name: &str,
    arguments: &Array<'js>,
) -> rquickjs::Result<Result<Outcome, String>> {
    let intrinsics = handles.intrinsics(ctx)?;
    let mut reader = InputReader::new(&intrinsics, session.borrow().limits.property_bytes, None);
    let mut inputs = Vec::with_capacity(arguments.len());
    for argument in arguments.iter::<Value<'js>>() {
        let argument = argument?;
        // A missing argument in the middle counts as null.
        let argument = if argument.is_undefined() { Value::new_null(ctx.clone()) } else { argument };
        match reader.input(&argument)? {
            Some(input) => inputs.push(input),
            None => {
                let why = reader.problems.first().map(|problem| problem.message.clone()).unwrap_or_default();
                return Ok(Err(format!("{name}: an argument is not data: {why}")));
            }
        }
    }
    if let Some(values) = inputs.iter().map(|input| input.as_known().cloned()).collect::<Option<Vec<Plain>>>()
    {
        let result =
            library::call(name, &values).unwrap_or_else(|| Err(format!("there is no function `{name}`")));
        return Ok(result.map(Outcome::Known));
    }
    let bytes = reader.spent + inputs.len() * size_of::<Operand>();
    let builtin = Builtin::Global(format!("{}{name}", library::PREFIX));
    let expr = Expr::Builtin { builtin, operands: inputs.into_iter().map(Operand::Input).collect() };
    let id = session.borrow_mut().expression(expr, bytes);
    Ok(id.map(Outcome::Deferred).map_err(not_added))
}

fn not_added(why: NotAdded) -> String {
    match why {
        NotAdded::OutOfMemory => "out of memory".to_owned(),
        NotAdded::TooLarge => "the value would exceed the limit of a deferred value".to_owned(),
    }
}

/// Writes a value as YAML. Unknown values become JSON in a template.
fn stringify<'js>(
    ctx: &Ctx<'js>,
    session: &SharedSession,
    handles: &Handles,
    value: &Value<'js>,
) -> rquickjs::Result<Result<Outcome, String>> {
    let intrinsics = handles.intrinsics(ctx)?;
    let mut reader = InputReader::new(&intrinsics, session.borrow().limits.property_bytes, None);
    let Some(tree) = ordered(&intrinsics, &mut reader, value, 0)? else {
        let why = reader.problems.first().map(|problem| problem.message.clone()).unwrap_or_default();
        return Ok(Err(format!("yaml.stringify: the value is not data: {why}")));
    };
    let (texts, unknowns) = library::write_yaml(&tree);
    if unknowns.is_empty() {
        return Ok(Ok(Outcome::Known(texts.concat().into())));
    }
    let mut session = session.borrow_mut();
    let mut parts = Vec::with_capacity(texts.len() + unknowns.len());
    let mut texts = texts.into_iter();
    parts.extend(texts.next().map(TemplatePart::Text));
    for (id, text) in unknowns.into_iter().zip(texts) {
        let json = Expr::Json { of: Box::new(Input::Deferred(id)), indent: 0 };
        let json = match session.expression(json, 0) {
            Ok(json) => json,
            Err(why) => return Ok(Err(not_added(why))),
        };
        parts.push(TemplatePart::Hole(Input::Deferred(json)));
        parts.push(TemplatePart::Text(text));
    }
    let id = session.expression(Expr::Template(parts), reader.spent);
    Ok(id.map(Outcome::Deferred).map_err(not_added))
}

/// Reads a value and keeps the order of keys in its objects.
fn ordered<'js>(
    intrinsics: &Intrinsics<'js>,
    reader: &mut InputReader<'js, '_>,
    value: &Value<'js>,
    depth: usize,
) -> rquickjs::Result<Option<YamlText>> {
    let inner = depth < stead_model::MAX_NESTING;
    if let Some(array) = value.as_array().filter(|_| inner) {
        let mut items = Vec::new();
        for item in array.iter::<Value<'js>>() {
            let Some(item) = ordered(intrinsics, reader, &item?, depth + 1)? else { return Ok(None) };
            items.push(item);
        }
        return Ok(Some(YamlText::List(items)));
    }
    if let Some(object) = value.as_object().filter(|object| inner && intrinsics.is_plain(value, object)) {
        let mut entries = Vec::new();
        for property in object.own_props::<String, Value<'js>>(Filter::new().string().enum_only()) {
            let (key, item) = property?;
            if item.is_undefined() {
                continue;
            }
            let Some(item) = ordered(intrinsics, reader, &item, depth + 1)? else { return Ok(None) };
            entries.push((key, item));
        }
        return Ok(Some(YamlText::Map(entries)));
    }
    Ok(reader.input(value)?.map(from_input))
}

fn from_input(input: Input) -> YamlText {
    match input {
        Input::Known(value) => YamlText::Value(value),
        Input::Deferred(id) => YamlText::Unknown(id),
        Input::List(items) => YamlText::List(items.iter().cloned().map(from_input).collect()),
        Input::Map(map) => {
            YamlText::Map(map.iter().map(|(key, item)| (key.to_string(), from_input(item.clone()))).collect())
        }
    }
}

/// Returns text pieces as strings and placeholders as lists of name, line and column.
fn piece_list<'js>(ctx: &Ctx<'js>, pieces: &[Piece]) -> rquickjs::Result<Array<'js>> {
    let all = Array::new(ctx.clone())?;
    for (index, piece) in pieces.iter().enumerate() {
        match piece {
            Piece::Text(text) => define(&all, index as u32, text.as_str())?,
            Piece::Name { name, line, column } => {
                let place = Array::new(ctx.clone())?;
                define(&place, 0, name.as_str())?;
                define(&place, 1, *line)?;
                define(&place, 2, *column)?;
                define(&all, index as u32, place)?;
            }
        }
    }
    Ok(all)
}

/// Reports a problem in a template. `file` is empty for a template in the program.
fn template_problem(
    session: &SharedSession,
    message: String,
    help: Option<String>,
    (file, line, column): (&str, u32, u32),
    stack: &str,
) -> String {
    record(session, |session| {
        let inline = file.is_empty() && line > 0;
        let message =
            if inline { format!("template, line {line}, column {column}: {message}") } else { message };
        let mut problem = Diagnostic::error(Code::PROGRAM_THREW, message);
        if !file.is_empty() && line > 0 {
            problem = problem.at(SourceRef { file: file.to_owned(), line, column }, 0, "here");
        }
        let problem = match session.locate_stack(stack) {
            Some(place) => problem.at(place.at, place.length, "rendered here"),
            None => problem,
        };
        help.into_iter().fold(problem, |problem, help| problem.help(help))
    })
}
