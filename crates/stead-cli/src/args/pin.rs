//! Arguments of `stead pin`.

use clap::Subcommand;

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
    /// Release a pin, so that its resource may be deleted
    Rm {
        /// Path in the pinfile
        path: String,
    },
    /// Write the pins recorded in state into the pinfile
    Restore,
    /// Remove the releases and moves that every environment has applied
    Prune,
}
