//! Plans for small programs and states: the steps and their order.

use std::collections::BTreeMap;
use std::sync::Arc;

use proptest::prelude::*;
use stead_guard::pins::SettledGraph;
use stead_model::{
    CopyRef, Expr, Generation, Graph, Input, Lifecycle, Name, NoFunctions, Node, NodeId, NodeKind, Options,
    PhysicalId, PhysicalIdentity, Resource, SourceRef, StackId, TypeToken, Uid, Value,
};
use stead_schema::{Access, Catalog, Change, Problem, Property, ReplaceOrder, Shape, TypeSchema, diff};
use stead_state::{Snapshot, State};

use crate::{
    Action, CanonicalIdentities, Certainty, Plan, Planner, Purpose, Question, Request, Unidentified, Verdict,
    Why, plan,
};

mod counterparts;
mod determinism;
mod format;
mod imports;
mod moves;
mod pins;
mod places;
mod record_change;
mod replacement;
mod selection;
mod siblings;
mod spellings;

fn schema() -> TypeSchema {
    TypeSchema::new(
        "t.T",
        "",
        vec![
            Property::new("place", Shape::String, Access::Optional, "").create_only(),
            Property::new("path", Shape::String, Access::Optional, "").create_only(),
            Property::new("words", Shape::Any, Access::Filled, "").create_only(),
            Property::new("size", Shape::Any, Access::Optional, ""),
            Property::new("sealed", Shape::Any, Access::Optional, ""),
            Property::new("serial", Shape::Integer, Access::ReadOnly, "").stable(),
            Property::new("etag", Shape::String, Access::ReadOnly, ""),
        ],
    )
}

fn catalog() -> Catalog {
    [schema()].into_iter().collect()
}

/// Returns the problems of changes that the provider cannot make in place: the changes of `sealed`.
fn impossible(changes: &[Change]) -> Vec<Problem> {
    let sealed = changes.iter().filter(|change| change.path.root() == Some("sealed"));
    let problem = |change: &Change| Problem {
        path: change.path.clone(),
        message: "it is sealed".to_owned(),
        help: Some("name `sealed` in the option `replaceOnChanges`".to_owned()),
    };
    sealed.map(problem).collect()
}

fn source() -> SourceRef {
    SourceRef { file: "main.ts".into(), line: 1, column: 1 }
}

fn name(id: &str) -> Name {
    format!("dev:main:t.T#{id}").parse().unwrap()
}

/// Builds a program.
#[derive(Default)]
struct Program(Graph);

impl Program {
    fn node(mut self, id: &str, inputs: &[(&str, Input)]) -> Program {
        let inputs = inputs.iter().map(|(key, input)| ((*key).to_owned(), input.clone())).collect();
        let node = Node::new(name(id), TypeToken("t.T".into()), NodeKind::Provisioned, source());
        self.0.nodes.push(Node { inputs, ..node });
        self
    }

    /// Returns a property of an earlier node.
    fn of(&mut self, node: u32, property: &str) -> Input {
        Input::Deferred(self.0.exprs.push(Expr::Property { node: NodeId(node), property: property.into() }))
    }

    fn options(mut self, set: impl FnOnce(&mut Options)) -> Program {
        set(&mut self.0.nodes.last_mut().unwrap().options);
        self
    }

    fn plan(&self, base: &State) -> Plan {
        self.ask(base, &Purpose::Up.into()).unwrap()
    }

    fn ask(&self, base: &State, request: &Request) -> Result<Plan, Vec<stead_model::Diagnostic>> {
        let (catalog, mut verdicts) = (catalog(), BTreeMap::new());
        let graph = SettledGraph::from_records(self.0.clone());
        let canonical = canonical(base, &graph, &catalog);
        let mut planner = Planner::new(base, &graph, &catalog, &canonical, request, &NoFunctions)?;
        loop {
            let questions = planner.questions(usize::MAX);
            if questions.is_empty() {
                break;
            }
            for question in questions {
                let changes = changes(&question);
                let order = ReplaceOrder::CreateFirst;
                let (found, place) = (None, crate::PlaceChange::Untold);
                let identity = late_identity(&graph.nodes[question.node.index()], &question.inputs);
                let impossible = impossible(&changes);
                let inputs = question.inputs;
                let verdict = Verdict::Valid { inputs, changes, order, found, place, identity, impossible };
                verdicts.insert(question.node, verdict.clone());
                planner.answer(question.node, verdict);
            }
        }
        let made = planner.finish()?;
        let again = plan(base, &graph, &catalog, &canonical, request, &NoFunctions, &verdicts)?;
        assert_eq!(serde_json::to_vec(&made).unwrap(), serde_json::to_vec(&again).unwrap());
        for (index, step) in made.steps.iter().enumerate() {
            assert!(step.after.iter().all(|after| after.0 < index), "{}", show(&made));
        }
        Ok(made)
    }
}

