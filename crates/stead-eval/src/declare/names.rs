//! Assigns names to resources and reports duplicates.

use std::collections::HashMap;

use stead_model::{
    Code, Diagnostic, Environment, Graph, Module, Name, NameParts, Node, NodeKind, Options, Scope, ScopePart,
    TypeToken,
};

use crate::engine::session::{Draft, Progress, Session};
use crate::program::specifier::module_name;

/// Returns the nodes of the graph with their names. Errors are reported to the session.
pub(crate) fn nodes(session: &mut Session) -> Vec<Node> {
    let drafts = std::mem::take(&mut session.drafts);
    let mut names: Vec<Name> = Vec::with_capacity(drafts.len());
    let mut scopes: Vec<Scope> = Vec::with_capacity(drafts.len());
    let mut counters = HashMap::new();
    let mut seen: HashMap<Name, usize> = HashMap::with_capacity(drafts.len());
    let mut problems = Vec::new();
    for (index, draft) in drafts.iter().enumerate() {
        let around = draft.parent.and_then(|parent| scopes.get(parent.index())).cloned().unwrap_or_default();
        let (name, id) = name(session, draft, &around, &mut counters);
        scopes.push(scope_inside(draft, around, id));
        if draft.progress != Progress::Declared {
            problems.push(unfinished(session, draft));
        } else if let Some(first) = seen.get(&name) {
            problems.push(duplicate(session, &name, &drafts[*first], draft));
        } else {
            seen.insert(name.clone(), index);
        }
        names.push(name);
    }
    for problem in problems {
        session.report(problem);
    }
    drafts.into_iter().zip(names).map(|(draft, name)| node(session, draft, name)).collect()
}

/// Returns the name of a resource and the id in it.
fn name(
    session: &Session,
    draft: &Draft,
    scope: &Scope,
    counters: &mut HashMap<(Module, Scope, TypeToken), usize>,
) -> (Name, Option<String>) {
    let environment: Environment = session.settings.environment.clone();
    if let Some(gid) = &draft.gid {
        return (NameParts::Global { environment, gid: gid.clone() }.into(), Some(gid.clone()));
    }
    let file = session.sites.file(draft.site).map_or(session.settings.entry.as_str(), |file| &file.path);
    let module = session.files.get(file).map_or_else(|| module_name(file), |file| file.module.as_str());
    let module = Module(module.to_owned());
    let resource = resource_type(draft);
    let id = draft.id.clone().or_else(|| {
        let counter = counters.entry((module.clone(), scope.clone(), resource.clone())).or_insert(0);
        *counter += 1;
        (*counter > 1).then(|| counter.to_string())
    });
    (NameParts::Placed { environment, module, scope: scope.clone(), ty: resource, id: id.clone() }.into(), id)
}

/// Returns the scope of resources inside a resource. A resource with a `gid` starts a new scope chain.
fn scope_inside(draft: &Draft, around: Scope, id: Option<String>) -> Scope {
    let mut scope = if draft.gid.is_some() { Scope::new() } else { around };
    scope.push(ScopePart { class: draft.class.clone(), id });
    scope
}

fn resource_type(draft: &Draft) -> TypeToken {
    draft.token.clone().unwrap_or_else(|| TypeToken(draft.class.clone()))
}

fn node(session: &Session, draft: Draft, name: Name) -> Node {
    let resource = resource_type(&draft);
    let kind = if draft.token.is_some() { NodeKind::Provisioned } else { NodeKind::Group };
    let source = session.locate_site(draft.site).at;
    let options = Options { pinned: draft.pin_setting(), ..draft.options };
    let Draft { parent, inputs, .. } = draft;
    Node { name, ty: resource, kind, parent, inputs, options, source, marks: Default::default() }
}

fn duplicate(session: &Session, name: &Name, first: &Draft, second: &Draft) -> Diagnostic {
    let (here, there) = (session.locate_site(second.site), session.locate_site(first.site));
    let problem = Diagnostic::error(Code::DUPLICATE_NAME, format!("two resources have the name `{name}`"))
        .at(here.at, here.length, "second declaration")
        .at(there.at, there.length, "first declaration");
    match &**name {
        NameParts::Global { .. } => {
            problem.help("a `gid` must be unique in its environment: change one of them")
        }
        NameParts::Placed { .. } => problem.help("give one of them another `id`"),
    }
}

/// Returns the error for a resource whose constructor threw an exception that the program caught.
///
/// It is unknown whether the program intends the resource to exist.
fn unfinished(session: &Session, draft: &Draft) -> Diagnostic {
    let place = session.locate_site(draft.site);
    let what = resource_type(draft);
    Diagnostic::error(Code::PROGRAM_THREW, format!("the constructor of this {what} did not finish"))
        .at(place.at, place.length, "declared here")
        .note("the program caught the error of the constructor and continued without the resource")
        .help("decide before `new` whether to create the resource, instead of catching the error")
}

/// Returns the graph of all declared resources, without outputs.
pub(crate) fn graph(session: &mut Session) -> Graph {
    let nodes = nodes(session);
    Graph { nodes, exprs: std::mem::take(&mut session.exprs), outputs: Default::default() }
}
