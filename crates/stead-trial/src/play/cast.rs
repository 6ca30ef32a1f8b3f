//! The programs of a play: things that change, are renamed, retained, imported and used by each other.

use std::collections::BTreeMap;

use stead_model::{
    DeletionPolicy, Expr, Graph, Input, Name, Node, NodeId, NodeKind, Options, PhysicalId, SourceRef,
    TypeToken, Value,
};

use crate::Chance;

/// A declared thing. Its title is what it is, whatever its name.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Part {
    pub title: String,
    pub name: String,
    pub size: i64,
    pub place: u64,
    /// The earlier thing whose key it uses.
    pub from: Option<String>,
    pub aliases: Vec<String>,
    pub import: Option<String>,
}

impl Part {
    /// Of these there is one at a time: the old one goes before the new one comes.
    pub(super) fn is_exclusive(&self) -> bool {
        number(&self.title) % 4 == 1
    }

    /// The real thing stays when its declaration goes.
    pub(super) fn is_kept(&self) -> bool {
        number(&self.title) % 5 == 2 && !self.is_exclusive()
    }

    pub(super) fn inputs(&self) -> BTreeMap<String, Value> {
        [
            ("title".to_owned(), Value::from(self.title.as_str())),
            ("size".to_owned(), Value::from(self.size)),
            ("place".to_owned(), Value::from(format!("p{}", self.place))),
            ("exclusive".to_owned(), Value::from(self.is_exclusive())),
            ("keep".to_owned(), Value::from(self.is_kept())),
        ]
        .into()
    }
}

fn number(title: &str) -> u64 {
    title.trim_start_matches('t').parse().unwrap_or(0)
}

/// What the program declares, in order.
#[derive(Clone, Debug, Default)]
pub(super) struct Cast {
    pub parts: Vec<Part>,
    titles: u64,
}

impl Cast {
    pub(super) fn draw(chance: &mut Chance) -> Cast {
        let mut cast = Cast::default();
        (0..2 + chance.below(6)).for_each(|_| cast.add(chance));
        cast
    }

    /// A title is never used again: what is gone is gone.
    pub(super) fn new_title(&mut self) -> String {
        self.titles += 1;
        format!("t{}", self.titles)
    }

    fn add(&mut self, chance: &mut Chance) {
        let title = self.new_title();
        let from = chance.one_in(2).then(|| chance.pick(&self.parts).map(|part| part.title.clone()));
        let mut part = Part {
            name: title.clone(),
            title,
            size: chance.below(5) as i64,
            place: chance.below(3),
            from: from.flatten(),
            aliases: Vec::new(),
            import: None,
        };
        // What is kept cannot make way for another, and the guards would say so.
        part.from.take_if(|_| number(&part.title) % 5 == 2);
        self.parts.push(part);
    }

    /// One to three edits, as between two commits.
    pub(super) fn edit(&mut self, chance: &mut Chance) {
        for _ in 0..1 + chance.below(3) {
            let index = chance.below(self.parts.len().max(1) as u64) as usize;
            match (chance.below(6), self.parts.get_mut(index)) {
                (0 | 1, _) | (_, None) => self.add(chance),
                (2, Some(_)) => {
                    let gone = self.parts.remove(index).title;
                    for part in &mut self.parts {
                        part.from.take_if(|from| *from == gone);
                    }
                }
                (3, Some(part)) => {
                    part.place = chance.below(3);
                    part.import = None; // what is elsewhere is not what was imported
                }
                (_, Some(part)) => part.size = chance.below(5) as i64,
            }
        }
    }

    pub(super) fn graph(&self) -> Graph {
        let mut graph = Graph::default();
        let position = |title: &String| self.parts.iter().position(|part| part.title == *title);
        for (line, part) in self.parts.iter().enumerate() {
            let mut inputs: BTreeMap<String, Input> =
                part.inputs().into_iter().map(|(key, value)| (key, value.into())).collect();
            if let Some(node) = part.from.as_ref().and_then(position).map(|at| NodeId(at as u32)) {
                let expr = Expr::Property { node, property: "key".into() };
                inputs.insert("from".into(), Input::Deferred(graph.exprs.push(expr)));
            }
            let Some(own) = name(&part.name) else { continue };
            graph.nodes.push(Node {
                name: own,
                ty: TypeToken("play.Thing".into()),
                kind: NodeKind::Provisioned,
                parent: None,
                inputs,
                options: Options {
                    delete_before_replace: part.is_exclusive().then_some(true),
                    deletion_policy: part.is_kept().then_some(DeletionPolicy::Retain),
                    aliases: part.aliases.iter().filter_map(|alias| name(alias)).collect(),
                    import: part.import.clone().map(PhysicalId),
                    ..Options::default()
                },
                source: SourceRef { file: "main.ts".into(), line: line as u32 + 1, column: 1 },
                marks: Default::default(),
            });
        }
        graph
    }
}

pub(super) fn name(text: &str) -> Option<Name> {
    format!("dev:main:play.Thing#{text}").parse().ok()
}
