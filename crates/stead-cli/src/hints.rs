//! Text of the operations that hints propose, in the syntax of this command line.

use stead_model::{Environment, NextStep, Operation, ResolveAnswer};
use stead_world::ShellCommand;

/// The stack that a command works on.
#[derive(Clone, Debug)]
pub(crate) struct ShownStack {
    pub environment: Environment,
    /// The target, unless it is the one of `stead.toml`.
    pub target: Option<String>,
}

impl ShownStack {
    /// Returns the flags that select the stack: ` -e prod --namespace acme -t aws`.
    pub(crate) fn flags(&self) -> String {
        let target = self.target.as_ref().map(|target| format!(" -t {target}"));
        format!("{}{}", stack_flags(&self.environment), target.unwrap_or_default())
    }
}

/// Returns the command or the flag of an operation, ready to paste.
///
/// A command on a stack carries the environment and the target, so that it does the same in every shell.
pub(crate) fn phrase(step: &NextStep, stack: Option<&ShownStack>) -> String {
    let on = stack.map(ShownStack::flags).unwrap_or_default();
    match step {
        NextStep::Apply => format!("`stead up{on}`"),
        NextStep::ApplyKeepingPinned => format!("`stead up --keep-pinned{on}`"),
        NextStep::Compile => format!("`stead compile{on}`"),
        NextStep::Refresh => format!("`stead refresh{on}`"),
        NextStep::PlanRefreshed => format!("`stead plan --refresh{on}`"),
        NextStep::ApplyRefreshed => format!("`stead up --refresh{on}`"),
        NextStep::Import => "`stead import`".to_owned(),
        NextStep::ImportAs { ty, name, id } => {
            let (name, id) = (ShellCommand::word(&name.to_string()), ShellCommand::word(id.as_str()));
            format!("stead import {ty} {name} {id}{on}")
        }
        NextStep::Rename { from, to } => format!("`stead rename {} {}{on}`", quoted(from), quoted(to)),
        NextStep::RenamePlace { from, to } => format!("`stead rename {} {}{on}`", quoted(from), quoted(to)),
        NextStep::AcceptMoves => format!("`stead up --accept-moves{on}`"),
        NextStep::ListState => format!("`stead state ls{on}`"),
        NextStep::ShowGraph => format!("`stead graph{on}`"),
        NextStep::ListStacks => "`stead stack ls`".to_owned(),
        NextStep::ListPins => "`stead pin ls`".to_owned(),
        NextStep::RemovePin { path } => format!("stead pin rm {path}{on}"),
        NextStep::MovePin { from, to } => format!("stead pin mv {from} {to}{on}"),
        NextStep::PrunePins => "`stead pin prune`".to_owned(),
        NextStep::RestorePins => format!("`stead pin restore{on}`"),
        NextStep::Unprotect { name } => format!("`stead state unprotect {}{on}`", quoted(name)),
        NextStep::Resolve { name, answer } => {
            format!("stead state resolve {} {}{on}", quoted(name), flag(*answer))
        }
        NextStep::StateOutputs { names } => {
            let flags: Vec<String> = names.iter().map(|name| format!("--output {name}=VALUE")).collect();
            format!("`{}`", flags.join(" "))
        }
        NextStep::SelectDependencies => {
            "pass `--with-dependencies` to select its dependencies too".to_owned()
        }
        NextStep::SelectDependents => "pass `--with-dependents` to select its dependents too".to_owned(),
        NextStep::RefreshStack { environment, target } => {
            format!("`stead refresh{} -t {target}`", recorded_flags(environment))
        }
        NextStep::ApplyStack { environment, target } => match stack {
            Some(stack) if stack.environment.to_string() == *environment => format!("`stead up{on}`"),
            _ => format!("`stead up{} -t {target}`", recorded_flags(environment)),
        },
        NextStep::CreateStack => format!("`stead stack new{on}`"),
        NextStep::WithoutProgram => "`--without-program`".to_owned(),
        NextStep::ShowHistory => format!("`stead stack history{on}`"),
        NextStep::RenameFrom { from } => format!("stead rename {} …{on}", quoted(from)),
        NextStep::MoveToStack => "`--to-stack`".to_owned(),
        NextStep::Destroy { environment } => format!("`stead destroy{}`", stack_flags(environment)),
        NextStep::StartProject => {
            "start a project here with `stead init`, or point to one with `-C DIR`".to_owned()
        }
        NextStep::Explain { code } => format!("see `stead explain {code}`"),
        NextStep::ExportStack => format!("`stead stack export{on} > FILE`"),
        NextStep::AddKeyManager => format!("`stead secrets add age1…{on}`"),
        NextStep::RemoveKeyManager => format!("`stead secrets remove{on}`"),
        NextStep::ChangeKeyManager => format!("`stead secrets change-manager OLD NEW{on}`"),
        NextStep::NameRecipient => "`--name`".to_owned(),
        NextStep::SetSecretConfig => format!("`stead config set --secret{on}`"),
        NextStep::RemoveConfig => format!("`stead config rm{on}`"),
        NextStep::ExplainConfig => format!("`stead config explain{on}`"),
        NextStep::ListChildren { ty, keys } => {
            let keys: String = keys.iter().map(|key| format!(" --parent {key}=VALUE")).collect();
            format!("`stead import --list {ty}{keys}{on}`")
        }
        NextStep::InitSecrets => format!("`stead secrets init{on}`"),
        NextStep::SavePlan { file } => format!("`stead plan --out {file}{on}`"),
        NextStep::ApplySavedPlan => {
            "`up FILE` applies a plan that `stead plan --out FILE` saved; without FILE, `up` plans itself"
                .to_owned()
        }
        NextStep::TakeOver { name } => format!("`--take-over {}`", quoted(name)),
        NextStep::SelectResources => "`--target-resource PATTERN`".to_owned(),
        NextStep::CreateEnvironment { name } => format!("`stead env new {}`", ShellCommand::word(name)),
        NextStep::SelectEnvironment { environment } => format!("`-e {environment}`"),
        NextStep::ForgetResources => "`--forget-resources`".to_owned(),
        NextStep::AcceptOtherStack => "`--from-another-stack`".to_owned(),
        NextStep::AcceptLosses => "`--force`".to_owned(),
        NextStep::AcceptPlace => format!("`stead stack place --accept{on}`"),
    }
}

