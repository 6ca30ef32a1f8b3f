//! Import of `Pulumi.<stack>.yaml`: its values, and its secrets once the passphrase of the Pulumi stack opens them.
//!
//! **Invariant:** nothing is written unless every value can be, and a secret is written only as ciphertext.

use std::collections::BTreeMap;
use std::path::Path;

use stead_engine::ops::OpError;
use stead_eval::config::Key;
use stead_model::{Code, Diagnostic, Hint, Map, NextStep, Value};
use stead_secrets::{PulumiCrypter, PulumiError};

use super::edit::{Written, typed};
use super::file::EnvironmentFile;
use super::{ConfigInputs, Project, read};

/// The field of an encrypted value.
const SECURE: &str = "secure";
const CHANGE_PROVIDER: &str =
    "run `pulumi stack change-secrets-provider passphrase` on a copy of the project, then import its file";

/// Config of a Pulumi stack, as its file has it.
pub struct PulumiConfig {
    shown: String,
    /// Values in the order of their keys. Encrypted parts are still encrypted.
    values: BTreeMap<Key, Value>,
    /// State of the passphrase, from `encryptionsalt`.
    salt: Option<String>,
    /// The key service that encrypts the values, from `secretsprovider`.
    service: Option<String>,
}

/// Keys that an import wrote.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImportedConfig {
    pub file: String,
    pub plain: Vec<Key>,
    pub secret: Vec<Key>,
}

impl PulumiConfig {
    /// Reads a file. The namespace of a key that is the name of the Pulumi project, or of this one, is left out.
    pub fn read(project: &Project, path: &Path, shown: &str) -> Result<PulumiConfig, OpError> {
        let document = yaml(&read(project, path, shown)?, shown)?;
        let own = own_namespaces(project, path);
        let text = |field: &str| document.get(field).and_then(Value::as_str).map(str::to_owned);
        let service = text("secretsprovider").filter(|url| url != "passphrase" && !url.is_empty());
        let mut values = BTreeMap::new();
        let config = match document.get("config") {
            None | Some(Value::Null) => &Map::new(),
            Some(Value::Map(config)) => config,
            Some(_) => return Err(invalid(shown, "`config` is not a table")),
        };
        for (name, value) in config {
            let key = match name.split_once(':') {
                Some((namespace, key)) if own.iter().any(|own| own == namespace) => Key::of([key]),
                Some((namespace, key)) => Key::of([namespace, key]),
                None => Key::of([name.as_str()]),
            };
            if key.parts().iter().any(|part| part.is_empty() || part.contains('"')) {
                return Err(invalid(shown, &format!("{:?} cannot be a config key", name.as_str())));
            }
            let mut twice = None;
            flatten(key, value, &mut |key, value| {
                if values.insert(key.clone(), value).is_some() {
                    twice = Some(key);
                }
            });
            if let Some(key) = twice {
                return Err(invalid(shown, &format!("two of its keys would be `{key}`")));
            }
        }
        Ok(PulumiConfig { shown: shown.to_owned(), values, salt: text("encryptionsalt"), service })
    }

    /// Returns true if a value is encrypted.
    pub fn has_secrets(&self) -> bool {
        self.values.values().any(has_secure)
    }

    /// Opens the key of the secrets. Stretches the passphrase, which takes a good part of a second; blocks.
    ///
    /// Fails for a stack whose secrets a key service encrypts.
    pub fn unlock(&self, passphrase: &str) -> Result<PulumiCrypter, OpError> {
        self.check_passphrase_managed()?;
        PulumiCrypter::open(self.salt.as_deref().unwrap_or_default(), passphrase)
            .map_err(|error| self.locked(None, &error))
    }

    /// Fails unless the secrets are encrypted with a passphrase.
    pub fn check_passphrase_managed(&self) -> Result<(), OpError> {
        let shown = &self.shown;
        let message = match (&self.service, &self.salt) {
            (Some(service), _) => format!("the secrets in {shown} are encrypted by {service}"),
            (None, None) => format!("the secrets in {shown} are encrypted by the Pulumi service"),
            (None, Some(_)) => return Ok(()),
        };
        let problem = Diagnostic::error(Code::SECRETS_LOCKED, message)
            .note("Only secrets that Pulumi encrypted with a passphrase can be read. Nothing was changed.");
        Err(OpError::refused(problem.help(CHANGE_PROVIDER)))
    }

    fn locked(&self, key: Option<&Key>, error: &PulumiError) -> OpError {
        let at = key.map(|key| format!("`{key}` in ")).unwrap_or_default();
        let message = format!("{at}{}: {error}", self.shown);
        OpError::refused(Diagnostic::error(Code::SECRETS_LOCKED, message).note("Nothing was changed."))
    }

