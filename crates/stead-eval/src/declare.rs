//! Declares resources: their inputs as data, their options, and what is wrong with either.
//!
//! Problems are collected, not thrown, so that one evaluation shows all of them.

use rquickjs::Value;
use stead_model::{Code, Diagnostic, NodeId, SourceRef};
use stead_schema::check;

use crate::host::Shared;
use crate::options::{self, Given, Subject};
use crate::outputs;
use crate::session::{Progress, Session};
use crate::walk::{NotData, Walker, World};

pub(crate) fn provisioned<'js>(
    session: &Shared,
    world: &World<'js>,
    node: usize,
    inputs: &Value<'js>,
    options: &Value<'js>,
) -> rquickjs::Result<()> {
    let limits = session.borrow().limits;
    let expand = |node: i32| outputs::properties(session, node);
    let mut walker = Walker::new(world, limits.resource_bytes, Some(&expand));
    let object = inputs.as_object().filter(|object| world.is_plain(inputs, object));
    let members = match object {
        Some(object) => walker.inputs(object, limits.property_bytes)?,
        None => Default::default(),
    };
    let (problems, bytes, resources) = (walker.problems, walker.spent, walker.resources);
    let broken = !problems.is_empty() || (object.is_none() && !inputs.is_undefined());
    let mut given = read_options(session, world, Some(node), options)?;
    // What is set of a resource is known; that it must be there first is not said by its values.
    let depends_on = &mut given.options.depends_on;
    depends_on.extend(resources);
    depends_on.sort();
    depends_on.dedup();
    let mut session = session.borrow_mut();
    let session = &mut *session;
    if object.is_none() && broken {
        let what = session.describe_node(node as i32);
        let place = session.drafts.get(node).map(|draft| session.site_place(draft.site));
        let message = format!("the properties of {what} must be an object that the program knows");
        let problem = Diagnostic::error(Code::NOT_DATA, message);
        session.report(place.into_iter().fold(problem, |p, place| p.at(place.at, place.length, "made here")));
    }
    apply_options(session, node, given);
    session.keep(bytes);
    for problem in problems {
        report_not_data(session, node, problem);
    }
    if let Some(draft) = session.drafts.get_mut(node) {
        draft.inputs = members;
        draft.broken = broken;
        draft.progress = Progress::Declared;
    }
    Ok(())
}

pub(crate) fn group<'js>(
    session: &Shared,
    world: &World<'js>,
    node: usize,
    id: &Value<'js>,
    options: &Value<'js>,
) -> rquickjs::Result<()> {
    let mut given = read_options(session, world, None, options)?;
    options::read_group_id(&mut given, id);
    let mut session = session.borrow_mut();
    apply_options(&mut session, node, given);
    if let Some(draft) = session.drafts.get_mut(node) {
        draft.progress = Progress::Declared;
    }
    Ok(())
}

/// The options of a provisioned resource, or of a group.
fn read_options<'js>(
    session: &Shared,
    world: &World<'js>,
    provisioned: Option<usize>,
    options: &Value<'js>,
) -> rquickjs::Result<Given> {
    if options.is_undefined() {
        return Ok(Given::default());
    }
    let environment = session.borrow().setting.environment.clone();
    let schema = provisioned.and_then(|node| {
        let mut session = session.borrow_mut();
        let token = session.drafts.get(node)?.token.clone()?;
        session.schema(&token)
    });
    let type_of = |node: NodeId| session.borrow().drafts.get(node.index())?.token.clone();
    let subject = Subject { world, environment: &environment, schema: schema.as_deref(), type_of: &type_of };
    options::read(&subject, options)
}

fn apply_options(session: &mut Session, node: usize, given: Given) {
    let Some(site) = session.drafts.get(node).map(|draft| draft.site) else { return };
    for bad in given.problems {
        let (at, length) = property_place(session, site, &bad.option);
        let problem = Diagnostic::error(Code::BAD_OPTION, bad.message).at(at, length, "here");
        let problem = bad.help.into_iter().fold(problem, Diagnostic::help);
        session.report(problem);
    }
    if let Some(draft) = session.drafts.get_mut(node) {
        draft.id = given.id;
        draft.gid = given.gid;
        draft.options = given.options;
    }
}

/// Where a `new` sets a property, or else where the `new` is.
fn property_place(session: &Session, site: usize, property: &str) -> (SourceRef, usize) {
    let place = session.sites.key(site, property).unwrap_or_else(|| session.site_place(site));
    (place.at, place.length)
}

fn report_not_data(session: &mut Session, node: usize, found: NotData) {
    let Some(site) = session.drafts.get(node).map(|draft| draft.site) else { return };
    let (at, length) = property_place(session, site, found.path.root().unwrap_or_default());
    let what = session.describe_node(node as i32);
    let code = if found.too_large { Code::EVALUATION_LIMIT } else { Code::NOT_DATA };
    let message = format!("`{}` of {what}: {}", found.path, found.message);
    let problem = Diagnostic::error(code, message).at(at, length, "set here");
    session.report(found.help.into_iter().fold(problem, Diagnostic::help));
}

/// Everything in the declared inputs that does not fit the schemas.
pub(crate) fn check_schemas(session: &mut Session) {
    for node in 0..session.drafts.len() {
        let draft = &session.drafts[node];
        let (site, token) = (draft.site, draft.token.clone());
        if draft.progress != Progress::Declared || draft.broken {
            continue;
        }
        let Some(schema) = token.and_then(|token| session.schema(&token)) else { continue };
        for found in check(&schema, &session.drafts[node].inputs) {
            let (at, length) = property_place(session, site, found.path.root().unwrap_or_default());
            let what = session.describe_node(node as i32);
            let problem = Diagnostic::error(Code::BAD_PROPERTY, format!("{what}: {}", found.message));
            let problem = problem.at(at, length, "here");
            session.report(found.help.into_iter().fold(problem, Diagnostic::help));
        }
    }
}
