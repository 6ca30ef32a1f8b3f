//! The integrity rules: numbered, one function each. There is no way to switch one off.
//!
//! They look at a snapshot's resources as a whole, before `head` refers to it and after every read.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt;

use stead_model::{CopyRef, Generation, Lifecycle, Name, Resource, Uid};

use crate::{Intent, Snapshot};

/// One thing that is never true of a sound state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// `S01`, …
    pub rule: &'static str,
    /// The resource's name, or what else it is about.
    pub subject: String,
    pub problem: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}: {}", self.rule, self.subject, self.problem)
    }
}

/// What a finding is about, and what is wrong with it.
type Finding = (String, String);

/// A rule: its number, what it demands, and the function that looks.
pub struct Rule {
    pub number: &'static str,
    pub demand: &'static str,
    check: fn(&View<'_>, &mut Vec<Finding>),
}

/// All rules, in order.
pub const RULES: &[Rule] = &[
    Rule { number: "S01", demand: "each copy is stored once", check: copies_are_unique },
    Rule {
        number: "S02",
        demand: "a resource has at most one copy that is not condemned",
        check: one_current,
    },
    Rule { number: "S03", demand: "a name belongs to one resource", check: names_are_unique },
    Rule { number: "S04", demand: "what exists has an id, what is deleted has none", check: ids_fit },
    Rule { number: "S05", demand: "the newest copy is the current one", check: newest_is_current },
    Rule { number: "S06", demand: "each dependency exists", check: dependencies_exist },
    Rule { number: "S07", demand: "a property's sources are dependencies", check: sources_are_dependencies },
    Rule { number: "S08", demand: "nothing depends on itself", check: acyclic },
    Rule { number: "S09", demand: "pending operations speak of what exists", check: pending_fits },
    Rule { number: "S10", demand: "counters are ahead of what they counted", check: counters_are_ahead },
];

/// Every violation of every rule.
pub fn verify(snapshot: &Snapshot) -> Vec<Violation> {
    let view = View::of(snapshot);
    let mut violations = Vec::new();
    for rule in RULES {
        let mut found = Vec::new();
        (rule.check)(&view, &mut found);
        let named =
            found.into_iter().map(|(subject, problem)| Violation { rule: rule.number, subject, problem });
        violations.extend(named);
    }
    violations
}

/// A snapshot with the look-ups that the rules share.
struct View<'a> {
    snapshot: &'a Snapshot,
    copies: HashMap<(&'a Uid, Generation), &'a Resource>,
    current: HashMap<&'a Uid, &'a Resource>,
    names: HashMap<&'a Name, &'a Uid>,
}

impl<'a> View<'a> {
    fn of(snapshot: &'a Snapshot) -> View<'a> {
        let copies = snapshot
            .resources
            .iter()
            .map(|resource| ((&resource.uid, resource.generation), resource))
            .collect();
        let current = || snapshot.resources.iter().filter(|resource| is_current(resource));
        View {
            snapshot,
            copies,
            current: current().map(|resource| (&resource.uid, resource)).collect(),
            names: current().map(|resource| (&resource.name, &resource.uid)).collect(),
        }
    }

    fn resources(&self) -> impl Iterator<Item = &'a Resource> {
        self.snapshot.resources.iter()
    }

    fn copy(&self, copy: &CopyRef) -> Option<&'a Resource> {
        self.copies.get(&(&copy.uid, copy.generation)).copied()
    }

    fn resolve(&self, copy: &CopyRef) -> Option<&'a Resource> {
        self.copy(copy).or_else(|| self.current.get(&copy.uid).copied())
    }
}

fn is_current(resource: &Resource) -> bool {
    resource.lifecycle != Lifecycle::Condemned
}

fn copies_are_unique(view: &View<'_>, found: &mut Vec<Finding>) {
    let mut seen = BTreeSet::new();
    for resource in view.resources() {
        if !seen.insert((&resource.uid, resource.generation)) {
            found.push((resource.name.to_string(), format!("the copy {} is there twice", resource.copy())));
        }
    }
}

fn one_current(view: &View<'_>, found: &mut Vec<Finding>) {
    let mut seen = BTreeSet::new();
    for resource in view.resources().filter(|resource| is_current(resource)) {
        if !seen.insert(&resource.uid) {
            found.push((resource.name.to_string(), "two copies are current".to_owned()));
        }
    }
}

fn names_are_unique(view: &View<'_>, found: &mut Vec<Finding>) {
    let mut seen: BTreeMap<&Name, &Uid> = BTreeMap::new();
    for resource in view.resources().filter(|resource| is_current(resource)) {
        if seen.insert(&resource.name, &resource.uid).is_some_and(|other| *other != resource.uid) {
            found.push((resource.name.to_string(), "two resources have this name".to_owned()));
        }
    }
}

