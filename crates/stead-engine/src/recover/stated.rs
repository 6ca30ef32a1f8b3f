//! Outputs that a person states for a resource that no provider can read.
//!
//! **Invariant:** an operation is recorded as done only with every output that its schema promises; a missing one is never
//! recorded as `null` or as the output of an earlier operation.

use std::collections::BTreeMap;

use stead_model::{
    Code, Diagnostic, Hint, Limits, Map, Name, NextStep, Operation, Resource, SIGNATURE_KEY, Value, nearest,
};
use stead_schema::{Access, Property, Shape, TypeSchema, check_value};

/// Values of outputs by name, as a person typed them.
///
/// A property of type string takes the text as it is. Other properties take JSON; one of any type takes text that is not JSON
/// as a string.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StatedOutputs(pub BTreeMap<String, String>);

impl StatedOutputs {
    /// Returns the outputs to record. Fails with the names of those that are missing.
    pub(super) fn values(
        &self,
        operation: Operation,
        resource: &Resource,
        schema: Option<&TypeSchema>,
    ) -> Result<Map, Diagnostic> {
        // Without a schema the promised outputs are unknown, so that every recorded one is kept.
        let kept = |name: &str| schema.is_none_or(|schema| schema.property(name).is_some_and(|p| p.stable));
        let mut outputs: Map = resource
            .outputs
            .iter()
            .filter(|(name, _)| kept(name))
            .map(|(k, v)| (k.clone(), v.clone()))
            .collect();
        for (name, text) in &self.0 {
            let value = match schema {
                Some(schema) => stated_value(&resource.name, schema, name, text)?,
                None => json_or_text(text),
            };
            if value.reserved_path().is_some() {
                return Err(reserved_key(&resource.name, name));
            }
            outputs.insert(name.clone(), value);
        }
        let promised = schema.into_iter().flat_map(|schema| &schema.properties).filter(|property| {
            let is_input = property.access == Access::Filled && resource.inputs.contains_key(&property.name);
            property.provisioned() && !is_input
        });
        let missing: Vec<String> = promised
            .filter(|property| !outputs.contains_key(&property.name))
            .map(|property| property.name.clone())
            .collect();
        if !missing.is_empty() {
            return Err(missing_outputs(operation, resource, missing));
        }
        match Limits::default().oversized(&outputs) {
            None => Ok(outputs),
            Some(excess) => {
                let message = format!("the outputs of {} are too large: {excess}", resource.name);
                Err(Diagnostic::error(Code::LIMIT, message))
            }
        }
    }

    /// Fails if outputs are stated for a resource whose provider reads them.
    pub(super) fn none_for_readable(&self, name: &Name) -> Result<(), Diagnostic> {
        if self.0.is_empty() {
            return Ok(());
        }
        let message = format!("the outputs of {name} are read from its provider and cannot be given");
        Err(Diagnostic::error(Code::USAGE, message).help("answer without them"))
    }

    /// Fails if outputs are stated for a resource that was deleted.
    pub(super) fn none_for_deletion(&self, name: &Name) -> Result<(), Diagnostic> {
        if self.0.is_empty() {
            return Ok(());
        }
        let message = format!("{name} was deleted, and has no outputs");
        Err(Diagnostic::error(Code::USAGE, message).help("answer without them"))
    }
}

fn stated_value(name: &Name, schema: &TypeSchema, output: &str, text: &str) -> Result<Value, Diagnostic> {
    let invalid = |message: String| Diagnostic::error(Code::USAGE, message);
    let outputs = || schema.properties.iter().filter(|p| p.provisioned()).map(|p| p.name.as_str());
    let Some(property) = schema.property(output).filter(|property| property.provisioned()) else {
        let problem = invalid(format!("{} has no output `{output}`", schema.token));
        return Err(match nearest(output, outputs()) {
            Some(meant) => problem.help(format!("did you mean `{meant}`?")),
            None => problem.help(format!("it has: {}", outputs().collect::<Vec<_>>().join(", "))),
        });
    };
    let value = typed(property, text).ok_or_else(|| {
        invalid(format!("the value of `{output}` of {name} is not JSON: {text}"))
            .help("write a string in a list or an object in double quotes")
    })?;
    match check_value(property, &value).into_iter().next() {
        None => Ok(value),
        Some(problem) => Err(problem.help.into_iter().fold(invalid(problem.message), Diagnostic::help)),
    }
}

/// Returns the text as a value of the property; `None` if the property needs JSON and the text is none.
fn typed(property: &Property, text: &str) -> Option<Value> {
    match property.shape {
        Shape::String | Shape::Choice(_) => Some(Value::from(text)),
        Shape::Any | Shape::Published(_) => Some(json_or_text(text)),
        _ => serde_json::from_str(text).ok(),
    }
}

fn reserved_key(name: &Name, output: &str) -> Diagnostic {
    let message = format!(
        "the output `{output}` of {name} has the key `{SIGNATURE_KEY}`, which marks secrets in state"
    );
    Diagnostic::error(Code::RESERVED_KEY, message).help("give the value without this key")
}

fn json_or_text(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|_| Value::from(text))
}

fn missing_outputs(operation: Operation, resource: &Resource, missing: Vec<String>) -> Diagnostic {
    let verb = operation.verb();
    let names: Vec<String> = missing.iter().map(|name| format!("`{name}`")).collect();
    let message =
        format!("the {verb} of {} stays in doubt: it needs the outputs {}", resource.name, names.join(", "));
    Diagnostic::error(Code::IN_DOUBT, message)
        .note(format!(
            "No provider can read a {}, and resources that use these outputs need their values.",
            resource.ty
        ))
        .help(Hint::text("give each of them: ").then(NextStep::StateOutputs { names: missing }))
}
