//! Resolves a selection to resources. Unselected resources keep their recorded state exactly.

use std::collections::{BTreeSet, HashMap, HashSet};

use stead_model::{Code, Diagnostic, Graph, Hint, Name, NextStep, NodeId, NodeKind, Resource, Uid};
use stead_state::State;

use crate::correlate::Correlation;
use crate::decide::{Decision, Planner};
use crate::request::{Follow, Request, Selection};
use crate::ties;

/// The selected resources: declared ones by node, removed ones by uid.
pub(crate) struct Selected {
    /// `None` selects all resources.
    part: Option<Part>,
}

struct Part {
    nodes: Vec<bool>,
    removed: HashMap<Uid, bool>,
}

impl Selected {
    pub(crate) fn of(
        base: &State,
        graph: &Graph,
        edges: &[BTreeSet<NodeId>],
        correlation: &Correlation<'_>,
        request: &Request,
    ) -> Result<Selected, Vec<Diagnostic>> {
        let selection = &request.selection;
        if selection.is_everything() && request.held.is_empty() {
            return Ok(Selected { part: None });
        }
        let candidates = Candidates::of(base, graph, edges, correlation);
        let selection = &selection.spelled_as(&candidates.names).map_err(|problem| vec![problem])?;
        let mut chosen = candidates.choose(selection);
        if !selection.is_everything()
            && !chosen
                .iter()
                .zip(&candidates.provisioned)
                .any(|(chosen, provisioned)| *chosen && *provisioned)
        {
            return Err(vec![nothing_selected(selection, &candidates.names)]);
        }
        let matched = correlation.matched.iter().map(|old| old.map(|old| &old.uid));
        let uids = matched.chain(candidates.removed.iter().map(Some));
        for (chosen, uid) in chosen.iter_mut().zip(uids) {
            *chosen = *chosen && !uid.is_some_and(|uid| request.held.contains(uid));
        }
        let (nodes, removed) = chosen.split_at(graph.nodes.len());
        let removed = candidates.removed.into_iter().zip(removed.iter().copied()).collect();
        Ok(Selected { part: Some(Part { nodes: nodes.to_vec(), removed }) })
    }

    pub(crate) fn is_everything(&self) -> bool {
        self.part.is_none()
    }

    pub(crate) fn touches(&self, id: NodeId) -> bool {
        self.part.as_ref().is_none_or(|part| part.nodes[id.index()])
    }

    /// Returns true if a recorded resource that is no longer declared may be touched.
    pub(crate) fn touches_removed(&self, uid: &Uid) -> bool {
        self.part.as_ref().is_none_or(|part| part.removed.get(uid).copied().unwrap_or(false))
    }

    /// Reports a dependency of a selected resource that is neither selected nor recorded.
    pub(crate) fn missing_dependency(&self, planner: &Planner<'_>, id: NodeId) -> Option<Diagnostic> {
        self.part.as_ref()?;
        let graph = planner.graph;
        let needs = graph.provisioned(&planner.edges[id.index()], &planner.edges);
        let absent = needs.into_iter().find(|need| {
            let decided = planner.decided[need.index()].as_ref();
            decided.is_some_and(|decided| decided.decision == Decision::Absent)
        })?;
        let (node, need) = (&graph.nodes[id.index()], &graph.nodes[absent.index()]);
        let message =
            format!("{} is selected and depends on {}, which does not exist yet", node.name, need.name);
        Some(
            Diagnostic::error(Code::NOT_SELECTED, message)
                .at(node.source.clone(), 0, "selected")
                .at(need.source.clone(), 0, "not selected")
                .help(NextStep::SelectDependencies),
        )
    }
}

impl Selection {
    /// Returns the selected recorded resources, where there is no program.
    pub fn of_records(&self, base: &State) -> Result<HashSet<Uid>, Diagnostic> {
        let (graph, request) = (Graph::default(), Request { selection: self.clone(), ..Request::default() });
        let correlation = Correlation::default();
        let selected = match Selected::of(base, &graph, &[], &correlation, &request) {
            Ok(selected) => selected,
            Err(mut problems) => return Err(problems.remove(0)),
        };
        let uids = base.copies().map(|resource| &resource.uid);
        Ok(uids.filter(|uid| selected.touches_removed(uid)).cloned().collect())
    }
}

