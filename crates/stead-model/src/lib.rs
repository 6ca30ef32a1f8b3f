//! The vocabulary of all other crates: values, names, graphs, records, diagnostics.
//!
//! Pure data. **Invariant:** no module here uses a clock, a file, a process or a thread.

mod codes;
mod computed;
mod crypter;
mod dag;
mod diagnostic;
mod event;
mod expr;
mod functions;
mod graph;
mod hex;
mod hint;
mod ids;
mod javascript;
mod keyring;
mod limits;
mod list;
mod marker_key;
mod marks;
mod name;
mod nearest;
mod path;
mod pattern;
mod physical_identity;
pub mod physical_path;
mod place;
mod pool;
mod provider_place;
mod record;
mod resolve;
mod secret;
mod shown;
mod sorted_map;
mod source;
mod text;
mod typed;
mod value;

pub use codes::{CODES, Code};
pub use computed::Computed;
pub use crypter::{Binding, Ciphertext, Crypter, KeyId, KeyedDigest, NoKey, Unopened};
pub use dag::Dag;
pub use diagnostic::{Diagnostic, Label, Severity};
pub use event::{Event, Operation, Phase, RunResult, StepEnd};
pub use expr::{
    Builtin, Constant, Expr, ExprId, ExprTable, FunctionRef, Input, Inputs, Key, Operand, SecretInput,
    TemplatePart,
};
pub use functions::{Argument, Functions, NoFunctions};
pub use graph::{DependencyCycle, Graph, Node, NodeId, NodeKind, Options, Timeouts};
pub use hex::{from_hex, hex};
pub use hint::{Hint, NextStep, ResolveAnswer};
pub use ids::{
    CopyRef, Digest, Epoch, Generation, NotAToken, OpId, OperationToken, PhysicalId, RunId, Seq, StackId,
    TypeToken, Uid,
};
pub use javascript::ValueKind;
pub use keyring::{Keyring, RingKey, Wrap};
pub use limits::{Extent, Limits, MAX_NESTING};
pub use list::List;
pub use marker_key::{SIGNATURE_KEY, without_reserved};
pub use marks::{Level, MarkSource, Marked, Marks, RecordedMarks, STATE_PROTECT};
pub use name::{
    Environment, Module, Name, NameError, NameParts, Scope, ScopePart, SpelledName, Spelling, check_id,
};
pub use nearest::nearest;
pub use path::{PropertyPath, Segment};
pub use pattern::{PathPattern, PatternError, PatternPart};
pub use physical_identity::PhysicalIdentity;
pub use place::Place;
pub use pool::ValuePool;
pub use provider_place::{ProviderPlace, ProviderPlaces};
pub use record::{DeletionPolicy, Lifecycle, NotBase64, PrivateData, ProviderData, Resource, Ties};
pub use resolve::{
    EvalError, KnownOutputs, MAX_DEFERRED_BYTES, Moment, PropertyError, known, resolve, resolve_at,
    resolve_map,
};
pub use secret::{BLINDED, ChangeAt, Kept, SECRET_SIGNATURE, Secret, Stored, watch_secrets};
pub use sorted_map::SortedMap;
pub use source::SourceRef;
pub use text::Text;
pub use value::{Map, Number, Value};
