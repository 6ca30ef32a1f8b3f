//! Arguments of `stead state` and `stead policy`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::{MarkFlags, RunScope};

#[derive(Subcommand)]
pub(crate) enum StateCommand {
    /// List the names of all recorded resources
    Ls,
    /// Show one resource in full
    Show {
        /// Name of the resource, or its id if it is unique
        name: String,
    },
    /// Stop managing a resource; the real resource stays
    Rm {
        /// Name of the resource, or its id if it is unique
        name: String,
    },
    /// Protect a resource from deletion, replacement and `state rm`, whatever the program says
    Protect {
        /// Name of the resource, or its id if it is unique
        name: String,
    },
    /// Remove the protection set by `protect`; marks of the program stay
    Unprotect {
        /// Name of the resource, or its id if it is unique
        name: String,
    },
    /// List the real resources that stacks of this project own, with the marks that are stale
    Owners {
        /// List the marks of all projects
        #[arg(long)]
        all: bool,
    },
    /// List retained resources, with the commands that import them again
    Retained,
    /// Move resources to another stack, or correct a name in state; no real resource changes
    ///
    /// State does not keep the old name as an alias: only a program that declares the new name finds the resource. For
    /// a name that changed in the program, and for whole scopes, use `stead rename`.
    Mv(MoveArguments),
    /// Check every stored byte and every integrity rule
    Verify {
        /// Exported state to check instead of the stack
        file: Option<PathBuf>,
    },
    /// Propose repairs of state that is damaged or breaks a rule; changes nothing without --take
    Repair {
        /// Exported state to repair instead of the stack; the result is written beside it
        file: Option<PathBuf>,
        /// Apply proposal N; a copy of the old state is kept
        #[arg(long, value_name = "N")]
        take: Option<usize>,
        /// Apply the proposal although it loses guarded records; the losses are listed first
        #[arg(long, requires = "take")]
        force: bool,
    },
    /// Record the outcome of an operation in doubt
    Resolve(ResolveArguments),
}

#[derive(Args)]
pub(crate) struct MoveArguments {
    /// Resource and its new name or id; with --to-stack, the resources to move
    #[arg(required = true, value_name = "NAME")]
    pub names: Vec<String>,
    /// Stack to move the resources to: `environment[:namespace][@target]`
    #[arg(long, value_name = "STACK")]
    pub to_stack: Option<String>,
    /// Also move all dependencies of the resources
    #[arg(long, requires = "to_stack")]
    pub with_dependencies: bool,
}

#[derive(Args)]
pub(crate) struct ResolveArguments {
    /// Name of the resource, its id if it is unique, or the number of the operation
    pub name: String,
    #[command(flatten)]
    pub answer: Answer,
    /// Output of a resource that no provider can read; string, or JSON for other types. Repeatable
    #[arg(long = "output", value_name = "NAME=VALUE", value_parser = name_and_value, conflicts_with_all = ["not_created", "retry"])]
    pub outputs: Vec<(String, String)>,
}

fn name_and_value(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.to_owned(), value.to_owned())),
        _ => Err("write it as NAME=VALUE".to_owned()),
    }
}

#[derive(Args)]
#[group(required = true, multiple = false)]
pub(crate) struct Answer {
    /// The resource was created, with this physical id
    #[arg(long, value_name = "ID")]
    pub created: Option<String>,
    /// The update or deletion happened
    #[arg(long)]
    pub done: bool,
    /// The operation did not happen
    #[arg(long, alias = "not-done")]
    pub not_created: bool,
    /// Send the same request again
    #[arg(long)]
    pub retry: bool,
}

#[derive(Subcommand)]
pub(crate) enum PolicyCommand {
    /// Print the least IAM policies for the plan of `up`, like `stead plan --permissions`
    Permissions(Box<RunScope>),
    /// Show which setting of prevent-delete and deletion-policy decides about a resource, and which are overruled
    Explain {
        /// Name of the resource, or its id if it is unique
        name: String,
        #[command(flatten)]
        marks: MarkFlags,
    },
}