/// All resources that could be selected: the nodes of the graph, then the recorded resources that are no longer declared.
struct Candidates<'a> {
    /// The declared and the recorded name of each candidate.
    names: Vec<Vec<&'a Name>>,
    /// Whether the candidate is a resource and not a group.
    provisioned: Vec<bool>,
    removed: Vec<Uid>,
    dependencies: Vec<Vec<usize>>,
    dependents: Vec<Vec<usize>>,
}

impl<'a> Candidates<'a> {
    fn of(
        base: &'a State,
        graph: &'a Graph,
        edges: &[BTreeSet<NodeId>],
        correlation: &Correlation<'a>,
    ) -> Candidates<'a> {
        let mut names: Vec<Vec<&Name>> = Vec::new();
        let mut at: HashMap<&Uid, usize> = HashMap::new();
        for (index, node) in graph.nodes.iter().enumerate() {
            let old = correlation.matched[index];
            names.push(std::iter::once(&node.name).chain(old.map(|old| &old.name)).collect());
            at.extend(old.map(|old| (&old.uid, index)));
        }
        let recorded: Vec<&Resource> = base.resources();
        let mut removed = Vec::new();
        for resource in &recorded {
            if !at.contains_key(&resource.uid) {
                at.insert(&resource.uid, names.len());
                names.push(vec![&resource.name]);
                removed.push(resource.uid.clone());
            }
        }
        let mut dependencies: Vec<Vec<usize>> =
            edges.iter().map(|needs| needs.iter().map(|need| need.index()).collect()).collect();
        dependencies.resize(names.len(), Vec::new());
        let mut dependents: Vec<Vec<usize>> = vec![Vec::new(); names.len()];
        for resource in recorded {
            let dependent = at[&resource.uid];
            for need in ties::needs(base, resource).filter_map(|need| at.get(&need.uid)) {
                if dependent >= graph.nodes.len() {
                    dependencies[dependent].push(*need);
                }
                dependents[*need].push(dependent);
            }
        }
        for (dependent, needs) in dependencies.iter().enumerate() {
            needs.iter().for_each(|need| dependents[*need].push(dependent));
        }
        let provisioned = graph.nodes.iter().map(|node| node.kind == NodeKind::Provisioned);
        let provisioned = provisioned.chain(std::iter::repeat_n(true, removed.len())).collect();
        Candidates { names, provisioned, removed, dependencies, dependents }
    }

    fn choose(&self, selection: &Selection) -> Vec<bool> {
        let mut chosen: Vec<bool> = self.names.iter().map(|names| selection.targets_any(names)).collect();
        if selection.reach.dependencies == Follow::Yes {
            extend(&mut chosen, &self.dependencies);
        }
        if selection.reach.dependents == Follow::Yes {
            extend(&mut chosen, &self.dependents);
        }
        for (chosen, names) in chosen.iter_mut().zip(&self.names) {
            *chosen = *chosen && !selection.excludes_any(names);
        }
        chosen
    }
}

/// Chooses all candidates that can be reached from a chosen one.
fn extend(chosen: &mut [bool], along: &[Vec<usize>]) {
    let mut todo: Vec<usize> = (0..chosen.len()).filter(|at| chosen[*at]).collect();
    while let Some(at) = todo.pop() {
        for &next in &along[at] {
            if !std::mem::replace(&mut chosen[next], true) {
                todo.push(next);
            }
        }
    }
}

fn nothing_selected(selection: &Selection, names: &[Vec<&Name>]) -> Diagnostic {
    let patterns: Vec<String> = selection.targets.iter().map(|glob| format!("`{}`", glob.as_str())).collect();
    let message = match patterns.as_slice() {
        [] => "all resources are excluded".to_owned(),
        patterns => format!("no resource is selected by {}", patterns.join(", ")),
    };
    let problem = Diagnostic::error(Code::NOTHING_SELECTED, message);
    let known: Vec<String> = names.iter().flatten().map(ToString::to_string).collect();
    let wanted = selection.targets.first().map(|glob| glob.as_str()).unwrap_or_default();
    let problem = match stead_model::nearest(wanted, known.iter().map(String::as_str)) {
        Some(nearest) => problem.help(format!("did you mean `{nearest}`?")),
        None => problem,
    };
    problem
        .help(Hint::text("to see the names: ").then(NextStep::ListState).and(", ").then(NextStep::ShowGraph))
}
