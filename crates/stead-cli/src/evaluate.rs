//! Evaluates the project's program into a graph.

use std::sync::Arc;

use stead_eval::{ConsoleLevel, ConsoleLine, Entry, EntryKind, Program, Sources};
use stead_model::{Functions, Graph, Limits};
use stead_world::FileKind;

use crate::failure::{Failure, Kind};
use crate::project::Project;
use crate::session::Session;
use crate::ui::Ui;

/// What the program declares, and the interpreter for what it put off.
pub(crate) struct Evaluated {
    pub graph: Graph,
    pub functions: Arc<dyn Functions>,
}

pub(crate) fn evaluate(session: &Session, ui: &Ui) -> Result<Evaluated, Failure> {
    let config = session.project.config(&session.environment.name);
    let program = Program {
        entry: &session.project.main,
        environment: session.environment.clone(),
        project: &session.project.name,
        target: &session.target,
        config: &config,
        branches: session.branches,
    };
    let sources = ProjectSources { project: &session.project, session };
    match stead_eval::evaluate(&program, &session.engine.catalog, &sources, &Limits::default()) {
        Ok(evaluation) => {
            console(&evaluation.console, ui);
            Ok(Evaluated { graph: evaluation.graph, functions: evaluation.functions })
        }
        Err(failure) => {
            console(&failure.console, ui);
            Err(Failure::all(Kind::Failed, failure.diagnostics))
        }
    }
}

/// The program may read the project's own files, and nothing outside it.
struct ProjectSources<'a> {
    project: &'a Project,
    session: &'a Session,
}

impl Sources for ProjectSources<'_> {
    fn read(&self, path: &str) -> Result<Option<String>, String> {
        if path.starts_with('/') || path.split('/').any(|part| part == "..") {
            return Err("it is outside the project".to_owned());
        }
        let path = self.project.root.join(path);
        let is_file = |found: stead_world::Metadata| found.kind != FileKind::Directory;
        match self.session.world.files.metadata(&path) {
            Ok(found) if !found.is_some_and(is_file) => Ok(None),
            Ok(_) => {
                let bytes = self.session.world.files.read(&path).map_err(|error| error.to_string())?;
                String::from_utf8(bytes).map(Some).map_err(|_| "it is not UTF-8".to_owned())
            }
            Err(error) => Err(error.to_string()),
        }
    }

    fn read_bytes(&self, path: &str) -> Result<Option<Vec<u8>>, String> {
        match self.kind(path)? {
            Some(FileKind::File) => {
                let bytes = self.session.world.files.read(&self.project.root.join(path));
                bytes.map(Some).map_err(|error| error.to_string())
            }
            _ => Ok(None),
        }
    }

    fn list(&self, folder: &str) -> Result<Option<Vec<Entry>>, String> {
        if self.kind(folder)? != Some(FileKind::Directory) {
            return Ok(None);
        }
        let root = self.project.root.join(folder);
        let names = self.session.world.files.list(&root).map_err(|error| error.to_string())?;
        let entry = |name: String| {
            let found =
                self.session.world.files.metadata(&root.join(&name)).map_err(|error| error.to_string())?;
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

impl ProjectSources<'_> {
    /// What a path is, if no part of it is a symbolic link: one could lead anywhere.
    fn kind(&self, path: &str) -> Result<Option<FileKind>, String> {
        if path.starts_with('/') || path.split('/').any(|part| part == "..") {
            return Err("it is outside the project".to_owned());
        }
        let mut at = self.project.root.clone();
        let mut kind = Some(FileKind::Directory);
        for part in path.split('/').filter(|part| !part.is_empty()) {
            at.push(part);
            let found = self.session.world.files.metadata(&at).map_err(|error| error.to_string())?;
            kind = found.map(|found| found.kind);
            if kind == Some(FileKind::Other) {
                return Err("it lies behind a symbolic link, or is none that can be read".to_owned());
            }
        }
        Ok(kind)
    }
}

fn console(lines: &[ConsoleLine], ui: &Ui) {
    for line in lines {
        let level = match line.level {
            ConsoleLevel::Error => "error: ",
            ConsoleLevel::Warn => "warning: ",
            _ => "",
        };
        let place = line.place.as_ref().map(|place| format!("{place}: ")).unwrap_or_default();
        ui.note(&format!("{place}{level}{}", line.text));
    }
}
