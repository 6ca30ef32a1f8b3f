//! Frozen values: those of the pinfile replace those of the program, and generated ones are added to the pinfile.
//!
//! **Invariant:** a generated value is frozen for its own environment only. No environment gets the name of a resource of
//! another one.

use std::collections::HashSet;

use stead_model::{CopyRef, Input, Map, Operation, Resource, Value};
use stead_state::State;

use super::apply::{AppliedPinfile, Leaf, Override, PinfileApplication, Types};
use super::file::{EntryStatus, PinEntry, Section};
use super::path::physical_path;
use super::problems;
use super::section::Pins;

impl<'a> PinfileApplication<'a> {
    /// Replaces the program's values with those of the entry.
    pub(super) fn freeze(&mut self, leaf: &Leaf, entry: &PinEntry) {
        let old = self.record(leaf, entry.original_path.as_deref());
        let node = &mut self.graph.nodes[leaf.id.index()];
        let mut identity_differs = false;
        let identity = self.types.identity(&node.ty).unwrap_or_default();
        for (property, value) in entry.frozen_in(&self.pins.environment) {
            let program = node.inputs.get(&property).cloned();
            let in_force = || old.is_some_and(|old| old.property(&property) == Some(&value));
            match &program {
                Some(Input::Known(known)) if *known == value => continue,
                Some(Input::Known(_)) => {}
                // The record has the name that the provider chose, or that another resource supplied: the property stays unset,
                // or keeps its source, and the guard sees a change of it.
                _ if in_force() => continue,
                _ => {}
            }
            node.inputs.insert(property.clone(), Input::Known(value.clone()));
            node.options.frozen.push(property.to_string());
            identity_differs |= identity.iter().any(|known| property == *known);
            let (node, path, property) = (leaf.id, leaf.path.clone(), property.to_string());
            self.overrides.push(Override { node, path, property, value, program });
        }
        let of_this_environment = entry.environments.contains_key(&self.pins.environment.to_string());
        let is_certain = of_this_environment || self.pins.is_environment_specific();
        let exists = self.state.is_none_or(|state| self.is_recorded(state, leaf, entry));
        if identity_differs && !exists && !is_certain {
            let name = &self.graph.nodes[leaf.id.index()].name;
            self.warnings.push(problems::frozen_before_created(&self.pins, name, &leaf.path));
        }
    }

    /// Sets identity properties that the program does not set to their recorded values. A name that the provider
    /// generates from the name of the resource would otherwise change when the resource is renamed.
    pub(super) fn keep_generated(&mut self, leaf: &Leaf, original: Option<&str>) {
        let Some(old) = self.record(leaf, original) else { return };
        let node = &mut self.graph.nodes[leaf.id.index()];
        for property in self.types.identity(&node.ty).unwrap_or_default() {
            if let (None, Some(value)) = (node.inputs.get(&property), old.inputs.get(&property)) {
                node.inputs.insert(property, Input::Known(value.clone()));
            }
        }
    }

    /// Notes a pin for [`complete`](AppliedPinfile::complete) if a value that identifies its resource is not frozen.
    pub(super) fn note_unfrozen(&mut self, leaf: &Leaf) {
        let node = &self.graph.nodes[leaf.id.index()];
        let Some(entry) = self.pins.entry(&leaf.path) else { return };
        let frozen = entry.frozen_in(&self.pins.environment);
        let identity = self.types.identity(&node.ty).unwrap_or_default();
        if identity.iter().any(|property| !frozen.contains_key(property.as_str())) {
            self.unfrozen.push((node.name.clone(), leaf.path.clone()));
        }
    }

    /// Returns the recorded resource of a leaf, under its name or under a former path.
    fn record(&self, leaf: &Leaf, original: Option<&str>) -> Option<&'a Resource> {
        let node = &self.graph.nodes[leaf.id.index()];
        let named = self.state.and_then(|state| state.by_name(&node.name));
        let paths = || original.into_iter().chain(node.options.moved_from.as_deref());
        let moved = || paths().find_map(|path| self.recorded.get(path).copied());
        named.or_else(moved).filter(|old| old.ty == node.ty)
    }
}

impl AppliedPinfile {
    /// Adds the identity values that are known only after a run: generated names, and values that other resources provide.
    ///
    /// In a section that several environments share they are frozen for this environment alone.
    pub fn complete(&mut self, state: &State, types: &dyn Types) {
        for (name, path) in &self.unfrozen {
            let Some(created) = state.by_name(name) else { continue };
            let frozen = self.pins.entry(path).map(|entry| entry.frozen_in(&self.pins.environment));
            let frozen = frozen.unwrap_or_default();
            for (property, value) in identity_attributes(created, types) {
                if !frozen.contains_key(&property) {
                    self.pins.freeze(path, property.to_string(), value);
                }
            }
        }
    }

    /// Returns true if [`complete`](AppliedPinfile::complete) may add values.
    pub fn wants_completion(&self) -> bool {
        !self.unfrozen.is_empty()
    }
}

/// Returns the identity properties of a recorded resource.
pub fn identity_attributes(resource: &Resource, types: &dyn Types) -> Map {
    let identity = types.identity(&resource.ty).unwrap_or_default();
    let value = |name: &String| Some((name.clone(), resource.property(name)?.clone()));
    // A pinfile holds no secret.
    let frozen = |(_, value): &(String, Value)| *value != Value::Null && !value.has_secrets();
    identity.iter().filter_map(value).filter(frozen).collect()
}

/// Returns entries for all pinned resources in state, to restore a lost pinfile.
///
/// Resources with a pending deletion are left out: the deletion was permitted and may already have happened. In a section
/// that several environments share, a value that may have been generated is restored for this environment alone.
pub fn entries_from_state(state: &State, pins: &Pins, types: &dyn Types) -> Section {
    let being_deleted: HashSet<CopyRef> = state
        .pending()
        .filter(|pending| pending.intent.operation() == Operation::Delete)
        .map(|pending| pending.intent.copy())
        .collect();
    let pinned = state.resources().into_iter().filter(|resource| resource.pinned);
    let pinned = pinned.filter(|resource| !being_deleted.contains(&resource.copy()));
    let current = pinned.filter(|resource| {
        state.current(&resource.uid).is_some_and(|current| current.copy() == resource.copy())
    });
    let entry = |resource: &Resource| {
        let path = physical_path(&resource.name, &resource.ty);
        let is_generated = |property: &str| {
            types.is_filled_in(&resource.ty, property)
                || resource.property_dependencies.contains_key(property)
        };
        let identity = identity_attributes(resource, types).into_iter();
        let (own, attributes): (Map, Map) =
            identity.partition(|(property, _)| is_generated(property) && !pins.is_environment_specific());
        let mut entry = PinEntry { attributes, ..PinEntry::new(resource.ty.clone(), EntryStatus::Pinned) };
        if !own.is_empty() {
            entry.environments.insert(pins.environment.to_string(), own);
        }
        (path, entry)
    };
    current.map(entry).collect()
}
