//! Graphs and plans as data for tests: names without the environment, and unknowns and secrets as marked objects.
//!
//! **Invariant:** the data of a secret is its origin, never its value.

use serde::Serialize;
use stead_engine::Drift;
use stead_eval::ConsoleLevel;
use stead_model::{
    DeletionPolicy, Diagnostic, Environment, Graph, Input, Map, Name, NameParts, Node, NodeId, NodeKind,
    Resource, SIGNATURE_KEY, Value,
};
use stead_plan::{Action, Certainty, Plan, Step, Why};
use stead_schema::Change;

use super::declare::Declared;
use super::expression;
use super::requests::Filter;

/// Returns the answer to `declare`.
pub(super) fn declared(number: usize, declared: &Declared) -> Value {
    let Environment { name, namespace } = &declared.environment;
    let line = |line: &stead_eval::ConsoleLine| {
        let level = match line.level {
            ConsoleLevel::Debug => 0,
            ConsoleLevel::Info => 1,
            ConsoleLevel::Warn => 2,
            ConsoleLevel::Error => 3,
        };
        object([("level", Value::from(level)), ("text", Value::from(line.text.as_str()))])
    };
    let mut map = Map::from([
        ("graph", Value::from(number as i64)),
        ("env", Value::from(name.as_str())),
        ("project", Value::from(declared.version.project.name.as_str())),
        ("target", Value::from(declared.target.as_str())),
        ("config", Value::Map(declared.config.without_secrets().resolve().values)),
        ("outputs", inputs(&declared.graph, &declared.graph.outputs)),
        ("console", declared.console.iter().map(line).collect()),
    ]);
    map.extend(namespace.as_ref().map(|namespace| ("namespace", Value::from(namespace.as_str()))));
    Value::Map(map)
}

fn object<const N: usize>(members: [(&str, Value); N]) -> Value {
    Value::Map(members.into_iter().collect())
}

fn inputs(graph: &Graph, inputs: &stead_model::Inputs) -> Value {
    Value::Map(inputs.iter().map(|(key, value)| (key.clone(), input(graph, value))).collect())
}

/// Returns a declared value as data.
pub(super) fn input(graph: &Graph, value: &Input) -> Value {
    match value {
        Input::Known(value) => value.blinded(),
        Input::List(items) => items.iter().map(|item| input(graph, item)).collect(),
        Input::Map(map) => inputs(graph, map),
        Input::Deferred(_) => match expression::secret(graph, value) {
            Some(from) => object([(SIGNATURE_KEY, Value::from("secret")), ("from", Value::from(from))]),
            None => object([
                (SIGNATURE_KEY, Value::from("unknown")),
                ("of", expression::sources(graph, value).into_iter().map(Value::from).collect()),
                ("text", Value::from(expression::text(graph, value))),
            ]),
        },
    }
}

/// Returns a name as a person sees it in its own environment.
pub(super) fn shown(name: &Name) -> String {
    name.shown_in(name.environment())
}

/// Returns a declared resource as data.
pub(super) fn resource(declared: &Declared, id: NodeId) -> Value {
    let graph = &declared.graph;
    let node = &graph.nodes[id.index()];
    let marks = node.effective_marks();
    let name_of = |id: NodeId| graph.node(id).map(|node| Value::from(shown(&node.name)));
    let names = |ids: &mut dyn Iterator<Item = NodeId>| -> Value { ids.filter_map(name_of).collect() };
    let needs = graph.provisioned(&declared.needs[id.index()], &declared.needs);
    let mut map = Map::from([
        ("name", Value::from(shown(&node.name))),
        ("fullName", Value::from(node.name.to_string())),
        ("type", Value::from(node.ty.as_str())),
        ("group", Value::Bool(node.kind == NodeKind::Group)),
        ("inputs", inputs(graph, &node.inputs)),
        ("pinned", Value::Bool(graph.pin_setting(id).unwrap_or(false))),
        ("preventDelete", Value::Bool(marks.prevent_delete.is_some_and(|mark| mark.value))),
        ("deletionPolicy", Value::from(policy(marks.deletion_policy.map(|mark| mark.value)))),
        ("dependsOn", names(&mut node.options.depends_on.iter().copied())),
        ("dependencies", names(&mut needs.into_iter())),
        ("source", Value::from(node.source.to_string())),
    ]);
    map.extend(place(&node.name));
    map.extend(node.parent.and_then(name_of).map(|parent| ("parent", parent)));
    map.extend(node.options.provider.and_then(name_of).map(|provider| ("provider", provider)));
    map.insert("options", options(graph, node));
    Value::Map(map)
}

