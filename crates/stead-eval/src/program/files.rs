//! Reads project files for a program: as text, or as assets, which the graph holds as path and digest.
//!
//! **Invariant:** no file outside the project is read, and each file is read at most once per evaluation.

use std::collections::HashMap;

use sha2::{Digest, Sha256};

use crate::EntryKind;
use crate::engine::codec;
use crate::program::requests::Requester;
use crate::program::specifier::join;

/// Error of reading a project file; `help` proposes a fix.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FileError {
    pub(crate) message: String,
    pub(crate) help: &'static str,
    /// The file exists and exceeds the size limit.
    pub(crate) too_large: bool,
}

/// Path and digest of a project file or folder. The path is normalised.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Asset {
    pub(crate) path: String,
    pub(crate) hash: String,
}

/// Cache of the results of all reads in one evaluation.
#[derive(Debug, Default)]
pub(crate) struct FileCache {
    texts: HashMap<String, Result<String, FileError>>,
    files: HashMap<String, Result<Asset, FileError>>,
    archives: HashMap<String, Result<Asset, FileError>>,
}

/// Maximum nesting of folders in an archive.
const MAX_DEPTH: usize = 100;
pub(super) const IN_PROJECT: &str =
    "paths are relative to the project folder (the one with stead.toml); files outside it cannot be read";

impl FileCache {
    pub(crate) fn text(
        &mut self,
        requester: &Requester,
        path: &str,
        limit: usize,
    ) -> Result<String, FileError> {
        let path = normalise(path)?;
        let read = || {
            let bytes = read_limited(requester, &path, limit)?;
            String::from_utf8(bytes).map_err(|_| {
                let help = "for a file that is not text, use `readBytes` or `file`";
                file_error(format!("`{path}` is not UTF-8"), help)
            })
        };
        self.texts.entry(path.clone()).or_insert_with(read).clone()
    }

    pub(crate) fn bytes(
        &self,
        requester: &Requester,
        path: &str,
        limit: usize,
    ) -> Result<Vec<u8>, FileError> {
        read_limited(requester, &normalise(path)?, limit)
    }

    pub(crate) fn file(
        &mut self,
        requester: &Requester,
        path: &str,
        limit: usize,
    ) -> Result<Asset, FileError> {
        let path = normalise(path)?;
        let read = || {
            let hash = codec::sha256(&read_limited(requester, &path, limit)?);
            Ok(Asset { path: path.clone(), hash })
        };
        self.files.entry(path.clone()).or_insert_with(read).clone()
    }

    pub(crate) fn archive(
        &mut self,
        requester: &Requester,
        folder: &str,
        limit: usize,
    ) -> Result<Asset, FileError> {
        let path = normalise(folder)?;
        let read = || {
            let mut files = Vec::new();
            collect(requester, &path, "", limit, &mut files)?;
            files.sort();
            Ok(Asset { path: path.clone(), hash: archive_hash(&files) })
        };
        self.archives.entry(path.clone()).or_insert_with(read).clone()
    }
}

/// Returns the digest of a list of files.
///
/// A length precedes each part, so that different lists never hash the same bytes.
fn archive_hash(files: &[(String, String)]) -> String {
    let mut digest = Sha256::new();
    for part in files.iter().flat_map(|(path, hash)| [path, hash]) {
        digest.update((part.len() as u64).to_be_bytes());
        digest.update(part.as_bytes());
    }
    codec::hex(&digest.finalize())
}

/// Collects path and digest of every file below a folder.
fn collect(
    requester: &Requester,
    root: &str,
    below: &str,
    limit: usize,
    files: &mut Vec<(String, String)>,
) -> Result<(), FileError> {
    let folder = if below.is_empty() { root.to_owned() } else { format!("{root}/{below}") };
    let entries = match requester.list(&folder) {
        Ok(Some(entries)) => entries,
        Ok(None) => return Err(file_error(format!("there is no folder `{folder}`"), IN_PROJECT)),
        Err(error) => return Err(file_error(format!("`{folder}` cannot be read: {error}"), IN_PROJECT)),
    };
    if below.split('/').count() > MAX_DEPTH {
        return Err(file_error(format!("the folders in `{root}` are nested too deeply"), IN_PROJECT));
    }
    for entry in entries {
        let name = if below.is_empty() { entry.name } else { format!("{below}/{}", entry.name) };
        match entry.kind {
            EntryKind::Folder => collect(requester, root, &name, limit, files)?,
            EntryKind::File => {
                let hash = codec::sha256(&read_limited(requester, &format!("{root}/{name}"), limit)?);
                files.push((name, hash));
            }
            EntryKind::Other => {
                let help = "copy its target into the folder, or archive another folder";
                return Err(file_error(
                    format!("`{root}/{name}` is a symbolic link or a special file"),
                    help,
                ));
            }
        }
    }
    Ok(())
}

fn read_limited(requester: &Requester, path: &str, limit: usize) -> Result<Vec<u8>, FileError> {
    match requester.read_bytes(path) {
        Ok(Some(bytes)) if bytes.len() > limit => Err(FileError {
            message: format!("`{path}` exceeds the size limit for files"),
            help: "leave large files in place, and refer to them by name",
            too_large: true,
        }),
        Ok(Some(bytes)) => Ok(bytes),
        Ok(None) => Err(file_error(format!("there is no file `{path}`"), IN_PROJECT)),
        Err(error) => Err(file_error(format!("`{path}` cannot be read: {error}"), IN_PROJECT)),
    }
}

/// Returns the normalised path, or an error if it is not inside the project.
pub(super) fn normalise(path: &str) -> Result<String, FileError> {
    let usable = !path.starts_with('/') && !path.contains(['\\', '\0']) && path.get(1..2) != Some(":");
    match join("", path).filter(|_| usable) {
        Some(inside) if inside.is_empty() => Err(file_error(
            "the project folder itself cannot be an asset".to_owned(),
            "name a file or a folder in it",
        )),
        Some(inside) => Ok(inside),
        None => Err(file_error(format!("`{path}` is outside the project"), IN_PROJECT)),
    }
}

pub(super) fn file_error(message: String, help: &'static str) -> FileError {
    FileError { message, help, too_large: false }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_outside_the_project_are_rejected() {
        assert_eq!(normalise("./a/../b//c").as_deref(), Ok("b/c"));
        for path in ["/etc/passwd", "../x", "a/../../x", "C:\\x", "c:/x", "a\\b", "", ".", "a/..", "a\0b"] {
            assert!(normalise(path).is_err(), "{path}");
        }
    }

    #[test]
    fn archive_digest_separates_its_parts() {
        let list = |all: &[(&str, &str)]| {
            archive_hash(&all.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect::<Vec<_>>())
        };
        assert_ne!(list(&[("ab", "c")]), list(&[("a", "bc")]));
        assert_ne!(list(&[("a", "b"), ("c", "d")]), list(&[("a", "bcd")]));
    }
}
