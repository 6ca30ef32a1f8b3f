//! Colour, in one place.

use anstyle::{AnsiColor, Color};

/// How text is to look. Decided once, by whoever knows the terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Style {
    pub colour: bool,
    pub width: usize,
}

impl Default for Style {
    fn default() -> Self {
        Style { colour: false, width: 100 }
    }
}

/// What a piece of text is, rather than what colour it has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Paint {
    Good,
    Caution,
    Danger,
    Quiet,
    Strong,
}

impl Style {
    pub fn paint(&self, paint: Paint, text: &str) -> String {
        if !self.colour {
            return text.to_owned();
        }
        let plain = anstyle::Style::new();
        let style = match paint {
            Paint::Good => plain.fg_color(Some(Color::Ansi(AnsiColor::Green))),
            Paint::Caution => plain.fg_color(Some(Color::Ansi(AnsiColor::Yellow))),
            Paint::Danger => plain.fg_color(Some(Color::Ansi(AnsiColor::Red))).bold(),
            Paint::Quiet => plain.dimmed(),
            Paint::Strong => plain.bold(),
        };
        format!("{style}{text}{style:#}")
    }
}
