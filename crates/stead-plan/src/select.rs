//! Which resources a plan may touch. What is not selected keeps its recorded state exactly.

use std::collections::{BTreeSet, HashMap, HashSet};

use stead_model::{Code, Diagnostic, Graph, Name, NodeId, NodeKind, Resource, Uid};
use stead_state::State;

use crate::circle::circle;
use crate::correlate::Correlation;
use crate::judge::Decision;
use crate::planner::Planner;
use crate::request::{Follow, Request, Selection};
use crate::ties;

/// The outcome of a selection: declared resources by node, removed ones by uid.
pub(crate) struct Selected {
    /// `None`: everything.
    units: Option<Units>,
}

struct Units {
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
        if selection.is_everything() {
            return Ok(Selected { units: None });
        }
        let units = Everything::of(base, graph, edges, correlation);
        let chosen = units.choose(selection);
        if !chosen.iter().zip(&units.real).any(|(chosen, real)| *chosen && *real) {
            return Err(vec![nothing(selection, &units.names)]);
        }
        let (nodes, removed) = chosen.split_at(graph.nodes.len());
        let removed = units.removed.into_iter().zip(removed.iter().copied()).collect();
        Ok(Selected { units: Some(Units { nodes: nodes.to_vec(), removed }) })
    }

    pub(crate) fn is_everything(&self) -> bool {
        self.units.is_none()
    }

    pub(crate) fn touches(&self, id: NodeId) -> bool {
        #[cfg(stead_planted)]
        if stead_model::planted::is("unselected-touched") {
            return true;
        }
        self.units.as_ref().is_none_or(|units| units.nodes[id.index()])
    }

    /// Whether a recorded resource that the program does not declare may be touched.
    pub(crate) fn touches_removed(&self, uid: &Uid) -> bool {
        self.units.as_ref().is_none_or(|units| units.removed.get(uid).copied().unwrap_or(false))
    }

    /// A selected resource that needs one which is neither selected nor there cannot be made.
    pub(crate) fn missing_need(&self, planner: &Planner<'_>, id: NodeId) -> Option<Diagnostic> {
        self.units.as_ref()?;
        let graph = planner.graph;
        let needs = graph.provisioned(&planner.edges[id.index()], &planner.edges);
        let absent = needs.into_iter().find(|need| {
            let decided = planner.decided[need.index()].as_ref();
            decided.is_some_and(|decided| decided.decision == Decision::Absent)
        })?;
        let (node, need) = (&graph.nodes[id.index()], &graph.nodes[absent.index()]);
        let message = format!("{} is selected and needs {}, which does not exist yet", node.name, need.name);
        Some(
            Diagnostic::error(Code::NOT_SELECTED, message)
                .at(node.source.clone(), 0, "selected")
                .at(need.source.clone(), 0, "not selected")
                .help("select what it needs too, with `--with-dependencies`"),
        )
    }
}

impl Selection {
    /// The recorded resources that are selected, where there is no program.
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

/// All that could be selected: the nodes of the graph, then what is recorded and no longer declared.
struct Everything<'a> {
    names: Vec<Vec<&'a Name>>,
    real: Vec<bool>,
    removed: Vec<Uid>,
    needs: Vec<Vec<usize>>,
    dependants: Vec<Vec<usize>>,
}

