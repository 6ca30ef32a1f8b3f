//! What a person says became of an operation, as records. Their word settles whether it happened; what came of it is
//! looked at, since half of a change is a change too.

use stead_model::{Code, Diagnostic, Map, Operation, PhysicalId, Resource};
use stead_provider::LiveState;
use stead_state::{Intent, Pending, Record, Settlement, State};

use crate::Engine;
use crate::physical_ids::PhysicalIds;

/// A person's answer about an operation that is in doubt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Resolution {
    /// The create happened, and made this.
    Created(PhysicalId),
    /// The update or the deletion happened.
    Done,
    DidNotHappen,
}

impl Resolution {
    /// Fails if the answer is one for another kind of operation.
    pub(crate) fn fits(&self, operation: Operation) -> Result<(), Diagnostic> {
        match (self, operation) {
            (Resolution::DidNotHappen, _)
            | (Resolution::Created(_), Operation::Create)
            | (Resolution::Done, Operation::Update | Operation::Delete) => Ok(()),
            _ => Err(another_answer(operation)),
        }
    }
}

impl Engine {
    /// The records that an answer comes to. They belong together.
    pub async fn answered(
        &self,
        state: &State,
        pending: &Pending,
        word: &Resolution,
    ) -> Result<Vec<Record>, Diagnostic> {
        let settled = |settlement| Record::Settle { op: pending.op, settlement };
        let happened = |id, outputs| settled(Settlement::Happened { id, outputs });
        match (&pending.intent, word) {
            (Intent::Create { resource, .. }, Resolution::Created(id)) => {
                let made = Resource { id: Some(id.clone()), ..resource.as_ref().clone() };
                if let Some(other) = PhysicalIds::of(state).holder(&made.ty, id, &made.copy()) {
                    return Err(Diagnostic::error(Code::CANNOT_IMPORT, format!("{id} is {other} already"))
                        .note("Two resources for one thing would let each of them delete the other's.")
                        .help("if nothing new was made, use `--not-created`"));
                }
                let LiveState { inputs, outputs } = self.found(&made).await?;
                Ok(as_found(happened(made.id.clone(), outputs), &made, inputs))
            }
            (Intent::Update { resource, .. }, Resolution::Done) => {
                let LiveState { inputs, outputs } = self.found(resource).await?;
                Ok(as_found(happened(None, outputs), resource, inputs))
            }
            (Intent::Delete { .. }, Resolution::Done) => Ok(vec![happened(None, Map::new())]),
            (Intent::Update { resource, .. }, Resolution::DidNotHappen) => {
                let mut records = vec![settled(Settlement::DidNotHappen)];
                // The record has the old values: true, unless the update got half of its way. Where nobody can look,
                // the word counts.
                if let Ok(Some(LiveState { inputs, outputs })) = self.read(resource).await {
                    let (inputs, outputs) = (Some(inputs), Some(outputs));
                    records.push(Record::Observed { copy: resource.copy(), inputs, outputs });
                }
                Ok(records)
            }
            (_, Resolution::DidNotHappen) => Ok(vec![settled(Settlement::DidNotHappen)]),
            (intent, _) => Err(another_answer(intent.operation())),
        }
    }

    /// What is really there, of something that is said to be.
    async fn found(&self, resource: &Resource) -> Result<LiveState, Diagnostic> {
        if self.providers.of(&resource.ty).is_none() {
            return Ok(LiveState { inputs: resource.inputs.clone(), outputs: Map::new() });
        }
        match self.read(resource).await {
            Ok(Some(live)) => Ok(live),
            Ok(None) => Err(Diagnostic::error(Code::NOT_FOUND, format!("{} is not there", resource.name))
                .help("if it does not exist, use `--not-created`")),
            Err(refusal) => {
                let message = format!("cannot read {}: {}", resource.name, refusal.message);
                Err(Diagnostic::error(Code::STEP_FAILED, message))
            }
        }
    }
}

/// The end of an operation, and what it really left where that is not what was asked for.
fn as_found(settled: Record, asked: &Resource, inputs: Map) -> Vec<Record> {
    let mut records = vec![settled];
    if inputs != asked.inputs {
        records.push(Record::Observed { copy: asked.copy(), inputs: Some(inputs), outputs: None });
    }
    records
}

fn another_answer(operation: Operation) -> Diagnostic {
    let flag = if operation == Operation::Create { "--created ID" } else { "--done" };
    Diagnostic::error(Code::USAGE, format!("what is in doubt is a {}", operation.verb()))
        .help(format!("use `{flag}`, `--not-created` or `--retry`"))
}
