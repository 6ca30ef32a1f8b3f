//! Resolution of an operation in doubt by a person.
//!
//! The person states whether the operation happened. The values to record are read from the provider where possible, since the
//! operation may have taken effect in part. If the provider cannot look, the person states the outputs too.

use stead_model::{
    Code, CopyRef, Diagnostic, Hint, Map, Name, NextStep, Operation, PhysicalId, ResolveAnswer, Resource,
};
use stead_provider::{LiveState, Refusal, Statement, conceal_named, conceal_sent};
use stead_state::{Intent, Pending, Record, Settlement, State};

use crate::Engine;
use crate::gather::read::Reading;
use crate::physical_ids::PhysicalIds;
use crate::recover::stated::StatedOutputs;
use crate::secrets::locked_record;

/// A person's statement about the outcome of an operation in doubt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Resolution {
    /// The create happened and returned this physical id.
    Created {
        id: PhysicalId,
        outputs: StatedOutputs,
    },
    /// The update or the deletion happened.
    Done {
        outputs: StatedOutputs,
    },
    DidNotHappen,
}

impl Resolution {
    /// Returns true if the person states outputs, which may contain secrets.
    pub(crate) fn states_outputs(&self) -> bool {
        match self {
            Resolution::Created { outputs, .. } | Resolution::Done { outputs } => !outputs.0.is_empty(),
            Resolution::DidNotHappen => false,
        }
    }

    /// Returns the statement about the operation without its details.
    pub(crate) fn statement(&self) -> Statement {
        match self {
            Resolution::Created { .. } | Resolution::Done { .. } => Statement::Happened,
            Resolution::DidNotHappen => Statement::DidNotHappen,
        }
    }

    /// Fails if the resolution is one for another kind of operation.
    pub(crate) fn fits(&self, name: &Name, operation: Operation) -> Result<(), Diagnostic> {
        match (self, operation) {
            (Resolution::DidNotHappen, _)
            | (Resolution::Created { .. }, Operation::Create)
            | (Resolution::Done { .. }, Operation::Update) => Ok(()),
            (Resolution::Done { outputs }, Operation::Delete) => outputs.none_for_deletion(name),
            _ => Err(does_not_fit(Some(name), operation)),
        }
    }
}

impl Engine {
    /// Returns the records that resolve a pending operation. They are written together.
    pub async fn resolve(
        &self,
        state: &State,
        pending: &Pending,
        resolution: &Resolution,
    ) -> Result<Vec<Record>, Diagnostic> {
        let end = |settlement| Record::Settle { op: pending.op, settlement };
        let happened = |id, outputs| end(Settlement::Happened { id, outputs });
        match (&pending.intent, resolution) {
            (Intent::Create { resource, .. }, Resolution::Created { id, outputs: stated }) => {
                let created = Resource { id: Some(id.clone()), ..resource.as_ref().clone() };
                if let Some(other) = PhysicalIds::of(state, &self.providers).holder(&created, id) {
                    return Err(already_recorded(id, &other, &created.name));
                }
                let LiveState { inputs, outputs } =
                    self.read_resolved(state, pending, &created, stated).await?;
                Ok(with_observation(happened(created.id.clone(), outputs), &created, inputs))
            }
            (Intent::Update { resource, .. }, Resolution::Done { outputs: stated }) => {
                let LiveState { inputs, outputs } =
                    self.read_resolved(state, pending, resource, stated).await?;
                Ok(with_observation(happened(None, outputs), resource, inputs))
            }
            (Intent::Delete { copy, .. }, Resolution::Done { .. }) => {
                self.check_deleted(state, copy).await?;
                Ok(vec![happened(None, Map::new())])
            }
            (Intent::Update { resource, .. }, Resolution::DidNotHappen) => {
                let mut records = vec![end(Settlement::DidNotHappen)];
                // The record keeps the old values, which are wrong if the update took effect in part. If the resource
                // cannot be read, the resolution alone counts, and the next plan contains the update again.
                let old = state.copy(&resource.copy()).unwrap_or(resource);
                if let Ok(Reading::Found(LiveState { inputs, outputs })) =
                    self.read_after(old, resource, state).await
                {
                    let (inputs, outputs) = (Some(inputs), Some(outputs));
                    records.push(Record::observed(resource.copy(), inputs, outputs));
                }
                Ok(records)
            }
            (_, Resolution::DidNotHappen) => Ok(vec![end(Settlement::DidNotHappen)]),
            (intent, _) => Err(does_not_fit(state.subject(intent).as_ref(), intent.operation())),
        }
    }

