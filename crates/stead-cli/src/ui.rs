//! Output of commands: results to stdout and the rest to stderr, or one JSON object per line.

use std::cell::RefCell;
use std::ffi::OsString;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::Serialize;
use stead::ops::{OpError, OpEvent, ProposedEdit, StateEdit};
use stead::{ConsoleLevel, ConsoleLine, Notice, ReadCount};
use stead_model::{Diagnostic, Environment, Event, NextStep, Severity};
use stead_render::{Detail, Style, json_line};
use stead_world::{Clock, Files, RealClock, World};

use crate::args::Common;
use crate::failure::{Failure, Preface};
use crate::hints::{self, ShownStack};
use crate::pins;
use crate::progress::{Display, Progress, Sink, watch};
use crate::redact::{self, Disclosure};
use crate::session::Session;
use crate::terminal::{Stream, Terminal};

/// Reader of the output: a person, or a program that passed `--json`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reader {
    Person,
    Program,
}

/// Bytes of progress lines after which they are written at once.
const MAX_PENDING: usize = 16 * 1024;

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
    detail: Detail,
    /// Root of the project and its files, to quote source lines in problems.
    sources: RefCell<Option<(PathBuf, Arc<dyn Files>)>>,
    clock: RefCell<Arc<dyn Clock>>,
    /// The stack that the command works on, once it is known.
    stack: RefCell<Option<ShownStack>>,
    /// The reads of the command's providers.
    reads: RefCell<ReadCount>,
    /// Progress that is not written yet: to stderr for a person, to stdout for a program.
    pending: RefCell<String>,
}

impl Ui {
    pub(crate) fn new(common: &Common, terminal: Terminal) -> Ui {
        let detail = match (common.full, common.concise) {
            (true, _) => Detail::Full,
            (false, true) => Detail::Concise,
            (false, false) => Detail::Normal,
        };
        let reader = if common.json { Reader::Program } else { Reader::Person };
        Ui { detail, ..Ui::with_reader(reader, terminal) }
    }

    pub(crate) fn with_reader(reader: Reader, terminal: Terminal) -> Ui {
        let (sources, stack) = (RefCell::new(None), RefCell::new(None));
        let clock: Arc<dyn Clock> = Arc::new(RealClock::start());
        let (clock, pending) = (RefCell::new(clock), RefCell::default());
        let reads = RefCell::default();
        Ui { reader, terminal, detail: Detail::Normal, sources, clock, stack, reads, pending }
    }

    /// Returns true if the output is JSON.
    pub(crate) fn is_json(&self) -> bool {
        self.reader == Reader::Program
    }

    pub(crate) fn interactive(&self) -> bool {
        self.terminal.interactive && self.reader == Reader::Person
    }

    /// Returns true if a person can be asked for a passphrase: on stderr, whatever stdout is.
    pub(crate) fn can_ask(&self) -> bool {
        self.terminal.interactive
    }

    /// Sets the project whose source lines problems quote, and the clock of its world.
    pub(crate) fn set_project(&self, root: &Path, world: &World) {
        *self.sources.borrow_mut() = Some((root.to_owned(), world.files.clone()));
        *self.clock.borrow_mut() = world.clock.clone();
    }

    /// Sets the stack that printed commands carry, and whose environment names are shown without.
    pub(crate) fn set_stack(&self, stack: ShownStack) {
        *self.stack.borrow_mut() = Some(stack);
    }

    /// Sets the count of the reads that progress shows.
    pub(crate) fn set_reads(&self, reads: &ReadCount) {
        *self.reads.borrow_mut() = reads.clone();
    }

    /// Returns the command or the flag of an operation on this stack, ready to paste.
    pub(crate) fn phrase(&self, step: &NextStep) -> String {
        hints::phrase(step, self.stack.borrow().as_ref())
    }

    /// Adds the stack to the commands in a text.
    fn on_this_stack(&self, text: &str) -> String {
        match &*self.stack.borrow() {
            Some(stack) => hints::with_stack(text, stack),
            None => text.to_owned(),
        }
    }

    fn source(&self, file: &str) -> Option<String> {
        let sources = self.sources.borrow();
        let (root, files) = sources.as_ref()?;
        String::from_utf8(files.read(&root.join(file)).ok()?).ok()
    }

    pub(crate) fn out_style(&self) -> Style {
        self.style(self.terminal.stdout)
    }

