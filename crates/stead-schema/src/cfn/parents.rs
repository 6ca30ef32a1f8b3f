//! Parents of types that the service lists only within one, such as the node groups of a cluster.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use super::Schema;

static TABLE: &str = include_str!("../../data/list-parents.txt");

/// A type whose resources have the values that a list of another type needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListParent {
    pub type_name: &'static str,
    /// Properties of the parent, in the order of [`list_parent_keys`].
    pub properties: Vec<String>,
}

/// Returns the properties that a resource model must have for a list of the type.
pub fn list_parent_keys(type_name: &str) -> &'static [&'static str] {
    static ROWS: OnceLock<BTreeMap<&'static str, Vec<&'static str>>> = OnceLock::new();
    let rows = ROWS.get_or_init(|| {
        let rows = TABLE.lines().filter(|line| !line.starts_with('#'));
        rows.filter_map(|line| {
            let mut words = line.split_whitespace();
            Some((words.next()?, words.collect()))
        })
        .collect()
    });
    rows.get(type_name).map_or(&[], Vec::as_slice)
}

/// Returns the parent of a type among the types of its service. `names` are all published types, `schema` reads one.
///
/// A key names its parent: `ClusterName` is the `ClusterName`, or else the `Name`, of a `Cluster`, and `Cluster` is its identifier.
pub(crate) fn list_parent<'a>(
    type_name: &str,
    names: impl Iterator<Item = &'static str>,
    schema: impl Fn(&'static str) -> Option<&'a Schema>,
) -> Option<ListParent> {
    let keys = list_parent_keys(type_name);
    let (service, _) = type_name.rsplit_once("::")?;
    let candidates = names.filter(|name| *name != type_name).filter_map(|name| {
        let class = name.rsplit_once("::").filter(|(of, _)| *of == service)?.1;
        let is_named = keys.iter().any(|key| rest_of(key, class).is_some());
        is_named.then_some((class.len(), name))
    });
    let mut candidates: Vec<(usize, &'static str)> = candidates.collect();
    // The longest class fits a key best.
    candidates.sort_by_key(|(length, name)| (std::cmp::Reverse(*length), *name));
    candidates.into_iter().find_map(|(_, name)| {
        let schema = schema(name).filter(|schema| schema.handlers.list.is_some())?;
        let class = name.rsplit_once("::")?.1;
        let properties: Option<Vec<String>> =
            keys.iter().map(|key| property_of(schema, key, rest_of(key, class))).collect();
        Some(ListParent { type_name: name, properties: properties? })
    })
}

/// Returns the end of a key that begins with the name of a class.
fn rest_of<'k>(key: &'k str, class: &str) -> Option<&'k str> {
    let start = key.get(..class.len())?;
    let rest = &key[class.len()..];
    let is_word = rest.is_empty() || rest.starts_with(|c: char| c.is_ascii_uppercase());
    (is_word && start.eq_ignore_ascii_case(class)).then_some(rest)
}

fn property_of(schema: &Schema, key: &str, rest: Option<&str>) -> Option<String> {
    let has = |wanted: &str| schema.properties().any(|(name, _)| name == wanted);
    match rest {
        _ if has(key) => Some(key.to_owned()),
        Some("") => match schema.primary_identifier.as_slice() {
            [only] if only.0.len() == 1 => only.root().map(str::to_owned),
            _ => None,
        },
        Some(rest) if has(rest) => Some(rest.to_owned()),
        _ => None,
    }
}
