//! The data keys of a stack in its operations: opened for a preview, made at the first secret, changed by `secrets` commands.

use stead_journal::{Loaded, Run, Takeover};
use stead_model::{
    Code, Diagnostic, Expr, Graph, Hint, Input, Keyring, Name, NextStep, RunResult, SourceRef, StackId, Text,
    Value,
};
use stead_plan::{Action, Plan, Step};
use stead_secrets::{ManagerError, ManagerErrorClass, UnlockedRing};
use stead_state::{Record, Snapshot, State};

use crate::finish_transfers;
use crate::ops::{Access, OpError, OpEvent, Workspace};
use crate::secrets::{locked_in, locked_record, owner};

impl Workspace {
    /// Opens the secrets of a state, if it has any or the program needs the key.
    ///
    /// Without the key, a program with secrets is refused; otherwise whatever needs no secret goes on. A stack without a key gets
    /// one when the plan is applied; whether that is possible is checked now.
    pub(crate) async fn open_secrets(
        &self,
        state: &State,
        graph: Option<&Graph>,
        access: Access,
    ) -> Result<(), OpError> {
        let needed = graph.is_some_and(|graph| self.makes_secrets(graph));
        if !needed && !state.has_secrets() {
            return Ok(());
        }
        let environment = self.environment().to_string();
        let secrets = &self.stack.secrets;
        let unlocked = secrets.unlock(&environment, state).await;
        self.show_to_veils(state);
        if let Some(problem) = graph.and_then(locked_value) {
            return Err(OpError::refused(problem));
        }
        match unlocked {
            Err(error) if needed => Err(OpError::refused(locked(&error))),
            Ok(()) if needed && state.keyring().is_empty() && access == Access::Apply => {
                let possible = secrets.rehearse(&environment, &self.stack.world).await;
                possible.map_err(|error| OpError::refused(no_manager(&error, graph)))
            }
            Ok(()) | Err(_) => Ok(()),
        }
    }

    /// Tells the veils of all providers the opened secrets of a state, so that no answer shows one of another resource.
    fn show_to_veils(&self, state: &State) {
        let providers = &self.engine.providers;
        state.copies().for_each(|resource| providers.learn_record(resource));
        providers.learn_secrets(state.outputs());
    }

    /// Opens the secrets of a state, for an operation that shows or moves them.
    pub async fn require_secrets(&self, state: &State) -> Result<(), OpError> {
        let environment = self.environment().to_string();
        let unlocked = self.stack.secrets.unlock(&environment, state).await;
        unlocked.map_err(|error| OpError::refused(locked(&error)))
    }

    /// Opens the secrets of this stack and the key of the stack that is about to get them. Reports both if both are missing.
    pub(crate) async fn require_both_keys(
        &self,
        state: &State,
        to: &Workspace,
        target: &State,
    ) -> Result<(), OpError> {
        let environment = self.environment().to_string();
        let opened = self.stack.secrets.unlock(&environment, state).await;
        let opened = opened.map_err(|error| locked_in_transfer(&self.named(), &error));
        let problems: Vec<Diagnostic> =
            [opened.err(), to.open_key(target).await.err()].into_iter().flatten().collect();
        if problems.is_empty() { Ok(()) } else { Err(OpError::Refused(problems)) }
    }

    /// Opens the key of this stack, which is about to get secrets of another one.
    async fn open_key(&self, state: &State) -> Result<(), Diagnostic> {
        if state.keyring().is_empty() {
            let message = format!("{} has no data key", self.named());
            let problem = both_needed(Diagnostic::error(Code::NO_SECRETS_MANAGER, message));
            let hint = Hint::from(NextStep::InitSecrets)
                .and(format!(" makes one, for environment {}", self.environment()));
            return Err(problem.help(hint));
        }
        let opened = self.stack.secrets.unlock(&self.environment().to_string(), state).await;
        opened.map_err(|error| locked_in_transfer(&self.named(), &error))
    }

    fn named(&self) -> String {
        format!("the stack of environment {} on target {}", self.environment(), self.target())
    }

