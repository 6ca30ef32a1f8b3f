//! Built-ins of the language that can be deferred: pure functions from plain data to plain data.
//!
//! Evaluation and interpreter use the same list. The interpreter rejects every other built-in, also one from a saved plan.

/// Kind of a method with respect to deferral.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MethodKind {
    /// Can be deferred.
    Pure,
    /// Modifies its receiver.
    Changes,
    /// Returns an iterator, which is not data.
    Iterates,
    /// Calls a function of the program.
    CallsBack,
    /// Not a method of the language.
    Other,
}

/// Deferrable methods of strings, numbers, booleans, lists and plain objects.
pub(crate) const METHODS: &str = "anchor at big blink bold charAt charCodeAt codePointAt concat endsWith fixed flat fontcolor fontsize \
    hasOwnProperty includes indexOf isWellFormed italics join lastIndexOf link match \
    normalize padEnd padStart propertyIsEnumerable repeat replace replaceAll search slice small split \
    startsWith strike sub substr substring sup toExponential toFixed \
    toLowerCase toPrecision toReversed toSorted toSpliced toString toUpperCase \
    toWellFormed trim trimEnd trimLeft trimRight trimStart valueOf with";

const CHANGES: &str = "copyWithin fill pop push reverse shift sort splice unshift";
const ITERATES: &str = "entries keys matchAll values";
const CALLS_BACK: &str =
    "every filter find findIndex findLast findLastIndex flatMap forEach map reduce reduceRight some";

/// Global functions that are deferred when an argument is unknown.
pub(crate) const DEFERRABLE_GLOBALS: &str = "Math.abs Math.acos Math.acosh Math.asin Math.asinh Math.atan Math.atan2 Math.atanh Math.cbrt \
    Math.ceil Math.clz32 Math.cos Math.cosh Math.exp Math.expm1 Math.f16round Math.floor Math.fround \
    Math.imul Math.log Math.log10 Math.log1p Math.log2 Math.max Math.min Math.pow Math.round \
    Math.sign Math.sin Math.sinh Math.sqrt Math.tan Math.tanh Math.trunc String.fromCharCode \
    String.fromCodePoint decodeURI decodeURIComponent encodeURI encodeURIComponent escape isFinite isNaN \
    parseFloat parseInt unescape";
/// Global functions that only the prelude defers.
const OTHER_GLOBALS: &str = "Array.isArray Boolean JSON.stringify Number Number.isFinite Number.isInteger Number.isNaN \
    Number.isSafeInteger Object.entries Object.keys Object.values String";

const OPERATORS: &str = "+ - * / % ** << >> >>> & | ^ ~ ! == != === !== < <= > >=";

pub(crate) fn method(name: &str) -> MethodKind {
    let kinds = [
        (METHODS, MethodKind::Pure),
        (CHANGES, MethodKind::Changes),
        (ITERATES, MethodKind::Iterates),
        (CALLS_BACK, MethodKind::CallsBack),
    ];
    let found = kinds.into_iter().find(|(names, _)| lists(names, name));
    found.map_or(MethodKind::Other, |(_, kind)| kind)
}

pub(crate) fn is_global(name: &str) -> bool {
    lists(DEFERRABLE_GLOBALS, name) || lists(OTHER_GLOBALS, name)
}

pub(crate) fn is_operator(name: &str) -> bool {
    lists(OPERATORS, name)
}

fn lists(names: &str, name: &str) -> bool {
    names.split_whitespace().any(|listed| listed == name)
}
