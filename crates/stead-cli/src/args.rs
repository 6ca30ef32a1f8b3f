//! The command line, as data.

mod marks;
mod serve;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
pub(crate) use marks::MarkFlags;
pub(crate) use serve::{AdmissionCommand, Guarded, ManifestArguments, ManifestPart, ServeArguments};
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
    /// The environment [default: what stead.toml says, else dev]
    #[arg(short, long, value_name = "ENV", global = true)]
    pub env: Option<String>,
    /// One of several instances of the environment
    #[arg(long, value_name = "NAME", global = true)]
    pub namespace: Option<String>,
    /// Where the graph is applied [default: what stead.toml says, else local]
    #[arg(short, long, value_name = "TARGET", global = true)]
    pub target: Option<String>,
    /// Print one JSON object a line on stdout, for programs
    #[arg(long, global = true)]
    pub json: bool,
    /// Do not ask
    #[arg(short, long, global = true)]
    pub yes: bool,
    /// If somebody else holds the stack, wait; take it over if that run shows no life any more
    #[arg(long, global = true)]
    pub wait: bool,
    /// Let values that are known only after apply decide between other values, but never what is declared
    #[arg(long, global = true)]
    pub allow_unknown_branches: bool,
    /// How many operations may be under way at once
    #[arg(long, value_name = "N", default_value_t = 32, global = true)]
    pub parallel: usize,
}

#[derive(Subcommand)]
pub(crate) enum Command {
    /// Start a project here: stead.toml, main.ts, and types for the editor
    Init {
        /// The project's name [default: the folder's]
        name: Option<String>,
    },
    /// Show what `up` would do, and change nothing
    Plan(PlanArguments),
    /// Make everything as the program declares it
    Up(UpArguments),
    /// Delete everything that is recorded; the program is not needed
    Destroy(DestroyArguments),
    /// Look at what is really there, show what differs, and record it
    Refresh(Choice),
    /// Give a recorded resource, or all in a scope, another name; the real thing is kept
    ///
    /// For a name that changed in the program. The old name is remembered: a program that still has it, on another
    /// branch or in another environment, finds the resource too. To move resources to another stack, or to correct a
    /// record without remembering anything, use `stead state mv`.
    Rename(RenameArguments),
    /// Take something that exists already into the stack, and print its TypeScript
    Import(ImportArguments),
    /// Stacks: one program in one environment on one target
    #[command(subcommand)]
    Stack(StackCommand),
    /// What is recorded
    #[command(subcommand)]
    State(StateCommand),
    /// What may be deleted
    #[command(subcommand)]
    Policy(PolicyCommand),
    /// Take the stack from whoever holds it; that run cannot write any more
    Unlock,
    /// Show what the program declares, and what needs what
    Graph,
    /// Evaluate, apply the rules for pins, and write the graph and the pinfile; state is not touched
    Compile(CompileArguments),
    /// What is pinned, in the file beside the entry point
    #[command(subcommand)]
    Pin(PinCommand),
    /// What providers offer: their types, and what an update of one would come to
    #[command(subcommand)]
    Provider(ProviderCommand),
    /// Write the type declarations for the editor again
    Types,
    /// Check the program's types with a TypeScript compiler
    Check,
    /// Serve others until told to end
    Serve(ServeArguments),
    /// What a Kubernetes cluster needs for the admission webhook
    #[command(subcommand)]
    Admission(AdmissionCommand),
    /// Explain an error code
    Explain {
        /// Such as ST0104
        code: String,
    },
}

/// What is looked at before planning.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Refresh {
    /// Everything
    All,
    /// Only what the plan would touch
    Changed,
}

/// Which resources a command may touch.
#[derive(Args, Clone, Default)]
pub(crate) struct Choice {
    /// Touch only the resources that fit: a name or an id, `*` for any text; may be repeated
    #[arg(long, value_name = "PATTERN")]
    pub target_resource: Vec<String>,
    /// Leave the resources that fit alone; may be repeated
    #[arg(long, value_name = "PATTERN")]
    pub exclude: Vec<String>,
    /// Touch also what the targets need
    #[arg(long, requires = "target_resource")]
    pub with_dependencies: bool,
    /// Touch also what needs the targets
    #[arg(long, requires = "target_resource")]
    pub with_dependents: bool,
}

