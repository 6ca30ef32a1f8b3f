//! Facts about properties of common types that their published schemas do not tell, from tables.

use std::collections::HashMap;
use std::sync::OnceLock;

/// Write-only properties that hold no secret.
const PUBLIC_WRITE_ONLY: &str = include_str!("../../data/public-write-only.txt");

/// Read-only properties that no update in place changes.
const STABLE: &str = include_str!("../../data/stable.txt");

type ByType = HashMap<&'static str, Vec<&'static str>>;

/// Returns the top-level properties of a type that are write-only and hold no secret.
pub(super) fn public_write_only(type_name: &str) -> &'static [&'static str] {
    static BY_TYPE: OnceLock<ByType> = OnceLock::new();
    of_type(BY_TYPE.get_or_init(|| read(PUBLIC_WRITE_ONLY)), type_name)
}

/// Returns the read-only properties of a type that no update in place changes, besides its identifiers.
pub(crate) fn stable(type_name: &str) -> &'static [&'static str] {
    static BY_TYPE: OnceLock<ByType> = OnceLock::new();
    of_type(BY_TYPE.get_or_init(|| read(STABLE)), type_name)
}

fn of_type(by_type: &'static ByType, type_name: &str) -> &'static [&'static str] {
    by_type.get(type_name).map(Vec::as_slice).unwrap_or_default()
}

fn read(table: &'static str) -> ByType {
    let rows = table.lines().filter(|line| !line.starts_with('#'));
    let row = |line: &'static str| {
        let mut words = line.split(' ');
        Some((words.next()?, words.collect()))
    };
    rows.filter_map(row).collect()
}

#[cfg(test)]
mod tests {
    use stead_model::PatternPart;

    use super::*;
    use crate::cfn::{Class, bundle};

    fn every_row_names(table: &'static str, class: Class) {
        for (type_name, properties) in read(table) {
            let schema = bundle::shipped().schema(type_name).unwrap_or_else(|| panic!("{type_name}"));
            let patterns = schema.classes.of(class).patterns();
            for property in properties {
                let names = |part: Option<&PatternPart>| part == Some(&PatternPart::Key(property.to_owned()));
                assert!(patterns.iter().any(|path| names(path.parts().first())), "{type_name} {property}");
            }
        }
    }

    #[test]
    fn rows_of_public_properties_name_write_only_ones() {
        every_row_names(PUBLIC_WRITE_ONLY, Class::WriteOnly);
    }

    #[test]
    fn rows_of_stable_properties_name_read_only_ones() {
        every_row_names(STABLE, Class::ReadOnly);
    }
}
