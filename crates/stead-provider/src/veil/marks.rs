//! The secrets of one request: their paths, their values, and the marking of an answer.

use std::borrow::Cow;
use std::sync::OnceLock;

use stead_model::{
    BLINDED, Hint, Input, Inputs, Kept, Map, PropertyPath, Resource, Secret, Segment, Text, Value,
};
use stead_schema::{Change, Problem};
use stead_secrets::{Needles, leaves};

use crate::Refusal;
use crate::cut::is_cut;

/// The secrets of a request. Empty for almost every one, and then it costs a look at the values.
#[derive(Default)]
pub(super) struct Marks {
    /// Each secret with its path, in the inputs and outputs alike.
    secrets: Vec<(Vec<String>, Secret)>,
    needles: OnceLock<Needles>,
    /// Secrets of which nothing is kept.
    ephemeral: OnceLock<Needles>,
}

impl Marks {
    pub(super) fn of_inputs(inputs: &Inputs) -> Marks {
        let mut marks = Marks::default();
        for (key, input) in inputs.iter().filter(|(_, input)| input.has_secrets()) {
            marks.collect_input(&mut vec![key.as_str().to_owned()], input);
        }
        marks
    }

    pub(super) fn of_record(resource: &Resource) -> Marks {
        Marks::default().with(&resource.inputs).with_outputs(&resource.outputs)
    }

    /// Adds the secrets of recorded outputs. Their paths tell that the values are secret, and not why: what such a path has in an
    /// answer is a local secret, unless the schema makes it a shared one.
    #[must_use]
    pub(super) fn with_outputs(mut self, outputs: &Map) -> Marks {
        let inputs = self.secrets.len();
        self = self.with(outputs);
        for (_, secret) in &mut self.secrets[inputs..] {
            if let Ok(plain) = secret.reveal() {
                *secret = Secret::local(plain.clone(), secret.recorded());
            }
        }
        self
    }

    /// Adds the secrets of further values.
    #[must_use]
    pub(super) fn with(mut self, values: &Map) -> Marks {
        let mut path = Vec::new();
        for (key, value) in values.iter().filter(|(_, value)| value.has_secrets()) {
            path.push(key.as_str().to_owned());
            value.each_secret(&mut path, &mut |secret, path| {
                self.secrets.push((path.to_vec(), secret.clone()))
            });
            path.pop();
        }
        self
    }

    /// Returns these secrets and the ones of an answer, if the answer has secrets that are not among these.
    pub(super) fn with_changed(&self, answer: &Map) -> Option<Marks> {
        let found = Marks::default().with(answer).secrets;
        let values: Vec<&Value> =
            self.secrets.iter().filter_map(|(_, secret)| secret.reveal().ok()).collect();
        let is_new =
            |(_, secret): &(Vec<String>, Secret)| secret.reveal().is_ok_and(|value| !values.contains(&value));
        let new: Vec<_> = found.into_iter().filter(is_new).collect();
        let secrets = || self.secrets.iter().cloned().chain(new.iter().cloned()).collect();
        (!new.is_empty()).then(|| Marks { secrets: secrets(), ..Marks::default() })
    }

