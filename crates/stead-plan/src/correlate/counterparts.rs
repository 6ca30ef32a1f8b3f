//! Counterparts: the declarations of a program that are, or may be, a recorded resource.
//!
//! A plan needs at most one match for each resource. Protection needs more: a declaration that may be the resource protects it,
//! so that suggestions count, and an ambiguous match counts for every record.

use std::collections::{BTreeSet, HashMap};
use std::fmt;

use stead_model::{Graph, Name, Node, NodeId, Resource, Uid};
use stead_schema::Catalog;
use stead_state::State;

use super::siblings::{Regrouped, regroup};
use super::suggest::{Reason, Suggestion, Suggestions, suggest};
use super::{Ambiguity, Match, Matching};
use crate::CanonicalIdentities;
use crate::physical::{Part, Physical};

/// Nodes of which each may be any of the records.
pub(super) struct Unsettled<'a> {
    pub nodes: Vec<NodeId>,
    pub records: Vec<&'a Resource>,
}

/// The evidence that a declaration is a recorded resource.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Likeness {
    /// A plan matches them.
    Matched(Match),
    /// Both name the same real resource by this property.
    SamePhysicalId(String),
    Suggested(Reason),
    /// A whole module or instance has moved.
    MovedPlace,
    /// Nothing tells which of several resources it is.
    Ambiguous,
}

impl Likeness {
    /// Returns true if a plan takes the two for the same resource without asking.
    pub fn is_certain(&self) -> bool {
        matches!(self, Likeness::Matched(_))
    }
}

impl fmt::Display for Likeness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Likeness::Matched(Match::Name) => f.write_str("they have the same name"),
            Likeness::Matched(Match::Record | Match::Rename) => f.write_str("it had this name before"),
            Likeness::Matched(Match::Pinfile) => f.write_str("the pinfile says so"),
            Likeness::Matched(Match::Alias | Match::Accepted) => f.write_str("the program says so"),
            Likeness::Matched(Match::Identity) => f.write_str("both name the same real resource"),
            Likeness::Matched(Match::Content) => f.write_str("both have the same content"),
            Likeness::SamePhysicalId(property)
            | Likeness::Suggested(
                Reason::SamePhysicalId { property }
                | Reason::Swapped { property }
                | Reason::NameTaken { property },
            ) => write!(f, "`{property}` identifies the same real resource"),
            Likeness::Suggested(Reason::SameGivenId) => f.write_str("both have the same type and id"),
            Likeness::Suggested(Reason::SameContent | Reason::SameDependents | Reason::SameId) => {
                f.write_str("both have the same type, inputs and sources")
            }
            Likeness::Suggested(Reason::Similar { equal, of }) => {
                write!(f, "{equal} of {of} properties are the same")
            }
            Likeness::MovedPlace => f.write_str("both are the same part of a module or instance that moved"),
            Likeness::Ambiguous => f.write_str("nothing tells which of several resources it is"),
        }
    }
}

/// A protecting declaration of a recorded resource.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counterpart {
    pub node: NodeId,
    pub likeness: Likeness,
}

/// The declarations of recorded resources, by the uid of the record.
#[derive(Clone, Debug, Default)]
pub struct Counterparts {
    matched: HashMap<Uid, NodeId>,
    protecting: HashMap<Uid, Vec<Counterpart>>,
}

impl Counterparts {
    /// Compares a program with the records.
    ///
    /// Takes time in proportion to both: of many equal declarations, the first with each kind of protection stands for all.
    pub fn of(
        base: &State,
        program: &Graph,
        catalog: &Catalog,
        canonical: &CanonicalIdentities,
    ) -> Counterparts {
        let mut matching = Matching::new(base, program, catalog, canonical);
        matching.without_search();
        let regrouped = regroup(&mut matching);
        let mut found = Found::new(program);
        if found.protects.contains(&true) {
            for (id, old) in matching.pairs() {
                found.add(&old.uid, id, Likeness::Matched(matching.by[id.index()]));
            }
            found.add_formerly_named(&matching);
            found.add_regrouped(regrouped);
            found.add_same_real_resource(&matching);
            found.add_suggested(&matching);
        }
        let matched = matching.pairs().map(|(id, old)| (old.uid.clone(), id)).collect();
        Counterparts { matched, protecting: found.by_uid }
    }

    /// Returns the declaration that a plan matches with a record.
    pub fn matched(&self, uid: &Uid) -> Option<NodeId> {
        self.matched.get(uid).copied()
    }

    /// Returns the protecting declarations that are, or may be, a recorded resource. Certain ones come first.
    pub fn protecting(&self, uid: &Uid) -> &[Counterpart] {
        self.protecting.get(uid).map_or(&[], Vec::as_slice)
    }
}

/// Returns the records that a plan matches with the declarations of a graph, without a search for renames.
pub fn matches<'a>(
    base: &'a State,
    graph: &'a Graph,
    catalog: &'a Catalog,
    canonical: &'a CanonicalIdentities,
) -> Vec<(NodeId, &'a Resource)> {
    let mut matching = Matching::new(base, graph, catalog, canonical);
    matching.without_search();
    regroup(&mut matching);
    matching.pairs().collect()
}

