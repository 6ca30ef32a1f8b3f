//! What is known of the declared resources while a plan runs, and the records made from it.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use stead_model::{
    Code, CopyRef, Diagnostic, EvalError, Functions, Generation, Graph, Input, KnownOutputs, Lifecycle,
    Limits, Map, Name, NodeId, PhysicalId, Resource, SourceRef, StackId, Ties, Uid, Value, known,
    resolve_map,
};
use stead_plan::{Aliases, Incarnation, Plan, StepId};
use stead_state::State;

use crate::execute::liveness::Liveness;

/// Why a step's inputs have no values although everything before it is done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Unresolved {
    Evaluation(EvalError),
    Property(String),
    /// It has values, and they are more than may be recorded.
    TooLarge(String),
}

impl Unresolved {
    /// `what` is the thing that has no value; `declared` is where it stands, if it has a place of its own.
    pub(crate) fn diagnostic(&self, what: &str, declared: Option<&SourceRef>) -> Diagnostic {
        match self {
            Unresolved::Evaluation(error) => error.diagnostic(Code::STEP_FAILED, what, declared),
            Unresolved::TooLarge(excess) => {
                let problem = Diagnostic::error(Code::LIMIT, format!("{what} is too large: {excess}"));
                declared.into_iter().fold(problem, |problem, at| problem.at(at.clone(), 0, "declared here"))
            }
            Unresolved::Property(property) => {
                let problem =
                    Diagnostic::error(Code::STEP_FAILED, format!("{what} has no value yet: `{property}`"));
                declared.into_iter().fold(problem, |problem, at| problem.at(at.clone(), 0, "declared here"))
            }
        }
    }
}

/// The base, and what this run has made so far.
pub(crate) struct Context<'a> {
    pub base: &'a State,
    pub graph: &'a Graph,
    pub stack: &'a StackId,
    plan: &'a Plan,
    functions: &'a dyn Functions,
    needs: Vec<BTreeSet<NodeId>>,
    aliases: Aliases<'a>,
    /// `None`: nobody reads it any more.
    made: HashMap<NodeId, Option<Resource>>,
    readers: Liveness,
}

