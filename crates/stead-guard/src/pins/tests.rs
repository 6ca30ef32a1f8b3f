//! Tests of pins, with builders for small graphs, types and recorded resources.

mod apply;
mod format;
mod frozen;
mod moves;
mod properties;
mod prune;
mod verdicts;

use std::sync::Arc;

use stead_model::{
    Diagnostic, Environment, Graph, Input, Inputs, Map, Name, NameParts, Node, NodeId, NodeKind, Options,
    PhysicalId, Resource, SourceRef, TypeToken, Uid, Value,
};
use stead_state::{Snapshot, State};

use super::{AppliedPinfile, Orphans, PinRefusal, Pinfile, Pins, Types, apply_pinfile};

/// The identity of `t.Box` is its `path`; `t.Key` has no settable identity; `local.KeyPair` is stateful.
struct FewTypes;

impl Types for FewTypes {
    fn identity(&self, resource: &TypeToken) -> Option<Vec<String>> {
        match resource.as_str() {
            "t.Box" | "local.KeyPair" => Some(vec!["path".to_owned()]),
            "t.Key" => Some(Vec::new()),
            _ => None,
        }
    }

    fn settable(&self, _: &TypeToken) -> Vec<String> {
        vec!["path".to_owned(), "mode".to_owned()]
    }

    fn is_filled_in(&self, resource: &TypeToken, property: &str) -> bool {
        resource.as_str() == "t.Box" && property == "path"
    }
}

/// A program, built up leaf by leaf.
#[derive(Clone, Default)]
struct Program(Graph);

impl Program {
    fn add(mut self, name: &str, kind: NodeKind, pinned: Option<bool>, path: Option<&str>) -> Program {
        let name: Name = format!("dev:main{name}").parse().unwrap();
        let NameParts::Placed { ty: resource, scope, .. } = &*name else { panic!("{name}") };
        let resource = resource.clone();
        let parent = scope.last().and_then(|part| {
            let inside = |node: &Node| node.ty.as_str() == part.class && node.kind == NodeKind::Group;
            self.0.nodes.iter().rposition(inside).map(|at| NodeId(at as u32))
        });
        let inputs: Inputs =
            path.map(|path| ("path".to_owned(), Input::Known(Value::from(path)))).into_iter().collect();
        let source = SourceRef { file: "main.ts".into(), line: self.0.nodes.len() as u32 + 2, column: 1 };
        let options = Options { pinned, ..Options::default() };
        let marks = Default::default();
        self.0.nodes.push(Node { name, ty: resource, kind, parent, inputs, options, source, marks });
        self
    }

    /// A pinned leaf whose path the program leaves to the provider.
    fn unnamed(self, name: &str) -> Program {
        self.add(name, NodeKind::Provisioned, Some(true), None)
    }

    /// `pinned(":t.Box#data", "data")`.
    fn pinned(self, name: &str, path: &str) -> Program {
        self.add(name, NodeKind::Provisioned, Some(true), Some(path))
    }

    fn leaf(self, name: &str, path: &str) -> Program {
        self.add(name, NodeKind::Provisioned, None, Some(path))
    }

    fn unpinned(self, name: &str, path: &str) -> Program {
        self.add(name, NodeKind::Provisioned, Some(false), Some(path))
    }

    fn group(self, name: &str, pinned: Option<bool>) -> Program {
        self.add(name, NodeKind::Group, pinned, None)
    }

    fn apply_pinfile(&self, text: Option<&str>) -> Result<AppliedPinfile, PinRefusal> {
        self.apply_pinfile_on(text, None)
    }

    fn apply_pinfile_on(
        &self,
        text: Option<&str>,
        state: Option<&State>,
    ) -> Result<AppliedPinfile, PinRefusal> {
        apply_pinfile(self.0.clone(), pins(text), &FewTypes, state, Orphans::Refuse)
    }
}

fn file(text: Option<&str>) -> Pinfile {
    Pinfile::read("main.ts.pin.json", text.map(str::as_bytes)).unwrap()
}

fn pins(text: Option<&str>) -> Pins {
    Pins::open(file(text), "local", &Environment::new("dev"))
}

/// Returns a pinfile with one section that has these entries.
fn with(entries: &str) -> String {
    format!("{{\"version\":\"1\",\"pinned\":{{\"local\":{{{entries}}}}}}}")
}

fn recorded(name: &str, path: &str, pinned: bool) -> Resource {
    let name: Name = format!("dev:main{name}").parse().unwrap();
    let NameParts::Placed { ty, .. } = &*name else { panic!("{name}") };
    let ty = ty.clone();
    Resource {
        id: Some(PhysicalId(path.into())),
        inputs: Map::from([("path".to_owned(), Value::from(path))]),
        pinned,
        ..Resource::new(
            Uid(name.to_string()),
            name,
            ty,
            SourceRef { file: "main.ts".into(), line: 1, column: 1 },
        )
    }
}

fn state(resources: Vec<Resource>) -> State {
    let mut snapshot = Snapshot::empty(stead_model::StackId("s".into()));
    snapshot.resources = resources.into_iter().map(Arc::new).collect();
    State::from(snapshot)
}

/// Returns message, positions, notes and help as text.
fn text_of(problem: &Diagnostic) -> String {
    let lines = problem.notes.iter().map(|note| format!("  note: {note}"));
    let lines = lines.chain(problem.help.iter().map(|help| format!("  help: {help}")));
    let places = problem.labels.iter().map(|label| format!("  at {}: {}", label.place, label.text));
    let message = format!("{} {}", problem.code, problem.message);
    std::iter::once(message).chain(places).chain(lines).collect::<Vec<_>>().join("\n")
}

fn full_text(refused: &PinRefusal) -> String {
    let changes = refused.changes.iter().map(ToString::to_string);
    changes.chain(refused.problems.iter().map(text_of)).collect::<Vec<_>>().join("\n")
}

fn changes(settled: &AppliedPinfile) -> Vec<String> {
    settled.changes.iter().map(ToString::to_string).collect()
}
