//! Calls of `move`, resolved once all resources have names.
//!
//! **Invariant:** a former name or path that no stack records is no error. The environment may have applied the move already,
//! or may be new.

use std::collections::HashMap;

use stead_model::physical_path::{physical_path, split_path};
use stead_model::{
    Code, Diagnostic, Environment, Hint, Name, NameParts, NextStep, Node, NodeId, NodeKind, TypeToken,
    nearest,
};

use super::options::values::alias;
use crate::engine::session::Session;
use crate::program::source_text::SourceSpan;

/// A call of `move`.
#[derive(Debug)]
pub(crate) struct Move {
    /// Former name, with or without the environment, or former path.
    pub(crate) from: String,
    pub(crate) to: MoveTarget,
    pub(crate) place: Option<SourceSpan>,
}

/// The resource that a former one is now.
#[derive(Debug)]
pub(crate) enum MoveTarget {
    Node(NodeId),
    /// By its name, with or without the environment, or by its path.
    Named(String),
}

/// The former place of a resource.
struct Former {
    path: String,
    /// `None` if the program gives the path.
    name: Option<Name>,
}

/// Adds each former name and path to the options of its resource. Errors are reported to the session.
pub(crate) fn resolve(session: &mut Session, nodes: &mut [Node]) {
    let moves = std::mem::take(&mut session.moves);
    if moves.is_empty() {
        return;
    }
    let declared = Declared::new(nodes);
    let mut targets: HashMap<NodeId, &Move> = HashMap::new();
    let mut sources: HashMap<String, &Move> = HashMap::new();
    let mut found = Vec::new();
    let mut problems = Vec::new();
    for call in &moves {
        let resolved = declared.target(call, nodes).and_then(|target| {
            let former = former(call, &nodes[target.index()], &session.settings.environment)?;
            match declared.by_path.get(&former.path) {
                Some(still) => Err(still_declared(call, &former.path, &nodes[still.index()])),
                None => Ok((target, former)),
            }
        });
        match resolved {
            Err(problem) => problems.push(problem),
            Ok((target, former)) => {
                let (first, second) =
                    (targets.insert(target, call), sources.insert(former.path.clone(), call));
                if let Some(first) = first {
                    problems.push(twice(
                        call,
                        first,
                        &format!("two moves lead to {}", nodes[target.index()].name),
                    ));
                } else if let Some(first) = second {
                    problems.push(twice(call, first, &format!("{} moves to two resources", former.path)));
                }
                found.push((target, former));
            }
        }
    }
    problems.into_iter().for_each(|problem| session.report(problem));
    for (target, Former { path, name }) in found {
        let options = &mut nodes[target.index()].options;
        options.moved_from = Some(path);
        options.aliases.extend(name);
    }
}

/// The declared resources by path and by name.
struct Declared {
    by_path: HashMap<String, NodeId>,
    by_name: HashMap<String, NodeId>,
}

impl Declared {
    fn new(nodes: &[Node]) -> Declared {
        let provisioned = || {
            let all = nodes.iter().enumerate().map(|(at, node)| (node, NodeId::at(at)));
            all.filter(|(node, _)| node.kind == NodeKind::Provisioned)
        };
        Declared {
            by_path: provisioned().map(|(node, id)| (physical_path(&node.name, &node.ty), id)).collect(),
            by_name: provisioned().map(|(node, id)| (node.name.to_string(), id)).collect(),
        }
    }

    fn target(&self, call: &Move, nodes: &[Node]) -> Result<NodeId, Diagnostic> {
        let text = match &call.to {
            MoveTarget::Node(id) => {
                let group = nodes.get(id.index()).filter(|node| node.kind == NodeKind::Group);
                return group.map_or(Ok(*id), |group| Err(group_moved(call, group)));
            }
            MoveTarget::Named(text) => text,
        };
        let environment = nodes.first().map(|node| node.name.environment().clone());
        let whole = environment.and_then(|environment| alias(text, &environment).ok());
        let named = whole.and_then(|name| self.by_name.get(&name.to_string()));
        let found = named.or_else(|| self.by_path.get(text)).copied();
        found.ok_or_else(|| self.not_declared(call, text, nodes))
    }

    fn not_declared(&self, call: &Move, text: &str, nodes: &[Node]) -> Diagnostic {
        let problem =
            problem(call, format!("the program declares no resource {text:?}, which `move` leads to"));
        let short = |id: &NodeId| {
            let name = &nodes[id.index()].name;
            name.shown_in(name.environment()).to_string()
        };
        let names: Vec<String> =
            self.by_name.values().map(short).chain(self.by_path.keys().cloned()).collect();
        let mut known: Vec<&str> = names.iter().map(String::as_str).collect();
        known.sort_unstable();
        match nearest(text, known) {
            Some(meant) => problem.help(format!("did you mean {meant:?}?")),
            None => problem.help("pass the resource itself, or its name or path as a plan prints them"),
        }
    }
}

/// Reads the former name or path, which must have the type of the resource.
fn former(call: &Move, node: &Node, environment: &Environment) -> Result<Former, Diagnostic> {
    let other_type = |ty: &str| {
        problem(
            call,
            format!("{:?} cannot become {}: the types {ty} and {} differ", call.from, node.name, node.ty),
        )
    };
    if !call.from.contains([':', '#']) {
        return match split_path(&call.from) {
            Some((ty, _)) if ty == node.ty.as_str() => Ok(Former { path: call.from.clone(), name: None }),
            Some((ty, _)) => Err(other_type(ty)),
            None => Err(not_a_name(call)),
        };
    }
    let name = alias(&call.from, environment).map_err(|_| not_a_name(call))?;
    match &*name {
        NameParts::Placed { ty: TypeToken(ty), .. } if *ty != node.ty.as_str() => Err(other_type(ty)),
        _ => Ok(Former { path: physical_path(&name, &node.ty), name: Some(name) }),
    }
}

fn problem(call: &Move, message: String) -> Diagnostic {
    let problem = Diagnostic::error(Code::BAD_MOVE, message);
    match &call.place {
        Some(place) => problem.at(place.at.clone(), place.length, "here"),
        None => problem,
    }
}

fn not_a_name(call: &Move) -> Diagnostic {
    problem(call, format!("{:?} is neither a name nor a path", call.from))
        .help("a name is `main:local.File#old`, with or without the environment; a path is `local.File.old`")
        .help(Hint::text("to see the names: ").then(NextStep::ListState))
}

fn group_moved(call: &Move, group: &Node) -> Diagnostic {
    problem(call, format!("`move` leads to {}, which is a group", group.name))
        .note("Only the resources inside a group are recorded.")
        .help("call `move` for each resource inside it")
}

fn still_declared(call: &Move, path: &str, node: &Node) -> Diagnostic {
    problem(call, format!("{path} has moved, but the program still declares it"))
        .at(node.source.clone(), 0, "declared here")
        .help("give this declaration another id, or remove the `move`")
}

fn twice(call: &Move, first: &Move, message: &str) -> Diagnostic {
    let problem = problem(call, message.to_owned());
    let problem = match &first.place {
        Some(place) => problem.at(place.at.clone(), place.length, "first move"),
        None => problem,
    };
    problem.help("keep one of the two")
}
