//! Files that a program uses: as text, or as assets, of which the graph holds path and digest.
//!
//! **Invariant:** nothing outside the project is read, and within one evaluation a file has one content.

use std::collections::HashMap;

use sha2::{Digest, Sha256};

use crate::EntryKind;
use crate::codec;
use crate::port::Port;
use crate::specifier::join;

/// What a program asked for; `help` says what to do about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Unusable {
    pub(crate) message: String,
    pub(crate) help: &'static str,
    /// It is there, and too large.
    pub(crate) too_large: bool,
}

/// A file or a folder of the project, by its normalised path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Asset {
    pub(crate) path: String,
    pub(crate) hash: String,
}

/// Everything that was read, so that it is read once.
#[derive(Debug, Default)]
pub(crate) struct Answers {
    texts: HashMap<String, Result<String, Unusable>>,
    files: HashMap<String, Result<Asset, Unusable>>,
    archives: HashMap<String, Result<Asset, Unusable>>,
}

/// How deep folders of an archive may lie in each other.
const MAX_DEPTH: usize = 100;
const IN_PROJECT: &str =
    "paths are relative to the project's folder, the one with stead.toml; nothing outside it is read";

impl Answers {
    pub(crate) fn text(&mut self, port: &Port, path: &str, limit: usize) -> Result<String, Unusable> {
        let path = inside(path)?;
        let read = || {
            let bytes = bytes(port, &path, limit)?;
            String::from_utf8(bytes).map_err(|_| {
                let help = "for a file that is not text, use `file`";
                unusable(format!("`{path}` is not UTF-8"), help)
            })
        };
        self.texts.entry(path.clone()).or_insert_with(read).clone()
    }

    pub(crate) fn file(&mut self, port: &Port, path: &str, limit: usize) -> Result<Asset, Unusable> {
        let path = inside(path)?;
        let read = || {
            let hash = codec::sha256(&bytes(port, &path, limit)?);
            Ok(Asset { path: path.clone(), hash })
        };
        self.files.entry(path.clone()).or_insert_with(read).clone()
    }

    pub(crate) fn archive(&mut self, port: &Port, folder: &str, limit: usize) -> Result<Asset, Unusable> {
        let path = inside(folder)?;
        let read = || {
            let mut files = Vec::new();
            collect(port, &path, "", limit, &mut files)?;
            files.sort();
            Ok(Asset { path: path.clone(), hash: archive_hash(&files) })
        };
        self.archives.entry(path.clone()).or_insert_with(read).clone()
    }
}

/// Each part is preceded by its length, so that no two lists give the same bytes.
fn archive_hash(files: &[(String, String)]) -> String {
    let mut digest = Sha256::new();
    for part in files.iter().flat_map(|(path, hash)| [path, hash]) {
        digest.update((part.len() as u64).to_be_bytes());
        digest.update(part.as_bytes());
    }
    codec::hex(&digest.finalize())
}

/// All files below a folder: path within it, and digest.
fn collect(
    port: &Port,
    root: &str,
    below: &str,
    limit: usize,
    files: &mut Vec<(String, String)>,
) -> Result<(), Unusable> {
    let folder = if below.is_empty() { root.to_owned() } else { format!("{root}/{below}") };
    let entries = match port.list(&folder) {
        Ok(Some(entries)) => entries,
        Ok(None) => return Err(unusable(format!("there is no folder `{folder}`"), IN_PROJECT)),
        Err(error) => return Err(unusable(format!("`{folder}` cannot be read: {error}"), IN_PROJECT)),
    };
    if below.split('/').count() > MAX_DEPTH {
        return Err(unusable(format!("the folders in `{root}` lie too deep in each other"), IN_PROJECT));
    }
    for entry in entries {
        let name = if below.is_empty() { entry.name } else { format!("{below}/{}", entry.name) };
        match entry.kind {
            EntryKind::Folder => collect(port, root, &name, limit, files)?,
            EntryKind::File => {
                let hash = codec::sha256(&bytes(port, &format!("{root}/{name}"), limit)?);
                files.push((name, hash));
            }
            EntryKind::Other => {
                let help = "copy what it leads to into the folder, or archive another one";
                return Err(unusable(format!("`{root}/{name}` is a symbolic link, or no file"), help));
            }
        }
    }
    Ok(())
}

fn bytes(port: &Port, path: &str, limit: usize) -> Result<Vec<u8>, Unusable> {
    match port.read_bytes(path) {
        Ok(Some(bytes)) if bytes.len() > limit => Err(Unusable {
            message: format!("`{path}` is larger than a program may read"),
            help: "keep large files where they are, and refer to them by name",
            too_large: true,
        }),
        Ok(Some(bytes)) => Ok(bytes),
        Ok(None) => Err(unusable(format!("there is no file `{path}`"), IN_PROJECT)),
        Err(error) => Err(unusable(format!("`{path}` cannot be read: {error}"), IN_PROJECT)),
    }
}

/// The path, normalised, if it names something in the project.
fn inside(path: &str) -> Result<String, Unusable> {
    let usable = !path.starts_with('/') && !path.contains(['\\', '\0']) && path.get(1..2) != Some(":");
    match join("", path).filter(|_| usable) {
        Some(inside) if inside.is_empty() => {
            Err(unusable("the project as a whole is no asset".to_owned(), "name a file or a folder in it"))
        }
        Some(inside) => Ok(inside),
        None => Err(unusable(format!("`{path}` is outside the project"), IN_PROJECT)),
    }
}

fn unusable(message: String, help: &'static str) -> Unusable {
    Unusable { message, help, too_large: false }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_stay_in_the_project() {
        assert_eq!(inside("./a/../b//c").as_deref(), Ok("b/c"));
        for path in ["/etc/passwd", "../x", "a/../../x", "C:\\x", "c:/x", "a\\b", "", ".", "a/..", "a\0b"] {
            assert!(inside(path).is_err(), "{path}");
        }
    }

    #[test]
    fn the_digest_of_an_archive_frames_its_parts() {
        let list = |all: &[(&str, &str)]| {
            archive_hash(&all.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect::<Vec<_>>())
        };
        assert_ne!(list(&[("ab", "c")]), list(&[("a", "bc")]));
        assert_ne!(list(&[("a", "b"), ("c", "d")]), list(&[("a", "bcd")]));
    }
}
