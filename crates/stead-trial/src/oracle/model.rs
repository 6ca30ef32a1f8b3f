//! The reference model: the objects that exist, their recorded state, and the allowed changes. It is written from the
//! design, not from the engine, and knows nothing of plans, journals or epochs.
//!
//! The model holds the cloud, so that it sees every change. A forbidden change is a violation at once; the recorded
//! state is compared whenever no process runs.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use stead_guard::pins::physical_path;
use stead_model::{
    CopyRef, DeletionPolicy, Graph, Lifecycle, Map, OperationToken, Resource, TypeToken, Value,
};
use stead_state::{Intent, State};

use crate::secret::{is_record_of, revealed};

/// Owner of a cloud object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ownership {
    /// Created by a run, and recorded until it is deleted.
    Managed,
    /// Retained, or forgotten by a person.
    Unmanaged,
    /// Created outside.
    Foreign,
}

/// Pin of a cloud object.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Pin {
    #[default]
    None,
    Held,
    /// A person released the pin: the object may be deleted.
    Released,
}

/// An object in the cloud.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct CloudObject {
    pub key: String,
    pub copy: Option<CopyRef>,
    pub inputs: Map,
    pub outputs: Map,
    pub ownership: Ownership,
    /// Marks in the recorded state.
    pub protected: bool,
    pub retained: bool,
    pub pin: Pin,
    /// The recorded state has the pin, too.
    pub remembered: bool,
    /// Processes with a run under way whose program pins the object.
    pub declared: Vec<u64>,
    /// Recorded type, as of the last check.
    pub recorded: Option<TypeToken>,
    /// Changed outside: the recorded state may differ until a refresh.
    pub drifted: bool,
    /// A run or a person is about to stop managing the object.
    pub leaving: bool,
}

impl CloudObject {
    /// Returns an object without marks.
    fn new(inputs: Map, outputs: Map, ownership: Ownership) -> CloudObject {
        CloudObject {
            key: String::new(),
            copy: None,
            inputs,
            outputs,
            ownership,
            protected: false,
            retained: false,
            pin: Pin::None,
            remembered: false,
            declared: Vec::new(),
            recorded: None,
            drifted: false,
            leaving: false,
        }
    }
}

/// The cloud, and everything the oracles know about it.
#[derive(Default)]
pub(crate) struct Model {
    pub objects: BTreeMap<String, CloudObject>,
    /// Object id by idempotency key. The cloud remembers used keys.
    made: HashMap<String, String>,
    /// Tokens that the journal has, by idempotency key.
    tokens: HashMap<String, OperationToken>,
    /// Idempotency keys of operations that the cloud accepted, and that failed.
    failed: HashSet<String>,
    /// Processes whose runs have read the pinfile since a person edited it.
    readers: HashSet<u64>,
    /// Copy that an operation is about, by idempotency key.
    subjects: HashMap<String, CopyRef>,
    /// Ids of objects that were deleted without the knowledge of a run.
    gone_outside: BTreeSet<String>,
    /// Number of the last run of each process that has opened the stack.
    writers: BTreeMap<u64, u64>,
    pub violations: Vec<Violation>,
    /// The state is checked at every provider call.
    pub watched: bool,
    pub serial: i64,
    /// Ids guarded by the current program and pinfile, by process that is recovering an interrupted run.
    pub protected_today: HashMap<u64, BTreeSet<String>>,
    /// Processes whose command evaluates no program.
    pub without_program: HashSet<u64>,
    /// Copies whose pin a person released before their create was known to have happened.
    released_creates: BTreeSet<CopyRef>,
    /// Paths that the pinfile releases.
    pub released_paths: BTreeSet<String>,
    /// Ids that a running process is about to delete: a pin restored now comes too late.
    pub doomed: HashSet<String>,
    /// Ids managed by the other stack of the project.
    pub elsewhere: BTreeSet<String>,
}

/// A violated oracle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// Name of the oracle. A failing script is minimized as long as it violates this one.
    pub oracle: &'static str,
    pub detail: String,
}

