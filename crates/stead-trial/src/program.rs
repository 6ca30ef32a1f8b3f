//! Programs, as a life edits them.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use stead_model::{
    DeletionPolicy, Environment, Expr, Graph, Input, Module, Name, NameParts, Node, NodeId, NodeKind,
    Options, PathPattern, PhysicalId, SourceRef, TypeToken, Value,
};

/// A declared thing, before it is a node.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Declared {
    pub size: i64,
    pub place: u64,
    /// The other thing whose output it uses.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub depends_on: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tie: Option<(Tie, String)>,
    /// The provider resource that serves it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provider: Option<String>,
    /// The id of what it is made of, instead of being created.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub import: Option<String>,
    /// What it was called, where the program says so.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub aliases: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub traits: Vec<Trait>,
    /// What it was called, as people remember.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub was: Vec<String>,
}

/// What binds a thing to another one, besides values and order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Tie {
    Parent,
    DeletedWith,
    ReplaceWith,
}

/// What is true of a thing or not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Trait {
    Protected,
    Retained,
    DeleteFirst,
    /// The output that it uses goes into a property that cannot be changed in place.
    Rooted,
    /// A change of its size is not made.
    IgnoresSize,
    /// A change of its size replaces it.
    ReplacedBySize,
    /// It has no id of its own, only a counter.
    Unnamed,
    /// What became of an operation on it, only a person can tell.
    Asks,
    /// It serves others as their provider.
    Serves,
    /// It is to stay what and where it is.
    Pinned,
}

pub(crate) const TIES: [Tie; 3] = [Tie::Parent, Tie::DeletedWith, Tie::ReplaceWith];

/// A program: things by name, in the order of the program.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Program {
    pub things: Vec<(String, Declared)>,
}

impl Declared {
    pub(crate) fn is(&self, wanted: Trait) -> bool {
        self.traits.contains(&wanted)
    }

    pub(crate) fn toggle(&mut self, wanted: Trait) {
        match self.traits.iter().position(|found| *found == wanted) {
            Some(at) => drop(self.traits.remove(at)),
            None => self.traits.push(wanted),
        }
    }

    /// The names of the others that it speaks of.
    pub(crate) fn speaks_of(&mut self) -> impl Iterator<Item = &mut String> {
        let tie = self.tie.as_mut().map(|(_, to)| to);
        [&mut self.from, &mut self.depends_on, &mut self.provider]
            .into_iter()
            .flat_map(Option::as_mut)
            .chain(tie)
    }

    pub(crate) fn forget(&mut self, name: &str) {
        self.from.take_if(|from| from == name);
        self.depends_on.take_if(|on| on == name);
        self.provider.take_if(|provider| provider == name);
        self.tie.take_if(|(_, to)| to == name);
    }

    fn token(&self) -> TypeToken {
        TypeToken(if self.is(Trait::Serves) { "sim.Provider" } else { "sim.Thing" }.to_owned())
    }
}

/// The name that a thing of the program has in the graph.
pub(crate) fn name(resource: TypeToken, id: Option<String>) -> Name {
    let environment = Environment::new("dev");
    NameParts::Placed { environment, module: Module("main".to_owned()), scope: Vec::new(), ty: resource, id }
        .into()
}

impl Program {
    pub(crate) fn position(&self, wanted: &str) -> Option<usize> {
        self.things.iter().position(|(name, _)| name == wanted)
    }

    pub(crate) fn get_mut(&mut self, wanted: &str) -> Option<&mut Declared> {
        self.things.iter_mut().find(|(name, _)| name == wanted).map(|(_, thing)| thing)
    }