/// Returns the changes that a provider would tell. Another spelling of a path is none.
fn changes(question: &Question<'_>) -> Vec<Change> {
    let Some(old) = question.old else { return Vec::new() };
    let path = |value: Option<&Value>| value.and_then(Value::as_str).map(place);
    let before = path(old.inputs.get("path"));
    let is_same = before == path(question.inputs.get("path").and_then(Input::as_known));
    let mut changes = diff(&schema(), &old.inputs, &question.inputs);
    changes.retain(|change| !is_same || change.path.root() != Some("path"));
    changes
}

/// Returns the answers of a provider for which `./` at the start of a path means nothing. No question is asked without such a path.
fn canonical(base: &State, graph: &Graph, catalog: &Catalog) -> CanonicalIdentities {
    let questions = Unidentified::of(base, graph, catalog, |_, _| true);
    let paths: Vec<Option<String>> = questions
        .iter()
        .map(|question| Some(question.description().1.get("path")?.as_str()?.to_owned()))
        .collect();
    if !paths.iter().flatten().any(|path| path.starts_with("./")) {
        return CanonicalIdentities::default();
    }
    let place = |path: Option<String>| path.iter().map(|path| place(path)).collect();
    CanonicalIdentities::of(&questions, paths.into_iter().map(place))
}

fn place(path: &str) -> PhysicalIdentity {
    PhysicalIdentity::new(format!("/p/{}", path.trim_start_matches("./")))
}

/// Returns the identity that only the inputs of a verdict tell.
fn late_identity(node: &Node, inputs: &stead_model::Inputs) -> Vec<PhysicalIdentity> {
    let path = inputs.get("path").filter(|path| node.inputs.get("path") != Some(*path));
    let path = path.and_then(Input::as_known).and_then(Value::as_str);
    path.filter(|path| path.starts_with("./")).map(place).into_iter().collect()
}

fn known(text: &str) -> Input {
    Input::Known(Value::from(text))
}