    fn collect_input(&mut self, path: &mut Vec<String>, input: &Input) {
        match input {
            Input::Known(value) => {
                let secrets = &mut self.secrets;
                value.each_secret(path, &mut |secret, path| secrets.push((path.to_vec(), secret.clone())));
            }
            Input::Deferred(_) => {}
            Input::List(items) => {
                for (index, item) in items.iter().enumerate() {
                    path.push(index.to_string());
                    self.collect_input(path, item);
                    path.pop();
                }
            }
            Input::Map(map) => {
                for (key, item) in map {
                    path.push(key.as_str().to_owned());
                    self.collect_input(path, item);
                    path.pop();
                }
            }
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.secrets.is_empty()
    }

    /// Returns the secrets that are open, in the clear.
    pub(super) fn plain(&self) -> impl Iterator<Item = &Value> {
        self.secrets.iter().filter_map(|(_, secret)| secret.reveal().ok())
    }

    /// Calls `see` with the open secrets that are looked for in all answers of the run.
    pub(super) fn each_shared(&self, see: &mut dyn FnMut(&Value)) {
        self.secrets.iter().for_each(|(_, secret)| secret.each_shared(see));
    }

    fn needles(&self) -> &Needles {
        self.needles.get_or_init(|| Needles::of_values(self.plain()))
    }

    /// Returns the mark of a value in which a secret was found. Nothing is kept of one with an ephemeral secret.
    fn found(&self, value: Value) -> Value {
        let ephemeral = self.ephemeral.get_or_init(|| {
            let secrets = self.secrets.iter().filter(|(_, secret)| secret.recorded() == Kept::Nothing);
            Needles::of_values(secrets.filter_map(|(_, secret)| secret.reveal().ok()))
        });
        if leaves(&value).iter().any(|leaf| ephemeral.contains(leaf.as_slice())) {
            return Value::Secret(Secret::local(value, Kept::Nothing));
        }
        found(value)
    }

    /// Returns the values as the provider gets them. A value that is not kept is left out.
    pub(super) fn revealed<'a>(&self, values: &'a Map) -> Cow<'a, Map> {
        if self.is_empty() {
            return Cow::Borrowed(values);
        }
        let shown = values.iter().filter_map(|(key, value)| Some((key.clone(), reveal(value)?)));
        Cow::Owned(shown.collect())
    }

    pub(super) fn revealed_inputs(&self, inputs: Inputs) -> Inputs {
        if self.is_empty() {
            return inputs;
        }
        inputs.into_iter().filter_map(|(key, input)| Some((key, reveal_input(input)?))).collect()
    }

    pub(super) fn record<'a>(&self, resource: &'a Resource) -> Cow<'a, Resource> {
        if self.is_empty() {
            return Cow::Borrowed(resource);
        }
        let inputs = self.revealed(&resource.inputs).into_owned();
        let outputs = self.revealed(&resource.outputs).into_owned();
        Cow::Owned(Resource { inputs, outputs, ..resource.clone() })
    }

    /// Returns the record for a comparison. A value that is not kept is the new one if its digest says so, else a value that no
    /// program can give.
    pub(super) fn record_for(&self, old: &Resource, new: &Inputs) -> Resource {
        let mut shown = self.record(old).into_owned();
        for (key, value) in old.inputs.iter().filter(|(_, value)| value.has_secrets()) {
            match compared(value, new.get(key)) {
                Some(compared) => drop(shown.inputs.insert(key.clone(), compared)),
                None => drop(shown.inputs.remove(key)),
            }
        }
        shown
    }

    /// Marks the secrets in values of an answer: at the paths of the request's secrets, and wherever a text contains one.
    pub(super) fn mark(&self, values: Map) -> Map {
        if self.is_empty() {
            return values;
        }
        values.into_iter().map(|(key, value)| self.marked_member(&mut Vec::new(), key, value)).collect()
    }

    fn marked_member(&self, path: &mut Vec<String>, key: Text, value: Value) -> (Text, Value) {
        path.push(key.as_str().to_owned());
        let value = self.marked(path, value);
        path.pop();
        (key, value)
    }

    fn marked(&self, path: &mut Vec<String>, value: Value) -> Value {
        if let Some((_, secret)) = self.secrets.iter().find(|(of, _)| of == path) {
            return match value {
                value @ (Value::Null | Value::Secret(_)) => value,
                value => Value::Secret(secret.like(value)),
            };
        }
        match value {
            Value::String(text) if is_secret(self.needles(), &text) => self.found(Value::String(text)),
            Value::Number(number) if self.needles().contains(number.to_string()) => {
                self.found(Value::Number(number))
            }
            Value::List(items) => {
                let mut all = Vec::with_capacity(items.len());
                for (index, item) in items.into_iter().enumerate() {
                    path.push(index.to_string());
                    all.push(self.marked(path, item));
                    path.pop();
                }
                Value::from(all)
            }
            // A key cannot be marked: the object that has it is.
            Value::Map(map) if map.keys().any(|key| self.needles().contains(key.as_bytes())) => {
                self.found(Value::Map(map))
            }
            Value::Map(map) => {
                Value::Map(map.into_iter().map(|(key, item)| self.marked_member(path, key, item)).collect())
            }
            other => other,
        }
    }

    pub(super) fn mark_inputs(&self, inputs: Inputs) -> Inputs {
        if self.is_empty() {
            return inputs;
        }
        let mut path = Vec::new();
        let mut marked: Vec<(Text, Input)> = Vec::with_capacity(inputs.len());
        for (key, input) in inputs {
            path.push(key.as_str().to_owned());
            let input = self.marked_input(&mut path, input);
            path.pop();
            marked.push((key, input));
        }
        // Values that are not kept or not open did not reach the provider: they stay as they were given.
        for (path, secret) in self.secrets.iter().filter(|(_, secret)| secret.reveal().is_err()) {
            let [first, rest @ ..] = path.as_slice() else { continue };
            match marked.iter_mut().find(|(key, _)| key.as_str() == first) {
                Some((_, input)) => put_back_input(input, rest, secret),
                None if rest.is_empty() => {
                    marked.push((Text::from(first.as_str()), Input::Known(Value::Secret(secret.clone()))));
                }
                None => {}
            }
        }
        marked.into_iter().collect()
    }

    fn marked_input(&self, path: &mut Vec<String>, input: Input) -> Input {
        match input {
            Input::Known(value) => Input::Known(self.marked(path, value)),
            Input::Deferred(id) => Input::Deferred(id),
            Input::List(items) => {
                let mut all = Vec::with_capacity(items.len());
                for (index, item) in items.into_iter().enumerate() {
                    path.push(index.to_string());
                    all.push(self.marked_input(path, item));
                    path.pop();
                }
                Input::list(all)
            }
            Input::Map(map) => {
                let mut all: Vec<(Text, Input)> = Vec::with_capacity(map.len());
                for (key, item) in map {
                    path.push(key.as_str().to_owned());
                    let item = self.marked_input(path, item);
                    path.pop();
                    all.push((key, item));
                }
                Input::map(all.into_iter().collect())
            }
        }
    }

    /// Puts back the recorded values that the provider never returns.
    pub(super) fn restored(&self, mut values: Map) -> Map {
        for (path, secret) in self.secrets.iter().filter(|(_, secret)| secret.recorded() != Kept::Value) {
            if let Some((key, rest)) = path.split_first() {
                let before = values.remove(key.as_str());
                let after = put_back(before, rest, secret);
                values.extend(after.map(|value| (Text::from(key.as_str()), value)));
            }
        }
        values
    }

    /// Marks the sides of a change, by the record and the inputs that the provider compared in the clear.
    pub(super) fn change(&self, change: Change, old: &Resource, new: &Inputs) -> Change {
        let Change { path, old: was, new: is, replaces, tried_in_place } = change;
        let covered = self.covers(&path);
        let was = was.map(|was| match at(&old.inputs, &path) {
            Some(recorded) => recorded.clone(),
            None if covered => found(was),
            None => self.marked(&mut segments(&path), was),
        });
        let is = is.map(|is| match (input_at(new, &path), is) {
            (Some(given), _) if given_is_whole(given) => given.clone(),
            (_, Input::Known(value)) if covered => Input::Known(found(value)),
            (_, is) => self.marked_input(&mut segments(&path), is),
        });
        Change { path, old: was, new: is, replaces, tried_in_place }
    }

    /// Returns true if the path is that of a secret, or inside one.
    fn covers(&self, path: &PropertyPath) -> bool {
        let path = segments(path);
        self.secrets.iter().any(|(of, _)| path.starts_with(of))
    }

    /// Returns a text of the provider without secrets.
    pub(super) fn text(&self, text: &str) -> String {
        if self.is_empty() {
            return text.to_owned();
        }
        let mut text = self.needles().redact_message(text);
        // Short secrets are looked for as well: a message loses little if a common word is hidden.
        for (_, secret) in &self.secrets {
            if let Ok(Value::String(plain)) = secret.reveal()
                && let plain = plain.trim()
                && (3..8).contains(&plain.len())
                && text.contains(plain)
            {
                text = text.replace(plain, BLINDED);
            }
        }
        text
    }

    /// Returns the lines of a log without secrets that go over several of them.
    pub(super) fn lines(&self, lines: Vec<String>) -> Vec<String> {
        if self.is_empty() { lines } else { self.needles().redact_lines(&lines) }
    }

    pub(super) fn refusal(&self, refusal: Refusal) -> Refusal {
        if self.is_empty() {
            return refusal;
        }
        let help = refusal.help.map(|hint| self.hint(hint));
        Refusal { message: self.text(&refusal.message), help, ..refusal }
    }

    /// A hint with a secret in it loses its next step, which could not be carried out with the text hidden.
    fn hint(&self, hint: Hint) -> Hint {
        let text = hint.to_string();
        let shown = self.text(&text);
        if shown == text { hint } else { Hint::text(shown) }
    }

    pub(super) fn problem(&self, problem: Problem) -> Problem {
        let Problem { path, message, help } = problem;
        Problem { path, message: self.text(&message), help: help.map(|help| self.text(&help)) }
    }
}

