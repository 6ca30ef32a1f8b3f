//! A stack that exists before a life begins: a random state that satisfies every rule, and the cloud objects it
//! records.
//!
//! Successful runs rarely leave such states: old copies, replacements in progress, objects deleted outside.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use stead_journal::Takeover;
use stead_model::{
    CopyRef, Expr, Generation, Graph, Input, Lifecycle, Map, Name, NodeId, PhysicalId, Resource, StackId,
    Ties, Uid, Value,
};
use stead_state::{Snapshot, verify};

use crate::Rng;
use crate::life::operate::CommandError;
use crate::life::program::Program;
use crate::secret::{numbered, revealed};
use crate::world::cloud::outputs;
use crate::world::site::Actor;

/// The stack that exists before the first command.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct InitialStack {
    /// Program that was applied.
    pub program: Program,
    /// Resources with an additional old copy.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub left_over: Vec<String>,
    /// Resources whose object was deleted and is about to be created again.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub replacing: Vec<String>,
    /// Resources whose object was deleted outside.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<String>,
}

impl InitialStack {
    /// Draws a stack for a program that is similar to the given one, or unrelated. Returns `None` if the life begins
    /// without a stack.
    pub(crate) fn draw(rng: &mut Rng, program: &Program) -> Option<InitialStack> {
        if !rng.one_in(4) {
            return None;
        }
        let mut before = if rng.one_in(3) { Program::draw(rng) } else { program.clone() };
        for _ in 0..1 + rng.below(6) {
            let edit = before.draw_edit(rng);
            before.apply(&edit);
        }
        let mut some = |n: u64| -> Vec<String> {
            let names = before.resources.iter().map(|(name, _)| name.clone());
            names.filter(|_| rng.one_in(n)).collect()
        };
        let (left_over, replacing, missing) = (some(6), some(16), some(10));
        let start = InitialStack { program: before, left_over, replacing, missing };
        verify(&start.snapshot()).is_empty().then_some(start)
    }

    /// Returns the recorded state.
    fn snapshot(&self) -> Snapshot {
        let graph = self.program.graph();
        let order = graph.order(&graph.edges()).unwrap_or_default();
        let mut made: BTreeMap<NodeId, Resource> = BTreeMap::new();
        for id in order {
            let resource = self.resource(id, &graph, &made);
            made.insert(id, resource);
        }
        let mut snapshot = Snapshot::empty(StackId("start".to_owned()));
        snapshot.uids = made.len() as u64;
        for (id, resource) in made {
            let (name, _) = &self.program.resources[id.index()];
            if self.left_over.contains(name) {
                snapshot.resources.push(Arc::new(old_copy(&resource)));
            }
            snapshot.resources.push(Arc::new(resource));
        }
        snapshot.resources.sort_by(|a, b| a.sort_key().cmp(&b.sort_key()));
        snapshot
    }

