//! Plans as text: the steps by scope, each with its reason and its differences; deletions and replacements last.

mod going;
mod reason;
mod step;
mod summary;

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde::Serialize;
use stead_model::{CopyRef, Environment, Name, Resource, TypeToken};
use stead_plan::{Action, Plan, Step, Why};
use stead_schema::TypeSchema;

use crate::{Detail, Paint, Style, change_lines};
use going::{Going, Recorded};
pub use summary::{Done, summary};

/// Number of new resources from which only their names are shown.
const MANY_NEW: usize = 40;

/// The stack that a plan is for.
pub struct Header<'a> {
    pub project: &'a str,
    pub environment: &'a Environment,
    pub target: &'a str,
}

/// A plan's surroundings: the state that it starts from, and the types of its resources.
pub struct View<'a> {
    pub header: Header<'a>,
    /// Returns the record of a copy.
    pub record: &'a dyn Fn(&CopyRef) -> Option<&'a Resource>,
    pub schema: &'a dyn Fn(&TypeToken) -> Option<&'a TypeSchema>,
    /// Declared resources without a change.
    pub unchanged: &'a [&'a Name],
    pub style: Style,
}

impl View<'_> {
    fn name(&self, name: &Name) -> String {
        name.shown_in(self.header.environment)
    }
}

/// Renders a plan with its summary.
pub fn plan(plan: &Plan, view: &View<'_>) -> String {
    let Header { project, environment, target } = &view.header;
    let style = &view.style;
    let title = format!("{project} · environment {environment} · target {target}");
    let mut out = format!("{}\n", style.paint(Paint::Strong, &title));
    if style.detail == Detail::Concise {
        out.push('\n');
    }
    let shown: Vec<&Step> = plan.steps.iter().filter(|step| is_shown(step)).collect();
    let (mut dangerous, safe): (Vec<&Step>, Vec<&Step>) =
        shown.into_iter().partition(|step| is_dangerous(step));
    dangerous.sort_by_key(|step| !matches!(step.action, Action::Create { .. }));
    let view = Sections { view, going: Going::of(plan), many_new: has_many_new(plan) };
    let mut unchanged = view.unchanged();
    view.section(&safe, &mut unchanged, &mut out);
    if style.detail == Detail::Full {
        view.rest(&unchanged, &mut out);
    }
    if !plan.output_changes.is_empty() {
        let blank = if style.detail == Detail::Concise { "" } else { "\n" };
        let _ = writeln!(out, "{blank}{} outputs", style.paint(Paint::Caution, "~"));
        if style.detail == Detail::Concise {
            for change in &plan.output_changes {
                let _ = writeln!(out, "    {}", change.path);
            }
        } else {
            // The outputs of a stack are what others use: never cut.
            let style = Style { detail: Detail::Full, ..*style };
            plan.output_changes.iter().for_each(|change| out.push_str(&change_lines(change, &style)));
        }
    }
    view.section(&dangerous, &mut BTreeMap::new(), &mut out);
    let _ = writeln!(out, "\n{}", summary(&plan.summary));
    out
}

/// Returns true if a plan is so large that the properties of new resources are left out.
pub fn leaves_out_new_properties(plan: &Plan, style: &Style) -> bool {
    style.detail == Detail::Normal && has_many_new(plan)
}

fn has_many_new(plan: &Plan) -> bool {
    plan.steps.iter().filter(|step| matches!(step.action, Action::Create { .. })).count() > MANY_NEW
}

/// A plan as JSON, with the records of the resources that go.
#[derive(Serialize)]
pub struct PlanJson<'p, 'a> {
    #[serde(flatten)]
    plan: &'p Plan,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    recorded: Vec<Recorded<'a>>,
}

/// Returns a plan for the JSON stream.
pub fn plan_json<'p, 'a>(plan: &'p Plan, view: &View<'a>) -> PlanJson<'p, 'a> {
    PlanJson { plan, recorded: going::recorded(plan, view) }
}

/// Renders the names of unchanged resources.
pub fn same<'n>(names: impl Iterator<Item = &'n Name>, environment: &Environment, style: &Style) -> String {
    let mut out = String::new();
    for name in names {
        let _ = writeln!(out, "  {} {}", style.paint(Paint::Quiet, "same"), name.shown_in(environment));
    }
    out
}

