//! Random programs, and random edits of them.

use std::collections::BTreeMap;

use stead_model::{Expr, Graph, Input, Node, NodeId, NodeKind, Options, SourceRef, TypeToken, Value};

use crate::Chance;

/// A declared thing, before it is a node.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Declared {
    pub size: i64,
    pub place: u64,
    /// The earlier thing whose output it uses.
    pub from: Option<String>,
    pub depends_on: Option<String>,
    pub protected: bool,
    pub delete_first: bool,
    /// The output it uses goes into a property that cannot be changed in place.
    pub rooted: bool,
    pub tie: Option<(Tie, String)>,
}

/// What binds a thing to an earlier one, besides values and order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tie {
    Parent,
    DeletedWith,
    ReplaceWith,
}

const TIES: [Tie; 3] = [Tie::Parent, Tie::DeletedWith, Tie::ReplaceWith];

/// A program: things by name, in the order of the program.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Program {
    pub things: Vec<(String, Declared)>,
}

impl Program {
    pub(crate) fn draw(chance: &mut Chance) -> Program {
        let mut program = Program::default();
        for _ in 0..2 + chance.below(14) {
            program.add(chance);
        }
        program
    }

    /// One to four edits, as between two commits.
    pub(crate) fn edit(&mut self, chance: &mut Chance) {
        for _ in 0..1 + chance.below(4) {
            let index = chance.below(self.things.len().max(1) as u64) as usize;
            match (chance.below(9), self.things.get_mut(index)) {
                (0 | 1, _) | (_, None) => self.add(chance),
                (2, Some((name, thing))) if !thing.protected => {
                    let name = name.clone();
                    self.things.remove(index);
                    for (_, thing) in &mut self.things {
                        thing.from.take_if(|from| *from == name);
                        thing.depends_on.take_if(|on| *on == name);
                        thing.tie.take_if(|(_, to)| *to == name);
                    }
                }
                (3, Some((_, thing))) if !thing.protected => thing.place = chance.below(3),
                (4, Some((_, thing))) => thing.protected = !thing.protected,
                (5, Some((_, thing))) => thing.delete_first = !thing.delete_first,
                (6, Some((_, thing))) if !thing.protected => thing.rooted = !thing.rooted,
                (7, Some(_)) if index > 0 => {
                    let to = self.things[chance.below(index as u64) as usize].0.clone();
                    self.things[index].1.tie = chance.pick(&TIES).map(|tie| (*tie, to));
                }
                (_, Some((_, thing))) => thing.size = chance.below(5) as i64,
            }
        }
    }

    fn add(&mut self, chance: &mut Chance) {
        let name = format!("t{}", chance.below(24));
        if self.things.iter().any(|(taken, _)| *taken == name) {
            return;
        }
        let names: Vec<String> = self.things.iter().map(|(name, _)| name.clone()).collect();
        let declared = Declared {
            size: chance.below(5) as i64,
            place: chance.below(3),
            from: if chance.one_in(2) { chance.pick(&names).cloned() } else { None },
            depends_on: if chance.one_in(4) { chance.pick(&names).cloned() } else { None },
            protected: chance.one_in(8),
            delete_first: chance.one_in(6),
            rooted: chance.one_in(4),
            tie: if chance.one_in(3) {
                chance.pick(&TIES).copied().zip(chance.pick(&names).cloned())
            } else {
                None
            },
        };
        self.things.push((name, declared));
    }

    pub(crate) fn graph(&self) -> Graph {
        let mut graph = Graph::default();
        let position = |name: &String| self.things.iter().position(|(other, _)| other == name);
        for (index, (name, thing)) in self.things.iter().enumerate() {
            let mut inputs: BTreeMap<String, Input> = BTreeMap::new();
            inputs.insert("size".into(), Value::from(thing.size).into());
            inputs.insert("place".into(), Value::from(format!("p{}", thing.place)).into());
            if let Some(node) = thing.from.as_ref().and_then(position).map(|at| NodeId(at as u32)) {
                let property = if index % 2 == 0 { "etag" } else { "serial" };
                let expr = Expr::Property { node, property: property.into() };
                let key = if thing.rooted { "root" } else { "from" };
                inputs.insert(key.into(), Input::Deferred(graph.exprs.push(expr)));
            }
            let tied = thing.tie.as_ref().and_then(|(tie, to)| Some((*tie, NodeId(position(to)? as u32))));
            let to = |wanted: Tie| tied.filter(|(tie, _)| *tie == wanted).map(|(_, to)| to);
            let on = thing.depends_on.as_ref().and_then(position).map(|at| NodeId(at as u32));
            if let Some(node) = to(Tie::DeletedWith) {
                let expr = Expr::Property { node, property: "key".into() };
                inputs.insert("inside".into(), Input::Deferred(graph.exprs.push(expr)));
            }
            let Ok(parsed) = format!("dev:main:sim.Thing#{name}").parse() else { continue };
            graph.nodes.push(Node {
                name: parsed,
                resource: TypeToken("sim.Thing".into()),
                kind: NodeKind::Provisioned,
                parent: to(Tie::Parent),
                inputs,
                options: Options {
                    depends_on: on.into_iter().collect(),
                    prevent_delete: thing.protected.then_some(true),
                    delete_before_replace: thing.delete_first.then_some(true),
                    deleted_with: to(Tie::DeletedWith),
                    replace_with: to(Tie::ReplaceWith).into_iter().collect(),
                    ..Options::default()
                },
                source: SourceRef { file: "main.ts".into(), line: index as u32 + 1, column: 1 },
                marks: Default::default(),
            });
        }
        graph
    }
}
