//! Numbers of resources by kind of change, before and after a run.

use std::collections::BTreeSet;
use std::fmt;

use stead_model::{Event, Name, Operation, StepEnd};
use stead_plan::{Plan, Summary, Why};

/// Renders a summary: `2 to create, 1 to replace, 3 unchanged`.
pub fn summary(summary: &Summary) -> String {
    let Summary { create, update, replace, delete, import, moved, forget, unchanged, left_alone, .. } =
        summary;
    let parts = [
        (create, "to create"),
        (import, "to import"),
        (update, "to update"),
        (replace, "to replace"),
        (moved, "to rename"),
        (delete, "to delete"),
        (forget, "to forget"),
        (left_alone, "left alone"),
    ];
    let mut text = counted(&parts.map(|(count, label)| (*count, label)));
    text.push(format!("{unchanged} unchanged"));
    text.join(", ")
}

fn counted(parts: &[(usize, &str)]) -> Vec<String> {
    let parts = parts.iter().filter(|(count, _)| *count > 0);
    parts.map(|(count, label)| format!("{count} {label}")).collect()
}

/// Changes that a run made, in the units of its plan.
///
/// A replacement has two steps and is one change. A possible replacement that turned out to be unnecessary is none.
pub struct Done {
    replaced: BTreeSet<Name>,
    count: Summary,
}

impl Done {
    /// Starts to count the changes of a plan. Steps that only change records count as done.
    pub fn new(plan: &Plan) -> Done {
        let replaced = plan.steps.iter().filter(|step| matches!(step.why, Why::Replaced { .. }));
        let Summary { import, moved, forget, .. } = plan.summary;
        Done {
            replaced: replaced.map(|step| step.name.clone()).collect(),
            count: Summary { import, moved, forget, ..Summary::default() },
        }
    }

    pub fn event(&mut self, event: &Event) {
        let Event::StepEnded { operation, name, end: StepEnd::Done, .. } = event else { return };
        match (operation, self.replaced.contains(name)) {
            (Operation::Create, true) => self.count.replace += 1,
            (Operation::Create, false) => self.count.create += 1,
            (Operation::Update, _) => self.count.update += 1,
            (Operation::Delete, true) => {}
            (Operation::Delete, false) => self.count.delete += 1,
        }
    }
}

impl fmt::Display for Done {
    /// Prints `2 created, 1 replaced`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Summary { create, update, replace, delete, import, moved, forget, .. } = self.count;
        let parts = counted(&[
            (create, "created"),
            (import, "imported"),
            (update, "updated"),
            (replace, "replaced"),
            (moved, "renamed"),
            (delete, "deleted"),
            (forget, "forgotten"),
        ]);
        if parts.is_empty() { f.write_str("no resource changed") } else { f.write_str(&parts.join(", ")) }
    }
}