    pub(crate) fn err_style(&self) -> Style {
        self.style(self.terminal.stderr)
    }

    fn style(&self, stream: Stream) -> Style {
        let Stream { colour, wrap } = stream;
        Style { colour, width: self.terminal.width, wrap, detail: self.detail }
    }

    /// Writes a result for a person to stdout.
    pub(crate) fn result(&self, text: &str) {
        if self.reader == Reader::Person {
            self.write(&mut std::io::stdout().lock(), &redact::text(text));
        }
    }

    /// Writes a result for a program to stdout, as one line of JSON.
    pub(crate) fn json<T: Serialize>(&self, kind: &str, body: &T) {
        if self.reader == Reader::Program {
            self.write(&mut std::io::stdout().lock(), &redact::json(&json_line(kind, body)));
        }
    }

    /// Writes a result that is the same for persons and programs to stdout.
    pub(crate) fn raw(&self, text: &str) {
        self.write(&mut std::io::stdout().lock(), &redact::text(text));
    }

    /// Writes secrets to stdout: one line of JSON for a program, text for a person.
    pub(crate) fn disclose<T: Serialize>(&self, _: &Disclosure, (kind, body): (&str, &T), text: &str) {
        let line = match self.reader {
            Reader::Program => &json_line(kind, body),
            Reader::Person => text,
        };
        self.write(&mut std::io::stdout().lock(), line);
    }

    /// Writes secrets to stdout, the same for persons and programs.
    pub(crate) fn disclose_raw(&self, _: &Disclosure, text: &str) {
        self.write(&mut std::io::stdout().lock(), text);
    }

    /// Writes a line for a person to stderr.
    pub(crate) fn note(&self, text: &str) {
        if self.reader == Reader::Person {
            // A secret is looked for before lines are broken.
            let (text, style) = (self.on_this_stack(&redact::message(text)), self.err_style());
            // Indented lines are commands and lists.
            let wrapped =
                |line: &str| if line.starts_with(' ') { line.to_owned() } else { style.sentence(line, "") };
            let text: String = text.split('\n').map(|line| format!("{}\n", wrapped(line))).collect();
            self.write(&mut std::io::stderr().lock(), &text);
        }
    }

    pub(crate) fn problem(&self, problem: &Diagnostic) {
        let mut problem = redact::problem(problem.phrased(&|step| self.phrase(step)));
        problem.notes.iter_mut().for_each(|note| *note = self.on_this_stack(note));
        problem.help.iter_mut().for_each(|help| *help = self.on_this_stack(&help.to_string()).into());
        match self.reader {
            Reader::Program => self.json("problem", &problem),
            Reader::Person => {
                let mut text =
                    stead_render::diagnostic(&problem, &|file| self.source(file), &self.err_style());
                if problem.severity == Severity::Error {
                    text.push('\n');
                }
                self.write(&mut std::io::stderr().lock(), &redact::message(&text));
            }
        }
    }

    /// Returns a problem as text in a style, with the source lines that it points to.
    pub(crate) fn problem_text(&self, problem: &Diagnostic, style: &Style) -> String {
        let problem = redact::problem(problem.phrased(&|step| self.phrase(step)));
        stead_render::diagnostic(&problem, &|file| self.source(file), style)
    }

    /// Clears the screen of a terminal. Does nothing elsewhere.
    pub(crate) fn clear_screen(&self) {
        if self.terminal.live_progress && self.reader == Reader::Person {
            self.write(&mut std::io::stdout().lock(), "\u{1b}[2J\u{1b}[H");
        }
    }

    pub(crate) fn problems(&self, problems: &[Diagnostic]) {
        problems.iter().for_each(|problem| self.problem(problem));
    }

    /// Shows a warning or a console line of an evaluation.
    pub(crate) fn notice(&self, notice: &Notice<'_>) {
        match notice {
            // The program's own text is not changed.
            Notice::Console(line) if self.reader == Reader::Person => {
                let text = format!("{}\n", console_text(line));
                self.write(&mut std::io::stderr().lock(), &redact::message(&text));
            }
            Notice::Console(_) => {}
            Notice::Warning(warning) => self.problem(warning),
        }
    }

