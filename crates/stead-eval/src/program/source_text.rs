//! Converts between byte offsets, lines and columns of a source file.
//!
//! Columns count characters from 1, never bytes.

use oxc_span::Span;
use stead_model::SourceRef;

/// Source file of the program, with an index of its lines.
#[derive(Debug)]
pub(crate) struct SourceText {
    /// Path relative to the project folder.
    pub(crate) path: String,
    pub(crate) text: String,
    line_starts: Vec<usize>,
}

/// Range within one line of a source file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SourceSpan {
    pub(crate) at: SourceRef,
    /// Number of characters, up to the end of the line at most.
    pub(crate) length: usize,
}

impl SourceText {
    pub(crate) fn new(path: &str, text: String) -> SourceText {
        let mut line_starts = vec![0];
        line_starts.extend(text.match_indices('\n').map(|(at, _)| at + 1));
        SourceText { path: path.to_owned(), text, line_starts }
    }

    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// Returns the text from a position to the end of the file.
    pub(crate) fn from(&self, at: &SourceRef) -> &str {
        self.text.get(self.offset(at) as usize..).unwrap_or_default()
    }

    pub(crate) fn locate(&self, span: Span) -> SourceSpan {
        let start = (span.start as usize).min(self.text.len());
        let line = self.line_starts.partition_point(|begin| *begin <= start).max(1);
        let begin = self.line_starts.get(line - 1).copied().unwrap_or(0);
        let column = self.characters(begin, start) + 1;
        let end = (span.end as usize).min(begin + self.line(line).len()).max(start);
        SourceSpan { at: self.at(line, column), length: self.characters(start, end) }
    }

    /// Locates the word at a line (from 1) and a column in UTF-16 units (from 0), as source maps count.
    pub(crate) fn word_at(&self, line: usize, utf16_column: usize) -> SourceSpan {
        let text = self.line(line);
        let mut units = 0;
        let before = text.chars().take_while(|c| {
            units += c.len_utf16();
            units <= utf16_column
        });
        let before = before.count();
        let rest = text.chars().skip(before);
        let length = rest.take_while(|c| c.is_alphanumeric() || matches!(c, '_' | '$')).count();
        SourceSpan { at: self.at(line, before + 1), length: length.max(1) }
    }

    /// Locates the `.name` nearest to a span in the same line, or returns the span itself.
    ///
    /// The engine reports the start of an expression; the member that caused the error follows later in the line.
    pub(crate) fn member_near(&self, place: &SourceSpan, name: &str) -> SourceSpan {
        let text = self.line(place.at.line as usize);
        let dotted = format!(".{name}");
        let ends =
            |at: usize| !text[at + dotted.len()..].starts_with(|c: char| c.is_alphanumeric() || c == '_');
        let columns = text.match_indices(&dotted).filter(|(at, _)| ends(*at));
        let columns = columns.map(|(at, _)| text[..at].chars().count() as u32 + 2);
        let nearest =
            columns.min_by_key(|column| (*column < place.at.column, column.abs_diff(place.at.column)));
        match nearest {
            Some(column) => {
                SourceSpan { at: SourceRef { column, ..place.at.clone() }, length: name.chars().count() }
            }
            None => place.clone(),
        }
    }

    /// Returns the byte offset of a position.
    pub(crate) fn offset(&self, at: &SourceRef) -> u32 {
        let begin = self.line_starts.get((at.line as usize).saturating_sub(1)).copied().unwrap_or(0);
        let before = self.line(at.line as usize).chars().take((at.column as usize).saturating_sub(1));
        (begin + before.map(char::len_utf8).sum::<usize>()) as u32
    }

    fn line(&self, line: usize) -> &str {
        let begin = self.line_starts.get(line.saturating_sub(1)).copied().unwrap_or(self.text.len());
        let end = self.line_starts.get(line).copied().unwrap_or(self.text.len());
        self.text.get(begin..end).unwrap_or_default().trim_end_matches(['\n', '\r'])
    }

    fn characters(&self, start: usize, end: usize) -> usize {
        self.text.get(start..end).map_or(0, |text| text.chars().count())
    }

    fn at(&self, line: usize, column: usize) -> SourceRef {
        SourceRef { file: self.path.clone(), line: line as u32, column: column as u32 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_count_characters_and_spans_end_with_their_line() {
        let source = SourceText::new("a.ts", "const ä = '🦀';\nif (x) {\n}\n".to_owned());
        let crab = source.text.find('🦀').unwrap() as u32;
        let place = source.locate(Span::new(crab, crab + 4));
        assert_eq!((place.at.line, place.at.column, place.length), (1, 12, 1));
        let block = source.text.find("if").unwrap() as u32;
        let place = source.locate(Span::new(block, source.text.len() as u32));
        assert_eq!((place.at.line, place.at.column, place.length), (2, 1, 8));
    }

    #[test]
    fn words_are_located_by_utf16_column() {
        let source = SourceText::new("a.ts", "x; /* 🦀 */ total.sum();".to_owned());
        let place = source.word_at(1, 12);
        assert_eq!((place.at.column, place.length), (12, 5));
        assert_eq!(source.member_near(&place, "sum").at.column, 18);
    }
}
