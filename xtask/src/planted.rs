//! Planted bugs: patches beside the simulator, and a copy of the tree with all of them.
//!
//! A patch adds one bug, which is chosen by name at run time. `000-switch.patch` adds the modules that choose. The patches
//! apply in the order of their names. **Invariant:** only the copy contains a bug; the tree itself is never patched.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::workspace;

/// Folder of the patches, from the root of the repository.
pub(crate) const PATCHES: &str = "crates/stead-trial/planted/";

/// Patch that belongs to no single bug.
pub(crate) const SWITCH: &str = "000-switch";

/// Patch file: its name without extension, and its text.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Patch {
    pub(crate) name: String,
    pub(crate) text: String,
}

/// Use of the patched files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Apply {
    Write,
    OnlyCheck,
}

impl Patch {
    /// Returns the name of the patch in this file, if it is one.
    pub(crate) fn name_of(path: &str) -> Option<&str> {
        path.strip_prefix(PATCHES)?.strip_suffix(".patch")
    }

    /// Returns the files that the patch changes, adds or removes.
    fn touched(&self) -> impl Iterator<Item = &str> {
        let path = |line: &'_ str| line.starts_with("--- ") || line.starts_with("+++ ");
        let named = self.text.lines().filter(move |line| path(line)).map(|line| &line[4..]);
        named.filter_map(|path| path.strip_prefix("a/").or(path.strip_prefix("b/")))
    }
}

/// Applies patches to the files of a folder, one after the other.
///
/// A failure names the patch. In a folder that is not the root of a repository, no repository above it counts.
pub(crate) fn apply(folder: &Path, patches: &[Patch], how: Apply) -> Result<(), String> {
    // As one input, so that a patch sees the files as the patches before it leave them, even if none is written.
    let whole = |patches: &[Patch]| patches.iter().map(|patch| patch.text.as_str()).collect::<String>();
    let Err(problem) = git_apply(folder, &whole(patches), how) else { return Ok(()) };
    for (at, patch) in patches.iter().enumerate() {
        if let Err(problem) = git_apply(folder, &whole(&patches[..=at]), Apply::OnlyCheck) {
            return Err(format!("{}.patch does not apply: {problem}", patch.name));
        }
    }
    Err(problem)
}

fn git_apply(folder: &Path, patch: &str, how: Apply) -> Result<(), String> {
    let cannot = |error: std::io::Error| format!("cannot run git apply: {error}");
    let above = folder.parent().unwrap_or(folder);
    let mut git = Command::new("git");
    git.arg("apply").args((how == Apply::OnlyCheck).then_some("--check")).arg("-");
    git.current_dir(folder).env("GIT_CEILING_DIRECTORIES", above);
    let mut running =
        git.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().map_err(cannot)?;
    if let Some(mut input) = running.stdin.take() {
        // If git ends early, its message says why.
        let _ = input.write_all(patch.as_bytes());
    }
    let done = running.wait_with_output().map_err(cannot)?;
    let message = String::from_utf8_lossy(&done.stderr);
    if done.status.success() { Ok(()) } else { Err(message.trim().replace('\n', ", ")) }
}

/// Makes a copy of the repository with all patches applied, as `tree` in this folder, and returns its path.
///
/// A file that is already as it must be is not written, so that a second build has little to do.
pub(crate) fn copy(root: &Path, folder: &Path) -> Result<PathBuf, String> {
    let files = workspace::files(root)?;
    let mut patches = Vec::new();
    for path in &files {
        if let Some(name) = Patch::name_of(path) {
            patches.push(Patch { name: name.to_owned(), text: text(&root.join(path))? });
        }
    }
    patches.sort();
    if patches.is_empty() {
        return Err(format!("{PATCHES} has no patches"));
    }
    let touched: BTreeSet<&str> = patches.iter().flat_map(Patch::touched).collect();
    let patched = folder.join("patched");
    remove_folder(&patched)?;
    for path in touched.iter().filter(|path| root.join(path).is_file()) {
        copy_file(&root.join(path), &patched.join(path))?;
    }
    let patched = std::fs::canonicalize(&patched).map_err(at(&patched))?;
    apply(&patched, &patches, Apply::Write)?;

    let untouched = files.iter().filter(|path| !touched.contains(path.as_str()));
    let mut wanted: BTreeMap<PathBuf, PathBuf> =
        untouched.map(|path| (path.into(), root.join(path))).filter(|(_, from)| from.is_file()).collect();
    wanted.extend(below(&patched)?.into_iter().map(|path| (path.clone(), patched.join(path))));
    let tree = folder.join("tree");
    update(&tree, &wanted)?;
    Ok(tree)
}

