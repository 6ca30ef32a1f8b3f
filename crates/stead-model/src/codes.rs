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

        /// Every code there is, in order.
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
    /// The program decides something on a value that exists only after apply.
    UNKNOWN_BRANCH = "ST0104";
    /// Two resources have one name.
    DUPLICATE_NAME = "ST0105";
    /// A property does not fit its type's schema.
    BAD_PROPERTY = "ST0106";
    /// An import of something that stead does not run.
    UNSUPPORTED_IMPORT = "ST0107";
    /// The program ran too long or took too much memory.
    EVALUATION_LIMIT = "ST0108";
    /// A resource option that is unknown or has the wrong type.
    BAD_OPTION = "ST0109";
    /// An operation on a value that exists only after apply, and that cannot be put off.
    UNKNOWN_OPERATION = "ST0110";
    /// A property holds something that is not plain data.
    NOT_DATA = "ST0111";
    /// The program reads a property that the resource's type does not have.
    NO_SUCH_PROPERTY = "ST0112";
    /// Something that the program looks up is not there, or cannot be read.
    LOOK_UP = "ST0116";
    /// The program decides on a secret, or takes it apart.
    SECRET_SEEN = "ST0117";

    /// State breaks an integrity rule.
    INTEGRITY = "ST0201";
    /// A stored object is damaged.
    STATE_DAMAGED = "ST0202";
    /// State was written by a newer stead.
    STATE_NEWER = "ST0203";
    /// Someone else holds the stack.
    STACK_HELD = "ST0204";
    /// Someone else took the stack over while this run was under way.
    FENCED = "ST0205";
    /// An operation may or may not have happened.
    IN_DOUBT = "ST0206";
    /// There is no such stack or resource.
    NOT_FOUND = "ST0207";
    /// State changed between plan and apply.
    STATE_MOVED = "ST0208";
    /// The store cannot be read or written.
    STORE = "ST0209";
    /// A provider's answer could not be recorded in the journal.
    UNRECORDED = "ST0210";
    /// There is nothing that `state repair` could do.
    NOTHING_TO_REPAIR = "ST0211";
    /// A record would break an integrity rule, and was not written.
    RECORD_REFUSED = "ST0212";
    /// The stack was renamed.
    STACK_RENAMED = "ST0214";
    /// A stack that is to go still holds something.
    STACK_NOT_EMPTY = "ST0215";
    /// What is to be moved is bound to what stays.
    BOUND_TOGETHER = "ST0216";
    /// More than a stack may hold.
    LIMIT = "ST0217";
    /// The name of a stack or a resource is taken.
    NAME_TAKEN = "ST0218";
    /// A move between stacks is not finished.
    MOVE_UNFINISHED = "ST0219";

    /// Resources depend on each other in a circle.
    CYCLE = "ST0301";
    /// No provider serves a type.
    NO_PROVIDER = "ST0302";
    /// A removed and a new resource look like one that moved.
    LOOKS_MOVED = "ST0303";
    /// No resource is selected.
    NOTHING_SELECTED = "ST0304";
    /// A selected resource needs one that is not, or the other way round.
    NOT_SELECTED = "ST0305";
    /// What is to be imported is not there, or cannot be kept as it is.
    CANNOT_IMPORT = "ST0306";
    /// A name cannot be given to a resource.
    CANNOT_RENAME = "ST0307";

    /// A guard refused a deletion or a replacement.
    GUARDED = "ST0401";
    /// A mark that cannot be understood.
    BAD_MARK = "ST0402";
    /// Two settings of one mark at one level disagree.
    MARKS_DISAGREE = "ST0403";
    /// A mark that is about no resource.
    MARK_WITHOUT_EFFECT = "ST0404";
    /// The pinfile cannot be understood.
    BAD_PINFILE = "ST0410";
    /// The pinfile has merge conflicts in it.
    PINFILE_CONFLICT = "ST0411";
    /// Something pinned was moved or deleted, and the pinfile does not say so.
    PIN_ORPHANED = "ST0412";
    /// Something was unpinned and changed in one run.
    UNPINNED_AND_CHANGED = "ST0413";
    /// Something pinned would be deleted or replaced.
    PINNED = "ST0414";
    /// The pinfile changed while a command worked on it.
    PINFILE_CHANGED = "ST0415";
    /// Pinned resources cannot be told apart for good.
    PIN_AMBIGUOUS = "ST0416";
    /// There is no such pin.
    NO_SUCH_PIN = "ST0417";
    /// Something that was pinned would be deleted or replaced, and the pinfile is gone.
    PINFILE_LOST = "ST0418";
    /// The pinfile decides what a resource is called that is not there yet.
    FROZEN_BEFORE_MADE = "ST0419";

    /// A provider refused a step.
    STEP_FAILED = "ST0501";
    /// A step did not run because of another one.
    STEP_SKIPPED = "ST0502";
    /// A provider did not answer in time.
    TIMED_OUT = "ST0503";
    /// A provider could not say what is really there, or what would change.
    CANNOT_LOOK = "ST0510";

    /// There is no project here.
    NO_PROJECT = "ST0601";
    /// `stead.toml` cannot be understood.
    BAD_CONFIG = "ST0602";
    /// Nobody is there to say yes.
    NOT_CONFIRMED = "ST0603";
    /// `stead init` would overwrite something.
    WOULD_OVERWRITE = "ST0604";
    /// The command line cannot be understood.
    USAGE = "ST0605";
    /// There is no TypeScript compiler to check with.
    NO_COMPILER = "ST0606";
    /// The TypeScript compiler found mistakes.
    TYPES_DO_NOT_FIT = "ST0607";
    /// A saved plan no longer fits.
    PLAN_STALE = "ST0608";

    /// A secret would be stored, and nothing here can keep one.
    NO_SECRETS_MANAGER = "ST0701";

    /// The admission webhook refused a deletion, because a mark protects what would go.
    ADMISSION_REFUSED = "ST0801";
    /// The admission webhook refused a deletion, because it could not see what it needs to judge it.
    ADMISSION_BLIND = "ST0802";
    /// The admission webhook got something that is no review.
    BAD_REVIEW = "ST0803";
    /// A TLS certificate or its key cannot be used.
    BAD_CERTIFICATE = "ST0804";
    /// An address cannot be listened on.
    CANNOT_LISTEN = "ST0805";
    /// There is no API server to ask, or no way to prove who we are to it.
    NO_CLUSTER = "ST0806";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_unique_and_in_order() {
        assert!(CODES.windows(2).all(|pair| pair[0].as_str() < pair[1].as_str()));
    }
}
