//! Progress of a run: all running steps on a terminal, lines elsewhere, one JSON event per line for programs.
//!
//! Without a terminal, every running step and every recovery has a line or an event at least every ten seconds, and reads have a
//! line. Lines that come close together are
//! written together.

use std::cell::RefCell;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use stead::ReadCount;
use stead_model::{Environment, Event};
use stead_render::{Running, Style, progress_line};
use stead_world::Clock;

use crate::redact;

/// Longest time that a line waits for others before it is written.
const TOGETHER: Duration = Duration::from_millis(100);

/// Time between two updates of a display.
const TICK: Duration = Duration::from_millis(250);

/// Longest time between two lines about reads.
const READS_TOLD: Duration = Duration::from_secs(10);

/// Writer of progress lines.
pub(crate) trait Sink {
    /// Takes a line; it may be written later.
    fn line(&self, text: &str);
    /// Takes an event for a program; it may be written later.
    fn event(&self, event: &Event);
    /// Writes all lines that were taken.
    fn flush(&self);
}

/// How progress is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Display {
    /// Lines that are overwritten, at most this many.
    Live {
        rows: usize,
    },
    Lines,
    Json,
}

pub(crate) struct Progress<'a> {
    sink: &'a dyn Sink,
    clock: Arc<dyn Clock>,
    environment: Environment,
    style: Style,
    display: Display,
    running: Running,
    bar: Option<ProgressBar>,
    flushed: Duration,
    reads: ReadCount,
    /// The last line about reads, or the beginning.
    reads_told: Duration,
}

impl<'a> Progress<'a> {
    pub(crate) fn new(
        sink: &'a dyn Sink,
        clock: Arc<dyn Clock>,
        environment: Environment,
        style: Style,
        display: Display,
    ) -> Progress<'a> {
        let flushed = clock.monotonic();
        Progress {
            sink,
            clock,
            environment,
            style,
            display,
            running: Running::default(),
            bar: None,
            flushed,
            reads: ReadCount::default(),
            reads_told: flushed,
        }
    }

    /// Shows these reads while no step runs.
    pub(crate) fn reading(self, reads: ReadCount) -> Progress<'a> {
        Progress { reads, ..self }
    }

    pub(crate) fn event(&mut self, event: &Event) {
        let now = self.clock.monotonic();
        self.running.event(event, now);
        self.tell(event);
        if now.saturating_sub(self.flushed) >= TOGETHER {
            self.flush(now);
        }
    }

    fn tell(&mut self, event: &Event) {
        if self.display == Display::Json {
            self.sink.event(event);
        } else {
            self.show(event);
        }
    }

    fn show(&mut self, event: &Event) {
        match event {
            Event::RunStarted { steps, .. } if matches!(self.display, Display::Live { .. }) => {
                self.start(*steps)
            }
            Event::StepEnded { .. } => self.bar.iter().for_each(|bar| bar.inc(1)),
            Event::RunEnded { .. } => self.bar.take().into_iter().for_each(|bar| bar.finish_and_clear()),
            _ => {}
        }
        self.list();
        if let Some(line) = progress_line(event, &self.environment, &self.style) {
            self.line(&line);
        }
    }

    fn line(&self, line: &str) {
        match &self.bar {
            Some(bar) => bar.println(redact::message(line)),
            None => self.sink.line(line),
        }
    }

    /// Shows all running steps below the bar.
    fn list(&self) {
        let (Some(bar), Display::Live { rows }) = (&self.bar, self.display) else { return };
        let style = Style { colour: false, ..self.style };
        let lines = self.running.lines(self.clock.monotonic(), rows, &self.environment, &style);
        let fitting =
            |line: &String| line.chars().take(self.style.width.saturating_sub(3)).collect::<String>();
        let shown = lines.iter().map(|line| format!("\n  {}", fitting(line))).collect::<String>();
        bar.set_message(redact::message(&shown).into_owned());
    }

    fn start(&mut self, steps: usize) {
        let bar = ProgressBar::with_draw_target(Some(steps as u64), ProgressDrawTarget::stderr());
        if let Ok(style) = ProgressStyle::with_template("{spinner} {pos}/{len} {elapsed}{msg}") {
            bar.set_style(style);
        }
        bar.enable_steady_tick(Duration::from_millis(120));
        self.bar = Some(bar);
    }

    /// Returns the time until the display needs an update.
    fn pause(&self) -> Duration {
        let due = self.running.next_due().map_or(TICK, |due| due.saturating_sub(self.clock.monotonic()));
        due.min(TICK)
    }

    fn tick(&mut self) {
        let now = self.clock.monotonic();
        // Recovery comes before the bar.
        if self.bar.is_some() {
            self.list();
        } else {
            for event in self.running.due(now) {
                self.tell(&event);
            }
            self.tell_reads(now);
        }
        self.flush(now);
    }

    /// Adds a line about the reads that are under way. Steps that run have lines of their own.
    fn tell_reads(&mut self, now: Duration) {
        let (under_way, ended) = (self.reads.under_way(), self.reads.ended());
        let is_due = now.saturating_sub(self.reads_told) + TICK >= READS_TOLD;
        if under_way == 0 || !is_due || self.display == Display::Json || self.running.next_due().is_some() {
            return;
        }
        self.reads_told = now;
        self.line(&format!("still reading: {ended} resources read, {under_way} under way"));
    }

    pub(crate) fn flush(&mut self, now: Duration) {
        self.flushed = now;
        self.sink.flush();
    }
}

