//! `Secret`: a value that knows that it is secret.
//!
//! The value leaves a `Secret` in two ways only: a [`Crypter`] seals it for storage, or [`Secret::reveal`] hands it to a provider call
//! or to the interpreter. **Invariant:** no `Debug`, `Display` or `Serialize` shows it; a secret that is not sealed is serialised
//! as `[secret]`.

use std::cmp::Ordering;
use std::fmt;
use std::sync::{Arc, OnceLock};

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use crate::{Binding, Ciphertext, Crypter, KeyedDigest, Map, SIGNATURE_KEY, Text, Unopened, Value};

/// Text shown instead of a secret.
pub const BLINDED: &str = "[secret]";

/// Value of the signature key that marks a secret, the same as in the format of Pulumi.
pub const SECRET_SIGNATURE: &str = "1b47061264138c4ac30d75fd1eb44270";

/// The function that is told of the values of secrets.
static WATCHER: OnceLock<fn(&Value)> = OnceLock::new();

/// Calls a function with the value of each secret that this process makes or opens from here on.
///
/// For the front end of a process, which takes these values out of its output. The first function stays.
pub fn watch_secrets(watcher: fn(&Value)) {
    let _ = WATCHER.set(watcher);
}

/// Tells the watcher of a value that is a secret from here on.
pub(crate) fn tell_watcher(secret: &Value) {
    if let Some(watcher) = WATCHER.get() {
        watcher(secret);
    }
}

/// A secret value. Clones share it.
#[derive(Clone)]
pub struct Secret(Arc<Inner>);

struct Inner {
    /// The value, or why there is none; empty while nothing tried to open a stored secret.
    plain: OnceLock<Result<Value, Unopened>>,
    stored: Stored,
    /// Compares a value with the digest of a value that is not kept.
    verifier: OnceLock<Verifier>,
    reach: Reach,
}

/// Where a secret is looked for.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Reach {
    /// Everywhere: the value is a secret of the program, of its config or of a schema.
    Run,
    /// In its own resource. The values inside were secrets before, and are looked for everywhere.
    Resource(Vec<Value>),
}

/// How a secret is stored.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stored {
    /// Not at all so far. `Kept` says how it will be.
    Unsealed(Kept),
    Sealed(Ciphertext),
    /// The value is not kept: only a digest tells whether it changed. An intent also has the ciphertext until the operation ends.
    WriteOnly {
        digest: KeyedDigest,
        ciphertext: Option<Ciphertext>,
    },
    /// Neither the value nor a digest is kept.
    Ephemeral,
}

/// How much of a secret is recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kept {
    /// The encrypted value.
    Value,
    /// A keyed digest, for a property that its provider never returns.
    Digest,
    /// Nothing, for a value that differs in every run.
    Nothing,
}

struct Verifier {
    crypter: Arc<dyn Crypter>,
    binding: Vec<String>,
}

impl Secret {
    /// Makes a secret of a value. Secrets inside the value lose their own marks, because this one covers them.
    pub fn new(plain: Value) -> Secret {
        Secret::kept(plain, Kept::Value)
    }

    /// Makes a secret of a value, of which `kept` is recorded.
    pub fn kept(plain: Value, kept: Kept) -> Secret {
        let opened = plain.revealed();
        opened.iter().for_each(tell_watcher);
        Secret::with(OnceLock::from(opened), Stored::Unsealed(kept), Reach::Run)
    }

    /// Makes a secret that is looked for in its own resource only: a value that is write-only, or that a search marked.
    ///
    /// It may be a common word, such as the type of a machine, or contain some. Secrets inside are still looked for everywhere.
    pub fn local(plain: Value, kept: Kept) -> Secret {
        let mut inside = Vec::new();
        plain.each_shared(&mut |secret| inside.push(secret.clone()));
        Secret::with(OnceLock::from(plain.revealed()), Stored::Unsealed(kept), Reach::Resource(inside))
    }

    /// Returns an ephemeral secret without its value, for a plan.
    pub fn ephemeral() -> Secret {
        Secret::with(OnceLock::from(Err(Unopened::NotKept)), Stored::Ephemeral, Reach::Run)
    }