/// Returns the flags that select an environment: ` -e prod --namespace acme`.
pub(crate) fn stack_flags(environment: &Environment) -> String {
    let word = ShellCommand::word;
    match &environment.namespace {
        None => format!(" -e {}", word(&environment.name)),
        Some(namespace) => format!(" -e {} --namespace {}", word(&environment.name), word(namespace)),
    }
}

/// Returns the flags that select an environment by its recorded name, such as `prod:acme`.
pub(crate) fn recorded_flags(environment: &str) -> String {
    environment.parse().map_or_else(|_| format!(" -e {environment}"), |of| stack_flags(&of))
}

/// Returns a text as one word of a command line, always in quotes: a name contains `#` and other characters of the shell.
pub(crate) fn quoted(text: impl std::fmt::Display) -> String {
    format!("'{}'", text.to_string().replace('\'', r"'\''"))
}

/// Commands that work on one stack.
const ON_A_STACK: [&str; 18] = [
    "plan", "up", "destroy", "refresh", "rename", "import", "unlock", "graph", "compile", "state", "policy",
    "pin", "logs", "stats", "stack", "output", "config", "secrets",
];

/// Commands among them that work on no stack, or on several.
const ON_NO_STACK: [&str; 3] = ["stack ls", "stack diff", "secrets keygen"];

/// Adds the stack to every command in a text, such as `` `stead plan` ``, that works on one stack and lacks it.
pub(crate) fn with_stack(text: &str, stack: &ShownStack) -> String {
    let flags = stack.flags();
    let mut out = String::with_capacity(text.len());
    // Odd parts stand between backticks.
    for (at, part) in text.split('`').enumerate() {
        let command = part.strip_prefix("stead ").filter(|_| at % 2 == 1);
        let word = command.and_then(|command| command.split(' ').next()).unwrap_or_default();
        out.push_str(if at == 0 { "" } else { "`" });
        out.push_str(part);
        let is_general = command.is_some_and(|command| ON_NO_STACK.iter().any(|of| command.starts_with(of)));
        if ON_A_STACK.contains(&word) && !is_general && !part.contains(" -e ") && !part.contains(['>', '|']) {
            out.push_str(&flags);
        }
    }
    out
}

fn flag(answer: ResolveAnswer) -> &'static str {
    match answer {
        ResolveAnswer::Happened(Operation::Create) => "--created ID",
        ResolveAnswer::Happened(Operation::Update | Operation::Delete) => "--done",
        ResolveAnswer::DidNotHappen => "--not-created",
        ResolveAnswer::Retry => "--retry",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_on_a_stack_carry_environment_and_target() {
        let acme = ShownStack { environment: "prod:acme".parse().unwrap(), target: None };
        let text = "run `stead plan` or `stead up -e dev`; `stead explain ST0101`, `up`, stead plan";
        let shown = "run `stead plan -e prod --namespace acme` or `stead up -e dev`; `stead explain ST0101`, `up`, \
                     stead plan";
        assert_eq!(with_stack(text, &acme), shown);
        let rename =
            NextStep::Rename { from: "dev:main:T#a".parse().unwrap(), to: "dev:main:T#b".parse().unwrap() };
        let dev = ShownStack { environment: Environment::new("dev"), target: Some("aws".to_owned()) };
        assert_eq!(phrase(&rename, Some(&dev)), "`stead rename 'dev:main:T#a' 'dev:main:T#b' -e dev -t aws`");
        assert_eq!(phrase(&NextStep::Apply, None), "`stead up`");
    }

    #[test]
    fn commands_on_stacks_outputs_config_and_secrets_carry_the_environment() {
        let prod = ShownStack { environment: Environment::new("prod"), target: None };
        for command in ["stack new", "stack history", "output", "config explain k", "secrets status"] {
            assert_eq!(
                with_stack(&format!("`stead {command}`"), &prod),
                format!("`stead {command} -e prod`")
            );
        }
        for command in ["stack ls", "stack diff dev qa", "secrets keygen"] {
            assert_eq!(with_stack(&format!("`stead {command}`"), &prod), format!("`stead {command}`"));
        }
    }

    #[test]
    fn quote_in_a_name_is_quoted_for_the_shell() {
        let name = "dev:main:T#it's".parse().unwrap();
        assert_eq!(phrase(&NextStep::TakeOver { name }, None), r"`--take-over 'dev:main:T#it'\''s'`");
    }
}
