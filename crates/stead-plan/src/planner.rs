//! Walks the graph in dependency order and decides, resource by resource, what has to happen.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use stead_model::{
    Code, DependencyCycle, Diagnostic, Functions, Graph, Input, KnownOutputs, Lifecycle, Name, NodeId,
    NodeKind, Resource, Value, resolve_map,
};
use stead_schema::{Catalog, Change, Problem, ReplaceOrder};
use stead_state::State;

use crate::steps::assemble;
use crate::{Plan, Purpose};

/// What the planner needs to know from a provider about one resource.
pub struct Question<'a> {
    pub node: NodeId,
    /// Resolved as far as anything is known.
    pub inputs: BTreeMap<String, Input>,
    /// What there is to compare with; `None`: nothing, it will be created.
    pub old: Option<&'a Resource>,
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
    },
    Wrong(#[serde(skip)] Vec<Problem>),
}

/// What happens to a node.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Decision {
    Group,
    Same,
    Record,
    Create,
    Update,
    Replace(ReplaceOrder),
}

/// A decided node.
#[derive(Clone, Debug)]
pub(crate) struct Decided {
    pub decision: Decision,
    pub inputs: BTreeMap<String, Input>,
    pub changes: Vec<Change>,
}

/// Planning under way.
pub struct Planner<'a> {
    pub(crate) base: &'a State,
    pub(crate) graph: &'a Graph,
    catalog: &'a Catalog,
    pub(crate) purpose: Purpose,
    pub(crate) functions: &'a dyn Functions,
    pub(crate) edges: Vec<BTreeSet<NodeId>>,
    pub(crate) order: Vec<NodeId>,
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
    purpose: Purpose,
    functions: &dyn Functions,
    verdicts: &BTreeMap<NodeId, Verdict>,
) -> Result<Plan, Vec<Diagnostic>> {
    let mut planner = Planner::new(base, graph, catalog, purpose, functions)?;
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
        purpose: Purpose,
        functions: &'a dyn Functions,
    ) -> Result<Planner<'a>, Vec<Diagnostic>> {
        let secrets = crate::secrets::refused(graph);
        if !secrets.is_empty() {
            return Err(secrets);
        }
        let edges = graph.edges();
        let order = graph.order(&edges).map_err(|cycle| vec![cycle_problem(graph, &cycle)])?;
        let mut dependants = vec![Vec::new(); graph.nodes.len()];
        for (index, needs) in edges.iter().enumerate() {
            needs.iter().for_each(|need| dependants[need.index()].push(NodeId(index as u32)));
        }
        let waiting: Vec<usize> = edges.iter().map(BTreeSet::len).collect();
        let ready = graph.ids().filter(|id| waiting[id.index()] == 0).collect();
        let decided = vec![None; graph.nodes.len()];
        Ok(Planner {
            base,
            graph,
            catalog,
            purpose,
            functions,
            edges,
            order,
            dependants,
            waiting,
            ready,
            decided,
            problems: Vec::new(),
        })
    }

    /// Everything that can be asked now. Empty: there is nothing more to ask.
    pub fn questions(&mut self) -> Vec<Question<'a>> {
        let mut questions = Vec::new();
        while let Some(id) = self.ready.pop() {
            let node = &self.graph.nodes[id.index()];
            if node.kind == NodeKind::Group {
                self.decide(
                    id,
                    Decided { decision: Decision::Group, inputs: BTreeMap::new(), changes: Vec::new() },
                );
                continue;
            }
            match resolve_map(&node.inputs, &self.graph.exprs, self, self.functions) {
                Ok(inputs) => questions.push(Question { node: id, inputs, old: self.comparable(id) }),
                Err(error) => {
                    let what = format!("an input of {}", node.name);
                    self.give_up(id, error.diagnostic(Code::BAD_PROPERTY, &what, Some(&node.source)));
                }
            }
        }
        questions.sort_by_key(|question| question.node);
        questions
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
                self.assume_created(id);
            }
            Verdict::Fits { inputs, changes, order } => {
                let decision = self.judge(id, &changes, order);
                self.decide(id, Decided { decision, inputs, changes });
            }
        }
    }

    /// The plan, or everything that is wrong, in the order of the program.
    pub fn finish(mut self) -> Result<Plan, Vec<Diagnostic>> {
        self.problems.sort_by_key(|(id, _)| *id);
        if !self.problems.is_empty() {
            return Err(self.problems.into_iter().map(|(_, problem)| problem).collect());
        }
        assemble(&self)
    }

    /// The recorded resource that a declared one is, by name.
    pub(crate) fn old(&self, id: NodeId) -> Option<&'a Resource> {
        self.base.by_name(&self.graph.nodes[id.index()].name)
    }

    /// The old one, if there is something real to compare with.
    fn comparable(&self, id: NodeId) -> Option<&'a Resource> {
        let node = &self.graph.nodes[id.index()];
        self.old(id).filter(|old| old.lifecycle == Lifecycle::Live && old.resource == node.resource)
    }

    fn judge(&self, id: NodeId, changes: &[Change], order: ReplaceOrder) -> Decision {
        let node = &self.graph.nodes[id.index()];
        let order = match node.options.delete_before_replace {
            Some(true) => ReplaceOrder::DeleteFirst,
            Some(false) => ReplaceOrder::CreateFirst,
            None => order,
        };
        match self.old(id) {
            None => Decision::Create,
            Some(old) if old.lifecycle != Lifecycle::Live => Decision::Create,
            Some(old) if old.resource != node.resource => Decision::Replace(order),
            Some(_) if changes.iter().any(|change| change.replaces) => Decision::Replace(order),
            Some(_) if !changes.is_empty() => Decision::Update,
            Some(old) if self.record_differs(id, old) => Decision::Record,
            Some(_) => Decision::Same,
        }
    }

    /// Whether something other than the inputs must be written down.
    fn record_differs(&self, id: NodeId, old: &Resource) -> bool {
        let node = &self.graph.nodes[id.index()];
        if node.options.prevent_delete.unwrap_or(false) != old.prevent_delete {
            return true;
        }
        let mut wanted = BTreeSet::new();
        for need in self.graph.provisioned(&self.edges[id.index()], &self.edges) {
            match self.old(need) {
                Some(resource) => wanted.insert(&resource.uid),
                None => return true,
            };
        }
        wanted != old.dependencies.iter().map(|dependency| &dependency.uid).collect()
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

    fn give_up(&mut self, id: NodeId, problem: Diagnostic) {
        self.problems.push((id, problem));
        self.assume_created(id);
    }

    /// After a problem planning goes on, to find the other ones.
    fn assume_created(&mut self, id: NodeId) {
        let (decision, inputs, changes) = (Decision::Create, BTreeMap::new(), Vec::new());
        self.decide(id, Decided { decision, inputs, changes });
    }
}

impl KnownOutputs for Planner<'_> {
    fn property(&self, id: NodeId, property: &str) -> Option<Value> {
        let decided = self.decided[id.index()].as_ref()?;
        let recorded = || self.old(id).and_then(|old| old.property(property)).cloned();
        let wanted = || decided.inputs.get(property).and_then(Input::as_known).cloned();
        match decided.decision {
            Decision::Same | Decision::Record => Some(recorded().unwrap_or_default()),
            Decision::Update => wanted().or_else(|| {
                let schema = self.catalog.get(&self.graph.nodes[id.index()].resource)?;
                schema.property(property).filter(|property| property.stable).and_then(|_| recorded())
            }),
            Decision::Create | Decision::Replace(_) => wanted(),
            Decision::Group => None,
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
