//! Variables of this process that no child inherits: the keys and the config of Stead.
//!
//! A child may print its environment, and its output is recorded. **Invariant:** a child has one of these variables only if its
//! command line was given it.

use std::ffi::OsString;

/// Variables with a key, and by the same name and `_FILE` its place.
const KEYS: [&str; 3] = ["STEAD_PASSPHRASE", "STEAD_NEW_PASSPHRASE", "STEAD_AGE_KEY"];

/// Beginning of the variables with config, which may be secret.
const CONFIG: &str = "STEAD_CONFIG_";

/// Returns the names of the withheld variables that this process has.
pub(super) fn withheld_variables() -> impl Iterator<Item = OsString> {
    std::env::vars_os().map(|(name, _)| name).filter(|name| name.to_str().is_some_and(is_withheld))
}

/// Returns true for the name of a withheld variable. Upper and lower case are the same, as they are on Windows.
fn is_withheld(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    name.starts_with(CONFIG) || KEYS.contains(&name.strip_suffix("_FILE").unwrap_or(&name))
}

#[cfg(test)]
mod tests {
    use super::is_withheld;

    #[test]
    fn keys_and_config_of_stead_are_withheld_and_nothing_else() {
        for name in [
            "STEAD_PASSPHRASE",
            "STEAD_PASSPHRASE_FILE",
            "STEAD_NEW_PASSPHRASE",
            "STEAD_NEW_PASSPHRASE_FILE",
            "STEAD_AGE_KEY",
            "STEAD_AGE_KEY_FILE",
            "STEAD_CONFIG_DB__PASSWORD",
            "stead_passphrase",
        ] {
            assert!(is_withheld(name), "{name}");
        }
        for name in
            ["PATH", "STEAD_IDEMPOTENCY_KEY", "STEAD_LOG", "AWS_SECRET_ACCESS_KEY", "STEAD_CONFIGS", "_FILE"]
        {
            assert!(!is_withheld(name), "{name}");
        }
    }
}
