//! The secrets that the run knows: each one that a provider was given or returned, and the secrets of the opened state.
//!
//! A provider can reach the real resource of another one: a command prints a file. **Invariant:** a secret of eight bytes or more that
//! the run knows, or the SHA-256 of a known one, is in no answer and no text of any provider in the clear. A local secret
//! ([`Secret::local`](stead_model::Secret::local)) is none of these: a write-only value may be the type of a machine.
//! Look-ups of a program come before the secrets of the state are opened, so that they are searched only for secrets known by then.

use std::borrow::Cow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use stead_model::{Hint, Input, Inputs, Map, Resource, Text, Value};
use stead_schema::{Problem, TypeSchema};
use stead_secrets::{Digests, KnownSecrets, ShortSecrets};

use super::marks::{Marks, found, reveal};
use super::named::conceal_named;
use crate::Refusal;
use crate::cut::is_cut;

/// The known secrets. Clones share them. Without a secret, an answer costs one look at a flag.
#[derive(Clone)]
pub(crate) struct RunSecrets(Arc<Shared>);

struct Shared {
    any: AtomicBool,
    known: Mutex<KnownSecrets>,
}

impl Default for RunSecrets {
    fn default() -> RunSecrets {
        // A short secret would be found in unrelated answers: each `1` would be one.
        let known = KnownSecrets::new(ShortSecrets::Ignored).digests(Digests::Found);
        RunSecrets(Arc::new(Shared { any: AtomicBool::new(false), known: Mutex::new(known) }))
    }
}

impl RunSecrets {
    /// Learns the secrets in values.
    pub(crate) fn learn(&self, values: &Map) {
        values.values().filter(|value| value.has_secrets()).for_each(|value| self.learn_value(value));
    }

    /// Learns the secrets in a value.
    pub(crate) fn learn_value(&self, value: &Value) {
        value.each_shared(&mut |plain| self.add(plain));
    }

    /// Learns the secrets of a request.
    pub(super) fn learn_from(&self, marks: &Marks) {
        marks.each_shared(&mut |plain| self.add(plain));
    }

    /// Learns the secrets of a record: those of its inputs, and the outputs that its schema or the option `sensitive` makes secret.
    ///
    /// Other secret outputs were marked by a search. Each contains a secret of the program, or is an object with one in a key, whose
    /// other parts are no secrets.
    pub(crate) fn learn_record(&self, resource: &Resource, schema: Option<&TypeSchema>) {
        self.learn(&resource.inputs);
        let outputs = &resource.outputs;
        if !outputs.values().any(Value::has_secrets) {
            return;
        }
        let open = || {
            let member = |(key, value): (&Text, &Value)| Some((key.clone(), reveal(value)?));
            outputs.iter().filter_map(member).collect::<Map>()
        };
        self.learn(&conceal_named(&resource.sensitive, open()));
        schema.into_iter().for_each(|schema| self.learn(&schema.conceal(open())));
    }

    /// Learns a plain value that is secret.
    fn add(&self, plain: &Value) {
        self.known().add(plain);
        self.0.any.store(true, Ordering::Release);
    }

    /// Marks every text and number of an answer that contains a known secret.
    pub(crate) fn mark(&self, values: Map) -> Map {
        if self.is_empty() {
            return values;
        }
        let mut known = self.known();
        if !values.values().any(|value| contains(&mut known, value)) {
            return values;
        }
        values.into_iter().map(|(key, value)| (key, marked(&mut known, value))).collect()
    }

    /// Returns true if the run knows no secret.
    pub(super) fn is_empty(&self) -> bool {
        !self.0.any.load(Ordering::Acquire)
    }

    /// Marks every text and number of checked inputs that contains a known secret.
    pub(super) fn mark_inputs(&self, inputs: Inputs) -> Inputs {
        if self.is_empty() {
            return inputs;
        }
        let mut known = self.known();
        inputs.into_iter().map(|(key, input)| (key, marked_input(&mut known, input))).collect()
    }

    /// Returns a text of a provider without known secrets.
    pub(super) fn text<'a>(&self, text: &'a str) -> Cow<'a, str> {
        if self.is_empty() {
            return Cow::Borrowed(text);
        }
        self.known().redact_message(text)
    }

    /// Returns the lines of a log without known secrets, including secrets that span several lines.
    pub(super) fn lines(&self, lines: Vec<String>) -> Vec<String> {
        if self.is_empty() { lines } else { self.known().redact_lines(lines) }
    }

    /// Returns a refusal without known secrets. A hint with one loses its next step, which could not be carried out.
    pub(super) fn refusal(&self, refusal: Refusal) -> Refusal {
        let hide = |hint: Hint| match self.text(&hint.to_string()) {
            Cow::Owned(hidden) => Hint::text(hidden),
            Cow::Borrowed(_) => hint,
        };
        let message = self.text(&refusal.message).into_owned();
        Refusal { message, help: refusal.help.map(hide), ..refusal }
    }

    /// Returns a problem of a check without known secrets.
    pub(super) fn problem(&self, Problem { path, message, help }: Problem) -> Problem {
        let text = |text: String| self.text(&text).into_owned();
        Problem { path, message: text(message), help: help.map(text) }
    }

    fn known(&self) -> MutexGuard<'_, KnownSecrets> {
        self.0.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns true if a text, a number or a key outside of the marked values contains a secret.
fn contains(known: &mut KnownSecrets, value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(_) | Value::Secret(_) => false,
        Value::String(text) if is_cut(text) => known.are_in_message(text.as_bytes()),
        Value::String(text) => known.are_in_text(text.as_bytes()),
        Value::Number(number) => known.are_in_text(number.to_string().as_bytes()),
        Value::List(items) => items.iter().any(|item| contains(known, item)),
        Value::Map(map) => {
            map.iter().any(|(key, item)| known.are_in_text(key.as_bytes()) || contains(known, item))
        }
    }
}

fn marked_input(known: &mut KnownSecrets, input: Input) -> Input {
    match input {
        Input::Known(value) => Input::Known(marked(known, value)),
        Input::Deferred(id) => Input::Deferred(id),
        Input::List(items) => Input::list(items.into_iter().map(|item| marked_input(known, item)).collect()),
        Input::Map(map) => {
            Input::map(map.into_iter().map(|(key, item)| (key, marked_input(known, item))).collect())
        }
    }
}

fn marked(known: &mut KnownSecrets, value: Value) -> Value {
    match value {
        Value::List(items) => items.into_iter().map(|item| marked(known, item)).collect(),
        // A key cannot be marked: the object that has it is.
        Value::Map(map) if !map.keys().any(|key| known.are_in_text(key.as_bytes())) => {
            Value::Map(map.into_iter().map(|(key, item)| (key, marked(known, item))).collect())
        }
        value if contains(known, &value) => found(value),
        other => other,
    }
}
