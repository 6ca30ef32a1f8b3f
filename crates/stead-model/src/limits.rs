//! Limits of a stack, as values, so that tests can set them.

use std::time::Duration;

use crate::{Dag, Map, Text, Value};

/// Maximum nesting of lists and objects in a value.
///
/// JSON readers stop at 128 levels, and a record adds some around its values. A value nested deeper could be written but not read
/// again, so this limit is not configurable.
pub const MAX_NESTING: usize = 100;

/// Maximum sizes of one stack. `docs/limits.md` lists the defaults.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    pub resources: usize,
    /// Pairs of a resource and a dependency.
    pub edges: usize,
    /// Resources on the longest chain of dependencies.
    pub depth: usize,
    /// JSON bytes of one property of a resource.
    pub property_bytes: usize,
    /// JSON bytes of all properties of a resource together.
    pub resource_bytes: usize,
    /// Interrupts of the interpreter in one evaluation. Counted instead of timed, so that the same program always ends the same
    /// way. One interrupt is roughly ten thousand branches and calls, or a large block of memory, or a long list that is
    /// searched.
    pub evaluation_interrupts: u64,
    /// Processor time of one evaluation. It ends only programs whose calls of built-ins take far longer than a step.
    pub evaluation_time: Duration,
    /// Heap of the interpreter, in bytes.
    pub evaluation_heap: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            resources: 100_000,
            edges: 1_000_000,
            depth: 10_000,
            property_bytes: 4 << 20,
            resource_bytes: 16 << 20,
            evaluation_interrupts: 20_000,
            evaluation_time: Duration::from_secs(8),
            evaluation_heap: 1 << 30,
        }
    }
}

/// Size of a graph or a state, in the measures that have limits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Extent {
    pub resources: usize,
    pub edges: usize,
    pub depth: usize,
}

impl Extent {
    /// Measures resources by their dependencies: `needs[n]` are the positions that the n-th resource depends on.
    ///
    /// The depth does not count chains behind a cycle; the planner reports cycles.
    pub fn of(needs: &[Vec<usize>]) -> Extent {
        let edges = needs.iter().map(Vec::len).sum();
        let depth = Dag::new(needs.iter().map(|needs| needs.iter().copied())).longest_chain();
        Extent { resources: needs.len(), edges, depth }
    }
}

impl Limits {
    /// Returns a message about the first limit that is exceeded, if any.
    pub fn exceeded(&self, extent: &Extent) -> Option<String> {
        let Extent { resources, edges, depth } = *extent;
        if resources > self.resources {
            Some(format!("{resources} resources; a stack holds at most {}", self.resources))
        } else if edges > self.edges {
            Some(format!("{edges} dependencies; a stack holds at most {}", self.edges))
        } else if depth > self.depth {
            Some(format!("a chain of {depth} dependencies; it may have at most {}", self.depth))
        } else {
            None
        }
    }

    /// Returns the limits of recorded state, which are wider: it has old and new copies during a run, and more of them after failed
    /// runs.
    #[must_use]
    pub fn of_state(&self) -> Limits {
        Limits { resources: 4 * self.resources, edges: 4 * self.edges, depth: 4 * self.depth, ..*self }
    }

    /// Returns a message if the properties of a resource are too large or nested too deeply.
    pub fn oversized(&self, properties: &Map) -> Option<String> {
        let mut all = 0;
        for (key, value) in properties {
            let Some(bytes) = value.json_bytes(MAX_NESTING) else {
                return Some(format!("`{key}` is nested deeper than {MAX_NESTING} levels"));
            };
            if bytes > self.property_bytes {
                let most = self.property_bytes >> 20;
                return Some(format!("`{key}` takes {bytes} bytes; a property may take {most} MiB"));
            }
            all += bytes;
        }
        let most = self.resource_bytes >> 20;
        (all > self.resource_bytes)
            .then(|| format!("its properties take {all} bytes; they may take {most} MiB together"))
    }
}

impl Value {
    /// Returns the size as JSON, or `None` if the value is nested deeper than `levels`.
    fn json_bytes(&self, levels: usize) -> Option<usize> {
        match self {
            Value::List(items) => {
                let levels = levels.checked_sub(1)?;
                items.iter().try_fold(2, |sum, item| Some(sum + 1 + item.json_bytes(levels)?))
            }
            Value::Map(map) => {
                let levels = levels.checked_sub(1)?;
                let entry =
                    |(key, item): (&Text, &Value)| Some(text_bytes(key) + 2 + item.json_bytes(levels)?);
                map.iter().try_fold(2, |sum, item| Some(sum + entry(item)?))
            }
            Value::String(text) => Some(text_bytes(text)),
            Value::Secret(secret) => secret.reveal().map_or(Some(0), |plain| plain.json_bytes(levels)),
            scalar => Some(scalar.to_json().len()),
        }
    }

