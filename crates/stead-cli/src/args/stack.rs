//! Arguments of `stead stack`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::ProgramFlags;

#[derive(Subcommand)]
pub(crate) enum StackCommand {
    /// List the stacks of this project
    Ls,
    /// List the runs of the stack, newest last
    History,
    /// Create an empty stack
    New,
    /// Remove a stack without resources; its history stays
    Rm(RemoveArguments),
    /// Rename the stack to another environment; no real resource changes
    Rename {
        /// New environment, or `environment:namespace`
        to: String,
    },
    /// Show the account, region and endpoint where the resources of the stack are
    Place {
        /// Record that they are reached where settings and credentials lead now, such as at a new address
        #[arg(long)]
        accept: bool,
    },
    /// Compare two stacks, runs or exported files, without changing them
    Diff(DiffArguments),
    /// Print the stack's state as JSON on stdout
    Export(ExportArguments),
    /// Plan and apply a return to the state after an earlier run
    Rollback {
        /// Run, such as run-7; `stack history` lists the runs
        run: String,
        #[command(flatten)]
        program: ProgramFlags,
    },
    /// Replace the stack's state by an exported file; no real resource changes
    Import(ImportStateArguments),
}

#[derive(Args)]
pub(crate) struct ImportStateArguments {
    /// File written by `stack export`
    pub file: PathBuf,
    /// Accept an export of another stack: two stacks may then record the same real resources
    #[arg(long)]
    pub from_another_stack: bool,
    /// Accept that guarded records, marks and operations are lost; they are listed first
    #[arg(long)]
    pub force: bool,
}

#[derive(Args, Clone, Copy)]
pub(crate) struct ExportArguments {
    /// Show secrets in the clear, after confirmation; the history of the stack records it
    #[arg(long)]
    pub show_secrets: bool,
}

#[derive(Args)]
pub(crate) struct RemoveArguments {
    /// Stop managing the remaining resources; the real resources stay, and are listed
    #[arg(long)]
    pub forget_resources: bool,
    /// Also delete the history and all old snapshots
    #[arg(long)]
    pub purge: bool,
}

#[derive(Args)]
pub(crate) struct DiffArguments {
    /// `environment[:namespace][@target]`, a run such as `#12` or `prod#12`, or an exported file
    #[arg(value_name = "A")]
    pub before: String,
    /// Second side, written like A
    #[arg(value_name = "B")]
    pub after: String,
    /// Exit 10 if the two sides differ
    #[arg(long)]
    pub exit_code: bool,
}
