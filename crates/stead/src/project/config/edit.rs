//! Edits of `stead.ENV.toml`: values, secrets and the keys that open them.
//!
//! The ring of a config file belongs to `config:<project>:<environment>`, and a value is bound to project, environment and key.

use std::sync::Arc;

use stead_engine::KeySource as _;
use stead_engine::ops::{ChangesRing, OpError};
use stead_eval::config::{Config, Given, Key, Origin, Setting};
use stead_model::{
    Binding, Ciphertext, Code, Crypter, Diagnostic, Hint, Keyring, NextStep, Secret, Stored, Value,
};
use stead_secrets::{LockedCrypter, ManagerError, ManagerErrorClass, UnlockedRing, create, unlock};

use super::Project;
use super::file::{EnvironmentFile, file_name};

/// Secrecy of a value that is set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Written {
    InTheClear,
    Encrypted,
}

impl Project {
    /// Opens the encrypted values of a config, in place and for all its copies.
    ///
    /// Managers are asked only if there is such a value. After a failure, each of them says why it is locked.
    pub async fn open_config(&self, environment: &str, config: &Config) -> Result<(), ManagerError> {
        let sealed: Vec<(&Key, &Secret)> = config.project.iter().filter_map(sealed).collect();
        if sealed.is_empty() {
            return Ok(());
        }
        let opened = self.unlock_config(environment).await;
        let (crypter, outcome): (Arc<dyn Crypter>, _) = match opened {
            Ok(ring) => (ring.crypter(), Ok(())),
            Err(error) => (Arc::new(LockedCrypter::new(error.message.clone())), Err(error)),
        };
        for (key, secret) in sealed {
            self.bound(environment, key, |place| secret.open(&crypter, place));
        }
        outcome
    }

    /// Sets a value in `stead.ENV.toml`, and returns the name of the file. The first secret makes the key of the file.
    ///
    /// A text takes the declared type of its key, or the type that a weaker setting has.
    pub async fn set_config(
        &self,
        environment: &str,
        key: &Key,
        text: &str,
        written: Written,
    ) -> Result<String, OpError> {
        let config = self.config(environment, &super::ConfigInputs::default())?;
        let mut file = EnvironmentFile::open(self, environment)?;
        if written == Written::InTheClear && config.is_secret(key) {
            let message = format!("config `{key}` is a secret, and would be written in the clear");
            let problem = Diagnostic::error(Code::CONFIG_VALUE, message).note("Nothing was changed.");
            return Err(OpError::refused(problem.help(NextStep::SetSecretConfig)));
        }
        let value = typed(config, &file.name, key, text, written)?;
        match written {
            Written::InTheClear => file.set(key, &value)?,
            Written::Encrypted => {
                let ring = self.ring_for_values(environment, &mut file).await?;
                self.seal(environment, key, &value, &ring, &mut file)?;
            }
        }
        file.write(self)?;
        Ok(file.name)
    }

    /// Removes a value from `stead.ENV.toml`, and returns the name of the file. Needs no key.
    pub fn remove_config(&self, environment: &str, key: &Key) -> Result<String, OpError> {
        let mut file = EnvironmentFile::open(self, environment)?;
        if !file.remove(key) {
            let message = format!("{} does not set `{key}`", file.name);
            let problem = Diagnostic::error(Code::NOT_FOUND, message).note("Nothing was changed.");
            return Err(OpError::refused(
                problem.help(Hint::from(NextStep::ExplainConfig).and(" shows where a value is set")),
            ));
        }
        file.write(self)?;
        Ok(file.name)
    }

    /// Returns the wrapped keys of `stead.ENV.toml`. Needs no key; empty if the file has no secrets.
    pub fn config_ring(&self, environment: &str) -> Result<Keyring, OpError> {
        if file_name(environment).contains(['/', '\\']) {
            return Ok(Keyring::default());
        }
        EnvironmentFile::open(self, environment)?.ring()
    }

