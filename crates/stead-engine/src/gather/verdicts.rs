//! Collects the providers' answers for the planner, as many at once as allowed, without layers.

use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt as _;
use futures_util::stream::FuturesUnordered;
use stead_guard::pins::SettledGraph;
use stead_model::{
    Code, Diagnostic, Generation, Graph, Lifecycle, Limits, Node, PhysicalId, Resource, Ties, Uid,
};
use stead_plan::{LiveObject, Plan, Planner, Question, Request, Verdict};
use stead_provider::{Diff, LiveState, Provider, Refusal};
use stead_schema::check;
use stead_state::State;

use crate::Engine;
use crate::gather::limits::fits;
use crate::gather::provider_limits::ProviderLimits;
use crate::gather::read::silent;

impl Engine {
    /// What would have to be done so that the state becomes the graph. Changes nothing.
    pub async fn plan(
        &self,
        base: &State,
        graph: &SettledGraph,
        request: impl Into<Request>,
    ) -> Result<Plan, Vec<Diagnostic>> {
        self.every_type_is_served(graph)?;
        let request = request.into();
        let mut planner = Planner::new(base, graph, &self.catalog, &request, self.functions.as_ref())?;
        let mut waiting: Vec<Question<'_>> = Vec::new();
        let turns = &ProviderLimits::at(&self.providers);
        let mut asked = FuturesUnordered::new();
        loop {
            let mut new = planner.questions();
            new.reverse();
            waiting.append(&mut new);
            while asked.len() < self.parallel
                && let Some(question) = waiting.pop()
            {
                let node = question.node;
                let declared = &graph.nodes[node.index()];
                asked.push(async move {
                    let _turn = turns.wait(declared.ty.provider()).await;
                    (node, self.ask(declared, question).await)
                });
            }
            match asked.next().await {
                Some((node, verdict)) => planner.answer(node, verdict),
                None => break,
            }
        }
        drop(asked);
        let plan = planner.finish()?;
        // Only what adds something can make it too large.
        if plan.summary.create + plan.summary.replace > 0 {
            fits(base, graph, &plan, &Limits::default())?;
        }
        Ok(plan)
    }

    async fn ask(&self, node: &Node, question: Question<'_>) -> Verdict {
        let Some(provider) = self.providers.of(&node.ty) else {
            return Verdict::Invalid(Vec::new()); // `every_type_is_served` has said so
        };
        // A provider that hangs must not hang the plan, whatever it was asked.
        let patience = self.look_patience(Some(&node.options.timeouts), provider, &node.ty);
        tokio::select! {
            biased;
            verdict = self.verdict(provider, node, question, patience) => verdict,
            () = self.world.clock.sleep(patience) => {
                let help = "if it needs more time, say so: `timeouts: { read: SECONDS }`".to_owned();
                Verdict::Unanswered { message: silent(patience).message, help: Some(help.into()) }
            }
        }
    }

    async fn verdict(
        &self,
        provider: &Arc<dyn Provider>,
        node: &Node,
        question: Question<'_>,
        patience: Duration,
    ) -> Verdict {
        let inputs = match provider.check(&node.ty, question.inputs).await {
            Ok(inputs) => inputs,
            Err(problems) => return Verdict::Invalid(problems),
        };
        let new_order = || self.catalog.get(&node.ty).map(|schema| schema.replace_order).unwrap_or_default();
        if let Some(id) = question.import {
            let found = match self.patiently(patience, || provider.find(&node.ty, id)).await {
                Ok(found) => found,
                Err(Refusal { message, help, .. }) => return Verdict::Unanswered { message, help },
            };
            let Some(live) = found else {
                return Verdict::Valid { inputs, changes: Vec::new(), order: new_order(), found: None };
            };
            let there = there(node, id, &live);
            let Diff { changes, order } = provider.diff(&there, &inputs).await;
            let found = Some(LiveObject { inputs: live.inputs, outputs: live.outputs });
            return Verdict::Valid { inputs, changes, order, found };
        }
        match question.old {
            Some(old) => {
                let Diff { changes, order } = provider.diff(old, &inputs).await;
                Verdict::Valid { inputs, changes, order, found: None }
            }
            None => Verdict::Valid { inputs, changes: Vec::new(), order: new_order(), found: None },
        }
    }

    fn every_type_is_served(&self, graph: &Graph) -> Result<(), Vec<Diagnostic>> {
        let provisioned = |node: &&Node| node.kind == stead_model::NodeKind::Provisioned;
        let problems: Vec<Diagnostic> = graph
            .nodes
            .iter()
            .filter(provisioned)
            .filter(|node| self.providers.of(&node.ty).is_none())
            .flat_map(|node| self.unserved(node))
            .collect();
        if problems.is_empty() { Ok(()) } else { Err(problems) }
    }

    /// What is wrong with it in itself, where its schema is known; else that nobody can make it.
    fn unserved(&self, node: &Node) -> Vec<Diagnostic> {
        let mistakes = self.catalog.get(&node.ty).map(|schema| check(schema, &node.inputs));
        let mistakes: Vec<Diagnostic> = mistakes
            .unwrap_or_default()
            .into_iter()
            .map(|problem| {
                let label = format!("{} is declared here", node.name);
                let problem_at =
                    Diagnostic::error(Code::BAD_PROPERTY, problem.message).at(node.source.clone(), 0, label);
                problem.help.into_iter().fold(problem_at, Diagnostic::help)
            })
            .collect();
        if !mistakes.is_empty() {
            return mistakes;
        }
        let served: Vec<&str> = self.providers.names().collect();
        let problem = Diagnostic::error(Code::NO_PROVIDER, format!("no provider serves {}", node.ty))
            .at(node.source.clone(), 0, "declared here")
            .help(format!("this target has: {}", served.join(", ")));
        vec![problem]
    }
}

/// The record that something would have which was found by its id.
fn there(node: &Node, id: &PhysicalId, live: &LiveState) -> Resource {
    Resource {
        uid: Uid(String::new()),
        generation: Generation(1),
        name: node.name.clone(),
        ty: node.ty.clone(),
        lifecycle: Lifecycle::Live,
        id: Some(id.clone()),
        inputs: live.inputs.clone(),
        outputs: live.outputs.clone(),
        dependencies: Vec::new(),
        property_dependencies: Default::default(),
        ties: Ties::default(),
        prevent_delete: false,
        deletion_policy: None,
        source: node.source.clone(),
        marks: Default::default(),
        pinned: false,
    }
}
