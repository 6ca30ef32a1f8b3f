//! Makes steps of decisions, and puts them in order.

use std::collections::{BTreeMap, BTreeSet};

use stead_model::{
    Code, CopyRef, Diagnostic, Input, Map, Name, NodeId, PropertyPath, Resource, SourceRef, TypeToken,
    resolve_map,
};
use stead_schema::{Change, ReplaceOrder};
use stead_state::AfterDelete;

use crate::deletions::deletions;
use crate::plan::{Action, Incarnation, Plan, Step, StepId, Summary, Why};
use crate::planner::{Decided, Decision, Planner};

/// A plan under construction.
pub(crate) struct Assembly<'p, 'a> {
    pub planner: &'p Planner<'a>,
    pub steps: Vec<Step>,
    /// The step after which a node is as wanted; none if it is already.
    done_by: Vec<Option<StepId>>,
    pub summary: Summary,
    uids: u64,
    pub existing: BTreeMap<NodeId, CopyRef>,
}

pub(crate) fn assemble(planner: &Planner<'_>) -> Result<Plan, Vec<Diagnostic>> {
    let nodes = planner.graph.nodes.len();
    let mut assembly = Assembly {
        planner,
        steps: Vec::new(),
        done_by: vec![None; nodes],
        summary: Summary::default(),
        uids: planner.base.uids(),
        existing: BTreeMap::new(),
    };
    for &id in &planner.order {
        if let Some(decided) = &planner.decided[id.index()] {
            assembly.node(id, decided);
        }
    }
    deletions(&mut assembly);
    let outputs = resolve_map(&planner.graph.outputs, &planner.graph.exprs, planner, planner.functions)
        .map_err(|error| vec![error.diagnostic(Code::BAD_PROPERTY, "an exported value", None)])?;
    let Assembly { steps, summary, uids, existing, .. } = assembly;
    let output_changes = output_changes(planner.base.outputs(), &outputs);
    Ok(Plan { steps, summary, outputs, output_changes, uids, existing })
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

impl Assembly<'_, '_> {
    fn node(&mut self, id: NodeId, decided: &Decided) {
        let old = self.planner.old(id);
        if let Some(old) = old {
            self.existing.insert(id, old.copy());
        }
        let after = self.after(id);
        match (&decided.decision, old) {
            (Decision::Group, _) => self.pass_on(id, after),
            (Decision::Create, old) => {
                self.summary.create += 1;
                let (why, incarnation) = match old {
                    Some(old) => (Why::Missing, next(old)),
                    None => (Why::New, self.first()),
                };
                self.create(id, decided, incarnation, why, after);
            }
            (Decision::Update, Some(old)) => {
                self.summary.update += 1;
                let action = Action::Update { copy: old.copy(), inputs: decided.inputs.clone() };
                self.declared(id, action, Why::Changed, decided.changes.clone(), after);
            }
            (Decision::Replace(order), Some(old)) => self.replace(id, decided, old, *order, after),
            (Decision::Record, Some(old)) => {
                self.summary.unchanged += 1;
                let action = Action::Record { copy: old.copy() };
                self.declared(id, action, Why::Bookkeeping, Vec::new(), after);
            }
            _ => {
                self.summary.unchanged += 1;
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
            _ => self.declared(id, Action::Gather, Why::Gathering, Vec::new(), after),
        }
    }

    fn replace(
        &mut self,
        id: NodeId,
        decided: &Decided,
        old: &Resource,
        order: ReplaceOrder,
        mut after: Vec<StepId>,
    ) {
        self.summary.replace += 1;
        let forcing = decided.changes.iter().filter(|change| change.replaces);
        let why = Why::Replaced { forced_by: forcing.map(|change| change.path.clone()).collect(), order };
        if order == ReplaceOrder::DeleteFirst {
            let action = Action::Delete { copy: old.copy(), after_delete: AfterDelete::Replacing };
            self.declared(id, action, Why::OldCopy, decided.changes.clone(), after.clone());
            after.extend(self.done_by[id.index()]);
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
        let action = Action::Create { incarnation, inputs: decided.inputs.clone() };
        self.declared(id, action, why, decided.changes.clone(), after);
    }

    fn first(&mut self) -> Incarnation {
        let counter = self.uids;
        self.uids += 1;
        Incarnation::First { counter }
    }

    /// Adds a step about a declared resource, after which the resource is as wanted.
    fn declared(&mut self, id: NodeId, action: Action, why: Why, changes: Vec<Change>, after: Vec<StepId>) {
        let node = &self.planner.graph.nodes[id.index()];
        let about = (node.name.clone(), node.resource.clone(), node.source.clone());
        let step = self.push(about, action, why, changes, after, Some(id));
        self.done_by[id.index()] = Some(step);
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
        self.steps.push(Step { action, why, name, resource, source, changes, after, node });
        id
    }

    fn after(&self, id: NodeId) -> Vec<StepId> {
        let mut after: Vec<StepId> =
            self.planner.edges[id.index()].iter().filter_map(|need| self.done_by[need.index()]).collect();
        after.sort_unstable();
        after.dedup();
        after
    }
}

fn next(old: &Resource) -> Incarnation {
    Incarnation::Next { uid: old.uid.clone(), generation: old.generation.next() }
}