pub(crate) fn violation(oracle: &'static str, detail: impl Into<String>) -> Violation {
    Violation { oracle, detail: detail.into() }
}

impl Model {
    /// Records that a process opened a run. A process with an older run is fenced.
    pub(crate) fn run_opened(&mut self, process: u64, run: u64) {
        self.writers.insert(process, run);
    }

    fn is_fenced(&self, process: u64) -> bool {
        let own = self.writers.get(&process);
        own.is_some_and(|own| self.writers.values().any(|run| run > own))
    }

    /// Records a mutating provider call. `durable` tells whether its intent was durable by then.
    pub(crate) fn call_started(&mut self, process: u64, key: &str, about: Option<CopyRef>, durable: bool) {
        if !durable {
            self.violations.push(violation("no change without a durable intent", key));
        }
        if self.is_fenced(process) {
            self.violations.push(violation("a fenced writer changes nothing", key));
        }
        if let Some(copy) = about {
            self.subjects.insert(key.to_owned(), copy);
        }
    }

    /// Records that the token of an operation is durable.
    pub(crate) fn token_recorded(&mut self, key: &str, token: OperationToken) {
        self.tokens.insert(key.to_owned(), token);
    }

    /// Checks the token that a later attempt at an operation got from the journal.
    pub(crate) fn operation_resumed(&mut self, key: &str, token: Option<&OperationToken>) {
        let own = self.tokens.get(key);
        let is_another = token.is_some_and(|token| !token.as_str().ends_with(key));
        if is_another || (own.is_some() && own != token) {
            let detail = format!("{key} was recorded with {own:?}, and is resumed with {token:?}");
            self.violations.push(violation("an operation is resumed with its token", detail));
        }
    }

    /// Records that an operation failed after the cloud had accepted it.
    pub(crate) fn operation_failed(&mut self, key: &str) {
        self.failed.insert(key.to_owned());
    }

    pub(crate) fn has_failed(&self, key: &str) -> bool {
        self.failed.contains(key)
    }

    /// Creates the object of an idempotency key. A key that was used before creates nothing.
    pub(crate) fn create(&mut self, key: &str, id: String, inputs: &Map, outputs: impl FnOnce(i64) -> Map) {
        if let Some(id) = self.made.get(key) {
            // A partial creation is completed.
            if let Some(object) = self.objects.get_mut(id).filter(|object| !object.drifted) {
                object.inputs.clone_from(inputs);
            }
            return;
        }
        self.made.insert(key.to_owned(), id.clone());
        self.serial += 1;
        let copy = self.subjects.get(key).cloned();
        let twin = |object: &&CloudObject| copy.is_some() && object.copy == copy;
        if let Some(twin) = self.objects.values().find(twin) {
            let detail = format!("{key} and {} are the same copy of one resource", twin.key);
            self.violations.push(violation("one live object for each resource and generation", detail));
        }
        // An object created in a deleted container does not exist.
        let container = inputs.get("inside").and_then(Value::as_str);
        if container.is_some_and(|container| !self.objects.contains_key(container)) {
            self.gone_outside.insert(id);
            return;
        }
        let object = CloudObject {
            key: key.to_owned(),
            copy,
            ..CloudObject::new(inputs.clone(), outputs(self.serial), Ownership::Managed)
        };
        self.objects.insert(id, object);
    }

    /// Returns the id of the object that a key created, deleted or not.
    pub(crate) fn made(&self, key: &str) -> Option<&String> {
        self.made.get(key)
    }

    /// Returns the object of another resource of the type that was recorded when the run began.
    ///
    /// An unrecorded object, or an old copy, could not be told from the created one.
    pub(crate) fn another_recorded(&self, key: &str, resource: &TypeToken) -> Option<String> {
        let own = &self.subjects.get(key)?.uid;
        let other = |(_, object): &(&String, &CloudObject)| {
            let anothers = object.copy.as_ref().is_some_and(|copy| copy.uid != *own);
            object.recorded.as_ref() == Some(resource) && anothers
        };
        self.objects.iter().find(other).map(|(id, _)| id.clone())
    }

