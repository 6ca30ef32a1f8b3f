//! Reasons of steps, in sentences.

use stead_model::PropertyPath;
use stead_plan::{Action, Certainty, Match, RecordChange, ReplacementCause, Step, Why};
use stead_schema::ReplaceOrder;

use super::View;
use crate::value;

/// Returns the reasons of a step: its own, and the resources that its unknown values come from.
pub(super) fn reasons(step: &Step, view: &View<'_>) -> Vec<String> {
    reason(step, view).into_iter().chain(dragged(step, view)).collect()
}

/// Returns the properties that a step changes.
pub(super) fn roots(step: &Step) -> Vec<String> {
    let roots: std::collections::BTreeSet<&str> =
        step.changes.iter().filter_map(|change| change.path.root()).collect();
    roots.into_iter().map(|root| format!("`{root}`")).collect()
}

fn reason(step: &Step, view: &View<'_>) -> Option<String> {
    Some(match &step.why {
        Why::New | Why::OldCopy | Why::Barrier | Why::NameVacated => return None,
        Why::Missing => "it is recorded, but no longer exists".to_owned(),
        Why::Changed => format!("{} changed", roots(step).join(", ")),
        Why::Replaced { forced_by, order, cause: drag, certainty } => {
            let cause = replaced(step, forced_by, drag.as_ref(), *certainty, view);
            let order = match order {
                ReplaceOrder::CreateFirst => "the new one is created first",
                ReplaceOrder::DeleteFirst => "the old one is deleted first",
            };
            format!("{cause}; {order}")
        }
        Why::Removed | Why::Destroyed if matches!(step.action, Action::Forget { .. }) => {
            "it no longer exists; only its record is removed".to_owned()
        }
        Why::Removed => "the program no longer declares it".to_owned(),
        Why::Destroyed => "`destroy` deletes it".to_owned(),
        Why::LeftOver => "an earlier run replaced it, but did not delete the old copy".to_owned(),
        Why::Retained if was_imported(step, view) => {
            "it was imported and never declared: it is forgotten, not deleted".to_owned()
        }
        Why::Retained => {
            "its deletion policy is `retain`: the real resource stays, without a record".to_owned()
        }
        Why::RetainedNameConflict => {
            "its deletion policy is `retain`, but its replacement needs the same name".to_owned()
        }
        Why::DeletedWithContainer { name } => format!("it is deleted with {}", view.name(name)),
        Why::Imported => match &step.action {
            Action::Import { id, .. } => {
                format!("it already exists, with the id {}", value(&id.as_str().into()))
            }
            _ => "it already exists".to_owned(),
        },
        Why::Moved { by } => match by {
            Match::Name | Match::Alias => "the program declares this as its former name",
            Match::Pinfile => "the pinfile records this move",
            Match::Rename | Match::Record => "it had this name before",
            Match::Identity => "it has no `id`, and it names the same real resource",
            Match::Content => "it has no `id`, and its content is the same",
            Match::Accepted => "it looks the same, and certain moves are applied",
        }
        .to_owned(),
        Why::RecordOnly { changes: noted } => {
            let noted: Vec<&str> = noted.iter().copied().map(changed_record).collect();
            format!("{}; only the record changes", noted.join(", "))
        }
    })
}

/// Returns true if a step forgets a resource that no program declared since its import.
fn was_imported(step: &Step, view: &View<'_>) -> bool {
    let Action::Forget { copy, .. } = &step.action else { return false };
    (view.record)(copy).is_some_and(|resource| resource.imported)
}

fn changed_record(noted: RecordChange) -> &'static str {
    match noted {
        RecordChange::Declared => "it was imported, and the program declares it now",
        RecordChange::Pinned => "it is pinned now",
        RecordChange::Unpinned => "it is no longer pinned",
        RecordChange::PreventDelete => "its protection against deletion changed",
        RecordChange::DeletionPolicy => "its deletion policy changed",
        RecordChange::MarkSource => "its marks are now set in another place",
        RecordChange::FormerNames => "its former names changed",
        RecordChange::Parent => "its parent changed",
        RecordChange::Provider => "its provider changed",
        RecordChange::DeletedWith => "its `deletedWith` changed",
        RecordChange::ReplaceWith => "its `replaceWith` changed",
        RecordChange::Dependencies => "its dependencies changed",
    }
}

fn replaced(
    step: &Step,
    forced_by: &[PropertyPath],
    drag: Option<&ReplacementCause>,
    certainty: Certainty,
    view: &View<'_>,
) -> String {
    let paths: Vec<String> = forced_by.iter().map(|path| format!("`{path}`")).collect();
    match (paths.as_slice(), drag) {
        ([], None) => "its type changed".to_owned(),
        ([], Some(ReplacementCause::ReplaceWith { name })) => {
            format!("it is replaced together with {}", view.name(name))
        }
        ([], Some(ReplacementCause::DeletedWith { name })) => {
            format!("it is deleted with the old {}", view.name(name))
        }
        ([], Some(ReplacementCause::Provider { name })) => {
            format!("its provider {} now points elsewhere", view.name(name))
        }
        ([], Some(ReplacementCause::DefaultProvider)) => {
            "the target's default provider manages another place".to_owned()
        }
        (_, Some(ReplacementCause::Requested)) => "the command asks for its replacement".to_owned(),
        (paths, _) if step.changes.iter().all(|change| !change.replaces || change.tried_in_place) => {
            format!("{} is not always changed in place; that is tried first", paths.join(", "))
        }
        (paths, _) if certainty == Certainty::Possible => {
            format!("{} may change, and cannot be changed in place", paths.join(", "))
        }
        (paths, _) => format!("{} cannot be changed in place", paths.join(", ")),
    }
}

/// Renders the resources that the unknown values of a step come from.
fn dragged(step: &Step, view: &View<'_>) -> Option<String> {
    let names: Vec<String> = step.unknown_from.iter().take(3).map(|name| view.name(name)).collect();
    let more = step.unknown_from.len().saturating_sub(names.len());
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    (!names.is_empty()).then(|| format!("of changes to {}{more}", names.join(", ")))
}
