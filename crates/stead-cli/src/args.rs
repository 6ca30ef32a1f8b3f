//! The command line, as data.

mod marks;
mod serve;

use std::path::PathBuf;

use clap::{ArgAction, Args, Parser, Subcommand, ValueEnum};
pub(crate) use marks::MarkFlags;
pub(crate) use serve::{AdmissionCommand, GuardFlags, ManifestArguments, ManifestPart, ServeArguments};
use stead::guard::OuterLevels;
use stead::plan::{Follow, Glob, MovePolicy, Purpose, Reach, Request, Selection};

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
    /// Environment [default: the one set in stead.toml, else dev]
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
    /// Maximum number of operations under way at the same time
    #[arg(long, value_name = "N", default_value_t = 32, global = true)]
    pub parallel: usize,
    /// Log what stead does to stderr (-v, -vv); STEAD_LOG sets it too
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
    /// Delete every resource of the stack; the program is not needed
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

/// Resources that `--refresh` reads before planning.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Refresh {
    /// Every resource
    All,
    /// Only the resources that the plan would change
    Changed,
}

/// Flags that select the resources a command may touch.
#[derive(Args, Clone, Default)]
pub(crate) struct SelectionFlags {
    /// Touch only matching resources: a name or an id, `*` matches any text; may be repeated
    #[arg(long, value_name = "PATTERN")]
    pub target_resource: Vec<String>,
    /// Do not touch matching resources; may be repeated
    #[arg(long, value_name = "PATTERN")]
    pub exclude: Vec<String>,
    /// Also touch the dependencies of the targeted resources
    #[arg(long, requires = "target_resource")]
    pub with_dependencies: bool,
    /// Also touch the dependents of the targeted resources
    #[arg(long, requires = "target_resource")]
    pub with_dependents: bool,
}

impl SelectionFlags {
    pub(crate) fn selection(&self) -> Selection {
        let globs = |patterns: &[String]| patterns.iter().map(Glob::new).collect();
        Selection {
            targets: globs(&self.target_resource),
            exclude: globs(&self.exclude),
            reach: Reach {
                dependencies: Follow::from_flag(self.with_dependencies),
                dependents: Follow::from_flag(self.with_dependents),
            },
        }
    }
}

/// Flags for a removed and a new resource that look like one renamed resource.
#[derive(Args, Clone, Default)]
pub(crate) struct MoveFlags {
    /// Apply certain moves as renames
    #[arg(long, conflicts_with = "no_moves")]
    pub accept_moves: bool,
    /// Treat no resource as moved: delete the old one and create the new one
    #[arg(long)]
    pub no_moves: bool,
}

impl MoveFlags {
    pub(crate) fn moves(&self) -> MovePolicy {
        match (self.accept_moves, self.no_moves) {
            (true, _) => MovePolicy::Accept,
            (false, true) => MovePolicy::Refuse,
            (false, false) => MovePolicy::Suggest,
        }
    }
}

/// Flags that `plan` and `up` share.
#[derive(Args)]
pub(crate) struct RunScope {
    /// Read resources from their providers before planning
    #[arg(long, value_name = "WHICH", num_args = 0..=1, require_equals = true, default_missing_value = "all")]
    pub refresh: Option<Refresh>,
    #[command(flatten)]
    pub select: SelectionFlags,
    #[command(flatten)]
    pub moves: MoveFlags,
    #[command(flatten)]
    pub marks: MarkFlags,
    /// Remove orphaned pins from the pinfile: pins of resources that the program no longer declares
    #[arg(long)]
    pub update_pins: bool,
    /// Also show unchanged resources
    #[arg(long)]
    pub unchanged: bool,
}

impl RunScope {
    pub(crate) fn request(&self, outer: OuterLevels) -> Request {
        let (moves, selection) = (self.moves.moves(), self.select.selection());
        Request { purpose: Purpose::Up, moves, selection, outer }
    }
}

#[derive(Args)]
pub(crate) struct UpArguments {
    /// Plan saved by `plan --out`: apply exactly this plan, or nothing
    #[arg(conflicts_with_all = ["refresh", "target_resource", "exclude", "accept_moves", "no_moves", "deletion_policy", "prevent_delete", "update_pins"])]
    pub plan: Option<PathBuf>,
    #[command(flatten)]
    pub scope: RunScope,
    /// After a failure, start no further operation
    #[arg(long)]
    pub fail_fast: bool,
}

/// Whether an operation that does not apply the program asks it for protection.
#[derive(Args, Clone, Copy, Debug)]
pub(crate) struct ProgramFlags {
    /// Go by the recorded protection alone: the program may protect more, and is not asked
    #[arg(long)]
    pub without_program: bool,
}

