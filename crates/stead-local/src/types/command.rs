//! `local.Command`: command lines that run when the resource is created, updated and deleted.
//!
//! The effect of a command is unknown to the provider, so a command that may have run is repeated only if its
//! author declared it idempotent.

mod group;
mod shell;

use async_trait::async_trait;
use stead_model::{Inputs, Map, Operation, OperationToken, PhysicalId, Resource, Text, Value};
use stead_provider::{Created, Reads, Receipt, Recovery, Refusal, Statement, Updated};
use stead_schema::{Access, Change, Problem, Property, Shape, TypeSchema};
use stead_world::ShellCommand;

use self::shell::{as_variable, run};
use crate::failure::{Attempt, Failure};
use crate::inputs::{InputView, nul_problem, optional_text, problem, text, texts};
use crate::machine::Machine;
use crate::types::ResourceType;

const CREATE: &str = "create";
const UPDATE: &str = "update";
const DELETE: &str = "delete";
const ENVIRONMENT: &str = "environment";
const DIRECTORY: &str = "directory";
const IDEMPOTENT: &str = "idempotent";

/// Properties that only affect later operations; a change of them alone runs no command.
const AFFECTING_LATER: [&str; 3] = [UPDATE, DELETE, IDEMPOTENT];

pub(crate) struct Command;

#[async_trait]
impl ResourceType for Command {
    fn schema(&self) -> TypeSchema {
        let optional = |name, shape, doc| Property::new(name, shape, Access::Optional, doc);
        let output = |name, shape, doc| Property::new(name, shape, Access::ReadOnly, doc);
        TypeSchema::new(
            "local.Command",
            "Command lines for the shell. Each gets the variable STEAD_IDEMPOTENCY_KEY, the same for every attempt \
             at one operation; `update` and `delete` also get STEAD_ID and STEAD_STDOUT, the previous output \
             (64 KiB at most).",
            vec![
                Property::new(CREATE, Shape::String, Access::Required, "The command line that creates it."),
                optional(
                    UPDATE,
                    Shape::String,
                    "The command line that updates it; without one, a change replaces the resource.",
                ),
                optional(
                    DELETE,
                    Shape::String,
                    "The command line that deletes it; without one, no command runs.",
                ),
                optional(ENVIRONMENT, Shape::Map(Box::new(Shape::String)), "Variables for the commands."),
                optional(DIRECTORY, Shape::String, "The folder to run in; the project's if left out."),
                optional(
                    "triggers",
                    Shape::Any,
                    "Any value; a change of it runs a command again.",
                ),
                optional(IDEMPOTENT, Shape::Boolean, "Whether a command line can safely run twice."),
                output("stdout", Shape::String, "Standard output of the last command; the command fails above 1 MiB."),
                output("stderr", Shape::String, "Standard error of the last command; of more than 1 MiB, whole lines of the first 1 MiB and of the end."),
                output("exitCode", Shape::Integer, "The exit code, which is 0."),
            ],
        )
        .delete_first()
    }

    fn problems(&self, inputs: InputView<'_>) -> Vec<Problem> {
        let nul =
            [CREATE, UPDATE, DELETE, DIRECTORY].into_iter().filter_map(|name| nul_problem(inputs, name));
        let empty = [CREATE, UPDATE, DELETE].into_iter().filter_map(|name| empty_line(inputs, name));
        nul.chain(empty).chain(bad_variables(inputs)).collect()
    }

    /// With an `update` line a change is made in place; without one it forces a replacement.
    fn significant_changes(&self, _machine: &Machine, new: &Inputs, mut changes: Vec<Change>) -> Vec<Change> {
        for change in &mut changes {
            let affects_later = change.path.root().is_some_and(|root| AFFECTING_LATER.contains(&root));
            change.replaces = !affects_later && !new.contains_key(UPDATE);
        }
        changes
    }

    fn reads(&self) -> Reads {
        Reads::Nothing
    }

    fn may_still_run(&self, machine: &Machine, token: &OperationToken) -> Option<String> {
        group::may_still_run(machine, token)
    }

