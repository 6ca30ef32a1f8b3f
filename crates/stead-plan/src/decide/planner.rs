//! The planner: walks the graph in dependency order, puts questions, and keeps the decisions.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use stead_guard::pins::SettledGraph;
use stead_model::{
    Code, Dag, DependencyCycle, Diagnostic, EvalError, Functions, Graph, Hint, Input, Inputs, KnownOutputs,
    Lifecycle, Map, Name, NextStep, NodeId, NodeKind, PhysicalId, PhysicalIdentity, PropertyError, Resource,
    Value, resolve_map,
};
use stead_schema::{Catalog, Change, Problem, ReplaceOrder};
use stead_state::State;

use super::ignore::{force_replacement, keep_ignored};
use super::judge::Decision;
use crate::assemble::assemble;
use crate::correlate::{Aliases, Correlation, correlate};
use crate::select::Selected;
use crate::{CanonicalIdentities, Certainty, Plan, Request};

/// A question to a provider about one resource.
pub struct Question<'a> {
    pub node: NodeId,
    /// The declared inputs, resolved as far as values are known.
    pub inputs: Inputs,
    /// The recorded resource to compare with, or `None` if one will be created.
    pub old: Option<&'a Resource>,
    /// The physical id to import, if the resource is not recorded yet.
    pub import: Option<&'a PhysicalId>,
    /// The provider resource that serves the declared one; `None` for the default provider of the target.
    pub served_by: Option<ServedBy<'a>>,
}

/// A declared provider resource, as the plan decided about it.
#[derive(Clone, Debug)]
pub struct ServedBy<'a> {
    /// The settings, resolved as far as values are known; `None` for those of the record.
    pub settings: Option<Inputs>,
    /// The record, if the provider resource keeps it.
    pub record: Option<&'a Resource>,
}

/// Whether a resource would be served in another place than the one where it is: in another account or region.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum PlaceChange {
    /// The provider does not tell, or its settings did not change.
    #[default]
    Untold,
    Same,
    Moved(Certainty),
}

impl PlaceChange {
    fn is_untold(&self) -> bool {
        *self == PlaceChange::Untold
    }
}

/// An existing physical resource, as its provider read it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LiveObject {
    pub inputs: Map,
    pub outputs: Map,
}

/// The answer of a provider to a [`Question`].
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The inputs are valid. They are returned with defaults, together with the changes to the old resource.
    #[serde(rename = "fits")]
    Valid {
        inputs: Inputs,
        changes: Vec<Change>,
        order: ReplaceOrder,
        /// The physical resource to import, if it exists.
        #[serde(skip_serializing_if = "Option::is_none")]
        found: Option<LiveObject>,
        #[serde(skip_serializing_if = "PlaceChange::is_untold")]
        place: PlaceChange,
        /// The canonical identity, if only these inputs tell it, and the inputs of the program do not.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        identity: Vec<PhysicalIdentity>,
        /// Changes that the provider cannot make in place. The plan is refused unless a certain replacement makes them.
        #[serde(skip)]
        impossible: Vec<Problem>,
    },
    #[serde(rename = "wrong")]
    Invalid(#[serde(skip)] Vec<Problem>),
    /// The provider is out of reach or does not answer.
    Unanswered { message: String, help: Option<stead_model::Hint> },
}

/// The decision about a node, with the verdict that it is based on.
#[derive(Clone, Debug)]
pub(crate) struct Decided {
    pub decision: Decision,
    pub inputs: Inputs,
    pub changes: Vec<Change>,
    pub found: Option<LiveObject>,
    /// The canonical identity that the verdict told.
    pub identity: Vec<PhysicalIdentity>,
}

impl Decided {
    fn without_inputs(decision: Decision) -> Decided {
        let (inputs, changes, identity) = (Inputs::new(), Vec::new(), Vec::new());
        Decided { decision, inputs, changes, found: None, identity }
    }
}

/// Makes a plan: takes [`questions`](Planner::questions), gets an [`answer`](Planner::answer) to each, until there are none left,
/// and [`finish`](Planner::finish)es.
pub struct Planner<'a> {
    pub(crate) base: &'a State,
    pub(crate) graph: &'a Graph,
    pub(crate) catalog: &'a Catalog,
    pub(crate) canonical: &'a CanonicalIdentities,
    pub(crate) request: &'a Request,
    pub(crate) functions: &'a dyn Functions,
    /// The nodes that must exist before each node.
    pub(crate) edges: Vec<BTreeSet<NodeId>>,
    /// The dependencies that the record of each node lists.
    pub(crate) needs: Vec<BTreeSet<NodeId>>,
    pub(crate) order: Vec<NodeId>,
    pub(crate) correlation: Correlation<'a>,
    pub(crate) selected: Selected,
    pub(crate) aliases: Aliases<'a>,
    /// The nodes that the request replaces.
    pub(super) requested: BTreeSet<NodeId>,
    undecided: Dag,
    ready: Vec<NodeId>,
    pub(crate) decided: Vec<Option<Decided>>,
    problems: Vec<(NodeId, Diagnostic)>,
}

