//! Lists whose elements have keys and owners of their own: tags and attributes. They are compared like maps.
//!
//! Other writers add tags, and services return all attributes, including unset ones. Only elements with a
//! declared key are compared, and the others stay.

use std::collections::BTreeSet;

use stead_model::Value;

use super::equivalence::equivalent;
use super::position::Position;

/// Lists that own their elements by key although their schema does not say so: type, property.
const KEYED: [(&str, &str); 1] = [("AWS::Cognito::UserPool", "Schema")];

/// Members that identify an element, by preference. All members of the first group that an element has form its key.
const KEYS: [&[&str]; 4] =
    [&["Key"], &["TagKey", "key", "tagKey"], &["Namespace", "OptionName", "ResourceName"], &["Name"]];

/// Returns true if the elements of a list are owned one by one.
pub(crate) fn is_keyed(position: &Position<'_>) -> bool {
    let says_so = position.form.is_some_and(|form| {
        let attributes = |form: &super::Form| form.items.map(|_| form.attributes);
        position.schema.find(form, &mut Vec::new(), &attributes) == Some(true)
    });
    let listed = KEYED.iter().any(|(ty, name)| {
        *ty == position.schema.type_name && position.path.0.len() == 1 && position.name() == *name
    });
    says_so || listed || position.is_tags()
}

/// Returns the key of an element, or `None` if it has none.
pub(crate) fn key_of(item: &Value) -> Option<Vec<&Value>> {
    let map = item.as_map()?;
    let of = |group: &[&str]| group.iter().filter_map(|name| map.get(*name)).collect::<Vec<&Value>>();
    KEYS.iter().map(|group| of(group)).find(|key| !key.is_empty())
}

/// Pairs the elements of a list with those of another that have the same key. `None` if an element has no key of its
/// own, so that the list cannot be compared like a map.
pub(crate) fn pairs_by_key(
    position: &Position<'_>,
    want: &[Value],
    live: &[Value],
) -> Option<Vec<Option<usize>>> {
    let keys = |items: &'_ [Value]| -> Option<Vec<String>> {
        items.iter().map(|item| key_of(item).map(|key| format!("{key:?}"))).collect()
    };
    let (wanted, shown) = (keys(want)?, keys(live)?);
    let distinct = |keys: &[String]| keys.iter().collect::<BTreeSet<_>>().len() == keys.len();
    if !distinct(&wanted) || !distinct(&shown) {
        return None;
    }
    let index: std::collections::BTreeMap<&String, usize> =
        shown.iter().enumerate().map(|(at, key)| (key, at)).collect();
    let rewritten = |item: &Value| live.iter().position(|live| same_key(&position.index(0), item, live));
    let pair = |(key, item): (&String, &Value)| index.get(key).copied().or_else(|| rewritten(item));
    Some(wanted.iter().zip(want).map(pair).collect())
}

/// Returns true if the service returns the key of the desired element as that of the live one.
fn same_key(element: &Position<'_>, want: &Value, live: &Value) -> bool {
    let (Value::Map(want), Value::Map(live)) = (want, live) else { return false };
    let group = KEYS.iter().find(|group| group.iter().any(|name| want.contains_key(*name)));
    let same = |name: &&str| match (want.get(*name), live.get(*name)) {
        (Some(want), Some(live)) => equivalent(&element.key(name), want, live),
        (want, live) => want.is_none() && live.is_none(),
    };
    group.is_some_and(|group| group.iter().all(same))
}