    async fn settle_work(
        &self,
        machine: &Machine,
        token: &OperationToken,
        statement: Statement,
    ) -> Result<(), Refusal> {
        group::settle(machine, token, statement).await
    }

    async fn create(&self, machine: &Machine, receipt: &Receipt, inputs: &Map) -> Attempt<Created> {
        let command = shell_command(machine, receipt, inputs, text(inputs, CREATE)?)?;
        let outputs = run(machine, receipt, CREATE, command).await?;
        Ok(Created { id: PhysicalId(receipt.idempotency_key().to_owned()), outputs })
    }

    async fn update(
        &self,
        machine: &Machine,
        receipt: &Receipt,
        resource: &Resource,
        old_inputs: &Map,
    ) -> Attempt<Updated> {
        if changes_only_affect_later(old_inputs, &resource.inputs) {
            return Ok(Updated { outputs: resource.outputs.clone() });
        }
        let line = text(&resource.inputs, UPDATE)?;
        let command =
            with_previous_output(shell_command(machine, receipt, &resource.inputs, line)?, resource);
        Ok(Updated { outputs: run(machine, receipt, UPDATE, command).await? })
    }

    async fn delete(&self, machine: &Machine, receipt: &Receipt, resource: &Resource) -> Attempt<()> {
        let Some(line) = optional_text(&resource.inputs, DELETE)? else { return Ok(()) };
        let command =
            with_previous_output(shell_command(machine, receipt, &resource.inputs, line)?, resource);
        match run(machine, receipt, DELETE, command).await {
            // The outputs of a deletion are not recorded.
            Ok(_) | Err(Failure::OutputsLost(_)) => Ok(()),
            Err(failure) => Err(failure),
        }
    }

    fn recovery(&self, operation: Operation, inputs: &Map) -> Recovery {
        let idempotent = inputs.get(IDEMPOTENT).and_then(Value::as_bool) == Some(true);
        let runs_a_command = match operation {
            Operation::Create => true,
            Operation::Update => inputs.contains_key(UPDATE),
            Operation::Delete => inputs.contains_key(DELETE),
        };
        if idempotent || !runs_a_command { Recovery::Repeat } else { Recovery::Ask }
    }
}

/// Returns true if the inputs differ only in properties that affect later operations.
fn changes_only_affect_later(old: &Map, new: &Map) -> bool {
    affecting_now(old).eq(affecting_now(new))
}

fn affecting_now(inputs: &Map) -> impl Iterator<Item = (&Text, &Value)> {
    inputs.iter().filter(|(name, _)| !AFFECTING_LATER.contains(&name.as_str()))
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

/// Adds the id and the previous output to the environment of an update or delete command.
fn with_previous_output(mut command: ShellCommand, resource: &Resource) -> ShellCommand {
    let id = resource.id.as_ref().map(|id| id.as_str().to_owned()).unwrap_or_default();
    let printed = resource.outputs.get("stdout").and_then(Value::as_str).unwrap_or_default();
    command.environment.insert("STEAD_ID".to_owned(), id);
    command.environment.insert("STEAD_STDOUT".to_owned(), as_variable(printed));
    command
}

fn empty_line(inputs: InputView<'_>, name: &str) -> Option<Problem> {
    let empty = inputs.text(name)?.trim().is_empty();
    empty.then(|| {
        problem(name, format!("`{name}` is empty"), "give a command line, such as `true`, which does nothing")
    })
}

fn bad_variables(inputs: InputView<'_>) -> Vec<Problem> {
    let Some(Value::Map(variables)) = inputs.get(ENVIRONMENT) else { return Vec::new() };
    let is_bad = |name: &str, value: &Value| {
        name.is_empty() || name.contains(['=', '\0']) || value.as_str().is_some_and(|v| v.contains('\0'))
    };
    variables
        .iter()
        .filter(|(name, value)| is_bad(name, value))
        .map(|(name, _)| {
            let message = format!("`{ENVIRONMENT}` cannot hold the variable {name:?} with this value");
            problem(
                ENVIRONMENT,
                message,
                "the name must not be empty or contain `=`, and neither part may contain a NUL character",
            )
        })
        .collect()
}