/// Makes the plan for verdicts that were collected before.
pub fn plan(
    base: &State,
    graph: &SettledGraph,
    catalog: &Catalog,
    canonical: &CanonicalIdentities,
    request: &Request,
    functions: &dyn Functions,
    verdicts: &BTreeMap<NodeId, Verdict>,
) -> Result<Plan, Vec<Diagnostic>> {
    let mut planner = Planner::new(base, graph, catalog, canonical, request, functions)?;
    loop {
        let questions = planner.questions(usize::MAX);
        if questions.is_empty() {
            return planner.finish();
        }
        for Question { node, .. } in questions {
            match verdicts.get(&node) {
                Some(verdict) => planner.answer(node, verdict.clone()),
                None => planner.answer(node, Verdict::Invalid(vec![no_verdict()])),
            }
        }
    }
}

fn no_verdict() -> Problem {
    Problem {
        path: stead_model::PropertyPath::default(),
        message: "no provider gave a verdict on the resource".to_owned(),
        help: None,
    }
}

impl<'a> Planner<'a> {
    pub fn new(
        base: &'a State,
        graph: &'a SettledGraph,
        catalog: &'a Catalog,
        canonical: &'a CanonicalIdentities,
        request: &'a Request,
        functions: &'a dyn Functions,
    ) -> Result<Planner<'a>, Vec<Diagnostic>> {
        let graph: &'a Graph = graph;
        let secrets = super::secrets::refused(graph);
        if !secrets.is_empty() {
            return Err(secrets);
        }
        let edges = graph.edges();
        let order = graph.order(&edges).map_err(|cycle| vec![cycle_problem(graph, &cycle)])?;
        let correlation = correlate(base, graph, &order, catalog, canonical, request.moves);
        let aliases = Aliases::of(base, graph, |id| correlation.matched[id.index()]);
        let selected = Selected::of(base, graph, &edges, &correlation, request)?;
        let requested = super::requested::requested(graph, &correlation, &selected, request)?;
        let (edges, order) = match crate::ties::partial_edges(base, &edges, &correlation, &selected) {
            // Planning continues despite a cycle; `broken_dependencies` reports it.
            Some(partial) => graph.order(&partial).map_or((edges, order), |order| (partial, order)),
            None => (edges, order),
        };
        let undecided = Dag::new(edges.iter().map(|needs| needs.iter().map(|need| need.index())));
        let mut ready: Vec<NodeId> = undecided.ready().map(NodeId::at).collect();
        ready.reverse(); // the last one is asked about first
        let decided = vec![None; graph.nodes.len()];
        let is_new = |id: NodeId| correlation.matched[id.index()].is_none() && selected.touches(id);
        let problems = super::imports::taken(base, graph, &correlation, is_new);
        Ok(Planner {
            base,
            graph,
            catalog,
            canonical,
            request,
            functions,
            needs: graph.needs(),
            edges,
            order,
            correlation,
            selected,
            aliases,
            requested,
            undecided,
            ready,
            decided,
            problems,
        })
    }

    /// Returns questions that can be asked now, up to a number. None are left once the list is empty.
    ///
    /// A question has inputs of its own, so that asking for all of them at once would hold the inputs of the stack twice.
    pub fn questions(&mut self, at_most: usize) -> Vec<Question<'a>> {
        let mut questions = Vec::new();
        while questions.len() < at_most
            && let Some(id) = self.ready.pop()
        {
            if let Some(decision) = self.decision_without_verdict(id) {
                self.decide(id, Decided::without_inputs(decision));
                continue;
            }
            if let Some(problem) = self.selected.missing_dependency(self, id) {
                self.give_up(id, problem);
                continue;
            }
            let node = &self.graph.nodes[id.index()];
            match resolve_map(&node.inputs, &self.graph.exprs, self, self.functions) {
                Ok(inputs) => questions.push(self.question(id, inputs)),
                Err(PropertyError { property, error }) => {
                    let what = format!("`{property}` of {}", node.name);
                    self.give_up(id, error.diagnostic(Code::BAD_PROPERTY, &what, Some(&node.source)));
                }
            }
        }
        questions.sort_by_key(|question| question.node);
        questions
    }

    /// Decides about groups and unselected resources, which need no verdict.
    fn decision_without_verdict(&self, id: NodeId) -> Option<Decision> {
        if self.graph.nodes[id.index()].kind == NodeKind::Group {
            return Some(Decision::Group);
        }
        if self.selected.touches(id) {
            return None;
        }
        Some(if self.old(id).is_some() { Decision::Untouched } else { Decision::Absent })
    }

    fn question(&self, id: NodeId, inputs: Inputs) -> Question<'a> {
        let options = &self.graph.nodes[id.index()].options;
        let old = self.comparable(id);
        let inputs = match old {
            Some(old) => keep_ignored(&old.inputs, inputs, &options.ignore_changes),
            None => inputs,
        };
        let import = options.import.as_ref().filter(|_| self.old(id).is_none());
        let served_by = options.provider.map(|provider| self.served_by(provider));
        Question { node: id, inputs, old, import, served_by }
    }

    /// Returns the settings of a provider resource about which the plan has decided.
    fn served_by(&self, provider: NodeId) -> ServedBy<'a> {
        let decided = self.decided[provider.index()].as_ref();
        let settings = decided.map(|decided| decided.inputs.clone());
        match decided.map(|decided| &decided.decision) {
            Some(Decision::Create | Decision::Replace(_) | Decision::Import) => {
                ServedBy { settings, record: None }
            }
            Some(Decision::Update) => ServedBy { settings, record: self.old(provider) },
            _ => ServedBy { settings: None, record: self.old(provider) },
        }
    }

    /// Takes the verdict on a question.
    pub fn answer(&mut self, id: NodeId, verdict: Verdict) {
        match verdict {
            Verdict::Invalid(problems) => self.refuse(id, problems),
            Verdict::Unanswered { message, help } => {
                let node = &self.graph.nodes[id.index()];
                let message = format!("cannot read {}: {message}", node.name);
                let problem = Diagnostic::error(Code::CANNOT_READ, message);
                let problem = problem.at(node.source.clone(), 0, "declared here");
                self.give_up(id, help.into_iter().fold(problem, Diagnostic::help));
            }
            Verdict::Valid { inputs, mut changes, order, found, place, identity, impossible } => {
                force_replacement(&mut changes, &self.graph.nodes[id.index()].options.replace_on_changes);
                let decision = self.judge(id, &changes, (&inputs, order), place);
                if !impossible.is_empty() && !decision.replaces_for_certain() {
                    return self.refuse(id, impossible);
                }
                if let Some(problem) = self.import_problem(id, &decision, &changes, found.as_ref()) {
                    self.problems.push((id, problem));
                }
                let node = &self.graph.nodes[id.index()];
                if let Some(schema) = self.catalog.get(&node.ty) {
                    let exposed = super::secrets::in_identity((self.graph, node), schema, &inputs, &decision);
                    self.problems.extend(exposed.into_iter().map(|problem| (id, problem)));
                }
                // The inputs of an unchanged resource are in its record.
                let inputs = match decision {
                    Decision::Unchanged | Decision::Record(_) => Inputs::new(),
                    _ => inputs,
                };
                self.decide(id, Decided { decision, inputs, changes, found, identity });
            }
        }
    }

    /// Keeps the problems of a provider with a resource, and continues planning, to find more of them.
    fn refuse(&mut self, id: NodeId, problems: Vec<Problem>) {
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

    /// Reports an import of a physical resource that does not exist, or that would be replaced at once.
    fn import_problem(
        &self,
        id: NodeId,
        decision: &Decision,
        changes: &[Change],
        found: Option<&LiveObject>,
    ) -> Option<Diagnostic> {
        if *decision != Decision::Import {
            return None;
        }
        let node = &self.graph.nodes[id.index()];
        let import = node.options.import.as_ref()?;
        let problem = |message: String, help: Hint| {
            let problem = Diagnostic::error(Code::CANNOT_IMPORT, message);
            Some(problem.at(node.source.clone(), 0, "declared here").help(help))
        };
        if found.is_none() {
            let message =
                format!("cannot import {}: there is no {} with the id {import}", node.name, node.ty);
            let help = "correct the id, or remove the `import` option to create the resource";
            return problem(message, help.into());
        }
        let forcing = changes.iter().find(|change| change.replaces && !change.tried_in_place)?;
        let message = format!(
            "cannot import {}: the existing resource differs in `{}`, which cannot be changed in place",
            node.name, forcing.path
        );
        let help = Hint::text("declare the existing values, and change them in a later run; to print them: ");
        problem(message, help.then(NextStep::Import))
    }

    /// Returns the plan, or all problems in the order of the program.
    pub fn finish(mut self) -> Result<Plan, Vec<Diagnostic>> {
        self.problems.sort_by_key(|(id, _)| *id);
        if !self.problems.is_empty() {
            return Err(self.problems.into_iter().map(|(_, problem)| problem).collect());
        }
        let outputs = resolve_map(&self.graph.outputs, &self.graph.exprs, &self, self.functions).map_err(
            |PropertyError { property, error }| {
                vec![error.diagnostic(Code::BAD_PROPERTY, &format!("the export `{property}`"), None)]
            },
        )?;
        // Steps take the inputs over. A replacement keeps its own, for the comparison of physical names.
        let take = |decided: &mut Option<Decided>| match decided {
            Some(Decided { decision: Decision::Replace(_), inputs, .. }) => inputs.clone(),
            Some(Decided { inputs, .. }) => std::mem::take(inputs),
            None => Inputs::new(),
        };
        let inputs = self.decided.iter_mut().map(take).collect();
        let places = std::mem::take(&mut self.correlation.places);
        let suggestions = std::mem::take(&mut self.correlation.suggestions);
        let ambiguities = std::mem::take(&mut self.correlation.ambiguities);
        Ok(Plan { places, suggestions, ambiguities, ..assemble(&self, inputs, outputs)? })
    }

    /// Returns the recorded resource that a declared one was matched with.
    pub(crate) fn old(&self, id: NodeId) -> Option<&'a Resource> {
        self.correlation.matched[id.index()]
    }

    /// Returns the old resource if it is live and has the declared type.
    fn comparable(&self, id: NodeId) -> Option<&'a Resource> {
        let node = &self.graph.nodes[id.index()];
        self.old(id).filter(|old| old.lifecycle == Lifecycle::Live && old.ty == node.ty)
    }

    fn decide(&mut self, id: NodeId, decided: Decided) {
        if self.decided[id.index()].replace(decided).is_none() {
            self.undecided.finish(id.index(), |next| self.ready.push(NodeId::at(next)));
        }
    }

    /// Keeps a problem and continues planning, to find more of them.
    fn give_up(&mut self, id: NodeId, problem: Diagnostic) {
        self.problems.push((id, problem));
        self.decide(id, Decided::without_inputs(Decision::Create));
    }
}