    /// Returns the number of objects ever created.
    pub(crate) fn count_made(&self) -> usize {
        self.made.len()
    }

    /// Deletes an object on behalf of a run, with all objects inside.
    pub(crate) fn delete(&mut self, process: u64, id: &str) {
        if self.without_program.contains(&process) {
            self.violations.push(violation("a command without a program deletes nothing", id.to_owned()));
        }
        for (id, object) in self.remove_with_contents(id) {
            if object.protected {
                self.violations.push(violation("no protected resource is deleted", id.clone()));
            }
            if object.retained {
                self.violations.push(violation("no retained resource is deleted", id.clone()));
            }
            if self.protected_today.get(&process).is_some_and(|protected_today| protected_today.contains(&id))
            {
                self.violations.push(violation("a currently guarded resource is not deleted", id.clone()));
            }
            if object.pin == Pin::Held || object.declared.contains(&process) {
                self.violations.push(violation("no pinned resource is deleted", id.clone()));
            }
        }
    }

    /// Deletes an object outside, with all objects inside, unless one of them is protected: people respect
    /// protection, too.
    pub(crate) fn delete_outside(&mut self, id: &str) {
        if !self.is_protected(id) {
            let gone = self.remove_with_contents(id);
            self.gone_outside.extend(gone.into_iter().map(|(id, _)| id));
        }
    }

    fn remove_with_contents(&mut self, id: &str) -> Vec<(String, CloudObject)> {
        let mut todo = vec![id.to_owned()];
        let mut taken = Vec::new();
        while let Some(id) = todo.pop() {
            let Some(object) = self.objects.remove(&id) else { continue };
            todo.extend(self.inside(&id));
            if !taken.is_empty() {
                self.gone_outside.insert(id.clone());
            }
            taken.push((id, object));
        }
        taken
    }

    fn inside(&self, id: &str) -> Vec<String> {
        let is_inside =
            |object: &CloudObject| object.inputs.get("inside").and_then(Value::as_str) == Some(id);
        self.objects.iter().filter(|(_, object)| is_inside(object)).map(|(id, _)| id.clone()).collect()
    }

    fn is_protected(&self, id: &str) -> bool {
        self.objects
            .get(id)
            .is_some_and(|object| object.protected || object.retained || object.pin == Pin::Held)
            || self.inside(id).iter().any(|inner| self.is_protected(inner))
    }

    /// Allows an object to become unmanaged: it is retained, or a person said so.
    pub(crate) fn may_leave(&mut self, id: &str) {
        if let Some(object) = self.objects.get_mut(id) {
            object.leaving = true;
        }
    }

    /// Creates an object outside.
    pub(crate) fn make_outside(&mut self, id: String, inputs: Map, outputs: Map) {
        // A record of the object before has values that this one never had; only a look can tell.
        let drifted = !self.gone_outside.insert(id.clone());
        let object = CloudObject { drifted, ..CloudObject::new(inputs, outputs, Ownership::Foreign) };
        self.objects.entry(id).or_insert(object);
    }

    /// Adds the object of a recorded resource.
    pub(crate) fn add_existing(&mut self, id: String, resource: &Resource) {
        let (inputs, outputs) = (revealed(&resource.inputs), revealed(&resource.outputs));
        let (key, copy) = (id.clone(), Some(resource.copy()));
        self.objects
            .insert(id, CloudObject { key, copy, ..CloudObject::new(inputs, outputs, Ownership::Managed) });
    }

