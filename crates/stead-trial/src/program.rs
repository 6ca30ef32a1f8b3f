//! Random programs, and random edits of them.

use std::collections::BTreeMap;

use stead_model::{
    Expr, Graph, Input, Node, NodeId, NodeKind, Options, Resource, SourceRef, TypeToken, Value,
};

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
}

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
            match (chance.below(7), self.things.get_mut(index)) {
                (0 | 1, _) | (_, None) => self.add(chance),
                (2, Some((name, thing))) if !thing.protected => {
                    let name = name.clone();
                    self.things.remove(index);
                    for (_, thing) in &mut self.things {
                        thing.from.take_if(|from| *from == name);
                        thing.depends_on.take_if(|on| *on == name);
                    }
                }
                (3, Some((_, thing))) if !thing.protected => thing.place = chance.below(3),
                (4, Some((_, thing))) => thing.protected = !thing.protected,
                (5, Some((_, thing))) => thing.delete_first = !thing.delete_first,
                (_, Some((_, thing))) => thing.size = chance.below(5) as i64,
            }
        }
    }

    /// Declares a recorded resource so that nothing forces its replacement.
    pub(crate) fn keep(&mut self, resource: &Resource) {
        let recorded = resource.inputs.get("place").and_then(Value::as_str).unwrap_or("p0");
        let place = recorded.trim_start_matches('p').parse().unwrap_or(0);
        let name = resource.name.short();
        match self.things.iter_mut().find(|(other, _)| other == name) {
            Some((_, thing)) => thing.place = place,
            None => {
                let declared = Declared {
                    size: 0,
                    place,
                    from: None,
                    depends_on: None,
                    protected: false,
                    delete_first: false,
                };
                self.things.push((name.to_owned(), declared));
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
                inputs.insert("from".into(), Input::Deferred(graph.exprs.push(expr)));
            }
            let on = thing.depends_on.as_ref().and_then(position).map(|at| NodeId(at as u32));
            let Ok(parsed) = format!("dev:main:sim.Thing#{name}").parse() else { continue };
            graph.nodes.push(Node {
                name: parsed,
                resource: TypeToken("sim.Thing".into()),
                kind: NodeKind::Provisioned,
                parent: None,
                inputs,
                options: Options {
                    depends_on: on.into_iter().collect(),
                    prevent_delete: thing.protected.then_some(true),
                    delete_before_replace: thing.delete_first.then_some(true),
                    ..Options::default()
                },
                source: SourceRef { file: "main.ts".into(), line: index as u32 + 1, column: 1 },
            });
        }
        graph
    }
}
