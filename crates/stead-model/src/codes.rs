//! The stable error codes. Each has a page in `docs/errors/`; `cargo xtask tidy` checks that.

use std::fmt;

use serde::{Serialize, Serializer};

/// A stable code such as `ST0104`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Code(&'static str);

impl Code {
    pub fn as_str(self) -> &'static str {
        self.0
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

impl Serialize for Code {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.0)
    }
}

macro_rules! codes {
    ($($(#[$doc:meta])* $name:ident = $code:literal;)*) => {
        impl Code {
            $($(#[$doc])* pub const $name: Code = Code($code);)*
        }

        /// All codes, in order.
        pub const CODES: &[Code] = &[$(Code::$name),*];
    };
}

codes! {
    /// The program is not valid TypeScript.
    SYNTAX = "ST0101";
    /// An import leads nowhere.
    MODULE_NOT_FOUND = "ST0102";
    /// The program threw an exception.
    PROGRAM_THREW = "ST0103";
    /// The program branches on a value that is known only after apply.
    UNKNOWN_BRANCH = "ST0104";
    /// Two resources have the same name.
    DUPLICATE_NAME = "ST0105";
    /// A property does not fit its type's schema.
    BAD_PROPERTY = "ST0106";
    /// An import of a module that Stead cannot run, such as a Node.js built-in.
    UNSUPPORTED_IMPORT = "ST0107";
    /// The program exceeded the limit of run time or memory.
    EVALUATION_LIMIT = "ST0108";
    /// A resource option that is unknown or has the wrong type.
    BAD_OPTION = "ST0109";
    /// An operation on a value known only after apply that cannot be deferred.
    UNKNOWN_OPERATION = "ST0110";
    /// A property value is not plain data.
    NOT_DATA = "ST0111";
    /// The program reads a property that the resource's type does not have.
    NO_SUCH_PROPERTY = "ST0112";
    /// A look-up failed: the resource does not exist or cannot be read.
    LOOK_UP = "ST0116";
    /// The program branches on a secret or reads a part of it.
    SECRET_EXPOSED = "ST0117";
    /// The program exports an ephemeral value.
    EPHEMERAL_OUTPUT = "ST0118";

    /// State breaks an integrity rule.
    INTEGRITY = "ST0201";
    /// A stored object is damaged.
    STATE_DAMAGED = "ST0202";
    /// State was written by a newer version of Stead.
    STATE_NEWER = "ST0203";
    /// Another run holds the stack.
    STACK_HELD = "ST0204";
    /// Another run took the stack over while this run was under way.
    FENCED = "ST0205";
    /// It is unknown whether an operation happened.
    IN_DOUBT = "ST0206";
    /// The stack or resource does not exist.
    NOT_FOUND = "ST0207";
    /// State changed between plan and apply.
    STATE_CHANGED = "ST0208";
    /// The store cannot be read or written.
    STORE = "ST0209";
    /// A provider's answer could not be recorded in the journal.
    UNRECORDED = "ST0210";
    /// State needs no repair, or none is possible.
    NOTHING_TO_REPAIR = "ST0211";
    /// A record would break an integrity rule and was not written.
    RECORD_REFUSED = "ST0212";
    /// The stack was renamed.
    STACK_RENAMED = "ST0214";
    /// A stack that is to be removed still has resources.
    STACK_NOT_EMPTY = "ST0215";
    /// A resource that is to be moved depends on one that stays, or the other way round.
    SPLIT_DEPENDENCY = "ST0216";
    /// A limit of the stack is exceeded.
    LIMIT = "ST0217";
    /// The name of a stack or a resource is taken.
    NAME_TAKEN = "ST0218";
    /// A transfer between stacks is not finished.
    TRANSFER_UNFINISHED = "ST0219";
    /// The file to import is an export of another stack.
    OTHER_STACK = "ST0220";
    /// The file to import is older than the stack.
    EXPORT_OLDER = "ST0221";
    /// A provider leads to another account, region or endpoint than the one where the resources of the stack are.
    OTHER_PLACE = "ST0222";

    /// Resources depend on each other in a cycle.
    CYCLE = "ST0301";
    /// No provider serves the resource's type.
    NO_PROVIDER = "ST0302";
    /// A removed and a new resource look like one resource that moved.
    LOOKS_MOVED = "ST0303";
    /// No resource is selected.
    NOTHING_SELECTED = "ST0304";
    /// A selected resource depends on an unselected one, or the other way round.
    NOT_SELECTED = "ST0305";
    /// A resource to import does not exist, or would have to be replaced.
    CANNOT_IMPORT = "ST0306";
    /// A resource cannot have the requested name.
    CANNOT_RENAME = "ST0307";
    /// Two resources of one stack are the same real resource.
    SAME_RESOURCE = "ST0320";

    /// A guard refused a deletion or a replacement.
    GUARDED = "ST0401";
    /// A mark has an invalid key or value.
    BAD_MARK = "ST0402";
    /// Two settings of one mark at one level disagree.
    MARKS_DISAGREE = "ST0403";
    /// A mark applies to no resource.
    MARK_WITHOUT_EFFECT = "ST0404";
    /// The pinfile cannot be parsed.
    BAD_PINFILE = "ST0410";
    /// The pinfile contains merge conflicts.
    PINFILE_CONFLICT = "ST0411";
    /// A pinned resource was moved or removed, and the pinfile still lists it.
    PIN_ORPHANED = "ST0412";
    /// A resource was unpinned and changed in the same run.
    UNPINNED_AND_CHANGED = "ST0413";
    /// A pinned resource would be deleted or replaced.
    PINNED = "ST0414";
    /// The pinfile changed during the run.
    PINFILE_CHANGED = "ST0415";
    /// Pinned resources have no stable paths to tell them apart.
    PIN_AMBIGUOUS = "ST0416";
    /// The pin does not exist.
    NO_SUCH_PIN = "ST0417";
    /// A resource that was pinned would be deleted or replaced, and the pinfile is missing or has no section for the stack.
    PINFILE_LOST = "ST0418";
    /// The pinfile has a frozen value for a resource that does not exist yet.
    FROZEN_BEFORE_CREATED = "ST0419";
    /// A `move` of the program cannot be carried out.
    BAD_MOVE = "ST0420";
    /// Another stack owns the real resource.
    OWNED_ELSEWHERE = "ST0430";
    /// The marks that name the owners of real resources cannot be read or written.
    OWNERS_UNAVAILABLE = "ST0431";

    /// A provider failed a step.
    STEP_FAILED = "ST0501";
    /// A step was skipped because of another step.
    STEP_SKIPPED = "ST0502";
    /// A provider did not answer in time.
    TIMED_OUT = "ST0503";
    /// A provider could not read a resource or compute its changes.
    CANNOT_READ = "ST0510";
    /// A resource has no logs or metrics that stead can read.
    NO_TELEMETRY = "ST0511";

    /// The folder is not in a project.
    NO_PROJECT = "ST0601";
    /// `stead.toml` is invalid.
    BAD_CONFIG = "ST0602";
    /// Confirmation is needed, but stdin is not a terminal.
    NOT_CONFIRMED = "ST0603";
    /// A new project would overwrite existing files.
    WOULD_OVERWRITE = "ST0604";
    /// The command line is invalid.
    USAGE = "ST0605";
    /// No TypeScript compiler was found.
    NO_COMPILER = "ST0606";
    /// The TypeScript compiler reported errors.
    TYPE_ERRORS = "ST0607";
    /// A saved plan does not fit the state or the program any more.
    PLAN_STALE = "ST0608";
    /// The project has no environment of this name.
    NO_SUCH_ENVIRONMENT = "ST0611";
    /// A config value is missing, is not declared, or does not fit its declaration.
    CONFIG_VALUE = "ST0620";

    /// A secret would be stored, and the stack has no secrets manager.
    NO_SECRETS_MANAGER = "ST0701";
    /// Data has the key that marks secrets and assets.
    RESERVED_KEY = "ST0702";
    /// Secrets cannot be opened: the key is missing, wrong or out of reach.
    SECRETS_LOCKED = "ST0703";
    /// A secret would become the physical id of a resource, which is not encrypted.
    SECRET_IDENTITY = "ST0704";

    /// The admission webhook refused a deletion because a mark protects the object.
    ADMISSION_REFUSED = "ST0801";
    /// The admission webhook refused a deletion because it could not read the marks.
    ADMISSION_BLIND = "ST0802";
    /// The admission webhook received an invalid review.
    BAD_REVIEW = "ST0803";
    /// A TLS certificate or its key cannot be used.
    BAD_CERTIFICATE = "ST0804";
    /// The server cannot listen on an address.
    CANNOT_LISTEN = "ST0805";
    /// No API server is reachable, or no credentials for it were found.
    NO_CLUSTER = "ST0806";

    /// An expectation of a test does not hold.
    EXPECTATION = "ST0901";
    /// No test was found.
    NO_TESTS = "ST0902";
    /// A test asks for something that a test cannot do.
    TEST_REQUEST = "ST0903";
    /// An earlier version of the program cannot be read or applied.
    NO_SUCH_VERSION = "ST0904";
    /// The snapshots of a test file cannot be read or written.
    BAD_SNAPSHOT = "ST0905";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_unique_and_in_order() {
        assert!(CODES.windows(2).all(|pair| pair[0].as_str() < pair[1].as_str()));
    }
}
