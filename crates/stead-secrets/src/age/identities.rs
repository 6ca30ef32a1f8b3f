//! Identities: the secret keys on this machine.
//!
//! They are looked for in `STEAD_AGE_KEY`, in the files of `STEAD_AGE_KEY_FILE`, in `~/.config/stead/age.txt`, in
//! `~/.config/sops/age/keys.txt`, and for SSH recipients in `~/.ssh`. Only the identity of the recipient is used.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use stead_world::World;
use zeroize::Zeroizing;

use super::recipient::Recipient;
use crate::search::tell_output_search;
use crate::{Ask, ManagerError, ManagerErrorClass, Question};

const KEY_VARIABLE: &str = "STEAD_AGE_KEY";
const FILE_VARIABLE: &str = "STEAD_AGE_KEY_FILE";
/// Between two files of the variable, as in `PATH`.
const SEPARATOR: char = if cfg!(windows) { ';' } else { ':' };

/// Finds identities.
pub(super) struct Finder {
    pub(super) world: World,
    pub(super) ask: Option<Arc<dyn Ask>>,
}

/// An identity that can be used.
pub(super) enum Opened {
    Native(age::x25519::Identity),
    Ssh(age::ssh::Identity),
}

impl Opened {
    pub(super) fn as_age(&self) -> &dyn age::Identity {
        match self {
            Opened::Native(identity) => identity,
            Opened::Ssh(identity) => identity,
        }
    }
}

impl Finder {
    /// Returns the identity of a recipient.
    pub(super) async fn find(&self, recipient: &Recipient) -> Result<Opened, ManagerError> {
        if let Some(text) = self.world.host.variables.get(KEY_VARIABLE)
            && let Some(found) = self.search(text, recipient, PathBuf::from(KEY_VARIABLE)).await?
        {
            return Ok(found);
        }
        for (path, needed) in self.files(recipient) {
            let Some(text) = self.read(&path, needed).await? else { continue };
            if let Some(found) = self.search(&text, recipient, path).await? {
                return Ok(found);
            }
        }
        let places: Vec<String> =
            self.files(recipient).into_iter().map(|(path, _)| path.display().to_string()).collect();
        let message = format!("{}: this machine has no identity of this recipient", recipient.short());
        Err(ManagerError::new(ManagerErrorClass::NotConfigured, message).help(format!(
            "looked in {KEY_VARIABLE} and {}; set {FILE_VARIABLE} to the file of your identity",
            places.join(", ")
        )))
    }

    /// Returns the files that may have the identity, in their order.
    fn files(&self, recipient: &Recipient) -> Vec<(PathBuf, Presence)> {
        let named = self.world.host.variables.get(FILE_VARIABLE).unwrap_or_default();
        let named = named.split(SEPARATOR).filter(|path| !path.is_empty());
        let mut files: Vec<_> = named.map(|path| (PathBuf::from(path), Presence::Required)).collect();
        let Some(home) = &self.world.host.home else { return files };
        let mut usual = vec![".config/stead/age.txt", ".config/sops/age/keys.txt"];
        match recipient {
            Recipient::Native(_) => {}
            Recipient::Ssh(age::ssh::Recipient::SshEd25519(..)) => usual.push(".ssh/id_ed25519"),
            Recipient::Ssh(age::ssh::Recipient::SshRsa(..)) => usual.push(".ssh/id_rsa"),
        }
        files.extend(usual.into_iter().map(|path| (home.join(path), Presence::Optional)));
        files
    }

    async fn read(&self, path: &Path, presence: Presence) -> Result<Option<Zeroizing<String>>, ManagerError> {
        let wanted = path.to_owned();
        match self.world.with_files(move |files| files.read(&wanted).map(Zeroizing::new)).await {
            Ok(bytes) => {
                let text = Zeroizing::new(String::from_utf8_lossy(&bytes).into_owned());
                let secret = |line: &&str| line.starts_with("AGE-SECRET-KEY-");
                text.lines().map(str::trim).filter(secret).for_each(tell_output_search);
                text.find("-----BEGIN ").into_iter().for_each(|at| tell_output_search(text[at..].trim()));
                Ok(Some(text))
            }
            Err(error) if presence == Presence::Optional && error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => {
                let message = format!("age: {} cannot be read: {error}", path.display());
                Err(ManagerError::new(ManagerErrorClass::NotConfigured, message))
            }
        }
    }

    /// Returns the identity of the recipient if the text has it. Other lines, such as comments and plugins, are left out.
    async fn search(
        &self,
        text: &str,
        recipient: &Recipient,
        file: PathBuf,
    ) -> Result<Option<Opened>, ManagerError> {
        match recipient {
            Recipient::Native(public) => {
                let mut all =
                    text.lines().filter_map(|line| line.trim().parse::<age::x25519::Identity>().ok());
                let wanted = public.to_string();
                let found = all.find(|identity| identity.to_public().to_string() == wanted);
                Ok(found.map(Opened::Native))
            }
            Recipient::Ssh(_) => {
                let Some(start) = text.find("-----BEGIN ") else { return Ok(None) };
                let Ok(identity) = age::ssh::Identity::from_buffer(&text.as_bytes()[start..], None) else {
                    return Ok(None);
                };
                match Recipient::of_ssh(&identity) {
                    Some(public) if public == *recipient => {
                        self.open_ssh(identity, recipient, file).await.map(Some)
                    }
                    _ => Ok(None),
                }
            }
        }
    }

    /// Decrypts an SSH key that has a passphrase.
    async fn open_ssh(
        &self,
        identity: age::ssh::Identity,
        recipient: &Recipient,
        file: PathBuf,
    ) -> Result<Opened, ManagerError> {
        let age::ssh::Identity::Encrypted(encrypted) = identity else { return Ok(Opened::Ssh(identity)) };
        let shown = file.display().to_string();
        let question = Question::SshKey { file };
        let answer = match &self.ask {
            Some(ask) => ask.ask(&question).await,
            None => None,
        };
        let failure = |class, what: &str| {
            ManagerError::new(class, format!("{}: the SSH key {shown} {what}", recipient.short()))
        };
        let answer = answer.ok_or_else(|| {
            failure(ManagerErrorClass::NotConfigured, "has a passphrase, and none was given")
        })?;
        let key = encrypted.decrypt(answer.as_str().to_owned().into());
        let key = key.map_err(|_| failure(ManagerErrorClass::WrongKey, "has another passphrase"))?;
        Ok(Opened::Ssh(key.into()))
    }
}

/// Whether a file must exist.
#[derive(Clone, Copy, PartialEq)]
enum Presence {
    Required,
    Optional,
}
