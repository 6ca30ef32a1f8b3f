//! Stead as a library: everything that the command line does, without a terminal.
//!
//! ```text
//! Project ──workspace──▶ Workspace ──preview──▶ Proposal ──permit──▶ Permitted ──apply──▶ Report
//! ```
//!
//! A [`Project`] is a folder with a `stead.toml`. Its [`Workspace`](ops::Workspace) is the stack of one environment on one target, and
//! a [`Program`] declares the resources that shall exist there. The operations are in [`ops`]: a preview can be shown, is permitted
//! by the guards as a whole, and is applied with a stream of events and a way to stop. `docs/guide/embedding.md` has an example.
//!
//! **Invariants:** the library does not print, does not read the environment of the process, and knows no terminal. The futures are
//! not `Send`, so that an operation runs on one thread.

mod environments;
mod existing;
mod export;
mod find;
mod permissions;
mod policy;
mod program;
mod project;
mod prune;
mod renames;
mod saved;
mod stacks;
pub mod testing;

#[cfg(test)]
mod decoders;

pub use environments::{KnownBy, KnownEnvironment, KnownStack, check_environment, check_known, environments};
pub use existing::{Existing, ExistingRequest, Reference, Survey as ExistingSurvey, existing};
pub use export::{check_export, export, read_export};
pub use find::{FoundAs, FoundResource, Search, search};
pub use permissions::permissions;
pub use policy::{MarkExplanation, MarksInForce, explain_marks};
pub use program::{Notice, Program, ProgramSettings, Transcript};
pub use project::{
    ConfigArgument, ConfigFile, ConfigInputs, FILE, FlagMarks, ImportedConfig, KeyStatus, ManagerChange,
    PASSPHRASE, Prevention, Project, ProjectKeys, PulumiConfig, RingChange, TARGETS, Written, check,
    local_catalog, read_environment,
};
pub use prune::{Pruning, prune_pins};
pub use renames::{OldNames, old_names_elsewhere};
pub use saved::SavedPlan;
pub use stacks::{StackEntry, check_history, history, stacks};
pub use stead_aws::{MANAGED_POLICY, Permissions, SplitPolicy};

pub use stead_engine::ops;
pub use stead_engine::{
    Doubtful, Drift, LackingSecret, OnFailure, OwnedThing, PinfileWrite, Resolution, SettledPins, Standing,
    StatedOutputs, Stop,
};
pub use stead_eval::{ConsoleLevel, ConsoleLine, DECLARATIONS, UnknownBranches};
pub use stead_journal::{HistoryCheck, JournalError, Loaded, Survey, UnrecordedAnswer, load_run, survey};
pub use stead_provider::ReadCount;

/// Types of config: settings with their origins, declarations, and the values that hold.
pub mod config {
    pub use stead_eval::config::{
        BLINDED, Config, Declaration, Explained, Key, Origin, PREFIX, Resolution, Schema, Standing,
        ValueType, Variable,
    };
}

/// Types of secrets: rings of data keys, their managers, and the person to ask for passphrases.
pub mod secrets {
    pub use stead_secrets::{
        Ask, KeyManager, ManagerError, ManagerErrorClass, Needles, Question, Redactor, Strength,
        UnlockedRing, WrapContext, strength,
    };
    #[cfg(feature = "age")]
    pub use stead_secrets::{NewIdentity, new_identity};
}

/// Types of plans.
pub mod plan {
    pub use stead_plan::{
        Action, Ambiguity, Follow, Glob, MovePolicy, MovedPlace, Plan, Purpose, Reach, Request, Selection,
        Step, Suggestion, Why,
    };
}

/// Types of the guards: marks, levels and pins.
pub mod guard {
    pub use stead_guard::pins::{
        EntryStatus, Orphans, Override, PinEntry, Pinfile, PinfileChange, PrunedEntry, PrunedPart, Section,
        physical_path, program_value, stateful_types,
    };
    pub use stead_guard::{OuterLevels, ResolvedMark, Row, SettingEffect};
}
