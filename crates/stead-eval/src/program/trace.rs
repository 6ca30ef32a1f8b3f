//! Maps stack traces of the engine to positions in the TypeScript sources.
//!
//! Source maps are created only for a trace, so that a program without errors never pays for one.

use std::collections::{BTreeMap, HashMap};

use crate::UnknownBranches;
use crate::compile::{self, Calls, SourceMap, Unit};
use crate::program::load::LoadedFile;
use crate::program::source_text::SourceSpan;

/// Call in a stack trace.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Frame {
    /// Function name; empty for the top level of a module.
    pub(crate) function: String,
    pub(crate) place: SourceSpan,
}

pub(crate) struct Tracer {
    /// Compilation mode of the program.
    branches: UnknownBranches,
    files: HashMap<String, Option<(SourceMap, Calls)>>,
}

impl Tracer {
    pub(crate) fn new(branches: UnknownBranches) -> Tracer {
        Tracer { branches, files: HashMap::new() }
    }

    /// Returns the calls in files of the program, innermost first.
    pub(crate) fn frames(&mut self, stack: &str, files: &BTreeMap<String, LoadedFile>) -> Vec<Frame> {
        let mut frames = Vec::new();
        let mut called = "";
        for line in stack.lines().filter_map(parse) {
            frames.extend(self.frame(&line, called, files));
            called = line.function;
        }
        frames
    }

    /// Locates the first word of the loop that contains a span, or of the next loop in the same function.
    pub(crate) fn loop_at(
        &self,
        place: &SourceSpan,
        files: &BTreeMap<String, LoadedFile>,
    ) -> Option<SourceSpan> {
        let source = &files.get(&place.at.file)?.source;
        let found = source.locate(Calls::of(source).loop_at(source.offset(&place.at))?);
        Some(source.word_at(found.at.line as usize, found.at.column as usize - 1))
    }

    fn frame(
        &mut self,
        line: &Line<'_>,
        called: &str,
        files: &BTreeMap<String, LoadedFile>,
    ) -> Option<Frame> {
        let (path, number, column) = line.place?;
        let file = files.get(path)?;
        let known = self.files.entry(path.to_owned()).or_insert_with(|| {
            let map = compile::source_map(Unit {
                source: &file.source,
                first_site: file.first_site,
                branches: self.branches,
                format: file.format,
            })?;
            Some((map, Calls::of(&file.source)))
        });
        let (map, calls) = known.as_ref()?;
        let (number, column) = map.lookup(number, column)?;
        let word = file.source.word_at(number as usize + 1, column as usize);
        let callee = calls.callee(file.source.offset(&word.at), called);
        let place = callee.map_or(word, |span| file.source.locate(span));
        Some(Frame { function: line.function.to_owned(), place })
    }
}

/// Returns function and file of each line of a stack trace, without source maps. A native function has no file.
pub(crate) fn raw_frames(stack: &str) -> Vec<(&str, Option<&str>)> {
    let lines = stack.lines().filter_map(parse);
    lines.map(|line| (line.function, line.place.map(|(file, ..)| file))).collect()
}

/// Line of a stack trace.
#[derive(Debug, PartialEq)]
struct Line<'a> {
    function: &'a str,
    /// File, line and column; `None` for native functions.
    place: Option<(&'a str, u32, u32)>,
}

/// Parses `at function (file:line:column)`, `at file:line:column` or `at function (native)`.
fn parse(line: &str) -> Option<Line<'_>> {
    let rest = line.trim().strip_prefix("at ")?;
    let (function, place) = match rest.strip_suffix(')').and_then(|rest| rest.rsplit_once('(')) {
        Some((function, place)) => (function.trim(), place),
        None => ("", rest),
    };
    let function = if matches!(function, "<anonymous>" | "<eval>") { "" } else { function };
    Some(Line { function, place: numbers(place) })
}

fn numbers(place: &str) -> Option<(&str, u32, u32)> {
    let (rest, column) = place.rsplit_once(':')?;
    let (path, line) = rest.rsplit_once(':')?;
    Some((path, line.parse().ok()?, column.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trace_lines_of_the_engine_are_parsed() {
        let read = |line| parse(line).map(|line| (line.function, line.place));
        assert_eq!(read("    at load (net/vpc.ts:3:14)"), Some(("load", Some(("net/vpc.ts", 3, 14)))));
        assert_eq!(read("    at <anonymous> (main.ts:1:2)"), Some(("", Some(("main.ts", 1, 2)))));
        assert_eq!(read("    at main.ts:1:2"), Some(("", Some(("main.ts", 1, 2)))));
        assert_eq!(read("    at apply (native)"), Some(("apply", None)));
    }
}
