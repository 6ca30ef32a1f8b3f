//! `stead state mv`: another name in the state, or another stack. Nothing real is touched.

use std::collections::BTreeSet;

use stead_engine::{Transfer, transfer};
use stead_journal::Takeover;
use stead_model::{Code, Diagnostic, Name, NameParts, Resource, RunResult, Uid, check_id};
use stead_state::{Bonds, Record, State};

use crate::args::MoveArguments;
use crate::commands::state::find;
use crate::confirm::confirm;
use crate::failure::{Failure, Kind};
use crate::session::Session;
use crate::ui::Ui;

pub(crate) async fn mv(session: &Session, arguments: &MoveArguments, ui: &Ui) -> Result<u8, Failure> {
    match (&arguments.to_stack, arguments.names.as_slice()) {
        (Some(stack), names) => to_stack(session, names, stack, arguments.with_dependencies, ui).await,
        (None, [old, new]) => rename(session, old, new, ui).await,
        (None, _) => {
            let problem =
                Diagnostic::error(Code::USAGE, "two names are needed: what it is called, and the new one");
            Err(problem.help("to move to another stack, say which with `--to-stack`").into())
        }
    }
}

async fn rename(session: &Session, old: &str, new: &str, ui: &Ui) -> Result<u8, Failure> {
    session.load_existing().await?;
    let loaded = session.load_settled(ui).await?;
    let resource = find(&loaded.state, old)?;
    let (old, new) = (resource.name.clone(), new_name(resource, new)?);
    if loaded.state.by_name(&new).is_some() {
        let problem = Diagnostic::error(Code::NAME_TAKEN, format!("there is a resource {new} already"));
        return Err(Failure::new(Kind::Failed, problem.note("Nothing was changed.")));
    }
    confirm(session, ui, &format!("Rename {old} to {new}? Nothing real is touched."))?;
    let uid = resource.uid.clone();
    let run = session.run("state mv", Some(loaded.version), Takeover::IfDead).await?;
    for copy in loaded.state.copies_of(&uid) {
        let renamed = Resource { name: new.clone(), ..copy.clone() };
        run.submit(Record::Note { resource: Box::new(renamed) }).durable().await?;
    }
    run.close(RunResult::Succeeded).await?;
    ui.result(&format!("Renamed {old} to {new}.\n"));
    ui.note("The program must declare it under that name, or the next `stead up` makes another one.");
    Ok(0)
}

/// A whole name, or an id to take the place of the old one.
fn new_name(resource: &Resource, text: &str) -> Result<Name, Failure> {
    let usage = |message: String| Failure::from(Diagnostic::error(Code::USAGE, message));
    let parsed: Result<Name, _> = match text.contains([':', '#']) {
        true => text.parse(),
        false => check_id(text).map(|()| resource.name.with_id(text.to_owned())),
    };
    let name = parsed.map_err(|error| usage(format!("cannot use {text:?} as a name: {error}")))?;
    if name.environment() != resource.name.environment() {
        return Err(usage(format!("{name} is a name of another environment"))
            .helped("move it there with `--to-stack`"));
    }
    if let NameParts::Placed { resource: token, .. } = &*name
        && *token != resource.resource
    {
        return Err(usage(format!("{name} is a name of another type; this is a {}", resource.resource)));
    }
    Ok(name)
}

impl Failure {
    fn helped(mut self, help: &str) -> Failure {
        self.problems = self.problems.into_iter().map(|problem| problem.help(help)).collect();
        self
    }
}

async fn to_stack(
    session: &Session,
    names: &[String],
    stack: &str,
    with_dependencies: bool,
    ui: &Ui,
) -> Result<u8, Failure> {
    let other = session.other(stack)?;
    if other.stack.keys == session.stack.keys {
        return Err(Diagnostic::error(Code::USAGE, format!("they are in {stack} already")).into());
    }
    session.load_existing().await?;
    other.load_existing().await?;
    let (from, to) = (session.load_settled(ui).await?, other.load_settled(ui).await?);
    let mut chosen = BTreeSet::new();
    for name in names {
        chosen.insert(find(&from.state, name)?.uid.clone());
    }
    let bonds = from.state.bonds(&chosen);
    if with_dependencies {
        chosen.extend(bonds.needed);
    }
    whole(&from.state, &from.state.bonds(&chosen))?;
    let moved: Vec<Name> = chosen.iter().filter_map(|uid| from.state.name_of(uid)).cloned().collect();
    let taken = moved.iter().map(|name| name.in_environment(&other.environment));
    if let Some(name) = taken.into_iter().find(|name| to.state.by_name(name).is_some()) {
        let problem = Diagnostic::error(Code::NAME_TAKEN, format!("there is a resource {name} already"));
        return Err(Failure::new(Kind::Failed, problem.note("Nothing was changed.")));
    }
    moved.iter().for_each(|name| ui.note(&format!("{name} → {}", name.in_environment(&other.environment))));
    let question = format!("Move {} resources to stack {stack}? Nothing real is touched.", moved.len());
    confirm(session, ui, &question)?;
    let (source_version, target_version) = (from.version, to.version);
    transfer(Transfer {
        source: &session.stack,
        source_version,
        target: &other.stack,
        target_version,
        environment: &other.environment,
        uids: &chosen,
    })
    .await?;
    ui.result(&format!("Moved {} resources to {stack}.\n", moved.len()));
    ui.note(
        "What the program declares in one environment and not in the other decides what the next `stead up` does \
         to them: look with `stead plan` in both.",
    );
    Ok(0)
}

/// Nothing may be torn apart: what is moved takes along what it needs, and leaves nobody without.
fn whole(state: &State, bonds: &Bonds) -> Result<(), Failure> {
    let names = |uids: &BTreeSet<Uid>| -> Vec<String> {
        let mut names: Vec<String> =
            uids.iter().filter_map(|uid| state.name_of(uid)).map(Name::to_string).collect();
        names.sort();
        names
    };
    let mut problems = Vec::new();
    if !bonds.needed.is_empty() {
        let problem =
            Diagnostic::error(Code::BOUND_TOGETHER, "they depend on resources that would stay behind");
        let problem = names(&bonds.needed).into_iter().fold(problem, Diagnostic::note);
        problems
            .push(problem.help("take them along with `--with-dependencies`").note("Nothing was changed."));
    }
    if !bonds.needing.is_empty() {
        let problem =
            Diagnostic::error(Code::BOUND_TOGETHER, "resources that would stay behind depend on them");
        let problem = names(&bonds.needing).into_iter().fold(problem, Diagnostic::note);
        problems.push(problem.help("move these too: name them as well").note("Nothing was changed."));
    }
    if problems.is_empty() { Ok(()) } else { Err(Failure::all(Kind::Failed, problems)) }
}