    /// Fails if a resource can be read although its deletion is said to have happened: its record would be dropped.
    ///
    /// The word counts alone where nothing can be read: without a provider that looks, or without the key to the record.
    async fn check_deleted(&self, state: &State, copy: &CopyRef) -> Result<(), Diagnostic> {
        let Some(resource) = state.copy(copy) else { return Ok(()) };
        if self.providers.of(&resource.ty).is_none() || locked_record(resource).is_some() {
            return Ok(());
        }
        match self.read(resource, state).await {
            Ok(Reading::Gone | Reading::AsRecorded | Reading::CannotLook) => Ok(()),
            Ok(Reading::Found(_)) => {
                let message = format!("{} still exists", resource.name);
                let problem = Diagnostic::error(Code::IN_DOUBT, message)
                    .note("Recorded as deleted, it would not be managed any more. Nothing was changed.");
                Err(problem.help(did_not_happen(&resource.name)))
            }
            Err(refusal) => Err(cannot_read(resource, &refusal)),
        }
    }

    /// Reads a resource that exists according to the resolution, or takes the stated outputs where no provider can.
    async fn read_resolved(
        &self,
        state: &State,
        pending: &Pending,
        resource: &Resource,
        stated: &StatedOutputs,
    ) -> Result<LiveState, Diagnostic> {
        let as_stated = || {
            let outputs =
                stated.values(pending.intent.operation(), resource, self.catalog.get(&resource.ty))?;
            Ok(self.concealed_statement(pending, resource, outputs))
        };
        if self.providers.of(&resource.ty).is_none() {
            return as_stated();
        }
        match self.read(resource, state).await {
            Ok(Reading::Found(live)) => stated.none_for_readable(&resource.name).map(|()| live),
            Ok(Reading::AsRecorded | Reading::CannotLook) => as_stated(),
            Ok(Reading::Gone) => {
                let message = format!("{} does not exist", resource.name);
                Err(Diagnostic::error(Code::NOT_FOUND, message).help(did_not_happen(&resource.name)))
            }
            Err(refusal) => Err(cannot_read(resource, &refusal)),
        }
    }
}

impl Engine {
    /// Marks the secrets in stated outputs as in the answer of a provider: those that were sent, those that the run knows, and the
    /// properties that the schema or the option `sensitive` names.
    fn concealed_statement(&self, pending: &Pending, resource: &Resource, outputs: Map) -> LiveState {
        let nothing = Map::new();
        let previous = match &pending.intent {
            Intent::Update { previous, .. } => previous,
            Intent::Create { .. } | Intent::Delete { .. } => &nothing,
        };
        let searched =
            [&resource.inputs, &resource.outputs, previous].into_iter().fold(outputs, |outputs, sent| {
                conceal_sent(LiveState { inputs: Map::new(), outputs }, sent).outputs
            });
        let known = self.providers.mark_known(searched);
        let outputs = match self.catalog.get(&resource.ty) {
            Some(schema) => schema.conceal(known),
            None => known,
        };
        LiveState { inputs: resource.inputs.clone(), outputs: conceal_named(&resource.sensitive, outputs) }
    }
}

fn cannot_read(resource: &Resource, refusal: &Refusal) -> Diagnostic {
    Diagnostic::error(Code::STEP_FAILED, format!("cannot read {}: {}", resource.name, refusal.message))
}

/// Returns the end of an operation, followed by the actual inputs if they are not the intended ones.
fn with_observation(end: Record, intended: &Resource, inputs: Map) -> Vec<Record> {
    let mut records = vec![end];
    if inputs != intended.inputs {
        records.push(Record::observed(intended.copy(), Some(inputs), None));
    }
    records
}

/// Adds a hint for each statement about the outcome that a person can make.
pub(crate) fn suggest_resolutions(problem: Diagnostic, name: &Name, operation: Operation) -> Diagnostic {
    let answer = ResolveAnswer::Happened(operation);
    let happened = Hint::text("if it happened: ").then(NextStep::Resolve { name: name.clone(), answer });
    problem.help(happened).help(did_not_happen(name))
}

fn did_not_happen(name: &Name) -> Hint {
    let answer = ResolveAnswer::DidNotHappen;
    Hint::text("if it did not happen: ").then(NextStep::Resolve { name: name.clone(), answer })
}

fn does_not_fit(name: Option<&Name>, operation: Operation) -> Diagnostic {
    let message = format!("this answer does not fit a pending {}", operation.verb());
    name.into_iter().fold(Diagnostic::error(Code::USAGE, message), |problem, name| {
        let problem = suggest_resolutions(problem, name, operation);
        if operation == Operation::Delete {
            return problem;
        }
        let retry = NextStep::Resolve { name: name.clone(), answer: ResolveAnswer::Retry };
        problem.help(Hint::text("if a second time does no harm: ").then(retry))
    })
}

fn already_recorded(id: &PhysicalId, other: &str, name: &Name) -> Diagnostic {
    Diagnostic::error(Code::CANNOT_IMPORT, format!("{id} already belongs to {other}"))
        .note("Two records with one physical id could each delete the resource of the other.")
        .help(did_not_happen(name))
}