impl Choice {
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

/// What becomes of removed and new resources that look like one.
#[derive(Args, Clone, Default)]
pub(crate) struct MoveFlags {
    /// Take what is certainly a move for one
    #[arg(long, conflicts_with = "no_moves")]
    pub accept_moves: bool,
    /// What looks like a move is none: delete the old one, create the new one
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

/// What a run looks at, and what it is about.
#[derive(Args)]
pub(crate) struct RunScope {
    /// First look at what is really there
    #[arg(long, value_name = "WHAT", num_args = 0..=1, require_equals = true, default_missing_value = "all")]
    pub refresh: Option<Refresh>,
    #[command(flatten)]
    pub choice: Choice,
    #[command(flatten)]
    pub moves: MoveFlags,
    #[command(flatten)]
    pub marks: MarkFlags,
    /// Take pins that nothing has any more out of the pinfile
    #[arg(long)]
    pub update_pins: bool,
    /// Show also what stays as it is
    #[arg(long)]
    pub unchanged: bool,
}

impl RunScope {
    pub(crate) fn request(&self, outer: OuterLevels) -> Request {
        let (moves, selection) = (self.moves.moves(), self.choice.selection());
        Request { purpose: Purpose::Up, moves, selection, outer }
    }
}

#[derive(Args)]
pub(crate) struct UpArguments {
    /// A plan that `plan --out` saved: exactly that is done, or nothing
    #[arg(conflicts_with_all = ["refresh", "target_resource", "exclude", "accept_moves", "no_moves", "deletion_policy", "prevent_delete", "update_pins"])]
    pub plan: Option<PathBuf>,
    #[command(flatten)]
    pub scope: RunScope,
    /// After a failure start nothing new
    #[arg(long)]
    pub fail_fast: bool,
}

#[derive(Args)]
pub(crate) struct DestroyArguments {
    #[command(flatten)]
    pub choice: Choice,
    #[command(flatten)]
    pub marks: MarkFlags,
    /// After a failure start nothing new
    #[arg(long)]
    pub fail_fast: bool,
}

#[derive(Args)]
pub(crate) struct RenameArguments {
    /// The recorded name, the id if only one has it, or the beginning that several names share
    pub old: String,
    /// The new name, or only the new id
    pub new: String,
    /// Show what would be renamed, and change nothing
    #[arg(long)]
    pub dry_run: bool,
}

#[derive(Args)]
pub(crate) struct ImportArguments {
    /// Such as local.File
    #[arg(value_name = "TYPE")]
    pub resource: String,
    /// The name that it gets, or only the id in the main module
    pub name: String,
    /// The provider's id of what exists
    pub id: String,
}

#[derive(Args)]
pub(crate) struct PlanArguments {
    #[command(flatten)]
    pub scope: RunScope,
    /// Show what looks like a move as `stead rename` commands, near misses too
    #[arg(long)]
    pub suggest_renames: bool,
    /// Save the plan for `up FILE`
    #[arg(long, value_name = "FILE", conflicts_with = "refresh")]
    pub out: Option<PathBuf>,
    /// Exit 0 for nothing to do, 10 for changes, 11 for destructive ones, 12 for drift only
    #[arg(long)]
    pub exit_code: bool,
}

#[derive(Args)]
pub(crate) struct CompileArguments {
    /// Where the graph is written [default: .stead/compiled/ENV/TARGET.json]
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Take pins that nothing has any more out of the pinfile
    #[arg(long)]
    pub update_pins: bool,
}

#[derive(Subcommand)]
pub(crate) enum PinCommand {
    /// The pins of every target and environment
    Ls,
    /// Say that what was pinned under one path is under another now
    Mv {
        /// The path in the pinfile
        from: String,
        /// The path that `plan` prints with `[+pin]`
        to: String,
    },
    /// Take a pin away, so that what it pinned may be deleted
    Rm {
        /// Its path in the pinfile
        path: String,
    },
    /// Write the pins that state remembers into the pinfile
    Restore,
}

#[derive(Subcommand)]
pub(crate) enum StackCommand {
    /// The stacks of this project
    Ls,
    /// What ran, newest last
    History,
    /// Make an empty stack
    New,
    /// Remove a stack that holds nothing any more; its history stays
    Rm(RemoveArguments),
    /// Give the stack to another environment; nothing real changes
    Rename {
        /// The new environment, or `environment:namespace`
        to: String,
    },
    /// Compare two stacks, runs or exported files; nothing is changed
    Diff(DiffArguments),
    /// The stack's state as JSON, on stdout
    Export,
    /// Go back to what was there after an earlier run, as a plan like any other
    Rollback {
        /// Such as run-7; `stack history` lists them
        run: String,
    },
    /// Record what an exported file says; nothing real is touched
    Import {
        /// What `stack export` wrote
        file: PathBuf,
    },
}

#[derive(Subcommand)]
pub(crate) enum StateCommand {
    /// The names of all recorded resources
    Ls,
    /// One resource, in full
    Show {
        /// Its name, or its id if only one has it
        name: String,
    },
    /// Forget a resource; the real thing stays
    Rm {
        /// Its name, or its id if only one has it
        name: String,
    },
    /// Keep a resource from being deleted, replaced or forgotten, whatever the program says
    Protect {
        /// Its name, or its id if only one has it
        name: String,
    },
    /// Take away what `protect` set; marks of the program stay
    Unprotect {
        /// Its name, or its id if only one has it
        name: String,
    },
    /// What still exists and is not managed any more, with the commands that take it back
    Retained,
    /// Move resources to another stack, or correct one's name in the state; nothing real changes
    ///
    /// The name that it had is not remembered: only a program that declares the new one finds it. For a name that
    /// changed in the program, and for whole scopes, use `stead rename`.
    Mv(MoveArguments),
    /// Check every stored byte and every integrity rule
    Verify {
        /// An exported state to check instead
        file: Option<PathBuf>,
    },
    /// Propose what to do about state that is damaged or breaks a rule; changes nothing without --take
    Repair {
        /// An exported state to repair instead; the result goes beside it
        file: Option<PathBuf>,
        /// Make this proposal the state; what was there before is kept
        #[arg(long, value_name = "N")]
        take: Option<usize>,
    },
    /// Say what became of an operation that is in doubt
    Resolve(ResolveArguments),
}

#[derive(Args)]
pub(crate) struct RemoveArguments {
    /// Lose track of what the stack still holds; the real things stay, and are listed
    #[arg(long)]
    pub forget_resources: bool,
    /// Delete the history and all old snapshots too
    #[arg(long)]
    pub purge: bool,
}

#[derive(Args)]
pub(crate) struct DiffArguments {
    /// `environment[:namespace][@target]`, a run such as `#12` or `prod#12`, or an exported file
    #[arg(value_name = "A")]
    pub before: String,
    /// The same
    #[arg(value_name = "B")]
    pub after: String,
    /// Exit 10 if they differ
    #[arg(long)]
    pub exit_code: bool,
}

#[derive(Args)]
pub(crate) struct MoveArguments {
    /// A resource and its new name or id; with --to-stack, the resources to move
    #[arg(required = true, value_name = "NAME")]
    pub names: Vec<String>,
    /// The stack to move them to: `environment[:namespace][@target]`
    #[arg(long, value_name = "STACK")]
    pub to_stack: Option<String>,
    /// Take along everything that they depend on
    #[arg(long, requires = "to_stack")]
    pub with_dependencies: bool,
}

#[derive(Args)]
pub(crate) struct ResolveArguments {
    /// The resource's name, or its id if only one has it
    pub name: String,
    #[command(flatten)]
    pub answer: Answer,
}

#[derive(Args)]
#[group(required = true, multiple = false)]
pub(crate) struct Answer {
    /// It was created, and this is its physical id
    #[arg(long, value_name = "ID")]
    pub created: Option<String>,
    /// The update or deletion happened
    #[arg(long)]
    pub done: bool,
    /// It did not happen
    #[arg(long, alias = "not-done")]
    pub not_created: bool,
    /// Send the same request again
    #[arg(long)]
    pub retry: bool,
}

#[derive(Subcommand)]
pub(crate) enum PolicyCommand {
    /// Which setting of prevent-delete and deletion-policy decides about a resource, and which others there are
    Explain {
        /// Its name, or its id if only one has it
        name: String,
        #[command(flatten)]
        marks: MarkFlags,
    },
}

#[derive(Subcommand)]
pub(crate) enum ProviderCommand {
    /// The types that programs can use
    Types {
        /// Only those with this in their name; `*` stands for anything
        pattern: Option<String>,
    },
    /// One type: each property with what it takes and what a change of it means
    Schema {
        /// Such as AWS::S3::Bucket or aws.s3.Bucket
        name: String,
    },
    /// The update that turns a live resource into a wanted one, with a reason for each operation
    Patch(PatchArguments),
}

#[derive(Args)]
pub(crate) struct PatchArguments {
    #[command(flatten)]
    pub of: PatchType,
    /// What was last asked for, as JSON [default: what is wanted]
    #[arg(long, value_name = "FILE")]
    pub last: Option<PathBuf>,
    /// What the service shows now, as JSON
    #[arg(long, value_name = "FILE")]
    pub live: PathBuf,
    /// What is wanted, as JSON
    #[arg(long, value_name = "FILE")]
    pub want: PathBuf,
}

#[derive(Args)]
#[group(required = true, multiple = false)]
pub(crate) struct PatchType {
    /// A published type, such as AWS::S3::Bucket
    #[arg(long = "type", value_name = "TYPE")]
    pub name: Option<String>,
    /// A resource type's schema of your own, as JSON
    #[arg(long, value_name = "FILE")]
    pub schema: Option<PathBuf>,
}