impl<'a> Everything<'a> {
    fn of(
        base: &'a State,
        graph: &'a Graph,
        edges: &[BTreeSet<NodeId>],
        correlation: &Correlation<'a>,
    ) -> Everything<'a> {
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
        let mut needs: Vec<Vec<usize>> =
            edges.iter().map(|needs| needs.iter().map(|need| need.index()).collect()).collect();
        needs.resize(names.len(), Vec::new());
        let mut dependants: Vec<Vec<usize>> = vec![Vec::new(); names.len()];
        for resource in recorded {
            let unit = at[&resource.uid];
            for need in ties::needs(base, resource).filter_map(|need| at.get(&need.uid)) {
                if unit >= graph.nodes.len() {
                    needs[unit].push(*need);
                }
                dependants[*need].push(unit);
            }
        }
        for (unit, needs) in needs.iter().enumerate() {
            needs.iter().for_each(|need| dependants[*need].push(unit));
        }
        let provisioned = graph.nodes.iter().map(|node| node.kind == NodeKind::Provisioned);
        let real = provisioned.chain(std::iter::repeat_n(true, removed.len())).collect();
        Everything { names, real, removed, needs, dependants }
    }

    fn choose(&self, selection: &Selection) -> Vec<bool> {
        let mut chosen: Vec<bool> = self.names.iter().map(|names| selection.aims_at(names)).collect();
        if selection.reach.dependencies == Follow::Yes {
            spread(&mut chosen, &self.needs);
        }
        if selection.reach.dependants == Follow::Yes {
            spread(&mut chosen, &self.dependants);
        }
        for (chosen, names) in chosen.iter_mut().zip(&self.names) {
            *chosen = *chosen && !selection.excludes(names);
        }
        chosen
    }
}

fn spread(chosen: &mut [bool], along: &[Vec<usize>]) {
    let mut todo: Vec<usize> = (0..chosen.len()).filter(|unit| chosen[*unit]).collect();
    while let Some(unit) = todo.pop() {
        for &next in &along[unit] {
            if !std::mem::replace(&mut chosen[next], true) {
                todo.push(next);
            }
        }
    }
}

fn nothing(selection: &Selection, names: &[Vec<&Name>]) -> Diagnostic {
    let patterns: Vec<String> = selection.targets.iter().map(|glob| format!("`{}`", glob.as_str())).collect();
    let message = match patterns.as_slice() {
        [] => "everything is excluded".to_owned(),
        patterns => format!("no resource is selected by {}", patterns.join(", ")),
    };
    let problem = Diagnostic::error(Code::NOTHING_SELECTED, message);
    let known: Vec<String> = names.iter().flatten().map(ToString::to_string).collect();
    let wanted = selection.targets.first().map(|glob| glob.as_str()).unwrap_or_default();
    let problem = match stead_model::nearest(wanted, known.iter().map(String::as_str)) {
        Some(nearest) => problem.help(format!("did you mean `{nearest}`?")),
        None => problem,
    };
    problem.help("`stead state ls` lists what is recorded, `stead graph` what is declared")
}

/// What a partial plan would leave behind: kept resources that need deleted ones, or each other in a circle.
pub(crate) fn check_kept(planner: &Planner<'_>) -> Vec<Diagnostic> {
    if planner.selected.is_everything() {
        return Vec::new();
    }
    let declared: HashMap<&Uid, NodeId> =
        planner.graph.ids().filter_map(|id| Some((&planner.old(id)?.uid, id))).collect();
    let goes = |uid: &Uid| !declared.contains_key(uid) && planner.selected.touches_removed(uid);
    let stays = |resource: &&Resource| match declared.get(&resource.uid) {
        Some(id) => !planner.selected.touches(*id),
        None => !planner.selected.touches_removed(&resource.uid),
    };
    let mut problems = Vec::new();
    for kept in planner.base.resources().into_iter().filter(stays) {
        if let Some(gone) = ties::needs(planner.base, kept).find(|need| goes(&need.uid)) {
            let message = format!("{} would be deleted, and {} needs it", gone.name, kept.name);
            problems.push(
                Diagnostic::error(Code::NOT_SELECTED, message)
                    .at(kept.source.clone(), 0, "not selected")
                    .help("select what needs it too, with `--with-dependents`"),
            );
        }
    }
    problems.extend(circle(planner, &declared).map(|cycle| {
        Diagnostic::error(Code::NOT_SELECTED, cycle.to_string())
            .note("Some of these are not selected and keep what is recorded of them.")
            .help("select all of them")
    }));
    problems
}
