//! Changes of the key managers of a project: in `stead.toml`, and in the rings of its stacks and config files.
//!
//! Rings are changed before `stead.toml`. A command that was interrupted is then repeated with the same words: `stead.toml` still
//! has the manager that it removes, and a ring that was changed already stays as it is or is changed once more.

use std::sync::Arc;

use async_trait::async_trait;
use stead_engine::ops::{ChangesRing, OpError};
use stead_model::{Code, Diagnostic, Hint, Keyring, NextStep};
use stead_secrets::{
    KeyManager, ManagerError, ManagerErrorClass, PassphraseSource, UnlockedRing, WrapContext,
};
use stead_world::World;
use toml_edit::{Array, Item, Table, TableLike};
use zeroize::Zeroizing;

use super::secrets::NEW_PASSPHRASE;
use super::{PASSPHRASE, Project, ProjectKeys, read_environment};

/// A change of the managers that can open secrets. Managers are given by the names that rings have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ManagerChange {
    /// A new data key for the same managers.
    Rotate,
    /// One manager more.
    Add(String),
    /// One manager less, and a new data key that it does not open.
    Remove(String),
    /// One manager instead of another, and a new data key. Twice `passphrase` sets a new passphrase.
    Replace { old: String, new: String },
}

/// A change of managers as a change of rings.
pub struct RingChange {
    keys: ProjectKeys,
    world: World,
    environment: String,
    change: ManagerChange,
}

/// Whether one manager opens one key of a ring on this machine.
#[derive(Clone, Debug)]
pub struct KeyStatus {
    pub key: String,
    pub is_current: bool,
    pub manager: String,
    /// The reason why it does not open here.
    pub opens: Result<(), ManagerError>,
}

impl Project {
    /// Returns the manager that a person names: a recipient of `stead.toml`, a public key, or the text of a manager.
    pub fn manager_named(&self, environment: &str, text: &str) -> Result<String, OpError> {
        let keys = self.keys();
        let text = text.trim();
        let text = match keys.recipients(environment).get(text) {
            Some(recipient) => format!("age:{recipient}"),
            None if is_public_key(text) => format!("age:{text}"),
            None => text.to_owned(),
        };
        let made = keys.manager(&text, &Keyring::default());
        made.map(|manager| manager.name().to_owned()).map_err(|error| {
            let problem = Diagnostic::error(Code::USAGE, error.message.clone()).note("Nothing was changed.");
            OpError::invalid(error.help.into_iter().fold(problem, Diagnostic::help))
        })
    }

    /// Returns a change of managers for the rings of an environment.
    pub fn ring_change(&self, environment: &str, change: ManagerChange) -> RingChange {
        let (keys, world) = (self.keys(), self.world().clone());
        RingChange { keys, world, environment: environment.to_owned(), change }
    }

    /// Returns the environments with a config file.
    pub fn environments_with_config(&self) -> Vec<String> {
        let files = self.world().files.list(&self.root).unwrap_or_default();
        let named = files.iter().filter_map(|file| file.strip_prefix("stead.")?.strip_suffix(".toml"));
        let mut found: Vec<String> = named.map(str::to_owned).collect();
        found.sort();
        found
    }

    /// Returns true if both environments have the same managers: those of the project, or it is the same environment.
    pub fn shares_managers(&self, one: &str, other: &str) -> bool {
        let (one, other) = (name_of(one), name_of(other));
        one == other || (!self.has_own_managers(&one) && !self.has_own_managers(&other))
    }

    fn has_own_managers(&self, name: &str) -> bool {
        self.settings.env.get(name).is_some_and(|env| env.secrets.is_some())
    }

    /// Writes a change of managers into `stead.toml`: into `[env.NAME.secrets]` if the environment has it, else into `[secrets]`.
    ///
    /// `name` is that of a new recipient. Returns false if the file is right already.
    pub fn write_managers(
        &self,
        environment: &str,
        change: &ManagerChange,
        name: Option<&str>,
    ) -> Result<bool, OpError> {
        let keys = self.keys();
        let canonical = |text: &str| {
            keys.manager(text, &Keyring::default())
                .map_or_else(|_| text.to_owned(), |manager| manager.name().to_owned())
        };
        let known =
            |manager: &str| keys.configured(environment).iter().any(|text| canonical(text) == manager);
        let (removed, added) = match change {
            ManagerChange::Rotate => (None, None),
            ManagerChange::Add(new) => (None, Some(new)),
            ManagerChange::Remove(old) => (Some(old), None),
            ManagerChange::Replace { old, new } => (Some(old).filter(|old| *old != new), Some(new)),
        };
        let (removed, added) =
            (removed.filter(|manager| known(manager)), added.filter(|manager| !known(manager)));
        if removed.is_none() && added.is_none() {
            return Ok(false);
        }
        let recipients = keys.recipients(environment);
        let name = match added.and_then(|manager| manager.strip_prefix("age:")) {
            Some(_) => Some(recipient_name(recipients, name)?),
            None => None,
        };
        let environment = name_of(environment);
        let own = self.has_own_managers(&environment);
        self.edit(|document| {
            let root: &mut dyn TableLike = document.as_table_mut();
            let parent = match own {
                true => {
                    let environments = root.get_mut("env")?.as_table_like_mut()?;
                    environments.get_mut(&environment)?.as_table_like_mut()?
                }
                false => root,
            };
            let settings = parent.entry("secrets").or_insert_with(|| Item::Table(Table::new()));
            if let (Some(table), true) = (settings.as_table_mut(), !own) {
                table.set_implicit(true);
            }
            let settings = settings.as_table_like_mut()?;
            if let Some(old) = removed {
                remove(settings, &|text| canonical(text) == *old)?;
            }
            if let Some(new) = added {
                add(settings, new, name.as_deref())?;
            }
            Some(())
        })?;
        Ok(true)
    }