    /// Replaces each list and object nested deeper than `levels` by its JSON text.
    #[must_use]
    pub fn flattened(self, levels: usize) -> Value {
        match (self, levels) {
            (value @ (Value::List(_) | Value::Map(_)), 0) => Value::from(value.to_json()),
            (Value::List(items), _) => {
                Value::List(items.into_iter().map(|item| item.flattened(levels - 1)).collect())
            }
            (Value::Map(map), _) => {
                Value::Map(map.into_iter().map(|(key, item)| (key, item.flattened(levels - 1))).collect())
            }
            (scalar, _) => scalar,
        }
    }
}

/// Returns the size of a string as JSON, with quotes and escapes.
fn text_bytes(text: &str) -> usize {
    let escaped = |byte: u8| match byte {
        b'"' | b'\\' | b'\n' | b'\r' | b'\t' | 8 | 12 => 1,
        0..32 => 5,
        _ => 0,
    };
    2 + text.len() + text.bytes().map(escaped).sum::<usize>()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chain(length: usize) -> Vec<Vec<usize>> {
        (0..length).map(|at| at.checked_sub(1).into_iter().collect()).collect()
    }

    #[test]
    fn extent_at_a_limit_is_accepted_and_one_above_is_refused() {
        let limits = Limits::default();
        let fits = |extent: Extent| limits.exceeded(&extent).is_none();
        for (at, above) in [
            (
                Extent { resources: 100_000, ..Extent::default() },
                Extent { resources: 100_001, ..Extent::default() },
            ),
            (
                Extent { edges: 1_000_000, ..Extent::default() },
                Extent { edges: 1_000_001, ..Extent::default() },
            ),
            (Extent::of(&chain(10_000)), Extent::of(&chain(10_001))),
        ] {
            assert!(fits(at) && !fits(above), "{above:?}");
        }
    }

    fn nested(levels: usize) -> Value {
        (0..levels).fold(Value::Null, |value, _| Value::from(vec![value]))
    }

    fn of(value: Value) -> Map {
        [("p", value)].into()
    }

    #[test]
    fn property_of_four_mebibytes_is_accepted_and_one_byte_more_is_refused() {
        let limits = Limits::default();
        let text = |bytes: usize| Value::from("x".repeat(bytes - 2));
        assert_eq!(limits.oversized(&of(text(4 << 20))), None);
        assert!(limits.oversized(&of(text((4 << 20) + 1))).is_some());
        let four = |last: usize| -> Map {
            let sizes = [4 << 20, 4 << 20, 4 << 20, last];
            sizes.into_iter().enumerate().map(|(at, size)| (format!("p{at}"), text(size))).collect()
        };
        assert_eq!(limits.oversized(&four(4 << 20)), None);
        let mut five = four(4 << 20);
        five.insert("p4", Value::Null);
        assert!(limits.oversized(&five).is_some());
    }

    #[test]
    fn value_with_the_maximum_nesting_can_be_read_again() {
        let limits = Limits::default();
        assert_eq!(limits.oversized(&of(nested(MAX_NESTING))), None);
        assert!(limits.oversized(&of(nested(MAX_NESTING + 1))).is_some());
        let around = of(Value::Map(of(Value::Map(of(Value::Map(of(nested(MAX_NESTING))))))));
        let text = Value::Map(around).to_json();
        assert!(serde_json::from_str::<Value>(&text).is_ok());
        let flat = nested(MAX_NESTING + 30).flattened(MAX_NESTING);
        assert_eq!(limits.oversized(&of(flat)), None);
    }

    #[test]
    fn size_of_a_string_equals_its_json() {
        for text in ["", "plain", "\"\\\n\u{1}\u{1f}é\u{7f}\u{8}\u{c}"] {
            assert_eq!(text_bytes(text), Value::from(text).to_json().len(), "{text:?}");
        }
    }

    #[test]
    fn depth_counts_the_longest_chain() {
        assert_eq!(
            Extent::of(&[vec![], vec![0], vec![0, 1], vec![]]),
            Extent { resources: 4, edges: 3, depth: 3 }
        );
        assert_eq!(Extent::of(&[]), Extent::default());
    }
}
