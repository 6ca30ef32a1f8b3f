//! Matches declared resources with recorded ones.
//!
//! In this order: the record of a rollback, same name (a gid is a name), the pinfile's `originalPath`, aliases, recorded renames, unnamed siblings by physical
//! identity and by content.
//! Pairs that only look alike become a [`Suggestion`], and a whole module or instance a [`MovedPlace`].
//!
//! All of it works by hashing and sorting, never by comparing each with each.

mod aliases;
mod content;
mod counterparts;
mod displaced;
mod places;
mod siblings;
mod similar;
mod suggest;

use std::collections::{HashMap, HashSet};

use serde::Serialize;
use stead_guard::pins::paths_of;
use stead_model::{Graph, Name, NodeId, NodeKind, Resource, Uid};
use stead_schema::Catalog;
use stead_state::State;

use crate::CanonicalIdentities;
use crate::physical::{Identities, Physical};
use crate::request::MovePolicy;

pub use aliases::Aliases;
pub use counterparts::{Counterpart, Counterparts, Likeness, matches};
pub use places::{MovedPlace, MovedResource};
pub use suggest::{Ambiguity, Confidence, Difference, Reason, Suggestion};

/// How a declared resource was matched with a recorded one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Match {
    Name,
    /// By the record that the declaration was made from, in a rollback.
    Record,
    /// By the original path in the pinfile.
    Pinfile,
    /// By a former name in the program: in `aliases`, or in a `move`.
    Alias,
    /// By a former name that a rename or an earlier move recorded.
    Rename,
    /// By the physical identity of an unnamed sibling.
    Identity,
    /// By the content of an unnamed sibling.
    Content,
    /// A suggestion that was accepted.
    Accepted,
}

/// The matches, and the suggestions for resources without one.
#[derive(Default)]
pub(crate) struct Correlation<'a> {
    /// The recorded resource of each node, if any.
    pub matched: Vec<Option<&'a Resource>>,
    pub by: Vec<Match>,
    pub places: Vec<MovedPlace>,
    pub suggestions: Vec<Suggestion>,
    pub ambiguities: Vec<Ambiguity>,
}

pub(crate) fn correlate<'a>(
    base: &'a State,
    graph: &'a Graph,
    order: &[NodeId],
    catalog: &'a Catalog,
    canonical: &'a CanonicalIdentities,
    moves: MovePolicy,
) -> Correlation<'a> {
    let mut matching = Matching::new(base, graph, catalog, canonical);
    matching.without_search();
    let mut ambiguities = match moves {
        MovePolicy::Refuse => Vec::new(),
        // No person is asked here, so an ambiguous group keeps its counters.
        MovePolicy::Regroup => {
            siblings::regroup(&mut matching);
            Vec::new()
        }
        MovePolicy::Suggest | MovePolicy::Accept => siblings::regroup(&mut matching).ambiguities,
    };
    let (mut places, mut suggestions) = match moves {
        MovePolicy::Refuse | MovePolicy::Regroup => (Vec::new(), Vec::new()),
        MovePolicy::Suggest | MovePolicy::Accept => {
            let found = suggest::suggest(&matching, order);
            ambiguities.extend(found.ambiguities);
            (found.places, found.suggestions)
        }
    };
    if moves == MovePolicy::Accept {
        places.retain(|place| {
            let certain = place.confidence == Confidence::Certain;
            for moved in place.resources.iter().filter(|_| certain) {
                if let Some(old) = base.by_name(&moved.from) {
                    matching.bind(moved.node, old, Match::Accepted);
                }
            }
            !certain
        });
        suggestions.retain(|suggestion| {
            let certain = suggestion.confidence == Confidence::Certain;
            if certain && let Some(old) = base.by_name(&suggestion.from) {
                matching.bind(suggestion.node, old, Match::Accepted);
            }
            !certain
        });
    }
    let Matching { matched, by, .. } = matching;
    Correlation { matched, by, places, suggestions, ambiguities }
}

/// The matches so far.
pub(crate) struct Matching<'a> {
    pub base: &'a State,
    pub graph: &'a Graph,
    pub catalog: &'a Catalog,
    canonical: &'a CanonicalIdentities,
    pub matched: Vec<Option<&'a Resource>>,
    pub by: Vec<Match>,
    /// Recorded resources that have a match.
    pub claimed: HashSet<&'a Uid>,
}