    /// Tries each manager of a ring on this machine, without a question for a passphrase.
    pub async fn key_status(&self, owner: &str, ring: &Keyring) -> Vec<KeyStatus> {
        let mut found = Vec::new();
        let keys = Project { ask: None, ..self.clone() }.keys();
        let current = ring.current().map(|current| current.id.clone());
        let mut managers: Vec<Arc<dyn KeyManager>> = Vec::new();
        for key in &ring.keys {
            let context = WrapContext { owner: owner.to_owned(), key: key.id.clone() };
            for wrap in &key.wraps {
                let known = managers.iter().find(|manager| manager.name() == wrap.manager).cloned();
                let made = match known {
                    Some(manager) => Ok(manager),
                    None if wrap.manager.starts_with("command:") && !self.names(&wrap.manager) => {
                        let message = "stead.toml does not name this command";
                        Err(ManagerError::new(ManagerErrorClass::NotConfigured, message))
                    }
                    None => keys.manager(&wrap.manager, ring),
                };
                let opens = match made {
                    Ok(manager) => {
                        managers.push(manager.clone());
                        manager.unwrap(&wrap.data, &context).await.map(drop)
                    }
                    Err(error) => Err(error),
                };
                found.push(KeyStatus {
                    key: key.id.0.clone(),
                    is_current: current.as_ref() == Some(&key.id),
                    manager: wrap.manager.clone(),
                    opens,
                });
            }
        }
        found
    }

    /// Returns true if `stead.toml` has this text as a manager, in any environment.
    fn names(&self, manager: &str) -> bool {
        let environments = self.settings.env.values().filter_map(|env| env.secrets.as_ref());
        let mut all = environments.chain([&self.settings.secrets]).flat_map(|settings| &settings.managers);
        all.any(|text| text == manager)
    }
}

impl RingChange {
    /// Returns true if a ring with these keys has to be changed.
    pub fn concerns(&self, ring: &Keyring) -> bool {
        let has = |manager: &String| {
            ring.keys.iter().flat_map(|key| &key.wraps).any(|wrap| wrap.manager == *manager)
        };
        !ring.is_empty()
            && match &self.change {
                ManagerChange::Rotate | ManagerChange::Add(_) => true,
                ManagerChange::Remove(old) | ManagerChange::Replace { old, .. } => has(old),
            }
    }

    /// Returns the recipients of the current key for which the new key is not wrapped, because `stead.toml` does not name them.
    pub fn left_out(&self, ring: &Keyring) -> Vec<String> {
        match &self.change {
            ManagerChange::Add(_) => Vec::new(),
            ManagerChange::Rotate | ManagerChange::Remove(_) | ManagerChange::Replace { .. } => {
                let mut unnamed = self.keys.unnamed_recipients(&self.environment, ring);
                unnamed.retain(|manager| !self.drops(manager));
                unnamed
            }
        }
    }

    /// Returns the managers of a new data key: the managers of the current key and of `stead.toml`. A recipient that `stead.toml`
    /// does not name is left out: it was removed there, or from another stack.
    fn managers(&self, ring: &Keyring) -> Result<Vec<Arc<dyn KeyManager>>, ManagerError> {
        let configured = self.keys.configured(&self.environment);
        let left_out = self.left_out(ring);
        let current = ring.current().into_iter().flat_map(|key| &key.wraps).map(|wrap| wrap.manager.clone());
        let current = current.filter(|manager| !left_out.contains(manager));
        let mut managers: Vec<Arc<dyn KeyManager>> = Vec::new();
        for text in current.chain(configured.iter().cloned()) {
            if text.starts_with("command:") && !configured.contains(&text) && !self.drops(&text) {
                let message =
                    format!("stead.toml does not name the manager {text}, which wraps the current key");
                return Err(ManagerError::new(ManagerErrorClass::NotConfigured, message).help(
                    Hint::text("write it into `managers` of `[secrets]`, or remove it with ")
                        .then(NextStep::RemoveKeyManager),
                ));
            }
            if self.drops(&text) {
                continue;
            }
            let manager = self.keys.manager(&text, ring)?;
            if !self.drops(manager.name()) && !managers.iter().any(|known| known.name() == manager.name()) {
                managers.push(manager);
            }
        }
        Ok(managers)
    }

