//! A change of one property as text.

use stead_model::{Input, PropertyPath, Value};
use stead_schema::Change;

use crate::diff::{Body, Differ, Line, Sign};
use crate::node::Node;
use crate::{Paint, Style};

/// Renders a change: the lines, elements and keys that differ, with a remark if the change forces a replacement.
pub fn change_lines(change: &Change, style: &Style) -> String {
    lines_with(change, "", style)
}

/// Renders a change, with a remark on its first line.
pub(crate) fn lines_with(change: &Change, remark: &str, style: &Style) -> String {
    let forces = match (change.replaces, change.tried_in_place) {
        (true, false) => style.paint(Paint::Danger, "  forces replacement"),
        (true, true) => style.paint(Paint::Danger, "  may force replacement"),
        (false, _) => String::new(),
    };
    paint(&differences(change, style), &format!("{forces}{remark}"), style)
}

pub(crate) fn differences(change: &Change, style: &Style) -> Vec<Line> {
    let mut differ = Differ::new(style);
    let (old, new) = (change.old.as_ref().map(Node::from), change.new.as_ref().map(Node::from));
    match (old, new) {
        (Some(old), Some(new)) => differ.compare(0, &change.path, &old, &new),
        (Some(old), None) => differ.removed(0, &change.path.to_string(), &old),
        (None, Some(new)) => differ.added(0, &change.path.to_string(), &new),
        (None, None) => {}
    }
    differ.lines
}

/// Renders a property of a resource that is created or imported.
pub(crate) fn property(path: &PropertyPath, value: &Node<'_>, remark: &str, style: &Style) -> String {
    let mut differ = Differ::new(style);
    differ.shown(0, &path.to_string(), value);
    paint(&differ.lines, remark, style)
}

/// Renders a value on one line; a very long one is cut, and ends with its digest.
pub fn value(value: &Value) -> String {
    crate::visible::cut(&Node::from(value).text(), crate::diff::MAX_PART)
}

/// Renders an input on one line; a very long one is cut, and ends with its digest.
pub fn input(input: &Input) -> String {
    crate::visible::cut(&Node::from(input).text(), crate::diff::MAX_PART)
}

fn paint(lines: &[Line], remark: &str, style: &Style) -> String {
    let mut out = String::new();
    for (at, line) in lines.iter().enumerate() {
        let indent = "  ".repeat(line.depth);
        let (column, text) = match (&line.sign, &line.body) {
            // Two secrets: that they differ is all that may be told.
            (_, Body::Pair { label, old, new }) if old == new => {
                let label = if label.is_empty() { String::new() } else { format!("{label}: ") };
                ("    ", format!("{label}{old} (changed)"))
            }
            (_, Body::Pair { label, old, new }) if label.is_empty() => ("    ", format!("{old} → {new}")),
            (_, Body::Pair { label, old, new }) => ("    ", format!("{label}: {old} → {new}")),
            (Sign::Both, Body::Text(text)) if text.starts_with('…') => {
                ("    ", style.paint(Paint::Quiet, text))
            }
            (Sign::Both, Body::Text(text)) => ("    ", text.clone()),
            (Sign::Old, Body::Text(text)) => ("", style.paint(Paint::Danger, &format!("    - {text}"))),
            (Sign::New, Body::Text(text)) => ("", style.paint(Paint::Good, &format!("    + {text}"))),
            (Sign::Moved, Body::Text(text)) => ("", style.paint(Paint::Caution, &format!("    > {text}"))),
            (Sign::NoNewline, Body::Text(text)) => ("", style.paint(Paint::Quiet, &format!("    \\ {text}"))),
        };
        let remark = if at == 0 { remark } else { "" };
        out.push_str(&format!("{indent}{column}{text}{remark}\n"));
    }
    out
}

#[cfg(test)]
mod tests {
    use stead_model::ExprId;

    use super::*;

    #[test]
    fn unknown_value_is_rendered_as_known_after_apply() {
        let list = Input::List(vec![Input::Known(Value::from(1)), Input::Deferred(ExprId(0))]);
        assert_eq!(input(&list), "[1,(known after apply)]");
    }

    #[test]
    fn changed_secret_is_told_without_its_value() {
        let secret = |text: &str| Value::secret(Value::from(text));
        let change = Change {
            path: PropertyPath::of("password"),
            old: Some(secret("old-hunter2")),
            new: Some(Input::Known(secret("new-hunter2"))),
            replaces: false,
            tried_in_place: false,
        };
        assert_eq!(change_lines(&change, &Style::default()).trim(), "password: [secret] (changed)");
    }

    #[test]
    fn value_is_on_one_line() {
        assert_eq!(value(&Value::from("a\nb\u{1b}[31m")), r#""a\nb\u001b[31m""#);
        assert!(value(&Value::from("é".repeat(500))).contains("… (502 characters, sha256 "));
    }
}
