//! The oracles of a cloud life: the inventory of the cloud against the declared program and the recorded state.

use std::collections::{BTreeMap, BTreeSet};

use stead_cloud::ResourceName;
use stead_engine::Doubtful;
use stead_engine::ops::{Access, Look, PlanRequest};
use stead_model::{Lifecycle, Map, Value};
use stead_plan::{MovePolicy, Request};
use stead_state::{Intent, State};

use super::kind::{Kind, tag};
use super::outside::THEIR_TAG;
use super::program::{Declared, Keeping, reference};
use super::{CloudLife, RunFaults, questions};
use crate::life::operate::DeclaredGraph;
use crate::oracle::snapshots::{SnapshotScope, check};

/// Full models of real resources, by type and number.
type Models = BTreeMap<(String, u64), Map>;

impl CloudLife {
    /// Returns the real resources that the stack made, with their numbers.
    pub(super) fn ours(&self) -> Result<Vec<(ResourceName, u64)>, String> {
        let mut ours = Vec::new();
        for name in self.cloud.resources().map_err(|error| error.to_string())? {
            let Some(kind) = Kind::of(&name.type_name).filter(|_| !self.foreign.contains_key(&name)) else {
                continue;
            };
            let number = self.model(&name)?.and_then(|model| kind.number(&model));
            ours.extend(number.map(|number| (name, number)));
        }
        Ok(ours)
    }

    pub(super) fn model(&self, name: &ResourceName) -> Result<Option<Map>, String> {
        self.cloud.model(name).map_err(|error| error.to_string())
    }

    /// Forgets the protection of resources that the program does not protect any more: the run that starts now may delete them.
    pub(super) fn unguard(&mut self) {
        let Ok(ours) = self.ours() else { return };
        for (name, number) in ours {
            if self.program.get(number).is_some_and(|declared| declared.keeping == Keeping::No) {
                self.guarded.remove(&name);
            }
        }
    }

    /// Notes which real resources a successful run left protected or retained.
    pub(super) fn guard(&mut self) {
        let Ok(ours) = self.ours() else { return };
        for (name, number) in ours {
            if self.program.get(number).is_some_and(|declared| declared.keeping != Keeping::No) {
                self.guarded.insert(name);
            }
        }
    }

    /// Checks everything that must hold after any act, whatever failed in it.
    pub(super) async fn check(&mut self) -> Result<(), String> {
        check(&self.disk, SnapshotScope::All)
            .map_err(|violation| format!("{}: {}", violation.oracle, violation.detail))?;
        for (name, model) in &self.foreign {
            if self.model(name)?.as_ref() != Some(model) {
                return Err(format!("nobody else's resource is touched: {}", shown(name)));
            }
        }
        for name in &self.guarded {
            if self.model(name)?.is_none() {
                return Err(format!("no protected or retained resource is deleted: {}", shown(name)));
            }
        }
        for (name, key) in &self.foreign_tags {
            let Some(model) = self.model(name)? else { continue };
            let tags = Kind::of(&name.type_name).and_then(Kind::tags).and_then(|tags| model.get(tags));
            if tags.and_then(|tags| tag(tags, key)).is_none() {
                return Err(format!("nobody else's tag is removed: {}", shown(name)));
            }
        }
        let actor = self.actor(RunFaults::default());
        let (loaded, doubtful) = questions(&actor.workspace).await?;
        actor.process.end(&self.disk);
        // An ephemeral value is kept nowhere, so that only the program can send it again. A token needs no value.
        let answered = |doubtful: &&Doubtful| doubtful.lacks.is_none() || doubtful.pending.token.is_some();
        if let Some(question) = doubtful.iter().find(answered) {
            return Err(format!("no question that a token could answer: {}", question.name));
        }
        self.check_records(&loaded)
    }

    /// Checks that a run that read nothing left a value that was set outside.
    pub(super) fn check_drift(&self) -> Result<(), String> {
        let Some((name, property, value)) = &self.drifted else { return Ok(()) };
        match self.model(name)? {
            Some(model) if model.get(*property) != Some(value) => {
                Err(format!("no change from outside is overwritten unseen: {property} of {}", shown(name)))
            }
            _ => Ok(()),
        }
    }

    /// Returns the number of operations whose outcomes are not recorded.
    pub(super) async fn pending(&mut self) -> Result<usize, String> {
        let actor = self.actor(RunFaults::default());
        let loaded = actor.workspace.load().await.map_err(|error| error.to_string())?;
        actor.process.end(&self.disk);
        Ok(loaded.state.pending().count())
    }

    /// Checks that each real resource has a record, or a pending create that may have made it.
    fn check_records(&self, state: &State) -> Result<(), String> {
        let mut creates: BTreeMap<String, usize> = BTreeMap::new();
        for pending in state.pending() {
            if let Intent::Create { resource, .. } = &pending.intent {
                *creates.entry(resource.name.to_string()).or_default() += 1;
            }
        }
        for (name, declared) in self.all_unrecorded(state)? {
            match creates.get_mut(&declared).filter(|left| **left > 0) {
                Some(left) => *left -= 1,
                None => return Err(format!("each real resource has a record: {}", shown(&name))),
            }
        }
        let mut ids: BTreeMap<(&str, &str), &str> = BTreeMap::new();
        for copy in state.copies() {
            let Some(id) = &copy.id else { continue };
            if ids.insert((&copy.ty.0, id.as_str()), copy.uid.0.as_str()).is_some() {
                return Err(format!("no two records have one resource: {} {id}", copy.ty));
            }
        }
        Ok(())
    }

