//! `local.Command`: command lines that are run when the resource is made, changed and deleted.
//!
//! What a command does is nobody's business but its author's: an operation that may have run is repeated
//! only if the author said that this does no harm.

use std::collections::BTreeMap;

use async_trait::async_trait;
use stead_model::{Input, Map, Operation, PhysicalId, Resource, Value};
use stead_provider::{Created, Live, Receipt, Recovery, Refusal, Updated};
use stead_schema::{Access, Change, Problem, Property, Shape, TypeSchema};
use stead_world::ShellCommand;

use crate::failure::Attempt;
use crate::given::{Given, has_nul, optional_text, problem, text, texts};
use crate::kind::Kind;
use crate::machine::Machine;
use crate::shell::{as_variable, run};

const CREATE: &str = "create";
const UPDATE: &str = "update";
const DELETE: &str = "delete";
const ENVIRONMENT: &str = "environment";
const DIRECTORY: &str = "directory";
const IDEMPOTENT: &str = "idempotent";

/// Properties that say what to do later; a change of them alone runs nothing.
const FOR_LATER: [&str; 3] = [UPDATE, DELETE, IDEMPOTENT];

pub(crate) struct Command;

#[async_trait]
impl Kind for Command {
    fn schema(&self) -> TypeSchema {
        let optional = |name, shape, doc| Property::new(name, shape, Access::Optional, doc);
        let output = |name, shape, doc| Property::new(name, shape, Access::ReadOnly, doc);
        TypeSchema::new(
            "local.Command",
            "Command lines for the shell. Each sees STEAD_IDEMPOTENCY_KEY, the same for every attempt at one \
             operation; `update` and `delete` also see STEAD_ID and STEAD_STDOUT, what was printed before \
             (64 KiB at most).",
            vec![
                Property::new(CREATE, Shape::String, Access::Required, "The command line that makes it."),
                optional(
                    UPDATE,
                    Shape::String,
                    "The command line that brings a change about; without one, a change deletes and creates.",
                ),
                optional(
                    DELETE,
                    Shape::String,
                    "The command line that deletes it; without one, nothing is run.",
                ),
                optional(ENVIRONMENT, Shape::Map(Box::new(Shape::String)), "Variables for the commands."),
                optional(DIRECTORY, Shape::String, "The folder to run in; the project's if left out."),
                optional(
                    "triggers",
                    Shape::Any,
                    "Any value: a change of it counts as a change of the command.",
                ),
                optional(IDEMPOTENT, Shape::Boolean, "Running a command line again does no harm."),
                output("stdout", Shape::String, "What the last command printed; 1 MiB at most."),
                output("stderr", Shape::String, "What it printed on stderr; 1 MiB at most."),
                output("exitCode", Shape::Integer, "The exit code, which is 0."),
            ],
        )
        .delete_first()
    }

    fn problems(&self, inputs: Given<'_>) -> Vec<Problem> {
        let nul = [CREATE, UPDATE, DELETE, DIRECTORY].into_iter().filter_map(|name| has_nul(inputs, name));
        let empty = [CREATE, UPDATE, DELETE].into_iter().filter_map(|name| empty_line(inputs, name));
        nul.chain(empty).chain(bad_variables(inputs)).collect()
    }

    /// With an `update` line a change is made in place. Without one, only a new command brings it about.
    fn weigh(
        &self,
        _machine: &Machine,
        new: &BTreeMap<String, Input>,
        mut changes: Vec<Change>,
    ) -> Vec<Change> {
        for change in &mut changes {
            let for_later = change.path.root().is_some_and(|root| FOR_LATER.contains(&root));
            change.replaces = !for_later && !new.contains_key(UPDATE);
        }
        changes
    }

    async fn read(&self, _machine: &Machine, recorded: &Live) -> Result<Option<Live>, Refusal> {
        Ok(Some(recorded.clone()))
    }

