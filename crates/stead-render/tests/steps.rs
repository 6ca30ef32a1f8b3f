//! Every kind of step as text, each with its reason.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use std::collections::BTreeMap;

use stead_model::{
    CopyRef, Environment, ExprId, Generation, Input, Inputs, Map, Name, NodeId, PhysicalId, PropertyPath,
    Resource, SourceRef, TypeToken, Uid, Value,
};
use stead_plan::{
    Action, AfterDelete, Certainty, Incarnation, Match, Plan, RecordChange, ReplacementCause, Step, Summary,
    Why,
};
use stead_render::{Drifted, Header, Style, View, Wrap, drift, plan, read, same};
use stead_schema::{Change, ReplaceOrder};

fn name(id: &str) -> Name {
    format!("dev:main:t.T#{id}").parse().unwrap()
}

fn copy() -> CopyRef {
    CopyRef { uid: Uid("u1".into()), generation: Generation(1) }
}

fn known(value: &str) -> Input {
    Value::from(value).into()
}

fn later() -> Input {
    Input::Deferred(ExprId(0))
}

fn inputs() -> Inputs {
    [("place".to_owned(), known("here")), ("size".to_owned(), later())].into()
}

fn change(path: &str, old: Option<&str>, new: Option<Input>) -> Change {
    Change {
        path: PropertyPath::of(path),
        old: old.map(Value::from),
        new,
        replaces: false,
        tried_in_place: false,
    }
}

fn forcing(path: &str, old: &str, new: Input) -> Change {
    Change { replaces: true, ..change(path, Some(old), Some(new)) }
}

fn step(id: &str, action: Action, why: Why) -> Step {
    Step {
        action,
        why,
        name: name(id),
        ty: TypeToken("t.T".into()),
        source: SourceRef { file: "main.ts".into(), line: 3, column: 1 },
        changes: Vec::new(),
        unknown_from: Vec::new(),
        after: Vec::new(),
        node: Some(NodeId(0)),
        from_pinfile: Vec::new(),
    }
}

fn with(step: Step, changes: Vec<Change>, dragged_by: &[&str]) -> Step {
    Step { changes, unknown_from: dragged_by.iter().map(|id| name(id)).collect(), ..step }
}

fn create() -> Action {
    Action::Create { incarnation: Incarnation::First { counter: 0 }, inputs: inputs() }
}

fn next() -> Action {
    let Action::Create { inputs, .. } = create() else { panic!("`create` returns a create action") };
    let incarnation = Incarnation::Next { uid: Uid("u1".into()), generation: Generation(2) };
    Action::Create { incarnation, inputs }
}

fn delete() -> Action {
    Action::Delete { copy: copy(), after_delete: AfterDelete::Gone }
}

fn forget() -> Action {
    Action::Forget { copy: copy(), after_delete: AfterDelete::Gone }
}

fn replaced(
    order: ReplaceOrder,
    certainty: Certainty,
    forced_by: &[&str],
    drag: Option<ReplacementCause>,
) -> Why {
    let forced_by = forced_by.iter().map(|path| PropertyPath::of(path)).collect();
    Why::Replaced { forced_by, order, certainty, cause: drag }
}

fn moved(from: &str, to: &str, by: Match) -> Step {
    let (from, to) = (name(from), name(to));
    step("moved", Action::Move { copy: copy(), from, to }, Why::Moved { by })
}

/// The record of every resource that goes.
fn recorded() -> Resource {
    let place = SourceRef { file: "old.ts".into(), line: 9, column: 1 };
    let inputs = [("place".to_owned(), Value::from("here")), ("size".to_owned(), Value::from(3))];
    Resource {
        id: Some(PhysicalId("i-1".into())),
        inputs: inputs.into_iter().collect(),
        ..Resource::new(Uid("u1".into()), name("any"), TypeToken("t.T".into()), place)
    }
}

/// Renders a plan at the three widths.
fn rendered(steps: Vec<Step>) -> String {
    let all = Plan {
        steps,
        summary: Summary { unchanged: 1, ..Summary::default() },
        outputs: Inputs::new(),
        output_changes: Vec::new(),
        uids: 0,
        existing: BTreeMap::new(),
        places: Vec::new(),
        suggestions: Vec::new(),
        ambiguities: Vec::new(),
        unchanged: Vec::new(),
        purpose: Default::default(),
        outer: Default::default(),
    };
    let dev = Environment::new("dev");
    let record = recorded();
    let at = |width: usize| {
        let view = View {
            header: Header { project: "shop", environment: &dev, target: "local" },
            record: &|copy: &CopyRef| (copy.uid == record.uid).then_some(&record),
            schema: &|_| None,
            unchanged: &[],
            style: Style { width, wrap: Wrap::Words, ..Style::default() },
        };
        format!("== {width} columns\n{}", plan(&all, &view))
    };
    [60, 80, 120].map(at).join("\n")
}

