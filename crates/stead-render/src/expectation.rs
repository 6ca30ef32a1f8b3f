//! The difference between an expected and a received text of a test, line by line.

use crate::diff::{Op, sequence};
use crate::visible::line;
use crate::{Paint, Style};

/// Number of unchanged lines shown around a change.
const CONTEXT: usize = 3;

/// Renders the lines of both texts: `-` for expected ones that were not received, `+` for received ones that were not expected.
pub fn expectation(expected: &str, received: &str, style: &Style) -> String {
    let (a, b): (Vec<&str>, Vec<&str>) = (expected.lines().collect(), received.lines().collect());
    let mut out = format!(
        "  {}\n  {}\n\n",
        style.paint(Paint::Good, "- expected"),
        style.paint(Paint::Danger, "+ received")
    );
    let ops = sequence(&a, &b);
    for (at, op) in ops.iter().enumerate() {
        match op {
            Op::Equal { new, .. } => {
                let before = if at == 0 { 0 } else { CONTEXT };
                let after = if at + 1 == ops.len() { 0 } else { CONTEXT };
                equal(&b[new.clone()], before, after, &mut out);
            }
            Op::Changed { old, new } => {
                let side = |sign: &str, paint, lines: &[&str]| -> String {
                    lines
                        .iter()
                        .map(|text| format!("  {}\n", style.paint(paint, &format!("{sign} {}", line(text)))))
                        .collect()
                };
                out.push_str(&side("-", Paint::Good, &a[old.clone()]));
                out.push_str(&side("+", Paint::Danger, &b[new.clone()]));
            }
        }
    }
    out
}

fn equal(lines: &[&str], before: usize, after: usize, out: &mut String) {
    let hidden = lines.len().saturating_sub(before + after);
    let all = hidden <= 1;
    for (at, text) in lines.iter().enumerate() {
        if all || at < before || at >= lines.len() - after {
            out.push_str(&format!("    {}\n", line(text)));
        } else if at == before {
            out.push_str(&format!("    … {hidden} equal lines\n"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_of_an_expectation_are_compared_line_by_line() {
        let expected = "{\n  a: 1,\n  b: 2,\n  c: 3,\n  d: 4,\n  e: 5,\n  f: 6,\n}";
        let received = "{\n  a: 1,\n  b: 2,\n  c: 3,\n  d: 4,\n  e: 7,\n  f: 6,\n}";
        let lines = [
            "  - expected",
            "  + received",
            "",
            "    … 2 equal lines",
            "      b: 2,",
            "      c: 3,",
            "      d: 4,",
            "  -   e: 5,",
            "  +   e: 7,",
            "      f: 6,",
            "    }",
            "",
        ];
        assert_eq!(expectation(expected, received, &Style::default()), lines.join("\n"));
    }
}
