//! The reference model: what exists, what state must say of it, and what was allowed. Written from the design, not
//! from the engine; it knows nothing of plans, journals or epochs.
//!
//! The cloud is kept here, so that every change of it passes by. What must never happen becomes a violation at
//! once; whether state tells the truth is asked whenever nobody is at work.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use stead_model::{CopyRef, DeletionPolicy, Graph, Lifecycle, Map, Resource, TypeToken, Value};
use stead_state::{Intent, State};

/// Who a real thing belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Standing {
    /// Made by a run: state knows it until it is deleted.
    Managed,
    /// Left alone on purpose: retained, or forgotten by a person.
    LetGo,
    /// Somebody made it outside.
    Foreign,
}

/// Whether a thing is to stay.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Pin {
    #[default]
    None,
    Held,
    /// A person took its entry out of the pinfile: it may go.
    Released,
}

/// A thing in the cloud.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Thing {
    pub key: String,
    pub copy: Option<CopyRef>,
    pub inputs: Map,
    pub outputs: Map,
    pub standing: Standing,
    /// The marks that state has for it.
    pub protected: bool,
    pub retained: bool,
    pub pin: Pin,
    /// State has the pin, too.
    pub remembered: bool,
    /// The processes that have runs under way whose programs pin it.
    pub declared: Vec<u64>,
    /// The type under which state had it when somebody last looked.
    pub recorded: Option<TypeToken>,
    /// It was changed outside: state may be wrong about it until somebody looks.
    pub drifted: bool,
    /// A run or a person was about to let it go.
    pub leaving: bool,
}

