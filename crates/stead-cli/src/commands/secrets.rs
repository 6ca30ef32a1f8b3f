//! `stead secrets`: the data keys of a stack and of its config file, and the managers that open them.

mod change;
#[cfg(feature = "age")]
mod keygen;
mod status;

use change::{Reach, change};
use serde::Serialize;
use stead::ManagerChange;
use stead::ops::KeysChange;

use crate::args::{Common, SecretsCommand};
use crate::failure::Failure;
use crate::session::Session;
use crate::ui::Ui;

pub(crate) use status::warn_of_unnamed;

/// A change of keys or managers.
#[derive(Serialize)]
struct Changed<'a> {
    /// `init`, `rotate`, `add`, `remove` or `change-manager`.
    command: &'a str,
    /// The stack has a new ring.
    stack: bool,
    /// All stacks with a new ring.
    stacks: Vec<String>,
    /// The config files with a new ring.
    files: Vec<String>,
    /// `stead.toml` was changed.
    settings: bool,
    /// Recipients for which the new keys are not wrapped, because `stead.toml` does not name them.
    left_out: Vec<String>,
}

pub(crate) async fn secrets(common: &Common, command: &SecretsCommand, ui: &Ui) -> Result<u8, Failure> {
    #[cfg(feature = "age")]
    if let SecretsCommand::Keygen { output } = command {
        return keygen::keygen(output.as_deref(), ui);
    }
    let session = &Session::open(common, ui).await?;
    let environment = session.environment().to_string();
    let named = |text: &str| session.project.manager_named(&environment, text);
    match command {
        SecretsCommand::Init => init(session, ui).await,
        SecretsCommand::Status => status::status(session, ui).await,
        SecretsCommand::Rotate => change(session, ManagerChange::Rotate, Reach::Environment, None, ui).await,
        SecretsCommand::Add { manager, name, all_environments } => {
            let name = name.as_deref().or_else(|| comment(manager));
            let reach = Reach::from_flag(*all_environments);
            change(session, ManagerChange::Add(named(manager)?), reach, name, ui).await
        }
        SecretsCommand::Remove { manager, all_environments } => {
            let (known, reach) =
                (ManagerChange::Remove(named(manager)?), Reach::from_flag(*all_environments));
            change(session, known, reach, None, ui).await
        }
        SecretsCommand::ChangeManager { old, new } => {
            let known = ManagerChange::Replace { old: named(old)?, new: named(new)? };
            change(session, known, Reach::Environment, comment(new), ui).await
        }
        #[cfg(feature = "age")]
        SecretsCommand::Keygen { .. } => Ok(0),
    }
}

async fn init(session: &Session, ui: &Ui) -> Result<u8, Failure> {
    let made = session.workspace.init_keys(&mut ui.listener()).await?;
    let ring = session.workspace.load().await?.state.keyring().clone();
    let wraps = ring.current().map(|key| key.wraps.as_slice()).unwrap_or_default();
    let environment = session.environment().to_string();
    let managers: Vec<&str> = wraps.iter().map(|wrap| wrap.manager.as_str()).collect();
    let made = made == KeysChange::Made;
    let sentence = match made {
        true => "Made a data key for the stack",
        false => "The stack has a data key already",
    };
    ui.result(&format!("{sentence}; it opens with: {}\n", managers.join(", ")));
    let changed = Changed {
        command: "init",
        stack: made,
        stacks: made.then_some(environment).into_iter().collect(),
        files: Vec::new(),
        settings: false,
        left_out: Vec::new(),
    };
    ui.json("secrets_changed", &changed);
    Ok(0)
}

/// Returns the comment of an SSH public key, as the name of its recipient: `ada` for `ada@laptop`.
fn comment(key: &str) -> Option<&str> {
    let comment = key.trim().strip_prefix("ssh-")?.split_whitespace().nth(2)?;
    comment.split('@').next().filter(|name| !name.is_empty())
}
