//! Texts that look like YAML: the keys around a line, by indentation.

/// Returns true if most lines are keys, elements or comments.
pub(super) fn is_yaml(lines: &[&str]) -> bool {
    let filled = lines.iter().filter(|line| !line.trim().is_empty());
    let (count, keyed) = filled.fold((0usize, 0usize), |(count, keyed), line| {
        let known = key(line).is_some() || line.trim_start().starts_with(['-', '#']);
        (count + 1, keyed + usize::from(known))
    });
    count > 1 && keyed * 10 >= count * 8
}

/// Returns the keys that enclose the line at an index: `spec.containers[1]`.
pub(super) fn place(lines: &[&str], at: usize) -> Option<String> {
    let is_element = |line: &str| line.trim_start().starts_with("- ");
    let (mut limit, mut element) = (indent(lines.get(at)?), is_element(lines.get(at)?));
    let (mut path, mut item) = (Vec::new(), 0);
    for line in lines[..at].iter().rev().filter(|line| !line.trim().is_empty()) {
        let (depth, begins) = (indent(line), is_element(line));
        if depth == limit && element && begins {
            item += 1;
        }
        // A list may stand at the indentation of its key.
        let encloses = depth < limit || (depth == limit && element && !begins && key(line).is_some());
        if !encloses {
            continue;
        }
        if element {
            path.push(format!("[{item}]"));
            item = 0;
        }
        if !begins {
            path.extend(key(line).map(str::to_owned));
        }
        (limit, element) = (depth, begins);
    }
    if element {
        path.push(format!("[{item}]"));
    }
    let joined = path.iter().rev().fold(String::new(), |text, part| {
        let dot = if text.is_empty() || part.starts_with('[') { "" } else { "." };
        format!("{text}{dot}{part}")
    });
    (!joined.is_empty()).then_some(joined)
}

fn indent(line: &str) -> usize {
    line.len() - line.trim_start_matches(' ').len()
}

/// Returns the key of `key: value` or `key:`.
fn key(line: &str) -> Option<&str> {
    let line = line.trim();
    let (name, rest) = line.split_once(':')?;
    let word = |c: char| c.is_alphanumeric() || "_-./\"'$ ".contains(c);
    (!name.is_empty() && name.chars().all(word) && (rest.is_empty() || rest.starts_with(' '))).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_is_placed_by_the_keys_around_it() {
        let text = "kind: Pod\nspec:\n  containers:\n  - name: a\n    image: x\n  - name: b\n    image: y\n";
        let lines: Vec<&str> = text.split_inclusive('\n').collect();
        assert!(is_yaml(&lines));
        assert_eq!(place(&lines, 6).as_deref(), Some("spec.containers[1]"));
        assert_eq!(place(&lines, 5).as_deref(), Some("spec.containers[1]"));
        assert_eq!(place(&lines, 0), None);
        assert!(!is_yaml(&["hello world\n", "how are you\n"]));
    }
}