    /// Returns a secret as it was stored.
    pub fn stored(stored: Stored) -> Secret {
        let reach = match &stored {
            // The record does not tell whether the value was a secret before the schema made it one.
            Stored::WriteOnly { .. } => Reach::Resource(Vec::new()),
            Stored::Unsealed(_) | Stored::Sealed(_) | Stored::Ephemeral => Reach::Run,
        };
        Secret::with(OnceLock::new(), stored, reach)
    }

    fn with(plain: OnceLock<Result<Value, Unopened>>, stored: Stored, reach: Reach) -> Secret {
        Secret(Arc::new(Inner { plain, stored, verifier: OnceLock::new(), reach }))
    }

    /// Returns the same value with another rule for what is recorded of it.
    #[must_use]
    pub fn keeping(&self, kept: Kept) -> Secret {
        match self.reveal() {
            Ok(plain) => {
                let (opened, reach) = (OnceLock::from(Ok(plain.clone())), self.0.reach.clone());
                Secret::with(opened, Stored::Unsealed(kept), reach)
            }
            Err(_) => self.clone(),
        }
    }

    /// Returns another value that is recorded like this one and looked for where this one is.
    #[must_use]
    pub fn like(&self, plain: Value) -> Secret {
        match &self.0.reach {
            Reach::Run => Secret::kept(plain, self.recorded()),
            Reach::Resource(_) => Secret::local(plain, self.recorded()),
        }
    }

    /// Returns the secret as one that is looked for everywhere.
    #[must_use]
    pub fn shared(&self) -> Secret {
        match (&self.0.reach, &self.0.stored, self.reveal()) {
            (Reach::Resource(_), Stored::Unsealed(kept), Ok(plain)) => Secret::kept(plain.clone(), *kept),
            _ => self.clone(),
        }
    }

    /// Calls `see` with the open values that are looked for everywhere: the value, or secrets inside of a local one.
    pub fn each_shared(&self, see: &mut dyn FnMut(&Value)) {
        match &self.0.reach {
            Reach::Run => self.reveal().into_iter().for_each(see),
            Reach::Resource(inside) => inside.iter().for_each(see),
        }
    }

    /// Returns the value, for a provider call, the interpreter, or a person who asked to see it.
    pub fn reveal(&self) -> Result<&Value, Unopened> {
        match self.0.plain.get() {
            Some(Ok(value)) => Ok(value),
            Some(Err(why)) => Err(why.clone()),
            None => Err(Unopened::Locked("no key was opened".to_owned())),
        }
    }

    /// Returns how much of the secret is recorded.
    pub fn recorded(&self) -> Kept {
        match &self.0.stored {
            Stored::Unsealed(kept) => *kept,
            Stored::Sealed(_) => Kept::Value,
            Stored::WriteOnly { .. } => Kept::Digest,
            Stored::Ephemeral => Kept::Nothing,
        }
    }

    pub fn form(&self) -> &Stored {
        &self.0.stored
    }

    /// Returns the secret sealed for a place. A secret without a value keeps its stored form.
    pub fn seal(&self, crypter: &dyn Crypter, binding: Binding<'_>) -> Result<Secret, Unopened> {
        let Ok(plain) = self.reveal() else {
            return match self.0.stored {
                Stored::Unsealed(Kept::Nothing) => Ok(Secret::ephemeral()),
                Stored::Unsealed(_) => Err(Unopened::Damaged),
                _ => Ok(self.clone()),
            };
        };
        let text = plain.to_json();
        let stored = match self.recorded() {
            Kept::Value => Stored::Sealed(crypter.seal(text.as_bytes(), binding)?),
            Kept::Digest => Stored::WriteOnly {
                digest: crypter.digest(text.as_bytes(), binding)?,
                ciphertext: Some(crypter.seal(text.as_bytes(), binding)?),
            },
            Kept::Nothing => Stored::Ephemeral,
        };
        Ok(Secret::with(OnceLock::from(Ok(plain.clone())), stored, self.0.reach.clone()))
    }

