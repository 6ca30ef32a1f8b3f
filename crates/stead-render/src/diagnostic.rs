//! Problems, with the lines of source that their labels point to.

use annotate_snippets::renderer::DecorStyle;
use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};
use stead_model::{Diagnostic, Label, Severity, SourceRef};

use crate::{Style, Wrap};

/// Returns the text of a source file, by its path in the project.
pub type SourceText<'a> = &'a dyn Fn(&str) -> Option<String>;

/// Renders a problem with its labels, notes and hints.
pub fn diagnostic(problem: &Diagnostic, sources: SourceText<'_>, style: &Style) -> String {
    let level = match problem.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
    };
    let lines: Vec<LabelledLine<'_>> =
        problem.labels.iter().filter_map(|label| LabelledLine::of(label, sources)).collect();
    // `error[ST0104]: ` stands before the message, `  = note: ` before a note.
    let message = wrapped(&problem.message, &" ".repeat(problem.code.as_str().len() + 10), style);
    let mut group = Group::with_title(level.primary_title(message.as_str()).id(problem.code.as_str()));
    for (index, line) in lines.iter().enumerate() {
        let kind = if index == 0 { AnnotationKind::Primary } else { AnnotationKind::Context };
        let annotation = kind.span(line.start..line.end).label(line.label.text.as_str());
        let snippet = Snippet::source(line.text.as_str())
            .line_start(line.label.place.line as usize)
            .path(line.label.place.file.as_str())
            .annotation(annotation);
        group = group.element(snippet);
    }
    for label in problem.labels.iter().filter(|label| !lines.iter().any(|line| line.label == *label)) {
        group = group.element(Level::NOTE.message(format!("{} at {}", label.text, label.place)));
    }
    for note in &problem.notes {
        group = group.element(Level::NOTE.message(wrapped(note, NOTE, style)));
    }
    for help in &problem.help {
        group = group.element(Level::HELP.message(wrapped(&help.to_string(), NOTE, style)));
    }
    let renderer = if style.colour { Renderer::styled() } else { Renderer::plain() };
    // Source lines are cut at the width; in a file there is room.
    let width = if style.wrap == Wrap::No { style.width.max(100) } else { style.width };
    let mut text = renderer.decor_style(DecorStyle::Ascii).term_width(width).render(&[group]);
    text.push('\n');
    text
}

/// Room that the renderer takes before a note.
const NOTE: &str = "              ";

/// Breaks a sentence beside an indentation, which the renderer adds itself.
fn wrapped(text: &str, indent: &str, style: &Style) -> String {
    let lines: Vec<String> = text.split('\n').map(|line| style.sentence(line, indent)).collect();
    lines.join("\n").replace(&format!("\n{indent}"), "\n")
}

/// A label with the text of its line, and its byte range in that line.
struct LabelledLine<'a> {
    label: &'a Label,
    text: String,
    start: usize,
    end: usize,
}

impl<'a> LabelledLine<'a> {
    /// Returns `None` if the source is not available.
    fn of(label: &'a Label, sources: SourceText<'_>) -> Option<LabelledLine<'a>> {
        let SourceRef { file, line, column } = &label.place;
        let source = sources(file)?;
        let text = source.lines().nth((*line as usize).checked_sub(1)?)?.to_owned();
        let byte = |chars: usize| text.char_indices().nth(chars).map_or(text.len(), |(at, _)| at);
        let first = (*column as usize).saturating_sub(1);
        let (start, end) = (byte(first), byte(first + label.length.max(1)));
        Some(LabelledLine { label, start, end: end.max(start), text })
    }
}

#[cfg(test)]
mod tests {
    use stead_model::Code;

    use super::*;

    #[test]
    fn problem_is_rendered_with_source_lines_notes_and_hints() {
        let place = |line, column| SourceRef { file: "main.ts".into(), line, column };
        let problem =
            Diagnostic::error(Code::UNKNOWN_BRANCH, "this decides on a value that is not known yet")
                .at(place(2, 5), 9, "`size` of dev:main:local.File#a")
                .at(place(1, 11), 0, "declared here")
                .note("It exists only after the file does.")
                .help("use a value that the program knows");
        let sources =
            |file: &str| (file == "main.ts").then(|| "const f = new File({});\nif (ä.size) {}\n".to_owned());
        let text = diagnostic(&problem, &sources, &Style::default());
        insta::assert_snapshot!(text);
    }

    #[test]
    fn label_without_available_source_is_rendered_as_a_note() {
        let gone = SourceRef { file: "gone.ts".into(), line: 7, column: 1 };
        let problem = Diagnostic::error(Code::GUARDED, "no").at(gone, 0, "declared");
        insta::assert_snapshot!(diagnostic(&problem, &|_| None, &Style::default()));
    }

    #[test]
    fn sentences_are_broken_between_words_on_a_terminal() {
        let problem =
            Diagnostic::error(Code::GUARDED, "this is a long message about a resource that cannot go")
                .note("Nothing was changed: the guards check the whole plan before it runs.")
                .help(
                    "declare it again, set `preventDelete: false` on it, `stead up -e dev`, then remove it",
                );
        let style = Style { width: 50, wrap: Wrap::Words, ..Style::default() };
        let text = diagnostic(&problem, &|_| None, &style);
        assert!(text.lines().all(|line| line.chars().count() <= 50), "{text}");
        assert!(text.contains("`stead up -e dev`"), "{text}");
    }
}