impl KnownOutputs for Planner<'_> {
    fn property(&self, id: NodeId, property: &str) -> Result<Option<Value>, EvalError> {
        let Some(decided) = self.decided[id.index()].as_ref() else { return Ok(None) };
        let recorded = || self.old(id).and_then(|old| old.property(property)).cloned();
        let wanted = || decided.inputs.get(property).and_then(Input::as_known).cloned();
        let stable = || {
            let schema = self.catalog.get(&self.graph.nodes[id.index()].ty)?;
            schema.property(property).filter(|property| property.stable)
        };
        Ok(match decided.decision {
            Decision::Unchanged | Decision::Record(_) | Decision::Untouched => {
                Some(recorded().ok_or_else(|| EvalError::NoOutput {
                    resource: self.graph.nodes[id.index()].name.clone(),
                    property: property.to_owned(),
                })?)
            }
            Decision::Update => wanted().or_else(|| stable().and_then(|_| recorded())),
            Decision::Import => {
                let found = || decided.found.as_ref().and_then(|found| found.outputs.get(property)).cloned();
                let keeps_value = decided.changes.is_empty() || stable().is_some();
                wanted().or_else(|| if keeps_value { found() } else { None })
            }
            Decision::Create | Decision::Replace(_) => wanted(),
            Decision::Group | Decision::Absent => None,
        })
    }

    fn name(&self, id: NodeId) -> Option<&Name> {
        self.graph.node(id).map(|node| &node.name)
    }
}

fn cycle_problem(graph: &Graph, cycle: &DependencyCycle) -> Diagnostic {
    let problem = Diagnostic::error(Code::CYCLE, cycle.to_string())
        .note("Each of them depends on the next one, so none can be created first.")
        .help("remove one of the `dependsOn` entries, or one use of a property of another resource");
    let place = |name: &Name| graph.nodes.iter().find(|node| node.name == *name).map(|node| &node.source);
    let places = cycle.0.iter().skip(1).filter_map(|name| Some((name, place(name)?)));
    places.fold(problem, |problem, (name, source)| problem.at(source.clone(), 0, name.to_string()))
}
