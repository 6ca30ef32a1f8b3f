//! What people do to a stack now and then: import by command, destroy, move resources to another stack.

use std::collections::BTreeSet;

use stead_engine::{Pinning, Refreshed, Settled, Stack, Today, Transfer, transfer};
use stead_guard::pins::Orphans;
use stead_journal::{JournalError, Loaded, StackKeys, Takeover, create};
use stead_model::{
    CopyRef, Environment, Generation, Graph, Input, Node, NodeKind, Options, PhysicalId, SourceRef,
    TypeToken, Uid, Value,
};
use stead_plan::{Glob, Purpose, Request, Selection};
use stead_state::Record;

use crate::model::loss;
use crate::program::{Program, name};
use crate::stage::Actor;
use crate::tasks::{Attempt, Ended, Failed, found};

/// Where things go that leave the stack.
pub(crate) const OTHER: &str = "prod";

pub(crate) fn other_stack(stack: &Stack) -> Stack {
    Stack { keys: StackKeys::new("shop", OTHER, "sim"), ..stack.clone() }
}

impl Actor {
    /// Deletes everything; the program is not asked.
    pub(crate) async fn destroy(&self) -> Ended {
        let Ok(pinning) = Pinning::open(self.pins.clone(), Orphans::Refuse) else {
            return self.refused("the pinfile");
        };
        let Some(Loaded { state, version, .. }) = self.settled().await? else {
            return Ok(Attempt::Unfinished);
        };
        let engine = self.engine.clone().with_pins(pinning.standing());
        let Ok(plan) = engine.plan(&state, &Graph::default(), Purpose::Destroy).await else {
            return self.refused("the plan");
        };
        let base = Refreshed { state, drift: Vec::new(), records: Vec::new() };
        let attempt = self.carry_out(&engine, plan, Graph::default(), base, version).await?;
        if matches!(attempt, Attempt::Succeeded) && pinning.forget_emptied().is_err() {
            return self.refused("the pinfile cannot be written");
        }
        Ok(attempt)
    }

    /// What exists becomes a resource: the declared one of that name, or one that will be declared.
    pub(crate) async fn import(&self, program: &Program, wanted: &str, id: &str) -> Ended {
        let Some(loaded) = self.settled().await? else { return Ok(Attempt::Unfinished) };
        let (id, token) = (PhysicalId(id.to_owned()), TypeToken("sim.Thing".to_owned()));
        let name = name(token.clone(), Some(wanted.to_owned()));
        if loaded.state.by_name(&name).is_some() {
            return self.refused("it is recorded already");
        }
        let mut graph = program.graph();
        match graph.nodes.iter_mut().find(|node| node.name == name) {
            Some(node) => node.options.import = Some(id),
            None => {
                let Ok(Some(live)) = self.engine.look(&token, &id).await else {
                    return self.refused("there is no such thing");
                };
                let known = |(key, value): (&String, &Value)| (key.clone(), Input::Known(value.clone()));
                let node = Node {
                    name: name.clone(),
                    resource: token,
                    kind: NodeKind::Provisioned,
                    parent: None,
                    inputs: live.inputs.iter().map(known).collect(),
                    options: Options { import: Some(id), ..Options::default() },
                    source: SourceRef { file: "main.ts".into(), line: 1, column: 1 },
                    marks: Default::default(),
                };
                let outputs = loaded.state.outputs().iter().map(known).collect();
                graph = Graph { nodes: vec![node], outputs, ..Graph::default() };
            }
        }
        let selection = Selection { targets: vec![Glob::new(name.to_string())], ..Selection::default() };
        let request = Request { selection, ..Request::default() };
        let Ok(plan) = self.engine.plan(&loaded.state, &graph, request).await else {
            return self.refused("the plan");
        };
        let base = Refreshed { state: loaded.state, drift: Vec::new(), records: Vec::new() };
        let attempt = self.carry_out(&self.engine, plan, graph, base, loaded.version).await?;
        if matches!(attempt, Attempt::Succeeded) {
            self.tape.reach("something was imported by command");
        }
        Ok(attempt)
    }

    /// A record that breaks a rule is refused, whoever wrote it, and nothing comes of it.
    pub(crate) async fn miswrites(&self, program: &Program, name: &str) -> Ended {
        let Some(loaded) = self.settled().await? else { return Ok(Attempt::Unfinished) };
        let Some(mut resource) = found(&loaded.state, program, name).cloned() else {
            return self.refused("no such resource");
        };
        let nobody = CopyRef { uid: Uid("nobody".to_owned()), generation: Generation(1) };
        resource.dependencies.push(nobody);
        resource.dependencies.sort_unstable();
        let run = self.open("miswrite", Some(loaded.version), Takeover::IfDead).await?;
        let record = Record::Note { resource: Box::new(resource) };
        match run.submit(record).durable().await {
            Err(JournalError::WouldBreak(_)) => self.tape.reach("a record that breaks a rule was refused"),
            Err(error) => return Err(error.into()),
            Ok(()) => {
                let what = "a resource needs what never was";
                return Err(Failed::Lost(loss("a record that breaks a rule is refused", what)));
            }
        }
        let broken = JournalError::Outside { action: "go on", problem: "a record was refused".to_owned() };
        drop(run.abandon(broken).await);
        Ok(Attempt::Unfinished)
    }

    /// As the command does it: settle both ends, look that nothing is torn apart, move.
    pub(crate) async fn to_stack(&self, program: &Program, name: &str) -> Ended {
        let Some(from) = self.settled().await? else { return Ok(Attempt::Unfinished) };
        let other = other_stack(&self.stack);
        match create(&other.store, &other.keys, &other.world).await {
            Ok(_) | Err(JournalError::Exists { .. }) => {}
            Err(error) => return Err(error.into()),
        }
        let Settled::Ready(to) = self.engine.settle(&other, &Today::default(), &mut |_| ()).await? else {
            return self.refused("the other stack is not settled");
        };
        let Some(resource) = found(&from.state, program, name) else {
            return self.refused("no such resource");
        };
        let mut chosen: BTreeSet<Uid> = [resource.uid.clone()].into();
        chosen.extend(from.state.bonds(&chosen).needed);
        let bonds = from.state.bonds(&chosen);
        if !bonds.needed.is_empty() || !bonds.needing.is_empty() {
            return self.refused("it would be torn from others");
        }
        let environment = Environment::new(OTHER);
        let names = chosen.iter().filter_map(|uid| from.state.name_of(uid));
        let mut names = names.map(|name| name.in_environment(&environment));
        if names.any(|name| to.state.by_name(&name).is_some()) {
            return self.refused("the name is taken there");
        }
        transfer(Transfer {
            source: &self.stack,
            source_version: from.version,
            target: &other,
            target_version: to.version,
            environment: &environment,
            uids: &chosen,
        })
        .await?;
        if self.process.is_alive() {
            self.tape.reach("something went to another stack");
        }
        Ok(Attempt::Succeeded)
    }
}