fn policy(policy: Option<DeletionPolicy>) -> &'static str {
    match policy {
        Some(DeletionPolicy::Retain) => "retain",
        Some(DeletionPolicy::Delete) | None => "delete",
    }
}

/// Returns the parts of a name.
fn place(name: &Name) -> Vec<(stead_model::Text, Value)> {
    match &**name {
        NameParts::Global { gid, .. } => vec![("gid".into(), Value::from(gid.as_str()))],
        NameParts::Placed { module, id, .. } => {
            let mut parts = vec![
                ("module".into(), Value::from(module.0.as_str())),
                ("scope".into(), Value::from(scope(name))),
            ];
            parts.extend(id.as_ref().map(|id| ("id".into(), Value::from(id.as_str()))));
            parts
        }
    }
}

/// Returns the classes and ids around a resource: `Network#main/Subnet`.
fn scope(name: &Name) -> String {
    let NameParts::Placed { scope, .. } = &**name else { return String::new() };
    let part = |part: &stead_model::ScopePart| match &part.id {
        Some(id) => format!("{}#{id}", part.class),
        None => part.class.clone(),
    };
    scope.iter().map(part).collect::<Vec<_>>().join("/")
}

/// Returns the options that have no field of their own.
fn options(graph: &Graph, node: &Node) -> Value {
    let options = &node.options;
    let texts = |items: &mut dyn Iterator<Item = String>| -> Value { items.map(Value::from).collect() };
    let mut map = Map::new();
    let lists = [
        ("ignoreChanges", texts(&mut options.ignore_changes.iter().map(ToString::to_string))),
        ("replaceOnChanges", texts(&mut options.replace_on_changes.iter().map(ToString::to_string))),
        ("sensitive", texts(&mut options.sensitive.iter().map(ToString::to_string))),
        ("aliases", texts(&mut options.aliases.iter().map(shown))),
        (
            "replaceWith",
            texts(
                &mut options
                    .replace_with
                    .iter()
                    .filter_map(|id| graph.node(*id))
                    .map(|node| shown(&node.name)),
            ),
        ),
    ];
    for (key, list) in lists {
        if list.as_list().is_some_and(|items| !items.is_empty()) {
            map.insert(key, list);
        }
    }
    let container = options.deleted_with.and_then(|id| graph.node(id));
    map.extend(container.map(|node| ("deletedWith", Value::from(shown(&node.name)))));
    map.extend(options.delete_before_replace.map(|flag| ("deleteBeforeReplace", Value::Bool(flag))));
    map.extend(options.import.as_ref().map(|id| ("import", Value::from(id.as_str()))));
    Value::Map(map)
}

/// Returns true if a resource fulfils all conditions.
pub(super) fn matches(declared: &Declared, id: NodeId, filter: &Filter) -> bool {
    let node = &declared.graph.nodes[id.index()];
    let (module, own_id) = match &*node.name {
        NameParts::Placed { module, id, .. } => (Some(module.0.as_str()), id.as_deref()),
        NameParts::Global { .. } => (None, None),
    };
    let is = |wanted: &Option<String>, found: Option<&str>| {
        wanted.as_deref().is_none_or(|wanted| found == Some(wanted))
    };
    let flag = |wanted: Option<bool>, found: bool| wanted.is_none_or(|wanted| wanted == found);
    is(&filter.ty, Some(node.ty.as_str()))
        && is(&filter.module, module)
        && is(&filter.scope, Some(&scope(&node.name)))
        && is(&filter.id, own_id)
        && flag(filter.pinned, declared.graph.pin_setting(id).unwrap_or(false))
        && flag(filter.group, node.kind == NodeKind::Group)
}

/// Returns a plan as data.
pub(super) fn plan(plan: &Plan, graph: &Graph) -> Map {
    let steps: Vec<Value> = plan.steps.iter().filter_map(|one| step(one, graph)).collect();
    let outputs = plan.output_changes.iter().map(|one| change(one, graph));
    let mut map = Map::from([
        ("complete", Value::Bool(true)),
        ("steps", Value::from(steps)),
        ("summary", data(&plan.summary)),
    ]);
    map.insert("outputChanges", outputs.collect());
    map
}

/// Returns the answer in place of a plan that was never made.
pub(super) fn no_plan() -> Map {
    let empty = || Value::from(Vec::<Value>::new());
    [("complete", Value::Bool(false)), ("steps", empty()), ("drift", empty())].into()
}

