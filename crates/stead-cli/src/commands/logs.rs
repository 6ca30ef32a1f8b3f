//! `stead logs`: shows the logs of resources, as their providers keep them.

use std::collections::BTreeSet;

use serde::Serialize;
use stead::ops::{LogLook, LogReader, Moment, NamedLine};
use stead_model::{Diagnostic, Name};
use stead_render::{Paint, log_line};
use stead_world::Timestamp;

use crate::args::LogsArguments;
use crate::failure::{Failure, Kind};
use crate::session::Session;
use crate::ui::Ui;
use crate::wiring;

#[derive(Serialize)]
struct LogLine<'a> {
    name: &'a Name,
    /// Time of the event; `null` if the log keeps none.
    at: Option<String>,
    stream: &'a str,
    text: &'a str,
}

/// Whether lines start with the name of their resource.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Names {
    Shown,
    LeftOut,
}

pub(crate) async fn logs(session: &Session, arguments: &LogsArguments, ui: &Ui) -> Result<u8, Failure> {
    let workspace = &session.workspace;
    let since = arguments.since.moment(workspace.stack.world.clock.now());
    let mut reader = workspace.logs(arguments.name.as_deref(), since);
    let names = if arguments.name.is_some() { Names::LeftOut } else { Names::Shown };
    if arguments.follow {
        return follow(&mut reader, names, ui).await;
    }
    let look = reader.look().await?;
    show(&look, names, ui);
    show_gaps(&look, ui);
    if look.lines.is_empty() && look.problems.is_empty() && look.not_yet.is_empty() {
        ui.note(&format!("There are no lines since {}.", time(since)));
    }
    match look.problems.is_empty() {
        true => Ok(0),
        false => Err(Failure::with_problems(Kind::Failed, look.problems)),
    }
}

/// Shows new lines until an interrupt. A log that cannot be read is told once, and asked for again.
async fn follow(reader: &mut LogReader<'_>, names: Names, ui: &Ui) -> Result<u8, Failure> {
    let mut interrupts = wiring::interrupts();
    let mut told: BTreeSet<String> = BTreeSet::new();
    loop {
        let look = tokio::select! {
            biased;
            _ = interrupts.changed() => return Ok(Kind::Interrupted as u8),
            look = reader.look() => look?,
        };
        show(&look, names, ui);
        if told.is_empty() {
            show_gaps(&look, ui);
            told.insert(String::new());
        }
        let new = |problem: &&Diagnostic| told.insert(problem.message.clone());
        look.problems.iter().filter(new).for_each(|problem| ui.problem(problem));
        tokio::select! {
            biased;
            _ = interrupts.changed() => return Ok(Kind::Interrupted as u8),
            () = reader.wait() => {}
        }
    }
}

fn show(look: &LogLook, names: Names, ui: &Ui) {
    let style = ui.out_style();
    for NamedLine { name, at, stream, text } in &look.lines {
        ui.json("log", &LogLine { name, at: at.map(time), stream, text });
        let at = at.map(|at| format!("{} ", style.paint(Paint::Quiet, &time(at)))).unwrap_or_default();
        let name = match names {
            Names::Shown => format!("{}  ", style.paint(Paint::Strong, name.short())),
            Names::LeftOut => String::new(),
        };
        ui.result(&format!("{at}{name}{}\n", log_line(text)));
    }
}

/// Names the logs that are incomplete or do not exist yet.
fn show_gaps(look: &LogLook, ui: &Ui) {
    for name in &look.left_out {
        ui.note(&format!(
            "{} has more lines than are shown; a later `--since` shows the newest.",
            name.short()
        ));
    }
    for (name, place) in &look.not_yet {
        ui.note(&format!("{} has no log yet: nothing has written to its {place}.", name.short()));
    }
}

/// Returns a time in UTC with its milliseconds.
pub(super) fn time(Moment(millis): Moment) -> String {
    let seconds = Timestamp(millis).to_string();
    format!("{}.{:03}Z", seconds.trim_end_matches('Z'), millis % 1000)
}