    pub(crate) fn graph(&self) -> Graph {
        let at: BTreeMap<&str, NodeId> =
            self.things.iter().zip(0..).map(|((name, _), at)| (name.as_str(), NodeId(at))).collect();
        let node = |name: &String| at.get(name.as_str()).copied();
        // A program in which something else is said to be a provider is refused before it is a graph.
        let provider = |name: &String| node(name).filter(|id| self.things[id.index()].1.is(Trait::Serves));
        let mut graph = Graph::default();
        let mut unnamed = 0u32;
        for (index, (id, thing)) in self.things.iter().enumerate() {
            let tied = thing.tie.as_ref().and_then(|(tie, to)| Some((*tie, node(to)?)));
            let to = |wanted: Tie| tied.filter(|(tie, _)| *tie == wanted).map(|(_, to)| to);
            let inputs = thing.inputs(index, node, to(Tie::DeletedWith), &mut graph);
            let id = if thing.is(Trait::Unnamed) && !thing.is(Trait::Serves) {
                unnamed += 1;
                (unnamed > 1).then(|| unnamed.to_string())
            } else {
                Some(id.clone())
            };
            let aliases = thing.aliases.iter().map(|alias| name(thing.token(), Some(alias.clone())));
            graph.nodes.push(Node {
                name: name(thing.token(), id),
                ty: thing.token(),
                kind: NodeKind::Provisioned,
                parent: to(Tie::Parent),
                inputs,
                options: Options {
                    depends_on: thing.depends_on.as_ref().and_then(node).into_iter().collect(),
                    prevent_delete: thing.is(Trait::Protected).then_some(true),
                    deletion_policy: thing.is(Trait::Retained).then_some(DeletionPolicy::Retain),
                    delete_before_replace: thing.is(Trait::DeleteFirst).then_some(true),
                    deleted_with: to(Tie::DeletedWith),
                    replace_with: to(Tie::ReplaceWith).into_iter().collect(),
                    ignore_changes: size_if(thing.is(Trait::IgnoresSize)),
                    replace_on_changes: size_if(thing.is(Trait::ReplacedBySize)),
                    provider: thing.provider.as_ref().and_then(provider),
                    import: thing.import.clone().map(PhysicalId),
                    aliases: aliases.collect(),
                    pinned: thing.is(Trait::Pinned).then_some(true),
                    ..Options::default()
                },
                source: SourceRef { file: "main.ts".into(), line: index as u32 + 1, column: 1 },
                marks: Default::default(),
            });
        }
        graph
    }

    /// Whether nothing waits for itself.
    pub(crate) fn can_be(&self) -> bool {
        let graph = self.graph();
        // No program can put a thing into itself, and nothing that reads a graph expects it.
        let is_inside_itself = |node: &Node| {
            let around = std::iter::successors(node.parent, |id| graph.node(*id)?.parent);
            around.take(graph.nodes.len() + 1).count() > graph.nodes.len()
        };
        !graph.nodes.iter().any(is_inside_itself) && graph.order(&graph.edges()).is_ok()
    }
}

impl Declared {
    fn inputs(
        &self,
        index: usize,
        node: impl Fn(&String) -> Option<NodeId>,
        inside: Option<NodeId>,
        graph: &mut Graph,
    ) -> BTreeMap<String, Input> {
        let mut inputs: BTreeMap<String, Input> = BTreeMap::new();
        inputs.insert("size".into(), Value::from(self.size).into());
        inputs.insert("place".into(), Value::from(format!("p{}", self.place)).into());
        if self.is(Trait::Asks) {
            inputs.insert("asks".into(), Value::from(true).into());
        }
        let mut property = |key: &str, node: NodeId, property: &str| {
            let expr = Expr::Property { node, property: property.into() };
            inputs.insert(key.into(), Input::Deferred(graph.exprs.push(expr)));
        };
        if let Some(node) = self.from.as_ref().and_then(node) {
            let key = if self.is(Trait::Rooted) { "root" } else { "from" };
            property(key, node, if index.is_multiple_of(2) { "etag" } else { "serial" });
        }
        if let Some(node) = inside {
            property("inside", node, "key");
        }
        inputs
    }
}

fn size_if(wanted: bool) -> Vec<PathPattern> {
    if wanted { "size".parse().into_iter().collect() } else { Vec::new() }
}
