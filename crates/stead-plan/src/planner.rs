//! Walks the graph in dependency order, puts its questions, and keeps what was decided.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use stead_model::{
    Code, DependencyCycle, Diagnostic, Functions, Graph, Input, KnownOutputs, Lifecycle, Map, Name, NodeId,
    NodeKind, PhysicalId, Resource, Value, resolve_map,
};
use stead_schema::{Catalog, Change, Problem, ReplaceOrder};
use stead_state::State;

use crate::aliases::Aliases;
use crate::correlate::{Correlation, correlate};
use crate::ignore::{force_replacement, keep_ignored};
use crate::judge::Decision;
use crate::select::Selected;
use crate::steps::assemble;
use crate::{Plan, Request};

/// What the planner needs to know from a provider about one resource.
pub struct Question<'a> {
    pub node: NodeId,
    /// Resolved as far as anything is known.
    pub inputs: BTreeMap<String, Input>,
    /// What there is to compare with; `None`: nothing, it will be created.
    pub old: Option<&'a Resource>,
    /// There is no record of it yet, and this is the id of what becomes it.
    pub import: Option<&'a PhysicalId>,
}

/// What a look at something found.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Found {
    pub inputs: Map,
    pub outputs: Map,
}

/// A provider's answer.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The inputs with defaults, and what would have to change.
    Fits {
        inputs: BTreeMap<String, Input>,
        changes: Vec<Change>,
        order: ReplaceOrder,
        /// What was found under the id that is imported.
        #[serde(skip_serializing_if = "Option::is_none")]
        found: Option<Found>,
    },
    Wrong(#[serde(skip)] Vec<Problem>),
    /// The provider could not say: it is out of reach, or does not answer.
    Unanswered {
        message: String,
        help: Option<String>,
    },
}

/// A decided node.
#[derive(Clone, Debug)]
pub(crate) struct Decided {
    pub decision: Decision,
    pub inputs: BTreeMap<String, Input>,
    pub changes: Vec<Change>,
    pub found: Option<Found>,
}

impl Decided {
    fn without_inputs(decision: Decision) -> Decided {
        Decided { decision, inputs: BTreeMap::new(), changes: Vec::new(), found: None }
    }
}

/// Planning under way.
pub struct Planner<'a> {
    pub(crate) base: &'a State,
    pub(crate) graph: &'a Graph,
    pub(crate) catalog: &'a Catalog,
    pub(crate) request: &'a Request,
    pub(crate) functions: &'a dyn Functions,
    /// What must be there first, and of that what goes into the record.
    pub(crate) edges: Vec<BTreeSet<NodeId>>,
    pub(crate) needs: Vec<BTreeSet<NodeId>>,
    pub(crate) order: Vec<NodeId>,
    pub(crate) correlation: Correlation<'a>,
    pub(crate) selected: Selected,
    pub(crate) aliases: Aliases<'a>,
    dependants: Vec<Vec<NodeId>>,
    waiting: Vec<usize>,
    ready: Vec<NodeId>,
    pub(crate) decided: Vec<Option<Decided>>,
    problems: Vec<(NodeId, Diagnostic)>,
}

/// The plan for answers that are there already.
pub fn plan(
    base: &State,
    graph: &Graph,
    catalog: &Catalog,
    request: &Request,
    functions: &dyn Functions,
    verdicts: &BTreeMap<NodeId, Verdict>,
) -> Result<Plan, Vec<Diagnostic>> {
    let mut planner = Planner::new(base, graph, catalog, request, functions)?;
    loop {
        let questions = planner.questions();
        if questions.is_empty() {
            return planner.finish();
        }
        for Question { node, .. } in questions {
            match verdicts.get(&node) {
                Some(verdict) => planner.answer(node, verdict.clone()),
                None => planner.answer(node, Verdict::Wrong(vec![unanswered()])),
            }
        }
    }
}

fn unanswered() -> Problem {
    Problem {
        path: stead_model::PropertyPath::default(),
        message: "no provider said anything about it".to_owned(),
        help: None,
    }
}

