//! Sources of an evaluation: files of the project, existing resources, and outputs of other stacks.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use stead_engine::ops::Workspace;
use stead_engine::{Engine, StackSecrets};
use stead_eval::{Entry, EntryKind, LookUpProvider, ProcessorClock, Sources, StackRef};
use stead_journal::{StackKeys, load};
use stead_model::{Map, PhysicalId, TypeToken};
use stead_provider::Providers;
use stead_store::{MemoryStore, Store};
use stead_world::{FileKind, World};
use tokio::runtime::Handle;

/// Sources from the folder of the project, its providers and its stacks. Files outside of the project are refused.
pub(crate) struct ProjectSources {
    root: PathBuf,
    world: World,
    providers: Providers,
    store: Arc<dyn Store>,
    /// Keys of other stacks.
    secrets: StackSecrets,
    /// Variables of the environment that the program may read.
    granted: Vec<String>,
    /// Runtime for the calls of providers and stores, for which the thread of the evaluation waits.
    runtime: Handle,
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
                self.stays_inside(&path)?;
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

    fn real_path(&self, path: &str) -> Result<String, String> {
        let place = |path: &Path| self.world.files.canonical(path).map_err(|error| error.to_string());
        let (root, real) = (place(&self.root)?, place(&self.root.join(path))?);
        let inside = real.strip_prefix(&root).map_err(|_| "a symbolic link leads out of the project")?;
        let parts = inside.components().map(|part| part.as_os_str().to_str());
        let parts: Option<Vec<&str>> = parts.collect();
        parts.map(|parts| parts.join("/")).ok_or_else(|| "its path is not UTF-8".to_owned())
    }

    fn environment(&self) -> Result<Vec<(String, String)>, String> {
        let set = |name: &String| Some((name.clone(), self.world.host.variables.get(name)?.to_owned()));
        Ok(self.granted.iter().filter_map(set).collect())
    }

    fn look_up(
        &self,
        token: &TypeToken,
        id: &str,
        provider: Option<&LookUpProvider>,
    ) -> Result<Option<Map>, String> {
        let engine = Engine::new(self.world.clone(), self.providers.clone(), 1);
        let settings = provider.map(|provider| &provider.settings);
        let found = self.runtime.block_on(engine.find(token, &PhysicalId(id.to_owned()), settings));
        let live = found.map_err(|refusal| match refusal.help {
            Some(help) => format!("{}; {help}", refusal.message),
            None => refusal.message,
        })?;
        Ok(live.map(|live| live.inputs.into_iter().chain(live.outputs).collect()))
    }

    fn outputs(&self, stack: &StackRef) -> Result<Option<Map>, String> {
        let keys = StackKeys::new(&stack.project, &stack.environment.to_string(), &stack.target);
        let loaded = self.runtime.block_on(load(&self.store, &keys)).map_err(|error| error.to_string())?;
        if loaded.state.has_secrets() {
            // A key that is not here leaves the secrets locked, and they say so when a value is needed.
            let environment = stack.environment.to_string();
            let _ = self.runtime.block_on(self.secrets.unlock(&environment, &loaded.state));
        }
        Ok(loaded.head.map(|_| loaded.state.outputs().clone()))
    }

    fn processor_clock(&self) -> Option<ProcessorClock> {
        Some(stead_world::processor_time)
    }
}

impl ProjectSources {
    pub(super) fn of(workspace: &Workspace, granted: &[String]) -> ProjectSources {
        ProjectSources {
            root: workspace.pinfile.root.clone(),
            world: workspace.stack.world.clone(),
            providers: workspace.engine.providers.clone(),
            store: workspace.stack.store.clone(),
            secrets: StackSecrets::new(workspace.stack.secrets.source().clone()),
            granted: granted.to_vec(),
            runtime: Handle::current(),
        }
    }

    /// Returns the files below a folder, without providers and stacks.
    pub(crate) fn files_of(world: &World, root: &Path, runtime: &Handle) -> ProjectSources {
        ProjectSources {
            root: root.to_owned(),
            world: world.clone(),
            providers: Providers::default(),
            store: Arc::new(MemoryStore::default()),
            secrets: StackSecrets::none(),
            granted: Vec::new(),
            runtime: runtime.clone(),
        }
    }

    /// Fails if a symbolic link leads out of the project.
    fn stays_inside(&self, path: &Path) -> Result<(), String> {
        let place = |path: &Path| self.world.files.canonical(path).map_err(|error| error.to_string());
        match place(path)?.starts_with(place(&self.root)?) {
            true => Ok(()),
            false => Err("a symbolic link leads out of the project".to_owned()),
        }
    }

    /// Returns the kind of a path.
    ///
    /// Fails if a part of it is a symbolic link, since a link could lead out of the project.
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
