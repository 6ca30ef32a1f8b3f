//! Changes of keys and managers, of one environment or of the whole project.
//!
//! Every ring is opened and changed in memory before the first one is written, so that a manager that cannot be asked leaves all of
//! them as they are. The rings of stacks are durable before a file is written, and `stead.toml` is the last: a command that is killed
//! in between finds the same names when it is repeated, and finishes.

use stead::ops::{OpEvent, Workspace};
use stead::{ManagerChange, RingChange};
use stead_model::{Code, Diagnostic};

use super::Changed;
use crate::failure::{Failure, Kind};
use crate::session::Session;
use crate::ui::Ui;

/// Stacks and files that a change of managers is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reach {
    /// The stack, and the config files whose managers are those of its environment.
    Environment,
    AllEnvironments,
}

impl Reach {
    pub(super) fn from_flag(all: bool) -> Reach {
        if all { Reach::AllEnvironments } else { Reach::Environment }
    }
}

/// A stack whose ring changes.
struct StackChange {
    workspace: Workspace,
    change: RingChange,
    shown: String,
    left_out: Vec<String>,
}

/// A config file whose ring changes.
struct FileChange {
    environment: String,
    change: RingChange,
    left_out: Vec<String>,
}

/// Changes the rings of stacks and config files, then `stead.toml`.
pub(super) async fn change(
    session: &Session,
    change: ManagerChange,
    reach: Reach,
    name: Option<&str>,
    ui: &Ui,
) -> Result<u8, Failure> {
    let project = &session.project;
    let stacks = stacks(session, &change, reach).await?;
    let files = files(session, &change, reach)?;
    for file in &files {
        project.rehearse_config_keys(&file.environment, &file.change).await?;
    }
    if stacks.len() > 1 {
        for stack in &stacks {
            stack.workspace.rehearse_keys(&stack.change).await?;
        }
    }
    let command = command(&change);
    for stack in &stacks {
        let listener: &mut dyn FnMut(OpEvent) = &mut ui.listener();
        stack.workspace.change_keys(&format!("secrets {command}"), &stack.change, listener).await?;
    }
    let mut written = Vec::new();
    for file in &files {
        if project.change_config_keys(&file.environment, &file.change).await? {
            written.push(format!("stead.{}.toml", file.environment));
        }
    }
    let mut settings = false;
    if change != ManagerChange::Rotate {
        for environment in environments(session, &stacks, reach) {
            settings |= project.write_managers(&environment, &change, name)?;
        }
    }
    if stacks.is_empty() && written.is_empty() && !settings {
        return nothing_changed(session, &change, ui);
    }
    let new_key = if stacks.is_empty() && written.is_empty() { NewKey::None } else { NewKey::Made };
    let mut parts: Vec<String> = stacks.iter().map(|stack| format!("the stack of {}", stack.shown)).collect();
    parts.extend(written.iter().cloned());
    parts.extend(settings.then(|| "stead.toml".to_owned()));
    ui.result(&format!("{}: {}\n", sentence(&change, new_key), parts.join(", ")));
    let mut left_out: Vec<String> = stacks
        .iter()
        .flat_map(|stack| &stack.left_out)
        .chain(files.iter().flat_map(|file| &file.left_out))
        .cloned()
        .collect();
    left_out.sort();
    left_out.dedup();
    for recipient in &left_out {
        ui.note(&format!("The new key is not wrapped for {recipient}: stead.toml does not name it."));
    }
    let stack = stacks.iter().any(|stack| stack.workspace.stack.keys == session.workspace.stack.keys);
    let shown = stacks.iter().map(|stack| stack.shown.clone()).collect();
    let changed = Changed { command, stack, stacks: shown, files: written, settings, left_out };
    ui.json("secrets_changed", &changed);
    match reach {
        Reach::Environment => other_stacks(session, &change, ui).await?,
        Reach::AllEnvironments => {}
    }
    Ok(0)
}

/// Returns the stacks whose rings change.
async fn stacks(
    session: &Session,
    change: &ManagerChange,
    reach: Reach,
) -> Result<Vec<StackChange>, Failure> {
    let here = session.environment().to_string();
    let mut found = vec![(here.clone(), here, session.workspace.clone())];
    if reach == Reach::AllEnvironments {
        found.extend(siblings(session).await?);
    }
    let mut changes = Vec::new();
    for (environment, shown, workspace) in found {
        let ring = workspace.load().await?.state.keyring().clone();
        let change = session.project.ring_change(&environment, change.clone());
        if change.concerns(&ring) {
            let left_out = change.left_out(&ring);
            changes.push(StackChange { workspace, change, shown, left_out });
        }
    }
    Ok(changes)
}

