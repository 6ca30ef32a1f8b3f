//! Canonical identities of real resources, as their providers tell them: two spellings of one path have one identity.
//!
//! The engine asks the providers before a plan, for the resources that [`Unidentified::of`] lists. **Invariant:** a resource
//! without a canonical identity is compared as its inputs spell it.

use std::collections::HashMap;

use stead_model::{
    CopyRef, Graph, Input, Lifecycle, Map, Node, NodeId, NodeKind, PhysicalIdentity, Resource, TypeToken,
};
use stead_schema::Catalog;
use stead_state::State;

use crate::physical::IdentifyingProperties;

/// The canonical identities of recorded copies and of declarations.
#[derive(Clone, Debug, Default)]
pub struct CanonicalIdentities {
    records: HashMap<CopyRef, Vec<PhysicalIdentity>>,
    nodes: HashMap<NodeId, Vec<PhysicalIdentity>>,
}

impl CanonicalIdentities {
    /// Takes the answers of the providers, in the order of the questions.
    pub fn of(
        questions: &[Unidentified<'_>],
        answers: impl IntoIterator<Item = Vec<PhysicalIdentity>>,
    ) -> CanonicalIdentities {
        let mut all = CanonicalIdentities::default();
        let told = questions.iter().zip(answers).filter(|(_, identities)| !identities.is_empty());
        for (question, identities) in told {
            match question {
                Unidentified::Record(copy) => all.records.insert(copy.copy(), identities),
                Unidentified::Declaration(id, _) => all.nodes.insert(*id, identities),
            };
        }
        all
    }

    pub(crate) fn of_record(&self, record: &Resource) -> Option<&[PhysicalIdentity]> {
        if self.records.is_empty() {
            return None;
        }
        self.records.get(&record.copy()).map(Vec::as_slice)
    }

    pub(crate) fn of_node(&self, id: NodeId) -> Option<&[PhysicalIdentity]> {
        self.nodes.get(&id).map(Vec::as_slice)
    }
}

/// A resource whose canonical identity a plan needs.
pub enum Unidentified<'a> {
    Record(&'a Resource),
    Declaration(NodeId, &'a Node),
}

impl<'a> Unidentified<'a> {
    /// Lists the resources whose identities a comparison of the program with the records needs.
    ///
    /// There are none while each declaration has a record of its name and asks for the same real resource, in the same
    /// spelling. `has_spellings` tells whether the identities of a resource can be spelled in several ways: of a type, and
    /// whether a provider resource serves it.
    pub fn of(
        base: &'a State,
        graph: &'a Graph,
        catalog: &'a Catalog,
        has_spellings: impl Fn(&TypeToken, bool) -> bool,
    ) -> Vec<Unidentified<'a>> {
        let mut search =
            Search { base, graph, properties: IdentifyingProperties::new(catalog), has_spellings };
        let records = search.records();
        if records.is_empty() {
            return Vec::new();
        }
        let nodes = search.nodes();
        if nodes.is_empty() || (nodes.len() == records.len() && nodes.iter().all(|id| search.is_settled(*id)))
        {
            return Vec::new();
        }
        let known = nodes.into_iter().filter_map(|id| Some((id, graph.node(id)?)));
        let mut all: Vec<Unidentified<'a>> = records.into_iter().map(Unidentified::Record).collect();
        all.extend(
            known
                .filter(|(_, node)| search.is_known(node))
                .map(|(id, node)| Unidentified::Declaration(id, node)),
        );
        all
    }

    /// Returns the type and the known inputs, which a provider identifies.
    pub fn description(&self) -> (TypeToken, Map) {
        match self {
            Unidentified::Record(record) => (record.ty.clone(), record.inputs.clone()),
            Unidentified::Declaration(_, node) => {
                let known = node.inputs.iter();
                let known = known.filter_map(|(key, input)| Some((key.clone(), input.as_known()?.clone())));
                (node.ty.clone(), known.collect())
            }
        }
    }
}

/// The search for resources to identify.
struct Search<'a, F> {
    base: &'a State,
    graph: &'a Graph,
    properties: IdentifyingProperties<'a>,
    has_spellings: F,
}

impl<'a, F: Fn(&TypeToken, bool) -> bool> Search<'a, F> {
    fn is_asked(&mut self, ty: &'a TypeToken, has_provider: bool) -> bool {
        !self.properties.of(ty).is_empty() && (self.has_spellings)(ty, has_provider)
    }

    /// Returns the copies that exist. A copy with a secret in its identity is not compared.
    fn records(&mut self) -> Vec<&'a Resource> {
        let mut all: Vec<&'a Resource> = Vec::new();
        for copy in self.base.copies().filter(|copy| copy.lifecycle != Lifecycle::Replacing) {
            if self.is_asked(&copy.ty, copy.ties.provider.is_some()) {
                all.push(copy);
            }
        }
        all
    }

    fn nodes(&mut self) -> Vec<NodeId> {
        let graph = self.graph;
        let provisioned = |id: &NodeId| graph.nodes[id.index()].kind == NodeKind::Provisioned;
        let mut all = Vec::new();
        for id in graph.ids().filter(provisioned) {
            let node = &graph.nodes[id.index()];
            if self.is_asked(&node.ty, node.options.provider.is_some()) {
                all.push(id);
            }
        }
        all
    }

    /// Returns true if a node has a record of its name with the same values in the identifying properties.
    fn is_settled(&mut self, id: NodeId) -> bool {
        let node = &self.graph.nodes[id.index()];
        let Some(old) = self.base.by_name(&node.name).filter(|old| old.ty == node.ty) else { return false };
        self.properties.of(&node.ty).iter().all(|property| match node.inputs.get(*property) {
            Some(Input::Known(new)) => old.inputs.get(*property) == Some(new),
            Some(_) => false,
            None => true,
        })
    }

    fn is_known(&mut self, node: &'a Node) -> bool {
        self.properties.of(&node.ty).iter().all(|property| match node.inputs.get(*property) {
            Some(Input::Known(value)) => !value.has_secrets(),
            Some(_) => false,
            None => true,
        })
    }
}