    /// Returns a value with its encrypted parts opened.
    fn opened(&self, key: &Key, value: &Value, crypter: &PulumiCrypter) -> Result<Value, OpError> {
        if let Some(sealed) = secure(value) {
            let plain = crypter.decrypt(sealed).map_err(|error| self.locked(Some(key), &error))?;
            let text = str::from_utf8(&plain).map_err(|_| self.locked(Some(key), &PulumiError::Damaged))?;
            return Ok(Value::from(text));
        }
        Ok(match value {
            Value::List(items) => {
                let opened: Result<Vec<Value>, OpError> =
                    items.iter().map(|item| self.opened(key, item, crypter)).collect();
                opened?.into_iter().collect()
            }
            Value::Map(map) => {
                let mut opened = Map::new();
                for (name, item) in map {
                    opened.insert(name.clone(), self.opened(key, item, crypter)?);
                }
                Value::Map(opened)
            }
            other => other.clone(),
        })
    }
}

impl Project {
    /// Writes the config of a Pulumi stack into `stead.ENV.toml`, its secrets encrypted for this project. The file is written once.
    ///
    /// A key that the file sets already is an error. `crypter` is needed if the config has secrets.
    pub async fn import_pulumi_config(
        &self,
        environment: &str,
        source: &PulumiConfig,
        crypter: Option<&PulumiCrypter>,
    ) -> Result<ImportedConfig, OpError> {
        let config = self.config(environment, &ConfigInputs::default())?;
        let mut file = EnvironmentFile::open(self, environment)?;
        let set: Vec<String> =
            source.values.keys().filter(|key| file.sets(key)).map(|key| format!("`{key}`")).collect();
        if !set.is_empty() {
            let message = format!("{} already sets {}", file.name, set.join(", "));
            let problem = Diagnostic::error(Code::CONFIG_VALUE, message).note("Nothing was changed.");
            let hint = Hint::text("remove them first with ").then(NextStep::RemoveConfig);
            return Err(OpError::refused(problem.help(hint)));
        }
        let is_secret = |key: &Key, value: &Value| has_secure(value) || config.is_secret(key);
        let (secret, plain): (Vec<_>, Vec<_>) =
            source.values.iter().partition(|(key, value)| is_secret(key, value));
        for (key, value) in &plain {
            let value = match value.as_str() {
                Some(text) => typed(config.clone(), &file.name, key, text, Written::InTheClear)?,
                None => (*value).clone(),
            };
            file.set(key, &value)?;
        }
        if !secret.is_empty() {
            let ring = self.ring_for_values(environment, &mut file).await?;
            for (key, value) in &secret {
                let value = match crypter {
                    Some(crypter) => source.opened(key, value, crypter)?,
                    None if !has_secure(value) => (*value).clone(),
                    None => return Err(source.locked(Some(key), &PulumiError::WrongPassphrase)),
                };
                self.seal(environment, key, &value, &ring, &mut file)?;
            }
        }
        file.write(self)?;
        let keys = |all: Vec<(&Key, &Value)>| all.into_iter().map(|(key, _)| key.clone()).collect();
        Ok(ImportedConfig { file: file.name, plain: keys(plain), secret: keys(secret) })
    }
}

/// Returns the namespaces whose keys belong to the program: the names of this project and of the Pulumi project.
fn own_namespaces(project: &Project, path: &Path) -> Vec<String> {
    let beside = path.with_file_name("Pulumi.yaml");
    let text = read(project, &beside, "Pulumi.yaml").ok();
    let named = text.and_then(|text| yaml(&text, "Pulumi.yaml").ok());
    let named = named.and_then(|document| document.get("name")?.as_str().map(str::to_owned));
    named.into_iter().chain([project.name.clone()]).collect()
}

fn yaml(text: &str, shown: &str) -> Result<Map, OpError> {
    match stead_eval::read_yaml(text).map_err(|error| invalid(shown, &error))? {
        Value::Map(map) => Ok(map),
        Value::Null => Ok(Map::new()),
        _ => Err(invalid(shown, "it is not a table")),
    }
}

/// Splits tables into their values. A list stays whole.
fn flatten(key: Key, value: &Value, found: &mut dyn FnMut(Key, Value)) {
    match value {
        Value::Map(map) if secure(value).is_none() && !map.is_empty() => {
            map.iter().for_each(|(name, item)| flatten(key.child(name), item, found));
        }
        value => found(key, value.clone()),
    }
}

/// Returns the ciphertext of `{secure: …}`.
fn secure(value: &Value) -> Option<&str> {
    let map = value.as_map().filter(|map| map.len() == 1)?;
    map.get(SECURE)?.as_str()
}

fn has_secure(value: &Value) -> bool {
    secure(value).is_some()
        || match value {
            Value::List(items) => items.iter().any(has_secure),
            Value::Map(map) => map.values().any(has_secure),
            _ => false,
        }
}

fn invalid(shown: &str, problem: &str) -> OpError {
    let message = format!("{shown} is not the config of a Pulumi stack: {problem}");
    OpError::invalid(Diagnostic::error(Code::BAD_CONFIG, message).note("Nothing was changed."))
}
