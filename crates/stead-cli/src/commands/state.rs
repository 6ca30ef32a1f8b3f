//! `stead state`: what is recorded, and answers to what nobody knew.

use std::fmt::Write as _;

use stead_engine::{Doubtful, Word};
use stead_guard::cannot_forget;
use stead_guard::pins::{keeps_pins, physical_path};
use stead_journal::Takeover;
use stead_model::{
    Code, CopyRef, DeletionPolicy, Diagnostic, Event, Lifecycle, PhysicalId, Resource, RunResult, nearest,
};
use stead_render::{Paint, Style, value};
use stead_state::{Kept, Record, State};

use crate::args::{Answer, ResolveArguments};
use crate::confirm::confirm;
use crate::failure::{Failure, Kind};
use crate::marks::MarkFlags;
use crate::session::Session;
use crate::ui::Ui;

pub(crate) async fn ls(session: &Session, ui: &Ui) -> Result<u8, Failure> {
    let loaded = session.load_existing().await?;
    for resource in loaded.state.resources() {
        let remark = match resource.lifecycle {
            Lifecycle::Live => "",
            Lifecycle::Condemned => "\t(old copy, to be deleted)",
            Lifecycle::Replacing => "\t(deleted, to be made again)",
        };
        ui.result(&format!("{}{remark}\n", resource.name));
        ui.json("resource", resource);
    }
    for pending in loaded.state.pending() {
        if let Some(name) = loaded.state.subject(&pending.intent) {
            ui.note(&format!("{name}: its {} is not finished", pending.intent.operation().verb()));
        }
    }
    Ok(0)
}

pub(crate) async fn show(session: &Session, name: &str, ui: &Ui) -> Result<u8, Failure> {
    let loaded = session.load_existing().await?;
    let resource = find(&loaded.state, name)?;
    ui.json("resource", resource);
    ui.result(&describe(&loaded.state, resource, &ui.out_style()));
    Ok(0)
}

/// Forgets a resource with all its copies. What is protected, or needed by another, is not forgotten.
pub(crate) async fn rm(session: &Session, name: &str, ui: &Ui) -> Result<u8, Failure> {
    let loaded = session.load_settled(ui).await?;
    let resource = find(&loaded.state, name)?;
    let name = resource.name.clone();
    let outer = session.outer(&MarkFlags::default());
    if let Some(problem) = cannot_forget(resource, &outer.over(resource)) {
        return Err(Failure::new(Kind::Guarded, problem));
    }
    if resource.pinned && keeps_pins(&session.target) {
        let problem = Diagnostic::error(Code::PINNED, format!("cannot forget {name}: it is pinned"))
            .note("Losing track of it is as bad as losing it. Nothing was changed.")
            .help("set `pinned: false` on it, run `stead up`, then try again");
        return Err(Failure::new(Kind::Guarded, problem));
    }
    let others = || loaded.state.copies().filter(|other| other.uid != resource.uid);
    let needs_it = |other: &&Resource| {
        other.dependencies.iter().chain(&other.ties.provider).any(|copy| copy.uid == resource.uid)
    };
    let needed_by: Vec<String> = others().filter(needs_it).map(|other| other.name.to_string()).collect();
    if !needed_by.is_empty() {
        let problem =
            Diagnostic::error(Code::INTEGRITY, format!("cannot forget {name}: others depend on it"));
        let problem = needed_by.into_iter().fold(problem, Diagnostic::note);
        return Err(Failure::new(Kind::Failed, problem.help("forget those first")));
    }
    confirm(session, ui, &format!("Forget {name}? The real thing stays, and nobody manages it any more."))?;
    let copies: Vec<CopyRef> =
        loaded.state.copies().filter(|copy| copy.uid == resource.uid).map(Resource::copy).collect();
    let run = session.run("state rm", Some(loaded.version), Takeover::IfDead).await?;
    let kept = Some(Box::new(Kept { run: run.id(), source: None }));
    for copy in copies {
        run.submit(Record::Forget { copy, kept: kept.clone() }).durable().await?;
    }
    run.close(RunResult::Succeeded).await?;
    ui.result(&format!("Forgot {name}. `stead state retained` lists what still exists.\n"));
    Ok(0)
}

fn describe(state: &State, resource: &Resource, style: &Style) -> String {
    let mut out = format!("{}\n", style.paint(Paint::Strong, &resource.name.to_string()));
    let _ = writeln!(out, "  type      {}", resource.resource);
    let _ = writeln!(out, "  id        {}", resource.id.as_ref().map_or("(none)", |id| id.as_str()));
    let _ = writeln!(out, "  uid       {}  generation {}", resource.uid, resource.generation);
    let _ = writeln!(out, "  declared  {}", resource.source);
    let marks = resource.recorded_marks();
    if let Some(mark) = marks.prevent_delete.filter(|mark| mark.value) {
        let _ = writeln!(out, "  marks     prevent-delete ({})", mark.source);
    }
    if let Some(mark) = marks.deletion_policy.filter(|mark| mark.value == DeletionPolicy::Retain) {
        let _ = writeln!(out, "  marks     deletion-policy retain ({})", mark.source);
    }
    if resource.pinned {
        let _ = writeln!(out, "  pinned    {}", physical_path(&resource.name, &resource.resource));
    }
    for (title, properties) in [("inputs", &resource.inputs), ("outputs", &resource.outputs)] {
        if !properties.is_empty() {
            let _ = writeln!(out, "  {title}");
        }
        for (key, property) in properties {
            let _ = writeln!(out, "    {key}: {}", value(property));
        }
    }
    for dependency in &resource.dependencies {
        if let Some(dependency) = state.resolve(dependency) {
            let _ = writeln!(out, "  needs     {}", dependency.name);
        }
    }
    out
}