/// The protecting declarations so far.
struct Found<'a> {
    program: &'a Graph,
    /// Whether each node has a mark or a pin that protects.
    protects: Vec<bool>,
    by_uid: HashMap<Uid, Vec<Counterpart>>,
}

impl<'a> Found<'a> {
    fn new(program: &'a Graph) -> Found<'a> {
        let protects = |id: NodeId| {
            let marks = program.node(id).map(Node::effective_marks).unwrap_or_default();
            marks.prevents_deletion() || marks.retains() || program.pin_setting(id) == Some(true)
        };
        Found { program, protects: program.ids().map(protects).collect(), by_uid: HashMap::new() }
    }

    fn add(&mut self, record: &Uid, node: NodeId, likeness: Likeness) {
        if !self.protects[node.index()] {
            return;
        }
        let all = self.by_uid.entry(record.clone()).or_default();
        if all.iter().all(|known| known.node != node) {
            all.push(Counterpart { node, likeness });
        }
    }

    /// Adds the records of former names, also those of another type, which a plan does not match.
    fn add_formerly_named(&mut self, matching: &Matching<'a>) {
        for id in matching.provisioned().filter(|id| matching.matched[id.index()].is_none()) {
            for alias in &self.program.nodes[id.index()].options.aliases {
                let old = matching.base.by_name(alias);
                if let Some(old) = old.filter(|old| !matching.claimed.contains(&old.uid)) {
                    self.add(&old.uid, id, Likeness::Matched(Match::Alias));
                }
            }
        }
    }

    fn add_regrouped(&mut self, Regrouped { told, unsettled, .. }: Regrouped<'a>) {
        told.into_iter().for_each(|(id, old, by)| self.add(&old.uid, id, Likeness::Matched(by)));
        self.add_unsettled(&unsettled);
    }

    /// Adds the records of real resources that a node names, or a part of them, whatever their names and types are.
    fn add_same_real_resource(&mut self, matching: &Matching<'a>) {
        let mut identities = matching.identities();
        let mut nodes: HashMap<Part<'a>, Vec<NodeId>> = HashMap::new();
        for id in matching.provisioned().filter(|id| self.protects[id.index()]) {
            let physical = matching.physical(&mut identities, id);
            for part in physical.into_iter().flat_map(Physical::parts) {
                nodes.entry(part).or_default().push(id);
            }
        }
        if nodes.is_empty() {
            return;
        }
        let nodes: HashMap<Part<'a>, BTreeSet<NodeId>> =
            nodes.into_iter().map(|(part, all)| (part, self.representatives(&all))).collect();
        for record in matching.base.copies() {
            let Some(physical) = identities.of_record(record) else { continue };
            let property = identities.property(&physical);
            for id in physical.parts().iter().filter_map(|part| nodes.get(part)).flatten() {
                self.add(&record.uid, *id, Likeness::SamePhysicalId(property.to_owned()));
            }
        }
    }

    fn add_suggested(&mut self, matching: &Matching<'a>) {
        // A cycle is an error of the program, and costs no more than the comparison of sources.
        let order = self.program.order(&self.program.edges());
        let order = order.unwrap_or_else(|_| self.program.ids().collect());
        let Suggestions { places, suggestions, ambiguities, unsettled } = suggest(matching, &order);
        for moved in places.iter().flat_map(|place| &place.resources) {
            self.add(&moved.copy.uid, moved.node, Likeness::MovedPlace);
        }
        for Suggestion { copy, node, reason, .. } in suggestions {
            self.add(&copy.uid, node, Likeness::Suggested(reason));
        }
        self.add_ambiguous(matching.base, &ambiguities);
        self.add_unsettled(&unsettled);
    }

    fn add_ambiguous(&mut self, base: &'a State, ambiguities: &[Ambiguity]) {
        if ambiguities.is_empty() {
            return;
        }
        let ids: HashMap<&Name, NodeId> =
            self.program.ids().map(|id| (&self.program.nodes[id.index()].name, id)).collect();
        for Ambiguity { from, to } in ambiguities {
            let nodes = to.iter().filter_map(|name| ids.get(name).copied()).collect();
            let records = from.iter().filter_map(|name| base.by_name(name)).collect();
            self.add_unsettled(&[Unsettled { nodes, records }]);
        }
    }

    fn add_unsettled(&mut self, unsettled: &[Unsettled<'_>]) {
        for Unsettled { nodes, records } in unsettled {
            for id in self.representatives(nodes) {
                records.iter().for_each(|record| self.add(&record.uid, id, Likeness::Ambiguous));
            }
        }
    }

    /// Returns the first node with each kind of protection.
    fn representatives(&self, nodes: &[NodeId]) -> BTreeSet<NodeId> {
        let mut protecting = nodes.iter().copied().filter(|id| self.protects[id.index()]).peekable();
        if protecting.peek().is_none() {
            return BTreeSet::new();
        }
        let marks = |id: &NodeId| self.program.nodes[id.index()].effective_marks();
        let all: Vec<NodeId> = protecting.collect();
        let first = |has: &dyn Fn(&NodeId) -> bool| all.iter().copied().find(|id| has(id));
        let kinds = [
            first(&|id| marks(id).prevents_deletion()),
            first(&|id| marks(id).retains()),
            first(&|id| self.program.pin_setting(*id) == Some(true)),
        ];
        kinds.into_iter().flatten().collect()
    }
}
