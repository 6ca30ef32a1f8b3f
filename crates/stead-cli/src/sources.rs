//! The project's files, as its program may read them.

use std::path::PathBuf;

use stead_eval::{Entry, EntryKind, Sources};
use stead_world::{FileKind, World};

/// The program may read the project's own files, and nothing outside it.
pub(crate) struct ProjectSources {
    pub root: PathBuf,
    pub world: World,
}

impl Sources for ProjectSources {
    fn read(&self, path: &str) -> Result<Option<String>, String> {
        if path.starts_with('/') || path.split('/').any(|part| part == "..") {
            return Err("it is outside the project".to_owned());
        }
        let path = self.root.join(path);
        let is_file = |found: stead_world::Metadata| found.kind != FileKind::Directory;
        match self.world.files.metadata(&path) {
            Ok(found) if !found.is_some_and(is_file) => Ok(None),
            Ok(_) => {
                let bytes = self.world.files.read(&path).map_err(|error| error.to_string())?;
                String::from_utf8(bytes).map(Some).map_err(|_| "it is not UTF-8".to_owned())
            }
            Err(error) => Err(error.to_string()),
        }
    }

    fn read_bytes(&self, path: &str) -> Result<Option<Vec<u8>>, String> {
        match self.kind(path)? {
            Some(FileKind::File) => {
                let bytes = self.world.files.read(&self.root.join(path));
                bytes.map(Some).map_err(|error| error.to_string())
            }
            _ => Ok(None),
        }
    }

    fn list(&self, folder: &str) -> Result<Option<Vec<Entry>>, String> {
        if self.kind(folder)? != Some(FileKind::Directory) {
            return Ok(None);
        }
        let root = self.root.join(folder);
        let names = self.world.files.list(&root).map_err(|error| error.to_string())?;
        let entry = |name: String| {
            let found = self.world.files.metadata(&root.join(&name)).map_err(|error| error.to_string())?;
            let kind = match found.map(|found| found.kind) {
                Some(FileKind::File) => EntryKind::File,
                Some(FileKind::Directory) => EntryKind::Folder,
                _ => EntryKind::Other,
            };
            Ok(Entry { name, kind })
        };
        names.into_iter().map(entry).collect::<Result<Vec<_>, String>>().map(Some)
    }
}

impl ProjectSources {
    /// What a path is, if no part of it is a symbolic link: one could lead anywhere.
    fn kind(&self, path: &str) -> Result<Option<FileKind>, String> {
        if path.starts_with('/') || path.split('/').any(|part| part == "..") {
            return Err("it is outside the project".to_owned());
        }
        let mut at = self.root.clone();
        let mut kind = Some(FileKind::Directory);
        for part in path.split('/').filter(|part| !part.is_empty()) {
            at.push(part);
            let found = self.world.files.metadata(&at).map_err(|error| error.to_string())?;
            kind = found.map(|found| found.kind);
            if kind == Some(FileKind::Other) {
                return Err("it is a symbolic link, or lies behind one".to_owned());
            }
        }
        Ok(kind)
    }
}