#[test]
fn creations_imports_updates_and_record_changes() {
    let update = || Action::Update { copy: copy(), inputs: inputs() };
    let record = || Action::Record { copy: copy() };
    let bookkeeping = |noted: &[RecordChange]| Why::RecordOnly { changes: noted.to_vec() };
    let found: Map = [("size".to_owned(), Value::from("big"))].into();
    let import = Action::Import {
        incarnation: Incarnation::First { counter: 0 },
        id: PhysicalId("i-1".into()),
        inputs: found,
        outputs: Map::new(),
    };
    insta::assert_snapshot!(rendered(vec![
        step("new", create(), Why::New),
        step("lost", next(), Why::Missing),
        step("there", import, Why::Imported),
        with(
            step("there", update(), Why::Changed),
            vec![change("size", Some("small"), Some(known("big"))), change("colour", Some("red"), None)],
            &[]
        ),
        with(
            step("behind", update(), Why::Changed),
            vec![change("address", Some("10.0.0.1"), Some(later())), change("tag", None, Some(known("x")))],
            &["there"]
        ),
        step(
            "noted",
            record(),
            bookkeeping(&[RecordChange::Pinned, RecordChange::PreventDelete, RecordChange::Dependencies])
        ),
        step("let go", record(), bookkeeping(&[RecordChange::Unpinned, RecordChange::DeletionPolicy])),
        step("elsewhere", record(), bookkeeping(&[RecordChange::MarkSource, RecordChange::FormerNames])),
        step("tied", record(), bookkeeping(&[RecordChange::Parent, RecordChange::Provider])),
        step("bound", record(), bookkeeping(&[RecordChange::DeletedWith, RecordChange::ReplaceWith])),
    ]));
}

#[test]
fn replacements() {
    let (create_first, delete_first) = (ReplaceOrder::CreateFirst, ReplaceOrder::DeleteFirst);
    let (certain, possible) = (Certainty::Certain, Certainty::Possible);
    let place = || vec![forcing("place", "here", known("there"))];
    insta::assert_snapshot!(rendered(vec![
        with(step("a", next(), replaced(create_first, certain, &["place"], None)), place(), &[]),
        with(step("a", delete(), Why::OldCopy), place(), &[]),
        with(step("b", next(), replaced(delete_first, certain, &["place"], None)), place(), &[]),
        with(
            step("c", next(), replaced(create_first, possible, &["place"], None)),
            vec![forcing("place", "here", later())],
            &["a", "b", "d", "e"]
        ),
        step(
            "d",
            next(),
            replaced(create_first, certain, &[], Some(ReplacementCause::ReplaceWith { name: name("a") }))
        ),
        step(
            "e",
            next(),
            replaced(delete_first, certain, &[], Some(ReplacementCause::DeletedWith { name: name("b") }))
        ),
        step("f", next(), replaced(create_first, certain, &[], None)),
    ]));
}

#[test]
fn deletions_and_renames() {
    let removed = |id: &str, action: Action, why: Why| Step { node: None, ..step(id, action, why) };
    insta::assert_snapshot!(rendered(vec![
        removed("removed", delete(), Why::Removed),
        removed("destroyed", delete(), Why::Destroyed),
        removed("condemned", delete(), Why::LeftOver),
        removed("kept", forget(), Why::Retained),
        removed("inside", forget(), Why::DeletedWithContainer { name: name("removed") }),
        removed("record", forget(), Why::Removed),
        moved("old", "new", Match::Alias),
        moved("old", "new", Match::Rename),
        moved("a", "b", Match::Content),
        moved("c", "d", Match::Accepted),
        moved("out", "of-the-way", Match::Name),
        step("room", Action::Barrier, Why::Barrier),
    ]));
}

#[test]
fn drift_look_ups_and_unchanged_resources() {
    let style = Style::default();
    let changes = [change("size", Some("small"), Some(known("big"))), change("tag", Some("x"), None)];
    let (a, b) = (name("a"), name("b"));
    let dev = Environment::new("dev");
    let mut text = drift(&Drifted { name: &a, changes: Some(&changes) }, &dev, &style);
    text.push_str(&drift(&Drifted { name: &a, changes: Some(&[]) }, &dev, &style));
    text.push_str(&drift(&Drifted { name: &b, changes: None }, &dev, &style));
    text.push_str(&read(&TypeToken("local.File".into()), "/etc/motd\u{1b}[2J", &style));
    text.push_str(&same([&a, &b].into_iter(), &dev, &style));
    insta::assert_snapshot!(text);
}
