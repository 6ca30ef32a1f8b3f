//! The key that marks special values in data: secrets, assets and archives.
//!
//! **Invariant:** no data of a program or a file has this key, except for an asset or an archive. Then an object with the
//! key in state is always what Stead wrote.

use crate::{Input, PropertyPath, Value};

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
}

impl Input {
    /// Returns the path of the first object with the reserved key that is neither an asset nor an archive.
    pub fn reserved_path(&self) -> Option<PropertyPath> {
        find_in_input(self, &PropertyPath::default())
    }
}

fn find_in_value(value: &Value, at: &PropertyPath) -> Option<PropertyPath> {
    if let Some(map) = value.as_map() {
        if let Some(signature) = map.get(SIGNATURE_KEY)
            && !is_asset(signature.as_str())
        {
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
    fn key_beside_a_deferred_member_is_found() {
        let map = [(SIGNATURE_KEY.to_owned(), Input::Deferred(crate::ExprId(0)))];
        assert!(Input::Map(map.into()).reserved_path().is_some());
    }
}
