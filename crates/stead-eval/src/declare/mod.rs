//! Declares resources and groups: reads their inputs and options.
//!
//! Errors are collected instead of thrown, so that one evaluation shows all of them.
//! An error about misplaced arguments shows the corrected line.

pub(crate) mod conceal;
pub(crate) mod gid;
pub(crate) mod input_reader;
mod misplaced;
pub(crate) mod moves;
pub(crate) mod names;
mod options;
pub(crate) mod outputs;

use rquickjs::Value;
use stead_model::{Code, Diagnostic, Inputs, NodeId, SourceRef};
use stead_schema::{Shape, TypeSchema, WrongReference, wrong_references};

use crate::engine::session::{Progress, Session};
use crate::engine::values::Intrinsics;
use crate::host::SharedSession;
use crate::unknown::errors;
use input_reader::{InputReader, NotData};
use options::{OptionContext, ParsedOptions};

/// Declares a provisioned resource whose node is already allocated. Returns its secret inputs, which replace those that the
/// program gave.
pub(crate) fn provisioned<'js>(
    session: &SharedSession,
    intrinsics: &Intrinsics<'js>,
    node: usize,
    inputs: &Value<'js>,
    options: &Value<'js>,
) -> rquickjs::Result<Inputs> {
    if inputs.is_string() {
        misplaced::report_id_first(&mut session.borrow_mut(), node);
        return Ok(Inputs::new());
    }
    let limits = session.borrow().limits;
    let expand = |node: i32| outputs::properties(session, node);
    let mut reader = InputReader::new(intrinsics, limits.resource_bytes, Some(&expand));
    let object = inputs.as_object().filter(|object| intrinsics.is_plain(inputs, object));
    let members = match object {
        Some(object) => reader.inputs(object, limits.property_bytes)?,
        None => Default::default(),
    };
    let (problems, bytes, resources) = (reader.problems, reader.spent, reader.resources);
    let has_invalid_inputs = !problems.is_empty() || (object.is_none() && !inputs.is_undefined());
    let mut parsed = read_options(session, intrinsics, Some(node), options)?;
    // A resource used as a value expands to properties, some of them known: only `dependsOn` keeps the dependency.
    let depends_on = &mut parsed.options.depends_on;
    depends_on.extend(resources);
    depends_on.sort();
    depends_on.dedup();
    let mut session = session.borrow_mut();
    let session = &mut *session;
    if object.is_none() && has_invalid_inputs {
        let what = session.describe_node(node as i32);
        let place = session.drafts.get(node).map(|draft| session.locate_site(draft.site));
        let message = format!("the properties of {what} must be a plain object, known while planning");
        let problem = Diagnostic::error(Code::NOT_DATA, message);
        session.report(
            place.into_iter().fold(problem, |p, place| p.at(place.at, place.length, "declared here")),
        );
    }
    apply_options(session, node, parsed);
    session.reserve(bytes);
    for problem in problems {
        report_not_data(session, node, problem);
    }
    let secret = conceal::inputs(session, node, &members);
    if let Some(draft) = session.drafts.get_mut(node) {
        draft.inputs = members;
        for (name, input) in &secret {
            let given = draft.inputs.insert(name.clone(), input.clone());
            draft.concealed.extend(given.map(|given| (name.clone(), given)));
        }
        draft.has_invalid_inputs = has_invalid_inputs;
        draft.progress = Progress::Declared;
    }
    Ok(secret)
}

/// Declares a group whose node is already allocated.
pub(crate) fn group<'js>(
    session: &SharedSession,
    intrinsics: &Intrinsics<'js>,
    node: usize,
    id: &Value<'js>,
    options: &Value<'js>,
) -> rquickjs::Result<()> {
    let mut parsed = read_options(session, intrinsics, None, options)?;
    options::read_group_id(&mut parsed, id);
    let mut session = session.borrow_mut();
    apply_options(&mut session, node, parsed);
    if let Some(draft) = session.drafts.get_mut(node) {
        draft.progress = Progress::Declared;
    }
    Ok(())
}

