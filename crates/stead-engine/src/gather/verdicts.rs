//! Verdicts of the providers for the planner, gathered in parallel.

use std::time::Duration;

use futures_util::StreamExt as _;
use futures_util::stream::FuturesUnordered;
use stead_guard::pins::SettledGraph;
use stead_model::{Code, Diagnostic, Graph, Hint, Inputs, Limits, Node, PhysicalId, Resource, Uid};
use stead_plan::{LiveObject, PlaceChange, Plan, Planner, Question, Request, Verdict};
use stead_provider::{Completeness, Diff, LiveState, Refusal, conceal_declared};
use stead_schema::{ReplaceOrder, check};
use stead_state::State;

use crate::Engine;
use crate::gather::declared_part::declared_part;
use crate::gather::limits::fits;
use crate::gather::provider_limits::ProviderLimits;
use crate::gather::read::no_answer;
use crate::secrets::locked_record;
use crate::serving::PlannedProvider;

/// Questions that wait for a provider at a time.
const QUESTIONS: usize = 256;

impl Engine {
    /// Plans the steps that lead from the state to the graph. Writes nothing.
    pub async fn plan(
        &self,
        base: &State,
        graph: &SettledGraph,
        request: impl Into<Request>,
    ) -> Result<Plan, Vec<Diagnostic>> {
        self.check_providers(graph)?;
        let request = request.into();
        let canonical = &self.canonical_identities(base, graph).await;
        let functions = self.functions.as_ref();
        let mut planner = Planner::new(base, graph, &self.catalog, canonical, &request, functions)?;
        let mut waiting: Vec<Question<'_>> = Vec::new();
        let limits = &ProviderLimits::of(&self.providers);
        let mut asked = FuturesUnordered::new();
        loop {
            let mut new = planner.questions(QUESTIONS.saturating_sub(waiting.len()));
            new.reverse();
            waiting.append(&mut new);
            while asked.len() < self.parallel
                && let Some(question) = waiting.pop()
            {
                let node = question.node;
                let declared = &graph.nodes[node.index()];
                asked.push(async move {
                    let _permit = limits.wait(declared.ty.provider()).await;
                    (node, self.ask(declared, base, question).await)
                });
            }
            match asked.next().await {
                Some((node, verdict)) => planner.answer(node, verdict),
                None => break,
            }
        }
        drop(asked);
        let plan = planner.finish()?;
        // State grows only by new copies.
        if plan.summary.create + plan.summary.replace > 0 {
            fits(base, graph, &plan, &Limits::default())?;
        }
        Ok(plan)
    }

    async fn ask(&self, node: &Node, base: &State, question: Question<'_>) -> Verdict {
        let planned = match self.planned(&node.ty, question.served_by.as_ref()) {
            Ok(planned) => planned,
            Err(Refusal { message, help, .. }) => return Verdict::Unanswered { message, help },
        };
        let provider = &planned.provider;
        // The timeout covers checks and differences too: a provider that hangs must not hang the plan.
        let timeout = self.read_timeout(Some(&node.options.timeouts), provider, &node.ty);
        let verdict = async {
            let verdict = self.verdict(&planned, node, base, question, timeout).await;
            self.with_identity(verdict, provider.as_ref(), node, base).await
        };
        tokio::select! {
            biased;
            verdict = verdict => verdict,
            () = self.world.clock.sleep(timeout) => {
                let help = "set `timeouts: { read: SECONDS }` on it if the read needs more time".to_owned();
                Verdict::Unanswered { message: no_answer(timeout).message, help: Some(help.into()) }
            }
        }
    }