/// Gives a folder exactly these files, each copied from another place unless it is the same already.
fn update(tree: &Path, wanted: &BTreeMap<PathBuf, PathBuf>) -> Result<(), String> {
    for stale in below(tree)?.iter().filter(|path| !wanted.contains_key(*path)) {
        std::fs::remove_file(tree.join(stale)).map_err(at(stale))?;
    }
    for (path, from) in wanted {
        let to = tree.join(path);
        let content = std::fs::read(from).map_err(at(from))?;
        if !std::fs::read(&to).is_ok_and(|present| present == content) {
            copy_file(from, &to)?;
        }
    }
    Ok(())
}

/// Returns all files below a folder, by their paths from it; none if the folder is missing.
fn below(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let (mut found, mut open) = (Vec::new(), vec![PathBuf::new()]);
    while let Some(path) = open.pop() {
        let whole = folder.join(&path);
        if whole.is_dir() {
            for entry in std::fs::read_dir(&whole).map_err(at(&whole))? {
                open.push(path.join(entry.map_err(at(&whole))?.file_name()));
            }
        } else if path != Path::new("") {
            found.push(path);
        }
    }
    Ok(found)
}

fn copy_file(from: &Path, to: &Path) -> Result<(), String> {
    if let Some(folder) = to.parent() {
        std::fs::create_dir_all(folder).map_err(at(folder))?;
    }
    std::fs::copy(from, to).map(drop).map_err(at(to))
}

fn remove_folder(folder: &Path) -> Result<(), String> {
    match std::fs::remove_dir_all(folder) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(at(folder)(error)),
        _ => std::fs::create_dir_all(folder).map_err(at(folder)),
    }
}

fn text(path: &Path) -> Result<String, String> {
    std::fs::read_to_string(path).map_err(at(path))
}

fn at(path: &Path) -> impl Fn(std::io::Error) -> String {
    let path = path.display().to_string();
    move |error| format!("{path}: {error}")
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIRST: &str = "\
diff --git a/a.txt b/a.txt
--- a/a.txt
+++ b/a.txt
@@ -1,2 +1,3 @@
 one
+first bug
 two
";
    const SECOND: &str = "\
diff --git a/a.txt b/a.txt
--- a/a.txt
+++ b/a.txt
@@ -1,3 +1,4 @@
 one
 first bug
+second bug
 two
diff --git a/new.txt b/new.txt
new file mode 100644
--- /dev/null
+++ b/new.txt
@@ -0,0 +1 @@
+switch
";

    fn patch(name: &str, text: &str) -> Patch {
        Patch { name: name.to_owned(), text: text.to_owned() }
    }

    fn repository(files: &[(&str, &str)]) -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        let done = Command::new("git").args(["init", "--quiet"]).current_dir(root.path()).status().unwrap();
        assert!(done.success());
        std::fs::write(root.path().join(".gitignore"), "/target\n").unwrap();
        for (path, text) in files {
            let path = root.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        root
    }

    #[test]
    fn a_check_applies_patches_in_sequence_and_writes_nothing() {
        let root = repository(&[("a.txt", "one\ntwo\n")]);
        let (first, second) = (patch("first", FIRST), patch("second", SECOND));
        apply(root.path(), &[first.clone(), second.clone()], Apply::OnlyCheck).unwrap();
        assert_eq!(std::fs::read_to_string(root.path().join("a.txt")).unwrap(), "one\ntwo\n");

        let problem = apply(root.path(), &[second, first], Apply::OnlyCheck).unwrap_err();
        assert!(
            problem.starts_with("second.patch does not apply: ") && problem.contains("a.txt"),
            "{problem}"
        );
    }

    #[test]
    fn the_copy_has_all_patches_and_the_repository_none() {
        let root = repository(&[
            ("a.txt", "one\ntwo\n"),
            ("b.txt", "three\n"),
            ("crates/stead-trial/planted/first.patch", FIRST),
            ("crates/stead-trial/planted/second.patch", SECOND),
        ]);
        let folder = root.path().join("target/planted");
        let read = |path: &Path| std::fs::read_to_string(path).unwrap();
        let tree = copy(root.path(), &folder).unwrap();
        assert_eq!(read(&tree.join("a.txt")), "one\nfirst bug\nsecond bug\ntwo\n");
        assert_eq!(
            (read(&tree.join("b.txt")), read(&tree.join("new.txt"))),
            ("three\n".into(), "switch\n".into())
        );
        assert_eq!(read(&root.path().join("a.txt")), "one\ntwo\n");

        let written = |path: &str| std::fs::metadata(tree.join(path)).unwrap().modified().unwrap();
        let before = (written("a.txt"), written("new.txt"));
        std::fs::remove_file(root.path().join("b.txt")).unwrap();
        copy(root.path(), &folder).unwrap();
        assert!(!tree.join("b.txt").exists());
        assert_eq!((written("a.txt"), written("new.txt")), before, "an unchanged file is not written again");
    }

    #[test]
    fn a_tree_without_patches_is_an_error() {
        let root = repository(&[("a.txt", "one\n")]);
        let problem = copy(root.path(), &root.path().join("target/planted")).unwrap_err();
        assert!(problem.contains("has no patches"), "{problem}");
    }
}
