//! `stead secrets`: the data keys of a stack and of its config file, and the managers that open them.

mod keygen;
mod status;

use serde::Serialize;
use stead::ops::{ChangesRing as _, KeysChange, OpEvent};
use stead::{ManagerChange, RingChange};
use stead_model::{Code, Diagnostic};

use crate::args::{Common, SecretsCommand};
use crate::failure::{Failure, Kind};
use crate::session::Session;
use crate::ui::Ui;

/// A change of keys or managers.
#[derive(Serialize)]
struct Changed<'a> {
    /// `init`, `rotate`, `add`, `remove` or `change-manager`.
    command: &'a str,
    /// The stack has a new ring.
    stack: bool,
    /// The config files with a new ring.
    files: Vec<String>,
    /// `stead.toml` was changed.
    settings: bool,
}

pub(crate) async fn secrets(common: &Common, command: &SecretsCommand, ui: &Ui) -> Result<u8, Failure> {
    if let SecretsCommand::Keygen { output } = command {
        return keygen::keygen(output.as_deref(), ui);
    }
    let session = &Session::open(common, ui).await?;
    let environment = session.environment().to_string();
    let named = |text: &str| session.project.manager_named(&environment, text);
    match command {
        SecretsCommand::Init => init(session, ui).await,
        SecretsCommand::Status => status::status(session, ui).await,
        SecretsCommand::Rotate => change(session, "rotate", ManagerChange::Rotate, None, ui).await,
        SecretsCommand::Add { manager, name } => {
            let name = name.as_deref().or_else(|| comment(manager));
            change(session, "add", ManagerChange::Add(named(manager)?), name, ui).await
        }
        SecretsCommand::Remove { manager } => {
            let known = ManagerChange::Remove(named(manager)?);
            change(session, "remove", known, None, ui).await
        }
        SecretsCommand::ChangeManager { old, new } => {
            let known = ManagerChange::Replace { old: named(old)?, new: named(new)? };
            change(session, "change-manager", known, comment(new), ui).await
        }
        SecretsCommand::Keygen { .. } => Ok(0),
    }
}

async fn init(session: &Session, ui: &Ui) -> Result<u8, Failure> {
    let made = session.workspace.init_keys(&mut ui.listener()).await?;
    let ring = session.workspace.load().await?.state.keyring().clone();
    let wraps = ring.current().map(|key| key.wraps.as_slice()).unwrap_or_default();
    let managers: Vec<&str> = wraps.iter().map(|wrap| wrap.manager.as_str()).collect();
    let made = made == KeysChange::Made;
    let sentence = match made {
        true => "Made a data key for the stack",
        false => "The stack has a data key already",
    };
    ui.result(&format!("{sentence}; it opens with: {}\n", managers.join(", ")));
    ui.json("secrets_changed", &Changed { command: "init", stack: made, files: Vec::new(), settings: false });
    Ok(0)
}

/// Changes the rings of the stack and of the config files, then `stead.toml`.
///
/// Every ring is opened and changed in memory before the first one is written, so that a manager that cannot be asked leaves all
/// of them as they are. The ring of the stack is durable before a file is written, and `stead.toml` is the last: a command that is
/// killed in between finds the same names when it is repeated, and finishes.
async fn change(
    session: &Session,
    command: &str,
    change: ManagerChange,
    name: Option<&str>,
    ui: &Ui,
) -> Result<u8, Failure> {
    let Session { project, workspace, .. } = session;
    let environment = session.environment();
    let ring_change = project.ring_change(&environment.to_string(), change.clone());
    let stack = workspace.load().await?.state.keyring().clone();
    let changes_stack = ring_change.concerns(&stack);
    let files = config_files(session, &change, &ring_change)?;
    let rewrites = !matches!(change, ManagerChange::Rotate);
    for file in &files {
        rehearse(session, file, &ring_change).await?;
    }
    if changes_stack {
        let listener: &mut dyn FnMut(OpEvent) = &mut ui.listener();
        workspace.change_keys(&format!("secrets {command}"), &ring_change, listener).await?;
    }
    let mut written = Vec::new();
    for file in &files {
        if project.change_config_keys(file, &project.ring_change(file, change.clone())).await? {
            written.push(format!("stead.{file}.toml"));
        }
    }
    let settings = rewrites && project.write_managers(&environment.to_string(), &change, name)?;
    if !changes_stack && written.is_empty() && !settings {
        let message = match &change {
            ManagerChange::Rotate => "neither the stack nor its config file has a data key yet".to_owned(),
            ManagerChange::Add(manager) => {
                ui.result(&format!("{manager} is in stead.toml already, and there is no data key yet.\n"));
                return Ok(0);
            }
            ManagerChange::Remove(old) | ManagerChange::Replace { old, .. } => {
                format!("neither stead.toml nor a data key of {environment} has the manager {old}")
            }
        };
        let problem = Diagnostic::error(Code::NOT_FOUND, message).note("Nothing was changed.");
        return Err(Failure::new(Kind::Failed, problem.help("`stead secrets status` lists the keys")));
    }
    let mut parts = Vec::new();
    if changes_stack {
        parts.push(format!("the stack of {environment}"));
    }
    parts.extend(written.iter().cloned());
    parts.extend(settings.then(|| "stead.toml".to_owned()));
    ui.result(&format!("{}: {}\n", sentence(&change), parts.join(", ")));
    ui.json("secrets_changed", &Changed { command, stack: changes_stack, files: written, settings });
    other_stacks(session, &change, ui).await?;
    Ok(0)
}

