//! The table `[secrets]` of `stead.toml`: the key managers of a project, and of its environments.
//!
//! **Invariant:** a command runs as a key manager only if `stead.toml` names it, never because state does.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use serde::Deserialize;
use stead_engine::{KeySource, StackSecrets};
use stead_model::{Hint, Keyring, NextStep};
use stead_secrets::{
    Ask, CommandManager, KeyManager, ManagerError, ManagerErrorClass, PassphraseManager, PassphraseSource,
    StretchedKeys, age_manager, cloud_manager,
};
use stead_world::World;
use zeroize::Zeroizing;

use super::{Project, read_environment};

/// The variable with the passphrase that takes the place of the one in `STEAD_PASSPHRASE`.
pub(super) const NEW_PASSPHRASE: &str = "STEAD_NEW_PASSPHRASE";

/// The manager that asks for a passphrase.
pub const PASSPHRASE: &str = "passphrase";

/// Start of the text of a recipient.
const AGE: &str = "age:";

/// The table `[secrets]`, or `[env.NAME.secrets]`, which takes its place.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SecretSettings {
    /// Managers by their text: `passphrase`, `awskms://…`, `command:…`.
    #[serde(default)]
    pub(super) managers: Vec<String>,
    /// Public keys of people and machines, by name: `age1…` or an SSH key.
    #[serde(default)]
    pub(super) recipients: BTreeMap<String, String>,
}

impl SecretSettings {
    /// Returns every manager as its text.
    fn names(&self) -> Vec<String> {
        let recipients = self.recipients.values().map(|key| format!("{AGE}{key}"));
        recipients.chain(self.managers.iter().cloned()).collect()
    }
}

/// Key managers of the stacks and config files of a project.
#[derive(Clone)]
pub struct ProjectKeys {
    world: World,
    root: PathBuf,
    project: SecretSettings,
    environments: BTreeMap<String, SecretSettings>,
    ask: Option<Arc<dyn Ask>>,
    /// Keys that the passphrase managers stretched so far.
    stretched: StretchedKeys,
}

impl Project {
    /// Returns the project with a person to ask for passphrases.
    #[must_use]
    pub fn asking(self, ask: Arc<dyn Ask>) -> Project {
        Project { ask: Some(ask), ..self }
    }

    /// Returns the key managers of the project.
    pub fn keys(&self) -> ProjectKeys {
        let environments = self.settings.env.iter();
        let own = |(name, settings): (&String, &super::EnvironmentSettings)| {
            Some((name.clone(), settings.secrets.clone()?))
        };
        ProjectKeys {
            world: self.world.clone(),
            root: self.root.clone(),
            project: self.settings.secrets.clone(),
            environments: environments.filter_map(own).collect(),
            ask: self.ask.clone(),
            stretched: self.stretched.clone(),
        }
    }

    pub(super) fn stack_secrets(&self) -> StackSecrets {
        StackSecrets::new(Arc::new(self.keys()))
    }
}

impl ProjectKeys {
    /// Returns the settings of an environment. The settings of the project do not apply where the environment has its own.
    fn settings(&self, environment: &str) -> &SecretSettings {
        let name = read_environment(environment).map_or_else(|_| environment.to_owned(), |known| known.name);
        self.environments.get(&name).unwrap_or(&self.project)
    }

    /// Returns the texts of the configured managers; empty if `stead.toml` names none.
    pub fn configured(&self, environment: &str) -> Vec<String> {
        self.settings(environment).names()
    }

    /// Returns the configured recipients by name.
    pub fn recipients(&self, environment: &str) -> &BTreeMap<String, String> {
        &self.settings(environment).recipients
    }

    /// Returns the recipients of the current key of a ring that `stead.toml` does not name, although it names managers.
    ///
    /// They open the secrets until the next rotation, which leaves them out.
    pub fn unnamed_recipients(&self, environment: &str, ring: &Keyring) -> Vec<String> {
        let configured = self.configured(environment);
        if configured.is_empty() {
            return Vec::new();
        }
        let none = Keyring::default();
        let canonical = |text: &String| match self.manager(text, &none) {
            Ok(manager) => manager.name().to_owned(),
            Err(_) => text.clone(),
        };
        let recipients = configured.iter().filter(|text| text.starts_with(AGE));
        let named: Vec<String> = recipients.map(canonical).collect();
        let wraps = ring.current().into_iter().flat_map(|key| &key.wraps).map(|wrap| &wrap.manager);
        wraps.filter(|manager| manager.starts_with(AGE) && !named.contains(manager)).cloned().collect()
    }

