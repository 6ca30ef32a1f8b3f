//! The command line, as data.

mod cloud;
mod config;
mod env;
mod logs;
mod marks;
mod pin;
mod provider;
mod run;
mod secrets;
mod serve;
mod stack;
mod state;
mod test;

use std::path::PathBuf;

use clap::{ArgAction, Args, Parser, Subcommand};
pub(crate) use cloud::{CloudArguments, CloudCommand, IgnoredRule};
pub(crate) use config::{ConfigCommand, ConfigFlags, ForeignConfig};
pub(crate) use env::{EnvCommand, FindArguments, OutputArguments};
pub(crate) use logs::{LogsArguments, StatsArguments};
pub(crate) use marks::MarkFlags;
pub(crate) use pin::PinCommand;
pub(crate) use provider::{PatchArguments, ProviderCommand};
pub(crate) use run::{
    CompileArguments, DestroyArguments, ImportArguments, OwnerFlags, PlanArguments, ProgramFlags, Refresh,
    RenameArguments, RunScope, SelectionFlags, UpArguments, orphans,
};
pub(crate) use secrets::SecretsCommand;
pub(crate) use serve::{AdmissionCommand, GuardFlags, ManifestArguments, ManifestPart, ServeArguments};
pub(crate) use stack::{DiffArguments, ExportArguments, ImportStateArguments, RemoveArguments, StackCommand};
pub(crate) use state::{MoveArguments, PolicyCommand, ResolveArguments, StateCommand};
pub(crate) use test::{Reporter, TestArguments};

use crate::terminal::ColourChoice;

/// Infrastructure as code that holds.
#[derive(Parser)]
#[command(name = "stead", version, max_term_width = 100, disable_help_subcommand = true)]
pub(crate) struct Arguments {
    #[command(flatten)]
    pub common: Common,
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Args, Clone)]
pub(crate) struct Common {
    /// Work as if started in DIR
    #[arg(short = 'C', value_name = "DIR", global = true)]
    pub directory: Option<PathBuf>,
    /// Environment, or environment:namespace [default: the one set in stead.toml, else dev]
    #[arg(short, long, value_name = "ENV", global = true)]
    pub env: Option<String>,
    /// Namespace: one of several instances of the environment
    #[arg(long, value_name = "NAME", global = true)]
    pub namespace: Option<String>,
    /// Target that the program is applied to [default: the one set in stead.toml, else local]
    #[arg(short, long, value_name = "TARGET", global = true)]
    pub target: Option<String>,
    /// Print one JSON object per line on stdout
    #[arg(long, global = true)]
    pub json: bool,
    /// Do not ask for confirmation
    #[arg(short, long, global = true)]
    pub yes: bool,
    /// Wait for the lock; take it over after 30 s without a heartbeat
    #[arg(long, global = true)]
    pub wait: bool,
    /// Allow ?:, &&, ||, ?? on values known only after apply; they still cannot decide which resources exist
    #[arg(long, global = true)]
    pub allow_unknown_branches: bool,
    #[command(flatten)]
    pub config: ConfigFlags,
    /// Show plans in full: unchanged parts and resources, and long values
    #[arg(long, global = true, conflicts_with = "concise")]
    pub full: bool,
    /// Show plans with one line a resource
    #[arg(long, global = true)]
    pub concise: bool,
    /// Colours in the output
    #[arg(long, value_name = "WHEN", default_value = "auto", global = true)]
    pub color: ColourChoice,
    /// Maximum number of operations under way at the same time
    #[arg(long, value_name = "N", default_value_t = 32, global = true)]
    pub parallel: usize,
    /// Log the work of stead to stderr (-v, -vv); STEAD_LOG sets it too
    #[arg(short, long, action = ArgAction::Count, global = true)]
    pub verbose: u8,
}

