//! Events of a run, one line each, and the steps under way.

use std::time::Duration;

use stead_model::{Environment, Event, Name, Operation, Phase, StepEnd};

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
        Event::StillRunning { operation, name, phase, millis } => {
            let still = style.paint(Paint::Quiet, "still");
            Some(format!("{still} {}", doing((*operation, *phase), &shown(name), *millis, style)))
        }
        Event::RunStarted { .. }
        | Event::Recovered { .. }
        | Event::StepStarted { .. }
        | Event::RunEnded { .. } => None,
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
    phase: Phase,
    since: Duration,
    /// Time of the last line about the step.
    told: Duration,
}

impl Running {
    /// Takes note of a step that starts, ends or is retried.
    pub fn event(&mut self, event: &Event, now: Duration) {
        match event {
            Event::StepStarted { operation, name, .. } => {
                self.0.push(Step::started(*operation, name, Phase::Step, now));
            }
            Event::Recovering { operation, name, .. } => {
                self.0.push(Step::started(*operation, name, Phase::Recovery, now));
            }
            Event::StepEnded { operation, name, .. } => self.end(*operation, name, Phase::Step),
            Event::Recovered { operation, name, .. } => self.end(*operation, name, Phase::Recovery),
            Event::StepRetried { operation, name, .. } | Event::StepReplaces { operation, name, .. } => {
                let retried = |step: &&mut Step| step.operation == *operation && step.name == *name;
                self.0.iter_mut().filter(retried).for_each(|step| step.told = now);
            }
            Event::RunEnded { .. } => self.0.clear(),
            Event::RunStarted { .. }
            | Event::StillRunning { .. }
            | Event::StepWarned { .. }
            | Event::Stopping { .. } => {}
        }
    }

    fn end(&mut self, operation: Operation, name: &Name, phase: Phase) {
        self.0.retain(|step| (step.operation, &step.name, step.phase) != (operation, name, phase));
    }

    /// Returns the time of the next line, if a step is under way.
    pub fn next_due(&self) -> Option<Duration> {
        self.0.iter().map(|step| step.told + SILENCE).min()
    }

    /// Returns an event for each step about which there was none for ten seconds.
    pub fn due(&mut self, now: Duration) -> Vec<Event> {
        let silent = self.0.iter_mut().filter(|step| now.saturating_sub(step.told) >= SILENCE);
        silent
            .map(|step| {
                step.told = now;
                step.still_running(now)
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
    fn started(operation: Operation, name: &Name, phase: Phase, now: Duration) -> Step {
        Step { operation, name: name.clone(), phase, since: now, told: now }
    }

    fn millis(&self, now: Duration) -> u64 {
        now.saturating_sub(self.since).as_millis() as u64
    }

    fn still_running(&self, now: Duration) -> Event {
        let Step { operation, ref name, phase, .. } = *self;
        Event::StillRunning { operation, name: name.clone(), phase, millis: self.millis(now) }
    }

    fn line(&self, now: Duration, environment: &Environment, style: &Style) -> String {
        let shown = self.name.shown_in(environment);
        doing((self.operation, self.phase), &shown, self.millis(now), style)
    }
}

/// Renders the operations under way, and for how long.
fn doing((operation, phase): (Operation, Phase), name: &str, millis: u64, style: &Style) -> String {
    let elapsed = style.paint(Paint::Quiet, &format!("({})", elapsed(Duration::from_millis(millis))));
    let doing = match (phase, operation) {
        (Phase::Recovery, operation) => &format!("finishing the {} of", operation.verb()),
        (Phase::Step, Operation::Create) => "creating",
        (Phase::Step, Operation::Update) => "updating",
        (Phase::Step, Operation::Delete) => "deleting",
    };
    format!("{doing} {name} {elapsed}")
}

fn elapsed(time: Duration) -> String {
    match time.as_secs() {
        seconds @ 0..60 => format!("{seconds} s"),
        seconds => format!("{} min {} s", seconds / 60, seconds % 60),
    }
}

#[cfg(test)]
mod tests {
    use stead_model::{RunId, TypeToken};

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
            let due = running.due(at(second));
            let due = due.iter().filter_map(|event| progress_line(event, &dev, &style));
            lines.extend(due.map(|line| format!("{second}: {line}")));
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
    fn recovery_has_a_line_every_ten_seconds_until_it_ends() {
        let (dev, style) = (Environment::new("dev"), Style::default());
        let at = Duration::from_secs;
        let name = || "dev:main:local.Command#a".parse().unwrap();
        let operation = Operation::Update;
        let mut running = Running::default();
        running.event(&Event::Recovering { operation, name: name(), run: RunId("run-2".into()) }, at(0));
        let lines: Vec<String> =
            running.due(at(10)).iter().filter_map(|event| progress_line(event, &dev, &style)).collect();
        assert_eq!(lines, ["still finishing the update of main:local.Command#a (10 s)"]);
        running.event(&Event::Recovered { operation, name: name(), millis: 14_000 }, at(14));
        assert_eq!(running.due(at(60)), []);
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