    /// Returns the owner that the keys of `stead.ENV.toml` are wrapped for.
    pub fn config_owner(&self, environment: &str) -> String {
        format!("config:{}:{environment}", self.name)
    }

    /// Opens the ring of `stead.ENV.toml`.
    pub async fn unlock_config(&self, environment: &str) -> Result<UnlockedRing, ManagerError> {
        let unreadable = |_| {
            let message = format!("{} cannot be read", file_name(environment));
            ManagerError::new(ManagerErrorClass::Damaged, message)
        };
        let ring = self.config_ring(environment).map_err(unreadable)?;
        let managers = self.keys().managers(environment, &ring)?;
        let opened = unlock(&ring, &self.config_owner(environment), &managers).await?;
        if opened.unproven().next().is_none() {
            return Ok(opened);
        }
        let crypter = opened.crypter();
        let trial = |(key, text): (Key, Ciphertext)| {
            let opens = self.bound(environment, &key, |place| crypter.open(&text, place)).is_ok();
            Some((text.key()?, opens))
        };
        let values = EnvironmentFile::open(self, environment).map_err(unreadable)?.secrets();
        opened.proven_by(values.into_iter().filter_map(trial))
    }

    /// Changes the keys of `stead.ENV.toml`, and encrypts every value with the current one. The file is written once.
    ///
    /// Returns false if the file has no keys.
    pub async fn change_config_keys(
        &self,
        environment: &str,
        change: &dyn ChangesRing,
    ) -> Result<bool, OpError> {
        let Some(file) = self.changed_config_keys(environment, change).await? else { return Ok(false) };
        file.write(self)?;
        Ok(true)
    }

    /// Changes the keys of `stead.ENV.toml` in memory, to find out whether [`change_config_keys`](Project::change_config_keys) can
    /// do it.
    pub async fn rehearse_config_keys(
        &self,
        environment: &str,
        change: &dyn ChangesRing,
    ) -> Result<(), OpError> {
        self.changed_config_keys(environment, change).await.map(drop)
    }

    async fn changed_config_keys(
        &self,
        environment: &str,
        change: &dyn ChangesRing,
    ) -> Result<Option<EnvironmentFile>, OpError> {
        let mut file = EnvironmentFile::open(self, environment)?;
        if !file.exists() || file.ring()?.is_empty() {
            return Ok(None);
        }
        let name = file.name.clone();
        let closed = |error: ManagerError| OpError::refused(locked(&name, &error));
        let old = self.unlock_config(environment).await.map_err(closed)?;
        let ring = change.change(&old).await.map_err(closed)?;
        for (key, text) in file.secrets() {
            let opened = self.bound(environment, &key, |place| old.crypter().open(&text, place));
            let plain = opened.map_err(|why| {
                let message = format!("the secret `{key}` in {name} cannot be opened: {why}");
                let problem = Diagnostic::error(Code::SECRETS_LOCKED, message).note("Nothing was changed.");
                OpError::refused(
                    problem.help(
                        Hint::text("set it again with ")
                            .then(NextStep::SetSecretConfig)
                            .and(", or remove it with ")
                            .then(NextStep::RemoveConfig),
                    ),
                )
            })?;
            let sealed = self.bound(environment, &key, |place| ring.crypter().seal(&plain, place));
            file.set_secret(&key, &sealed.map_err(|why| not_sealed(&key, &why))?)?;
        }
        file.set_ring(ring.ring());
        Ok(Some(file))
    }

