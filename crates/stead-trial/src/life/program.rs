//! Simulated programs.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use stead_model::{
    DeletionPolicy, Environment, Expr, Graph, Input, Inputs, Module, Name, NameParts, Node, NodeId, NodeKind,
    Options, PathPattern, PhysicalId, SecretInput, SourceRef, TypeToken, Value,
};

use crate::secret;

/// A declared resource.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct DeclaredResource {
    pub size: i64,
    pub place: u64,
    /// Resource whose output is an input of this one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub depends_on: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tie: Option<(Tie, String)>,
    /// Provider resource of this resource.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provider: Option<String>,
    /// Id of the existing object to import.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub import: Option<String>,
    /// Former names that the program declares as aliases.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub aliases: Vec<String>,
    /// Number of the secret that the resource has as its password.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub password: Option<u64>,
    #[serde(rename = "traits", skip_serializing_if = "Vec::is_empty")]
    pub flags: Vec<ResourceFlag>,
    /// All former names, declared or not.
    #[serde(rename = "was", skip_serializing_if = "Vec::is_empty")]
    pub former_names: Vec<String>,
}

/// Relation to another resource, besides inputs and explicit dependencies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Tie {
    Parent,
    DeletedWith,
    ReplaceWith,
}

/// Boolean property of a declared resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ResourceFlag {
    Protected,
    Retained,
    DeleteFirst,
    /// The output of another resource goes into a create-only input.
    #[serde(rename = "Rooted")]
    CreateOnlyInput,
    /// Changes of the size are ignored.
    IgnoresSize,
    /// A change of the size replaces the resource.
    ReplacedBySize,
    /// The resource has no id in its name, only a counter.
    Unnamed,
    /// Only a person can settle an interrupted operation on this resource.
    #[serde(rename = "Asks")]
    ManualRecovery,
    /// The resource is a provider of other resources.
    #[serde(rename = "Serves")]
    IsProvider,
    /// The resource is pinned.
    Pinned,
}

pub(crate) const TIES: [Tie; 3] = [Tie::Parent, Tie::DeletedWith, Tie::ReplaceWith];

/// A program: its resources by name, in declaration order.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Program {
    #[serde(rename = "things")]
    pub resources: Vec<(String, DeclaredResource)>,
}

impl DeclaredResource {
    pub(crate) fn is(&self, wanted: ResourceFlag) -> bool {
        self.flags.contains(&wanted)
    }

    pub(crate) fn toggle(&mut self, wanted: ResourceFlag) {
        match self.flags.iter().position(|found| *found == wanted) {
            Some(at) => drop(self.flags.remove(at)),
            None => self.flags.push(wanted),
        }
    }

    /// Returns the names of the resources to which this one refers.
    pub(crate) fn references(&mut self) -> impl Iterator<Item = &mut String> {
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
        TypeToken(if self.is(ResourceFlag::IsProvider) { "sim.Provider" } else { "sim.Thing" }.to_owned())
    }
}

/// Returns the full name of a resource.
pub(crate) fn name(resource: TypeToken, id: Option<String>) -> Name {
    let environment = Environment::new("dev");
    NameParts::Placed { environment, module: Module("main".to_owned()), scope: Vec::new(), ty: resource, id }
        .into()
}

impl Program {
    pub(crate) fn position(&self, wanted: &str) -> Option<usize> {
        self.resources.iter().position(|(name, _)| name == wanted)
    }

    pub(crate) fn get_mut(&mut self, wanted: &str) -> Option<&mut DeclaredResource> {
        self.resources.iter_mut().find(|(name, _)| name == wanted).map(|(_, resource)| resource)
    }

