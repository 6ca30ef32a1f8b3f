//! Last check of an update: the model that it leads to must satisfy the schema, because the service validates all of it.
//!
//! Services return values that they do not accept: empty lists and texts, objects without their required members, both
//! halves of an exclusive pair. An update removes such artefacts, as long as they are not declared.

use stead_model::{Map, PropertyPath, Segment, Text, Value};

use super::pairing::pairs;
use super::patch::UpdateInputs;
use super::position::Position;
use super::update::{Edit, Operation, Reason};
use super::violations::{Rule, Violation, has_alternative, violations};
use super::{FormId, Schema};

/// Rounds of repairs. A repair may uncover another violation one level up.
const ROUNDS: usize = 12;

/// Returns the operations with those that make the patched model valid, or the reasons why no such operations exist.
///
/// A violation that the live resource already has, and that cannot be repaired, is left to the service.
pub(crate) fn repaired(
    schema: &Schema,
    inputs: &UpdateInputs<'_>,
    operations: Vec<Operation>,
) -> Result<Vec<Operation>, Vec<Reason>> {
    let model = applied(inputs.live, &operations);
    let mut draft = Draft { schema, inputs, operations, model, before: None };
    for _ in 0..ROUNDS {
        let found = violations(schema, &draft.model);
        let mut any = false;
        for violation in &found {
            any |= draft.repair(violation);
        }
        if !any {
            let reasons: Vec<Reason> = found.iter().filter_map(|violation| draft.reason(violation)).collect();
            return if reasons.is_empty() { Ok(draft.operations) } else { Err(reasons) };
        }
    }
    Ok(draft.operations)
}

struct Draft<'a> {
    schema: &'a Schema,
    inputs: &'a UpdateInputs<'a>,
    operations: Vec<Operation>,
    /// Live model after the operations.
    model: Map,
    /// Violations of the live model, computed when first needed.
    before: Option<Vec<Violation>>,
}

impl Draft<'_> {
    /// Returns true if a removal repaired the violation.
    fn repair(&mut self, violation: &Violation) -> bool {
        let path = &violation.path;
        match &violation.rule {
            Rule::Unknown(_) => false,
            Rule::Value(_) | Rule::Required(_) => {
                let empty = value_at(&self.model, path).is_some_and(is_empty);
                (empty || self.is_introduced(violation)) && self.remove(path)
            }
            Rule::Depends(name, _) => self.is_introduced(violation) && self.remove(&path.key(name)),
            Rule::Alternatives(form) => self.choose_alternative(path, *form),
        }
    }

    fn is_introduced(&mut self, violation: &Violation) -> bool {
        let (schema, live) = (self.schema, self.inputs.live);
        let before = self.before.get_or_insert_with(|| violations(schema, live));
        let same = |old: &&Violation| {
            old.rule == violation.rule && generalised(&old.path) == generalised(&violation.path)
        };
        !before.iter().any(|old| same(&old))
    }

    /// Returns true if the violation makes the update impossible.
    fn matters(&mut self, violation: &Violation) -> bool {
        let position = Position::at(self.schema, &violation.path);
        if position.is_read_only() {
            return false;
        }
        // A hidden value is never in the live model, so it is missing there too.
        let hidden = matches!(&violation.rule, Rule::Required(name) if position.key(name).is_hidden());
        hidden || self.is_introduced(violation)
    }

    /// Returns the reason why a violation makes the update impossible, or `None` if it does not.
    fn reason(&mut self, violation: &Violation) -> Option<Reason> {
        if !self.matters(violation) {
            return None;
        }
        if let Rule::Required(name) = &violation.rule {
            let member = Position::at(self.schema, &violation.path).key(name);
            if member.is_create_only() && member.is_hidden() {
                let why =
                    "every update must send it, reads do not return it, and it can be set at creation only";
                return Some(Reason { path: member.path, why: why.to_owned() });
            }
        }
        Some(Reason { path: violation.path.clone(), why: violation.rule.words() })
    }

    /// Removes undeclared members of an object so that it satisfies one alternative of a form.
    fn choose_alternative(&mut self, path: &PropertyPath, form: FormId) -> bool {
        let object = match value_at(&self.model, path).cloned() {
            None if path.0.is_empty() => self.model.clone(),
            Some(Value::Map(object)) => object,
            Some(other) => return is_empty(&other) && self.remove(path),
            None => return false,
        };
        let schema = self.schema;
        let alternatives = schema.form(form);
        let arms: Vec<FormId> = alternatives.one_of.iter().chain(&alternatives.any_of).copied().collect();
        let named = |arm: FormId, name: &str| {
            schema.form(arm).required.contains(name) || schema.form(arm).properties.contains_key(name)
        };
        for arm in &arms {
            let foreign = |name: &&Text| {
                !named(*arm, name)
                    && arms.iter().any(|other| named(*other, name))
                    && !self.is_declared(&path.key(name))
            };
            let excess: Vec<Text> = object.keys().filter(foreign).cloned().collect();
            let mut rest = object.clone();
            excess.iter().for_each(|name| drop(rest.remove(name)));
            if !excess.is_empty() && has_alternative(schema, &Value::Map(rest), form) {
                let removed = excess.iter().filter(|name| self.remove(&path.key(name))).count();
                return removed > 0;
            }
        }
        false
    }

    /// Removes an undeclared value from the model, and changes the operations accordingly.
    fn remove(&mut self, path: &PropertyPath) -> bool {
        let Some((Segment::Key(_), _)) = path.0.split_last() else { return false };
        let position = Position::at(self.schema, path);
        let empty = value_at(&self.model, path).is_some_and(is_empty);
        let fixed =
            position.is_read_only() || position.is_create_only() || (position.contains_fixed() && !empty);
        if fixed || self.is_declared(path) || !take(&mut self.model, path) {
            return false;
        }
        let why = match empty {
            true => "the service returns it empty, and does not accept it so",
            false => "the service would not accept it beside the other values",
        };
        let why = why.to_owned();
        let covering = self.operations.iter_mut().rev().find(|operation| {
            matches!(operation.edit, Edit::Add(_)) && path.0.starts_with(&operation.path.0)
        });
        if let Some(operation) = covering {
            if let Some(value) = value_at(&self.model, &operation.path) {
                operation.edit = Edit::Add(value.clone());
            }
            return true;
        }
        self.operations.retain(|operation| !operation.path.0.starts_with(&path.0));
        let list = path.0.iter().position(|segment| matches!(segment, Segment::Index(_)));
        if let Some(list) = list.map(|at| PropertyPath(path.0[..at].to_vec())) {
            // Another read may return the elements in another order, so the list is sent whole.
            if let Some(value) = value_at(&self.model, &list) {
                self.operations.push(Operation { path: list, edit: Edit::Add(value.clone()), why });
            }
        } else if value_at(self.inputs.live, path).is_some() {
            self.operations.push(Operation { path: path.clone(), edit: Edit::Remove, why });
        }
        true
    }

    fn is_declared(&self, path: &PropertyPath) -> bool {
        let mut want = Value::Map(self.inputs.want.clone());
        for (depth, segment) in path.0.iter().enumerate() {
            let inside = match (segment, &want) {
                (Segment::Key(key), Value::Map(map)) => map.get(key),
                (Segment::Index(index), Value::List(items)) => {
                    let list = PropertyPath(path.0[..depth].to_vec());
                    self.element_of(&list, items, *index).and_then(|index| items.get(index))
                }
                _ => None,
            };
            want = inside.cloned().unwrap_or_default();
        }
        want != Value::Null
    }

    /// Returns the index in the inputs of an element of the model.
    fn element_of(&self, list: &PropertyPath, want: &[Value], index: usize) -> Option<usize> {
        let sent = self
            .operations
            .iter()
            .any(|operation| matches!(operation.edit, Edit::Add(_)) && list.0.starts_with(&operation.path.0));
        if sent {
            // The elements of a list that is sent are those of the inputs, in their order.
            return Some(index);
        }
        let live = value_at(&self.model, list).and_then(Value::as_list).unwrap_or_default();
        let pairs = pairs(&Position::at(self.schema, list), want, live, &|_, _| false);
        pairs.iter().position(|pair| *pair == Some(index))
    }
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::List(items) => items.is_empty(),
        Value::Map(map) => map.is_empty(),
        _ => false,
    }
}

