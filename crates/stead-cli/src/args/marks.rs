//! Flags that set marks for one run.

use clap::{Args, ValueEnum};
use stead::{FlagMarks, Prevention};
use stead_model::DeletionPolicy;

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Policy {
    Delete,
    Retain,
}

/// Marks set on the command line, which is the weakest level.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct MarkFlags {
    /// Default for resources removed from the program: delete or retain [default: delete]
    #[arg(long, value_name = "POLICY", ignore_case = true)]
    pub deletion_policy: Option<Policy>,
    /// Refuse to delete, replace or stop managing any resource in this run, whatever the marks say
    #[arg(long)]
    pub prevent_delete: bool,
}

impl MarkFlags {
    pub(crate) fn marks(&self) -> FlagMarks {
        FlagMarks {
            deletion_policy: self.deletion_policy.map(|policy| match policy {
                Policy::Delete => DeletionPolicy::Delete,
                Policy::Retain => DeletionPolicy::Retain,
            }),
            prevent_delete: if self.prevent_delete { Prevention::Added } else { Prevention::NotAdded },
        }
    }
}