/// Adds the reasons of the guards to a plan.
pub(super) fn with_refusal(mut plan: Map, reasons: &[Diagnostic]) -> Map {
    let message = reasons.first().map(|problem| problem.message.clone()).unwrap_or_default();
    let refusal = [("message", Value::from(message)), ("problems", problems(reasons))];
    plan.insert("refusal", Value::Map(refusal.into()));
    plan
}

/// Returns problems as data: code and message of each.
pub(super) fn problems(problems: &[Diagnostic]) -> Value {
    let one = |problem: &Diagnostic| {
        object([
            ("code", Value::from(problem.code.as_str())),
            ("message", Value::from(problem.message.as_str())),
        ])
    };
    problems.iter().map(one).collect()
}

/// Returns the differences between records and real resources as data.
pub(super) fn drift(drift: &[Drift], graph: &Graph) -> Value {
    let one = |drift: &Drift| {
        object([
            ("name", Value::from(shown(&drift.name))),
            ("gone", Value::Bool(drift.found.is_none())),
            ("changes", drift.changes.iter().map(|one| change(one, graph)).collect()),
        ])
    };
    drift.iter().map(one).collect()
}

/// Returns a recorded resource as data.
pub(super) fn record(resource: &Resource) -> Value {
    let mut map = Map::from([
        ("name", Value::from(shown(&resource.name))),
        ("fullName", Value::from(resource.name.to_string())),
        ("type", Value::from(resource.ty.as_str())),
        ("pinned", Value::Bool(resource.pinned)),
        ("inputs", Value::Map(resource.inputs.clone()).blinded()),
        ("outputs", Value::Map(resource.outputs.clone()).blinded()),
    ]);
    map.extend(resource.id.as_ref().map(|id| ("id", Value::from(id.as_str()))));
    Value::Map(map)
}

/// Returns a serialisable value as data.
fn data<T: Serialize>(value: &T) -> Value {
    let text = serde_json::to_string(value).unwrap_or_default();
    serde_json::from_str(&text).unwrap_or_default()
}

/// Returns a step as data; `None` for steps without an effect of their own, such as the deletion in a replacement.
fn step(step: &Step, graph: &Graph) -> Option<Value> {
    let kind = match (&step.action, &step.why) {
        (Action::Barrier, _) | (_, Why::NameVacated) => return None,
        (Action::Delete { .. } | Action::Forget { .. }, Why::OldCopy) => return None,
        (Action::Forget { .. }, Why::DeletedWithContainer { .. }) if step.node.is_some() => return None,
        (Action::Forget { .. }, Why::DeletedWithContainer { .. }) | (Action::Delete { .. }, _) => "delete",
        (Action::Create { .. }, Why::Replaced { .. }) => "replace",
        (Action::Create { .. }, _) => "create",
        (Action::Import { .. }, _) => "import",
        (Action::Update { .. }, _) => "update",
        (Action::Record { .. }, _) => "record",
        (Action::Move { .. }, _) => "move",
        (Action::Forget { .. }, _) => "forget",
    };
    let forced_by: Vec<Value> = match &step.why {
        Why::Replaced { forced_by, .. } => {
            forced_by.iter().map(|path| Value::from(path.to_string())).collect()
        }
        _ => Vec::new(),
    };
    let possible = matches!(&step.why, Why::Replaced { certainty: Certainty::Possible, .. });
    let mut map = Map::from([
        ("kind", Value::from(kind)),
        ("name", Value::from(shown(&step.name))),
        ("fullName", Value::from(step.name.to_string())),
        ("type", Value::from(step.ty.as_str())),
        ("changes", step.changes.iter().map(|one| change(one, graph)).collect()),
        ("forcedBy", Value::from(forced_by)),
        ("possible", Value::Bool(possible)),
        ("source", Value::from(step.source.to_string())),
    ]);
    if let Action::Move { from, .. } = &step.action {
        map.insert("from", Value::from(shown(from)));
    }
    Some(Value::Map(map))
}

fn change(change: &Change, graph: &Graph) -> Value {
    let mut map = Map::from([
        ("path", Value::from(change.path.to_string())),
        ("replaces", Value::Bool(change.replaces)),
    ]);
    map.extend(change.old.as_ref().map(|old| ("old", old.clone())));
    map.extend(change.new.as_ref().map(|new| ("new", input(graph, new))));
    Value::Map(map)
}