#[derive(Args)]
pub(crate) struct DestroyArguments {
    #[command(flatten)]
    pub select: SelectionFlags,
    #[command(flatten)]
    pub marks: MarkFlags,
    #[command(flatten)]
    pub program: ProgramFlags,
    /// After a failure, start no further operation
    #[arg(long)]
    pub fail_fast: bool,
}

#[derive(Args)]
pub(crate) struct RenameArguments {
    /// Recorded name, id if it is unique, or scope that several names share
    pub old: String,
    /// New name, or only the new id
    pub new: String,
    /// Show the renames, and change nothing
    #[arg(long)]
    pub dry_run: bool,
}

#[derive(Args)]
pub(crate) struct ImportArguments {
    /// Resource type, such as local.File
    #[arg(value_name = "TYPE")]
    pub ty: String,
    /// New name of the resource, or only its id in the main module
    pub name: String,
    /// Physical id of the existing resource
    pub id: String,
}

#[derive(Args)]
pub(crate) struct PlanArguments {
    #[command(flatten)]
    pub scope: RunScope,
    /// Print likely renames as `stead rename` commands, near misses included
    #[arg(long)]
    pub suggest_renames: bool,
    /// Save the plan to FILE, for `up FILE`
    #[arg(long, value_name = "FILE", conflicts_with = "refresh")]
    pub out: Option<PathBuf>,
    /// Exit 0 without changes, 10 with changes, 11 with deletions or replacements, 12 with drift only
    #[arg(long)]
    pub exit_code: bool,
}

#[derive(Args)]
pub(crate) struct CompileArguments {
    /// File for the graph [default: .stead/compiled/ENV/TARGET.json]
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Remove orphaned pins from the pinfile: pins of resources that the program no longer declares
    #[arg(long)]
    pub update_pins: bool,
}

#[derive(Subcommand)]
pub(crate) enum PinCommand {
    /// List the pins of every target and environment
    Ls,
    /// Record that a pinned resource has a new path
    Mv {
        /// Path in the pinfile
        from: String,
        /// New path, which `plan` prints after `[+pin]`
        to: String,
    },
    /// Remove a pin, so that its resource may be deleted
    Rm {
        /// Path in the pinfile
        path: String,
    },
    /// Write the pins recorded in state into the pinfile
    Restore,
}

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
    /// Compare two stacks, runs or exported files, without changing them
    Diff(DiffArguments),
    /// Print the stack's state as JSON on stdout
    Export,
    /// Plan and apply a return to the state after an earlier run
    Rollback {
        /// Run, such as run-7; `stack history` lists the runs
        run: String,
        #[command(flatten)]
        program: ProgramFlags,
    },
    /// Replace the stack's state by an exported file; no real resource changes
    Import {
        /// File written by `stack export`
        file: PathBuf,
    },
}

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
    },
    /// Record the outcome of an operation in doubt
    Resolve(ResolveArguments),
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
    /// Show which setting of prevent-delete and deletion-policy decides about a resource, and which are overruled
    Explain {
        /// Name of the resource, or its id if it is unique
        name: String,
        #[command(flatten)]
        marks: MarkFlags,
    },
}

#[derive(Subcommand)]
pub(crate) enum ProviderCommand {
    /// List the resource types that programs can use
    Types {
        /// Text that the type's name contains; `*` matches any text
        pattern: Option<String>,
    },
    /// Show one type: the values of each property, and the effect of a change
    Schema {
        /// Type, such as AWS::S3::Bucket or aws.s3.Bucket
        name: String,
    },
    /// Show the update that turns a live resource into the wanted one, with a reason for each operation
    Patch(PatchArguments),
}

#[derive(Args)]
pub(crate) struct PatchArguments {
    #[command(flatten)]
    pub ty: PatchType,
    /// Last applied properties, as JSON [default: the wanted properties]
    #[arg(long, value_name = "FILE")]
    pub last: Option<PathBuf>,
    /// Properties that the service reports now, as JSON
    #[arg(long, value_name = "FILE")]
    pub live: PathBuf,
    /// Wanted properties, as JSON
    #[arg(long, value_name = "FILE")]
    pub want: PathBuf,
}

#[derive(Args)]
#[group(required = true, multiple = false)]
pub(crate) struct PatchType {
    /// Published type, such as AWS::S3::Bucket
    #[arg(long = "type", value_name = "TYPE")]
    pub name: Option<String>,
    /// Schema of a resource type, as JSON
    #[arg(long, value_name = "FILE")]
    pub schema: Option<PathBuf>,
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