    async fn verdict(
        &self,
        planned: &PlannedProvider,
        node: &Node,
        base: &State,
        question: Question<'_>,
        timeout: Duration,
    ) -> Verdict {
        if let Some(message) = question.old.and_then(locked_record) {
            let help = Some("make the key available, or leave the resource out of this run".into());
            return Verdict::Unanswered { message, help };
        }
        let provider = &planned.provider;
        // Nobody wrote the inputs of an undeclared import: they are what a read returns, which may lack required properties.
        let checked = match node.options.undeclared {
            true => Ok(question.inputs),
            false => provider.check(&node.ty, question.inputs).await,
        };
        let inputs = match checked {
            Ok(inputs) => inputs,
            Err(problems) => return Verdict::Invalid(problems),
        };
        let new_order = || self.catalog.get(&node.ty).map(|schema| schema.replace_order).unwrap_or_default();
        let identity = Vec::new();
        if let Some(id) = question.import {
            if planned.completeness == Completeness::Partial {
                return unconfigured();
            }
            let found = match self.with_retries(timeout, || provider.find(&node.ty, id)).await {
                Ok(found) => found,
                Err(Refusal { message, help, .. }) => return Verdict::Unanswered { message, help },
            };
            let Some(live) = found else {
                return to_create(inputs, new_order());
            };
            let live = conceal_declared(live, &inputs);
            let live = LiveState { inputs: declared_part(&live.inputs, &inputs), ..live };
            let existing = existing(node, id, &live);
            let Diff { changes, order, problems: impossible } = provider.diff(&existing, &inputs).await;
            let found = Some(LiveObject { inputs: live.inputs, outputs: live.outputs });
            let place = PlaceChange::Untold;
            return Verdict::Valid { inputs, changes, order, found, place, identity, impossible };
        }
        match question.old {
            Some(old) => {
                // A resource that was imported before it was declared keeps what no program sets.
                let adopted = old
                    .imported
                    .then(|| Resource { inputs: declared_part(&old.inputs, &inputs), ..old.clone() });
                let old = adopted.as_ref().unwrap_or(old);
                let Diff { changes, order, problems: impossible } = provider.diff(old, &inputs).await;
                match self.place_change(old, base, question.served_by.as_ref(), planned).await {
                    Ok(place) => {
                        Verdict::Valid { inputs, changes, order, found: None, place, identity, impossible }
                    }
                    Err(Refusal { message, help, .. }) => Verdict::Unanswered { message, help },
                }
            }
            None => to_create(inputs, new_order()),
        }
    }

    fn check_providers(&self, graph: &Graph) -> Result<(), Vec<Diagnostic>> {
        let provisioned = |node: &&Node| node.kind == stead_model::NodeKind::Provisioned;
        let problems: Vec<Diagnostic> = graph
            .nodes
            .iter()
            .filter(provisioned)
            .filter(|node| self.providers.of(&node.ty).is_none())
            .flat_map(|node| self.unserved(node))
            .chain(self.misnamed_providers(graph))
            .collect();
        if problems.is_empty() { Ok(()) } else { Err(problems) }
    }

    /// Returns the mistakes in the inputs, if the type is known, and else the missing provider.
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
        let problem = match self.catalog.get(&node.ty) {
            // The type is right, and its properties were checked.
            Some(_) => Diagnostic::error(
                Code::NO_PROVIDER,
                format!("this target can check {}, and cannot create it", node.ty),
            )
            .note("The schema of the type is known; the provider that applies it belongs to another target.")
            .help(Hint::text("apply it on the target `aws`, or on `sim`, the embedded cloud")),
            None => Diagnostic::error(Code::NO_PROVIDER, format!("no provider serves {}", node.ty)),
        };
        let problem = problem
            .at(node.source.clone(), 0, "declared here")
            .help(format!("this target has: {}", served.join(", ")));
        vec![problem]
    }
}

/// Returns the verdict on a resource that does not exist yet.
fn to_create(inputs: Inputs, order: ReplaceOrder) -> Verdict {
    let (changes, identity, impossible) = (Vec::new(), Vec::new(), Vec::new());
    let place = PlaceChange::Untold;
    Verdict::Valid { inputs, changes, order, found: None, place, identity, impossible }
}

/// Returns the verdict on a read whose provider has settings that are not known yet.
fn unconfigured() -> Verdict {
    let message = "the settings of its provider are not known before the run".to_owned();
    Verdict::Unanswered { message, help: Some("apply the provider first, or give it known settings".into()) }
}

/// Returns the record that an existing resource would have, for a comparison with its declaration.
fn existing(node: &Node, id: &PhysicalId, live: &LiveState) -> Resource {
    Resource {
        id: Some(id.clone()),
        inputs: live.inputs.clone(),
        outputs: live.outputs.clone(),
        ..Resource::new(Uid(String::new()), node.name.clone(), node.ty.clone(), node.source.clone())
    }
}