    /// Prepares the secrets of an imported snapshot for this stack. Returns the resources with write-only values that the next
    /// plan sends again.
    ///
    /// A snapshot of this stack keeps its ciphertexts, and the ring gets the keys that it lacks. The secrets of another stack are
    /// opened with its key; closing the run seals them for this stack.
    pub(crate) async fn adopt_secrets(
        &self,
        snapshot: &mut Snapshot,
        state: &State,
    ) -> Result<Vec<(Name, Vec<String>)>, OpError> {
        let (is_own, unsealed) = (snapshot.stack == *state.stack(), snapshot.has_unsealed_secrets());
        if is_own && !unsealed {
            snapshot.keyring = joined(&snapshot.keyring, state.keyring());
            return Ok(Vec::new());
        }
        let encrypted = snapshot.has_encrypted_values();
        let mut problems = Vec::new();
        if encrypted {
            let imported = State::from(snapshot.clone());
            let other = self.stack.secrets.of_another_stack();
            if let Err(error) = other.unlock(&self.environment().to_string(), &imported).await {
                let stack = format!("the exported stack {}", snapshot.stack.0);
                problems.push(locked_in_transfer(&stack, &error));
            }
        }
        if encrypted || unsealed {
            problems.extend(self.open_key(state).await.err());
        }
        if encrypted && problems.is_empty() {
            problems
                .extend(snapshot.resources.iter().find_map(|copy| locked_record(copy)).map(locked_value_of));
        }
        if !problems.is_empty() {
            return Err(OpError::Refused(problems));
        }
        snapshot.keyring = state.keyring().clone();
        Ok(if is_own { Vec::new() } else { snapshot.forget_digests() })
    }

    /// Returns true if a run of the graph records secrets.
    pub fn makes_secrets(&self, graph: &Graph) -> bool {
        graph.exprs.has_secrets()
            || graph.nodes.iter().any(|node| {
                !node.options.sensitive.is_empty()
                    || self
                        .engine
                        .catalog
                        .get(&node.ty)
                        .is_some_and(|schema| schema.records_secrets(&node.inputs))
            })
    }

    /// Checks that a stack without a key can get one for secrets that were read from providers: the inputs of a program do not tell
    /// that an imported resource has some.
    pub(crate) async fn check_key_for(&self, state: &State, read: ReadSecrets) -> Result<(), OpError> {
        if read == ReadSecrets::None || !state.keyring().is_empty() {
            return Ok(());
        }
        let possible = self.stack.secrets.rehearse(&self.environment().to_string(), &self.stack.world).await;
        possible.map_err(|error| OpError::refused(no_manager_for_read(&error)))
    }

    /// Records the first key of a stack, before a run writes a secret of the program or one that was read.
    pub(crate) async fn ensure_key(
        &self,
        run: &Run,
        graph: Option<&Graph>,
        read: ReadSecrets,
    ) -> Result<(), OpError> {
        let is_made = graph.is_some_and(|graph| self.makes_secrets(graph));
        if !run.base().keyring().is_empty() || (!is_made && read == ReadSecrets::None) {
            return Ok(());
        }
        let environment = self.environment().to_string();
        let made = self.stack.secrets.create(&environment, run.stack(), &self.stack.world).await;
        let keyring = made.map_err(|error| {
            OpError::refused(match is_made {
                true => no_manager(&error, graph),
                false => no_manager_for_read(&error),
            })
        })?;
        Ok(run.submit(Record::Keys { keyring }).durable().await?)
    }

    /// Records in the history of a stack that a command showed its secrets. The run changes nothing else.
    pub async fn record_disclosure(
        &self,
        command: &str,
        loaded: &Loaded,
        events: &mut dyn FnMut(OpEvent),
    ) -> Result<(), OpError> {
        let run = self.open(command, Some(loaded.version.clone()), Takeover::IfDead, events).await?;
        run.close(RunResult::Succeeded).await?;
        Ok(())
    }

    /// Makes the first key of a stack, without a secret. A stack that has one keeps it.
    pub async fn init_keys(&self, events: &mut dyn FnMut(OpEvent)) -> Result<KeysChange, OpError> {
        let loaded = self.load().await?;
        if !loaded.state.keyring().is_empty() {
            return Ok(KeysChange::AlreadyThere);
        }
        let run = self.open("secrets init", Some(loaded.version), Takeover::IfDead, events).await?;
        let environment = self.environment().to_string();
        let made = self.stack.secrets.create(&environment, run.stack(), &self.stack.world).await;
        let keyring = match made {
            Ok(keyring) => keyring,
            Err(error) => {
                run.close(RunResult::Failed).await?;
                return Err(OpError::refused(no_manager(&error, None)));
            }
        };
        run.submit(Record::Keys { keyring }).durable().await?;
        run.close(RunResult::Succeeded).await?;
        Ok(KeysChange::Made)
    }

