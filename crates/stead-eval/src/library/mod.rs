//! Functions of module `"stead"` on plain data: addresses, versions, YAML, TOML, JSON, base64, digests, text.
//!
//! A call with a value known only after apply becomes a built-in of the graph, which the same function evaluates later, without
//! the program.
//!
//! **Invariant:** every function is pure, and its run time depends only on the size of its arguments.

mod cidr;
mod data;
mod digests;
mod semver;
mod text;
mod toml_write;
pub(crate) mod tree;
pub(crate) mod yaml;
mod yaml_write;

use stead_model::Value;

pub(crate) use data::read_toml;
pub(crate) use text::{Piece, pieces};
pub(crate) use tree::Tree;
pub(crate) use yaml_write::{Text as YamlText, write as write_yaml};

/// Start of the names of these functions among the built-ins of a graph.
pub(crate) const PREFIX: &str = "stead.";

type Function = fn(&[Value]) -> Result<Tree, String>;

/// All functions, by their names in module `"stead"`.
const FUNCTIONS: &[(&str, Function)] = &[
    ("cidr.subnet", cidr::subnet),
    ("cidr.subnets", cidr::subnets),
    ("cidr.split", cidr::split),
    ("cidr.contains", cidr::contains),
    ("cidr.overlaps", cidr::overlaps),
    ("cidr.host", cidr::host),
    ("cidr.netmask", cidr::netmask),
    ("cidr.first", cidr::first),
    ("cidr.last", cidr::last),
    ("cidr.size", cidr::size),
    ("semver.parse", semver::parse),
    ("semver.compare", semver::compare),
    ("semver.satisfies", semver::satisfies),
    ("semver.maxSatisfying", semver::max_satisfying),
    ("semver.inc", semver::inc),
    ("semver.sort", semver::sort),
    ("yaml.parse", data::parse_yaml),
    ("yaml.parseAll", data::parse_all_yaml),
    ("toml.parse", data::parse_toml),
    ("toml.stringify", toml_write::stringify),
    ("json.canonical", data::canonical_json),
    ("text.dedent", text::dedent),
    ("text.indent", text::indent),
    ("base64.encode", digests::base64_encode),
    ("base64.decode", digests::base64_decode),
    ("base64.encodeUrl", digests::base64_encode_url),
    ("base64.decodeUrl", digests::base64_decode_url),
    ("hash", digests::hash),
];

/// Reads the only document of a YAML text.
pub(crate) fn read_yaml(text: &str) -> Result<Value, String> {
    let read = yaml::read(text);
    read.map(Tree::into_value).map_err(|error| format!("line {}: {}", error.line, error.message))
}

/// Calls a function by its name; `None` if there is none.
pub(crate) fn call(name: &str, arguments: &[Value]) -> Option<Result<Tree, String>> {
    let (name, function) = FUNCTIONS.iter().find(|(known, _)| *known == name)?;
    Some(function(arguments).map_err(|problem| format!("{name}: {problem}")))
}

/// Returns an argument that must be a string.
fn text_at<'a>(arguments: &'a [Value], index: usize, what: &str) -> Result<&'a str, String> {
    arguments.get(index).and_then(Value::as_str).ok_or_else(|| {
        let found = arguments.get(index).map_or("missing", Value::kind);
        format!("{what} must be a string; it is {found}")
    })
}

/// Returns an argument that must be an integer.
fn integer_at(arguments: &[Value], index: usize, what: &str) -> Result<i128, String> {
    let found = arguments.get(index);
    let whole = match found {
        Some(Value::Number(number)) if number.as_f64().fract() == 0.0 => Some(number.as_f64() as i128),
        _ => None,
    };
    whole.ok_or_else(|| match found {
        Some(value @ Value::Number(_)) => format!("{what} must be an integer, not {}", value.to_json()),
        other => format!("{what} must be an integer; it is {}", other.map_or("missing", Value::kind)),
    })
}

/// Returns an argument that must be a list of strings.
fn texts_at<'a>(arguments: &'a [Value], index: usize, what: &str) -> Result<Vec<&'a str>, String> {
    let list = arguments.get(index).and_then(Value::as_list);
    let texts = list.and_then(|items| items.iter().map(Value::as_str).collect::<Option<Vec<_>>>());
    texts.ok_or_else(|| format!("{what} must be a list of strings"))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test")]
mod tests {
    use super::*;

    #[test]
    fn integers_are_the_doubles_that_a_program_sees() {
        for (name, text) in [("yaml.parse", "9007199254740993"), ("toml.parse", "a = 9007199254740993")] {
            let read = call(name, &[Value::from(text)]).unwrap().unwrap().into_value().to_json();
            assert!(read.contains("9007199254740992"), "{name}: {read}");
        }
    }

    #[test]
    fn module_stead_has_every_function() {
        let prelude =
            [include_str!("../prelude/library.js"), include_str!("../prelude/encoding.js")].concat();
        let missing = super::FUNCTIONS.iter().filter(|(name, _)| !prelude.contains(&format!("(\"{name}\"")));
        assert_eq!(missing.map(|(name, _)| *name).collect::<Vec<_>>(), [""; 0]);
    }
}