/// By full name, or by the short one if only one resource has it.
pub(crate) fn find<'a>(state: &'a State, wanted: &str) -> Result<&'a Resource, Failure> {
    if let Some(resource) = wanted.parse().ok().and_then(|name| state.by_name(&name)) {
        return Ok(resource);
    }
    let all = state.resources();
    let current = || all.iter().filter(|resource| resource.lifecycle != Lifecycle::Condemned);
    let found: Vec<&&Resource> = current().filter(|resource| resource.name.short() == wanted).collect();
    match found.as_slice() {
        [one] => Ok(one),
        [] => {
            let problem =
                Diagnostic::error(Code::NOT_FOUND, format!("there is no resource {wanted:?} in this stack"));
            let help = match nearest(wanted, current().map(|resource| resource.name.short())) {
                Some(meant) => format!("did you mean {meant:?}?"),
                None => "`stead state ls` lists all".to_owned(),
            };
            Err(Failure::new(Kind::Failed, problem.help(help)))
        }
        several => {
            let problem = Diagnostic::error(
                Code::NOT_FOUND,
                format!("{} resources are called {wanted:?}", several.len()),
            );
            let problem =
                several.iter().fold(problem, |problem, resource| problem.note(resource.name.to_string()));
            Err(Failure::new(Kind::Failed, problem.help("use the whole name")))
        }
    }
}

pub(crate) async fn resolve(session: &Session, arguments: &ResolveArguments, ui: &Ui) -> Result<u8, Failure> {
    let loaded = session.load_existing().await?;
    let doubtful = find_pending(&loaded.state, &arguments.name)?;
    let operation = doubtful.pending.intent.operation();
    let records = match word(&arguments.answer) {
        Some(word) => {
            Some(session.engine.answered(&loaded.state, &doubtful.pending, &word).await.map_err(unanswered)?)
        }
        None => None,
    };
    let today = session.today(&loaded)?;
    // Planned on nothing: whoever died holding the stack is taken over here.
    let run = session.run("state resolve", None, Takeover::IfDead).await?;
    let Some(records) = records else {
        let mut progress = ui.progress();
        let operations = [doubtful.pending];
        let mut on_event = |event: Event| progress.event(&event);
        let recovered = session.engine.recover(&run, &operations, &today, &mut on_event).await?;
        run.close(if recovered.problems.is_empty() { RunResult::Succeeded } else { RunResult::Failed })
            .await?;
        if !recovered.problems.is_empty() {
            return Err(Failure::all(Kind::Failed, recovered.problems));
        }
        let end = if recovered.held_back.is_empty() { "is done" } else { "was not sent again" };
        ui.result(&format!("The {} of {} {end}.\n", operation.verb(), doubtful.name));
        return Ok(0);
    };
    run.submit_together(records).durable().await?;
    run.close(RunResult::Succeeded).await?;
    let what = if arguments.answer.not_created { "did not happen" } else { "happened" };
    ui.result(&format!("Recorded: the {} of {} {what}.\n", operation.verb(), doubtful.name));
    Ok(0)
}

fn find_pending(state: &State, wanted: &str) -> Result<Doubtful, Failure> {
    let mut found = state.pending().filter_map(|pending| {
        let name = state.subject(&pending.intent)?;
        (name.to_string() == wanted || name.short() == wanted)
            .then(|| Doubtful { pending: pending.clone(), name })
    });
    match (found.next(), found.next()) {
        (Some(one), None) => Ok(one),
        (Some(_), Some(_)) => Err(Diagnostic::error(
            Code::NOT_FOUND,
            format!("several operations on {wanted:?} are unfinished"),
        )
        .help("use the whole name")
        .into()),
        (None, _) => {
            let problem =
                Diagnostic::error(Code::NOT_FOUND, format!("no operation on {wanted:?} is in doubt"));
            Err(Failure::new(Kind::Failed, problem.help("`stead state ls` shows what is unfinished")))
        }
    }
}

fn unanswered(problem: Diagnostic) -> Failure {
    let kind = if problem.code == Code::USAGE { Kind::Usage } else { Kind::Failed };
    Failure::new(kind, problem)
}

/// What was answered; `None`: it is to be tried again.
fn word(answer: &Answer) -> Option<Word> {
    match &answer.created {
        _ if answer.retry => None,
        _ if answer.not_created => Some(Word::DidNotHappen),
        Some(id) => Some(Word::Created(PhysicalId(id.clone()))),
        None => Some(Word::Done),
    }
}
