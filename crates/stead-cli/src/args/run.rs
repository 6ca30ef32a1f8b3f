//! Arguments of the commands that plan and apply: `plan`, `up`, `destroy`, `refresh`, `rename`, `import`, `compile`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use stead::guard::{Orphans, OuterLevels};
use stead::plan::{Follow, Glob, MovePolicy, Purpose, Reach, Request, Selection};

use super::MarkFlags;

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

/// Returns how pins of resources that the program does not declare are treated.
pub(crate) fn orphans(update_pins: bool) -> Orphans {
    if update_pins { Orphans::Release } else { Orphans::Refuse }
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
    #[command(flatten)]
    pub owners: OwnerFlags,
    /// Release the pins of resources that the program no longer declares, so that they may be deleted
    #[arg(long)]
    pub update_pins: bool,
    /// Leave resources alone that a pin holds, list them, and apply the rest
    #[arg(long, conflicts_with = "update_pins")]
    pub keep_pinned: bool,
    /// Replace this resource even without a change: a name, or an id if it is unique; may be repeated
    #[arg(long, value_name = "NAME")]
    pub replace: Vec<String>,
    /// Also show unchanged resources
    #[arg(long)]
    pub unchanged: bool,
}

impl RunScope {
    pub(crate) fn orphans(&self) -> Orphans {
        if self.keep_pinned { Orphans::Keep } else { orphans(self.update_pins) }
    }

    pub(crate) fn request(&self, outer: OuterLevels) -> Request {
        let (moves, selection) = (self.moves.moves(), self.select.selection());
        Request {
            purpose: Purpose::Up,
            moves,
            selection,
            replace: self.replace.clone(),
            outer,
            ..Request::default()
        }
    }
}

/// Flag for real resources that another stack owns.
#[derive(Args, Clone, Default)]
pub(crate) struct OwnerFlags {
    /// Take a resource from the stack that owns it: a name or an id, `*` matches any text; may be repeated
    #[arg(long, value_name = "NAME")]
    pub take_over: Vec<String>,
}

impl OwnerFlags {
    pub(crate) fn globs(&self) -> Vec<Glob> {
        self.take_over.iter().map(Glob::new).collect()
    }
}

#[derive(Args)]
pub(crate) struct UpArguments {
    /// Plan saved by `plan --out`: apply exactly this plan, or nothing
    #[arg(conflicts_with_all = ["refresh", "target_resource", "exclude", "accept_moves", "no_moves", "deletion_policy", "prevent_delete", "update_pins", "keep_pinned", "replace"])]
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
    pub owners: OwnerFlags,
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
    #[arg(value_name = "TYPE", required_unless_present_any = ["list", "all"])]
    pub ty: Option<String>,
    /// New name of the resource, or only its id in the main module
    #[arg(required_unless_present_any = ["list", "all"])]
    pub name: Option<String>,
    /// Physical id of the existing resource
    #[arg(required_unless_present_any = ["list", "all"])]
    pub id: Option<String>,
    /// Further types, with `--all`
    #[arg(value_name = "TYPE", requires = "all")]
    pub more: Vec<String>,
    /// Import everything that exists, of all types or of the given ones, and write the TypeScript for it
    #[arg(long, conflicts_with = "list")]
    pub all: bool,
    /// With `--all`, only resources with this tag: KEY, or KEY=VALUE
    #[arg(long, value_name = "TAG", requires = "all")]
    pub tag: Option<String>,
    /// With `--all`, the file for the declarations [default: imported.ts beside the entry point]
    #[arg(long, value_name = "FILE", requires = "all")]
    pub out: Option<String>,
    /// With `--all`, show what would be imported, and change nothing
    #[arg(long, requires = "all")]
    pub dry_run: bool,
    /// List the ids of all resources of TYPE that exist, such as AWS::S3::Bucket, and import nothing
    #[arg(long, value_name = "TYPE", conflicts_with_all = ["ty", "name", "id"])]
    pub list: Option<String>,
    /// With `--list`, a property of the parent, such as ClusterName=main for AWS::EKS::Nodegroup; repeat it for several
    #[arg(long, value_name = "KEY=VALUE", requires = "list")]
    pub parent: Vec<String>,
    /// With `--list` and `--all`, only resources that no stack has marked as its own
    #[arg(long)]
    pub unowned: bool,
    /// Provider of the program that serves the resource, such as `audit` [default: the one of the target]
    #[arg(long, value_name = "NAME", conflicts_with = "all")]
    pub provider: Option<String>,
    #[command(flatten)]
    pub owners: OwnerFlags,
}

#[derive(Args)]
pub(crate) struct PlanArguments {
    #[command(flatten)]
    pub scope: RunScope,
    /// Print the least IAM policies for this plan: one for making it, one for applying it
    #[arg(long, conflicts_with = "destroy")]
    pub permissions: bool,
    /// Show what `destroy` would delete, and change nothing
    #[arg(long, conflicts_with_all = ["refresh", "accept_moves", "no_moves", "update_pins", "keep_pinned", "replace", "unchanged", "suggest_renames", "out"])]
    pub destroy: bool,
    /// With `--destroy`, go by the recorded protection alone, without asking the program
    #[arg(long, requires = "destroy")]
    pub without_program: bool,
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
    /// Release the pins of resources that the program no longer declares, so that they may be deleted
    #[arg(long)]
    pub update_pins: bool,
}