    /// Changes the ring of a stack in memory, to find out whether [`change_keys`](Workspace::change_keys) can do it.
    pub async fn rehearse_keys(&self, change: &dyn ChangesRing) -> Result<(), OpError> {
        let loaded = self.load_for_new_keys().await?;
        self.changed_ring(&loaded.state, change).await.map(drop)
    }

    /// Loads the stack for a change of its keys. Resources on their way to another stack are settled first, because their records
    /// cannot be encrypted anew.
    async fn load_for_new_keys(&self) -> Result<Loaded, OpError> {
        self.load_existing().await?;
        finish_transfers(&self.stack).await?;
        self.load_existing().await
    }

    /// Opens the ring of the stack, and returns the changed one. Writes nothing.
    async fn changed_ring(&self, state: &State, change: &dyn ChangesRing) -> Result<UnlockedRing, OpError> {
        if state.pending().next().is_some() {
            let message = "operations of an interrupted run hold secrets that are encrypted with the old key";
            let problem = Diagnostic::error(Code::IN_DOUBT, message);
            return Err(OpError::refused(
                problem.help(Hint::from(NextStep::Apply).and(" finishes them first")),
            ));
        }
        if state.keyring().is_empty() {
            let message = "this stack has no data key yet";
            return Err(OpError::refused(Diagnostic::error(Code::NO_SECRETS_MANAGER, message)));
        }
        self.require_secrets(state).await?;
        let opened = self.stack.secrets.opened().ok_or_else(|| {
            OpError::refused(Diagnostic::error(Code::SECRETS_LOCKED, "the key is not open"))
        })?;
        change.change(&opened).await.map_err(|error| OpError::refused(locked(&error)))
    }

    /// Changes the ring of a stack, and encrypts every secret with its current key.
    ///
    /// The new ring is durable before the first value that is encrypted with its new key, and it keeps every older key, so that a
    /// run that is killed anywhere leaves a state that opens.
    pub async fn change_keys(
        &self,
        command: &str,
        change: &dyn ChangesRing,
        events: &mut dyn FnMut(OpEvent),
    ) -> Result<UnlockedRing, OpError> {
        let Loaded { state, version, .. } = self.load_for_new_keys().await?;
        let ring = self.changed_ring(&state, change).await?;
        let run = self.open(command, Some(version), Takeover::IfDead, events).await?;
        run.submit(Record::Keys { keyring: ring.ring().clone() }).durable().await?;
        self.stack.secrets.use_ring(ring.clone());
        run.base().open_secrets(&self.stack.secrets.crypter());
        for resource in run.base().resources() {
            if stead_state::has_secrets(resource) {
                run.submit(Record::Amend { resource: Box::new(resource.clone()) }).durable().await?;
            }
        }
        let outputs = run.base().outputs().clone();
        if outputs.values().any(Value::has_secrets) {
            run.submit(Record::Outputs { outputs }).durable().await?;
        }
        run.close(RunResult::Succeeded).await?;
        Ok(ring)
    }
}

/// Whether values that were read from providers have secrets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ReadSecrets {
    Some,
    None,
}

impl ReadSecrets {
    /// Looks at records of drift.
    pub(crate) fn in_records(stack: &StackId, records: &[Record]) -> ReadSecrets {
        ReadSecrets::if_any(records.iter().any(|record| record.needs_key(stack)))
    }

    /// Looks at records of drift, and at the resources that a plan imports.
    pub(crate) fn in_plan(stack: &StackId, plan: &Plan, records: &[Record]) -> ReadSecrets {
        let has_secrets = |step: &Step| match &step.action {
            Action::Import { inputs, outputs, .. } => {
                inputs.values().chain(outputs.values()).any(Value::has_secrets)
            }
            _ => false,
        };
        match plan.steps.iter().any(has_secrets) {
            true => ReadSecrets::Some,
            false => ReadSecrets::in_records(stack, records),
        }
    }

    fn if_any(any: bool) -> ReadSecrets {
        if any { ReadSecrets::Some } else { ReadSecrets::None }
    }
}

/// Result of a request for a first key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeysChange {
    Made,
    AlreadyThere,
}

/// A change of the managers or keys of a ring.
#[async_trait::async_trait]
pub trait ChangesRing: Send + Sync {
    async fn change(&self, ring: &UnlockedRing) -> Result<UnlockedRing, ManagerError>;
}

/// Returns the owner that the keys of a stack are wrapped for.
pub fn key_owner(state: &State) -> String {
    owner(state.stack())
}

