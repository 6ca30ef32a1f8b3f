//! Events of a run, one line each.

use stead_model::{Event, Operation, StepEnd};

use crate::{Paint, Style};

/// Renders an event that ends a step or that a person should see; `None` for any other.
pub fn progress_line(event: &Event, style: &Style) -> Option<String> {
    match event {
        Event::StepEnded { operation, name, end, millis } => {
            let done = match operation {
                Operation::Create => "created",
                Operation::Update => "updated",
                Operation::Delete => "deleted",
            };
            let verb = operation.verb();
            Some(match end {
                StepEnd::Done => {
                    format!("{} {name}{}", style.paint(Paint::Good, done), time(*millis, style))
                }
                StepEnd::Failed { .. } => {
                    format!(
                        "{} {name}{}",
                        style.paint(Paint::Danger, &format!("{verb} failed")),
                        time(*millis, style)
                    )
                }
                StepEnd::InDoubt { .. } => {
                    format!("{} {name}", style.paint(Paint::Danger, &format!("{verb} in doubt")))
                }
                StepEnd::Skipped { because } => {
                    format!("{} {name}: {because}", style.paint(Paint::Caution, &format!("{verb} skipped")))
                }
            })
        }
        Event::Recovering { operation, name, .. } => {
            Some(format!("{} the {} of {name}", style.paint(Paint::Caution, "finishing"), operation.verb()))
        }
        Event::StepRetried { operation, name, because, millis, .. } => Some(format!(
            "{} {name}: {because}{}",
            style.paint(Paint::Caution, &format!("{} will be retried", operation.verb())),
            time((*millis).max(500), style)
        )),
        Event::Stopping { under_way } => Some(format!(
            "{} {under_way} under way will finish, and no new operation starts; interrupt again to stop at once",
            style.paint(Paint::Caution, "stopping:")
        )),
        Event::RunStarted { .. } | Event::StepStarted { .. } | Event::RunEnded { .. } => None,
    }
}

/// Renders a duration that a person would notice.
fn time(millis: u64, style: &Style) -> String {
    if millis < 500 {
        return String::new();
    }
    style.paint(Paint::Quiet, &format!(" ({:.1} s)", millis as f64 / 1000.0))
}