    /// Opens the ring of a file, or makes its first key.
    pub(super) async fn ring_for_values(
        &self,
        environment: &str,
        file: &mut EnvironmentFile,
    ) -> Result<UnlockedRing, OpError> {
        let ring = file.ring()?;
        if !ring.is_empty() {
            let opened = self.unlock_config(environment).await;
            return opened.map_err(|error| OpError::refused(locked(&file.name, &error)));
        }
        let make = async || {
            let managers = self.keys().managers(environment, &ring)?;
            create(&self.config_owner(environment), &managers, self.world()).await
        };
        let made = make().await.map_err(|error| {
            let message = format!("no key can encrypt this value: {}", error.message);
            let problem = Diagnostic::error(Code::NO_SECRETS_MANAGER, message).note("Nothing was changed.");
            OpError::refused(error.help.into_iter().fold(problem, Diagnostic::help))
        })?;
        file.set_ring(made.ring());
        Ok(made)
    }

    pub(super) fn seal(
        &self,
        environment: &str,
        key: &Key,
        value: &Value,
        ring: &UnlockedRing,
        file: &mut EnvironmentFile,
    ) -> Result<(), OpError> {
        let crypter = ring.crypter();
        let sealed =
            self.bound(environment, key, |place| Secret::new(value.clone()).seal(crypter.as_ref(), place));
        match sealed.map_err(|why| not_sealed(key, &why))?.form() {
            Stored::Sealed(text) => file.set_secret(key, text),
            _ => Err(not_sealed(key, &stead_model::Unopened::Damaged)),
        }
    }

    /// Calls `work` with the place of a config value.
    fn bound<T>(&self, environment: &str, key: &Key, work: impl FnOnce(Binding<'_>) -> T) -> T {
        work(Binding(&["config", &self.name, environment, &key.to_string()]))
    }
}

fn sealed(setting: &Setting) -> Option<(&Key, &Secret)> {
    match &setting.given {
        Given::Value(Value::Secret(secret)) => Some((&setting.key, secret)),
        _ => None,
    }
}

/// Returns a text as the type of its key. Without a type, whole numbers, `true` and `false` are written as such.
pub(super) fn typed(
    mut config: Config,
    file: &str,
    key: &Key,
    text: &str,
    written: Written,
) -> Result<Value, OpError> {
    if written == Written::Encrypted {
        // A secret is kept as it was entered, and takes its type when it is read: no message may tell how it fails to fit.
        return Ok(Value::from(text));
    }
    // The value that is replaced has no say.
    let replaced = |origin: &Origin| matches!(origin, Origin::File(place) if place.file == file);
    config.project.retain(|setting| setting.key != *key || !replaced(&setting.origin));
    let before = config.resolve();
    let mut with = config.clone();
    let origin = Origin::Argument("the new value".to_owned());
    with.call.push(Setting { key: key.clone(), given: Given::Text(text.to_owned()), origin });
    let after = with.resolve();
    let new: Vec<Diagnostic> =
        after.problems.iter().filter(|problem| !before.problems.contains(problem)).cloned().collect();
    if !new.is_empty() {
        return Err(OpError::Invalid(new));
    }
    let value = after.value(key).unwrap_or_else(|| Value::from(text));
    let is_known = config.schema.as_ref().is_some_and(|schema| schema.get(key).is_some());
    Ok(match (is_known || before.value(key).is_some(), text) {
        (true, _) => value,
        (false, "true") => Value::Bool(true),
        (false, "false") => Value::Bool(false),
        (false, text) => match text.parse::<i64>() {
            Ok(integer) if integer.to_string() == text => Value::from(integer),
            _ => value,
        },
    })
}

fn not_sealed(key: &Key, why: &stead_model::Unopened) -> OpError {
    let message = format!("config `{key}` cannot be encrypted: {why}");
    OpError::refused(Diagnostic::error(Code::SECRETS_LOCKED, message).note("Nothing was changed."))
}

/// Reports a config file whose ring does not open.
fn locked(file: &str, error: &ManagerError) -> Diagnostic {
    let message = format!("the secrets in {file} are locked: {}", error.message);
    let problem = Diagnostic::error(Code::SECRETS_LOCKED, message).note("Nothing was changed.");
    error.help.iter().cloned().fold(problem, Diagnostic::help)
}