    /// Returns the person to ask, if there is one.
    pub(super) fn ask(&self) -> Option<Arc<dyn Ask>> {
        self.ask.clone()
    }

    /// Makes a manager from its text.
    pub fn manager(&self, text: &str, ring: &Keyring) -> Result<Arc<dyn KeyManager>, ManagerError> {
        if text == PASSPHRASE {
            let source = PassphraseSource::find(&self.world, self.ask.clone());
            return Ok(self.passphrase_manager(source, ring));
        }
        if let Some(recipient) = text.strip_prefix(AGE) {
            return age_manager(recipient, self.world.clone(), self.ask.clone());
        }
        if let Some(line) = text.strip_prefix("command:") {
            return Ok(Arc::new(CommandManager::new(line, self.root.clone(), self.world.clone())));
        }
        match cloud_manager(&self.world, text) {
            Some(made) => made,
            None => Err(ManagerError::new(
                ManagerErrorClass::NotConfigured,
                format!("there is no key manager {text:?}"),
            )
            .help("write `passphrase`, `age:PUBLIC-KEY`, `awskms://…`, `gcpkms://…`, `azurekeyvault://…`, `vault://…` or `command:…`")),
        }
    }
}

impl KeySource for ProjectKeys {
    fn managers(&self, environment: &str, ring: &Keyring) -> Result<Vec<Arc<dyn KeyManager>>, ManagerError> {
        let configured = self.configured(environment);
        let mut names = configured.clone();
        let wraps = ring.keys.iter().rev().flat_map(|key| &key.wraps);
        for wrap in wraps.filter(|wrap| !wrap.manager.starts_with("command:")) {
            names.push(wrap.manager.clone());
        }
        if ring.is_empty() && names.is_empty() {
            names.push(PASSPHRASE.to_owned());
        }
        // A manager that asks a person comes last.
        names.sort_by_key(|name| name == PASSPHRASE);
        let mut managers: Vec<Arc<dyn KeyManager>> = Vec::new();
        for name in &names {
            let manager = match self.manager(name, ring) {
                Ok(manager) => manager,
                // A ring may name a manager that this build leaves out; another one may open it.
                Err(_) if !ring.is_empty() => continue,
                Err(error) => return Err(error),
            };
            if !managers.iter().any(|known| known.name() == manager.name()) {
                managers.push(manager);
            }
        }
        if ring.is_empty() && configured.is_empty() {
            self.passphrase_is_possible()?;
        }
        managers.extend(self.next_passphrase(ring));
        Ok(managers)
    }
}

impl ProjectKeys {
    /// Returns a manager with the passphrase that takes the place of another one. A change that was interrupted has it in some rings.
    fn next_passphrase(&self, ring: &Keyring) -> Option<Arc<dyn KeyManager>> {
        let text = self.world.host.variables.get(NEW_PASSPHRASE).filter(|_| !ring.is_empty())?;
        let source = PassphraseSource::Given(Zeroizing::new(text.to_owned()));
        Some(self.passphrase_manager(source, ring))
    }

    /// Makes a passphrase manager of a ring. All of them share their stretched keys.
    pub(super) fn passphrase_manager(&self, source: PassphraseSource, ring: &Keyring) -> Arc<dyn KeyManager> {
        let manager = PassphraseManager::new(source, ring, self.world.clone());
        Arc::new(manager.sharing(self.stretched.clone()))
    }

    /// Fails where neither a variable nor a person gives the passphrase of a new key.
    fn passphrase_is_possible(&self) -> Result<(), ManagerError> {
        match PassphraseSource::find(&self.world, self.ask.clone()) {
            PassphraseSource::Nowhere => {
                let message = "`stead.toml` names no key manager, and there is no passphrase";
                Err(ManagerError::new(ManagerErrorClass::NotConfigured, message)
                    .help("give a passphrase: set STEAD_PASSPHRASE, or STEAD_PASSPHRASE_FILE, and run the command again")
                    .help(
                        Hint::text("or share the key without a passphrase: ")
                            .then(NextStep::AddKeyManager)
                            .and(" writes a public key into stead.toml"),
                    ))
            }
            _ => Ok(()),
        }
    }
}
