//! Parses option values: names and durations.

use stead_model::{Environment, Name};

/// Parses an earlier name of a resource. A name without environment is in the environment `own`.
///
/// The spelling of earlier versions is read as well. A name with several readings has that of the grammar.
pub(crate) fn alias(text: &str, own: &Environment) -> Result<Name, String> {
    let readings = Name::readings_in(text, own).map_err(|error| error.to_string())?;
    readings.into_iter().next().ok_or_else(|| format!("{text:?} is not a name"))
}

/// Parses a duration such as `90s`, `10m` or `1h30m` to seconds; `None` for other text.
pub(crate) fn seconds(text: &str) -> Option<u64> {
    let mut total: u64 = 0;
    let mut rest = text;
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit())?;
        let number: u64 = rest[..digits].parse().ok()?;
        let unit = match rest.as_bytes()[digits] {
            b's' => 1,
            b'm' => 60,
            b'h' => 3600,
            _ => return None,
        };
        total = total.checked_add(number.checked_mul(unit)?)?;
        rest = &rest[digits + 1..];
    }
    (total > 0).then_some(total)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_numbers_with_units() {
        let read = ["30s", "10m", "1h", "1h30m", "2m5s"].map(seconds);
        assert_eq!(read, [Some(30), Some(600), Some(3600), Some(5400), Some(125)]);
        for text in ["", "0s", "s", "10", "1d", "-1s", "1.5m", "1h 30m", "99999999999999999999s", "ä"] {
            assert_eq!(seconds(text), None, "{text}");
        }
    }

    #[test]
    fn alias_without_environment_is_in_the_current_environment() {
        let plain = Environment { name: "dev".to_owned(), namespace: None };
        let eu = Environment { name: "dev".to_owned(), namespace: Some("eu".to_owned()) };
        let read = |text: &str, own: &Environment| alias(text, own).map(|name| name.to_string());
        for (text, own, want) in [
            ("main:local.File#old", &plain, "dev:main:local.File#old"),
            ("main:local.File", &eu, "dev:eu:main:local.File"),
            ("main/Site#a:local.File#old", &plain, "dev:main/Site#a:local.File#old"),
            ("#old", &plain, "dev#old"),
            ("#old", &eu, "dev:eu#old"),
            ("dev#old", &plain, "dev#old"),
            ("dev:eu#old", &eu, "dev:eu#old"),
            ("prod:main:local.File#old", &plain, "prod:main:local.File#old"),
            ("dev:eu:main:local.File", &eu, "dev:eu:main:local.File"),
            ("lib.net:local.File#old", &plain, "dev:lib.net:local.File#old"),
            ("lib%2Fnet:local.File#old", &plain, "dev:lib.net:local.File#old"),
            ("dev:lib%2Fzone.v2:local.File", &plain, "dev:lib.zone%2Ev2:local.File"),
        ] {
            assert_eq!(read(text, own), Ok(want.to_owned()), "{text}");
        }
        for text in ["", "old", "a:b:c:d:e", "main:"] {
            assert!(alias(text, &plain).is_err(), "{text}");
        }
    }
}
