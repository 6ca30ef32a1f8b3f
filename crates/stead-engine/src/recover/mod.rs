//! Recovery of operations that an interrupted run left pending.
//!
//! An operation is repeated if its provider allows that. One that lacks a secret and that the service knows by a token is only asked
//! for. Any other operation stays in doubt until a person resolves it.

pub(crate) mod permit;
mod repeat;
mod resolution;
mod stated;

use stead_journal::{JournalError, Run};
use stead_model::{Code, Diagnostic, Event, Hint, Map, Name, Operation, Resource, Unopened};
use stead_provider::{Recovery, Refusal, Statement};
use stead_state::{Intent, Pending, State};

use crate::recover::repeat::Repeated;
use crate::secrets::{locked_in, missing_in};
use crate::{Engine, StackSecrets};

pub use permit::CurrentGuards;
pub use resolution::Resolution;
pub use stated::StatedOutputs;

/// A pending operation that recovery must not repeat: a person has to resolve it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Doubtful {
    pub pending: Pending,
    pub name: Name,
    /// A sentence about work of the operation that may still go on.
    pub may_still_run: Option<String>,
    /// The secret that a repetition would need, if this process does not have its value.
    pub lacks: Option<LackingSecret>,
}

impl Doubtful {
    /// Returns true if a key would make the operation one that recovery can look at.
    pub fn waits_for_key(&self) -> bool {
        self.lacks.as_ref().is_some_and(LackingSecret::key_would_help)
    }
}

/// A secret of a pending operation without a value in this process, which keeps recovery from repeating the operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LackingSecret {
    /// Path of the property.
    pub path: String,
    pub why: Unopened,
    /// Ways to get the key, from the managers that could open it.
    pub help: Vec<Hint>,
}

impl LackingSecret {
    /// Returns true if the key would give the value. A value that was never kept has no key.
    pub fn key_would_help(&self) -> bool {
        self.why != Unopened::NotKept
    }
}

/// Result of a recovery.
#[derive(Debug, Default)]
pub struct Recovered {
    pub finished: Vec<Name>,
    /// Resources whose deletion the current guards refuse. It was not sent again; a read told its outcome.
    pub held_back: Vec<Name>,
    pub problems: Vec<Diagnostic>,
}

impl Engine {
    /// Sorts the pending operations into repeatable ones and ones that a person has to resolve.
    pub fn triage(&self, state: &State) -> (Vec<Pending>, Vec<Doubtful>) {
        let (mut repeatable, mut doubtful) = (Vec::new(), Vec::new());
        for pending in state.pending() {
            let lacks = lacking_secret(state, &pending.intent);
            match self.recovery(state, &pending.intent) {
                Some(Recovery::Repeat) if lacks.is_none() || self.tells_end(state, pending) => {
                    repeatable.push(pending.clone());
                }
                _ => {
                    if let Some(name) = state.subject(&pending.intent) {
                        let pending = pending.clone();
                        doubtful.push(Doubtful { pending, name, may_still_run: None, lacks });
                    }
                }
            }
        }
        (repeatable, doubtful)
    }

    /// Asks the providers whether work of the operations may still go on, and adds the ways to a missing key.
    pub(crate) async fn explained(
        &self,
        state: &State,
        secrets: &StackSecrets,
        mut doubtful: Vec<Doubtful>,
    ) -> Vec<Doubtful> {
        let help = secrets.why_locked().map(|error| error.help).unwrap_or_default();
        for one in &mut doubtful {
            if let Some(lacking) = one.lacks.as_mut().filter(|lacking| lacking.key_would_help()) {
                lacking.help.clone_from(&help);
            }
            let intent = &one.pending.intent;
            let Some(resource) = subject(state, intent) else { continue };
            let Ok(provider) = self.serving(resource, state) else { continue };
            if let Some(token) = &one.pending.token {
                one.may_still_run = provider.may_still_run(&resource.ty, token).await;
            }
        }
        doubtful
    }

    /// Makes a person's statement about an operation true of the work that its provider started for it, or refuses the statement.
    ///
    /// A provider that cannot be reached has no such work here.
    pub(crate) async fn settle_work(
        &self,
        state: &State,
        pending: &Pending,
        statement: Statement,
    ) -> Result<(), Diagnostic> {
        let (Some(token), Some(resource)) = (&pending.token, subject(state, &pending.intent)) else {
            return Ok(());
        };
        let Ok(provider) = self.serving(resource, state) else { return Ok(()) };
        provider.settle_work(&resource.ty, token, statement).await.map_err(|refusal| {
            let (verb, name) = (pending.intent.operation().verb(), &resource.name);
            let message = format!("the {verb} of {name} stays in doubt: {}", refusal.message);
            refusal.help.into_iter().fold(Diagnostic::error(Code::IN_DOUBT, message), Diagnostic::help)
        })
    }

