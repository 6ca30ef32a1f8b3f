//! Text before and after the code of a file, which brings the functions of the runtime into its scope.
//!
//! **Invariant:** the text before the code is one line, so that source maps need only skip that line.

use super::Form;
use super::names::Globals;
use crate::UnknownBranches;

/// Function that defines the global names that few programs use.
const DEFINE_NAMES: &str = "__stead_define_names";

/// Functions of `stead:runtime`, with the names that generated code uses.
const RUNTIME: &[(&str, &str)] = &[
    ("known", "__stead_known"),
    ("add", "__stead_add"),
    ("text", "__stead_text"),
    ("make", "__stead_make"),
    ("reference", "__stead_reference"),
    ("operateOn", "__stead_operate_on"),
    ("minus", "__stead_minus"),
    ("times", "__stead_times"),
    ("over", "__stead_over"),
    ("modulo", "__stead_modulo"),
    ("power", "__stead_power"),
    ("shl", "__stead_shl"),
    ("shr", "__stead_shr"),
    ("ushr", "__stead_ushr"),
    ("and", "__stead_and"),
    ("or", "__stead_or"),
    ("xor", "__stead_xor"),
    ("negative", "__stead_negative"),
    ("positive", "__stead_positive"),
    ("flip", "__stead_flip"),
    ("thrown", "__stead_thrown"),
    ("defaulted", "__stead_defaulted"),
    ("first", "__stead_first"),
    ("instance", "__stead_instance"),
    ("capture", "__stead_capture"),
    ("captureLater", "__stead_capture_later"),
    ("members", "__stead_members"),
    ("doneOf", "__stead_done_of"),
    ("step", "__stead_step"),
    ("iterable", "__stead_iterable"),
    ("converter", "__stead_converter"),
    ("isGlobal", "__stead_is_global"),
    ("keyOf", "__stead_key"),
    ("slot", "__stead_slot"),
    ("defineNames", DEFINE_NAMES),
    ("spread", "__stead_spread"),
    ("own", "__stead_own"),
    ("current", "__stead_current"),
    ("resume", "__stead_resume"),
];

/// Functions of `stead:branches`, for programs with branches on unknown values allowed.
const BRANCHES: &[(&str, &str)] = &[
    ("choose", "__stead_choose"),
    ("both", "__stead_both"),
    ("either", "__stead_either"),
    ("orDefault", "__stead_default"),
    ("not", "__stead_not"),
    ("compare", "__stead_compare"),
];

/// Returns the names of the runtime functions that a wrapper takes, separated by spaces: first those of `stead:runtime`,
/// then those of `stead:branches`.
pub(crate) fn wrapper_arguments() -> String {
    let names: Vec<&str> = RUNTIME.iter().chain(BRANCHES).map(|(name, _)| *name).collect();
    names.join(" ")
}

/// Returns the text before and after the code of a file.
///
/// A CommonJS file and a function from text are expressions: a wrapper that takes the functions of the runtime.
pub(super) fn around(form: Form, branches: UnknownBranches, globals: Globals) -> (String, &'static str) {
    let first = match globals {
        Globals::Common => String::new(),
        Globals::Rare => format!("{DEFINE_NAMES}(); "),
    };
    match form {
        Form::Module => (format!("{}{first}\n", imports(branches)), ""),
        Form::CommonJs => {
            let arguments = "exports, require, module, __filename, __dirname";
            (format!("{}{first}return function ({arguments}) {{\n", wrapper()), "\n}; })")
        }
        Form::Function => (format!("{}{first}\n", wrapper()), "\nreturn anonymous; })"),
    }
}

fn imports(branches: UnknownBranches) -> String {
    let names = |list: &[(&str, &str)]| {
        list.iter().map(|(name, local)| format!("{name} as {local}")).collect::<Vec<_>>().join(", ")
    };
    let more = match branches {
        UnknownBranches::Refuse => String::new(),
        UnknownBranches::Allow => format!("import {{ {} }} from \"stead:branches\"; ", names(BRANCHES)),
    };
    format!("{more}import {{ {} }} from \"stead:runtime\"; let __stead_ref, __stead_result; ", names(RUNTIME))
}

fn wrapper() -> String {
    let names: Vec<&str> = RUNTIME.iter().chain(BRANCHES).map(|(_, local)| *local).collect();
    format!("(function ({}) {{ let __stead_ref, __stead_result; ", names.join(", "))
}