/// Returns true if a text of an answer contains a secret. One with a part left out may begin or end inside of a secret.
fn is_secret(needles: &Needles, text: &str) -> bool {
    if is_cut(text) { needles.are_in_message(text) } else { needles.contains(text.as_bytes()) }
}

/// Marks a value in which a search found a secret. It is a local secret: the secret inside is known already.
pub(super) fn found(value: Value) -> Value {
    match value {
        Value::Secret(secret) => Value::Secret(secret),
        value => Value::Secret(Secret::local(value, Kept::Value)),
    }
}

/// Puts a secret back at a path where the value has nothing. An element of a list that is gone stays gone.
fn put_back(value: Option<Value>, path: &[String], secret: &Secret) -> Option<Value> {
    let Some((key, rest)) = path.split_first() else {
        return match value {
            None | Some(Value::Null) => Some(Value::Secret(secret.clone())),
            kept => kept,
        };
    };
    match value {
        None | Some(Value::Null) if key.parse::<usize>().is_ok() => value,
        None | Some(Value::Null) => {
            let inner = put_back(None, rest, secret)?;
            Some(Value::Map([(key.clone(), inner)].into_iter().collect()))
        }
        Some(Value::Map(mut map)) => {
            let inner = put_back(map.remove(key.as_str()), rest, secret);
            map.extend(inner.map(|inner| (Text::from(key.as_str()), inner)));
            Some(Value::Map(map))
        }
        Some(Value::List(items)) => {
            let at = key.parse::<usize>().ok();
            let put = |(index, item): (usize, Value)| match at {
                Some(at) if at == index => put_back(Some(item), rest, secret).unwrap_or_default(),
                _ => item,
            };
            Some(items.into_iter().enumerate().map(put).collect())
        }
        other => other,
    }
}