impl<'a> Planner<'a> {
    pub fn new(
        base: &'a State,
        graph: &'a Graph,
        catalog: &'a Catalog,
        request: &'a Request,
        functions: &'a dyn Functions,
    ) -> Result<Planner<'a>, Vec<Diagnostic>> {
        let secrets = crate::secrets::refused(graph);
        if !secrets.is_empty() {
            return Err(secrets);
        }
        let edges = graph.edges();
        let order = graph.order(&edges).map_err(|cycle| vec![cycle_problem(graph, &cycle)])?;
        let correlation = correlate(base, graph, &order, catalog, request.moves);
        let aliases = Aliases::of(base, graph, |id| correlation.matched[id.index()]);
        let selected = Selected::of(base, graph, &edges, &correlation, request)?;
        let (edges, order) = match crate::ties::kept(base, &edges, &correlation, &selected) {
            // A circle is found, and told, when the plan is put together.
            Some(kept) => graph.order(&kept).map_or((edges, order), |order| (kept, order)),
            None => (edges, order),
        };
        let mut dependants = vec![Vec::new(); graph.nodes.len()];
        for (index, needs) in edges.iter().enumerate() {
            needs.iter().for_each(|need| dependants[need.index()].push(NodeId(index as u32)));
        }
        let waiting: Vec<usize> = edges.iter().map(BTreeSet::len).collect();
        let ready = graph.ids().filter(|id| waiting[id.index()] == 0).collect();
        let decided = vec![None; graph.nodes.len()];
        let new = |id: NodeId| correlation.matched[id.index()].is_none() && selected.touches(id);
        let problems = crate::imports::taken(base, graph, new);
        Ok(Planner {
            base,
            graph,
            catalog,
            request,
            functions,
            needs: graph.needs(),
            edges,
            order,
            correlation,
            selected,
            aliases,
            dependants,
            waiting,
            ready,
            decided,
            problems,
        })
    }

    /// Everything that can be asked now. Empty: there is nothing more to ask.
    pub fn questions(&mut self) -> Vec<Question<'a>> {
        let mut questions = Vec::new();
        while let Some(id) = self.ready.pop() {
            if let Some(decision) = self.decided_already(id) {
                self.decide(id, Decided::without_inputs(decision));
                continue;
            }
            if let Some(problem) = self.selected.missing_need(self, id) {
                self.give_up(id, problem);
                continue;
            }
            let node = &self.graph.nodes[id.index()];
            match resolve_map(&node.inputs, &self.graph.exprs, self, self.functions) {
                Ok(inputs) => questions.push(self.question(id, inputs)),
                Err(error) => {
                    let what = format!("an input of {}", node.name);
                    self.give_up(id, error.diagnostic(Code::BAD_PROPERTY, &what, Some(&node.source)));
                }
            }
        }
        questions.sort_by_key(|question| question.node);
        questions
    }

    /// What needs no provider's answer.
    fn decided_already(&self, id: NodeId) -> Option<Decision> {
        if self.graph.nodes[id.index()].kind == NodeKind::Group {
            return Some(Decision::Group);
        }
        if self.selected.touches(id) {
            return None;
        }
        Some(if self.old(id).is_some() { Decision::Untouched } else { Decision::Absent })
    }

    fn question(&self, id: NodeId, inputs: BTreeMap<String, Input>) -> Question<'a> {
        let options = &self.graph.nodes[id.index()].options;
        let old = self.comparable(id);
        let inputs = match old {
            Some(old) => keep_ignored(&old.inputs, inputs, &options.ignore_changes),
            None => inputs,
        };
        let import = options.import.as_ref().filter(|_| self.old(id).is_none());
        Question { node: id, inputs, old, import }
    }

    pub fn answer(&mut self, id: NodeId, verdict: Verdict) {
        match verdict {
            Verdict::Wrong(problems) => {
                for problem in problems {
                    let node = &self.graph.nodes[id.index()];
                    let diagnostic = Diagnostic::error(Code::BAD_PROPERTY, problem.message).at(
                        node.source.clone(),
                        0,
                        format!("{} is declared here", node.name),
                    );
                    let diagnostic = problem.help.into_iter().fold(diagnostic, Diagnostic::help);
                    self.problems.push((id, diagnostic));
                }
                self.decide(id, Decided::without_inputs(Decision::Create));
            }
            Verdict::Unanswered { message, help } => {
                let node = &self.graph.nodes[id.index()];
                let message = format!("cannot look at {}: {message}", node.name);
                let problem = Diagnostic::error(Code::CANNOT_LOOK, message);
                let problem = problem.at(node.source.clone(), 0, "declared here");
                self.give_up(id, help.into_iter().fold(problem, Diagnostic::help));
            }
            Verdict::Fits { inputs, mut changes, order, found } => {
                force_replacement(&mut changes, &self.graph.nodes[id.index()].options.replace_on_changes);
                let order = self.order(id, &inputs, order);
                let decision = self.judge(id, &changes, order);
                if let Some(problem) = self.import_problem(id, &decision, &changes, found.as_ref()) {
                    self.problems.push((id, problem));
                }
                // Of what stays as it is, the record says all there is to know.
                let inputs = match decision {
                    Decision::Same | Decision::Record(_) => BTreeMap::new(),
                    _ => inputs,
                };
                self.decide(id, Decided { decision, inputs, changes, found });
            }
        }
    }

    /// What is imported must be there, and must not be replaced at once.
    fn import_problem(
        &self,
        id: NodeId,
        decision: &Decision,
        changes: &[Change],
        found: Option<&Found>,
    ) -> Option<Diagnostic> {
        if *decision != Decision::Import {
            return None;
        }
        let node = &self.graph.nodes[id.index()];
        let import = node.options.import.as_ref()?;
        let problem = |message: String, help: &str| {
            let problem = Diagnostic::error(Code::CANNOT_IMPORT, message);
            Some(problem.at(node.source.clone(), 0, "declared here").help(help))
        };
        if found.is_none() {
            let message =
                format!("cannot import {}: there is no {} with the id {import}", node.name, node.resource);
            return problem(message, "correct the id, or remove the `import` option and let it be created");
        }
        let forcing = changes.iter().find(|change| change.replaces)?;
        let message = format!(
            "cannot import {}: what exists differs in `{}`, which cannot be changed in place",
            node.name, forcing.path
        );
        problem(message, "declare it as it is; `stead import` prints that, and a later `up` may change it")
    }

    /// The plan, or everything that is wrong, in the order of the program.
    pub fn finish(mut self) -> Result<Plan, Vec<Diagnostic>> {
        self.problems.sort_by_key(|(id, _)| *id);
        if !self.problems.is_empty() {
            return Err(self.problems.into_iter().map(|(_, problem)| problem).collect());
        }
        let outputs = resolve_map(&self.graph.outputs, &self.graph.exprs, &self, self.functions)
            .map_err(|error| vec![error.diagnostic(Code::BAD_PROPERTY, "an exported value", None)])?;
        // Nobody asks for values any more: the steps take them over. What is replaced is still compared with its old copy.
        let take = |decided: &mut Option<Decided>| match decided {
            Some(Decided { decision: Decision::Replace(_), inputs, .. }) => inputs.clone(),
            Some(Decided { inputs, .. }) => std::mem::take(inputs),
            None => BTreeMap::new(),
        };
        let inputs = self.decided.iter_mut().map(take).collect();
        let suggestions = std::mem::take(&mut self.correlation.suggestions);
        let ambiguities = std::mem::take(&mut self.correlation.ambiguities);
        Ok(Plan { suggestions, ambiguities, ..assemble(&self, inputs, outputs)? })
    }

    /// The recorded resource that a declared one is.
    pub(crate) fn old(&self, id: NodeId) -> Option<&'a Resource> {
        self.correlation.matched[id.index()]
    }

    /// The old one, if there is something real to compare with.
    fn comparable(&self, id: NodeId) -> Option<&'a Resource> {
        let node = &self.graph.nodes[id.index()];
        self.old(id).filter(|old| old.lifecycle == Lifecycle::Live && old.resource == node.resource)
    }

    fn decide(&mut self, id: NodeId, decided: Decided) {
        self.decided[id.index()] = Some(decided);
        for dependant in std::mem::take(&mut self.dependants[id.index()]) {
            self.waiting[dependant.index()] -= 1;
            if self.waiting[dependant.index()] == 0 {
                self.ready.push(dependant);
            }
        }
    }

    /// After a problem planning goes on, to find the other ones.
    fn give_up(&mut self, id: NodeId, problem: Diagnostic) {
        self.problems.push((id, problem));
        self.decide(id, Decided::without_inputs(Decision::Create));
    }
}

