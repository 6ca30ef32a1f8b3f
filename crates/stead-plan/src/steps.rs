//! Makes steps of decisions, and puts them in order.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use stead_model::{
    CopyRef, Diagnostic, Input, Map, Name, NodeId, PropertyPath, Resource, SourceRef, TypeToken, Uid,
};
use stead_schema::{Change, ReplaceOrder};

use crate::condemn::Condemned;
use crate::deletions::deletions;
use crate::dragged::dragged_along;
use crate::judge::{Decision, Replacement};
use crate::moves::{Names, moves};
use crate::plan::{Action, Incarnation, Plan, Step, StepId, Summary, Why};
use crate::planner::{Decided, Planner};
use crate::select::check_kept;

/// A plan under construction.
pub(crate) struct Assembly<'p, 'a> {
    pub planner: &'p Planner<'a>,
    pub steps: Vec<Step>,
    /// The step after which a node is as wanted; none if it is already.
    pub done_by: Vec<Option<StepId>>,
    pub names: Names,
    pub condemned: Condemned<'a>,
    /// The steps that took old copies away before their time.
    pub early: HashMap<CopyRef, StepId>,
    pub summary: Summary,
    uids: u64,
    pub existing: BTreeMap<NodeId, CopyRef>,
    same: Vec<NodeId>,
    /// What each declared resource is to have, until its step takes it.
    inputs: Vec<BTreeMap<String, Input>>,
}

/// The plan without what looks like a move. `inputs` are those of each node, `outputs` those of the stack, as far as
/// they are known.
pub(crate) fn assemble(
    planner: &Planner<'_>,
    inputs: Vec<BTreeMap<String, Input>>,
    outputs: BTreeMap<String, Input>,
) -> Result<Plan, Vec<Diagnostic>> {
    let problems = check_kept(planner);
    if !problems.is_empty() {
        return Err(problems);
    }
    let nodes = planner.graph.nodes.len();
    let mut assembly = Assembly {
        planner,
        // As many as there can well be: room that is not used costs nothing, growing costs everything twice.
        steps: Vec::with_capacity(nodes + planner.base.len()),
        done_by: vec![None; nodes],
        names: Names { free: Vec::new(), parked: HashMap::new() },
        condemned: Condemned::of(planner),
        early: HashMap::new(),
        summary: Summary::default(),
        uids: planner.base.uids(),
        existing: BTreeMap::new(),
        same: Vec::new(),
        inputs,
    };
    assembly.names = moves(&mut assembly)?;
    for &id in &planner.order {
        if let Some(decided) = &planner.decided[id.index()] {
            assembly.node(id, decided);
        }
    }
    deletions(&mut assembly);
    let dragged = dragged_along(planner, &assembly.steps);
    if !dragged.is_empty() {
        return Err(dragged);
    }
    let outputs = known_or_kept(planner, outputs);
    let Assembly { steps, summary, uids, existing, mut same, .. } = assembly;
    same.sort_unstable();
    let output_changes = output_changes(planner.base.outputs(), &outputs);
    Ok(Plan {
        steps,
        summary,
        outputs,
        output_changes,
        uids,
        existing,
        suggestions: Vec::new(),
        ambiguities: Vec::new(),
        purpose: planner.request.purpose,
        same,
        outer: planner.request.outer.clone(),
    })
}

