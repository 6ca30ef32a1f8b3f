//! Secrets in records and in state: sealing before a record is written, opening after a state is read.
//!
//! A ciphertext is bound to the stack's id, the resource's uid and the path of its value, so that renames need no key, and a text that
//! was moved to another place does not open. **Invariant:** a record with a secret that is not sealed cannot be encoded.

use std::sync::Arc;

use stead_model::{
    Binding, ChangeAt, Ciphertext, CopyRef, Crypter, KeyId, Map, Name, NoKey, OpId, Resource, Secret,
    StackId, Stored, Unopened, Value,
};

use crate::{Intent, Outcome, Record, Settlement, Snapshot, State};

/// The part of a record that a value is in.
#[derive(Clone, Copy)]
enum Section {
    Inputs,
    Outputs,
    /// Outputs of the stack.
    Exports,
}

impl Section {
    fn name(self) -> &'static str {
        match self {
            Section::Inputs => "inputs",
            Section::Outputs => "outputs",
            Section::Exports => "exports",
        }
    }
}

/// The place of a map of values: the stack, the resource and the section.
#[derive(Clone, Copy)]
struct Place<'a> {
    stack: &'a StackId,
    /// Empty for the outputs of the stack.
    uid: &'a str,
    section: Section,
}

impl Place<'_> {
    /// Calls `work` with the binding of a path at this place.
    fn bound<T>(self, path: &[String], work: impl FnOnce(Binding<'_>) -> T) -> T {
        let mut parts = Vec::with_capacity(path.len() + 3);
        parts.extend([self.stack.0.as_str(), self.uid, self.section.name()]);
        parts.extend(path.iter().map(String::as_str));
        work(Binding(&parts))
    }

    fn seal(self, values: &mut Map, crypter: &dyn Crypter) -> Result<(), Unopened> {
        self.change(values, &mut |secret, path| self.bound(path, |at| secret.seal(crypter, at)))
    }

    fn change<E>(self, values: &mut Map, change: &mut ChangeAt<'_, E>) -> Result<(), E> {
        if !values.values().any(Value::has_secrets) {
            return Ok(());
        }
        let mut path = Vec::new();
        let mut changed = Vec::with_capacity(values.len());
        for (key, value) in values.iter() {
            path.push(key.as_str().to_owned());
            changed.push((key.clone(), value.map_secrets_at(&mut path, change)?));
            path.pop();
        }
        *values = changed.into_iter().collect();
        Ok(())
    }

    /// Calls `work` with every encrypted value and its binding.
    fn each_ciphertext(self, values: &Map, work: &mut dyn FnMut(&Ciphertext, Binding<'_>)) {
        for (key, value) in values.iter().filter(|(_, value)| value.has_secrets()) {
            value.each_secret(&mut vec![key.as_str().to_owned()], &mut |secret, path| {
                if let Stored::Sealed(sealed) | Stored::WriteOnly { ciphertext: Some(sealed), .. } =
                    secret.form()
                {
                    self.bound(path, |at| work(sealed, at));
                }
            });
        }
    }

    fn open(self, values: &Map, crypter: &Arc<dyn Crypter>) {
        let mut path = Vec::new();
        for (key, value) in values.iter() {
            // Most values have none, and need no path.
            if value.has_secrets() {
                path.push(key.as_str().to_owned());
                value.each_secret(&mut path, &mut |secret, path| {
                    self.bound(path, |at| secret.open(crypter, at));
                });
                path.pop();
            }
        }
    }
}

/// Returns true if the values of a resource have a secret.
pub fn has_secrets(resource: &Resource) -> bool {
    resource.inputs.values().chain(resource.outputs.values()).any(Value::has_secrets)
}

/// Returns true if opening the values of a resource needs a key: one of them is stored encrypted.
pub fn has_encrypted_values(resource: &Resource) -> bool {
    any_secret(resource.inputs.values().chain(resource.outputs.values()), &Secret::is_encrypted)
}

fn any_secret<'a>(values: impl Iterator<Item = &'a Value>, holds: &dyn Fn(&Secret) -> bool) -> bool {
    let mut found = false;
    for value in values.filter(|value| value.has_secrets()) {
        value.each_secret(&mut Vec::new(), &mut |secret, _| found |= holds(secret));
    }
    found
}

/// Replaces the digests of write-only secrets without a value, for a record that another stack gets. Returns the paths of
/// these secrets.
///
/// A digest is keyed and bound to its stack. The mark that replaces it makes the next plan send the value again.
pub fn forget_digests(resource: &mut Resource) -> Vec<String> {
    let mut forgotten = forget_digests_in(&mut resource.inputs);
    forgotten.extend(forget_digests_in(&mut resource.outputs));
    forgotten
}

