//! Arguments of `stead env`, `stead output` and `stead find`.

use clap::{Args, Subcommand};

#[derive(Subcommand)]
pub(crate) enum EnvCommand {
    /// List the environments: declared in stead.toml, the default one, and those with a stack
    Ls,
    /// Add an environment to stead.toml
    New {
        /// Name of the environment
        name: String,
    },
    /// Remove an environment: its table in stead.toml and its stacks, which must have no resources
    Rm {
        /// Name of the environment
        name: String,
    },
}

#[derive(Args)]
pub(crate) struct OutputArguments {
    /// Output to show [default: all]
    pub name: Option<String>,
    /// Print the text of one output, without quotes and without a newline
    #[arg(long, requires = "name", conflicts_with = "json")]
    pub raw: bool,
    /// Show secrets, after confirmation; the history of the stack records it
    #[arg(long)]
    pub show_secrets: bool,
}

#[derive(Args)]
pub(crate) struct FindArguments {
    /// Physical id, ARN, path, name, or another value of a property
    #[arg(value_name = "WHAT")]
    pub wanted: String,
}
