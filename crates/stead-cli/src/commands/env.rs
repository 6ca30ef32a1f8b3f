//! `stead env`: lists, adds and removes the environments of the project.

use serde::Serialize;
use stead::ops::{Purge, Remaining, StateEdit, Workspace};
use stead::{FlagMarks, KnownBy, KnownEnvironment, KnownStack};
use stead_model::{Code, Diagnostic};

use crate::args::EnvCommand;
use crate::confirm::confirm;
use crate::failure::{Failure, Kind};
use crate::session::Session;
use crate::ui::Ui;

#[derive(Serialize)]
struct Changed<'a> {
    environment: &'a str,
    /// `added` or `removed`.
    change: &'static str,
}

pub(crate) async fn env(session: &Session, command: &EnvCommand, ui: &Ui) -> Result<u8, Failure> {
    match command {
        EnvCommand::Ls => ls(session, ui).await,
        EnvCommand::New { name } => {
            session.project.declare_environment(name)?;
            ui.result(&format!("Added environment {name} to stead.toml.\n"));
            ui.json("environment_changed", &Changed { environment: name, change: "added" });
            Ok(0)
        }
        EnvCommand::Rm { name } => rm(session, name, ui).await,
    }
}

async fn ls(session: &Session, ui: &Ui) -> Result<u8, Failure> {
    for environment in stead::environments(&session.project, &session.workspace).await? {
        ui.json("environment", &environment);
        let KnownEnvironment { name, known_by, stacks } = &environment;
        let by = known_by.iter().filter_map(|by| match by {
            KnownBy::Declared => Some("stead.toml".to_owned()),
            KnownBy::Default => Some("default".to_owned()),
            KnownBy::Stack => None,
        });
        let stacks = stacks
            .iter()
            .map(|KnownStack { environment, target }| format!("stack {environment} on {target}"));
        ui.result(&format!("{name}\t{}\n", by.chain(stacks).collect::<Vec<_>>().join(", ")));
    }
    Ok(0)
}

/// Removes the table of an environment and its stacks. A stack with resources refuses, and then nothing is changed.
async fn rm(session: &Session, name: &str, ui: &Ui) -> Result<u8, Failure> {
    let known = stead::environments(&session.project, &session.workspace).await?;
    let found = known.iter().find(|environment| environment.name == name);
    let declared = found.is_some_and(|environment| environment.known_by.contains(&KnownBy::Declared));
    let stacks = found.map(|environment| environment.stacks.as_slice()).unwrap_or_default();
    if !declared && stacks.is_empty() {
        let message = format!("environment {name:?} has no table in stead.toml and no stack");
        let problem = Diagnostic::error(Code::NO_SUCH_ENVIRONMENT, message).note("Nothing was changed.");
        return Err(Failure::new(Kind::Usage, problem.help("`stead env ls` lists the environments")));
    }
    let mut edits = Vec::new();
    for KnownStack { environment, target } in stacks {
        let levels = session.project.levels(environment, &FlagMarks::default());
        let workspace: Workspace = session.workspace.sibling(environment, target, levels);
        let remove = StateEdit::RemoveStack { resources: Remaining::Refuse, history: Purge::Keep };
        edits.push(workspace.edit(remove, session.wait, &mut ui.listener()).await?.permit()?);
    }
    let count = match edits.len() {
        0 => "it has no stack".to_owned(),
        1 => "its empty stack goes, the history stays".to_owned(),
        count => format!("its {count} empty stacks go, their history stays"),
    };
    confirm(session, ui, &format!("Remove environment {name} from this project; {count}?"))?;
    for edit in edits {
        edit.apply(&mut ui.listener()).await?;
    }
    if declared {
        session.project.remove_environment(name)?;
    }
    ui.result(&format!("Removed environment {name}.\n"));
    ui.json("environment_changed", &Changed { environment: name, change: "removed" });
    Ok(0)
}
