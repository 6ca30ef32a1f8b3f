//! Secrets in a plan, for output that may not show them and for digests that must tell them apart.

use std::borrow::Cow;

use stead_model::{BLINDED, Input, Inputs, Map, Secret, Value};
use stead_schema::Change;

use crate::{Action, Plan, Step};

impl Plan {
    /// Returns the plan with `[secret]` in place of every secret.
    pub fn blinded(&self) -> Cow<'_, Plan> {
        self.map_secrets(&mut |_| Value::from(BLINDED))
    }

    /// Returns the plan with every secret replaced by another value.
    pub fn map_secrets(&self, change: &mut dyn FnMut(&Secret) -> Value) -> Cow<'_, Plan> {
        let has_secrets = self.steps.iter().any(Step::has_secrets)
            || self.output_changes.iter().any(change_has_secrets)
            || self.outputs.values().any(Input::has_secrets);
        if !has_secrets {
            return Cow::Borrowed(self);
        }
        let mut plan = self.clone();
        plan.steps.iter_mut().for_each(|step| step.replace_secrets(change));
        plan.output_changes.iter_mut().for_each(|changed| replace_in_change(changed, change));
        replace_in_inputs(&mut plan.outputs, change);
        Cow::Owned(plan)
    }
}

impl Step {
    pub fn has_secrets(&self) -> bool {
        let of_action = match &self.action {
            Action::Create { inputs, .. } | Action::Update { inputs, .. } => {
                inputs.values().any(Input::has_secrets)
            }
            Action::Import { inputs, outputs, .. } => {
                inputs.values().chain(outputs.values()).any(Value::has_secrets)
            }
            _ => false,
        };
        of_action || self.changes.iter().any(change_has_secrets)
    }

    fn replace_secrets(&mut self, change: &mut dyn FnMut(&Secret) -> Value) {
        match &mut self.action {
            Action::Create { inputs, .. } | Action::Update { inputs, .. } => {
                replace_in_inputs(inputs, change)
            }
            Action::Import { inputs, outputs, .. } => {
                replace_in_map(inputs, change);
                replace_in_map(outputs, change);
            }
            _ => {}
        }
        self.changes.iter_mut().for_each(|changed| replace_in_change(changed, change));
    }
}

fn change_has_secrets(change: &Change) -> bool {
    change.old.as_ref().is_some_and(Value::has_secrets) || change.new.as_ref().is_some_and(Input::has_secrets)
}

fn replaced(value: &Value, change: &mut dyn FnMut(&Secret) -> Value) -> Value {
    let Ok(value) = value.try_map_secrets(&mut |secret| Ok::<_, std::convert::Infallible>(change(secret)));
    value
}

fn replace_in_map(map: &mut Map, change: &mut dyn FnMut(&Secret) -> Value) {
    *map = map.iter().map(|(key, value)| (key.clone(), replaced(value, change))).collect();
}

fn replace_in_inputs(inputs: &mut Inputs, change: &mut dyn FnMut(&Secret) -> Value) {
    *inputs = inputs.iter().map(|(key, input)| (key.clone(), replaced_input(input, change))).collect();
}

fn replaced_input(input: &Input, change: &mut dyn FnMut(&Secret) -> Value) -> Input {
    match input {
        Input::Known(value) => Input::Known(replaced(value, change)),
        Input::Deferred(id) => Input::Deferred(*id),
        Input::List(items) => Input::list(items.iter().map(|item| replaced_input(item, change)).collect()),
        Input::Map(map) => {
            Input::map(map.iter().map(|(key, item)| (key.clone(), replaced_input(item, change))).collect())
        }
    }
}

fn replace_in_change(changed: &mut Change, change: &mut dyn FnMut(&Secret) -> Value) {
    changed.old = changed.old.as_ref().map(|old| replaced(old, change));
    changed.new = changed.new.as_ref().map(|new| replaced_input(new, change));
}
