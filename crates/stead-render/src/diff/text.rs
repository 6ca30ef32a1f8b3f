//! Differences of two texts, line by line.

use stead_model::PropertyPath;

use super::sequence::{Op, sequence};
use super::string::Window;
use super::{Differ, Sign, yaml};
use crate::Detail;
use crate::visible::{self, cut};

/// Number of unchanged lines shown around a change.
const CONTEXT: usize = 2;

/// Number of lines of one side of a change before its middle is left out.
const MAX_LINES: usize = 60;

impl Differ {
    pub(super) fn texts(&mut self, depth: usize, path: &PropertyPath, old: &str, new: &str) {
        let (a, b): (Vec<&str>, Vec<&str>) =
            (old.split_inclusive('\n').collect(), new.split_inclusive('\n').collect());
        self.push(depth, Sign::Both, format!("{path}:"));
        let keys = yaml::is_yaml(&a) && yaml::is_yaml(&b);
        let ops = sequence(&a, &b);
        for (at, op) in ops.iter().enumerate() {
            match op {
                Op::Equal { new, .. } => {
                    let (first, last) = (at == 0, at + 1 == ops.len());
                    let before = if first { 0 } else { CONTEXT };
                    let after = if last { 0 } else { CONTEXT };
                    let place = (keys && !last).then(|| yaml::place(&b, new.end)).flatten();
                    self.equal(depth + 1, &b[new.clone()], before, after, place);
                }
                Op::Changed { old: x, new: y } => {
                    let ends = Ends { old: old.ends_with('\n'), new: new.ends_with('\n') };
                    self.changed(depth + 1, &a[x.clone()], &b[y.clone()], &ends);
                }
            }
        }
    }

    /// Adds the unchanged lines at both ends of a part, and counts the rest.
    fn equal(&mut self, depth: usize, lines: &[&str], before: usize, after: usize, place: Option<String>) {
        let hidden = lines.len().saturating_sub(before + after);
        let all = hidden <= 1 || self.detail == Detail::Full;
        let (head, tail) = if all { (lines.len(), lines.len()) } else { (before, lines.len() - after) };
        let shown = |line: &&str| visible::line(line.strip_suffix('\n').unwrap_or(line));
        lines[..head].iter().for_each(|line| self.push(depth, Sign::Both, format!("  {}", shown(line))));
        if !all {
            let place = place.map(|place| format!(", then in {}", visible::line(&place))).unwrap_or_default();
            self.push(depth, Sign::Both, format!("… {hidden} unchanged lines{place}"));
        }
        lines[tail..].iter().for_each(|line| self.push(depth, Sign::Both, format!("  {}", shown(line))));
    }

    fn changed(&mut self, depth: usize, old: &[&str], new: &[&str], ends: &Ends) {
        if old.len() == new.len() && old.len() <= MAX_LINES {
            for (old, new) in old.iter().zip(new) {
                self.changed_line(depth, old, new, ends);
            }
            return;
        }
        self.side(depth, Sign::Old, old, ends.old || !ends.new);
        self.side(depth, Sign::New, new, ends.new || !ends.old);
    }

    /// Adds two lines that stand at the same place.
    fn changed_line(&mut self, depth: usize, old: &str, new: &str, ends: &Ends) {
        let bare = |line: &'_ str| line.strip_suffix('\n').unwrap_or(line).to_owned();
        let (a, b) = (bare(old), bare(new));
        let long = a.chars().count().max(b.chars().count()) > self.room(depth).max(100);
        let (a, b) = if long && a != b && self.detail != Detail::Full {
            Window::of(&a, &b, self.room(depth)).texts(self.limit())
        } else {
            (visible::line(&a), visible::line(&b))
        };
        self.push(depth, Sign::Old, a);
        self.no_newline(depth, old, ends.old || !ends.new);
        self.push(depth, Sign::New, b);
        self.no_newline(depth, new, ends.new || !ends.old);
    }

    /// Adds the lines of one side. The middle of a very long side is replaced by its digest; both ends stay.
    fn side(&mut self, depth: usize, sign: Sign, lines: &[&str], newline_is_plain: bool) {
        let hidden = lines.len().saturating_sub(MAX_LINES);
        let half = MAX_LINES / 2;
        for (at, line) in lines.iter().enumerate() {
            if hidden > 0 && self.detail != Detail::Full {
                if at == half {
                    let digest = visible::digest(&lines.concat());
                    self.push(depth, sign, format!("… {hidden} lines more, sha256 of all {digest}"));
                }
                if (half..half + hidden).contains(&at) {
                    continue;
                }
            }
            let bare = line.strip_suffix('\n').unwrap_or(line);
            let long = bare.chars().count() > self.limit();
            let text = if long { cut(&visible::quoted(bare), self.limit()) } else { visible::line(bare) };
            self.push(depth, sign, text);
            self.no_newline(depth, line, newline_is_plain);
        }
    }

    /// Remarks that a line ends its side without a newline, if the other side has one.
    fn no_newline(&mut self, depth: usize, line: &str, plain: bool) {
        if !plain && !line.ends_with('\n') {
            self.push(depth, Sign::NoNewline, "no newline at the end".to_owned());
        }
    }

    /// Adds the lines of a text without an older or a newer one.
    pub(crate) fn block(&mut self, depth: usize, sign: Sign, text: &str) {
        let lines: Vec<&str> = text.split_inclusive('\n').collect();
        self.side(depth, sign, &lines, false);
    }
}

/// Whether each text ends with a newline.
struct Ends {
    old: bool,
    new: bool,
}