    /// Returns a listener that shows the progress of a short operation.
    pub(crate) fn listener(&self) -> impl FnMut(OpEvent) + '_ {
        let mut progress = self.progress();
        move |event| match event {
            OpEvent::Run(event) => {
                progress.event(&event);
                Sink::flush(self);
            }
            other => self.operation(&other),
        }
    }

    /// Runs an operation, and shows its progress as time passes.
    pub(crate) async fn watch<T>(
        &self,
        mut seen: impl FnMut(&Event),
        operation: impl AsyncFnOnce(&mut dyn FnMut(OpEvent)) -> T,
    ) -> T {
        let progress = RefCell::new(self.progress());
        let mut listener = |event| match event {
            OpEvent::Run(event) => {
                seen(&event);
                progress.borrow_mut().event(&event);
            }
            other => self.operation(&other),
        };
        watch(&progress, operation(&mut listener)).await
    }

    /// Prepares an edit of the state, and shows the progress of a recovery as time passes.
    pub(crate) async fn edit(&self, session: &Session, edit: StateEdit) -> Result<ProposedEdit, OpError> {
        let prepare =
            async |events: &mut dyn FnMut(OpEvent)| session.workspace.edit(edit, session.wait, events).await;
        self.shown(prepare).await
    }

    /// Runs a preview or an edit, and shows the progress of a recovery as time passes.
    pub(crate) async fn shown<T>(&self, operation: impl AsyncFnOnce(&mut dyn FnMut(OpEvent)) -> T) -> T {
        self.watch(|_| (), operation).await
    }

    fn operation(&self, event: &OpEvent) {
        match event {
            OpEvent::Waiting(owner) => self.note(&format!(
                "Waiting: {} on {} has held the lock since {}.",
                owner.user, owner.host, owner.since
            )),
            OpEvent::TakenOver { .. } => self.note("The holder sends no heartbeat; taking over the lock."),
            OpEvent::DeletionsLeft { names } => {
                for name in names {
                    self.note(&format!(
                        "The deletion of {name} was under way when a run stopped; `stead up` finishes it, unless the program \
                         protects the resource."
                    ));
                }
            }
            OpEvent::Run(_)
            | OpEvent::PinfileRead
            | OpEvent::RecoveryStarted { .. }
            | OpEvent::RunOpened { .. } => {}
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
        let display = match (self.reader, self.terminal.live_progress) {
            (Reader::Program, _) => Display::Json,
            (Reader::Person, true) => Display::Live { rows: self.terminal.rows.saturating_sub(4).max(2) },
            (Reader::Person, false) => Display::Lines,
        };
        // Before a project is open there is no environment to leave out.
        let stack = self.stack.borrow();
        let environment = stack.as_ref().map(|stack| stack.environment.clone());
        let environment = environment.unwrap_or_else(|| Environment::new(""));
        let reads = self.reads.borrow().clone();
        Progress::new(self, self.clock.borrow().clone(), environment, self.err_style(), display)
            .reading(reads)
    }

    /// Writes text that is safe to show, after all progress. A reader may close the pipe early: errors are ignored.
    fn write(&self, to: &mut dyn Write, text: &str) {
        Sink::flush(self);
        let _ = to.write_all(text.as_bytes());
        let _ = to.flush();
    }

    fn add(&self, text: &str) {
        self.pending.borrow_mut().push_str(text);
        if self.pending.borrow().len() >= MAX_PENDING {
            Sink::flush(self);
        }
    }
}

impl Sink for Ui {
    fn line(&self, text: &str) {
        self.add(&redact::message(&format!("{text}\n")));
    }

    fn event(&self, event: &Event) {
        self.add(&redact::json(&json_line("event", event)));
    }

    fn flush(&self) {
        let pending = self.pending.take();
        if pending.is_empty() {
            return;
        }
        let (mut stdout, mut stderr) = (std::io::stdout().lock(), std::io::stderr().lock());
        let to: &mut dyn Write = if self.reader == Reader::Program { &mut stdout } else { &mut stderr };
        let _ = to.write_all(pending.as_bytes());
        let _ = to.flush();
    }
}

pub(crate) fn console_text(line: &ConsoleLine) -> String {
    let level = match line.level {
        ConsoleLevel::Error => "error: ",
        ConsoleLevel::Warn => "warning: ",
        _ => "",
    };
    let position = line.place.as_ref().map(|place| format!("{place}: ")).unwrap_or_default();
    format!("{position}{level}{}", line.text)
}