    /// Opens a stored secret in place, for all clones. The result is seen by `reveal`.
    pub fn open(&self, crypter: &Arc<dyn Crypter>, binding: Binding<'_>) {
        let opened = match &self.0.stored {
            Stored::Unsealed(_) => return,
            Stored::Sealed(sealed) | Stored::WriteOnly { ciphertext: Some(sealed), .. } => {
                open(crypter.as_ref(), sealed, binding)
            }
            Stored::WriteOnly { ciphertext: None, .. } | Stored::Ephemeral => Err(Unopened::NotKept),
        };
        if let Stored::WriteOnly { .. } = &self.0.stored {
            let binding = binding.0.iter().map(|part| (*part).to_owned()).collect();
            let _ = self.0.verifier.set(Verifier { crypter: crypter.clone(), binding });
        }
        opened.iter().for_each(tell_watcher);
        let _ = self.0.plain.set(opened);
    }

    /// Returns the record of the secret after its operation: a write-only value leaves a digest.
    #[must_use]
    pub fn settled(&self) -> Option<Secret> {
        match &self.0.stored {
            Stored::WriteOnly { digest, ciphertext: Some(_) } => {
                let settled = Secret::stored(Stored::WriteOnly { digest: digest.clone(), ciphertext: None });
                if let Some(Verifier { crypter, binding }) = self.0.verifier.get() {
                    let verifier = Verifier { crypter: crypter.clone(), binding: binding.clone() };
                    let _ = settled.0.verifier.set(verifier);
                }
                Some(settled)
            }
            _ => None,
        }
    }

    /// Returns the mark that another stack records for a write-only secret without a value. `None` for every other secret.
    ///
    /// A digest is keyed and bound to its stack, so that it says nothing there. The mark differs from every value: the next plan
    /// sends the value again.
    #[must_use]
    pub fn without_digest(&self) -> Option<Secret> {
        let has_no_value = matches!(self.0.stored, Stored::WriteOnly { ciphertext: None, .. });
        has_no_value.then(Secret::ephemeral)
    }

    /// Returns true if the stored form has an encrypted value.
    pub fn is_encrypted(&self) -> bool {
        matches!(self.0.stored, Stored::Sealed(_) | Stored::WriteOnly { ciphertext: Some(_), .. })
    }

    /// Returns true if the digest is that of the value of the other secret.
    fn verifies(&self, other: &Secret) -> Option<bool> {
        let (Stored::WriteOnly { digest, .. }, Some(verifier)) = (&self.0.stored, self.0.verifier.get())
        else {
            return None;
        };
        let plain = other.reveal().ok()?;
        let parts: Vec<&str> = verifier.binding.iter().map(String::as_str).collect();
        verifier.crypter.matches(digest, plain.to_json().as_bytes(), Binding(&parts)).ok()
    }
}

fn open(crypter: &dyn Crypter, sealed: &Ciphertext, binding: Binding<'_>) -> Result<Value, Unopened> {
    let bytes = crypter.open(sealed, binding)?;
    let value: Value = serde_json::from_slice(&bytes).map_err(|_| Unopened::Damaged)?;
    value.revealed()
}

impl PartialEq for Secret {
    /// Compares the values, as far as they are known: a value with a value, a value with a digest, a text with a text.
    fn eq(&self, other: &Secret) -> bool {
        if Arc::ptr_eq(&self.0, &other.0) {
            return true;
        }
        if self.recorded() == Kept::Nothing || other.recorded() == Kept::Nothing {
            return self.recorded() == other.recorded();
        }
        match (self.reveal(), other.reveal()) {
            (Ok(a), Ok(b)) => a == b,
            _ => match self.verifies(other).or_else(|| other.verifies(self)) {
                Some(equal) => equal,
                None => self.0.stored == other.0.stored,
            },
        }
    }
}

impl Eq for Secret {}

