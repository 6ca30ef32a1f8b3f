//! Former names of resources. Each belongs to one resource at most, also while a run is under way.

use std::collections::{BTreeSet, HashMap, HashSet};

use stead_model::{Graph, Lifecycle, Name, Node, NodeId, Resource, Uid};
use stead_state::State;

/// Decides which resource keeps which former name.
pub struct Aliases<'a> {
    declared: HashSet<&'a Name>,
    /// The resource that each former name belongs to in the recorded state.
    recorded: HashMap<&'a Name, &'a Uid>,
    /// The first declared resource that claims each former name.
    claimed: HashMap<&'a Name, NodeId>,
}

impl<'a> Aliases<'a> {
    pub fn of(
        base: &'a State,
        graph: &'a Graph,
        old: impl Fn(NodeId) -> Option<&'a Resource>,
    ) -> Aliases<'a> {
        let current = base.copies().filter(|copy| copy.lifecycle != Lifecycle::Condemned);
        let recorded: HashMap<&Name, &Uid> =
            current.flat_map(|copy| copy.ties.aliases.iter().map(move |alias| (alias, &copy.uid))).collect();
        let mut claimed = HashMap::new();
        for id in graph.ids() {
            let node = &graph.nodes[id.index()];
            let had = old(id).map(|old| &old.name).filter(|name| **name != node.name);
            for name in had.into_iter().chain(&node.options.aliases) {
                claimed.entry(name).or_insert(id);
            }
        }
        Aliases { declared: graph.nodes.iter().map(|node| &node.name).collect(), recorded, claimed }
    }

    /// Returns the former names that the record of a resource keeps, sorted: recorded ones and those of the program's `aliases`.
    ///
    /// A name that a declared resource has now, or that belongs to another resource, is left out.
    pub fn kept(&self, node: &Node, id: NodeId, old: Option<&Resource>) -> Vec<Name> {
        let had = old.map(|old| &old.name).filter(|name| **name != node.name);
        let recorded = old.map(|old| old.ties.aliases.as_slice()).unwrap_or_default();
        // The program may spell a recorded name as earlier versions did.
        let is_other_reading = |alias: &&Name| {
            old.is_some_and(|old| {
                let known = |name: &Name| *name == old.name || recorded.contains(name);
                !known(alias) && alias.other_readings().iter().any(known)
            })
        };
        let declared = node.options.aliases.iter().filter(|alias| !is_other_reading(alias));
        let all: BTreeSet<&Name> = recorded.iter().chain(had).chain(declared).collect();
        let own = |name: &&Name| match self.recorded.get(name) {
            Some(holder) => old.is_some_and(|old| old.uid == **holder),
            None => self.claimed.get(name) == Some(&id),
        };
        let free = |name: &&Name| **name != node.name && !self.declared.contains(name);
        all.into_iter().filter(free).filter(own).cloned().collect()
    }
}