/// Returns false for internal steps, and for the deletion in a replacement, which is shown with its creation.
fn is_shown(step: &Step) -> bool {
    match (&step.action, &step.why) {
        (Action::Barrier, _) | (_, Why::NameVacated) => false,
        (Action::Delete { .. } | Action::Forget { .. }, Why::OldCopy) => false,
        (Action::Forget { .. }, Why::DeletedWithContainer { .. }) => step.node.is_none(),
        _ => true,
    }
}

/// Returns true for a step that destroys a real resource.
fn is_dangerous(step: &Step) -> bool {
    match (&step.action, &step.why) {
        (Action::Delete { .. }, _) | (Action::Create { .. }, Why::Replaced { .. }) => true,
        (Action::Forget { .. }, why) => matches!(why, Why::DeletedWithContainer { .. }),
        _ => false,
    }
}

struct Sections<'v, 'a> {
    view: &'v View<'a>,
    going: Going<'v>,
    many_new: bool,
}

impl Sections<'_, '_> {
    /// Returns the unchanged resources by scope.
    fn unchanged(&self) -> BTreeMap<String, Vec<String>> {
        let mut scopes: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for name in self.view.unchanged {
            let name = self.view.name(name);
            scopes.entry(scope(&name).to_owned()).or_default().push(name);
        }
        scopes
    }

    /// Renders steps by scope, and takes the scopes out of the unchanged resources.
    fn section(&self, steps: &[&Step], unchanged: &mut BTreeMap<String, Vec<String>>, out: &mut String) {
        let mut scopes: BTreeMap<String, Vec<&Step>> = BTreeMap::new();
        for step in steps {
            let name = self.view.name(&step.name);
            scopes.entry(scope(&name).to_owned()).or_default().push(step);
        }
        let titled = scopes.len() > 1;
        for (scope, steps) in scopes {
            let same = unchanged.remove(&scope).unwrap_or_default();
            if titled {
                self.title(&scope, steps.len(), same.len(), out);
            }
            let mut short = false;
            for step in steps {
                // Steps of one line each follow each other without blank lines.
                let is_short = self.is_short(step);
                if self.view.style.detail != Detail::Concise && !(short && is_short) {
                    out.push('\n');
                }
                short = is_short;
                step::describe(step, self, out);
            }
            if self.view.style.detail == Detail::Full && !same.is_empty() {
                out.push('\n');
                same.iter().for_each(|name| self.same(name, out));
            }
        }
    }

    /// Returns true if only the name of a new resource is shown, because there are many.
    fn is_short(&self, step: &Step) -> bool {
        let new = matches!((&step.action, &step.why), (Action::Create { .. }, Why::New));
        new && self.many_new && self.view.style.detail == Detail::Normal
    }

    fn title(&self, scope: &str, changes: usize, same: usize, out: &mut String) {
        let scope = if scope.is_empty() { "by global id" } else { scope };
        let same = if same == 0 { String::new() } else { format!(", … {same} unchanged") };
        let changes = if changes == 1 { "1 change".to_owned() } else { format!("{changes} changes") };
        let blank = if self.view.style.detail == Detail::Concise { "" } else { "\n" };
        let style = &self.view.style;
        let counts = style.paint(Paint::Quiet, &format!(": {changes}{same}"));
        let _ = writeln!(out, "{blank}{}{counts}", style.paint(Paint::Strong, scope));
    }

    /// Renders the scopes in which nothing changes.
    fn rest(&self, unchanged: &BTreeMap<String, Vec<String>>, out: &mut String) {
        if unchanged.is_empty() {
            return;
        }
        out.push('\n');
        unchanged.values().flatten().for_each(|name| self.same(name, out));
    }

    fn same(&self, name: &str, out: &mut String) {
        let _ = writeln!(out, "  {} {name}", self.view.style.paint(Paint::Quiet, "same"));
    }
}

/// Returns the module and the enclosing resources of a shown name: all before the type.
fn scope(name: &str) -> &str {
    name.rsplit_once(':').map_or("", |(scope, _)| scope)
}
