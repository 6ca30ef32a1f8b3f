//! Versions of a program: the project itself, another folder, or a commit of its Git repository.
//!
//! **Invariant:** a version is read only. Its files are read once in a test run.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use stead_eval::{CompiledFiles, Entry, EntryKind, ProcessorClock, Refused, Sources, StackRef};
use stead_model::{Code, Diagnostic, Map, TypeToken};
use tokio::runtime::Handle;

use super::git::GitTree;
use super::requests::{DeclareOptions, refused};
use crate::program::sources::ProjectSources;
use crate::{FILE, Project};

/// A version of the program.
pub(super) struct Version {
    /// Identifies the version among those of a test run.
    pub(super) key: String,
    /// The settings of the version, with its own `stead.toml` if it has one.
    pub(super) project: Project,
    files: VersionFiles,
    texts: Mutex<HashMap<String, Result<Option<String>, String>>>,
    /// Its files as earlier evaluations compiled them: most tests differ only in their config.
    compiled: CompiledFiles,
}

enum VersionFiles {
    Disk(ProjectSources),
    Commit {
        tree: Box<GitTree>,
        /// The folder of the project now: packages are not part of the repository.
        packages: ProjectSources,
    },
}

impl Version {
    /// The program in the folder of the project.
    pub(super) fn current(project: &Project, runtime: &Handle) -> Version {
        let files = ProjectSources::files_of(project.world(), &project.root, runtime);
        Version::new("current".to_owned(), project.clone(), VersionFiles::Disk(files))
    }

    /// The program in another folder, seen from the project.
    pub(super) fn in_folder(project: &Project, path: &str, runtime: &Handle) -> Result<Version, Refused> {
        let root = project.root.join(path);
        let world = project.world();
        if !matches!(world.files.metadata(&root), Ok(Some(found)) if found.kind != stead_world::FileKind::File)
        {
            let message = format!("there is no folder `{path}` with an earlier version");
            let help = "the path is seen from the folder with stead.toml";
            return Err(refused(Diagnostic::error(Code::NO_SUCH_VERSION, message).help(help)));
        }
        let files = ProjectSources::files_of(world, &root, runtime);
        let settings = world.files.read(&root.join(FILE)).ok();
        let project = of_settings(project, root, settings)?;
        Ok(Version::new(format!("folder {path}"), project, VersionFiles::Disk(files)))
    }

    /// The program in a commit of the repository that contains the project.
    pub(super) fn of_commit(
        project: &Project,
        reference: &str,
        runtime: &Handle,
    ) -> Result<Version, Refused> {
        let tree = GitTree::open(project.world(), &project.root, reference, runtime)?;
        let packages = ProjectSources::files_of(project.world(), &project.root, runtime);
        let settings = tree.read(FILE).ok().flatten();
        let settings = of_settings(project, project.root.clone(), settings)?;
        let key = format!("git {}", tree.commit);
        Ok(Version::new(key, settings, VersionFiles::Commit { tree: Box::new(tree), packages }))
    }

    fn new(key: String, project: Project, files: VersionFiles) -> Version {
        Version { key, project, files, texts: Mutex::default(), compiled: CompiledFiles::default() }
    }

    fn read(&self, path: &str) -> Result<Option<String>, String> {
        let known = self.texts.lock().unwrap_or_else(PoisonError::into_inner).get(path).cloned();
        if let Some(known) = known {
            return known;
        }
        let text = match &self.files {
            VersionFiles::Commit { tree, .. } if !is_package(path) => {
                let bytes = tree.read(path)?;
                bytes
                    .map(|bytes| String::from_utf8(bytes).map_err(|_| "it is not UTF-8".to_owned()))
                    .transpose()
            }
            files => files.on_disk().read(path),
        };
        let mut texts = self.texts.lock().unwrap_or_else(PoisonError::into_inner);
        texts.insert(path.to_owned(), text.clone());
        text
    }

    /// Returns the bytes of a file; `None` if the version does not have it.
    pub(super) fn bytes(&self, path: &str) -> Result<Option<Vec<u8>>, String> {
        match &self.files {
            VersionFiles::Commit { tree, .. } if !is_package(path) => tree.read(path),
            files => files.on_disk().read_bytes(path),
        }
    }

    fn real_path(&self, path: &str) -> Result<String, String> {
        match &self.files {
            VersionFiles::Commit { tree, .. } if !is_package(path) => tree.real_path(path),
            files => files.on_disk().real_path(path),
        }
    }