    /// Learns the marks of the recorded resources, and the copies of open operations.
    pub(crate) fn learn_marks(&mut self, state: &State) {
        for object in self.objects.values_mut() {
            (object.protected, object.retained) = (false, false);
            object.declared.clear();
            (object.remembered, object.recorded) = (false, None);
        }
        for resource in state.copies() {
            if let Some(object) = id_of(resource).and_then(|id| self.objects.get_mut(id)) {
                object.protected |= resource.prevents_deletion();
                object.retained |= resource.deletion_policy == Some(DeletionPolicy::Retain);
                object.remembered |= resource.pinned;
                object.recorded = Some(resource.ty.clone());
                if resource.pinned && object.pin == Pin::None {
                    let released = self.released_creates.contains(&resource.copy())
                        || self.released_paths.contains(&physical_path(&resource.name, &resource.ty));
                    object.pin = if released { Pin::Released } else { Pin::Held };
                }
            }
        }
        for pending in state.pending() {
            self.subjects.insert(pending.intent.key().to_owned(), pending.intent.copy());
        }
    }

    /// Sets the pin of a resource's object.
    pub(crate) fn pin(&mut self, resource: &Resource, pin: Pin) {
        if let Some(object) = id_of(resource).and_then(|id| self.objects.get_mut(id)) {
            object.pin = pin;
        }
    }

    /// Ends a pin that only the pinfile has.
    pub(crate) fn end_pin_of_file(&mut self, resource: &Resource) {
        let object = id_of(resource).and_then(|id| self.objects.get_mut(id));
        if let Some(object) = object.filter(|object| !object.remembered && object.pin == Pin::Held) {
            object.pin = Pin::None;
        }
    }

    /// Records that a person released the pin of a resource whose create is in doubt.
    pub(crate) fn release_create(&mut self, resource: &Resource) {
        self.released_creates.insert(resource.copy());
    }

    /// Records that the program of a running process pins the resource.
    pub(crate) fn pin_declared(&mut self, process: u64, resource: &Resource) {
        if let Some(object) = id_of(resource).and_then(|id| self.objects.get_mut(id)) {
            object.declared.push(process);
        }
    }

    /// Records that a run read the pinfile.
    pub(crate) fn reads_pinfile(&mut self, process: u64) {
        self.readers.insert(process);
    }

    /// Records that a person edited the pinfile: runs that read it before do not know its content any more.
    pub(crate) fn edits_pinfile(&mut self) {
        self.readers.clear();
    }

    /// Returns true if no person edited the pinfile since the process read it.
    pub(crate) fn knows_pinfile(&self, process: u64) -> bool {
        self.readers.contains(&process)
    }

    /// Records the loss of the pinfile, and of every pin that only the file had.
    pub(crate) fn loses_pinfile(&mut self) {
        let only_there = |object: &&mut CloudObject| !object.remembered;
        self.objects.values_mut().filter(only_there).for_each(|object| object.pin = Pin::None);
    }

    /// Records that a person released all pins.
    pub(crate) fn releases_pins(&mut self) {
        self.objects.values_mut().for_each(|object| object.pin = Pin::Released);
    }

    /// Checks that the recorded state matches the cloud, except for operations recorded as pending. This holds at
    /// every moment.
    pub(crate) fn check_state(&self, state: &State) -> Result<(), Violation> {
        let recorded: BTreeMap<&str, &Resource> =
            state.copies().filter_map(|resource| Some((id_of(resource)?, resource))).collect();
        let open: BTreeSet<&str> = state.pending().map(|pending| pending.intent.key()).collect();
        let at_work: BTreeSet<CopyRef> = state.pending().map(|pending| pending.intent.copy()).collect();
        for (id, object) in self.objects.iter().filter(|(_, object)| object.ownership == Ownership::Managed) {
            match recorded.get(id.as_str()) {
                None if self.elsewhere.contains(id) => {}
                Some(resource) => {
                    let open = at_work.contains(&resource.copy());
                    if !open && !object.drifted && !is_record_of(&resource.inputs, &object.inputs) {
                        let detail =
                            format!("{id} is {:?}, recorded as {:?}", object.inputs, resource.inputs);
                        return Err(violation("state equals the model", detail));
                    }
                }
                None if open.contains(object.key.as_str()) => {}
                None if object.retained || object.leaving => {}
                None => {
                    return Err(violation("no object is lost", format!("{id} exists, but is not recorded")));
                }
            }
        }
        for (id, resource) in recorded {
            let known = self.objects.contains_key(id) || self.gone_outside.contains(id);
            let deleting = state.pending().any(
                |pending| matches!(&pending.intent, Intent::Delete { copy, .. } if *copy == resource.copy()),
            );
            if !known && !deleting {
                let detail =
                    format!("{} is recorded as {id}, which was deleted or never existed", resource.name);
                return Err(violation("state equals the model", detail));
            }
        }
        Ok(())
    }