/// Returns the value as the provider gets it; `None` for one that is not kept.
pub(super) fn reveal(value: &Value) -> Option<Value> {
    match value {
        Value::Secret(secret) => secret.reveal().ok().cloned(),
        Value::List(items) if value.has_secrets() => Some(items.iter().filter_map(reveal).collect()),
        Value::Map(map) if value.has_secrets() => {
            let members = map.iter().filter_map(|(key, item)| Some((key.clone(), reveal(item)?)));
            Some(Value::Map(members.collect()))
        }
        plain => Some(plain.clone()),
    }
}

fn reveal_input(input: Input) -> Option<Input> {
    Some(match input {
        Input::Known(value) => Input::Known(reveal(&value)?),
        Input::Deferred(id) => Input::Deferred(id),
        Input::List(items) => Input::list(items.into_iter().filter_map(reveal_input).collect()),
        Input::Map(map) => {
            Input::map(map.into_iter().filter_map(|(key, item)| Some((key, reveal_input(item)?))).collect())
        }
    })
}

/// Puts a secret that did not reach the provider back into the object that it was left out of.
fn put_back_input(input: &mut Input, path: &[String], secret: &Secret) {
    match input {
        Input::Known(value) => {
            let given = std::mem::replace(value, Value::Null);
            *value = put_back(Some(given), path, secret).unwrap_or_default();
        }
        Input::Map(map) => match path {
            [] => {}
            [key] if !map.contains_key(key.as_str()) => {
                let secret = Input::Known(Value::Secret(secret.clone()));
                drop(map.insert(Text::from(key.as_str()), secret));
            }
            [key, rest @ ..] => {
                map.get_mut(key.as_str()).into_iter().for_each(|item| put_back_input(item, rest, secret));
            }
        },
        Input::Deferred(_) | Input::List(_) => {}
    }
}

