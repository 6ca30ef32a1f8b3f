//! Resolves the modules that a program asks for: its own, those of Node.js, files and packages.
//!
//! **Invariant:** no file outside the project is read. Text that a search has read is kept until the file is compiled, so that
//! no file is read twice.

use std::cell::RefCell;
use std::collections::HashMap;

use stead_model::{Code, Diagnostic};

use crate::program::node;
use crate::program::packages::{PackageTarget, Packages};
use crate::program::requests::Requester;
use crate::program::specifier::{
    self, Mode, Specifier, candidates, is_declaration, is_foreign, required_candidates,
};
use crate::program::tsconfig::TsConfigs;

/// Module that an import stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Resolved {
    Stead,
    /// The module `stead/<provider>`.
    Provider(String),
    /// A file, by its path in the project, or a module of Node.js, by its name with the prefix `node:`.
    File(String),
}

/// Error of an import: the diagnostic, and the files that were looked for.
pub(crate) struct Unresolved {
    pub(crate) problem: Box<Diagnostic>,
    pub(crate) looked: Vec<String>,
}

pub(crate) struct Resolver {
    requester: Requester,
    pub(crate) packages: Packages,
    tsconfigs: TsConfigs,
    /// Files that a search has asked for, with the text of each that exists and is not compiled yet.
    files: RefCell<HashMap<String, Found>>,
}

enum Found {
    Missing,
    Text(String),
    Taken,
    /// The path leads through a symbolic link to this file.
    Link(String),
}

impl From<Box<Diagnostic>> for Unresolved {
    fn from(problem: Box<Diagnostic>) -> Unresolved {
        Unresolved { problem, looked: Vec::new() }
    }
}

impl Resolver {
    pub(crate) fn new(requester: &Requester, entry: &str) -> Resolver {
        Resolver {
            requester: requester.clone(),
            packages: Packages::new(requester, entry),
            tsconfigs: TsConfigs::new(requester),
            files: RefCell::default(),
        }
    }

    /// Returns the module that `specifier` stands for in the file at `base`.
    pub(crate) fn resolve(&self, base: &str, specifier: &str, mode: Mode) -> Result<Resolved, Unresolved> {
        match specifier::parse(base, specifier) {
            Specifier::Stead => Ok(Resolved::Stead),
            Specifier::Provider(provider) => Ok(Resolved::Provider(provider)),
            Specifier::Files(path) => self.path(specifier, &path, mode),
            Specifier::Outside => Err(Unresolved::from(Box::new(
                Diagnostic::error(
                    Code::MODULE_NOT_FOUND,
                    format!("the import `{specifier}` points outside the project"),
                )
                .help("move the file into the project: a program imports only files below its stead.toml"),
            ))),
            Specifier::Node(module) if node::text(&module).is_some() => {
                Ok(Resolved::File(format!("node:{module}")))
            }
            Specifier::Node(module) => Err(Unresolved::from(Box::new(Diagnostic::error(
                Code::MODULE_NOT_FOUND,
                format!("Node.js has no module `{module}`"),
            )))),
            Specifier::Package(package) => self.package(base, &package, mode),
        }
    }

    /// Takes the text of a resolved file.
    pub(crate) fn take_text(&self, path: &str) -> Result<Option<String>, String> {
        if let Some(module) = path.strip_prefix("node:") {
            return Ok(node::text(module).map(std::borrow::Cow::into_owned));
        }
        match self.files.borrow_mut().insert(path.to_owned(), Found::Taken) {
            Some(Found::Text(text)) => Ok(Some(text)),
            _ => self.requester.read(path),
        }
    }

    fn package(&self, base: &str, specifier: &str, mode: Mode) -> Result<Resolved, Unresolved> {
        if !is_foreign(base) && !specifier.starts_with('#') {
            for path in self.tsconfigs.candidates(base, specifier) {
                if let Some(file) = self.first(&candidates(&path))? {
                    return Ok(Resolved::File(file));
                }
            }
        }
        match self.packages.files(base, specifier, mode)? {
            PackageTarget::Files(files) => self.one_of(specifier, files),
            PackageTarget::Package(other) => self.resolve(base, &other, mode),
        }
    }

    fn path(&self, specifier: &str, path: &str, mode: Mode) -> Result<Resolved, Unresolved> {
        let files = if mode == Mode::Require { required_candidates(path) } else { candidates(path) };
        if let Some(file) = self.first(&files)? {
            return Ok(Resolved::File(file));
        }
        if let Some(file) = self.first(&self.packages.folder_files(path)?)? {
            return Ok(Resolved::File(file));
        }
        self.one_of(specifier, files)
    }

    fn one_of(&self, specifier: &str, files: Vec<String>) -> Result<Resolved, Unresolved> {
        match self.first(&files)? {
            Some(file) => Ok(Resolved::File(file)),
            None => {
                let message = format!("there is no module `{specifier}`");
                let problem = Diagnostic::error(Code::MODULE_NOT_FOUND, message)
                    .note(format!("looked for {}", files.join(", ")));
                Err(Unresolved { problem: Box::new(problem), looked: files })
            }
        }
    }

    /// Returns the first file that exists, by its real path: a module behind a symbolic link is the module itself.
    fn first(&self, files: &[String]) -> Result<Option<String>, Unresolved> {
        for path in files.iter().filter(|path| !is_declaration(path) && !path.is_empty()) {
            match self.files.borrow().get(path) {
                Some(Found::Missing) => continue,
                Some(Found::Text(_) | Found::Taken) => return Ok(Some(path.clone())),
                Some(Found::Link(real)) => return Ok(Some(real.clone())),
                None => {}
            }
            let unreadable = |error: String| Unresolved::from(Box::new(unreadable(path, &error)));
            match self.requester.read(path).map_err(unreadable)? {
                Some(text) => return self.keep(path, text).map(Some).map_err(unreadable),
                None => drop(self.files.borrow_mut().insert(path.clone(), Found::Missing)),
            }
        }
        Ok(None)
    }

    /// Keeps the text of a file, and returns the real path of the file. The folders of packages are real paths already.
    fn keep(&self, path: &str, text: String) -> Result<String, String> {
        let real = if is_foreign(path) { path.to_owned() } else { self.requester.real_path(path)? };
        let mut files = self.files.borrow_mut();
        if real != path {
            files.insert(path.to_owned(), Found::Link(real.clone()));
        }
        if !matches!(files.get(&real), Some(Found::Taken)) {
            files.insert(real.clone(), Found::Text(text));
        }
        Ok(real)
    }
}

pub(crate) fn unreadable(path: &str, error: &str) -> Diagnostic {
    Diagnostic::error(Code::MODULE_NOT_FOUND, format!("`{path}` cannot be read: {error}"))
}
