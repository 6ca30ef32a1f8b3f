//! Finds the test files of a project: `*.test.ts`, except in hidden folders and installed packages.

use std::path::Path;

use stead_eval::TEST_FILE;
use stead_world::{FileKind, World};

/// Depth of folders at which the search stops.
const MAX_DEPTH: usize = 32;

/// Returns the paths of all test files, relative to the project and sorted.
pub(super) fn test_files(world: &World, root: &Path) -> Vec<String> {
    let mut found = Vec::new();
    search(world, root, "", 0, &mut |path| {
        if path.ends_with(TEST_FILE) {
            found.push(path.to_owned());
        }
    });
    found.sort();
    found
}

/// Calls `each` for every file of a project that its programs or tests may read.
pub(super) fn search(world: &World, root: &Path, below: &str, depth: usize, each: &mut dyn FnMut(&str)) {
    for name in world.files.list(&root.join(below)).unwrap_or_default() {
        if name.starts_with('.') || name == "node_modules" || depth >= MAX_DEPTH {
            continue;
        }
        let path = if below.is_empty() { name } else { format!("{below}/{name}") };
        match world.files.metadata(&root.join(&path)) {
            Ok(Some(found)) if found.kind == FileKind::Directory => {
                search(world, root, &path, depth + 1, each)
            }
            Ok(Some(found)) if found.kind == FileKind::File => each(&path),
            _ => {}
        }
    }
}
