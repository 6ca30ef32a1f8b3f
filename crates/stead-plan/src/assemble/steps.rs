//! Turns decisions into steps, in dependency order.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use stead_model::{
    CopyRef, Diagnostic, Input, Inputs, Map, Name, NodeId, PropertyPath, Resource, SourceRef, Text,
    TypeToken, Uid,
};
use stead_schema::{Change, ReplaceOrder};

use super::deletions::add_deletions;
use super::early::EarlyDeletions;
use super::names::{Names, change_names};
use crate::check::{broken_dependencies, unselected_loss};
use crate::decide::{Decided, Decision, Planner, Replacement};
use crate::plan::{Action, Incarnation, Plan, Step, StepId, Summary, Why};

/// A plan under construction.
pub(super) struct Assembly<'p, 'a> {
    pub planner: &'p Planner<'a>,
    pub steps: Vec<Step>,
    /// The last step of each node. `None` means that dependents need not wait.
    pub done_by: Vec<Option<StepId>>,
    pub names: Names,
    pub early_deletions: EarlyDeletions<'a>,
    /// The steps of the early deletions so far.
    pub early_steps: HashMap<CopyRef, StepId>,
    pub summary: Summary,
    uids: u64,
    pub existing: BTreeMap<NodeId, CopyRef>,
    unchanged: Vec<NodeId>,
    /// The inputs of each node, until its step takes them.
    inputs: Vec<Inputs>,
}

/// Makes the plan, without suggestions, from the inputs of each node and the outputs of the stack.
pub(crate) fn assemble(
    planner: &Planner<'_>,
    inputs: Vec<Inputs>,
    outputs: Inputs,
) -> Result<Plan, Vec<Diagnostic>> {
    let problems = broken_dependencies(planner);
    if !problems.is_empty() {
        return Err(problems);
    }
    let nodes = planner.graph.nodes.len();
    let mut assembly = Assembly {
        planner,
        // The most steps there can usually be, so that the vector does not grow.
        steps: Vec::with_capacity(nodes + planner.base.len()),
        done_by: vec![None; nodes],
        names: Names { free: Vec::new(), parked: HashMap::new() },
        early_deletions: EarlyDeletions::of(planner, &inputs),
        early_steps: HashMap::new(),
        summary: Summary::default(),
        uids: planner.base.uids(),
        existing: BTreeMap::new(),
        unchanged: Vec::new(),
        inputs,
    };
    assembly.names = change_names(&mut assembly)?;
    for &id in &planner.order {
        if let Some(decided) = &planner.decided[id.index()] {
            assembly.node(id, decided);
        }
    }
    add_deletions(&mut assembly);
    let problems = unselected_loss(planner, &assembly.steps);
    if !problems.is_empty() {
        return Err(problems);
    }
    let outputs = with_recorded(planner, outputs);
    let Assembly { steps, summary, uids, existing, mut unchanged, .. } = assembly;
    unchanged.sort_unstable();
    let output_changes = output_changes(planner.base.outputs(), &outputs);
    Ok(Plan {
        steps,
        summary,
        outputs,
        output_changes,
        uids,
        existing,
        places: Vec::new(),
        suggestions: Vec::new(),
        ambiguities: Vec::new(),
        purpose: planner.request.purpose,
        unchanged,
        outer: planner.request.outer.clone(),
    })
}

/// Replaces outputs that depend on unselected resources which do not exist by the recorded outputs.
fn with_recorded(planner: &Planner<'_>, outputs: Inputs) -> Inputs {
    if planner.selected.is_everything() {
        return outputs;
    }
    let absent = |id: &NodeId| {
        let decided = planner.decided[id.index()].as_ref();
        decided.is_some_and(|decided| decided.decision == Decision::Absent)
    };
    let kept = outputs.into_iter().filter_map(|(name, output)| {
        if planner.graph.exprs.nodes_of(&output).iter().any(absent) {
            let recorded = planner.base.outputs().get(&name)?;
            return Some((name, Input::Known(recorded.clone())));
        }
        Some((name, output))
    });
    kept.collect()
}

