//! Current values of the declared resources during a run, and the records built from them.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap};

use stead_model::{
    Code, CopyRef, Diagnostic, EvalError, Functions, Generation, Graph, Input, Inputs, KnownOutputs, Limits,
    Map, Moment, Name, NodeId, PhysicalId, PropertyError, Resource, SIGNATURE_KEY, SourceRef, StackId, Ties,
    TypeToken, Uid, Value, known, resolve_at,
};
use stead_plan::{Aliases, Incarnation, Plan, StepId, secret_identity};
use stead_schema::{Catalog, identity};
use stead_state::State;

use crate::execute::liveness::Liveness;

/// Reason why inputs have no recordable values although all dependencies are done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Unresolved {
    Evaluation(PropertyError),
    /// The property is still unknown.
    Property(String),
    /// The values exceed the limits of a record.
    TooLarge(String),
    /// A property has an object that state could not tell from a secret.
    Reserved(String),
    /// A property that identifies the resource turned out to be a secret.
    SecretIdentity(String),
}

impl Unresolved {
    /// Describes the problem of the inputs of a resource, or of the exports of the program without one.
    pub(crate) fn diagnostic(&self, of: Option<(&Name, &SourceRef)>) -> Diagnostic {
        let declared = of.map(|(_, source)| source);
        let inputs =
            of.map_or_else(|| "an exported value".to_owned(), |(name, _)| format!("an input of {name}"));
        match self {
            Unresolved::SecretIdentity(property) => match of {
                Some((name, source)) => secret_identity(name, source, property),
                None => Diagnostic::error(Code::SECRET_IDENTITY, format!("`{property}` is a secret")),
            },
            Unresolved::Evaluation(PropertyError { property, error }) => {
                let what = match of {
                    Some((name, _)) => format!("`{property}` of {name}"),
                    None => format!("the export `{property}`"),
                };
                error.diagnostic(Code::STEP_FAILED, &what, declared)
            }
            Unresolved::TooLarge(excess) => {
                let problem = Diagnostic::error(Code::LIMIT, format!("{inputs} is too large: {excess}"));
                declared.into_iter().fold(problem, |problem, at| problem.at(at.clone(), 0, "declared here"))
            }
            Unresolved::Reserved(property) => {
                let message = format!(
                    "{inputs} has the key `{SIGNATURE_KEY}`, which marks secrets in state: `{property}`"
                );
                let problem = Diagnostic::error(Code::RESERVED_KEY, message);
                let problem = declared
                    .into_iter()
                    .fold(problem, |problem, at| problem.at(at.clone(), 0, "declared here"));
                problem.help("give the key another name where the value comes from")
            }
            Unresolved::Property(property) => {
                let problem =
                    Diagnostic::error(Code::STEP_FAILED, format!("{inputs} has no value yet: `{property}`"));
                declared.into_iter().fold(problem, |problem, at| problem.at(at.clone(), 0, "declared here"))
            }
        }
    }
}

/// The base state and the resources that this run has created or changed.
pub(crate) struct Context<'a> {
    pub base: &'a State,
    pub graph: &'a Graph,
    pub stack: &'a StackId,
    plan: &'a Plan,
    functions: &'a dyn Functions,
    catalog: &'a Catalog,
    needs: Vec<BTreeSet<NodeId>>,
    aliases: Aliases<'a>,
    /// Records that this run has written, by node. A record without further readers is dropped and leaves `None`.
    written: HashMap<NodeId, Option<Resource>>,
    liveness: Liveness,
}

