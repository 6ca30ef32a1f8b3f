//! Byte offsets, lines and columns of one source file.
//!
//! Columns are counted in characters from 1, as a person counts them; never in bytes.

use oxc_span::Span;
use stead_model::SourceRef;

/// One file of the program.
#[derive(Debug)]
pub(crate) struct SourceText {
    /// Relative to the project.
    pub(crate) path: String,
    pub(crate) text: String,
    line_starts: Vec<usize>,
}

/// A stretch of one line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) at: SourceRef,
    /// In characters; what reaches beyond the end of the line is not counted.
    pub(crate) length: usize,
}

impl SourceText {
    pub(crate) fn new(path: &str, text: String) -> SourceText {
        let mut line_starts = vec![0];
        line_starts.extend(text.match_indices('\n').map(|(at, _)| at + 1));
        SourceText { path: path.to_owned(), text, line_starts }
    }

    /// The text from a place on.
    pub(crate) fn from(&self, at: &SourceRef) -> &str {
        self.text.get(self.offset(at) as usize..).unwrap_or_default()
    }

    pub(crate) fn place(&self, span: Span) -> Place {
        let start = (span.start as usize).min(self.text.len());
        let line = self.line_starts.partition_point(|begin| *begin <= start).max(1);
        let begin = self.line_starts.get(line - 1).copied().unwrap_or(0);
        let column = self.characters(begin, start) + 1;
        let end = (span.end as usize).min(begin + self.line(line).len()).max(start);
        Place { at: self.at(line, column), length: self.characters(start, end) }
    }

    /// The word that starts at a line (from 1) and a column in UTF-16 units (from 0), as source maps count.
    pub(crate) fn word_at(&self, line: usize, utf16_column: usize) -> Place {
        let text = self.line(line);
        let mut units = 0;
        let before = text.chars().take_while(|c| {
            units += c.len_utf16();
            units <= utf16_column
        });
        let before = before.count();
        let rest = text.chars().skip(before);
        let length = rest.take_while(|c| c.is_alphanumeric() || matches!(c, '_' | '$')).count();
        Place { at: self.at(line, before + 1), length: length.max(1) }
    }

    /// Where `.name` stands in the line nearest to the place, if it does: engines report where an expression
    /// begins, and the member that is at fault stands further on.
    pub(crate) fn member_near(&self, place: &Place, name: &str) -> Place {
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
                Place { at: SourceRef { column, ..place.at.clone() }, length: name.chars().count() }
            }
            None => place.clone(),
        }
    }

    /// The byte at which a place begins.
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
    fn columns_count_characters_and_lengths_stop_at_the_end_of_the_line() {
        let source = SourceText::new("a.ts", "const ä = '🦀';\nif (x) {\n}\n".to_owned());
        let crab = source.text.find('🦀').unwrap() as u32;
        let place = source.place(Span::new(crab, crab + 4));
        assert_eq!((place.at.line, place.at.column, place.length), (1, 12, 1));
        let block = source.text.find("if").unwrap() as u32;
        let place = source.place(Span::new(block, source.text.len() as u32));
        assert_eq!((place.at.line, place.at.column, place.length), (2, 1, 8));
    }

    #[test]
    fn a_word_is_found_by_utf16_column() {
        let source = SourceText::new("a.ts", "x; /* 🦀 */ total.sum();".to_owned());
        let place = source.word_at(1, 12);
        assert_eq!((place.at.column, place.length), (12, 5));
        assert_eq!(source.member_near(&place, "sum").at.column, 18);
    }
}