    pub(crate) fn graph(&self) -> Graph {
        let at: BTreeMap<&str, NodeId> =
            self.resources.iter().zip(0..).map(|((name, _), at)| (name.as_str(), NodeId(at))).collect();
        let node = |name: &String| at.get(name.as_str()).copied();
        // The evaluator refuses a program whose `provider` refers to any other resource.
        let provider =
            |name: &String| node(name).filter(|id| self.resources[id.index()].1.is(ResourceFlag::IsProvider));
        let mut graph = Graph::default();
        let mut unnamed = 0u32;
        for (index, (id, resource)) in self.resources.iter().enumerate() {
            let tied = resource.tie.as_ref().and_then(|(tie, to)| Some((*tie, node(to)?)));
            let to = |wanted: Tie| tied.filter(|(tie, _)| *tie == wanted).map(|(_, to)| to);
            let inputs = resource.inputs(index, node, to(Tie::DeletedWith), &mut graph);
            let id = if resource.is(ResourceFlag::Unnamed) && !resource.is(ResourceFlag::IsProvider) {
                unnamed += 1;
                (unnamed > 1).then(|| unnamed.to_string())
            } else {
                Some(id.clone())
            };
            let aliases = resource.aliases.iter().map(|alias| name(resource.token(), Some(alias.clone())));
            graph.nodes.push(Node {
                name: name(resource.token(), id),
                ty: resource.token(),
                kind: NodeKind::Provisioned,
                parent: to(Tie::Parent),
                inputs,
                options: Options {
                    depends_on: resource.depends_on.as_ref().and_then(node).into_iter().collect(),
                    prevent_delete: resource.is(ResourceFlag::Protected).then_some(true),
                    deletion_policy: resource.is(ResourceFlag::Retained).then_some(DeletionPolicy::Retain),
                    delete_before_replace: resource.is(ResourceFlag::DeleteFirst).then_some(true),
                    deleted_with: to(Tie::DeletedWith),
                    replace_with: to(Tie::ReplaceWith).into_iter().collect(),
                    ignore_changes: size_if(resource.is(ResourceFlag::IgnoresSize)),
                    replace_on_changes: size_if(resource.is(ResourceFlag::ReplacedBySize)),
                    provider: resource.provider.as_ref().and_then(provider),
                    import: resource.import.clone().map(PhysicalId),
                    aliases: aliases.collect(),
                    pinned: resource.is(ResourceFlag::Pinned).then_some(true),
                    ..Options::default()
                },
                source: SourceRef { file: "main.ts".into(), line: index as u32 + 1, column: 1 },
                marks: Default::default(),
            });
        }
        graph
    }

    /// Returns true if the program has no cycle.
    pub(crate) fn is_valid(&self) -> bool {
        let graph = self.graph();
        // A resource cannot be its own ancestor in a program, and readers of a graph rely on that.
        let is_inside_itself = |node: &Node| {
            let around = std::iter::successors(node.parent, |id| graph.node(*id)?.parent);
            around.take(graph.nodes.len() + 1).count() > graph.nodes.len()
        };
        !graph.nodes.iter().any(is_inside_itself) && graph.order(&graph.edges()).is_ok()
    }
}

impl DeclaredResource {
    fn inputs(
        &self,
        index: usize,
        node: impl Fn(&String) -> Option<NodeId>,
        inside: Option<NodeId>,
        graph: &mut Graph,
    ) -> Inputs {
        let mut inputs: Inputs = Inputs::new();
        inputs.insert("size", Value::from(self.size).into());
        inputs.insert("place", Value::from(format!("p{}", self.place)).into());
        if self.is(ResourceFlag::ManualRecovery) {
            inputs.insert("asks", Value::from(true).into());
        }
        if let Some(number) = self.password {
            let value = SecretInput::new(Input::Known(Value::from(secret::numbered(number))));
            let source = SourceRef { file: "main.ts".into(), line: index as u32 + 1, column: 2 };
            let secret = Expr::Secret { from: "config `password`".into(), source, needs: Vec::new(), value };
            inputs.insert("password", Input::Deferred(graph.exprs.push(secret)));
        }
        let mut property = |key: &str, node: NodeId, property: &str| {
            let expr = Expr::Property { node, property: property.into() };
            inputs.insert(key, Input::Deferred(graph.exprs.push(expr)));
        };
        if let Some(node) = self.from.as_ref().and_then(node) {
            let key = if self.is(ResourceFlag::CreateOnlyInput) { "root" } else { "from" };
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
