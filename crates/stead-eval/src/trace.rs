//! From the engine's stack traces to places in the user's TypeScript.
//!
//! Source maps are made only when a trace is looked at; a program that runs through never pays for one.

use std::collections::{BTreeMap, HashMap};

use crate::compile::{self, SourceMap};
use crate::load::LoadedFile;
use crate::place::Place;

/// One call on the way to an error.
#[derive(Clone, Debug)]
pub(crate) struct Frame {
    /// Empty for a module's own code.
    pub(crate) function: String,
    pub(crate) place: Place,
}

#[derive(Default)]
pub(crate) struct Tracer {
    maps: HashMap<String, Option<SourceMap>>,
}

impl Tracer {
    /// The calls in the user's files, innermost first.
    pub(crate) fn frames(&mut self, stack: &str, files: &BTreeMap<String, LoadedFile>) -> Vec<Frame> {
        stack.lines().filter_map(|line| self.frame(line, files)).collect()
    }

    fn frame(&mut self, line: &str, files: &BTreeMap<String, LoadedFile>) -> Option<Frame> {
        let (function, path, line, column) = parse(line)?;
        let file = files.get(path)?;
        let map = self.maps.entry(path.to_owned());
        let map = map.or_insert_with(|| compile::source_map(&file.source, file.first_site));
        let (line, column) = map.as_ref()?.lookup(line, column)?;
        let place = file.source.word_at(line as usize + 1, column as usize);
        Some(Frame { function: function.to_owned(), place })
    }
}

/// `    at function (file:line:column)` or `    at file:line:column`.
fn parse(line: &str) -> Option<(&str, &str, u32, u32)> {
    let rest = line.trim().strip_prefix("at ")?;
    let (function, place) = match rest.strip_suffix(')').and_then(|rest| rest.rsplit_once('(')) {
        Some((function, place)) => (function.trim(), place),
        None => ("", rest),
    };
    let function = if matches!(function, "<anonymous>" | "<eval>") { "" } else { function };
    let (rest, column) = place.rsplit_once(':')?;
    let (path, line) = rest.rsplit_once(':')?;
    Some((function, path, line.parse().ok()?, column.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_engines_lines_are_read() {
        assert_eq!(parse("    at load (net/vpc.ts:3:14)"), Some(("load", "net/vpc.ts", 3, 14)));
        assert_eq!(parse("    at <anonymous> (main.ts:1:2)"), Some(("", "main.ts", 1, 2)));
        assert_eq!(parse("    at main.ts:1:2"), Some(("", "main.ts", 1, 2)));
        assert_eq!(parse("    at apply (native)"), None);
    }
}
