//! Events of a run, one line each, and the steps under way.

use std::time::Duration;

use stead_model::{Environment, Event, Name, Operation, StepEnd};

use crate::{Paint, Style};

/// Renders an event that ends a step or that a person should see; `None` for any other.
pub fn progress_line(event: &Event, environment: &Environment, style: &Style) -> Option<String> {
    let shown = |name: &Name| name.shown_in(environment);
    match event {
        Event::StepEnded { operation, name, end, millis } => {
            let done = match operation {
                Operation::Create => "created",
                Operation::Update => "updated",
                Operation::Delete => "deleted",
            };
            let (verb, name) = (operation.verb(), shown(name));
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
            let (finishing, verb) = (style.paint(Paint::Caution, "finishing"), operation.verb());
            Some(format!("{finishing} the {verb} of {}", shown(name)))
        }
        Event::StepRetried { operation, name, because, millis, .. } => Some(format!(
            "{} {}: {because}{}",
            style.paint(Paint::Caution, &format!("{} will be retried", operation.verb())),
            shown(name),
            time((*millis).max(500), style)
        )),
        Event::StepReplaces { name, because, .. } => Some(format!(
            "{} {}: the service refuses the change in place: {because}",
            style.paint(Paint::Caution, "replacing"),
            shown(name)
        )),
        Event::StepWarned { operation, name, message } => Some(format!(
            "{} {} {}: {message}",
            style.paint(Paint::Caution, "warning:"),
            operation.verb(),
            shown(name)
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

/// Longest time without a line about a step under way.
const SILENCE: Duration = Duration::from_secs(10);

/// The steps under way. Time is that of the caller's clock.
#[derive(Default)]
pub struct Running(Vec<Step>);

struct Step {
    operation: Operation,
    name: Name,
    since: Duration,
    /// Time of the last line about the step.
    told: Duration,
}

impl Running {
    /// Takes note of a step that starts, ends or is retried.
    pub fn event(&mut self, event: &Event, now: Duration) {
        match event {
            Event::StepStarted { operation, name, .. } => {
                self.0.push(Step { operation: *operation, name: name.clone(), since: now, told: now });
            }
            Event::StepEnded { operation, name, .. } => {
                self.0.retain(|step| step.operation != *operation || step.name != *name);
            }
            Event::StepRetried { operation, name, .. } | Event::StepReplaces { operation, name, .. } => {
                let retried = |step: &&mut Step| step.operation == *operation && step.name == *name;
                self.0.iter_mut().filter(retried).for_each(|step| step.told = now);
            }
            Event::RunEnded { .. } => self.0.clear(),
            Event::RunStarted { .. }
            | Event::Recovering { .. }
            | Event::StepWarned { .. }
            | Event::Stopping { .. } => {}
        }
    }

    /// Returns the time of the next line, if a step is under way.
    pub fn next_due(&self) -> Option<Duration> {
        self.0.iter().map(|step| step.told + SILENCE).min()
    }

    /// Returns a line for each step about which there was none for ten seconds.
    pub fn due(&mut self, now: Duration, environment: &Environment, style: &Style) -> Vec<String> {
        let silent = self.0.iter_mut().filter(|step| now.saturating_sub(step.told) >= SILENCE);
        silent
            .map(|step| {
                step.told = now;
                format!("{} {}", style.paint(Paint::Quiet, "still"), step.line(now, environment, style))
            })
            .collect()
    }

    /// Returns a line for each step under way, oldest first; steps beyond `rows` are counted.
    pub fn lines(&self, now: Duration, rows: usize, environment: &Environment, style: &Style) -> Vec<String> {
        let shown = if self.0.len() > rows { rows.saturating_sub(1) } else { self.0.len() };
        let mut lines: Vec<String> =
            self.0.iter().take(shown).map(|step| step.line(now, environment, style)).collect();
        if let Some(more) = self.0.len().checked_sub(shown).filter(|more| *more > 0) {
            lines.push(format!("and {more} more"));
        }
        lines
    }
}

impl Step {
    fn line(&self, now: Duration, environment: &Environment, style: &Style) -> String {
        let doing = match self.operation {
            Operation::Create => "creating",
            Operation::Update => "updating",
            Operation::Delete => "deleting",
        };
        let elapsed = style.paint(Paint::Quiet, &format!("({})", elapsed(now.saturating_sub(self.since))));
        format!("{doing} {} {elapsed}", self.name.shown_in(environment))
    }
}

fn elapsed(time: Duration) -> String {
    match time.as_secs() {
        seconds @ 0..60 => format!("{seconds} s"),
        seconds => format!("{} min {} s", seconds / 60, seconds % 60),
    }
}

#[cfg(test)]
mod tests {
    use stead_model::TypeToken;

    use super::*;

    fn started(name: &str) -> Event {
        let ty = TypeToken("local.Command".into());
        Event::StepStarted { operation: Operation::Create, name: name.parse().unwrap(), ty }
    }

    fn ended(name: &str) -> Event {
        let (operation, name) = (Operation::Create, name.parse().unwrap());
        Event::StepEnded { operation, name, end: StepEnd::Done, millis: 1 }
    }

    #[test]
    fn every_step_under_way_gets_a_line_every_ten_seconds() {
        let (dev, style) = (Environment::new("dev"), Style::default());
        let at = Duration::from_secs;
        let (mut running, mut lines) = (Running::default(), Vec::new());
        running.event(&started("dev:main:local.Command#a"), at(0));
        running.event(&started("dev:main:local.Command#b"), at(3));
        for second in 1..=75 {
            if second == 40 {
                running.event(&ended("dev:main:local.Command#b"), at(40));
            }
            let due = running.due(at(second), &dev, &style);
            lines.extend(due.into_iter().map(|line| format!("{second}: {line}")));
        }
        insta::assert_snapshot!(lines.join("\n"), @"
        10: still creating main:local.Command#a (10 s)
        13: still creating main:local.Command#b (10 s)
        20: still creating main:local.Command#a (20 s)
        23: still creating main:local.Command#b (20 s)
        30: still creating main:local.Command#a (30 s)
        33: still creating main:local.Command#b (30 s)
        40: still creating main:local.Command#a (40 s)
        50: still creating main:local.Command#a (50 s)
        60: still creating main:local.Command#a (1 min 0 s)
        70: still creating main:local.Command#a (1 min 10 s)
        ");
        assert_eq!(running.next_due(), Some(at(80)));
    }

    #[test]
    fn warning_and_replacement_say_what_the_service_said() {
        let name = || "dev:main:aws.s3.Bucket#b".parse().unwrap();
        let line = |event: &Event| progress_line(event, &Environment::new("dev"), &Style::default()).unwrap();
        let (operation, message) = (Operation::Create, "hook Acme::Named: no name".to_owned());
        insta::assert_snapshot!(
            line(&Event::StepWarned { operation, name: name(), message }),
            @"warning: create main:aws.s3.Bucket#b: hook Acme::Named: no name"
        );
        let (operation, because) = (Operation::Update, "NotUpdatable: no".to_owned());
        insta::assert_snapshot!(
            line(&Event::StepReplaces { operation, name: name(), because }),
            @"replacing main:aws.s3.Bucket#b: the service refuses the change in place: NotUpdatable: no"
        );
    }

    #[test]
    fn all_steps_under_way_are_listed_with_their_time() {
        let (dev, style) = (Environment::new("dev"), Style::default());
        let mut running = Running::default();
        for (second, id) in ["a", "b", "c"].iter().enumerate() {
            let name = format!("dev:main:local.Command#{id}");
            running.event(&started(&name), Duration::from_secs(second as u64));
        }
        let lines = |rows| running.lines(Duration::from_secs(62), rows, &dev, &style).join("\n");
        insta::assert_snapshot!(lines(3), @"
        creating main:local.Command#a (1 min 2 s)
        creating main:local.Command#b (1 min 1 s)
        creating main:local.Command#c (1 min 0 s)
        ");
        insta::assert_snapshot!(lines(2), @"
        creating main:local.Command#a (1 min 2 s)
        and 2 more
        ");
    }
}