    fn list(&self, folder: &str) -> Result<Option<Vec<Entry>>, String> {
        match &self.files {
            VersionFiles::Commit { tree, .. } if !is_package(folder) => Ok(tree.list(folder)),
            files => files.on_disk().list(folder),
        }
    }
}

impl VersionFiles {
    fn on_disk(&self) -> &ProjectSources {
        match self {
            VersionFiles::Disk(files) | VersionFiles::Commit { packages: files, .. } => files,
        }
    }
}

/// Returns true for a path in a folder of installed packages.
fn is_package(path: &str) -> bool {
    path.split('/').any(|part| part == "node_modules")
}

/// Returns the settings of another version; without a `stead.toml` of its own, those of the project.
fn of_settings(project: &Project, root: PathBuf, text: Option<Vec<u8>>) -> Result<Project, Refused> {
    let Some(text) = text else {
        let mut project = project.clone();
        project.root = root;
        return Ok(project);
    };
    let text = String::from_utf8_lossy(&text).into_owned();
    Project::parse(project.world(), root, &text).map_err(|error| Refused::Expectable(error.problems()))
}

/// Sources of an evaluation in a test: the files of a version, and the answers that the test gives.
pub(super) struct VersionSources<'a> {
    pub(super) version: &'a Version,
    pub(super) options: &'a DeclareOptions,
}

impl Sources for VersionSources<'_> {
    fn read(&self, path: &str) -> Result<Option<String>, String> {
        match self.options.files.get(path) {
            Some(text) => Ok(Some(text.clone())),
            None => self.version.read(path),
        }
    }

    fn read_bytes(&self, path: &str) -> Result<Option<Vec<u8>>, String> {
        match self.options.files.get(path) {
            Some(text) => Ok(Some(text.clone().into_bytes())),
            None => self.version.bytes(path),
        }
    }

    fn list(&self, folder: &str) -> Result<Option<Vec<Entry>>, String> {
        let listed = self.version.list(folder)?;
        let prefix = if folder.is_empty() { String::new() } else { format!("{folder}/") };
        let given = self.options.files.keys().filter_map(|path| path.strip_prefix(&prefix));
        let mut entries = listed.unwrap_or_default();
        for path in given {
            let (name, kind) = match path.split_once('/') {
                Some((folder, _)) => (folder, EntryKind::Folder),
                None => (path, EntryKind::File),
            };
            if !entries.iter().any(|entry| entry.name == name) {
                entries.push(Entry { name: name.to_owned(), kind });
            }
        }
        entries.sort_by(|a, b| a.name.cmp(&b.name));
        Ok((!entries.is_empty()).then_some(entries))
    }

    fn real_path(&self, path: &str) -> Result<String, String> {
        match self.options.files.contains_key(path) {
            true => Ok(path.to_owned()),
            false => self.version.real_path(path),
        }
    }

    /// Returns the variables that the test gives; those of the machine would make its result depend on the machine.
    fn environment(&self) -> Result<Vec<(String, String)>, String> {
        Ok(self.options.environment.clone().into_iter().collect())
    }

    fn look_up(
        &self,
        token: &TypeToken,
        id: &str,
        _: Option<&stead_eval::LookUpProvider>,
    ) -> Result<Option<Map>, String> {
        let given = self.options.lookups.get(token.as_str());
        let found = given.and_then(|of_type| of_type.get(id)).cloned();
        found.map(Some).ok_or_else(|| {
            format!(
                "a test calls no provider; give it with `declare({{ lookups: {{ \"{token}\": {{ \"{id}\": {{ … }} }} }} }})`"
            )
        })
    }

    fn outputs(&self, stack: &StackRef) -> Result<Option<Map>, String> {
        let StackRef { project, environment, .. } = stack;
        let exact = self.options.stacks.get(&format!("{project}:{environment}"));
        let given = exact.or_else(|| self.options.stacks.get(project)).cloned();
        given.map(Some).ok_or_else(|| {
            format!("a test reads no other stack; give it with `declare({{ stacks: {{ \"{project}\": {{ … }} }} }})`")
        })
    }

    fn processor_clock(&self) -> Option<ProcessorClock> {
        Some(stead_world::processor_time)
    }

    fn compiled_files(&self) -> Option<CompiledFiles> {
        Some(self.version.compiled.clone())
    }
}
