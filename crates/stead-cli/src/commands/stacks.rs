//! `stead stack new`, `rm`, `rename`: where a stack begins, ends, and what it is called.

use serde::Serialize;
use stead_engine::waiting_sources;
use stead_journal::{Takeover, create, exists, purge, rename as move_stack};
use stead_model::{Code, Diagnostic, Environment, NameError, Resource};
use stead_state::{Absent, State};

use crate::args::RemoveArguments;
use crate::confirm::confirm;
use crate::failure::{Failure, Kind};
use crate::session::Session;
use crate::ui::Ui;

#[derive(Serialize)]
struct StackIs<'a> {
    environment: &'a str,
    target: &'a str,
    /// `made`, `removed` or `renamed`.
    stack: &'a str,
}

fn say(session: &Session, ui: &Ui, environment: &str, stack: &'static str) {
    ui.json("stack_changed", &StackIs { environment, target: &session.target, stack });
}

pub(crate) async fn new(session: &Session, ui: &Ui) -> Result<u8, Failure> {
    let stack = &session.stack;
    create(&stack.store, &stack.keys, &stack.world).await?;
    let environment = session.environment.to_string();
    ui.result(&format!("Made an empty stack for environment {environment} on {}.\n", session.target));
    say(session, ui, &environment, "made");
    Ok(0)
}

/// Removes the stack, never what is real. What it still holds must be destroyed or given up first.
pub(crate) async fn rm(session: &Session, arguments: &RemoveArguments, ui: &Ui) -> Result<u8, Failure> {
    let (stack, environment) = (&session.stack, session.environment.to_string());
    if arguments.purge && !exists(&stack.store, &stack.keys).await? {
        confirm(session, ui, &format!("Delete the history of the removed stack {environment}?"))?;
        let count = purge(&stack.store, &stack.keys).await?;
        ui.result(&format!("Deleted {count} objects.\n"));
        return Ok(0);
    }
    session.load_existing().await?;
    let loaded = session.load_settled(ui).await?;
    nobody_waits(session).await?;
    let state = &loaded.state;
    if state.copies().next().is_some() && !arguments.forget_resources {
        return Err(holds(session, state));
    }
    may_be_forgotten(state)?;
    for resource in state.resources() {
        let id = resource.id.as_ref().map(|id| id.as_str()).unwrap_or("no id");
        ui.note(&format!(
            "{} stays, and nobody manages it any more: {} {id}",
            resource.name, resource.resource
        ));
    }
    let history = if arguments.purge { " with its history" } else { "; its history stays" };
    let question = format!("Remove the stack of environment {environment} on {}{history}?", session.target);
    confirm(session, ui, &question)?;
    let run = session.run("stack rm", Some(loaded.version), Takeover::IfDead).await?;
    run.leave(Absent::Removed).await?;
    if arguments.purge {
        purge(&stack.store, &stack.keys).await?;
    }
    ui.result(&format!("Removed the stack of environment {environment} on {}.\n", session.target));
    say(session, ui, &environment, "removed");
    Ok(0)
}

pub(crate) async fn rename(session: &Session, to: &str, ui: &Ui) -> Result<u8, Failure> {
    let new: Environment = to.parse().map_err(|error: NameError| {
        Failure::from(Diagnostic::error(Code::USAGE, format!("{to:?} is not an environment: {error}")))
    })?;
    if new == session.environment {
        return Err(Diagnostic::error(Code::USAGE, format!("it is environment {new} already")).into());
    }
    session.load_existing().await?;
    let loaded = session.load_settled(ui).await?;
    nobody_waits(session).await?;
    let count = loaded.state.resources().len();
    let old = &session.environment;
    ui.note(&format!("{count} resources get names of environment {new}. Nothing real is touched."));
    confirm(session, ui, &format!("Rename the stack of environment {old} on {} to {new}?", session.target))?;
    let run = session.run("stack rename", Some(loaded.version), Takeover::IfDead).await?;
    move_stack(run, &new).await?;
    ui.result(&format!("Environment {old} on {} is environment {new} now.\n", session.target));
    say(session, ui, &new.to_string(), "renamed");
    Ok(0)
}

/// A stack from which others took something must hear of it first, or they could not tell where it is.
async fn nobody_waits(session: &Session) -> Result<(), Failure> {
    let waiting = waiting_sources(&session.stack).await?;
    if waiting.is_empty() {
        return Ok(());
    }
    let problem =
        Diagnostic::error(Code::MOVE_UNFINISHED, "a move of resources to this stack is not finished");
    let problem = waiting.iter().fold(problem, |problem, from| {
        problem.help(format!("finish it with `stead refresh -e {} -t {}`", from.environment, from.target))
    });
    Err(Failure::new(Kind::Failed, problem.note("Nothing was changed.")))
}

fn holds(session: &Session, state: &State) -> Failure {
    let resources = state.resources();
    let message = format!("the stack still holds {} resources", resources.len());
    let problem = Diagnostic::error(Code::STACK_NOT_EMPTY, message);
    let problem = listed(problem, &resources).note("Nothing was changed.");
    let environment = &session.environment;
    let problem = problem
        .help(format!("`stead destroy -e {environment}` deletes them"))
        .help("`--forget-resources` removes the stack and leaves them as they are, managed by nobody");
    Failure::new(Kind::Failed, problem)
}

fn listed(problem: Diagnostic, resources: &[&Resource]) -> Diagnostic {
    const SHOWN: usize = 20;
    let problem = resources
        .iter()
        .take(SHOWN)
        .fold(problem, |problem, resource| problem.note(resource.name.to_string()));
    match resources.len().saturating_sub(SHOWN) {
        0 => problem,
        more => problem.note(format!("and {more} more")),
    }
}

fn may_be_forgotten(state: &State) -> Result<(), Failure> {
    let pinned: Vec<&Resource> = state.resources().into_iter().filter(|resource| resource.pinned).collect();
    if !pinned.is_empty() {
        let message = format!("cannot forget {} of the resources: pinned", pinned.len());
        let problem = listed(Diagnostic::error(Code::PINNED, message), &pinned)
            .note("Losing track of them is as bad as losing them. Nothing was changed.")
            .help("set `pinned: false` on them, run `stead up`, then try again");
        return Err(Failure::new(Kind::Guarded, problem));
    }
    let kept: Vec<&Resource> =
        state.resources().into_iter().filter(|resource| resource.prevents_deletion()).collect();
    if kept.is_empty() {
        return Ok(());
    }
    let message = format!("cannot forget {} of the resources: prevent-delete is true", kept.len());
    let problem = listed(Diagnostic::error(Code::GUARDED, message), &kept)
        .note("Losing track of them is as bad as losing them. Nothing was changed.")
        .help("set `preventDelete: false` on them, run `stead up`, then try again; `stead policy explain` says why")
        .help("or move them to another stack with `stead state mv NAME... --to-stack STACK`");
    Err(Failure::new(Kind::Guarded, problem))
}
