//! Colours.

use anstyle::{AnsiColor, Color};

/// Layout of all text; the front end chooses it once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Style {
    pub colour: bool,
    /// Number of columns.
    pub width: usize,
    pub wrap: Wrap,
    pub detail: Detail,
}

impl Default for Style {
    fn default() -> Self {
        Style { colour: false, width: 80, wrap: Wrap::No, detail: Detail::Normal }
    }
}

/// Whether sentences are broken between words at the width. Lines in a file or a pipe are not broken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wrap {
    No,
    Words,
}

/// How much of a plan is shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Detail {
    /// One line a resource.
    Concise,
    /// Every difference; unchanged parts and very long values are left out.
    #[default]
    Normal,
    /// Everything.
    Full,
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
    /// Breaks a sentence between words, so that it fits beside an indentation. Further lines get the indentation.
    ///
    /// A command is not broken: text between backticks, and all after `: stead`.
    pub fn sentence(&self, text: &str, indent: &str) -> String {
        if self.wrap == Wrap::No {
            return text.to_owned();
        }
        let room = self.width.saturating_sub(indent.chars().count()).max(20);
        let mut lines = vec![String::new()];
        for word in unbroken(text) {
            let used = lines.last().map_or(0, |line| line.chars().count());
            match lines.last_mut() {
                Some(line) if used == 0 || used + 1 + word.chars().count() <= room => {
                    line.push_str(if used == 0 { "" } else { " " });
                    line.push_str(&word);
                }
                _ => lines.push(word),
            }
        }
        lines.join(&format!("\n{indent}"))
    }

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

/// Splits a sentence into words, with each command as one word.
fn unbroken(text: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let (mut quoted, mut command) = (false, false);
    for word in text.split(' ') {
        command |= word == "stead" && words.last().is_none_or(|last| last.ends_with(':'));
        match words.last_mut() {
            Some(last) if quoted || (command && word != "stead") => {
                last.push(' ');
                last.push_str(word);
            }
            _ => words.push(word.to_owned()),
        }
        quoted ^= word.matches('`').count() % 2 == 1;
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_are_broken_between_words_and_commands_are_not() {
        let style = Style { width: 30, wrap: Wrap::Words, ..Style::default() };
        let text =
            "check the plan, then run `stead up --yes -e production` again: stead rename 'a' 'b' -e prod";
        insta::assert_snapshot!(style.sentence(text, "  "), @"
        check the plan, then run
          `stead up --yes -e production`
          again:
          stead rename 'a' 'b' -e prod
        ");
        assert_eq!(Style::default().sentence(text, "  "), text);
    }
}
