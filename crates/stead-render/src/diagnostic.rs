//! A problem with the lines of source that it is about.

use annotate_snippets::renderer::DecorStyle;
use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};
use stead_model::{Diagnostic, Label, Severity, SourceRef};

use crate::Style;

/// Looks up the text of a source file, by its path in the project.
pub type SourceText<'a> = &'a dyn Fn(&str) -> Option<String>;

pub fn diagnostic(problem: &Diagnostic, sources: SourceText<'_>, style: &Style) -> String {
    let level = match problem.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
    };
    let places: Vec<Place<'_>> =
        problem.labels.iter().filter_map(|label| Place::of(label, sources)).collect();
    let mut group =
        Group::with_title(level.primary_title(problem.message.as_str()).id(problem.code.as_str()));
    for (index, place) in places.iter().enumerate() {
        let kind = if index == 0 { AnnotationKind::Primary } else { AnnotationKind::Context };
        let annotation = kind.span(place.start..place.end).label(place.label.text.as_str());
        let snippet = Snippet::source(place.line.as_str())
            .line_start(place.label.place.line as usize)
            .path(place.label.place.file.as_str())
            .annotation(annotation);
        group = group.element(snippet);
    }
    for unseen in problem.labels.iter().filter(|label| !places.iter().any(|place| place.label == *label)) {
        group = group.element(Level::NOTE.message(format!("{} at {}", unseen.text, unseen.place)));
    }
    for note in &problem.notes {
        group = group.element(Level::NOTE.message(note.as_str()));
    }
    for help in &problem.help {
        group = group.element(Level::HELP.message(help.to_string()));
    }
    let renderer = if style.colour { Renderer::styled() } else { Renderer::plain() };
    let mut text = renderer.decor_style(DecorStyle::Ascii).term_width(style.width).render(&[group]);
    text.push('\n');
    text
}

/// A label with the line that it stands in, and where in that line, in bytes.
struct Place<'a> {
    label: &'a Label,
    line: String,
    start: usize,
    end: usize,
}

impl<'a> Place<'a> {
    fn of(label: &'a Label, sources: SourceText<'_>) -> Option<Place<'a>> {
        let SourceRef { file, line, column } = &label.place;
        let text = sources(file)?;
        let line = text.lines().nth((*line as usize).checked_sub(1)?)?.to_owned();
        let byte = |chars: usize| line.char_indices().nth(chars).map_or(line.len(), |(at, _)| at);
        let first = (*column as usize).saturating_sub(1);
        let (start, end) = (byte(first), byte(first + label.length.max(1)));
        Some(Place { label, start, end: end.max(start), line })
    }
}

#[cfg(test)]
mod tests {
    use stead_model::Code;

    use super::*;

    #[test]
    fn a_problem_shows_its_lines_and_says_what_now() {
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
    fn a_place_that_cannot_be_shown_is_still_named() {
        let gone = SourceRef { file: "gone.ts".into(), line: 7, column: 1 };
        let problem = Diagnostic::error(Code::GUARDED, "no").at(gone, 0, "declared");
        insta::assert_snapshot!(diagnostic(&problem, &|_| None, &Style::default()));
    }
}
