//! Differences of two strings: JSON by its values, text by its lines, other strings by the part that differs.

use stead_model::PropertyPath;

use super::json_text::{self, Layout};
use super::{Differ, Sign};
use crate::Detail;
use crate::node::Node;
use crate::visible::{digest, quoted};

impl Differ {
    pub(super) fn strings(&mut self, depth: usize, path: &PropertyPath, old: &str, new: &str) {
        if let Some((a, b)) = json_text::both(old, new) {
            let same = layouts_are_equal(old, new) && json_text::numbers_are_plain(old, new);
            let digests =
                || format!(", its layout may differ too (sha256 {} → {})", digest(old), digest(new));
            let remark = if same { String::new() } else { digests() };
            self.push(depth, Sign::Both, format!("{path}: JSON{remark}"));
            return self.compare(depth + 1, &PropertyPath::default(), &Node::from(&a), &Node::from(&b));
        }
        if old.contains('\n') || new.contains('\n') {
            return self.texts(depth, path, old, new);
        }
        let (a, b) = (quoted(old), quoted(new));
        let length = |text: &str| text.chars().count() + 2 * depth + 8;
        if self.detail == Detail::Full || length(&a).max(length(&b)) <= self.width {
            return self.pair(depth, &path.to_string(), a, b);
        }
        let window = Window::of(old, new, self.room(depth + 1));
        let Window { at, lengths: (before, after), .. } = window;
        self.push(
            depth,
            Sign::Both,
            format!("{path}: differs at character {} ({before} → {after} characters)", at + 1),
        );
        let (old, new) = window.texts(self.limit());
        self.push(depth + 1, Sign::Old, old);
        self.push(depth + 1, Sign::New, new);
    }
}

fn layouts_are_equal(old: &str, new: &str) -> bool {
    let layout = |text: &str| json_text::layout(text.strip_suffix('\n').unwrap_or(text));
    layout(old) == layout(new) && layout(old) != Layout::Other && old.ends_with('\n') == new.ends_with('\n')
}

/// The part in which two texts differ, with some characters around it.
pub(super) struct Window {
    /// Position of the first character that differs.
    pub at: usize,
    pub lengths: (usize, usize),
    before: String,
    parts: (String, String),
    after: String,
    /// Whether equal characters are left out before and after.
    cut: (Cut, Cut),
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Cut {
    No,
    Yes,
}

impl Cut {
    fn mark(self) -> &'static str {
        if self == Cut::Yes { "…" } else { "" }
    }
}

impl Window {
    pub(super) fn of(old: &str, new: &str, room: usize) -> Window {
        let (a, b): (Vec<char>, Vec<char>) = (old.chars().collect(), new.chars().collect());
        let at = a.iter().zip(&b).take_while(|(a, b)| a == b).count();
        let rest = a[at..].iter().rev().zip(b[at..].iter().rev());
        let same_end = rest.take_while(|(a, b)| a == b).count();
        let (a_end, b_end) = (a.len() - same_end, b.len() - same_end);
        let part = (a_end - at).max(b_end - at);
        let around = (room.saturating_sub(part + 4) / 2).clamp(12, 40);
        let (first, last) = (at.saturating_sub(around), around.min(same_end));
        let cut = |yes: bool| if yes { Cut::Yes } else { Cut::No };
        Window {
            at,
            lengths: (a.len(), b.len()),
            before: a[first..at].iter().collect(),
            parts: (a[at..a_end].iter().collect(), b[at..b_end].iter().collect()),
            after: a[a_end..a_end + last].iter().collect(),
            cut: (cut(first > 0), cut(last < same_end)),
        }
    }

    pub(super) fn texts(&self, limit: usize) -> (String, String) {
        (self.text(&self.parts.0, limit), self.text(&self.parts.1, limit))
    }

    /// Renders one side. The middle of a very long part is replaced by its digest; both ends stay.
    fn text(&self, part: &str, limit: usize) -> String {
        let count = part.chars().count();
        let middle = if count <= limit {
            quoted(&format!("{}{part}{}", self.before, self.after))
        } else {
            let half = limit / 2;
            let (head, tail): (String, String) =
                (part.chars().take(half).collect(), part.chars().skip(count - half).collect());
            let (head, tail) =
                (quoted(&format!("{}{head}", self.before)), quoted(&format!("{tail}{}", self.after)));
            format!("{head} … {} characters more, sha256 {} … {tail}", count - 2 * half, digest(part))
        };
        format!("{}{middle}{}", self.cut.0.mark(), self.cut.1.mark())
    }
}
