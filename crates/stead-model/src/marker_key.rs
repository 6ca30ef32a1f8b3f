//! The key that marks special values in data: secrets, assets and archives.
//!
//! **Invariant:** no data of a program, a file or a provider has this key in state, except for an asset or an archive. Then an
//! object with the key in state is always what Stead wrote.

use crate::{Input, Map, PropertyPath, Value};

/// The key of special values, the same as in the format of Pulumi.
pub const SIGNATURE_KEY: &str = "4dabf18193072939515e22adb298388d";

/// Values of the key for an asset and an archive, which are data of a program.
const ASSETS: [&str; 2] = ["c44067f5952c0a294b673a41bacd8c17", "0def7320c3a5731c473e5ecbe6d01bc7"];

fn is_asset(signature: Option<&str>) -> bool {
    signature.is_some_and(|signature| ASSETS.contains(&signature))
}

impl Value {
    /// Returns the path of the first object with the reserved key that is neither an asset nor an archive.
    pub fn reserved_path(&self) -> Option<PropertyPath> {
        find_in_value(self, &PropertyPath::default())
    }

    /// Replaces each object with the reserved key that is neither an asset nor an archive by its JSON text.
    ///
    /// For answers of providers: the outcome of an operation is recorded, whatever they contain.
    #[must_use]
    pub fn without_reserved(self) -> Value {
        match self {
            Value::Map(map) if is_reserved(&map) => Value::from(Value::Map(map).to_json()),
            Value::Map(map) => Value::Map(without_reserved(map)),
            Value::List(items) => Value::List(items.into_iter().map(Value::without_reserved).collect()),
            Value::Secret(secret) => Value::Secret(match secret.reveal() {
                Ok(plain) if plain.reserved_path().is_some() => secret.like(plain.clone().without_reserved()),
                _ => secret.clone(),
            }),
            scalar => scalar,
        }
    }
}

/// Replaces each object with the reserved key in the values of properties by its JSON text.
pub fn without_reserved(properties: Map) -> Map {
    if properties.values().all(|value| value.reserved_path().is_none()) {
        return properties;
    }
    properties.into_iter().map(|(key, value)| (key, value.without_reserved())).collect()
}

fn is_reserved(map: &Map) -> bool {
    map.get(SIGNATURE_KEY).is_some_and(|signature| !is_asset(signature.as_str()))
}

impl Input {
    /// Returns the path of the first object with the reserved key that is neither an asset nor an archive.
    pub fn reserved_path(&self) -> Option<PropertyPath> {
        find_in_input(self, &PropertyPath::default())
    }
}

fn find_in_value(value: &Value, at: &PropertyPath) -> Option<PropertyPath> {
    // A sealed value is JSON text, in which the key marks a secret as well.
    if let Value::Secret(secret) = value {
        return find_in_value(secret.reveal().ok()?, at);
    }
    if let Some(map) = value.as_map() {
        if is_reserved(map) {
            return Some(at.clone());
        }
        return map.iter().find_map(|(key, member)| find_in_value(member, &at.key(key)));
    }
    let mut items = value.as_list()?.iter().enumerate();
    items.find_map(|(index, item)| find_in_value(item, &at.index(index)))
}

fn find_in_input(input: &Input, at: &PropertyPath) -> Option<PropertyPath> {
    match input {
        Input::Known(value) => find_in_value(value, at),
        Input::Deferred(_) => None,
        Input::List(items) => {
            items.iter().enumerate().find_map(|(index, item)| find_in_input(item, &at.index(index)))
        }
        Input::Map(map) => {
            if let Some(signature) = map.get(SIGNATURE_KEY)
                && !is_asset(signature.as_known().and_then(Value::as_str))
            {
                return Some(at.clone());
            }
            map.iter().find_map(|(key, member)| find_in_input(member, &at.key(key)))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(json: &str) -> Value {
        serde_json::from_str(json).unwrap()
    }

    #[test]
    fn object_with_the_key_is_found_at_any_depth_and_assets_are_data() {
        let secret = format!("{{\"{SIGNATURE_KEY}\":\"5cf8f73096256a8f31e491e813e4eb8e\"}}");
        assert_eq!(value(&secret).reserved_path().unwrap(), PropertyPath::default());
        let deep = value(&format!("{{\"a\":[1,{{\"b\":{secret}}}]}}"));
        assert_eq!(deep.reserved_path().unwrap().to_string(), "a[1].b");
        assert_eq!(Input::Known(deep.clone()).reserved_path(), deep.reserved_path());
        let other = value(&format!("{{\"{SIGNATURE_KEY}\":7}}"));
        assert!(other.reserved_path().is_some());
        for asset in ASSETS {
            assert_eq!(value(&format!("{{\"{SIGNATURE_KEY}\":\"{asset}\"}}")).reserved_path(), None);
        }
        assert_eq!(value("{\"a\":[{}]}").reserved_path(), None);
    }

    #[test]
    fn object_with_the_key_is_found_in_a_secret_and_replaced_by_its_text() {
        let marked = value(&format!("{{\"a\":[{{\"{SIGNATURE_KEY}\":7}}],\"b\":1}}"));
        let secret = Value::Secret(crate::Secret::new(marked.clone()));
        assert_eq!(secret.reserved_path().unwrap().to_string(), "a[0]");
        let plain = marked.without_reserved();
        assert_eq!(plain, value(&format!("{{\"a\":[\"{{\\\"{SIGNATURE_KEY}\\\":7}}\"],\"b\":1}}")));
        let secret = secret.without_reserved();
        assert_eq!(secret.reserved_path(), None);
        assert!(matches!(&secret, Value::Secret(kept) if kept.reveal() == Ok(&plain)));
        let asset = value(&format!("{{\"{SIGNATURE_KEY}\":\"{}\"}}", ASSETS[0]));
        assert_eq!(asset.clone().without_reserved(), asset);
    }

    #[test]
    fn key_beside_a_deferred_member_is_found() {
        let map = [(SIGNATURE_KEY.to_owned(), Input::Deferred(crate::ExprId(0)))];
        assert!(Input::Map(map.into()).reserved_path().is_some());
    }
}