/// Returns a recorded value for a comparison with the new one.
///
/// A value that is not kept is shown as the new one if the two are equal, and else as a text that differs from it.
fn compared(recorded: &Value, new: Option<&Input>) -> Option<Value> {
    match recorded {
        Value::Secret(secret) => match secret.reveal() {
            Ok(plain) => Some(plain.clone()),
            Err(_) => match new.and_then(Input::as_known) {
                Some(Value::Secret(new)) if new == secret => new.reveal().ok().cloned(),
                Some(new) if *secret == Secret::local(new.clone(), Kept::Digest) => reveal(new),
                _ => Some(Value::from(BLINDED)),
            },
        },
        Value::Map(map) if recorded.has_secrets() => {
            let part = |key: &Text| match new {
                Some(Input::Known(Value::Map(new))) => new.get(key).cloned().map(Input::Known),
                Some(Input::Map(new)) => new.get(key).cloned(),
                _ => None,
            };
            let shown =
                map.iter().filter_map(|(key, item)| Some((key.clone(), compared(item, part(key).as_ref())?)));
            Some(Value::Map(shown.collect()))
        }
        Value::List(items) if recorded.has_secrets() => {
            let part = |index: usize| match new {
                Some(Input::Known(Value::List(new))) => new.get(index).cloned().map(Input::Known),
                Some(Input::List(new)) => new.get(index).cloned(),
                _ => None,
            };
            let shown = items.iter().enumerate();
            Some(shown.filter_map(|(index, item)| compared(item, part(index).as_ref())).collect())
        }
        other => reveal(other),
    }
}

fn segments(path: &PropertyPath) -> Vec<String> {
    let segment = |segment: &Segment| match segment {
        Segment::Index(index) => index.to_string(),
        Segment::Key(key) => key.clone(),
    };
    path.0.iter().map(segment).collect()
}

fn at<'a>(values: &'a Map, path: &PropertyPath) -> Option<&'a Value> {
    let (first, rest) = path.0.split_first()?;
    let Segment::Key(first) = first else { return None };
    rest.iter().try_fold(values.get(first.as_str())?, |value, segment| match (value, segment) {
        (Value::Map(map), Segment::Key(key)) => map.get(key.as_str()),
        (Value::List(items), Segment::Index(index)) => items.get(*index),
        _ => None,
    })
}

/// Returns the input at a path, unless the path leads into a known value.
fn input_at<'a>(inputs: &'a Inputs, path: &PropertyPath) -> Option<&'a Input> {
    let (first, rest) = path.0.split_first()?;
    let Segment::Key(first) = first else { return None };
    rest.iter().try_fold(inputs.get(first.as_str())?, |input, segment| match (input, segment) {
        (Input::Map(map), Segment::Key(key)) => map.get(key.as_str()),
        (Input::List(items), Segment::Index(index)) => items.get(*index),
        _ => None,
    })
}

fn given_is_whole(input: &Input) -> bool {
    matches!(input, Input::Known(value) if value.has_secrets())
}
