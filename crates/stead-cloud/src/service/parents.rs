//! Properties that a list of some types needs, such as the cluster of node groups.

use std::collections::BTreeMap;
use std::sync::OnceLock;

static TABLE: &str = include_str!("../../data/list-parents.txt");

/// Returns the properties that a resource model must have for a list of the type.
pub(crate) fn required(type_name: &str) -> &'static [&'static str] {
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