/// In a partial plan, what comes from resources that are left alone and not there stays as it was.
fn known_or_kept(planner: &Planner<'_>, outputs: BTreeMap<String, Input>) -> BTreeMap<String, Input> {
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

fn output_changes(recorded: &Map, outputs: &BTreeMap<String, Input>) -> Vec<Change> {
    let names: BTreeSet<&String> = recorded.keys().chain(outputs.keys()).collect();
    names
        .into_iter()
        .map(|name| (name, recorded.get(name), outputs.get(name)))
        .filter(|(_, old, new)| *old != new.and_then(Input::as_known) || old.is_some() != new.is_some())
        .map(|(name, old, new)| Change {
            path: PropertyPath::of(name),
            old: old.cloned(),
            new: new.cloned(),
            replaces: false,
        })
        .collect()
}

impl<'a> Assembly<'_, 'a> {
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
            (Decision::Record(noted), Some(old)) => {
                self.summary.unchanged += 1;
                let action = Action::Record { copy: old.copy() };
                self.declared(id, action, Why::Bookkeeping { noted: noted.clone() }, Vec::new(), after);
            }
            _ => {
                self.summary.unchanged += 1;
                // One that only gets another name has a step for that.
                if old.is_some_and(|old| old.name == self.planner.graph.nodes[id.index()].name) {
                    self.same.push(id);
                }
                self.pass_on(id, after);
            }
        }
    }

    /// Nothing happens to a group or to what is unchanged, but who waits for it waits for what it waits for.
    ///
    /// Records must never form a circle, also when a run stops half-way. What was done has its new
    /// dependencies; since everything it reaches was done before it or does not change, so have they.
    fn pass_on(&mut self, id: NodeId, after: Vec<StepId>) {
        match after.as_slice() {
            [] => {}
            [only] => self.done_by[id.index()] = Some(*only),
            _ => drop(self.declared(id, Action::Gather, Why::Gathering, Vec::new(), after)),
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
        let early = self.condemned.is_early(id);
        let (order, certainty) = match early {
            true => (ReplaceOrder::DeleteFirst, self.condemned.certainty(id, replacement.certainty)),
            false => (ReplaceOrder::CreateFirst, replacement.certainty),
        };
        let why = Why::Replaced {
            forced_by: forcing.map(|change| change.path.clone()).collect(),
            order,
            certainty,
            drag: replacement.drag.clone(),
        };
        if early {
            self.take_away(id, old, &after);
            after.extend(self.early.get(&old.copy()));
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
        let action = Action::Create { incarnation, inputs: self.inputs_of(id) };
        self.declared(id, action, why, decided.changes.clone(), after);
    }

    /// The step that asks for them has them from now on; a node has one such step.
    fn inputs_of(&mut self, id: NodeId) -> BTreeMap<String, Input> {
        std::mem::take(&mut self.inputs[id.index()])
    }

    fn first(&mut self) -> Incarnation {
        let counter = self.uids;
        self.uids += 1;
        Incarnation::First { counter }
    }

    /// Adds a step about a declared resource, after which the resource is as wanted.
    pub(crate) fn declared(
        &mut self,
        id: NodeId,
        action: Action,
        why: Why,
        changes: Vec<Change>,
        after: Vec<StepId>,
    ) -> StepId {
        let node = &self.planner.graph.nodes[id.index()];
        let about = (node.name.clone(), node.resource.clone(), node.source.clone());
        let step = self.push(about, action, why, changes, after, Some(id));
        self.steps[step.0].dragged_by = self.sources_of_change(&self.steps[step.0].changes);
        if matches!(self.steps[step.0].action, Action::Create { .. } | Action::Update { .. }) {
            self.steps[step.0].from_pinfile.clone_from(&node.options.frozen);
        }
        self.done_by[id.index()] = Some(step);
        step
    }

    pub(crate) fn push(
        &mut self,
        (name, resource, source): (Name, TypeToken, SourceRef),
        action: Action,
        why: Why,
        changes: Vec<Change>,
        after: Vec<StepId>,
        node: Option<NodeId>,
    ) -> StepId {
        let id = StepId(self.steps.len());
        let dragged_by = Vec::new();
        let from_pinfile = Vec::new();
        self.steps.push(Step {
            action,
            why,
            name,
            resource,
            source,
            changes,
            dragged_by,
            after,
            node,
            from_pinfile,
        });
        id
    }

    /// The resources that the values which are not known yet come from.
    fn sources_of_change(&self, changes: &[Change]) -> Vec<Name> {
        let graph = self.planner.graph;
        let unknown = changes.iter().filter_map(|change| change.new.as_ref());
        let sources: BTreeSet<NodeId> = unknown
            .filter(|input| !matches!(input, Input::Known(_)))
            .flat_map(|input| graph.exprs.nodes_of(input))
            .collect();
        sources.into_iter().map(|source| graph.nodes[source.index()].name.clone()).collect()
    }

    pub(crate) fn after(&self, id: NodeId) -> Vec<StepId> {
        let needs = self.planner.edges[id.index()].iter();
        let mut after: Vec<StepId> = needs.filter_map(|need| self.done_by[need.index()]).collect();
        #[cfg(stead_planted)]
        after.retain(|_| !stead_model::planted::is("dependency-not-awaited"));
        after.extend(self.names.free[id.index()]);
        after.sort_unstable();
        after.dedup();
        after
    }
}

fn next(old: &Resource) -> Incarnation {
    Incarnation::Next { uid: old.uid.clone(), generation: old.generation.next() }
}