impl<'a> Context<'a> {
    pub(crate) fn new(
        base: &'a State,
        graph: &'a Graph,
        stack: &'a StackId,
        plan: &'a Plan,
        functions: &'a dyn Functions,
    ) -> Context<'a> {
        let aliases = Aliases::of(base, graph, |id| base.copy(plan.existing.get(&id)?));
        let (needs, readers) = (graph.needs(), Liveness::of(graph, plan));
        Context { base, graph, stack, plan, functions, needs, aliases, made: HashMap::new(), readers }
    }

    /// The resource that a node is now.
    pub(crate) fn current(&self, id: NodeId) -> Option<&Resource> {
        match self.made.get(&id) {
            Some(made) => {
                debug_assert!(made.is_some(), "{id:?} is read after it was let go");
                made.as_ref()
            }
            None => self.base.copy(self.plan.existing.get(&id)?),
        }
    }

    pub(crate) fn made(&mut self, id: NodeId, resource: Resource) {
        self.made.insert(id, Some(resource));
    }

    /// A step has ended: what only it still had to know is let go.
    pub(crate) fn ended(&mut self, step: StepId) {
        for id in self.readers.ended(self.graph, self.plan, step) {
            if let Some(made) = self.made.get_mut(&id) {
                *made = None;
            }
        }
    }

    pub(crate) fn values(&self, inputs: &BTreeMap<String, Input>) -> Result<Map, Unresolved> {
        let resolved =
            resolve_map(inputs, &self.graph.exprs, self, self.functions).map_err(Unresolved::Evaluation)?;
        let values = known(&resolved).map_err(Unresolved::Property)?;
        match Limits::default().oversized(&values) {
            Some(excess) => Err(Unresolved::TooLarge(excess)),
            None => Ok(values),
        }
    }

    /// The outputs of the stack, if all that they come from is there.
    ///
    /// After a run that left some resources alone, what comes from those is as it was.
    pub(crate) fn outputs(&self) -> Result<Map, Unresolved> {
        if self.plan.summary.left_alone == 0 {
            return self.values(&self.graph.outputs);
        }
        let mut outputs = Map::new();
        for (name, input) in &self.graph.outputs {
            match self.values(&[(name.clone(), input.clone())].into()) {
                Ok(mut known) => outputs.append(&mut known),
                Err(Unresolved::Property(_)) => {
                    outputs.extend(
                        self.base
                            .outputs()
                            .get_key_value(name)
                            .map(|(name, value)| (name.clone(), value.clone())),
                    );
                }
                Err(evaluation) => return Err(evaluation),
            }
        }
        Ok(outputs)
    }

    /// The record of a resource that is about to be made.
    pub(crate) fn new_record(&self, id: NodeId, incarnation: &Incarnation, inputs: Map) -> Resource {
        let node = &self.graph.nodes[id.index()];
        let (uid, generation) = match incarnation {
            Incarnation::First { counter } => {
                (Uid::derive(self.stack, &node.name.to_string(), *counter), Generation(1))
            }
            Incarnation::Next { uid, generation } => (uid.clone(), *generation),
        };
        self.record(id, CopyRef { uid, generation }, None, inputs, Map::new())
    }

    /// The record of something that exists already, as it was found.
    pub(crate) fn adopted_record(
        &self,
        id: NodeId,
        incarnation: &Incarnation,
        physical: PhysicalId,
        inputs: Map,
        outputs: Map,
    ) -> Resource {
        Resource { id: Some(physical), outputs, ..self.new_record(id, incarnation, inputs) }
    }

    /// The record under another name, and nothing else.
    pub(crate) fn moved_record(&self, id: Option<NodeId>, old: &Resource, to: &Name) -> Resource {
        let mut resource = Resource { name: to.clone(), ..old.clone() };
        if let Some((id, node)) = id.and_then(|id| Some((id, self.graph.node(id)?))) {
            resource.ties.aliases = self.aliases.kept(node, id, Some(old));
        }
        #[cfg(stead_planted)]
        if stead_model::planted::is("pin-lost-at-rename") {
            resource.pinned = false;
        }
        resource
    }

    fn ties(&self, id: NodeId) -> Ties {
        let node = &self.graph.nodes[id.index()];
        let options = &node.options;
        let uid = |id: NodeId| self.current(id).map(|resource| resource.uid.clone());
        let mut replace_with: Vec<Uid> = options.replace_with.iter().filter_map(|id| uid(*id)).collect();
        replace_with.sort_unstable();
        replace_with.dedup();
        let old = self.plan.existing.get(&id).and_then(|copy| self.base.copy(copy));
        Ties {
            parent: self.graph.provisioned_parent(id).and_then(uid),
            provider: options.provider.and_then(|id| self.current(id)).map(Resource::copy),
            deleted_with: options.deleted_with.and_then(uid),
            replace_with,
            aliases: self.aliases.kept(node, id, old),
        }
    }

    /// The record of an existing resource with new inputs and today's edges and marks.
    pub(crate) fn changed_record(&self, id: NodeId, old: &Resource, inputs: Map) -> Resource {
        self.record(id, old.copy(), old.id.clone(), inputs, old.outputs.clone())
    }

    fn record(
        &self,
        id: NodeId,
        copy: CopyRef,
        physical: Option<PhysicalId>,
        inputs: Map,
        outputs: Map,
    ) -> Resource {
        let node = &self.graph.nodes[id.index()];
        let needs = self.graph.provisioned(&self.needs[id.index()], &self.needs);
        let mut dependencies: Vec<CopyRef> =
            needs.iter().filter_map(|need| self.current(*need)).map(Resource::copy).collect();
        dependencies.sort_unstable();
        let sources = |nodes: BTreeSet<NodeId>| {
            let mut uids: Vec<Uid> = nodes
                .iter()
                .filter_map(|node| self.current(*node))
                .map(|source| source.uid.clone())
                .collect();
            uids.sort_unstable();
            uids
        };
        let property_dependencies = self.graph.property_dependencies(id);
        let mut resource = Resource {
            uid: copy.uid,
            generation: copy.generation,
            name: node.name.clone(),
            ty: node.ty.clone(),
            lifecycle: Lifecycle::Live,
            id: physical,
            inputs,
            outputs,
            dependencies,
            property_dependencies: property_dependencies
                .into_iter()
                .map(|(property, nodes)| (property.to_owned(), sources(nodes)))
                .collect(),
            ties: self.ties(id),
            prevent_delete: false,
            deletion_policy: None,
            source: node.source.clone(),
            marks: Default::default(),
            pinned: node.options.pinned.unwrap_or(false),
        };
        resource.set_marks(&node.effective_marks());
        // What was set on the record itself stays, whatever becomes of the resource.
        let recorded = self.base.copies_of(&resource.uid).last();
        resource.marks.protected = recorded.is_some_and(|recorded| recorded.marks.protected);
        resource
    }
}

impl KnownOutputs for Context<'_> {
    fn property(&self, id: NodeId, property: &str) -> Option<Value> {
        let resource = self.current(id)?;
        Some(resource.property(property).cloned().unwrap_or_default())
    }
}