/// Runs an operation, and updates its display as time passes.
pub(crate) async fn watch<T>(progress: &RefCell<Progress<'_>>, work: impl Future<Output = T>) -> T {
    let clock = progress.borrow().clock.clone();
    let mut work = pin!(work);
    let result = loop {
        let pause = progress.borrow().pause();
        tokio::select! {
            biased;
            result = &mut work => break result,
            () = clock.sleep(pause) => progress.borrow_mut().tick(),
        }
    };
    progress.borrow_mut().flush(clock.monotonic());
    result
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;
    use std::task::Poll;

    use stead_model::{Operation, StepEnd, TypeToken};
    use stead_world::Timestamp;

    use super::*;

    /// A clock whose time passes only when a task sleeps.
    #[derive(Default)]
    struct VirtualClock(Mutex<Duration>);

    #[async_trait::async_trait]
    impl Clock for VirtualClock {
        fn now(&self) -> Timestamp {
            Timestamp(0)
        }

        fn monotonic(&self) -> Duration {
            *self.0.lock().unwrap()
        }

        async fn sleep(&self, duration: Duration) {
            *self.0.lock().unwrap() += duration;
            tokio::task::yield_now().await;
        }
    }

    #[derive(Default)]
    struct Collected {
        lines: RefCell<Vec<String>>,
        flushes: RefCell<usize>,
    }

    impl Sink for Collected {
        fn line(&self, text: &str) {
            self.lines.borrow_mut().push(text.to_owned());
        }

        fn event(&self, event: &Event) {
            self.lines.borrow_mut().push(serde_json::to_string(event).unwrap());
        }

        fn flush(&self) {
            *self.flushes.borrow_mut() += 1;
        }
    }

    fn started(id: &str) -> Event {
        let name = format!("dev:main:local.Command#{id}").parse().unwrap();
        Event::StepStarted { operation: Operation::Create, name, ty: TypeToken("local.Command".into()) }
    }

    fn ended(id: &str) -> Event {
        let name = format!("dev:main:local.Command#{id}").parse().unwrap();
        Event::StepEnded { operation: Operation::Create, name, end: StepEnd::Done, millis: 34_000 }
    }

    fn shown<'a>(sink: &'a Collected, clock: &Arc<VirtualClock>, display: Display) -> RefCell<Progress<'a>> {
        let (environment, style) = (Environment::new("dev"), Style::default());
        RefCell::new(Progress::new(sink, clock.clone(), environment, style, display))
    }

    /// Waits until the clock shows this time.
    async fn until(clock: &VirtualClock, seconds: u64) {
        std::future::poll_fn(|context| {
            context.waker().wake_by_ref();
            let over = clock.monotonic() >= Duration::from_secs(seconds);
            if over { Poll::Ready(()) } else { Poll::Pending }
        })
        .await;
    }

    #[tokio::test]
    async fn running_steps_have_a_line_every_ten_seconds_without_a_terminal() {
        let (clock, sink) = (Arc::new(VirtualClock::default()), Collected::default());
        let progress = shown(&sink, &clock, Display::Lines);
        let work = async {
            progress.borrow_mut().event(&started("a"));
            progress.borrow_mut().event(&started("b"));
            until(&clock, 34).await;
            progress.borrow_mut().event(&ended("a"));
        };
        watch(&progress, work).await;
        insta::assert_snapshot!(sink.lines.borrow().join("\n"), @"
        still creating main:local.Command#a (10 s)
        still creating main:local.Command#b (10 s)
        still creating main:local.Command#a (20 s)
        still creating main:local.Command#b (20 s)
        still creating main:local.Command#a (30 s)
        still creating main:local.Command#b (30 s)
        created main:local.Command#a (34.0 s)
        ");
    }

    #[tokio::test]
    async fn running_steps_and_recoveries_have_an_event_every_ten_seconds_in_the_json_stream() {
        let (clock, sink) = (Arc::new(VirtualClock::default()), Collected::default());
        let progress = shown(&sink, &clock, Display::Json);
        let name = || "dev:main:local.Command#a".parse().unwrap();
        let operation = Operation::Create;
        let work = async {
            let run = stead_model::RunId("run-2".into());
            progress.borrow_mut().event(&Event::Recovering { operation, name: name(), run });
            until(&clock, 12).await;
            progress.borrow_mut().event(&Event::Recovered { operation, name: name(), millis: 12_000 });
            progress.borrow_mut().event(&started("a"));
            until(&clock, 25).await;
        };
        watch(&progress, work).await;
        insta::assert_snapshot!(sink.lines.borrow().join("\n"), @r#"
        {"event":"recovering","operation":"create","name":"dev:main:local.Command#a","run":"run-2"}
        {"event":"still_running","operation":"create","name":"dev:main:local.Command#a","phase":"recovery","millis":10000}
        {"event":"recovered","operation":"create","name":"dev:main:local.Command#a","millis":12000}
        {"event":"step_started","operation":"create","name":"dev:main:local.Command#a","type":"local.Command"}
        {"event":"still_running","operation":"create","name":"dev:main:local.Command#a","phase":"step","millis":10000}
        "#);
    }

    #[tokio::test]
    async fn reads_have_a_line_every_ten_seconds() {
        let (clock, sink, reads) =
            (Arc::new(VirtualClock::default()), Collected::default(), ReadCount::default());
        let progress = RefCell::new(shown(&sink, &clock, Display::Lines).into_inner().reading(reads.clone()));
        let work = async {
            drop(reads.begin(3));
            let first = reads.begin(40);
            until(&clock, 12).await;
            drop(first);
            until(&clock, 22).await;
            let _second = reads.begin(2);
            until(&clock, 34).await;
        };
        watch(&progress, work).await;
        let lines = sink.lines.borrow().join("\n");
        let told = [
            "still reading: 3 resources read, 40 under way",
            "still reading: 43 resources read, 2 under way",
        ];
        assert_eq!(lines.lines().collect::<Vec<_>>(), [told[0], told[1], told[1]], "{lines}");
    }

    #[tokio::test]
    async fn lines_that_come_close_together_are_written_together() {
        let (clock, sink) = (Arc::new(VirtualClock::default()), Collected::default());
        let progress = shown(&sink, &clock, Display::Lines);
        let work = async {
            for _ in 0..100_000 {
                progress.borrow_mut().event(&ended("a"));
            }
        };
        watch(&progress, work).await;
        assert_eq!(sink.lines.borrow().len(), 100_000);
        assert!(*sink.flushes.borrow() <= 2, "{}", sink.flushes.borrow());
    }
}