/// Returns the other stacks of the project: their environments, their names for people, and their workspaces.
async fn siblings(session: &Session) -> Result<Vec<(String, String, Workspace)>, Failure> {
    let here = session.environment().to_string();
    let mut found = Vec::new();
    for stack in stead::stacks(&session.workspace).await? {
        let same = stack.environment == here && stack.target == session.target();
        if stack.project != session.project.name || same {
            continue;
        }
        let text = format!("{}@{}", stack.environment, stack.target);
        let shown = if stack.target == session.target() { stack.environment.clone() } else { text.clone() };
        found.push((stack.environment, shown, session.sibling(&text)?));
    }
    Ok(found)
}

/// Returns the config files whose rings change: a rotation is about one, managers are shared.
fn files(session: &Session, change: &ManagerChange, reach: Reach) -> Result<Vec<FileChange>, Failure> {
    let (project, name) = (&session.project, &session.environment().name);
    let mut files = Vec::new();
    for environment in project.environments_with_config() {
        let is_meant = match (reach, change) {
            (Reach::AllEnvironments, _) => true,
            (Reach::Environment, ManagerChange::Rotate) => environment == *name,
            (Reach::Environment, _) => project.shares_managers(&environment, name),
        };
        let change = project.ring_change(&environment, change.clone());
        let ring = if is_meant { project.config_ring(&environment)? } else { continue };
        if change.concerns(&ring) {
            let left_out = change.left_out(&ring);
            files.push(FileChange { environment, change, left_out });
        }
    }
    Ok(files)
}

/// Returns one environment for each table of managers that the change is about.
fn environments(session: &Session, stacks: &[StackChange], reach: Reach) -> Vec<String> {
    let project = &session.project;
    let mut found = vec![session.environment().to_string()];
    if reach == Reach::AllEnvironments {
        let declared = project.declared_environments().map(str::to_owned);
        let of_stacks = stacks.iter().map(|stack| stack.workspace.environment().to_string());
        for environment in declared.chain(of_stacks).chain(project.environments_with_config()) {
            if !found.iter().any(|known| project.shares_managers(known, &environment)) {
                found.push(environment);
            }
        }
    }
    found
}

fn nothing_changed(session: &Session, change: &ManagerChange, ui: &Ui) -> Result<u8, Failure> {
    let environment = session.environment();
    let message = match change {
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
    Err(Failure::new(Kind::Failed, problem.help("`stead secrets status` lists the keys")))
}

fn command(change: &ManagerChange) -> &'static str {
    match change {
        ManagerChange::Rotate => "rotate",
        ManagerChange::Add(_) => "add",
        ManagerChange::Remove(_) => "remove",
        ManagerChange::Replace { .. } => "change-manager",
    }
}

/// Whether a ring got a new data key. Without one, only `stead.toml` changed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum NewKey {
    Made,
    None,
}

fn sentence(change: &ManagerChange, new_key: NewKey) -> String {
    let changed = match change {
        ManagerChange::Rotate => return "Made a new data key".to_owned(),
        ManagerChange::Add(manager) => return format!("Added {manager}"),
        ManagerChange::Remove(manager) => format!("Removed {manager}"),
        ManagerChange::Replace { old, new } if old == new => format!("Set a new {new}"),
        ManagerChange::Replace { old, new } => format!("Replaced {old} by {new}"),
    };
    match new_key {
        NewKey::Made => format!("{changed} and made a new data key"),
        NewKey::None => changed,
    }
}

/// Names the commands for the other stacks of the project, which have keys of their own.
async fn other_stacks(session: &Session, change: &ManagerChange, ui: &Ui) -> Result<(), Failure> {
    let words = match change {
        ManagerChange::Rotate => return Ok(()),
        ManagerChange::Add(manager) => format!("add '{manager}'"),
        ManagerChange::Remove(manager) => format!("remove '{manager}'"),
        ManagerChange::Replace { old, new } => format!("change-manager '{old}' '{new}'"),
    };
    let mut others = 0;
    for (environment, _, other) in siblings(session).await? {
        let ring = other.load().await?.state.keyring().clone();
        if session.project.ring_change(&environment, change.clone()).concerns(&ring) {
            others += 1;
            let target = other.target();
            ui.note(&format!(
                "The stack of {environment} has a key of its own; for it: stead secrets {words} -e {environment} -t {target}"
            ));
        }
    }
    if others > 0 && matches!(change, ManagerChange::Add(_) | ManagerChange::Remove(_)) {
        ui.note("Or for all of them at once: the same command with --all-environments.");
    }
    Ok(())
}