    async fn create(&self, machine: &Machine, receipt: &Receipt, inputs: &Map) -> Attempt<Created> {
        let command = shell_command(machine, receipt, inputs, text(inputs, CREATE)?)?;
        let outputs = run(machine, CREATE, command).await?;
        Ok(Created { id: PhysicalId(receipt.idempotency_key().to_owned()), outputs })
    }

    async fn update(
        &self,
        machine: &Machine,
        receipt: &Receipt,
        resource: &Resource,
        old_inputs: &Map,
    ) -> Attempt<Updated> {
        if same_for_now(old_inputs, &resource.inputs) {
            return Ok(Updated { outputs: resource.outputs.clone() });
        }
        let line = text(&resource.inputs, UPDATE)?;
        let command = with_past(shell_command(machine, receipt, &resource.inputs, line)?, resource);
        Ok(Updated { outputs: run(machine, UPDATE, command).await? })
    }

    async fn delete(&self, machine: &Machine, receipt: &Receipt, resource: &Resource) -> Attempt<()> {
        let Some(line) = optional_text(&resource.inputs, DELETE)? else { return Ok(()) };
        let command = with_past(shell_command(machine, receipt, &resource.inputs, line)?, resource);
        run(machine, DELETE, command).await.map(|_| ())
    }

    fn recovery(&self, operation: Operation, inputs: &Map) -> Recovery {
        let idempotent = inputs.get(IDEMPOTENT).and_then(Value::as_bool) == Some(true);
        let runs_something = match operation {
            Operation::Create => true,
            Operation::Update => inputs.contains_key(UPDATE),
            Operation::Delete => inputs.contains_key(DELETE),
        };
        if idempotent || !runs_something { Recovery::Repeat } else { Recovery::Ask }
    }
}

/// Whether the inputs differ at most in what is for later.
fn same_for_now(old: &Map, new: &Map) -> bool {
    for_now(old).eq(for_now(new))
}

fn for_now(inputs: &Map) -> impl Iterator<Item = (&String, &Value)> {
    inputs.iter().filter(|(name, _)| !FOR_LATER.contains(&name.as_str()))
}

fn shell_command(
    machine: &Machine,
    receipt: &Receipt,
    inputs: &Map,
    line: &str,
) -> Result<ShellCommand, Refusal> {
    let mut environment = texts(inputs, ENVIRONMENT)?;
    environment.insert("STEAD_IDEMPOTENCY_KEY".to_owned(), receipt.idempotency_key().to_owned());
    let folder = match optional_text(inputs, DIRECTORY)? {
        Some(folder) => machine.locate(folder),
        None => machine.project.clone(),
    };
    Ok(ShellCommand { line: line.to_owned(), folder, environment })
}

/// Tells a later command what the earlier one made.
fn with_past(mut command: ShellCommand, resource: &Resource) -> ShellCommand {
    let id = resource.id.as_ref().map(|id| id.as_str().to_owned()).unwrap_or_default();
    let printed = resource.outputs.get("stdout").and_then(Value::as_str).unwrap_or_default();
    command.environment.insert("STEAD_ID".to_owned(), id);
    command.environment.insert("STEAD_STDOUT".to_owned(), as_variable(printed));
    command
}

fn empty_line(inputs: Given<'_>, name: &str) -> Option<Problem> {
    let empty = inputs.text(name)?.trim().is_empty();
    empty.then(|| problem(name, format!("`{name}` is empty"), "give a command line; `true` does nothing"))
}

fn bad_variables(inputs: Given<'_>) -> Vec<Problem> {
    let Some(Value::Map(variables)) = inputs.get(ENVIRONMENT) else { return Vec::new() };
    let is_bad = |name: &str, value: &Value| {
        name.is_empty() || name.contains(['=', '\0']) || value.as_str().is_some_and(|v| v.contains('\0'))
    };
    variables
        .iter()
        .filter(|(name, value)| is_bad(name, value))
        .map(|(name, _)| {
            let message = format!("`{ENVIRONMENT}` cannot hold the variable {name:?} with this value");
            problem(ENVIRONMENT, message, "a variable has a name without `=`, and no NUL character")
        })
        .collect()
}