    /// Returns the real resources without a record, with the names that they are declared by.
    fn all_unrecorded(&self, state: &State) -> Result<Vec<(ResourceName, String)>, String> {
        let recorded = state.copies().filter_map(|copy| Some((copy.ty.as_str(), copy.id.as_ref()?.as_str())));
        let retained = state.retained().map(|retained| (retained.resource.as_str(), retained.id.as_str()));
        let known: BTreeSet<(&str, &str)> = recorded.chain(retained).collect();
        let mut unrecorded = Vec::new();
        for (name, number) in self.ours()? {
            let Some(kind) = Kind::of(&name.type_name) else { continue };
            if !known.contains(&(kind.token(), name.identifier.as_str())) {
                unrecorded.push((name, format!("dev:main:{}#r{number}", kind.token())));
            }
        }
        Ok(unrecorded)
    }

    /// Returns the identifier of a real resource without a record that is declared by this name.
    pub(super) fn unrecorded(&self, state: &State, declared: &str) -> Result<Option<String>, String> {
        let found = self.all_unrecorded(state)?.into_iter().find(|(_, name)| name == declared);
        Ok(found.map(|(name, _)| name.identifier))
    }

    /// Checks everything that must hold after a successful run that read all resources.
    pub(super) async fn check_converged(&mut self) -> Result<(), String> {
        let actor = self.actor(RunFaults::default());
        let loaded = actor.workspace.load().await.map_err(|error| error.to_string())?;
        let state = loaded.state;
        if state.pending().count() > 0 {
            return Err("no operation is left open".to_owned());
        }
        let retained: Vec<&str> = state.retained().map(|retained| retained.id.as_str()).collect();
        let (mut real, mut models): (BTreeMap<u64, Vec<ResourceName>>, _) = (BTreeMap::new(), Models::new());
        for (name, number) in self.ours()? {
            models.insert((name.type_name.clone(), number), self.model(&name)?.unwrap_or_default());
            if !retained.contains(&name.identifier.as_str()) {
                real.entry(number).or_default().push(name);
            }
        }
        for declared in &self.program.resources {
            let number = declared.knobs.number;
            match real.remove(&number).as_deref() {
                Some([name]) => self.check_one(declared, name, &state, &models)?,
                found => {
                    return Err(format!(
                        "each declared resource exists once: {}: {found:?}",
                        declared.name()
                    ));
                }
            }
        }
        if let Some((number, names)) = real.first_key_value() {
            return Err(format!("nothing that is not declared is left: r{number}: {names:?}"));
        }
        let request = PlanRequest {
            look: Look::All,
            access: Access::ReadOnly,
            ..PlanRequest::up(Request { moves: MovePolicy::Refuse, ..Request::default() })
        };
        let graph = DeclaredGraph(self.program.graph()?);
        let proposal =
            actor.workspace.preview(&graph, request, &mut |_| ()).await.map_err(|error| error.to_string())?;
        actor.process.end(&self.disk);
        match proposal.is_empty() {
            true => Ok(()),
            false => Err(format!(
                "a plan after convergence is empty: {:?} {:?}",
                proposal.plan().steps.first(),
                proposal.drift()
            )),
        }
    }

    /// Checks that a real resource has every declared value, and the mark of its record.
    fn check_one(
        &self,
        declared: &Declared,
        name: &ResourceName,
        state: &State,
        models: &Models,
    ) -> Result<(), String> {
        let model = self.model(name)?.unwrap_or_default();
        for (property, value) in declared.inputs() {
            let want = self.resolved(value, models);
            let mut found = model.get(property.as_ref()).cloned().unwrap_or_default();
            if Some(property.as_ref()) == declared.kind.tags() {
                found = without_others(found);
            }
            if found != want {
                return Err(format!(
                    "each resource is as declared: {} has {property} {} instead of {}",
                    declared.name(),
                    found.to_json(),
                    want.to_json()
                ));
            }
        }
        let record = state
            .copies()
            .find(|copy| copy.lifecycle == Lifecycle::Live && copy.name.to_string() == declared.name());
        let Some(record) =
            record.filter(|record| record.id.as_ref().is_some_and(|id| id.as_str() == name.identifier))
        else {
            return Err(format!("the record of {} has the id {}", declared.name(), name.identifier));
        };
        if let Some(tags) = declared.kind.tags() {
            let mark = model.get(tags).and_then(|tags| tag(tags, "stead:uid"));
            if mark != Some(record.uid.0.as_str()) {
                return Err(format!(
                    "each resource has the mark of its record: {}: {mark:?}",
                    declared.name()
                ));
            }
        }
        Ok(())
    }

    /// Replaces references by the values of the real resources.
    fn resolved(&self, value: Value, models: &Models) -> Value {
        match value {
            Value::Map(map) => {
                let member = |(key, value)| (key, self.resolved(value, models));
                Value::Map(map.into_iter().map(member).collect())
            }
            Value::List(items) => items.into_iter().map(|item| self.resolved(item, models)).collect(),
            value => match value.as_str().and_then(reference) {
                Some((number, property)) => {
                    let kind = self.program.get(number).map(|declared| declared.kind.type_name().to_owned());
                    let model = kind.and_then(|kind| models.get(&(kind, number)));
                    model.and_then(|model| model.get(property)).cloned().unwrap_or_default()
                }
                None => value,
            },
        }
    }
}

/// Returns the tags without the owner's mark and those of other tools, which belong to nobody's program.
fn without_others(tags: Value) -> Value {
    let is_other = |tag: &Value| {
        let key = tag.as_map().and_then(|tag| tag.get("Key")).and_then(Value::as_str);
        key.is_some_and(|key| key.starts_with("stead:") || key == THEIR_TAG)
    };
    match tags {
        Value::List(tags) => tags.into_iter().filter(|tag| !is_other(tag)).collect(),
        other => other,
    }
}

fn shown(name: &ResourceName) -> String {
    format!("{} {}", name.type_name, name.identifier)
}