    fn drops(&self, manager: &str) -> bool {
        match &self.change {
            ManagerChange::Rotate | ManagerChange::Add(_) => false,
            ManagerChange::Remove(old) | ManagerChange::Replace { old, .. } => old == manager,
        }
    }

    /// Returns the manager that sets a new passphrase.
    fn new_passphrase(&self) -> Arc<dyn KeyManager> {
        let variable = self.world.host.variables.get(NEW_PASSPHRASE);
        let source = match (variable, self.keys.ask()) {
            (Some(text), _) => PassphraseSource::Given(Zeroizing::new(text.to_owned())),
            (None, Some(ask)) => PassphraseSource::Asked(ask),
            (None, None) => PassphraseSource::Nowhere,
        };
        self.keys.passphrase_manager(source, &Keyring::default())
    }
}

#[async_trait]
impl ChangesRing for RingChange {
    async fn change(&self, ring: &UnlockedRing) -> Result<UnlockedRing, ManagerError> {
        match &self.change {
            ManagerChange::Rotate => ring.rotate(&self.managers(ring.ring())?, &self.world).await,
            ManagerChange::Add(new) => ring.add(&self.keys.manager(new, ring.ring())?).await,
            ManagerChange::Remove(old) => {
                let managers = self.managers(ring.ring())?;
                if managers.is_empty() {
                    let message = format!("{old} is the only manager, and no key could be opened without it");
                    return Err(ManagerError::new(ManagerErrorClass::NotConfigured, message)
                        .help(Hint::text("replace it: ").then(NextStep::ChangeKeyManager)));
                }
                ring.rotate(&managers, &self.world).await
            }
            ManagerChange::Replace { old, new } => {
                let mut managers = self.managers(ring.ring())?;
                managers.push(match old == new && new == PASSPHRASE {
                    true => self.new_passphrase(),
                    false => self.keys.manager(new, ring.ring())?,
                });
                ring.rotate(&managers, &self.world).await
            }
        }
    }
}

fn is_public_key(text: &str) -> bool {
    text.starts_with("age1") || text.starts_with("ssh-") || text.starts_with("AGE-SECRET-KEY-")
}

fn name_of(environment: &str) -> String {
    read_environment(environment).map_or_else(|_| environment.to_owned(), |known| known.name)
}

/// Returns the name of a new recipient, which no other one has.
fn recipient_name(
    known: &std::collections::BTreeMap<String, String>,
    wanted: Option<&str>,
) -> Result<String, OpError> {
    match wanted {
        Some(name) if known.contains_key(name) => {
            let message = format!("stead.toml has the recipient {name:?} already, with another key");
            let problem = Diagnostic::error(Code::NAME_TAKEN, message).note("stead.toml was not changed.");
            Err(OpError::refused(
                problem.help(Hint::text("give another name with ").then(NextStep::NameRecipient)),
            ))
        }
        Some(name) => Ok(name.to_owned()),
        None => {
            let mut names = (1..).map(|number| format!("recipient-{number}"));
            Ok(names.find(|name| !known.contains_key(name)).unwrap_or_default())
        }
    }
}

fn add(settings: &mut dyn TableLike, manager: &str, name: Option<&str>) -> Option<()> {
    match (manager.strip_prefix("age:"), name) {
        (Some(key), Some(name)) => {
            let recipients = settings.entry("recipients").or_insert_with(|| Item::Table(Table::new()));
            recipients.as_table_like_mut()?.insert(name, toml_edit::value(key));
        }
        _ => {
            let managers = settings.entry("managers").or_insert_with(|| toml_edit::value(Array::new()));
            managers.as_array_mut()?.push(manager);
        }
    }
    Some(())
}

fn remove(settings: &mut dyn TableLike, is_removed: &dyn Fn(&str) -> bool) -> Option<()> {
    if let Some(managers) = settings.get_mut("managers") {
        managers.as_array_mut()?.retain(|text| !text.as_str().is_some_and(is_removed));
    }
    if let Some(recipients) = settings.get_mut("recipients") {
        let recipients = recipients.as_table_like_mut()?;
        let found: Vec<String> = recipients
            .iter()
            .filter(|(_, key)| key.as_str().is_some_and(|key| is_removed(&format!("age:{key}"))))
            .map(|(name, _)| name.to_owned())
            .collect();
        found.iter().for_each(|name| drop(recipients.remove(name)));
        if recipients.is_empty() {
            settings.remove("recipients");
        }
    }
    Some(())
}