/// A recorded resource: id, inputs, ids of its dependencies.
type Row<'a> = (&'a str, &'a [(&'a str, &'a str)], &'a [&'a str]);

/// Returns the state with each record changed by `edit`.
fn edited(base: &State, edit: impl Fn(&str, &mut Resource)) -> State {
    let mut snapshot = base.snapshot(None);
    for resource in &mut snapshot.resources {
        let name = resource.name.short().to_owned();
        edit(&name, Arc::make_mut(resource));
    }
    State::from(snapshot)
}

/// Records that a property of the resource depends on another resource.
fn comes_from(resource: &mut Resource, property: &str, source: &str) {
    resource.property_dependencies.insert(property.to_owned(), vec![Uid(format!("u-{source}"))]);
}

/// Returns a recorded resource.
pub(crate) fn recorded(name: &str) -> Resource {
    state(&[(name, &[], &[])]).resources()[0].clone()
}

fn state(resources: &[Row<'_>]) -> State {
    let mut snapshot = Snapshot::empty(StackId("s".into()));
    snapshot.uids = resources.len() as u64;
    for (id, inputs, depends) in resources {
        snapshot.resources.push(Arc::new(Resource {
            id: Some(PhysicalId(format!("{id}-1"))),
            inputs: inputs.iter().map(|(key, value)| ((*key).to_owned(), Value::from(*value))).collect(),
            outputs: [("serial".to_owned(), Value::from(7)), ("etag".to_owned(), Value::from("e"))].into(),
            dependencies: depends
                .iter()
                .map(|on| CopyRef { uid: Uid(format!("u-{on}")), generation: Generation(1) })
                .collect(),
            ..Resource::new(Uid(format!("u-{id}")), name(id), TypeToken("t.T".into()), source())
        }));
    }
    State::from(snapshot)
}

/// Prints each step as `action name <- [the steps it waits for]`.
fn show(plan: &Plan) -> String {
    let mut text = String::new();
    for (index, step) in plan.steps.iter().enumerate() {
        let what = match (&step.action, &step.why) {
            (Action::Create { .. }, Why::Replaced { certainty: Certainty::Possible, .. }) => "may replace",
            (Action::Create { .. }, Why::Replaced { .. }) => "replace",
            (Action::Create { .. }, Why::Missing) => "re-create",
            (Action::Create { .. }, _) => "create",
            (Action::Update { .. }, _) => "update",
            (Action::Delete { .. }, Why::OldCopy) => "delete old",
            (Action::Delete { .. }, _) => "delete",
            (Action::Record { .. }, _) => "record",
            (Action::Forget { .. }, Why::DeletedWithContainer { .. }) => "deleted with container",
            (Action::Forget { .. }, Why::Retained) => "retain",
            (Action::Forget { .. }, _) => "forget",
            (Action::Move { .. }, Why::NameVacated) => "vacate name",
            (Action::Move { .. }, _) => "move",
            (Action::Import { .. }, _) => "import",
            (Action::Barrier, _) => "barrier",
        };
        let after: Vec<String> = step.after.iter().map(|id| id.0.to_string()).collect();
        text += &format!("{index} {what} {} <- [{}]\n", step.name.short(), after.join(" "));
    }
    text
}

#[test]
fn plan_for_an_empty_state_creates_in_dependency_order() {
    let mut program = Program::default().node("vpc", &[("size", known("1"))]);
    let serial = program.of(0, "serial");
    let program = program.node("db", &[("size", serial)]).node("free", &[]);
    let plan = program.plan(&state(&[]));
    insta::assert_snapshot!(show(&plan), @r"
    0 create vpc <- []
    1 create db <- [0]
    2 create free <- []
    ");
    assert_eq!((plan.summary.create, plan.uids), (3, 3));
}

#[test]
fn plan_without_changes_is_empty() {
    let mut program = Program::default().node("vpc", &[("size", known("1"))]);
    let etag = program.of(0, "etag");
    let program = program.node("db", &[("size", etag)]);
    let base = state(&[("vpc", &[("size", "1")], &[]), ("db", &[("size", "e")], &["vpc"])]);
    let base = edited(&base, |name, resource| {
        if name == "db" {
            comes_from(resource, "size", "vpc");
        }
    });
    let plan = program.plan(&base);
    assert!(plan.is_empty(), "{}", show(&plan));
    assert_eq!(plan.summary.unchanged, 2);
}

#[test]
fn update_makes_only_unstable_outputs_unknown() {
    let base = state(&[
        ("vpc", &[("size", "1")], &[]),
        ("stable", &[("size", "x7")], &["vpc"]),
        ("follows", &[("size", "e")], &["vpc"]),
    ]);
    let base = edited(&base, |name, resource| {
        if name != "vpc" {
            comes_from(resource, "size", "vpc");
        }
    });
    let mut program = Program::default().node("vpc", &[("size", known("2"))]);
    let parts = vec![
        stead_model::TemplatePart::Text("x".into()),
        stead_model::TemplatePart::Hole(program.of(0, "serial")),
    ];
    let serial = Input::Deferred(program.0.exprs.push(Expr::Template(parts)));
    let etag = program.of(0, "etag");
    let plan = program.node("stable", &[("size", serial)]).node("follows", &[("size", etag)]).plan(&base);
    insta::assert_snapshot!(show(&plan), @r"
    0 update vpc <- []
    1 update follows <- [0]
    ");
}

#[test]
fn replacement_creates_first_and_deletes_the_old_copy_last() {
    let base = state(&[("vpc", &[("place", "a")], &[]), ("db", &[("size", "7")], &["vpc"])]);
    let mut program = Program::default().node("vpc", &[("place", known("b"))]);
    let serial = program.of(0, "serial");
    let program = program.node("db", &[("size", serial)]);
    let plan = program.plan(&base);
    insta::assert_snapshot!(show(&plan), @r"
    0 replace vpc <- []
    1 update db <- [0]
    2 barrier vpc <- [0 1]
    3 delete old vpc <- [2]
    ");
    assert_eq!((plan.summary.replace, plan.summary.update, plan.summary.delete), (1, 1, 0));
}

#[test]
fn delete_before_replace_deletes_first() {
    let base = state(&[("vpc", &[("place", "a")], &[])]);
    let program = Program::default()
        .node("vpc", &[("place", known("b"))])
        .options(|options| options.delete_before_replace = Some(true));
    insta::assert_snapshot!(show(&program.plan(&base)), @r"
    0 delete old vpc <- []
    1 replace vpc <- [0]
    ");
}

#[test]
fn removed_resource_is_deleted_after_its_dependents() {
    let base = state(&[("a", &[], &[]), ("b", &[], &["a"]), ("c", &[], &["b"]), ("keep", &[], &[])]);
    let plan = Program::default().node("keep", &[]).node("new", &[]).plan(&base);
    insta::assert_snapshot!(show(&plan), @r"
    0 create new <- []
    1 delete c <- [0]
    2 delete b <- [0 1]
    3 delete a <- [0 2]
    ");
}

#[test]
fn changed_dependency_or_mark_changes_the_record_only() {
    let base = state(&[("a", &[], &[]), ("b", &[], &["a"])]);
    let program = Program::default()
        .node("a", &[])
        .options(|options| options.prevent_delete = Some(true))
        .node("b", &[]);
    insta::assert_snapshot!(show(&program.plan(&base)), @r"
    0 record a <- []
    1 record b <- []
    ");
}

#[test]
fn missing_resource_is_created_again_and_a_condemned_copy_is_deleted() {
    let mut snapshot = state(&[("a", &[], &[]), ("b", &[], &[])]).snapshot(None);
    Arc::make_mut(&mut snapshot.resources[0]).lifecycle = Lifecycle::Replacing;
    Arc::make_mut(&mut snapshot.resources[0]).id = None;
    let condemned = Resource { lifecycle: Lifecycle::Condemned, ..snapshot.resources[1].as_ref().clone() };
    Arc::make_mut(&mut snapshot.resources[1]).generation = Generation(2);
    snapshot.resources.push(Arc::new(condemned));
    let base = State::from(snapshot);
    let plan = Program::default().node("a", &[]).node("b", &[]).plan(&base);
    insta::assert_snapshot!(show(&plan), @r"
    0 re-create a <- []
    1 delete b <- [0]
    ");
    insta::assert_snapshot!(show(&Program::default().plan(&base)), @r"
    0 forget a <- []
    1 delete b <- []
    2 delete b <- []
    ");
}

#[test]
fn dependents_of_a_group_wait_for_one_barrier() {
    let mut program = Program::default().node("group", &[]);
    program.0.nodes[0].kind = NodeKind::Group;
    let mut program = program.node("x", &[]).node("y", &[]);
    program.0.nodes[1].parent = Some(NodeId(0));
    program.0.nodes[2].parent = Some(NodeId(0));
    let program = program.node("after", &[]).options(|options| options.depends_on.push(NodeId(0)));
    insta::assert_snapshot!(show(&program.plan(&state(&[]))), @r"
    0 create x <- []
    1 create y <- []
    2 barrier group <- [0 1]
    3 create after <- [2]
    ");
}

#[test]
fn dependents_of_an_unchanged_resource_wait_for_its_dependencies() {
    let base = state(&[("a", &[("size", "1")], &[]), ("b", &[], &["a"])]);
    let mut program = Program::default()
        .node("a", &[("size", known("2"))])
        .node("b", &[])
        .options(|options| options.depends_on.push(NodeId(0)));
    let etag = program.of(1, "etag");
    insta::assert_snapshot!(show(&program.node("c", &[("size", etag)]).plan(&base)), @r"
    0 update a <- []
    1 create c <- [0]
    ");
}

#[test]
fn plan_with_changed_outputs_only_is_not_empty() {
    let mut program = Program::default().node("a", &[]);
    let serial = program.of(0, "serial");
    program.0.outputs.insert("serial", serial);
    let plan = program.plan(&state(&[("a", &[], &[])]));
    assert!(plan.steps.is_empty() && !plan.is_empty());
    assert_eq!(plan.outputs["serial"], Input::Known(Value::from(7)));
}

proptest! {
    #[test]
    fn steps_wait_only_for_earlier_steps(
        old in proptest::collection::btree_map(0u8..12, (0u8..3, 0u8..12), 0..12),
        new in proptest::collection::btree_map(0u8..12, (0u8..3, 0u8..12), 0..12),
    ) {
        let names: Vec<String> = (0..12).map(|n| format!("r{n:02}")).collect();
        let values = ["x", "y", "z"];
        let rows: Vec<_> = old
            .iter()
            .map(|(n, (value, on))| {
                let depends = old.contains_key(on) && on < n;
                let depends: Vec<&str> = depends.then(|| names[usize::from(*on)].as_str()).into_iter().collect();
                (names[usize::from(*n)].as_str(), [("place", values[usize::from(*value)])], depends)
            })
            .collect();
        let rows: Vec<Row<'_>> =
            rows.iter().map(|(name, inputs, depends)| (*name, &inputs[..], &depends[..])).collect();
        let mut program = Program::default();
        let mut placed: BTreeMap<u8, u32> = BTreeMap::new();
        for (n, (value, on)) in &new {
            let mut inputs = vec![("place", known(values[usize::from(*value)]))];
            if let Some(node) = placed.get(on) {
                inputs.push(("size", program.of(*node, "etag")));
            }
            program = program.node(&names[usize::from(*n)], &inputs);
            placed.insert(*n, program.0.nodes.len() as u32 - 1);
        }
        let plan = program.plan(&state(&rows));
        for (index, step) in plan.steps.iter().enumerate() {
            prop_assert!(step.after.iter().all(|after| after.0 < index), "{}", show(&plan));
        }
        let summary = plan.summary;
        prop_assert_eq!(summary.create + summary.update + summary.replace + summary.unchanged, new.len());
    }
}