/// Returns the keys of both rings. The current key of `ours` stays the current one.
fn joined(theirs: &Keyring, ours: &Keyring) -> Keyring {
    let known = |id| ours.get(id).is_some();
    let older = theirs.keys.iter().filter(|key| !known(&key.id));
    Keyring { keys: older.chain(&ours.keys).cloned().collect() }
}

/// Reports one secret that does not open, although the current key of its ring does.
pub(crate) fn locked_value_of(record: String) -> Diagnostic {
    Diagnostic::error(Code::SECRETS_LOCKED, record).note("Nothing was changed.")
}

/// Reports secrets that do not open.
pub(crate) fn locked(error: &ManagerError) -> Diagnostic {
    locked_of("this stack", error).note("Nothing was changed.")
}

/// Reports the stack whose secrets do not open, in an operation on two stacks.
fn locked_in_transfer(stack: &str, error: &ManagerError) -> Diagnostic {
    both_needed(locked_of(stack, error))
}

fn both_needed(problem: Diagnostic) -> Diagnostic {
    problem
        .note("Secrets are encrypted anew for the stack that gets them, so both keys are needed.")
        .note("Nothing was changed.")
}

fn locked_of(stack: &str, error: &ManagerError) -> Diagnostic {
    let what = match error.class {
        ManagerErrorClass::WrongKey => format!("the secrets of {stack} do not open with this key"),
        ManagerErrorClass::Denied => format!("the key manager refuses to open the secrets of {stack}"),
        ManagerErrorClass::Unavailable => {
            format!("the key manager does not answer, so the secrets of {stack} stay closed")
        }
        ManagerErrorClass::NoSuchKey => {
            format!("the key that opens the secrets of {stack} does not exist any more")
        }
        ManagerErrorClass::Damaged => format!("the wrapped key of {stack} is damaged"),
        ManagerErrorClass::NotConfigured => format!("the secrets of {stack} are locked"),
    };
    let problem = Diagnostic::error(Code::SECRETS_LOCKED, format!("{what}: {}", error.message));
    error.help.iter().cloned().fold(problem, Diagnostic::help)
}

/// Reports a secret in a stack that has no key manager.
fn no_manager(error: &ManagerError, graph: Option<&Graph>) -> Diagnostic {
    let message = format!("this program has secrets, and no key can encrypt them: {}", error.message);
    let mut problem = Diagnostic::error(Code::NO_SECRETS_MANAGER, message);
    if let Some((source, from)) = graph.and_then(first_secret) {
        problem = problem.at(source, 0, format!("a secret is made here ({from})"));
    }
    let problem = error.help.iter().cloned().fold(problem, Diagnostic::help);
    problem.note("Nothing was changed.")
}

/// Reports a secret that was read from a provider, in a stack that has no key manager.
fn no_manager_for_read(error: &ManagerError) -> Diagnostic {
    let message = format!("an existing resource has secrets, and no key can encrypt them: {}", error.message);
    let problem = Diagnostic::error(Code::NO_SECRETS_MANAGER, message);
    error.help.iter().cloned().fold(problem, Diagnostic::help).note("Nothing was changed.")
}

/// Reports a secret of the program that does not open, such as an encrypted config value: nothing could be done with it.
fn locked_value(graph: &Graph) -> Option<Diagnostic> {
    let of_program = graph.exprs.iter().find_map(|expr| {
        let Expr::Secret { from, source, value, .. } = expr else { return None };
        Some((format!("{from} cannot be opened: {}", value.unopened()?), source))
    });
    // Declarations that come from records, for a rollback, have known values.
    let of_records = || {
        graph.nodes.iter().find_map(|node| {
            let known = |(key, input): (&Text, &Input)| Some((key.clone(), input.as_known()?.clone()));
            let secret = node.inputs.iter().filter(|(_, input)| input.has_secrets());
            let (path, why) = locked_in(&secret.filter_map(known).collect())?;
            Some((format!("the secret `{path}` of {} cannot be opened: {why}", node.name), &node.source))
        })
    };
    let (message, source) = of_program.or_else(of_records)?;
    let problem = Diagnostic::error(Code::SECRETS_LOCKED, message);
    Some(problem.at(source.clone(), 0, "used here").note("Nothing was changed."))
}

fn first_secret(graph: &Graph) -> Option<(SourceRef, String)> {
    graph.exprs.iter().find_map(|expr| match expr {
        Expr::Secret { source, from, .. } => Some((source.clone(), from.clone())),
        Expr::Ephemeral { function } => Some((function.source.clone(), "ephemeral".to_owned())),
        _ => None,
    })
}