/// Parses the options of a resource, or of a group if `provisioned` is `None`.
fn read_options<'js>(
    session: &SharedSession,
    intrinsics: &Intrinsics<'js>,
    provisioned: Option<usize>,
    options: &Value<'js>,
) -> rquickjs::Result<ParsedOptions> {
    if options.is_undefined() {
        return Ok(ParsedOptions::default());
    }
    let environment = session.borrow().settings.environment.clone();
    let schema = provisioned.and_then(|node| {
        let mut session = session.borrow_mut();
        let token = session.drafts.get(node)?.token.clone()?;
        session.schema(&token)
    });
    let type_of = |node: NodeId| session.borrow().drafts.get(node.index())?.token.clone();
    let context =
        OptionContext { intrinsics, environment: &environment, schema: schema.as_deref(), type_of: &type_of };
    options::read(&context, options)
}

fn apply_options(session: &mut Session, node: usize, parsed: ParsedOptions) {
    let Some(site) = session.drafts.get(node).map(|draft| draft.site) else { return };
    for bad in parsed.problems {
        let (at, length) = locate_property(session, site, &bad.option);
        let problem = Diagnostic::error(Code::BAD_OPTION, bad.message).at(at, length, "here");
        let problem = bad.help.into_iter().fold(problem, Diagnostic::help);
        session.report(problem);
    }
    if let Some(draft) = session.drafts.get_mut(node) {
        draft.id = parsed.id;
        draft.gid = parsed.gid;
        draft.options = parsed.options;
    }
}

/// Locates the key of a property in the arguments of a `new`, or else the `new` itself.
fn locate_property(session: &Session, site: usize, property: &str) -> (SourceRef, usize) {
    let place = session.sites.key(site, property).unwrap_or_else(|| session.locate_site(site));
    (place.at, place.length)
}

fn report_not_data(session: &mut Session, node: usize, found: NotData) {
    let Some(site) = session.drafts.get(node).map(|draft| draft.site) else { return };
    let (at, length) = locate_property(session, site, found.path.root().unwrap_or_default());
    let what = session.describe_node(node as i32);
    let code = if found.too_large { Code::EVALUATION_LIMIT } else { Code::NOT_DATA };
    let message = format!("`{}` of {what}: {}", found.path, found.message);
    let problem = Diagnostic::error(code, message).at(at, length, "set here");
    session.report(found.help.into_iter().fold(problem, Diagnostic::help));
}

/// Reports every declared input that does not match its schema.
pub(crate) fn check_schemas(session: &mut Session) {
    for node in 0..session.drafts.len() {
        let draft = &session.drafts[node];
        let (site, token) = (draft.site, draft.token.clone());
        if draft.progress != Progress::Declared || draft.has_invalid_inputs {
            continue;
        }
        let Some(schema) = token.and_then(|token| session.schema(&token)) else { continue };
        let misplaced = misplaced::options(&schema, &session.drafts[node].inputs);
        if !misplaced.is_empty() {
            misplaced::report_options(session, node, &misplaced);
        }
        let problems = conceal::check_inputs(&schema, &session.drafts[node]);
        let is_misplaced =
            |root: Option<&str>| root.is_some_and(|root| misplaced.iter().any(|it| it == root));
        for found in problems.into_iter().filter(|found| !is_misplaced(found.path.root())) {
            let (at, length) = locate_property(session, site, found.path.root().unwrap_or_default());
            let what = session.describe_node(node as i32);
            let problem = Diagnostic::error(Code::BAD_PROPERTY, format!("{what}: {}", found.message));
            let problem = problem.at(at, length, "here");
            session.report(found.help.into_iter().fold(problem, Diagnostic::help));
        }
        check_references(session, node, &schema);
    }
}

/// Reports every unknown that is given to a property of another type.
fn check_references(session: &mut Session, node: usize, schema: &TypeSchema) {
    let shape_of = |id| session.shape(id).cloned().unwrap_or(Shape::Any);
    let wrong = wrong_references(schema, &session.drafts[node].inputs, &shape_of);
    let site = session.drafts[node].site;
    for WrongReference { path, reference, wanted, given } in wrong {
        let (at, length) = locate_property(session, site, path.root().unwrap_or_default());
        let what = session.describe_node(node as i32);
        let value = errors::describe(session, reference.0);
        let (wanted, given) = (wanted.words(), given.words());
        let message = format!("{what}: `{path}` must be {wanted}, but it is {given}: {value}");
        session.report(Diagnostic::error(Code::BAD_PROPERTY, message).at(at, length, "here"));
    }
}