/// Returns the path with all indexes alike, because elements move.
fn generalised(path: &PropertyPath) -> PropertyPath {
    let segment = |segment: &Segment| match segment {
        Segment::Index(_) => Segment::Index(0),
        key => key.clone(),
    };
    PropertyPath(path.0.iter().map(segment).collect())
}

pub(crate) fn value_at<'m>(model: &'m Map, path: &PropertyPath) -> Option<&'m Value> {
    let (Segment::Key(first), rest) = path.0.split_first()? else { return None };
    rest.iter().try_fold(model.get(first)?, |at, segment| match segment {
        Segment::Key(key) => at.as_map()?.get(key),
        Segment::Index(index) => at.as_list()?.get(*index),
    })
}

/// Returns the live model after the operations.
fn applied(live: &Map, operations: &[Operation]) -> Map {
    let mut model = live.clone();
    for operation in operations {
        match &operation.edit {
            Edit::Add(value) => put(&mut model, &operation.path, value.clone()),
            Edit::Remove => drop(take(&mut model, &operation.path)),
        }
    }
    model
}

fn parent<'m>(model: &'m mut Map, path: &'m PropertyPath) -> Option<(&'m mut Map, &'m str)> {
    let (Segment::Key(last), before) = path.0.split_last()? else { return None };
    let Some((Segment::Key(first), rest)) = before.split_first() else { return Some((model, last)) };
    let mut at = model.get_mut(first)?;
    for segment in rest {
        at = match (segment, at) {
            (Segment::Key(key), Value::Map(map)) => map.get_mut(key)?,
            (Segment::Index(index), Value::List(items)) => items.get_mut(*index)?,
            _ => return None,
        };
    }
    match at {
        Value::Map(map) => Some((map, last)),
        _ => None,
    }
}

fn put(model: &mut Map, path: &PropertyPath, value: Value) {
    if let Some((map, last)) = parent(model, path) {
        map.insert(last.to_owned(), value);
    }
}

/// Removes the value at a path. Returns false if there is none.
fn take(model: &mut Map, path: &PropertyPath) -> bool {
    parent(model, path).is_some_and(|(map, last)| map.remove(last).is_some())
}