fn forget_digests_in(values: &mut Map) -> Vec<String> {
    let mut forgotten = Vec::new();
    let forget = &mut |secret: &Secret, path: &[String]| -> Result<Secret, std::convert::Infallible> {
        let Some(mark) = secret.without_digest() else { return Ok(secret.clone()) };
        forgotten.push(path.join("."));
        Ok(mark)
    };
    let place = Place { stack: &StackId(String::new()), uid: "", section: Section::Inputs };
    let Ok(()) = place.change(values, forget);
    forgotten
}

/// Seals every secret of a resource for its place in a stack.
pub fn seal_resource(
    stack: &StackId,
    resource: &mut Resource,
    crypter: &dyn Crypter,
) -> Result<(), Unopened> {
    let uid = resource.uid.0.clone();
    Place { stack, uid: &uid, section: Section::Inputs }.seal(&mut resource.inputs, crypter)?;
    Place { stack, uid: &uid, section: Section::Outputs }.seal(&mut resource.outputs, crypter)
}

/// Opens every secret of a resource, in place.
pub fn open_resource(stack: &StackId, resource: &Resource, crypter: &Arc<dyn Crypter>) {
    let uid = resource.uid.0.as_str();
    Place { stack, uid, section: Section::Inputs }.open(&resource.inputs, crypter);
    Place { stack, uid, section: Section::Outputs }.open(&resource.outputs, crypter);
}

/// Removes the values of write-only secrets after their operation. Their digests stay.
pub(crate) fn settle(resource: &mut Resource) {
    for values in [&mut resource.inputs, &mut resource.outputs] {
        let keep = &mut |secret: &Secret, _: &[String]| -> Result<Secret, std::convert::Infallible> {
            Ok(secret.settled().unwrap_or_else(|| secret.clone()))
        };
        let place = Place { stack: &StackId(String::new()), uid: "", section: Section::Inputs };
        let Ok(()) = place.change(values, keep);
    }
}

impl Record {
    /// Returns true if the record cannot be written without a key.
    pub fn needs_key(&self, stack: &StackId) -> bool {
        self.clone().seal(stack, &NoKey, &|_| None).is_err()
    }

    /// Seals every secret in the record. `copy_of` finds the copy that an operation is about.
    pub fn seal(
        &mut self,
        stack: &StackId,
        crypter: &dyn Crypter,
        copy_of: &dyn Fn(OpId) -> Option<CopyRef>,
    ) -> Result<(), Unopened> {
        let at = |copy: Option<CopyRef>, section: Section, values: &mut Map| {
            let uid = copy.map(|copy| copy.uid.0).unwrap_or_default();
            Place { stack, uid: &uid, section }.seal(values, crypter)
        };
        match self {
            Record::Begin { intent: Intent::Create { resource, .. }, .. }
            | Record::Amend { resource }
            | Record::Adopt { resource } => seal_resource(stack, resource, crypter),
            Record::Begin { intent: Intent::Update { resource, previous, .. }, .. } => {
                seal_resource(stack, resource, crypter)?;
                at(Some(resource.copy()), Section::Inputs, previous)
            }
            Record::End {
                op,
                outcome: Outcome::Created { outputs, .. } | Outcome::Updated { outputs, .. },
            }
            | Record::Settle { op, settlement: Settlement::Happened { outputs, .. } } => {
                at(copy_of(*op), Section::Outputs, outputs)
            }
            Record::Observed { copy, inputs, outputs, .. } => {
                for (section, values) in [(Section::Inputs, inputs), (Section::Outputs, outputs)] {
                    if let Some(values) = values {
                        at(Some(copy.clone()), section, values)?;
                    }
                }
                Ok(())
            }
            Record::Arrive { resources, .. } => {
                resources.iter_mut().try_for_each(|resource| seal_resource(stack, resource, crypter))
            }
            Record::Outputs { outputs } => at(None, Section::Exports, outputs),
            _ => Ok(()),
        }
    }
}

impl Record {
    /// Replaces every secret in the outputs of an outcome by a mark without a value.
    ///
    /// For an answer that cannot be sealed: the id of a created resource must not be lost with the secret.
    pub fn forget_secrets(&mut self) {
        if let Record::End {
            outcome: Outcome::Created { outputs, .. } | Outcome::Updated { outputs, .. },
            ..
        } = self
        {
            let place = Place { stack: &StackId(String::new()), uid: "", section: Section::Outputs };
            let forget = &mut |_: &Secret, _: &[String]| -> Result<Secret, std::convert::Infallible> {
                Ok(Secret::ephemeral())
            };
            let Ok(()) = place.change(outputs, forget);
        }
    }
}

impl Snapshot {
    /// Seals every secret whose value is known for its place in this stack. Others keep their texts.
    pub fn seal(&mut self, crypter: &dyn Crypter) -> Result<(), Unopened> {
        let stack = self.stack.clone();
        for resource in &mut self.resources {
            if has_secrets(resource) {
                let mut sealed = resource.as_ref().clone();
                seal_resource(&stack, &mut sealed, crypter)?;
                settle(&mut sealed);
                *resource = Arc::new(sealed);
            }
        }
        for pending in &mut self.pending {
            let mut record = Record::begin(pending.op, pending.intent.clone());
            record.seal(&stack, crypter, &|_| None)?;
            if let Record::Begin { intent, .. } = record {
                pending.intent = intent;
            }
        }
        Place { stack: &stack, uid: "", section: Section::Exports }.seal(&mut self.outputs, crypter)
    }