impl<'a> Matching<'a> {
    fn new(
        base: &'a State,
        graph: &'a Graph,
        catalog: &'a Catalog,
        canonical: &'a CanonicalIdentities,
    ) -> Matching<'a> {
        let count = graph.nodes.len();
        let (matched, by) = (vec![None; count], vec![Match::Name; count]);
        Matching { base, graph, catalog, canonical, matched, by, claimed: HashSet::with_capacity(count) }
    }

    fn bind(&mut self, id: NodeId, old: &'a Resource, by: Match) {
        self.matched[id.index()] = Some(old);
        self.by[id.index()] = by;
        self.claimed.insert(&old.uid);
    }

    fn release(&mut self, id: NodeId) {
        if let Some(old) = self.matched[id.index()].take() {
            self.claimed.remove(&old.uid);
        }
    }

    fn identities(&self) -> Identities<'a> {
        Identities::new(self.catalog, self.canonical)
    }

    /// Returns the physical identity that a node asks for, if its inputs tell it.
    fn physical(&self, identities: &mut Identities<'a>, id: NodeId) -> Option<Physical<'a>> {
        let node = &self.graph.nodes[id.index()];
        let provider = match node.options.provider {
            Some(provider) => Some(&self.matched[provider.index()]?.uid),
            None => None,
        };
        identities.of_declared((id, &node.ty), provider, &node.inputs, &[])
    }

    fn provisioned(&self) -> impl Iterator<Item = NodeId> + use<'a> {
        let graph = self.graph;
        graph.ids().filter(|id| graph.nodes[id.index()].kind == NodeKind::Provisioned)
    }

    /// Returns the matches so far.
    fn pairs(&self) -> impl Iterator<Item = (NodeId, &'a Resource)> {
        self.provisioned().filter_map(|id| Some((id, self.matched[id.index()]?)))
    }

    fn unmatched(&self) -> Vec<NodeId> {
        self.provisioned().filter(|id| self.matched[id.index()].is_none()).collect()
    }

    /// Returns the recorded resources without a match, sorted.
    pub(crate) fn unclaimed(&self) -> Vec<&'a Resource> {
        let current = |resource: &&Resource| {
            !self.claimed.contains(&resource.uid)
                && self.base.current(&resource.uid).is_some_and(|current| current.copy() == resource.copy())
        };
        let mut left: Vec<&Resource> = self.base.copies().filter(current).collect();
        left.sort_by(|a, b| a.sort_key().cmp(&b.sort_key()));
        left
    }

    /// Makes the matches that names and records tell.
    fn without_search(&mut self) {
        self.by_record();
        self.by_name();
        self.by_pinfile();
        self.by_alias();
        self.by_rename();
    }

    fn by_record(&mut self) {
        for id in self.provisioned() {
            let node = &self.graph.nodes[id.index()];
            let old = node.options.recorded.as_ref().and_then(|uid| self.base.current(uid));
            if let Some(old) = old.filter(|old| old.ty == node.ty) {
                self.bind(id, old, Match::Record);
            }
        }
    }

    fn by_name(&mut self) {
        for id in self.provisioned().filter(|id| self.matched[id.index()].is_none()).collect::<Vec<_>>() {
            if let Some(old) = self.base.by_name(&self.graph.nodes[id.index()].name)
                && !self.claimed.contains(&old.uid)
            {
                self.bind(id, old, Match::Name);
            }
        }
    }

    /// Matches nodes with an original path, or with the path of a `move`, to resources whose recorded or former name has that path.
    fn by_pinfile(&mut self) {
        let unmatched = self.unmatched();
        let options = |id: NodeId| &self.graph.nodes[id.index()].options;
        let moved = |id: &NodeId| Some((options(*id).moved_from.as_deref()?, (*id, Match::Alias)));
        let original = |id: &NodeId| Some((options(*id).original_path.as_deref()?, (*id, Match::Pinfile)));
        let mut wanted: HashMap<&str, (NodeId, Match)> = unmatched.iter().filter_map(moved).collect();
        wanted.extend(unmatched.iter().filter_map(original));
        if wanted.is_empty() {
            return;
        }
        for old in self.unclaimed() {
            let node = paths_of(old).find_map(|path| wanted.get(path.as_str()).copied());
            let same = |(id, _): &(NodeId, Match)| {
                self.matched[id.index()].is_none() && self.graph.nodes[id.index()].ty == old.ty
            };
            if let Some((id, by)) = node.filter(same) {
                self.bind(id, old, by);
            }
        }
    }

    fn by_alias(&mut self) {
        for id in self.unmatched() {
            let node = &self.graph.nodes[id.index()];
            let aliases = &node.options.aliases;
            let mut found = aliases.iter().filter_map(|alias| self.base.by_name(alias));
            let is_free = |old: &&Resource| !self.claimed.contains(&old.uid);
            let fits = |old: &&Resource| is_free(old) && old.ty == node.ty;
            if let Some(old) = found.find(fits).or_else(|| self.by_other_reading(aliases).filter(fits)) {
                self.bind(id, old, Match::Alias);
            }
        }
    }

    /// Returns the only resource that the aliases mean in the spelling of earlier versions, or with folders for classes.
    fn by_other_reading(&self, aliases: &[Name]) -> Option<&'a Resource> {
        let unknown = aliases.iter().filter(|alias| self.base.by_name(alias).is_none());
        let mut found =
            unknown.flat_map(Name::other_readings).filter_map(|reading| self.base.by_name(&reading));
        let only = found.next()?;
        found.next().is_none().then_some(only)
    }

    fn by_rename(&mut self) {
        let unmatched = self.unmatched();
        if unmatched.is_empty() {
            return;
        }
        let mut names: HashMap<&Name, Option<&'a Resource>> = HashMap::new();
        for old in self.unclaimed() {
            for alias in &old.ties.aliases {
                // A former name of two resources is ambiguous.
                names.entry(alias).and_modify(|entry| *entry = None).or_insert(Some(old));
            }
        }
        for id in unmatched {
            let node = &self.graph.nodes[id.index()];
            let known = names.get(&node.name).copied().flatten();
            // The type is part of a name, so another type is another resource.
            let same = |old: &&Resource| !self.claimed.contains(&old.uid) && old.ty == node.ty;
            if let Some(old) = known.filter(same) {
                self.bind(id, old, Match::Rename);
            }
        }
    }
}