fn sentence(change: &ManagerChange) -> String {
    match change {
        ManagerChange::Rotate => "Made a new data key".to_owned(),
        ManagerChange::Add(manager) => format!("Added {manager}"),
        ManagerChange::Remove(manager) => format!("Removed {manager} and made a new data key"),
        ManagerChange::Replace { old, new } if old == new => {
            format!("Set a new {new} and made a new data key")
        }
        ManagerChange::Replace { old, new } => format!("Replaced {old} by {new} and made a new data key"),
    }
}

/// Returns the environments whose config file changes: a rotation is about one, managers are shared.
fn config_files(
    session: &Session,
    change: &ManagerChange,
    ring_change: &RingChange,
) -> Result<Vec<String>, Failure> {
    let (project, name) = (&session.project, &session.environment().name);
    let mut files = Vec::new();
    for environment in project.environments_with_config(name) {
        let is_own = environment == *name;
        if (is_own || *change != ManagerChange::Rotate)
            && ring_change.concerns(&project.config_ring(&environment)?)
        {
            files.push(environment);
        }
    }
    Ok(files)
}

/// Opens the ring of a config file, and changes it in memory.
async fn rehearse(session: &Session, environment: &str, change: &RingChange) -> Result<(), Failure> {
    let tried = async {
        let ring = session.project.unlock_config(environment).await?;
        change.change(&ring).await.map(drop)
    };
    tried.await.map_err(|error| {
        let message = format!("the secrets in stead.{environment}.toml are locked: {}", error.message);
        let problem = Diagnostic::error(Code::SECRETS_LOCKED, message).note("Nothing was changed.");
        Failure::new(Kind::Failed, error.help.into_iter().fold(problem, Diagnostic::help))
    })
}

/// Names the commands for the other stacks of the project, which have keys of their own.
async fn other_stacks(session: &Session, change: &ManagerChange, ui: &Ui) -> Result<(), Failure> {
    let words = match change {
        ManagerChange::Rotate => return Ok(()),
        ManagerChange::Add(manager) => format!("add '{manager}'"),
        ManagerChange::Remove(manager) => format!("remove '{manager}'"),
        ManagerChange::Replace { old, new } => format!("change-manager '{old}' '{new}'"),
    };
    let here = session.environment().to_string();
    for stack in stead::stacks(&session.workspace).await? {
        let same = stack.environment == here && stack.target == session.target();
        if stack.project != session.project.name || same {
            continue;
        }
        let other = session.sibling(&format!("{}@{}", stack.environment, stack.target))?;
        let ring = other.load().await?.state.keyring().clone();
        let change = session.project.ring_change(&stack.environment, change.clone());
        if change.concerns(&ring) && !ring.is_empty() {
            let (environment, target) = (&stack.environment, &stack.target);
            ui.note(&format!(
                "The stack of {environment} has a key of its own; for it: stead secrets {words} -e {environment} -t {target}"
            ));
        }
    }
    Ok(())
}

/// Returns the comment of an SSH public key, as the name of its recipient: `ada` for `ada@laptop`.
fn comment(key: &str) -> Option<&str> {
    let comment = key.trim().strip_prefix("ssh-")?.split_whitespace().nth(2)?;
    comment.split('@').next().filter(|name| !name.is_empty())
}