impl Thing {
    /// One that nobody has marked or touched yet.
    fn new(inputs: Map, outputs: Map, standing: Standing) -> Thing {
        Thing {
            key: String::new(),
            copy: None,
            inputs,
            outputs,
            standing,
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

#[derive(Default)]
pub(crate) struct Model {
    pub things: BTreeMap<String, Thing>,
    /// What each idempotency key made. A cloud remembers them.
    made: HashMap<String, String>,
    /// The processes whose runs have read the pinfile since a person edited it.
    readers: HashSet<u64>,
    /// Which copy an operation is about, by its key.
    subjects: HashMap<String, CopyRef>,
    /// Ids of what is gone without a run having been told so.
    gone_outside: BTreeSet<String>,
    /// Processes that have had the stack open, and the number of the last run of each.
    writers: BTreeMap<u64, u64>,
    pub violations: Vec<Loss>,
    /// Somebody reads state whenever something is asked for or done.
    pub watched: bool,
    pub serial: i64,
    /// The ids of what is to stay by what is written today, for who is about to finish what an earlier run began.
    pub kept: HashMap<u64, BTreeSet<String>>,
    /// The ids of what runs that are under way are about to delete: a pin that is put back now comes too late.
    pub doomed: HashSet<String>,
    /// The ids of what another stack of the project has.
    pub elsewhere: BTreeSet<String>,
}

/// What makes a life a loss, and which promise was broken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loss {
    /// The promise, always in the same words: a life is shrunk as long as it breaks this one.
    pub oracle: &'static str,
    pub what: String,
}

pub(crate) fn loss(oracle: &'static str, what: impl Into<String>) -> Loss {
    Loss { oracle, what: what.into() }
}

impl Model {
    /// A process was given the stack for a run. Runs are numbered; whoever has an older one is fenced.
    pub(crate) fn opened(&mut self, process: u64, run: u64) {
        self.writers.insert(process, run);
    }

    fn is_fenced(&self, process: u64) -> bool {
        let own = self.writers.get(&process);
        own.is_some_and(|own| self.writers.values().any(|run| run > own))
    }

    /// A provider is asked to change something. `durable`: whether the intent was on the disk by then.
    pub(crate) fn asked(&mut self, process: u64, key: &str, about: Option<CopyRef>, durable: bool) {
        if !durable {
            self.violations.push(loss("no change without a durable intent", key));
        }
        if self.is_fenced(process) {
            self.violations.push(loss("a fenced writer changes nothing", key));
        }
        if let Some(copy) = about {
            self.subjects.insert(key.to_owned(), copy);
        }
    }

    /// The thing that a key made, made now if it was not before. A key that was used makes nothing again.
    pub(crate) fn create(&mut self, key: &str, id: String, inputs: &Map, outputs: impl FnOnce(i64) -> Map) {
        if let Some(id) = self.made.get(key) {
            // Half of it may have been made: the rest follows.
            if let Some(thing) = self.things.get_mut(id).filter(|thing| !thing.drifted) {
                thing.inputs.clone_from(inputs);
            }
            return;
        }
        self.made.insert(key.to_owned(), id.clone());
        self.serial += 1;
        let copy = self.subjects.get(key).cloned();
        let twin = |thing: &&Thing| copy.is_some() && thing.copy == copy;
        if let Some(twin) = self.things.values().find(twin) {
            let what = format!("{key} and {} are the same copy of one resource", twin.key);
            self.violations.push(loss("one live thing for each resource and generation", what));
        }
        // What is made in something that is gone is gone with it.
        let container = inputs.get("inside").and_then(Value::as_str);
        if container.is_some_and(|container| !self.things.contains_key(container)) {
            self.gone_outside.insert(id);
            return;
        }
        let thing = Thing {
            key: key.to_owned(),
            copy,
            ..Thing::new(inputs.clone(), outputs(self.serial), Standing::Managed)
        };
        self.things.insert(id, thing);
    }

    /// The id of what a key made, be it gone since or not.
    pub(crate) fn made(&self, key: &str) -> Option<&String> {
        self.made.get(key)
    }

    /// The thing of another resource of the type that was on record when the run began. Of one that is not, and of an
    /// older copy, nobody could tell that it is not what was made.
    pub(crate) fn another_recorded(&self, key: &str, resource: &TypeToken) -> Option<String> {
        let own = &self.subjects.get(key)?.uid;
        let other = |(_, thing): &(&String, &Thing)| {
            let anothers = thing.copy.as_ref().is_some_and(|copy| copy.uid != *own);
            thing.recorded.as_ref() == Some(resource) && anothers
        };
        self.things.iter().find(other).map(|(id, _)| id.clone())
    }

    /// How many things were ever made.
    pub(crate) fn count_made(&self) -> usize {
        self.made.len()
    }

    /// A run deletes a thing, and everything in it goes too.
    pub(crate) fn delete(&mut self, process: u64, id: &str) {
        for (id, thing) in self.take(id) {
            if thing.protected {
                self.violations.push(loss("nothing protected is deleted", id.clone()));
            }
            if thing.retained {
                self.violations.push(loss("nothing retained is deleted", id.clone()));
            }
            if self.kept.get(&process).is_some_and(|kept| kept.contains(&id)) {
                self.violations.push(loss("what is to stay by now is not deleted", id.clone()));
            }
            if thing.pin == Pin::Held || thing.declared.contains(&process) {
                self.violations.push(loss("nothing pinned is deleted", id.clone()));
            }
        }
    }

    /// Somebody outside deletes a thing, with everything in it, unless something in it is protected: people are
    /// careful too, and what they break is not ours to keep.
    pub(crate) fn delete_outside(&mut self, id: &str) {
        if !self.is_protected(id) {
            let gone = self.take(id);
            self.gone_outside.extend(gone.into_iter().map(|(id, _)| id));
        }
    }

    fn take(&mut self, id: &str) -> Vec<(String, Thing)> {
        let mut todo = vec![id.to_owned()];
        let mut taken = Vec::new();
        while let Some(id) = todo.pop() {
            let Some(thing) = self.things.remove(&id) else { continue };
            todo.extend(self.inside(&id));
            if !taken.is_empty() {
                self.gone_outside.insert(id.clone());
            }
            taken.push((id, thing));
        }
        taken
    }

    fn inside(&self, id: &str) -> Vec<String> {
        let is_inside = |thing: &Thing| thing.inputs.get("inside").and_then(Value::as_str) == Some(id);
        self.things.iter().filter(|(_, thing)| is_inside(thing)).map(|(id, _)| id.clone()).collect()
    }

    fn is_protected(&self, id: &str) -> bool {
        self.things.get(id).is_some_and(|thing| thing.protected || thing.retained || thing.pin == Pin::Held)
            || self.inside(id).iter().any(|inner| self.is_protected(inner))
    }

    /// A thing may be lost sight of from now on: its policy is to retain it, or a person said so.
    pub(crate) fn may_leave(&mut self, id: &str) {
        if let Some(thing) = self.things.get_mut(id) {
            thing.leaving = true;
        }
    }

    /// Somebody makes a thing outside.
    pub(crate) fn make_outside(&mut self, id: String, inputs: Map, outputs: Map) {
        let thing = Thing::new(inputs, outputs, Standing::Foreign);
        self.gone_outside.insert(id.clone());
        self.things.entry(id).or_insert(thing);
    }

    /// What a record is about has been there for long.
    pub(crate) fn was_there(&mut self, id: String, resource: &Resource) {
        let (inputs, outputs) = (resource.inputs.clone(), resource.outputs.clone());
        let (key, copy) = (id.clone(), Some(resource.copy()));
        self.things.insert(id, Thing { key, copy, ..Thing::new(inputs, outputs, Standing::Managed) });
    }

    /// Takes the marks over that state has for things, and what its open operations are about.
    pub(crate) fn learn(&mut self, state: &State) {
        for thing in self.things.values_mut() {
            (thing.protected, thing.retained) = (false, false);
            thing.declared.clear();
            (thing.remembered, thing.recorded) = (false, None);
        }
        for resource in state.copies() {
            if let Some(thing) = id_of(resource).and_then(|id| self.things.get_mut(id)) {
                thing.protected |= resource.prevents_deletion();
                thing.retained |= resource.deletion_policy == Some(DeletionPolicy::Retain);
                thing.remembered |= resource.pinned;
                thing.recorded = Some(resource.ty.clone());
                if resource.pinned && thing.pin == Pin::None {
                    thing.pin = Pin::Held;
                }
            }
        }
        for pending in state.pending() {
            self.subjects.insert(pending.intent.key().to_owned(), pending.intent.copy());
        }
    }

    /// The pin of what a record is about.
    pub(crate) fn pin(&mut self, resource: &Resource, pin: Pin) {
        if let Some(thing) = id_of(resource).and_then(|id| self.things.get_mut(id)) {
            thing.pin = pin;
        }
    }

    /// A run begins whose program pins what a record is about.
    pub(crate) fn declares(&mut self, process: u64, resource: &Resource) {
        if let Some(thing) = id_of(resource).and_then(|id| self.things.get_mut(id)) {
            thing.declared.push(process);
        }
    }

    /// A run reads the pinfile.
    pub(crate) fn reads_pinfile(&mut self, process: u64) {
        self.readers.insert(process);
    }

    /// A person edits the pinfile: what a run that has read it wrote there is not what it has then.
    pub(crate) fn edits_pinfile(&mut self) {
        self.readers.clear();
    }

    /// Whether the pinfile is as the runs left it, since this one read it.
    pub(crate) fn knows_pinfile(&self, process: u64) -> bool {
        self.readers.contains(&process)
    }

    /// The pinfile is gone, and with it every pin that only it had.
    pub(crate) fn loses_pinfile(&mut self) {
        let only_there = |thing: &&mut Thing| !thing.remembered;
        self.things.values_mut().filter(only_there).for_each(|thing| thing.pin = Pin::None);
    }

    /// A person lets everything go that is pinned, or will turn out to be.
    pub(crate) fn releases_pins(&mut self) {
        self.things.values_mut().for_each(|thing| thing.pin = Pin::Released);
    }

    /// Does state tell the truth? It may not know an end yet, but it knows that it does not. That holds at any moment,
    /// for who might read it then.
    pub(crate) fn truth(&self, state: &State) -> Result<(), Loss> {
        let recorded: BTreeMap<&str, &Resource> =
            state.copies().filter_map(|resource| Some((id_of(resource)?, resource))).collect();
        let open: BTreeSet<&str> = state.pending().map(|pending| pending.intent.key()).collect();
        let at_work: BTreeSet<CopyRef> = state.pending().map(|pending| pending.intent.copy()).collect();
        for (id, thing) in self.things.iter().filter(|(_, thing)| thing.standing == Standing::Managed) {
            match recorded.get(id.as_str()) {
                None if self.elsewhere.contains(id) => {}
                Some(resource) => {
                    let open = at_work.contains(&resource.copy());
                    if !open && !thing.drifted && thing.inputs != resource.inputs {
                        let what = format!("{id} is {:?}, recorded as {:?}", thing.inputs, resource.inputs);
                        return Err(loss("state equals the model", what));
                    }
                }
                None if open.contains(thing.key.as_str()) => {}
                None if thing.retained || thing.leaving => {}
                None => {
                    return Err(loss("nothing is lost", format!("{id} exists, and state does not know it")));
                }
            }
        }
        for (id, resource) in recorded {
            let known = self.things.contains_key(id) || self.gone_outside.contains(id);
            let deleting = state.pending().any(
                |pending| matches!(&pending.intent, Intent::Delete { copy, .. } if *copy == resource.copy()),
            );
            if !known && !deleting {
                let what = format!("{} is recorded as {id}, which is deleted or never was", resource.name);
                return Err(loss("state equals the model", what));
            }
        }
        Ok(())
    }

    /// Nobody is at work: state tells the truth, and what nobody manages any more has been let go.
    pub(crate) fn quiet(&mut self, state: &State) -> Result<(), Loss> {
        if let Some(violation) = self.violations.first() {
            return Err(violation.clone());
        }
        self.truth(state)?;
        let recorded: BTreeSet<&str> = state.copies().filter_map(id_of).collect();
        let open: BTreeSet<&str> = state.pending().map(|pending| pending.intent.key()).collect();
        for (id, thing) in &mut self.things {
            let known = recorded.contains(id.as_str())
                || open.contains(thing.key.as_str())
                || self.elsewhere.contains(id);
            match thing.standing {
                Standing::Managed if !known => thing.standing = Standing::LetGo,
                Standing::Managed => {}
                Standing::LetGo | Standing::Foreign => thing.copy = None,
            }
        }
        for resource in state.copies() {
            if let Some(thing) = id_of(resource).and_then(|id| self.things.get_mut(id)) {
                (thing.standing, thing.leaving) = (Standing::Managed, false);
                thing.drifted &= thing.inputs != resource.inputs;
            }
        }
        self.learn(state);
        Ok(())
    }

    /// Everything has come to rest after calm runs: program, state and cloud say the same.
    pub(crate) fn at_rest(&mut self, state: &State, graph: &Graph) -> Result<(), Loss> {
        self.quiet(state)?;
        let lost = |what: String| Err(loss("state equals the model at rest", what));
        if let Some(pending) = state.pending().next() {
            return lost(format!("operation {} never ended", pending.op));
        }
        let managed = |(id, thing): &(&String, &Thing)| {
            thing.standing == Standing::Managed && !self.elsewhere.contains(*id)
        };
        let managed = self.things.iter().filter(managed).count();
        let (declared, recorded) = (graph.nodes.len(), state.copies().count());
        if recorded != declared || managed != declared {
            return lost(format!("declared {declared}, recorded {recorded}, real {managed}"));
        }
        for node in &graph.nodes {
            let Some(resource) = state.by_name(&node.name) else {
                return lost(format!("{} is declared and not recorded", node.name));
            };
            let Some(thing) = id_of(resource).and_then(|id| self.things.get(id)) else {
                return lost(format!("{} is recorded and not real", node.name));
            };
            if thing.inputs != resource.inputs || resource.lifecycle != Lifecycle::Live {
                return lost(format!("{} is recorded otherwise than it is", node.name));
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
                let differs = |wanted: &Value| Some(wanted) != resource.inputs.get(key);
                if !ignored && input.as_known().is_some_and(differs) {
                    return lost(format!("`{key}` of {} is not as declared", node.name));
                }
            }
        }
        Ok(())
    }
}

fn id_of(resource: &Resource) -> Option<&str> {
    resource.id.as_ref().map(|id| id.as_str())
}