impl PartialOrd for Secret {
    fn partial_cmp(&self, other: &Secret) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Secret {
    fn cmp(&self, other: &Secret) -> Ordering {
        if self == other {
            return Ordering::Equal;
        }
        match (self.reveal(), other.reveal()) {
            (Ok(a), Ok(b)) => a.cmp(b),
            _ => self.0.stored.cmp(&other.0.stored),
        }
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(BLINDED)
    }
}

/// Field of a stored secret with the encrypted value.
const CIPHERTEXT: &str = "ciphertext";
/// Field of a secret inside another, or in an export that shows secrets: the JSON text of the value.
const PLAINTEXT: &str = "plaintext";
/// Field of a write-only secret.
const DIGEST: &str = "digest";
/// Field of an ephemeral secret.
const EPHEMERAL: &str = "ephemeral";

impl Serialize for Secret {
    /// Writes the stored form, or `[secret]` for a secret that is not sealed: the only serialiser of a value is one that encrypts.
    ///
    /// State refuses a record with a secret that is not sealed (rule S23), so this text is never stored in place of a value.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if let Stored::Unsealed(_) = &self.0.stored {
            return serializer.serialize_str(BLINDED);
        }
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry(SIGNATURE_KEY, SECRET_SIGNATURE)?;
        match &self.0.stored {
            Stored::Unsealed(_) => {}
            Stored::Sealed(text) => map.serialize_entry(CIPHERTEXT, text)?,
            Stored::WriteOnly { digest, ciphertext } => {
                if let Some(text) = ciphertext {
                    map.serialize_entry(CIPHERTEXT, text)?;
                }
                map.serialize_entry(DIGEST, digest)?;
            }
            Stored::Ephemeral => map.serialize_entry(EPHEMERAL, &true)?,
        }
        map.end()
    }
}

impl Secret {
    /// Returns the secret as data in the clear, for the inside of another encryption, or for a person who asked to see it.
    pub fn exposed(&self) -> Result<Value, Unopened> {
        let plain = self.reveal()?.to_json();
        let fields = [(SIGNATURE_KEY, Value::from(SECRET_SIGNATURE)), (PLAINTEXT, Value::from(plain))];
        Ok(Value::Map(fields.into_iter().map(|(key, value)| (Text::from(key), value)).collect()))
    }

    /// Reads the stored form; `None` if the object is no secret, an error if it is a malformed one.
    pub(crate) fn of_map(map: &Map) -> Option<Result<Secret, &'static str>> {
        if map.get(SIGNATURE_KEY)?.as_str() != Some(SECRET_SIGNATURE) {
            return None;
        }
        let text = |key: &str| map.get(key).and_then(Value::as_str);
        let (ciphertext, digest) = (text(CIPHERTEXT), text(DIGEST));
        Some(match (map.len(), ciphertext, digest, text(PLAINTEXT), map.get(EPHEMERAL)) {
            (2, Some(sealed), None, None, None) => {
                Ok(Secret::stored(Stored::Sealed(Ciphertext(sealed.to_owned()))))
            }
            (2 | 3, ciphertext, Some(digest), None, None) => Ok(Secret::stored(Stored::WriteOnly {
                digest: KeyedDigest(digest.to_owned()),
                ciphertext: ciphertext.map(|text| Ciphertext(text.to_owned())),
            })),
            (2, None, None, Some(plain), None) => match serde_json::from_str::<Value>(plain) {
                Ok(value) => Ok(Secret::new(value)),
                Err(_) => Err("the plaintext of a secret is not JSON"),
            },
            (2, None, None, None, Some(Value::Bool(true))) => Ok(Secret::ephemeral()),
            _ => Err("an object with the signature of a secret has no ciphertext"),
        })
    }
}

/// A change of a secret that depends on the segments of its path.
pub type ChangeAt<'a, E> = dyn FnMut(&Secret, &[String]) -> Result<Secret, E> + 'a;

impl Value {
    /// Makes a secret of a value.
    pub fn secret(value: Value) -> Value {
        match value {
            Value::Secret(secret) => Value::Secret(secret),
            value => Value::Secret(Secret::new(value)),
        }
    }

    /// Returns true if the value is a secret or has one inside.
    pub fn has_secrets(&self) -> bool {
        match self {
            Value::Secret(_) => true,
            Value::List(items) => items.iter().any(Value::has_secrets),
            Value::Map(map) => map.values().any(Value::has_secrets),
            _ => false,
        }
    }

    /// Returns true if a secret in the value is recorded nowhere.
    pub fn is_ephemeral(&self) -> bool {
        match self {
            Value::Secret(secret) => secret.recorded() == Kept::Nothing,
            Value::List(items) => items.iter().any(Value::is_ephemeral),
            Value::Map(map) => map.values().any(Value::is_ephemeral),
            _ => false,
        }
    }