    /// Returns true if the service tells the end of the operation by its token, and the end can be recorded without the secrets of
    /// the request.
    fn tells_end(&self, state: &State, pending: &Pending) -> bool {
        let provider = subject(state, &pending.intent).map(|resource| self.serving(resource, state));
        let tells = provider.is_some_and(|provider| provider.is_ok_and(|provider| provider.tells_ends()));
        pending.token.is_some() && tells && end_needs_no_secret(&pending.intent)
    }

    fn recovery(&self, state: &State, intent: &Intent) -> Option<Recovery> {
        let resource = subject(state, intent)?;
        let provider = self.serving(resource, state).ok()?;
        Some(provider.recovery(intent.operation(), &resource.ty, &resource.inputs))
    }

    /// Repeats the operations, one after the other, each with its old idempotency key.
    ///
    /// Deletions stay pending if the command asks no guards.
    pub async fn recover(
        &self,
        run: &Run,
        operations: &[Pending],
        guards: Option<&CurrentGuards<'_>>,
        events: &mut dyn FnMut(Event),
    ) -> Result<Recovered, JournalError> {
        let mut recovered = Recovered::default();
        let owners = self.recovery_owners(run.base()).await;
        for pending in operations.iter().filter(|pending| guards.is_some() || !is_deletion(pending)) {
            let Some(resource) = subject(run.base(), &pending.intent).cloned() else { continue };
            let provider = match self.serving(&resource, run.base()) {
                Ok(provider) => provider,
                Err(refusal) => {
                    recovered.problems.push(unserved(refusal));
                    continue;
                }
            };
            let operation = pending.intent.operation();
            events(Event::Recovering { operation, name: resource.name.clone(), run: run.id() });
            let since = self.world.clock.monotonic();
            let repeated = self.repeat(run, pending, &resource, (provider, &owners), guards, events).await;
            let millis = self.world.clock.monotonic().saturating_sub(since).as_millis() as u64;
            events(Event::Recovered { operation, name: resource.name.clone(), millis });
            match repeated? {
                Repeated::Finished => recovered.finished.push(resource.name),
                Repeated::DeletionHeldBack => recovered.held_back.push(resource.name),
                Repeated::Unfinished(problem) => recovered.problems.push(problem),
            }
        }
        Ok(recovered)
    }
}

/// Returns true if the pending operation is a deletion, which is sent again only under the guards of today's program.
pub(crate) fn is_deletion(pending: &Pending) -> bool {
    pending.intent.operation() == Operation::Delete
}

/// Returns the secret without which the operation could not be repeated as it was.
pub(crate) fn lacking_secret(state: &State, intent: &Intent) -> Option<LackingSecret> {
    let resource = subject(state, intent)?;
    let (path, why) = match intent {
        Intent::Create { .. } | Intent::Update { .. } => missing_in(&resource.inputs)?,
        Intent::Delete { .. } => locked_in(&resource.inputs).or_else(|| locked_in(&resource.outputs))?,
    };
    Some(LackingSecret { path, why, help: Vec::new() })
}

/// Returns true if the end of an operation, which a service tells by its token, can be recorded without the secrets of the request.
///
/// The text of a secret that this process cannot open could be anywhere in the values of the resource. A value that was never
/// kept is marked where the request had it. A deletion has no values.
pub(crate) fn end_needs_no_secret(intent: &Intent) -> bool {
    let all_open = |values: &Map| locked_in(values).is_none();
    match intent {
        Intent::Create { resource, .. } => all_open(&resource.inputs),
        Intent::Update { resource, previous, .. } => {
            all_open(&resource.inputs) && all_open(&resource.outputs) && all_open(previous)
        }
        Intent::Delete { .. } => true,
    }
}

/// Returns the record of the resource that an operation changes.
fn subject<'a>(state: &'a State, intent: &'a Intent) -> Option<&'a Resource> {
    match intent {
        Intent::Create { resource, .. } | Intent::Update { resource, .. } => Some(resource),
        Intent::Delete { copy, .. } => state.copy(copy),
    }
}

fn unserved(Refusal { message, help, .. }: Refusal) -> Diagnostic {
    help.into_iter().fold(Diagnostic::error(Code::NO_PROVIDER, message), Diagnostic::help)
}
