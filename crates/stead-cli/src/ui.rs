//! Output of commands: results to stdout and the rest to stderr, or one JSON object per line.

use std::cell::RefCell;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde::Serialize;
use stead::ops::OpEvent;
use stead::{ConsoleLevel, ConsoleLine, Notice};
use stead_model::{Diagnostic, Event, Severity};
use stead_render::{Style, json_line, progress_line};
use stead_world::{Files, World};

use crate::args::Common;
use crate::failure::{Failure, Preface};
use crate::hints;
use crate::pins;
use crate::wiring::Terminal;

/// Reader of the output: a person, or a program that passed `--json`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reader {
    Person,
    Program,
}

impl Reader {
    /// Returns the reader of a command line that was not parsed.
    pub(crate) fn of_words(words: impl IntoIterator<Item = OsString>) -> Reader {
        let json = |word: OsString| word == "--json" || word == "-json";
        if words.into_iter().any(json) { Reader::Program } else { Reader::Person }
    }
}

pub(crate) struct Ui {
    reader: Reader,
    terminal: Terminal,
    /// Root of the project and its files, to quote source lines in problems.
    sources: RefCell<Option<(PathBuf, Arc<dyn Files>)>>,
}

impl Ui {
    pub(crate) fn new(common: &Common, terminal: Terminal) -> Ui {
        Ui::with_reader(if common.json { Reader::Program } else { Reader::Person }, terminal)
    }

    pub(crate) fn with_reader(reader: Reader, terminal: Terminal) -> Ui {
        Ui { reader, terminal, sources: RefCell::new(None) }
    }

    /// Returns true if the output is JSON.
    pub(crate) fn is_json(&self) -> bool {
        self.reader == Reader::Program
    }

    pub(crate) fn interactive(&self) -> bool {
        self.terminal.interactive && self.reader == Reader::Person
    }

    /// Sets the project whose source lines problems quote.
    pub(crate) fn set_project(&self, root: &Path, world: &World) {
        *self.sources.borrow_mut() = Some((root.to_owned(), world.files.clone()));
    }

    fn source(&self, file: &str) -> Option<String> {
        let sources = self.sources.borrow();
        let (root, files) = sources.as_ref()?;
        String::from_utf8(files.read(&root.join(file)).ok()?).ok()
    }

    pub(crate) fn out_style(&self) -> Style {
        Style { colour: self.terminal.stdout_colour, width: self.terminal.width }
    }

    pub(crate) fn err_style(&self) -> Style {
        Style { colour: self.terminal.stderr_colour, width: self.terminal.width }
    }

    /// Writes a result for a person to stdout.
    pub(crate) fn result(&self, text: &str) {
        if self.reader == Reader::Person {
            write(&mut std::io::stdout().lock(), text);
        }
    }

    /// Writes a result for a program to stdout, as one line of JSON.
    pub(crate) fn json<T: Serialize>(&self, kind: &str, body: &T) {
        if self.reader == Reader::Program {
            write(&mut std::io::stdout().lock(), &json_line(kind, body));
        }
    }

    /// Writes a result that is the same for persons and programs to stdout.
    pub(crate) fn raw(&self, text: &str) {
        write(&mut std::io::stdout().lock(), text);
    }

    /// Writes a line for a person to stderr.
    pub(crate) fn note(&self, text: &str) {
        if self.reader == Reader::Person {
            write(&mut std::io::stderr().lock(), &format!("{text}\n"));
        }
    }

    pub(crate) fn problem(&self, problem: &Diagnostic) {
        let problem = problem.phrased(&hints::phrase);
        match self.reader {
            Reader::Program => self.json("problem", &problem),
            Reader::Person => {
                let mut text =
                    stead_render::diagnostic(&problem, &|file| self.source(file), &self.err_style());
                if problem.severity == Severity::Error {
                    text.push('\n');
                }
                write(&mut std::io::stderr().lock(), &text);
            }
        }
    }

    pub(crate) fn problems(&self, problems: &[Diagnostic]) {
        problems.iter().for_each(|problem| self.problem(problem));
    }