#[derive(Subcommand)]
pub(crate) enum Command {
    /// Create a project here: stead.toml, main.ts, and types for the editor
    Init {
        /// Name of the project [default: name of the folder]
        name: Option<String>,
    },
    /// Show the changes that `up` would make, without making them
    Plan(PlanArguments),
    /// Create, update and delete resources as the program declares
    Up(UpArguments),
    /// Delete every resource of the stack; the program may protect some, and `--without-program` leaves it out
    Destroy(DestroyArguments),
    /// Read every resource from its provider, show drift, and record it
    Refresh(SelectionFlags),
    /// Give a recorded resource, or all resources in a scope, another name; the real resources stay
    ///
    /// Use this for a name that changed in the program. State keeps the old name as an alias: a program that still
    /// declares the old name, on another branch or in another environment, finds the resource too. To move resources
    /// to another stack, or to correct a record without an alias, use `stead state mv`.
    Rename(RenameArguments),
    /// Import an existing resource into the stack, and print its TypeScript declaration
    Import(ImportArguments),
    /// Show the logs of resources: of one, or of all that have one, by time
    Logs(LogsArguments),
    /// Show the figures of resources: calls, errors, sizes, times
    Stats(StatsArguments),
    /// Show the outputs of the stack: the exports of its program as of the last apply
    Output(OutputArguments),
    /// Find recorded resources by id, ARN, path or another value, in every stack of the store
    Find(FindArguments),
    /// List, add and remove the environments of the project
    #[command(subcommand)]
    Env(EnvCommand),
    /// Show and set the config of the environment, and where each value comes from
    #[command(subcommand)]
    Config(ConfigCommand),
    /// Manage the keys that encrypt secrets, and the people and machines that can open them
    #[command(subcommand)]
    Secrets(SecretsCommand),
    /// List, create, remove, rename and compare stacks
    #[command(subcommand)]
    Stack(StackCommand),
    /// List, check and edit the recorded resources
    #[command(subcommand)]
    State(StateCommand),
    /// Explain the settings that protect resources from deletion
    #[command(subcommand)]
    Policy(PolicyCommand),
    /// Take the lock from its holder; the holder's run can no longer write
    Unlock,
    /// Show the declared resources and their dependencies
    Graph,
    /// Evaluate the program, apply the pinfile, and write the graph and the pinfile; state is not touched
    Compile(CompileArguments),
    /// List and edit the pins in the pinfile beside the entry point
    #[command(subcommand)]
    Pin(PinCommand),
    /// List resource types, show their schemas, and preview an update
    #[command(subcommand)]
    Provider(ProviderCommand),
    /// Write the type declarations for the editor again
    Types,
    /// Check the program's types with a TypeScript compiler
    Check,
    /// Run the tests of the project: files *.test.ts, offline, without state and providers
    Test(TestArguments),
    /// Run an embedded cloud with all published AWS types
    #[command(subcommand)]
    Cloud(CloudCommand),
    /// Run the Kubernetes admission webhook
    Serve(ServeArguments),
    /// Print the Kubernetes manifests of the admission webhook
    #[command(subcommand)]
    Admission(AdmissionCommand),
    /// Explain an error code
    Explain {
        /// Error code, such as ST0104
        code: String,
    },
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    fn missing(command: &clap::Command, path: &str, page: &str, found: &mut Vec<String>) {
        for flag in command.get_arguments().filter_map(clap::Arg::get_long) {
            if flag != "help" && flag != "version" && !page.contains(&format!("--{flag}")) {
                found.push(format!("{path} --{flag}"));
            }
        }
        for inner in command.get_subcommands().filter(|inner| inner.get_name() != "help") {
            let path = format!("{path} {}", inner.get_name());
            if !page.contains(&path) {
                found.push(path.clone());
            }
            missing(inner, &path, page, found);
        }
    }

    #[test]
    fn page_on_commands_lists_every_command_and_flag() {
        let page = include_str!("../../../docs/reference/commands.md");
        let mut found = Vec::new();
        missing(&Arguments::command(), "stead", page, &mut found);
        assert!(found.is_empty(), "docs/reference/commands.md does not list {found:?}");
    }
}