impl<'a> Context<'a> {
    pub(crate) fn new(
        base: &'a State,
        graph: &'a Graph,
        stack: &'a StackId,
        plan: &'a Plan,
        functions: &'a dyn Functions,
        catalog: &'a Catalog,
    ) -> Context<'a> {
        let aliases = Aliases::of(base, graph, |id| base.copy(plan.existing.get(&id)?));
        let (needs, liveness) = (graph.needs(), Liveness::of(graph, plan));
        Context {
            base,
            graph,
            stack,
            plan,
            functions,
            catalog,
            needs,
            aliases,
            written: HashMap::new(),
            liveness,
        }
    }

    /// Returns the current record of a node.
    pub(crate) fn current(&self, id: NodeId) -> Option<&Resource> {
        match self.written.get(&id) {
            Some(written) => {
                debug_assert!(written.is_some(), "{id:?} is read after its record was dropped");
                written.as_ref()
            }
            None => self.base.copy(self.plan.existing.get(&id)?),
        }
    }

    pub(crate) fn set_current(&mut self, id: NodeId, resource: Resource) {
        self.written.insert(id, Some(resource));
    }

    /// Drops the records that only the ended step still had to read.
    pub(crate) fn step_ended(&mut self, step: StepId) {
        for id in self.liveness.step_ended(self.graph, self.plan, step) {
            if let Some(written) = self.written.get_mut(&id) {
                *written = None;
            }
        }
    }

    /// Returns the values of inputs whose dependencies are done.
    pub(crate) fn values(&self, inputs: &Inputs) -> Result<Map, Unresolved> {
        self.values_at(Moment::Plan, inputs)
    }

    /// Returns the inputs for a call of the provider: ephemeral values are made, and values of secret properties are marked.
    ///
    /// A plan has no ephemeral value and no expression in its place, so the declaration is evaluated for these properties.
    pub(crate) fn values_for_call(
        &self,
        node: NodeId,
        ty: &TypeToken,
        inputs: &Inputs,
    ) -> Result<Map, Unresolved> {
        let mut inputs = Cow::Borrowed(inputs);
        for (key, declared) in &self.graph.nodes[node.index()].inputs {
            let planned = inputs.get(key).is_some_and(Input::has_secrets);
            if planned && self.graph.exprs.ephemeral_in(declared).is_some() {
                inputs.to_mut().insert(key.clone(), declared.clone());
            }
        }
        let values = self.values_at(Moment::Call, &inputs)?;
        Ok(match self.catalog.get(ty) {
            Some(schema) => schema.conceal(values),
            None => values,
        })
    }

    /// Returns the values of a resource that is about to get its identity, which is recorded in the clear.
    pub(crate) fn with_open_identity(&self, ty: &TypeToken, values: Map) -> Result<Map, Unresolved> {
        let schema = self.catalog.get(ty).filter(|_| values.values().any(Value::has_secrets));
        let is_secret = |property: &&str| values.get(*property).is_some_and(Value::has_secrets);
        match schema.map(identity).unwrap_or_default().into_iter().find(is_secret) {
            Some(property) => Err(Unresolved::SecretIdentity(property.to_owned())),
            None => Ok(values),
        }
    }

    fn values_at(&self, moment: Moment, inputs: &Inputs) -> Result<Map, Unresolved> {
        let resolved = resolve_at(moment, inputs, &self.graph.exprs, self, self.functions);
        let resolved = resolved.map_err(Unresolved::Evaluation)?;
        let values = known(&resolved).map_err(|property| Unresolved::Property(property.into()))?;
        if let Some((property, _)) = values.iter().find(|(_, value)| value.reserved_path().is_some()) {
            return Err(Unresolved::Reserved(property.to_string()));
        }
        match Limits::default().oversized(&values) {
            Some(excess) => Err(Unresolved::TooLarge(excess)),
            None => Ok(values),
        }
    }

    /// Returns the outputs of the stack.
    ///
    /// An output that is unknown because the run did not select its resources keeps its recorded value.
    pub(crate) fn outputs(&self) -> Result<Map, Unresolved> {
        if self.plan.summary.left_alone == 0 {
            return self.values(&self.graph.outputs);
        }
        let mut outputs = Map::new();
        for (name, input) in &self.graph.outputs {
            match self.values(&[(name.clone(), input.clone())].into()) {
                Ok(known) => outputs.extend(known),
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

    /// Returns the record of a resource that is about to be created.
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

    /// Returns the record of an imported resource, with the values that were read.
    pub(crate) fn imported_record(
        &self,
        id: NodeId,
        incarnation: &Incarnation,
        physical: PhysicalId,
        inputs: Map,
        outputs: Map,
    ) -> Resource {
        Resource { id: Some(physical), outputs, ..self.new_record(id, incarnation, inputs) }
    }

    /// Returns the record under another name and otherwise unchanged.
    pub(crate) fn moved_record(&self, id: Option<NodeId>, old: &Resource, to: &Name) -> Resource {
        let mut resource = Resource { name: to.clone(), ..old.clone() };
        if let Some((id, node)) = id.and_then(|id| Some((id, self.graph.node(id)?))) {
            resource.ties.aliases = self.aliases.kept(node, id, Some(old));
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

    /// Returns the record of an existing resource with new inputs and the edges and marks of the current program.
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
            generation: copy.generation,
            id: physical,
            inputs,
            outputs,
            dependencies,
            property_dependencies: property_dependencies
                .into_iter()
                .map(|(property, nodes)| (property.to_owned(), sources(nodes)))
                .collect(),
            ties: self.ties(id),
            pinned: node.options.pinned.unwrap_or(false),
            imported: node.options.undeclared,
            sensitive: node.options.sensitive.clone(),
            ..Resource::new(copy.uid.clone(), node.name.clone(), node.ty.clone(), node.source.clone())
        };
        resource.set_marks(&node.effective_marks());
        // Protection that was set on the record itself is not the program's to change.
        let recorded = self.base.copies_of(&resource.uid).last();
        resource.marks.protected = recorded.is_some_and(|recorded| recorded.marks.protected);
        // Data of the provider belongs to the physical resource, so a replacement starts without it.
        let same_copy = self.base.copy(&copy);
        resource.provider_data = same_copy.and_then(|recorded| recorded.provider_data.clone());
        resource
    }
}

impl KnownOutputs for Context<'_> {
    fn property(&self, id: NodeId, property: &str) -> Result<Option<Value>, EvalError> {
        let Some(resource) = self.current(id) else { return Ok(None) };
        match resource.property(property) {
            Some(value) => Ok(Some(value.clone())),
            None => {
                Err(EvalError::NoOutput { resource: resource.name.clone(), property: property.to_owned() })
            }
        }
    }

    fn name(&self, id: NodeId) -> Option<&Name> {
        self.graph.node(id).map(|node| &node.name)
    }
}
