//! Colours.

use anstyle::{AnsiColor, Color};

/// Capabilities of the terminal; the front end chooses them once.
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

/// Meaning of a piece of text, from which its colour follows.
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
