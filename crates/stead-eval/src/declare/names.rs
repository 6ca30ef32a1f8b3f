//! Assigns names to resources and reports duplicates.
//!
//! **Invariant:** a counter distinguishes only resources that nobody named. Resources inside two instances with the same
//! given id are never counted up: which of them is `#2` would depend on the order of the modules.

use std::collections::{HashMap, HashSet};

use stead_model::{
    Code, Diagnostic, Environment, Graph, Module, Name, NameParts, Node, NodeKind, Options, Scope, ScopePart,
    TypeToken,
};

use super::moves;
use crate::engine::session::{Draft, Progress, Session};
use crate::program::specifier::module_name;

/// Returns the nodes of the graph with their names. Errors are reported to the session.
pub(crate) fn nodes(session: &mut Session) -> Vec<Node> {
    let drafts = std::mem::take(&mut session.drafts);
    let mut names: Vec<Name> = Vec::with_capacity(drafts.len());
    let mut scopes: Vec<Scope> = Vec::with_capacity(drafts.len());
    let mut counters: Counters = HashMap::new();
    let mut seen: HashMap<Name, usize> = HashMap::with_capacity(drafts.len());
    let mut reported = HashSet::new();
    let mut problems = Vec::new();
    for (index, draft) in drafts.iter().enumerate() {
        let around = draft.parent.and_then(|parent| scopes.get(parent.index())).cloned().unwrap_or_default();
        let Named { name, id, counted_after } = name(session, index, draft, &around, &mut counters);
        scopes.push(scope_inside(draft, around, id));
        let first = seen.get(&name).copied();
        let owners = first.or(counted_after).and_then(|first| owners_with_one_id(&drafts, first, index));
        if draft.progress != Progress::Declared {
            problems.push(unfinished(session, draft));
        } else if let Some((one, other)) = owners {
            if reported.insert((one, other)) {
                let name = first.or(counted_after).and_then(|first| names.get(first)).unwrap_or(&name);
                problems.push(owners_collide(session, name, [&drafts[one], &drafts[other]], draft));
            }
        } else if let Some(first) = first {
            reported.insert((first, index));
            problems.push(duplicate(session, &name, &drafts[first], draft));
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

/// Number of resources without an id in one place, and the first of them.
type Counters = HashMap<(Module, Scope, TypeToken), (usize, usize)>;

/// Name of a resource.
struct Named {
    name: Name,
    /// Id in the name: given, or a counter.
    id: Option<String>,
    /// First resource of the same type and place, if the id is a counter.
    counted_after: Option<usize>,
}

fn name(session: &Session, index: usize, draft: &Draft, scope: &Scope, counters: &mut Counters) -> Named {
    let environment: Environment = session.settings.environment.clone();
    if let Some(gid) = &draft.gid {
        let name = NameParts::Global { environment, gid: gid.clone() }.into();
        return Named { name, id: Some(gid.clone()), counted_after: None };
    }
    let file = session.sites.file(draft.site).map_or(session.settings.entry.as_str(), |file| &file.path);
    let module = session.files.get(file).map_or_else(|| module_name(file), |file| file.module.as_str());
    let module = Module(module.to_owned());
    let resource = resource_type(draft);
    let mut counted_after = None;
    let id = draft.id.clone().or_else(|| {
        let place = (module.clone(), scope.clone(), resource.clone());
        let (first, counter) = counters.entry(place).or_insert((index, 0));
        *counter += 1;
        counted_after = (*counter > 1).then_some(*first);
        (*counter > 1).then(|| counter.to_string())
    });
    let placed =
        NameParts::Placed { environment, module, scope: scope.clone(), ty: resource, id: id.clone() };
    Named { name: placed.into(), id, counted_after }
}

/// Returns the two different instances around two resources of one name that have the same given id, outermost first.
fn owners_with_one_id(drafts: &[Draft], first: usize, second: usize) -> Option<(usize, usize)> {
    let parent = |index: usize| drafts.get(index)?.parent.map(|parent| parent.index());
    let mut found = None;
    let mut at = (parent(first), parent(second));
    while let (Some(one), Some(other)) = at {
        if one == other {
            break;
        }
        if drafts[one].id.is_some() && drafts[one].id == drafts[other].id {
            found = Some((one, other));
        }
        at = (parent(one), parent(other));
    }
    found
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

/// Returns the error for a resource inside two instances that have the same id in different modules.
fn owners_collide(session: &Session, name: &Name, owners: [&Draft; 2], inner: &Draft) -> Diagnostic {
    let what = |owner: &Draft| format!("{}#{}", owner.class, owner.id.as_deref().unwrap_or_default());
    let [first, second] = owners.map(|owner| session.locate_site(owner.site));
    let inner = session.locate_site(inner.site);
    let (class, id) = (what(owners[0]), owners[0].id.clone().unwrap_or_default());
    Diagnostic::error(Code::DUPLICATE_NAME, format!("two resources have the name `{name}`"))
        .at(second.at, second.length, format!("second `{}`", what(owners[1])))
        .at(first.at, first.length, format!("first `{class}`"))
        .at(inner.at, inner.length, "declared inside both")
        .note(format!("the name has the module of the inner `new`, so that every `{class}` of the program has the same one"))
        .help(format!("give one of the two another id than `{id}`"))
        .help(format!("if both were applied before, the second has counters in its recorded names (`{name}#2`): after the change, the plan proposes to rename them"))
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
    let mut nodes = nodes(session);
    moves::resolve(session, &mut nodes);
    Graph { nodes, exprs: std::mem::take(&mut session.exprs), outputs: Default::default() }
}