    fn resource(&self, id: NodeId, graph: &Graph, made: &BTreeMap<NodeId, Resource>) -> Resource {
        let node = &graph.nodes[id.index()];
        let (own, declared) = &self.program.resources[id.index()];
        let value = |input: &Input| match input {
            Input::Known(value) => Some(value.clone()),
            Input::Deferred(expr) => match graph.exprs.get(*expr)? {
                Expr::Property { node, property } => made.get(node)?.outputs.get(property).cloned(),
                Expr::Secret { .. } => declared.password.map(|number| Value::secret(numbered(number).into())),
                _ => None,
            },
            Input::List(_) | Input::Map(_) => None,
        };
        let value = |input: &Input| value(input).unwrap_or_default();
        let inputs: Map = node.inputs.iter().map(|(key, input)| (key.clone(), value(input))).collect();
        let uid = |id: NodeId| made.get(&id).map(|made| made.uid.clone());
        let copies = |ids: Vec<NodeId>| -> Vec<CopyRef> {
            let mut copies: Vec<CopyRef> =
                ids.iter().filter_map(|id| made.get(id)).map(Resource::copy).collect();
            copies.sort_unstable();
            copies.dedup();
            copies
        };
        let sources = graph.property_dependencies(id);
        let options = &node.options;
        let needs = options.depends_on.iter().chain(&options.deleted_with).copied();
        let dependencies = copies(needs.chain(sources.values().flatten().copied()).collect());
        let property_dependencies = sources
            .into_iter()
            .map(|(key, nodes)| (key.to_owned(), nodes.into_iter().filter_map(uid).collect()))
            .collect();
        let mut aliases: Vec<Name> = options.aliases.clone();
        aliases.sort_unstable();
        aliases.dedup();
        let (lifecycle, physical) = match self.replacing.contains(own) {
            true => (Lifecycle::Replacing, None),
            false => (Lifecycle::Live, Some(PhysicalId(format!("start-{own}")))),
        };
        let mut resource = Resource {
            generation: Generation(if self.left_over.contains(own) { 2 } else { 1 }),
            lifecycle,
            outputs: recorded_outputs(&format!("start-{own}"), 2000 + id.index() as i64, &inputs),
            id: physical,
            inputs,
            dependencies,
            property_dependencies,
            ties: Ties {
                parent: node.parent.and_then(uid),
                provider: options.provider.and_then(|id| made.get(&id)).map(Resource::copy),
                deleted_with: options.deleted_with.and_then(uid),
                replace_with: options.replace_with.iter().copied().filter_map(uid).collect(),
                aliases,
            },
            pinned: options.pinned == Some(true),
            ..Resource::new(
                Uid(format!("start-{}", id.index())),
                node.name.clone(),
                node.ty.clone(),
                node.source.clone(),
            )
        };
        resource.set_marks(&node.effective_marks());
        resource
    }
}

/// Returns the outputs of an object as a run records them.
fn recorded_outputs(id: &str, serial: i64, inputs: &Map) -> Map {
    let mut outputs = outputs(id, serial, &revealed(inputs));
    if inputs.contains_key("password")
        && let Some(etag) = outputs.remove("etag")
    {
        outputs.insert("etag", Value::secret(etag));
    }
    outputs
}

/// Returns the previous copy of a resource.
fn old_copy(resource: &Resource) -> Resource {
    let id = format!("{}-old", resource.uid);
    Resource {
        generation: Generation(1),
        lifecycle: Lifecycle::Condemned,
        outputs: recorded_outputs(&id, 3000, &resource.inputs),
        id: Some(PhysicalId(id)),
        ..resource.clone()
    }
}

impl Actor {
    /// Puts the recorded objects into the cloud and imports the state.
    pub(crate) async fn import_initial_stack(&self, start: &InitialStack) -> Result<(), CommandError> {
        let mut snapshot = start.snapshot();
        {
            let mut model = self.cloud.model();
            for resource in &snapshot.resources {
                resource.id.iter().for_each(|id| model.add_existing(id.as_str().to_owned(), resource));
            }
            start.missing.iter().for_each(|name| model.delete_outside(&format!("start-{name}")));
        }
        let stack = &self.workspace.stack;
        let run = stack.open("stack import", None, Takeover::IfDead).await?;
        if snapshot.has_unsealed_secrets() {
            let made = stack.secrets.create("dev", run.stack(), &stack.world).await;
            snapshot.keyring = made.unwrap_or_default();
        }
        let closed = run.close_with(snapshot).await?;
        self.cloud.model().learn_marks(&closed.state);
        self.trace.mark("a life began with an existing stack");
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

    use super::*;

    #[test]
    fn many_lives_begin_with_something_sound() {
        let mut rng = Rng::new(1);
        let drawn: Vec<InitialStack> = (0..400)
            .filter_map(|_| {
                let program = Program::draw(&mut rng);
                InitialStack::draw(&mut rng, &program)
            })
            .collect();
        assert!(drawn.len() > 60, "{}", drawn.len());
        let has = |of: fn(&InitialStack) -> &Vec<String>| {
            drawn.iter().filter(|start| !of(start).is_empty()).count()
        };
        let found =
            [has(|start| &start.left_over), has(|start| &start.replacing), has(|start| &start.missing)];
        assert!(found.iter().all(|count| *count > 10), "{found:?}");
    }
}