fn output_changes(recorded: &Map, outputs: &Inputs) -> Vec<Change> {
    let names: BTreeSet<&Text> = recorded.keys().chain(outputs.keys()).collect();
    names
        .into_iter()
        .map(|name| (name, recorded.get(name), outputs.get(name)))
        .filter(|(_, old, new)| *old != new.and_then(Input::as_known) || old.is_some() != new.is_some())
        .map(|(name, old, new)| Change {
            path: PropertyPath::of(name),
            old: old.cloned(),
            new: new.cloned(),
            replaces: false,
            tried_in_place: false,
        })
        .collect()
}

impl<'a> Assembly<'_, 'a> {
    /// Adds the steps of a node.
    fn node(&mut self, id: NodeId, decided: &Decided) {
        let old = self.planner.old(id);
        if let Some(old) = old {
            self.existing.insert(id, old.copy());
        }
        let after = self.after(id);
        match (&decided.decision, old) {
            (Decision::Group, _) => self.pass_on(id, after),
            (Decision::Untouched | Decision::Absent, _) => {
                self.summary.left_alone += 1;
                self.pass_on(id, after);
            }
            (Decision::Create, old) => {
                self.summary.create += 1;
                let (why, incarnation) = match old {
                    Some(old) => (Why::Missing, next(old)),
                    None => (Why::New, self.first()),
                };
                self.create(id, decided, incarnation, why, after);
            }
            (Decision::Import, _) => self.import(id, decided, after),
            (Decision::Update, Some(old)) => {
                self.summary.update += 1;
                let action = Action::Update { copy: old.copy(), inputs: self.inputs_of(id) };
                self.declared(id, action, Why::Changed, decided.changes.clone(), after);
            }
            (Decision::Replace(replacement), Some(old)) => self.replace(id, decided, old, replacement, after),
            (Decision::Record(changes), Some(old)) => {
                self.count_unchanged(id);
                let action = Action::Record { copy: old.copy() };
                self.declared(id, action, Why::RecordOnly { changes: changes.clone() }, Vec::new(), after);
            }
            _ => {
                // A renamed resource has a step for its name.
                if !self.is_renamed(id) {
                    self.unchanged.push(id);
                }
                self.count_unchanged(id);
                self.pass_on(id, after);
            }
        }
    }

    /// Counts a resource that no step changes, except perhaps for its name.
    fn count_unchanged(&mut self, id: NodeId) {
        match self.is_renamed(id) {
            true => self.summary.only_renamed += 1,
            false => self.summary.unchanged += 1,
        }
    }

    /// Returns true if the recorded resource has another name than the declared one.
    fn is_renamed(&self, id: NodeId) -> bool {
        self.planner.old(id).is_some_and(|old| old.name != self.planner.graph.nodes[id.index()].name)
    }

    /// Makes the dependents of a group or an unchanged resource wait for the steps that it would wait for.
    ///
    /// Otherwise records could form a cycle when a run stops half-way: a resource with new dependencies must reach only resources
    /// that have theirs too, or that do not change.
    fn pass_on(&mut self, id: NodeId, after: Vec<StepId>) {
        match after.as_slice() {
            [] => {}
            [only] => self.done_by[id.index()] = Some(*only),
            _ => drop(self.declared(id, Action::Barrier, Why::Barrier, Vec::new(), after)),
        }
    }

    fn import(&mut self, id: NodeId, decided: &Decided, after: Vec<StepId>) {
        let node = &self.planner.graph.nodes[id.index()];
        let (Some(found), Some(physical)) = (&decided.found, &node.options.import) else { return };
        self.summary.import += 1;
        let incarnation = self.first();
        let Incarnation::First { counter } = &incarnation else { return };
        let uid = Uid::derive(self.planner.base.stack(), &node.name.to_string(), *counter);
        let (inputs, outputs) = (found.inputs.clone(), found.outputs.clone());
        let action = Action::Import { incarnation, id: physical.clone(), inputs, outputs };
        let imported = self.declared(id, action, Why::Imported, Vec::new(), after);
        if !decided.changes.is_empty() {
            let copy = CopyRef { uid, generation: stead_model::Generation(1) };
            let action = Action::Update { copy, inputs: self.inputs_of(id) };
            self.declared(id, action, Why::Changed, decided.changes.clone(), vec![imported]);
        }
    }

    fn replace(
        &mut self,
        id: NodeId,
        decided: &Decided,
        old: &'a Resource,
        replacement: &Replacement,
        mut after: Vec<StepId>,
    ) {
        self.summary.replace += 1;
        let forcing = decided.changes.iter().filter(|change| change.replaces);
        let early = self.early_deletions.contains(id);
        let (order, certainty) = match early {
            true => (ReplaceOrder::DeleteFirst, self.early_deletions.certainty(id, replacement.certainty)),
            false => (ReplaceOrder::CreateFirst, replacement.certainty),
        };
        let why = Why::Replaced {
            forced_by: forcing.map(|change| change.path.clone()).collect(),
            order,
            certainty,
            cause: replacement.cause.clone(),
        };
        if early {
            self.delete_old_copy_first(id, old, &after);
            after.extend(self.early_steps.get(&old.copy()));
            after.sort_unstable();
            after.dedup();
        }
        self.create(id, decided, next(old), why, after);
    }

    fn create(
        &mut self,
        id: NodeId,
        decided: &Decided,
        incarnation: Incarnation,
        why: Why,
        after: Vec<StepId>,
    ) {
        let after = self.make_way(id, after);
        let action = Action::Create { incarnation, inputs: self.inputs_of(id) };
        self.declared(id, action, why, decided.changes.clone(), after);
    }

    /// Takes the inputs of a node for the one step that needs them.
    fn inputs_of(&mut self, id: NodeId) -> Inputs {
        std::mem::take(&mut self.inputs[id.index()])
    }

    fn first(&mut self) -> Incarnation {
        let counter = self.uids;
        self.uids += 1;
        Incarnation::First { counter }
    }

    /// Adds a step for a node, which dependents of the node wait for.
    pub(super) fn declared(
        &mut self,
        id: NodeId,
        action: Action,
        why: Why,
        changes: Vec<Change>,
        after: Vec<StepId>,
    ) -> StepId {
        let node = &self.planner.graph.nodes[id.index()];
        let about = (node.name.clone(), node.ty.clone(), node.source.clone());
        let step = self.push(about, action, why, changes, after, Some(id));
        self.steps[step.0].unknown_from = self.sources_of_unknowns(&self.steps[step.0].changes);
        if matches!(self.steps[step.0].action, Action::Create { .. } | Action::Update { .. }) {
            self.steps[step.0].from_pinfile.clone_from(&node.options.frozen);
        }
        self.done_by[id.index()] = Some(step);
        step
    }

    pub(super) fn push(
        &mut self,
        (name, ty, source): (Name, TypeToken, SourceRef),
        action: Action,
        why: Why,
        changes: Vec<Change>,
        after: Vec<StepId>,
        node: Option<NodeId>,
    ) -> StepId {
        let id = StepId(self.steps.len());
        let unknown_from = Vec::new();
        let from_pinfile = Vec::new();
        self.steps.push(Step {
            action,
            why,
            name,
            ty,
            source,
            changes,
            unknown_from,
            after,
            node,
            from_pinfile,
        });
        id
    }

    /// Returns the resources that the unknown values among the changes depend on.
    fn sources_of_unknowns(&self, changes: &[Change]) -> Vec<Name> {
        let graph = self.planner.graph;
        let unknown = changes.iter().filter_map(|change| change.new.as_ref());
        let sources: BTreeSet<NodeId> = unknown
            .filter(|input| !matches!(input, Input::Known(_)))
            .flat_map(|input| graph.exprs.nodes_of(input))
            .collect();
        sources.into_iter().map(|source| graph.nodes[source.index()].name.clone()).collect()
    }

    /// Returns the steps that the steps of a node wait for.
    pub(super) fn after(&self, id: NodeId) -> Vec<StepId> {
        let needs = self.planner.edges[id.index()].iter();
        let mut after: Vec<StepId> = needs.filter_map(|need| self.done_by[need.index()]).collect();
        after.extend(self.names.free[id.index()]);
        after.sort_unstable();
        after.dedup();
        after
    }
}

fn next(old: &Resource) -> Incarnation {
    Incarnation::Next { uid: old.uid.clone(), generation: old.generation.next() }
}