fn ids_fit(view: &View<'_>, found: &mut Vec<Finding>) {
    for resource in view.resources() {
        let exists = resource.lifecycle != Lifecycle::Replacing;
        if exists != resource.id.as_ref().is_some_and(|id| !id.as_str().is_empty()) {
            let problem = if exists { "it exists and has no id" } else { "it is deleted and has an id" };
            found.push((resource.name.to_string(), problem.to_owned()));
        }
    }
}

fn newest_is_current(view: &View<'_>, found: &mut Vec<Finding>) {
    for resource in view.resources().filter(|resource| !is_current(resource)) {
        let older = view.current.get(&resource.uid).filter(|live| live.generation < resource.generation);
        if older.is_some() {
            found.push((
                resource.name.to_string(),
                "a condemned copy is newer than the current one".to_owned(),
            ));
        }
    }
}

fn dependencies_exist(view: &View<'_>, found: &mut Vec<Finding>) {
    for resource in view.resources() {
        for dependency in resource.dependencies.iter().filter(|copy| view.resolve(copy).is_none()) {
            found.push((
                resource.name.to_string(),
                format!("it depends on {dependency}, which does not exist"),
            ));
        }
    }
}

fn sources_are_dependencies(view: &View<'_>, found: &mut Vec<Finding>) {
    for resource in view.resources() {
        for (property, sources) in &resource.property_dependencies {
            for uid in sources {
                if !resource.dependencies.iter().any(|dependency| dependency.uid == *uid) {
                    let problem = format!("`{property}` comes from {uid}, which is not a dependency");
                    found.push((resource.name.to_string(), problem));
                }
            }
        }
    }
}

/// Removes what depends on nothing that is left, until nothing moves; what is left goes round in circles.
fn acyclic(view: &View<'_>, found: &mut Vec<Finding>) {
    let resources = &view.snapshot.resources;
    let positions: HashMap<(&Uid, Generation), usize> = resources
        .iter()
        .enumerate()
        .map(|(at, resource)| ((&resource.uid, resource.generation), at))
        .collect();
    let mut waiting = vec![0usize; resources.len()];
    let mut dependants: Vec<Vec<usize>> = vec![Vec::new(); resources.len()];
    for (at, resource) in resources.iter().enumerate() {
        let meant = resource.dependencies.iter().filter_map(|copy| view.resolve(copy));
        let needs: BTreeSet<usize> =
            meant.filter_map(|need| positions.get(&(&need.uid, need.generation))).copied().collect();
        waiting[at] = needs.len();
        needs.into_iter().for_each(|need| dependants[need].push(at));
    }
    let mut free: Vec<usize> = (0..resources.len()).filter(|at| waiting[*at] == 0).collect();
    while let Some(at) = free.pop() {
        for &dependant in &dependants[at] {
            waiting[dependant] -= 1;
            if waiting[dependant] == 0 {
                free.push(dependant);
            }
        }
    }
    let stuck = resources.iter().zip(&waiting).filter(|(_, waiting)| **waiting > 0);
    found.extend(stuck.map(|(resource, _)| (resource.name.to_string(), "it waits for itself".to_owned())));
}

fn pending_fits(view: &View<'_>, found: &mut Vec<Finding>) {
    for pending in &view.snapshot.pending {
        match &pending.intent {
            Intent::Create { resource, .. } => {
                if view.names.get(&resource.name).is_some_and(|holder| **holder != resource.uid) {
                    let problem = "it is being created while another has its name".to_owned();
                    found.push((resource.name.to_string(), problem));
                }
            }
            Intent::Update { resource, .. } => {
                if view.copy(&resource.copy()).is_none() {
                    let problem = "an update is pending, and it does not exist".to_owned();
                    found.push((resource.name.to_string(), problem));
                }
            }
            Intent::Delete { copy, .. } => {
                if view.copy(copy).is_none() {
                    let problem = "its deletion is pending, and it does not exist".to_owned();
                    found.push((copy.to_string(), problem));
                }
            }
        }
    }
}

fn counters_are_ahead(view: &View<'_>, found: &mut Vec<Finding>) {
    let known: BTreeSet<&Uid> = view.resources().map(|resource| &resource.uid).collect();
    if (view.snapshot.uids as usize) < known.len() {
        found.push(("uids".to_owned(), "there are more resources than uids given out".to_owned()));
    }
    for pending in view.snapshot.pending.iter().filter(|pending| pending.op >= view.snapshot.next_op) {
        let problem = "it is pending, and its number is not given out yet".to_owned();
        found.push((format!("operation {}", pending.op), problem));
    }
}

#[cfg(test)]
mod tests;
