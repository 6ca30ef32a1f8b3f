//! Selection of the values that an update may send.

use stead_model::{Map, Value};

use super::patch::Comparison;
use super::position::Position;
use super::update::Reason;

/// Part of a value that an update may send.
enum Sendable {
    Value(Value),
    /// All of it is read-only or create-only.
    Nothing,
    /// Without its create-only part the service rejects it.
    Invalid,
}

impl Comparison<'_> {
    /// Returns the part of a value that an update may send: without read-only and create-only parts. `None` if nothing
    /// remains that the service accepts.
    ///
    /// A new or changed create-only part forces a replacement. A changed value that cannot be sent at all makes the update
    /// impossible.
    pub(crate) fn sendable(
        &mut self,
        position: &Position<'_>,
        last: Option<&Value>,
        want: &Value,
    ) -> Option<Value> {
        match self.part(position, last, want) {
            Sendable::Value(value) => Some(value),
            Sendable::Nothing => None,
            Sendable::Invalid => {
                if self.hidden_changed(&position.path) {
                    self.impossible.push(Reason {
                        path: position.path.clone(),
                        why: "the service requires a part of it that can be set at creation only".to_owned(),
                    });
                }
                None
            }
        }
    }

    fn part(&mut self, position: &Position<'_>, last: Option<&Value>, want: &Value) -> Sendable {
        if position.is_read_only() {
            return Sendable::Nothing;
        }
        if position.is_create_only() {
            let changed = match position.is_hidden() {
                true => self.hidden_changed(&position.path),
                false => last != Some(want),
            };
            if changed {
                self.force_replacement(position, "it can be set at creation only");
            }
            return Sendable::Nothing;
        }
        if !position.contains_fixed() {
            return Sendable::Value(want.clone());
        }
        match want {
            Value::Map(map) if !map.is_empty() => {
                self.object_part(position, last.and_then(Value::as_map), map)
            }
            Value::List(items) => {
                let last = last.and_then(Value::as_list).unwrap_or_default();
                let mut kept = Vec::with_capacity(items.len());
                for (index, item) in items.iter().enumerate() {
                    match self.part(&position.index(index), last.get(index), item) {
                        Sendable::Value(value) => kept.push(value),
                        Sendable::Nothing => {}
                        Sendable::Invalid => return Sendable::Invalid,
                    }
                }
                Sendable::Value(Value::from(kept))
            }
            leaf => Sendable::Value(leaf.clone()),
        }
    }

    fn object_part(&mut self, position: &Position<'_>, last: Option<&Map>, map: &Map) -> Sendable {
        let form = position.form.map(|form| position.schema.form(form));
        let required = |name: &str| form.is_some_and(|form| form.required.contains(name));
        let mut kept = Map::new();
        for (name, value) in map {
            let member = position.key(name);
            if let Some(value) = self.sendable(&member, last.and_then(|last| last.get(name)), value) {
                kept.insert(name.clone(), value);
            } else if required(name) && member.is_hidden() && !member.is_read_only() {
                return Sendable::Invalid;
            }
        }
        if kept.is_empty() { Sendable::Nothing } else { Sendable::Value(Value::Map(kept)) }
    }
}
