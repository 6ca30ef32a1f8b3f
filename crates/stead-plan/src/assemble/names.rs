//! Name changes, which come before all other steps.
//!
//! **Invariant:** no two recorded resources have the same name, after any step. The holder of a wanted name moves first: to its own new
//! name, or, if it has none or is part of a cycle of names, to a parking name made of its uid.

use std::collections::HashMap;

use stead_model::{Code, Diagnostic, Name, NameParts, NodeId, Resource, Uid};

use super::steps::Assembly;
use crate::decide::{Decision, Planner};
use crate::plan::{Action, StepId, Why};

#[derive(Clone, Copy, PartialEq, Eq)]
enum Progress {
    NotYet,
    UnderWay,
    Done,
}

/// The steps that other steps have to wait for because of names.
pub(super) struct Names {
    /// For each node, the step after which it can have its name. `None` means from the start.
    pub free: Vec<Option<StepId>>,
    /// The steps that park resources without a declaration or in a cycle. All other steps on them come later, because those write
    /// the record with its new name.
    pub parked: HashMap<Uid, StepId>,
}

/// Adds the steps that change names.
pub(super) fn change_names(assembly: &mut Assembly<'_, '_>) -> Result<Names, Vec<Diagnostic>> {
    let planner = assembly.planner;
    let count = planner.graph.nodes.len();
    let mut mover = Mover {
        planner,
        nodes: planner.graph.ids().filter_map(|id| Some((&planner.old(id)?.uid, id))).collect(),
        progress: vec![Progress::NotYet; count],
        parked: HashMap::new(),
        free: vec![None; count],
        problems: Vec::new(),
    };
    for id in planner.graph.ids() {
        if wants_name(planner, id) {
            mover.free_name(assembly, id);
        }
    }
    let Mover { free, parked, problems, .. } = mover;
    let parked = parked.into_iter().map(|(uid, step)| (uid.clone(), step)).collect();
    if problems.is_empty() { Ok(Names { free, parked }) } else { Err(problems) }
}

/// Returns true if the node does not have its name in state yet and will have it after the run.
fn wants_name(planner: &Planner<'_>, id: NodeId) -> bool {
    let decided = planner.decided[id.index()].as_ref().map(|decided| &decided.decision);
    match decided {
        None | Some(Decision::Group | Decision::Untouched | Decision::Absent) => false,
        Some(_) => planner.old(id).is_none_or(|old| old.name != planner.graph.nodes[id.index()].name),
    }
}

struct Mover<'p, 'a> {
    planner: &'p Planner<'a>,
    nodes: HashMap<&'a Uid, NodeId>,
    progress: Vec<Progress>,
    parked: HashMap<&'a Uid, StepId>,
    free: Vec<Option<StepId>>,
    problems: Vec<Diagnostic>,
}

impl<'a> Mover<'_, 'a> {
    /// Moves a node to its name, after the chain of holders that have to move first.
    fn free_name(&mut self, assembly: &mut Assembly<'_, 'a>, start: NodeId) {
        let mut chain = vec![start];
        while let Some(&id) = chain.last() {
            if self.progress[id.index()] == Progress::Done {
                chain.pop();
                continue;
            }
            self.progress[id.index()] = Progress::UnderWay;
            let holder = self.holder(id);
            match holder.map(|holder| (holder, self.nodes.get(&holder.uid).copied())) {
                Some((holder, Some(next))) if wants_name(self.planner, next) => {
                    match self.progress[next.index()] {
                        Progress::NotYet => {
                            chain.push(next);
                            continue;
                        }
                        Progress::UnderWay => self.park(assembly, holder),
                        Progress::Done => {}
                    }
                }
                Some((holder, None)) if self.planner.selected.touches_removed(&holder.uid) => {
                    self.park(assembly, holder);
                }
                Some((holder, _)) => self.problems.push(taken(self.planner, id, holder)),
                None => {}
            }
            self.take_name(assembly, id, holder);
            chain.pop();
        }
    }

    /// Returns the other resource that is recorded under the node's name.
    fn holder(&self, id: NodeId) -> Option<&'a Resource> {
        let name = &self.planner.graph.nodes[id.index()].name;
        let own = self.planner.old(id).map(|old| &old.uid);
        self.planner.base.by_name(name).filter(|holder| Some(&holder.uid) != own)
    }

    /// Moves the holder of a wanted name to a parking name.
    fn park(&mut self, assembly: &mut Assembly<'_, 'a>, holder: &'a Resource) {
        if self.parked.contains_key(&holder.uid) {
            return;
        }
        let action = Action::Move {
            copy: holder.copy(),
            from: holder.name.clone(),
            to: parking_name(&holder.name, &holder.uid),
        };
        let about = (holder.name.clone(), holder.ty.clone(), holder.source.clone());
        let step = assembly.push(about, action, Why::NameVacated, Vec::new(), Vec::new(), None);
        self.parked.insert(&holder.uid, step);
    }

    fn take_name(&mut self, assembly: &mut Assembly<'_, 'a>, id: NodeId, holder: Option<&'a Resource>) {
        self.progress[id.index()] = Progress::Done;
        let vacated = holder.and_then(|holder| {
            let moved = self.nodes.get(&holder.uid).and_then(|node| self.free[node.index()]);
            self.parked.get(&holder.uid).copied().or(moved)
        });
        let Some(old) = self.planner.old(id) else {
            self.free[id.index()] = vacated;
            return;
        };
        let parked = self.parked.get(&old.uid).copied();
        let mut after: Vec<StepId> = vacated.into_iter().chain(parked).collect();
        after.sort_unstable();
        after.dedup();
        let to = self.planner.graph.nodes[id.index()].name.clone();
        let action = Action::Move { copy: old.copy(), from: old.name.clone(), to };
        let why = Why::Moved { by: self.planner.correlation.by[id.index()] };
        assembly.summary.moved += 1;
        self.free[id.index()] = Some(assembly.declared(id, action, why, Vec::new(), after));
    }
}

/// Returns a name that is unique because of the uid.
fn parking_name(name: &Name, uid: &Uid) -> Name {
    match &**name {
        NameParts::Global { .. } => name.with_id(uid.to_string()),
        NameParts::Placed { .. } => name.with_id(format!("moved-{uid}")),
    }
}

fn taken(planner: &Planner<'_>, id: NodeId, holder: &Resource) -> Diagnostic {
    let node = &planner.graph.nodes[id.index()];
    let message = format!("{} is the recorded name of another resource, which is not selected", node.name);
    Diagnostic::error(Code::NOT_SELECTED, message)
        .at(node.source.clone(), 0, "declared here")
        .at(holder.source.clone(), 0, "this resource has the name in state")
        .help("select both resources, so that both can change their names")
}