impl KnownOutputs for Planner<'_> {
    fn property(&self, id: NodeId, property: &str) -> Option<Value> {
        let decided = self.decided[id.index()].as_ref()?;
        let recorded = || self.old(id).and_then(|old| old.property(property)).cloned();
        let wanted = || decided.inputs.get(property).and_then(Input::as_known).cloned();
        let stable = || {
            let schema = self.catalog.get(&self.graph.nodes[id.index()].resource)?;
            schema.property(property).filter(|property| property.stable)
        };
        match decided.decision {
            Decision::Same | Decision::Record(_) | Decision::Untouched => {
                Some(recorded().unwrap_or_default())
            }
            Decision::Update => wanted().or_else(|| stable().and_then(|_| recorded())),
            Decision::Import => {
                let found = || decided.found.as_ref().and_then(|found| found.outputs.get(property)).cloned();
                let settled = decided.changes.is_empty() || stable().is_some();
                wanted().or_else(|| if settled { found() } else { None })
            }
            Decision::Create | Decision::Replace(_) => wanted(),
            Decision::Group | Decision::Absent => None,
        }
    }
}

fn cycle_problem(graph: &Graph, cycle: &DependencyCycle) -> Diagnostic {
    let problem = Diagnostic::error(Code::CYCLE, cycle.to_string())
        .note("Each of them waits for the next one, so none could ever be created first.")
        .help("remove one of the `dependsOn` entries, or one use of another's property");
    let place = |name: &Name| graph.nodes.iter().find(|node| node.name == *name).map(|node| &node.source);
    let places = cycle.0.iter().skip(1).filter_map(|name| Some((name, place(name)?)));
    places.fold(problem, |problem, (name, source)| problem.at(source.clone(), 0, name.to_string()))
}