    /// Returns true if a secret of the snapshot is in the clear, as in an export that shows secrets.
    pub fn has_unsealed_secrets(&self) -> bool {
        any_secret(self.values(), &|secret| matches!(secret.form(), Stored::Unsealed(_)))
    }

    /// Returns true if sealing the snapshot for another stack needs the key that it has now: a value is stored encrypted.
    pub fn has_encrypted_values(&self) -> bool {
        any_secret(self.values(), &Secret::is_encrypted)
    }

    /// Replaces the digests of write-only secrets without a value, for another stack; see [`forget_digests`]. Returns the
    /// resources that had some, with the paths.
    pub fn forget_digests(&mut self) -> Vec<(Name, Vec<String>)> {
        let mut forgotten = Vec::new();
        for resource in self.resources.iter_mut().filter(|resource| has_secrets(resource)) {
            let mut changed = resource.as_ref().clone();
            let paths = forget_digests(&mut changed);
            if !paths.is_empty() {
                forgotten.push((changed.name.clone(), paths));
                *resource = Arc::new(changed);
            }
        }
        for pending in &mut self.pending {
            if let Intent::Create { resource, .. } | Intent::Update { resource, .. } = &mut pending.intent {
                forget_digests(resource);
            }
            if let Intent::Update { previous, .. } = &mut pending.intent {
                forget_digests_in(previous);
            }
        }
        forget_digests_in(&mut self.outputs);
        forgotten
    }

    /// Returns the values of resources, of operations under way, and of the outputs.
    fn values(&self) -> impl Iterator<Item = &Value> {
        let mut maps: Vec<&Map> = vec![&self.outputs];
        for resource in &self.resources {
            maps.extend([&resource.inputs, &resource.outputs]);
        }
        for pending in &self.pending {
            if let Intent::Create { resource, .. } | Intent::Update { resource, .. } = &pending.intent {
                maps.extend([&resource.inputs, &resource.outputs]);
            }
            if let Intent::Update { previous, .. } = &pending.intent {
                maps.push(previous);
            }
        }
        maps.into_iter().flat_map(Map::values)
    }
}

impl State {
    /// Opens every secret of the state, in place and for all copies of its values.
    ///
    /// A secret that does not open says why when it is revealed.
    pub fn open_secrets(&self, crypter: &Arc<dyn Crypter>) {
        let stack = self.stack();
        for resource in self.copies() {
            open_resource(stack, resource, crypter);
        }
        for pending in self.pending() {
            if let Intent::Create { resource, .. } | Intent::Update { resource, .. } = &pending.intent {
                open_resource(stack, resource, crypter);
            }
            if let Intent::Update { resource, previous, .. } = &pending.intent {
                let uid = resource.uid.0.as_str();
                Place { stack, uid, section: Section::Inputs }.open(previous, crypter);
            }
        }
        Place { stack, uid: "", section: Section::Exports }.open(self.outputs(), crypter);
    }

    /// Tries a crypter on every encrypted value of the state, and opens none in place. `tried` gets the key that a value names, and
    /// whether the value opened.
    pub fn try_secrets(&self, crypter: &dyn Crypter, tried: &mut dyn FnMut(KeyId, bool)) {
        let mut each = |place: Place<'_>, values: &Map| {
            place.each_ciphertext(values, &mut |sealed, at| {
                if let Some(key) = sealed.key() {
                    tried(key, crypter.open(sealed, at).is_ok());
                }
            });
        };
        let stack = self.stack();
        for resource in self.copies() {
            let uid = resource.uid.0.as_str();
            each(Place { stack, uid, section: Section::Inputs }, &resource.inputs);
            each(Place { stack, uid, section: Section::Outputs }, &resource.outputs);
        }
        for pending in self.pending() {
            let (Intent::Create { resource, .. } | Intent::Update { resource, .. }) = &pending.intent else {
                continue;
            };
            let uid = resource.uid.0.as_str();
            each(Place { stack, uid, section: Section::Inputs }, &resource.inputs);
        }
        each(Place { stack, uid: "", section: Section::Exports }, self.outputs());
    }

    /// Returns true if anything in the state is a secret. A stack without a key has none.
    pub fn has_secrets(&self) -> bool {
        !self.keyring().is_empty()
            && (self.copies().any(has_secrets)
                || self.outputs().values().any(Value::has_secrets)
                || self.pending().any(|pending| match &pending.intent {
                    Intent::Create { resource, .. } | Intent::Update { resource, .. } => {
                        has_secrets(resource)
                    }
                    Intent::Delete { .. } => false,
                }))
    }
}

#[cfg(test)]
mod tests;
