//! The program of a cloud life: resources of AWS that refer to each other, and the edits between runs.

use std::collections::BTreeMap;

use stead_model::{
    DeletionPolicy, Expr, Graph, Input, Inputs, Kept, Map, Node, NodeId, NodeKind, Options, Secret,
    SourceRef, TypeToken, Value,
};

use super::kind::{Kind, Knobs};
use crate::Rng;

/// Most resources of a program.
const MOST: usize = 12;

/// A declared resource.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Declared {
    pub kind: Kind,
    pub knobs: Knobs,
    pub keeping: Keeping,
    /// Name of a resource of others, which this one claims by mistake.
    pub claims: Option<String>,
}

/// What a declaration says about deletions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Keeping {
    No,
    Protected,
    Retained,
}

/// A program: its resources in the order of declaration, in which references go back.
#[derive(Clone, Debug, Default)]
pub(super) struct Program {
    pub resources: Vec<Declared>,
    numbers: u64,
}

impl Kind {
    /// Returns that resources are retained, unless they would then keep the service from deleting others.
    fn retained(self) -> Keeping {
        if self.refers_to().is_none() { Keeping::Retained } else { Keeping::No }
    }
}

impl Declared {
    pub(super) fn name(&self) -> String {
        format!("dev:main:{}#r{}", self.kind.token(), self.knobs.number)
    }

    /// Returns the declared inputs, with references as texts.
    pub(super) fn inputs(&self) -> Map {
        let mut inputs = self.kind.inputs(&self.knobs);
        if let Some(name) = &self.claims {
            inputs.insert("BucketName", Value::from(name.as_str()));
        }
        inputs
    }

    /// Lets some secrets be ephemeral: an operation with such a value cannot be sent again, because it is kept nowhere.
    fn make_ephemeral(&self, inputs: &mut Inputs) {
        let is_ephemeral = self.kind == Kind::Secret && self.knobs.is_ephemeral();
        if is_ephemeral && let Some(Input::Known(value)) = inputs.get("SecretString") {
            let secret = Value::Secret(Secret::kept(value.clone(), Kept::Nothing));
            inputs.insert("SecretString", Input::Known(secret));
        }
    }
}

impl Program {
    pub(super) fn get(&self, number: u64) -> Option<&Declared> {
        self.resources.iter().find(|declared| declared.knobs.number == number)
    }

    /// Draws a new program with this many resources.
    pub(super) fn draw(rng: &mut Rng, count: u64) -> Program {
        let mut program = Program::default();
        for _ in 0..count {
            program.add(rng);
        }
        program
    }

    /// Adds, removes and changes resources.
    pub(super) fn edit(&mut self, rng: &mut Rng) {
        for _ in 0..1 + rng.below(4) {
            if self.resources.is_empty() || (rng.one_in(3) && self.resources.len() < MOST) {
                self.add(rng);
                continue;
            }
            let at = rng.below(self.resources.len() as u64) as usize;
            if rng.one_in(6) {
                self.drop(at);
                continue;
            }
            self.change(rng, at);
        }
    }

    /// Adds a resource of a drawn kind, with everything that it needs.
    pub(super) fn add(&mut self, rng: &mut Rng) {
        let kind = *rng.pick(&Kind::ALL).unwrap_or(&Kind::Bucket);
        // The quota is five, and people have some too.
        if matches!(kind, Kind::Vpc | Kind::Gateway) && self.count(kind) >= 4 {
            return;
        }
        let refers = match kind.refers_to() {
            Some(to) if kind.needs_reference() || rng.one_in(2) => {
                let there: Vec<u64> = self.numbers_of(to);
                match rng.pick(&there) {
                    Some(number) => vec![*number],
                    None if kind.needs_reference() => vec![self.push(rng, to, Vec::new())],
                    None => Vec::new(),
                }
            }
            _ => Vec::new(),
        };
        self.push(rng, kind, refers);
    }

    pub(super) fn push(&mut self, rng: &mut Rng, kind: Kind, refers: Vec<u64>) -> u64 {
        self.numbers += 1;
        let knobs = Knobs {
            number: self.numbers,
            setting: rng.below(1000),
            hidden: rng.below(1000),
            version: 0,
            layout: 0,
            rich: !rng.one_in(3),
            tagged: rng.one_in(3),
            refers,
        };
        let keeping = match rng.below(12) {
            0 => Keeping::Protected,
            1 => kind.retained(),
            _ => Keeping::No,
        };
        self.resources.push(Declared { kind, knobs, keeping, claims: None });
        self.numbers
    }