    /// Shows a warning or a console line of an evaluation.
    pub(crate) fn notice(&self, notice: &Notice<'_>) {
        match notice {
            Notice::Console(line) => self.note(&console_text(line)),
            Notice::Warning(warning) => self.problem(warning),
        }
    }

    /// Returns a listener that shows the progress of an operation.
    pub(crate) fn listener(&self) -> impl FnMut(OpEvent) + '_ {
        let mut progress = self.progress();
        move |event| match event {
            OpEvent::Run(event) => progress.event(&event),
            OpEvent::Waiting(owner) => self.note(&format!(
                "Waiting: {} on {} has held the lock since {}.",
                owner.user, owner.host, owner.since
            )),
            OpEvent::TakenOver { .. } => self.note("The holder sends no heartbeat; taking over the lock."),
            OpEvent::PinfileRead | OpEvent::RecoveryStarted { .. } | OpEvent::RunOpened { .. } => {}
        }
    }

    /// Shows the problems of a failed command, and returns its exit code.
    pub(crate) fn report_failure(&self, failure: &Failure) -> u8 {
        match &failure.preface {
            Preface::None => {}
            Preface::PinLines(lines) => pins::show_lines(lines, self),
            Preface::Note(note) => self.note(note),
        }
        self.problems(&failure.problems);
        if self.reader == Reader::Person
            && let Some(problem) = failure.problems.first()
        {
            self.note(&format!("For more on this, run `stead explain {}`.", problem.code));
        }
        failure.kind as u8
    }

    /// Returns the display of a run's progress.
    fn progress(&self) -> Progress<'_> {
        Progress { ui: self, bar: None, running: Vec::new() }
    }
}

fn console_text(line: &ConsoleLine) -> String {
    let level = match line.level {
        ConsoleLevel::Error => "error: ",
        ConsoleLevel::Warn => "warning: ",
        _ => "",
    };
    let position = line.place.as_ref().map(|place| format!("{place}: ")).unwrap_or_default();
    format!("{position}{level}{}", line.text)
}

/// Writes text and ignores errors: a reader may close the pipe early.
fn write(to: &mut dyn std::io::Write, text: &str) {
    let _ = to.write_all(text.as_bytes());
    let _ = to.flush();
}

/// Progress of a run: a bar on a terminal, one line per step elsewhere, one JSON event per line for programs.
struct Progress<'a> {
    ui: &'a Ui,
    bar: Option<ProgressBar>,
    running: Vec<String>,
}

impl Progress<'_> {
    fn event(&mut self, event: &Event) {
        if self.ui.reader == Reader::Program {
            self.ui.json("event", event);
            return;
        }
        match event {
            Event::RunStarted { steps, .. } if self.ui.terminal.live_progress => self.start(*steps),
            Event::StepStarted { name, .. } => self.running.push(name.to_string()),
            Event::StepEnded { name, .. } => {
                let name = name.to_string();
                self.running.retain(|running| *running != name);
                if let Some(bar) = &self.bar {
                    bar.inc(1);
                }
            }
            Event::RunEnded { .. } => {
                if let Some(bar) = self.bar.take() {
                    bar.finish_and_clear();
                }
            }
            _ => {}
        }
        let line = progress_line(event, &self.ui.err_style());
        match (&self.bar, line) {
            (Some(bar), line) => {
                bar.set_message(self.running.first().cloned().unwrap_or_default());
                if let Some(line) = line {
                    bar.println(line);
                }
            }
            (None, Some(line)) => self.ui.note(&line),
            (None, None) => {}
        }
    }

    fn start(&mut self, steps: usize) {
        let bar = ProgressBar::with_draw_target(Some(steps as u64), ProgressDrawTarget::stderr());
        if let Ok(style) = ProgressStyle::with_template("{spinner} {pos}/{len} {elapsed} {wide_msg}") {
            bar.set_style(style);
        }
        bar.enable_steady_tick(std::time::Duration::from_millis(120));
        self.bar = Some(bar);
    }
}
