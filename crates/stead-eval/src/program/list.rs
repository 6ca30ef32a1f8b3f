//! Lists project files for a program: all files below a folder, or those that match a pattern.
//!
//! **Invariant:** symbolic links are not followed, and the result is sorted.

use crate::EntryKind;
use crate::program::files::{FileError, IN_PROJECT, file_error, normalise};
use crate::program::requests::Requester;

/// Largest number of files in a list.
const MOST_FILES: usize = 10_000;
/// Maximum nesting of folders.
const MAX_DEPTH: usize = 100;
/// Folders that a pattern enters only if it names them.
const SKIPPED: &[&str] = &[".git", ".stead", "node_modules"];

/// Returns the files below a folder, or the files that match a pattern with `*`, `?` and `**`.
pub(crate) fn files(requester: &Requester, pattern: &str) -> Result<Vec<String>, FileError> {
    let path = normalise(pattern)?;
    let parts: Vec<&str> = path.split('/').collect();
    let fixed = parts.iter().take_while(|part| !part.contains(['*', '?'])).count();
    let (start, rest) = parts.split_at(fixed);
    let folder = start.join("/");
    let mut found = Vec::new();
    let walk = Walk {
        requester,
        pattern: if rest.is_empty() { &["**", "*"] } else { rest },
        named: !rest.is_empty(),
    };
    walk.folder(&folder, walk.pattern, 0, &mut found)?;
    found.sort();
    found.dedup();
    Ok(found)
}

struct Walk<'a> {
    requester: &'a Requester,
    pattern: &'a [&'a str],
    /// The caller gave a pattern; a folder alone includes hidden files.
    named: bool,
}

impl Walk<'_> {
    fn folder(
        &self,
        folder: &str,
        pattern: &[&str],
        depth: usize,
        found: &mut Vec<String>,
    ) -> Result<(), FileError> {
        let entries = match self.requester.list(folder) {
            Ok(Some(entries)) => entries,
            Ok(None) => return Err(file_error(format!("there is no folder `{folder}`"), IN_PROJECT)),
            Err(error) => return Err(file_error(format!("`{folder}` cannot be read: {error}"), IN_PROJECT)),
        };
        if depth > MAX_DEPTH {
            return Err(file_error(format!("the folders in `{folder}` are nested too deeply"), IN_PROJECT));
        }
        for entry in entries {
            let path =
                if folder.is_empty() { entry.name.clone() } else { format!("{folder}/{}", entry.name) };
            for rest in self.after(pattern, &entry.name) {
                match entry.kind {
                    EntryKind::File if rest.is_empty() => found.push(path.clone()),
                    EntryKind::Folder if !rest.is_empty() => self.folder(&path, rest, depth + 1, found)?,
                    EntryKind::File | EntryKind::Folder | EntryKind::Other => {}
                }
            }
            if found.len() > MOST_FILES {
                let help = "list a smaller folder, or use `archive` for a folder as a whole";
                let message = format!("the list has more than {MOST_FILES} files");
                return Err(FileError { too_large: true, ..file_error(message, help) });
            }
        }
        Ok(())
    }

    /// Returns the patterns that remain for the entries of a folder, or for the end of the path, after a name.
    fn after<'p>(&self, pattern: &'p [&'p str], name: &str) -> Vec<&'p [&'p str]> {
        let Some((first, rest)) = pattern.split_first() else { return Vec::new() };
        let hidden =
            self.named && (name.starts_with('.') && !first.starts_with('.') || SKIPPED.contains(&name));
        if *first == "**" {
            let mut all = self.after(rest, name);
            if !hidden {
                all.push(pattern);
            }
            return all;
        }
        let hidden = hidden && *first != name;
        if !hidden && matches(first, name) { vec![rest] } else { Vec::new() }
    }
}

/// Returns true if a name matches: `*` stands for any text, `?` for one character.
fn matches(pattern: &str, name: &str) -> bool {
    let (pattern, name): (Vec<char>, Vec<char>) = (pattern.chars().collect(), name.chars().collect());
    let (mut p, mut n) = (0, 0);
    let mut star = None;
    while n < name.len() {
        match pattern.get(p) {
            Some('*') => {
                star = Some((p, n));
                p += 1;
            }
            Some(letter) if *letter == '?' || *letter == name[n] => {
                p += 1;
                n += 1;
            }
            _ => match star {
                // The last star takes one more character.
                Some((at, taken)) => {
                    star = Some((at, taken + 1));
                    p = at + 1;
                    n = taken + 1;
                }
                None => return false,
            },
        }
    }
    pattern[p..].iter().all(|letter| *letter == '*')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn star_matches_any_text_of_one_name() {
        for (pattern, name, wanted) in [
            ("*.yaml", "a.yaml", true),
            ("*.yaml", "a.yml", false),
            ("a?c", "abc", true),
            ("a?c", "ac", false),
            ("*a*b*", "xxaxxbxx", true),
            ("*a*b", "xxaxxbxx", false),
            ("", "", true),
            ("*", "", true),
        ] {
            assert_eq!(matches(pattern, name), wanted, "{pattern} {name}");
        }
    }
}