    /// Removes a resource, and everything that cannot be without it. Protected ones and those below them stay.
    fn drop(&mut self, at: usize) {
        let mut gone = vec![self.resources[at].knobs.number];
        let mut kept = self.resources.clone();
        kept.retain_mut(|declared| {
            let is_named = gone.contains(&declared.knobs.number);
            let lacks = declared.knobs.refers.iter().any(|to| gone.contains(to));
            let goes = is_named || (lacks && declared.kind.needs_reference());
            if goes {
                gone.push(declared.knobs.number);
            } else if lacks {
                declared.knobs.refers.clear();
            }
            !goes
        });
        let is_protected =
            |number: &u64| self.get(*number).is_some_and(|gone| gone.keeping == Keeping::Protected);
        if !gone.iter().any(is_protected) {
            self.resources = kept;
        }
    }

    pub(super) fn change(&mut self, rng: &mut Rng, at: usize) {
        let (kind, number) = (self.resources[at].kind, self.resources[at].knobs.number);
        let earlier: Vec<u64> = self.resources[..at]
            .iter()
            .filter(|other| Some(other.kind) == kind.refers_to())
            .map(|other| other.knobs.number)
            .collect();
        let is_guarded = self.is_guarded(number);
        let Declared { knobs, keeping, .. } = &mut self.resources[at];
        match rng.below(9) {
            0..=2 => knobs.setting = rng.below(1000),
            3 => knobs.hidden = rng.below(1000),
            4 => knobs.rich ^= true,
            5 if !is_guarded => knobs.version += 1,
            6 if !is_guarded => knobs.layout += 1,
            7 if !is_guarded && !earlier.is_empty() => {
                knobs.refers = rng.pick(&earlier).copied().into_iter().collect();
            }
            8 => {
                // What is being replaced cannot be protected, so that only new resources are.
                *keeping = if rng.one_in(3) { kind.retained() } else { Keeping::No };
            }
            _ => knobs.tagged ^= true,
        }
    }

    /// Returns true if a replacement of the resource would delete a protected or retained one.
    pub(super) fn is_guarded(&self, number: u64) -> bool {
        self.resources.iter().any(|declared| {
            declared.keeping != Keeping::No
                && (declared.knobs.number == number || self.leads_to(declared.knobs.number, number))
        })
    }

    fn leads_to(&self, from: u64, to: u64) -> bool {
        let refers = self.get(from).map(|declared| declared.knobs.refers.clone()).unwrap_or_default();
        refers.iter().any(|next| *next == to || self.leads_to(*next, to))
    }

    fn numbers_of(&self, kind: Kind) -> Vec<u64> {
        self.resources.iter().filter(|one| one.kind == kind).map(|one| one.knobs.number).collect()
    }

    fn count(&self, kind: Kind) -> usize {
        self.resources.iter().filter(|one| one.kind == kind).count()
    }

    pub(super) fn graph(&self) -> Result<Graph, String> {
        let nodes: BTreeMap<u64, NodeId> =
            self.resources.iter().zip(0..).map(|(one, at)| (one.knobs.number, NodeId(at))).collect();
        let mut graph = Graph::default();
        for (line, declared) in self.resources.iter().enumerate() {
            let name = declared.name().parse().map_err(|error| format!("{error}"))?;
            let inputs = declared.inputs().into_iter();
            let mut inputs: Inputs =
                inputs.map(|(key, value)| (key, input(&mut graph, &nodes, value))).collect();
            declared.make_ephemeral(&mut inputs);
            graph.nodes.push(Node {
                name,
                ty: TypeToken(declared.kind.token().to_owned()),
                kind: NodeKind::Provisioned,
                parent: None,
                inputs,
                options: Options {
                    prevent_delete: (declared.keeping == Keeping::Protected).then_some(true),
                    deletion_policy: (declared.keeping == Keeping::Retained)
                        .then_some(DeletionPolicy::Retain),
                    ..Options::default()
                },
                source: SourceRef { file: "main.ts".into(), line: line as u32 + 1, column: 1 },
                marks: Default::default(),
            });
        }
        Ok(graph)
    }
}

/// Turns references into expressions.
fn input(graph: &mut Graph, nodes: &BTreeMap<u64, NodeId>, value: Value) -> Input {
    match value {
        Value::Map(map) => {
            Input::map(map.into_iter().map(|(key, value)| (key, input(graph, nodes, value))).collect())
        }
        Value::List(items) => Input::list(items.into_iter().map(|item| input(graph, nodes, item)).collect()),
        value => match value.as_str().and_then(reference) {
            Some((number, property)) => match nodes.get(&number) {
                Some(node) => {
                    let expr = Expr::Property { node: *node, property: property.to_owned() };
                    Input::Deferred(graph.exprs.push(expr))
                }
                None => Input::Known(value),
            },
            None => Input::Known(value),
        },
    }
}

/// Reads `@7.Arn`.
pub(super) fn reference(text: &str) -> Option<(u64, &str)> {
    let (number, property) = text.strip_prefix('@')?.split_once('.')?;
    Some((number.parse().ok()?, property))
}