    /// Checks the recorded state while no process runs, and notes which objects are no longer managed.
    pub(crate) fn check_idle(&mut self, state: &State) -> Result<(), Violation> {
        if let Some(violation) = self.violations.first() {
            return Err(violation.clone());
        }
        self.check_state(state)?;
        let recorded: BTreeSet<&str> = state.copies().filter_map(id_of).collect();
        let open: BTreeSet<&str> = state.pending().map(|pending| pending.intent.key()).collect();
        for (id, object) in &mut self.objects {
            let known = recorded.contains(id.as_str())
                || open.contains(object.key.as_str())
                || self.elsewhere.contains(id);
            match object.ownership {
                Ownership::Managed if !known => object.ownership = Ownership::Unmanaged,
                Ownership::Managed => {}
                Ownership::Unmanaged | Ownership::Foreign => object.copy = None,
            }
        }
        for resource in state.copies() {
            if let Some(object) = id_of(resource).and_then(|id| self.objects.get_mut(id)) {
                (object.ownership, object.leaving) = (Ownership::Managed, false);
                object.drifted &= !is_record_of(&resource.inputs, &object.inputs);
            }
        }
        self.learn_marks(state);
        Ok(())
    }

    /// Checks that program, state and cloud agree after the final runs.
    pub(crate) fn check_converged(&mut self, state: &State, graph: &Graph) -> Result<(), Violation> {
        self.check_idle(state)?;
        let lost = |detail: String| Err(violation("state equals the model after convergence", detail));
        if let Some(pending) = state.pending().next() {
            return lost(format!("operation {} never ended", pending.op));
        }
        let managed = |(id, object): &(&String, &CloudObject)| {
            object.ownership == Ownership::Managed && !self.elsewhere.contains(*id)
        };
        let managed = self.objects.iter().filter(managed).count();
        let (declared, recorded) = (graph.nodes.len(), state.copies().count());
        if recorded != declared || managed != declared {
            return lost(format!("declared {declared}, recorded {recorded}, existing {managed}"));
        }
        for node in &graph.nodes {
            let Some(resource) = state.by_name(&node.name) else {
                return lost(format!("{} is declared, but not recorded", node.name));
            };
            let Some(object) = id_of(resource).and_then(|id| self.objects.get(id)) else {
                return lost(format!("{} is recorded, but does not exist", node.name));
            };
            if !is_record_of(&resource.inputs, &object.inputs) || resource.lifecycle != Lifecycle::Live {
                return lost(format!("{} differs from its record", node.name));
            }
            if resource.prevent_delete != (node.options.prevent_delete == Some(true))
                || resource.deletion_policy != node.options.deletion_policy
            {
                return lost(format!("the marks of {} are not as declared", node.name));
            }
            if resource.pinned != (node.options.pinned == Some(true)) {
                return lost(format!("the pin of {} is not as declared", node.name));
            }
            for (key, input) in &node.inputs {
                let ignored = key == "size" && !node.options.ignore_changes.is_empty();
                let (wanted, recorded) = (input.as_known(), resource.inputs.get(key));
                if !ignored && wanted.is_some() && wanted != recorded {
                    let name = &node.name;
                    return lost(format!(
                        "`{key}` of {name} is declared as {wanted:?} and recorded as {recorded:?}"
                    ));
                }
            }
        }
        Ok(())
    }
}

fn id_of(resource: &Resource) -> Option<&str> {
    resource.id.as_ref().map(|id| id.as_str())
}