    /// Calls `see` with the open values in it that are secrets everywhere; see [`Secret::local`].
    pub fn each_shared(&self, see: &mut dyn FnMut(&Value)) {
        match self {
            Value::Secret(secret) => secret.each_shared(see),
            Value::List(items) => items.iter().for_each(|item| item.each_shared(see)),
            Value::Map(map) => map.values().for_each(|item| item.each_shared(see)),
            _ => {}
        }
    }

    /// Returns the value with every secret in it revealed.
    pub fn revealed(&self) -> Result<Value, Unopened> {
        if !self.has_secrets() {
            return Ok(self.clone());
        }
        self.try_map_secrets(&mut |secret| secret.reveal().cloned())
    }

    /// Returns the value with every secret as data in the clear; see [`Secret::exposed`]. A secret without a value stays sealed.
    #[must_use]
    pub fn exposed(&self) -> Value {
        let expose = &mut |secret: &Secret| {
            Ok::<_, std::convert::Infallible>(
                secret.exposed().unwrap_or_else(|_| Value::Secret(secret.clone())),
            )
        };
        let Ok(value) = self.try_map_secrets(expose);
        value
    }

    /// Returns the value with `[secret]` in place of every secret, for people and for machine output.
    #[must_use]
    pub fn blinded(&self) -> Value {
        if !self.has_secrets() {
            return self.clone();
        }
        let blind = &mut |_: &Secret| Ok::<_, std::convert::Infallible>(Value::from(BLINDED));
        let Ok(value) = self.try_map_secrets(blind);
        value
    }

    /// Returns the value with every secret in it replaced.
    pub fn try_map_secrets<E>(
        &self,
        change: &mut (impl FnMut(&Secret) -> Result<Value, E> + ?Sized),
    ) -> Result<Value, E> {
        Ok(match self {
            Value::Secret(secret) => change(secret)?,
            Value::List(items) if self.has_secrets() => {
                let items: Result<Vec<Value>, E> =
                    items.iter().map(|item| item.try_map_secrets(change)).collect();
                Value::from(items?)
            }
            Value::Map(map) if self.has_secrets() => {
                let mut all: Vec<(Text, Value)> = Vec::with_capacity(map.len());
                for (key, value) in map {
                    all.push((key.clone(), value.try_map_secrets(change)?));
                }
                Value::Map(all.into_iter().collect())
            }
            plain => plain.clone(),
        })
    }

    /// Calls `each` with every secret in the value and the segments of its path.
    pub fn each_secret(&self, path: &mut Vec<String>, each: &mut dyn FnMut(&Secret, &[String])) {
        match self {
            Value::Secret(secret) => each(secret, path),
            Value::List(items) => {
                for (index, item) in items.iter().enumerate() {
                    if matches!(item, Value::Secret(_) | Value::List(_) | Value::Map(_)) {
                        path.push(index.to_string());
                        item.each_secret(path, each);
                        path.pop();
                    }
                }
            }
            Value::Map(map) => {
                for (key, item) in map {
                    if matches!(item, Value::Secret(_) | Value::List(_) | Value::Map(_)) {
                        path.push(key.as_str().to_owned());
                        item.each_secret(path, each);
                        path.pop();
                    }
                }
            }
            _ => {}
        }
    }

    /// Returns the value with every secret sealed for its place, or changed in another way that depends on the place.
    pub fn map_secrets_at<E>(
        &self,
        path: &mut Vec<String>,
        change: &mut ChangeAt<'_, E>,
    ) -> Result<Value, E> {
        if !self.has_secrets() {
            return Ok(self.clone());
        }
        Ok(match self {
            Value::Secret(secret) => Value::Secret(change(secret, path)?),
            Value::List(items) => {
                let mut all = Vec::with_capacity(items.len());
                for (index, item) in items.iter().enumerate() {
                    path.push(index.to_string());
                    all.push(item.map_secrets_at(path, change)?);
                    path.pop();
                }
                Value::from(all)
            }
            Value::Map(map) => {
                let mut all: Vec<(Text, Value)> = Vec::with_capacity(map.len());
                for (key, item) in map {
                    path.push(key.as_str().to_owned());
                    all.push((key.clone(), item.map_secrets_at(path, change)?));
                    path.pop();
                }
                Value::Map(all.into_iter().collect())
            }
            plain => plain.clone(),
        })
    }
}

#[cfg(test)]
mod tests;
