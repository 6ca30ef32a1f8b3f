//! Colour, width and layout of all output, decided in one place.

use stead_render::Wrap;

/// Value of `--color`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum ColourChoice {
    /// In colour on a terminal; `NO_COLOR` and `CLICOLOR_FORCE` decide first
    #[default]
    Auto,
    Always,
    Never,
}

/// The part of the process's surroundings that decides about layout.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Surroundings {
    pub stdin_is_terminal: bool,
    pub stdout_is_terminal: bool,
    pub stderr_is_terminal: bool,
    /// `NO_COLOR` is set.
    pub no_color: bool,
    /// `CLICOLOR_FORCE` is set, and not 0.
    pub colour_forced: bool,
    /// `TERM` is `dumb`: no colour, no cursor movement.
    pub dumb: bool,
    /// Value of `COLUMNS`.
    pub columns: Option<usize>,
    /// Columns and rows of the terminal.
    pub size: Option<(usize, usize)>,
}

/// One output stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stream {
    pub colour: bool,
    pub wrap: Wrap,
}

/// Layout of all output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Terminal {
    pub stdout: Stream,
    pub stderr: Stream,
    /// Printed lines can be overwritten.
    pub live_progress: bool,
    /// A person can answer questions.
    pub interactive: bool,
    pub width: usize,
    pub rows: usize,
}

/// Narrowest width that is believed.
const MIN_WIDTH: usize = 40;

impl Terminal {
    pub(crate) fn new(choice: ColourChoice, around: &Surroundings) -> Terminal {
        let stream = |is_terminal: bool| Stream {
            colour: match choice {
                ColourChoice::Always => true,
                ColourChoice::Never => false,
                ColourChoice::Auto if around.no_color => false,
                ColourChoice::Auto if around.colour_forced => true,
                ColourChoice::Auto => is_terminal && !around.dumb,
            },
            // A person who sets COLUMNS wants lines of that length in a file, too.
            wrap: if is_terminal || around.columns.is_some() { Wrap::Words } else { Wrap::No },
        };
        let width = around.columns.or(around.size.map(|(columns, _)| columns)).unwrap_or(80);
        Terminal {
            stdout: stream(around.stdout_is_terminal),
            stderr: stream(around.stderr_is_terminal),
            live_progress: around.stderr_is_terminal && !around.dumb,
            interactive: around.stdin_is_terminal && around.stderr_is_terminal,
            width: width.max(MIN_WIDTH),
            rows: around.size.map_or(24, |(_, rows)| rows),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn on_a_terminal() -> Surroundings {
        let size = Some((72, 30));
        Surroundings { stdout_is_terminal: true, stderr_is_terminal: true, size, ..Surroundings::default() }
    }

    #[test]
    fn flag_then_no_color_then_force_then_terminal_decide_about_colour() {
        let colour = |choice, around: Surroundings| Terminal::new(choice, &around).stdout.colour;
        let (piped, tty) = (Surroundings::default(), on_a_terminal());
        assert!(!colour(ColourChoice::Auto, piped) && colour(ColourChoice::Auto, tty));
        assert!(colour(ColourChoice::Auto, Surroundings { colour_forced: true, ..piped }));
        assert!(!colour(ColourChoice::Auto, Surroundings { no_color: true, colour_forced: true, ..tty }));
        assert!(!colour(ColourChoice::Auto, Surroundings { dumb: true, ..tty }));
        assert!(colour(ColourChoice::Always, Surroundings { no_color: true, ..piped }));
        assert!(!colour(ColourChoice::Never, Surroundings { colour_forced: true, ..tty }));
    }

    #[test]
    fn width_is_columns_then_the_terminal_then_80() {
        let terminal = |around: Surroundings| Terminal::new(ColourChoice::Auto, &around);
        assert_eq!(terminal(Surroundings::default()).width, 80);
        assert_eq!(terminal(on_a_terminal()).width, 72);
        assert_eq!(terminal(Surroundings { columns: Some(120), ..on_a_terminal() }).width, 120);
        assert_eq!(terminal(Surroundings { columns: Some(1), ..on_a_terminal() }).width, MIN_WIDTH);
    }

    #[test]
    fn only_a_terminal_or_columns_break_sentences() {
        let wrap = |around: Surroundings| Terminal::new(ColourChoice::Auto, &around).stderr.wrap;
        assert_eq!(wrap(Surroundings::default()), Wrap::No);
        assert_eq!(wrap(Surroundings { columns: Some(60), ..Surroundings::default() }), Wrap::Words);
        assert_eq!(wrap(on_a_terminal()), Wrap::Words);
    }
}
