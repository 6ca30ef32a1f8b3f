//! Text: common indentation, and templates with placeholders `${name}`.

use stead_model::Value;

use super::{Tree, integer_at, text_at};

/// Removes the indentation that all lines share, and the first and last line if they are blank.
pub(super) fn dedent(arguments: &[Value]) -> Result<Tree, String> {
    let text = text_at(arguments, 0, "the text")?;
    let mut lines: Vec<&str> = text.split('\n').collect();
    let is_blank = |line: &&str| line.trim().is_empty();
    if lines.len() > 1 && lines.first().is_some_and(is_blank) {
        lines.remove(0);
    }
    if lines.len() > 1 && lines.last().is_some_and(is_blank) {
        lines.pop();
    }
    let indents = lines
        .iter()
        .filter(|line| !is_blank(line))
        .map(|line| line.len() - line.trim_start_matches([' ', '\t']).len());
    let common = indents.min().unwrap_or(0);
    let cut: Vec<&str> = lines.iter().map(|line| line.get(common..).unwrap_or_default()).collect();
    Ok(cut.join("\n").into())
}

/// Puts spaces, or a text, in front of each line that is not empty.
pub(super) fn indent(arguments: &[Value]) -> Result<Tree, String> {
    const MOST: i128 = 1000;
    let text = text_at(arguments, 0, "the text")?;
    let before = match arguments.get(1) {
        Some(Value::String(before)) => before.to_string(),
        _ => match integer_at(arguments, 1, "the number of spaces")? {
            spaces @ 0..=MOST => " ".repeat(spaces as usize),
            _ => return Err(format!("the number of spaces must be from 0 to {MOST}")),
        },
    };
    let lines =
        text.split('\n').map(|line| if line.is_empty() { String::new() } else { format!("{before}{line}") });
    Ok(lines.collect::<Vec<_>>().join("\n").into())
}

/// Part of a template.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Piece {
    Text(String),
    /// A placeholder, with line and column from 1.
    Name {
        name: String,
        line: u32,
        column: u32,
    },
}

/// Splits a template at its placeholders `${name}`. `$${` stands for the text `${`.
///
/// The error is a message with line and column.
pub(crate) fn pieces(template: &str) -> Result<Vec<Piece>, (String, u32, u32)> {
    let mut all = Vec::new();
    let mut literal = String::new();
    let mut rest = template;
    while let Some(at) = rest.find("${") {
        let before = &rest[..at];
        if let Some(kept) = before.strip_suffix('$') {
            literal.push_str(kept);
            literal.push_str("${");
            rest = &rest[at + 2..];
            continue;
        }
        literal.push_str(before);
        let offset = template.len() - rest.len() + at;
        let (line, column) = position(template, offset);
        let inside = &rest[at + 2..];
        let end = inside.find(['}', '\n']).filter(|end| inside[*end..].starts_with('}'));
        let Some(end) = end else {
            return Err((
                "the placeholder has no closing `}`; write `$${` for the text `${`".to_owned(),
                line,
                column,
            ));
        };
        let name = inside[..end].trim();
        let is_word = |part: &str| {
            let mut letters = part.chars();
            letters.next().is_some_and(|first| first.is_alphabetic() || first == '_')
                && letters.all(|letter| letter.is_alphanumeric() || letter == '_' || letter == '-')
        };
        if !name.split('.').all(is_word) {
            let message = format!(
                "`{name}` is not a name; a placeholder is a name such as `${{host}}` or `${{db.host}}`, and `$${{` is the text `${{`"
            );
            return Err((message, line, column));
        }
        if !literal.is_empty() {
            all.push(Piece::Text(std::mem::take(&mut literal)));
        }
        all.push(Piece::Name { name: name.to_owned(), line, column });
        rest = &inside[end + 1..];
    }
    literal.push_str(rest);
    if !literal.is_empty() {
        all.push(Piece::Text(literal));
    }
    Ok(all)
}

/// Returns line and column of an offset, both from 1.
pub(super) fn position(text: &str, offset: usize) -> (u32, u32) {
    let before = text.get(..offset).unwrap_or(text);
    let line = before.matches('\n').count() as u32 + 1;
    let column = before.rsplit('\n').next().unwrap_or_default().chars().count() as u32 + 1;
    (line, column)
}
