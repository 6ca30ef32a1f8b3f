//! Finds packages: workspaces of the project by name, other packages in `node_modules` folders.
//!
//! The search goes up from the importing file and never leaves the project.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

use stead_model::{Code, Diagnostic};

use crate::EntryKind;
use crate::compile::Format;
use crate::program::manifest::{Manifest, Target, TargetError, split};
use crate::program::requests::Requester;
use crate::program::specifier::{Mode, candidates, declarations, is_declaration, module_name};

pub(crate) struct Packages {
    requester: Requester,
    /// Folder of each workspace by package name.
    workspaces: Result<BTreeMap<String, String>, Box<Diagnostic>>,
    /// Package name by folder, for every package that the program uses.
    folders: RefCell<BTreeMap<String, String>>,
    manifests: RefCell<HashMap<String, Option<Rc<Manifest>>>>,
    /// Folder behind the symbolic link of a package, by the folder in `node_modules`.
    links: RefCell<HashMap<String, String>>,
}

/// Files that an import of a package stands for, or another package.
pub(crate) enum PackageTarget {
    Files(Vec<String>),
    Package(String),
}

type Outcome<T> = Result<T, Box<Diagnostic>>;

impl Packages {
    /// Finds the workspaces. An error in them is reported when a package is imported.
    pub(crate) fn new(requester: &Requester, entry: &str) -> Packages {
        let mut packages = Packages {
            requester: requester.clone(),
            workspaces: Ok(BTreeMap::new()),
            folders: RefCell::default(),
            manifests: RefCell::default(),
            links: RefCell::default(),
        };
        packages.workspaces = packages.find_workspaces();
        let own = |folder: &str| entry.starts_with(&format!("{folder}/"));
        for (name, folder) in packages.workspaces.iter().flatten().filter(|(_, folder)| !own(folder)) {
            packages.folders.borrow_mut().insert(folder.clone(), name.clone());
        }
        packages
    }

    /// Returns the module part of resource names for a file.
    ///
    /// For a package it starts with the package name, independent of the folder; for a project file it is the path.
    pub(crate) fn module_of(&self, path: &str) -> String {
        match self.package_of(path) {
            Some((folder, name)) => format!("{name}/{}", module_name(&path[folder.len() + 1..])),
            None => module_name(path).to_owned(),
        }
    }

    /// Returns folder and name of the package that contains a file, or `None` for a file of the project.
    pub(crate) fn package_of(&self, path: &str) -> Option<(String, String)> {
        let folders = self.folders.borrow();
        let around = ancestors(path).into_iter().find_map(|folder| folders.get_key_value(folder));
        around.map(|(folder, name)| (folder.clone(), name.clone()))
    }

    /// Returns the form of a file, by its extension and by `type` of its package, as Node.js decides.
    pub(crate) fn format_of(&self, path: &str) -> Format {
        let extension = path.rsplit_once('.').map_or("", |(_, extension)| extension);
        match extension {
            "mjs" | "mts" => Format::Module,
            "cjs" | "cts" => Format::CommonJs,
            _ if path.starts_with("node:") => Format::CommonJs,
            _ => {
                let own = |folder: &&str| !folder.ends_with("node_modules");
                let folders = ancestors(path).into_iter().take_while(own).chain([""]);
                let manifests = folders.map(|folder| self.manifest(folder).ok().flatten());
                match manifests.flatten().next() {
                    Some(manifest) if manifest.is_module => Format::Module,
                    _ => Format::Detect,
                }
            }
        }
    }

    /// Returns the candidate files for an import of a package, in order of preference.
    pub(crate) fn files(&self, base: &str, specifier: &str, mode: Mode) -> Outcome<PackageTarget> {
        if specifier.starts_with('#') {
            return self.private(base, specifier, mode);
        }
        let Some((name, subpath)) = split(specifier) else { return Err(not_found(specifier, &[])) };
        let (folder, manifest) = self.find(base, specifier, name)?;
        if !folder.is_empty() {
            self.folders.borrow_mut().entry(folder.clone()).or_insert_with(|| name.to_owned());
        }
        let targets =
            manifest.targets(subpath, mode).map_err(|why| no_target(name, subpath, &folder, why))?;
        Ok(PackageTarget::Files(targets.iter().flat_map(|target| self.below(&folder, target)).collect()))
    }

    /// Returns the candidate files of a folder that is imported by its path, from its `package.json`.
    pub(crate) fn folder_files(&self, folder: &str) -> Outcome<Vec<String>> {
        let Some(manifest) = self.manifest(folder)? else { return Ok(Vec::new()) };
        let targets = manifest.main_files().map_err(|why| no_target(folder, "", folder, why))?;
        Ok(targets.iter().flat_map(|target| self.below(folder, target)).collect())
    }

    /// Returns the candidate declaration files of an import: of the package itself, then of its package in `@types`.
    pub(crate) fn declarations(&self, base: &str, name: &str, subpath: &str) -> Vec<String> {
        let types = format!("@types/{}", name.trim_start_matches('@').replace('/', "__"));
        let mut files = Vec::new();
        for package in [name, &types] {
            let Ok((folder, manifest)) = self.find(base, package, package) else { continue };
            let declared = manifest.declarations(subpath).into_iter();
            let path = |declared: String| format!("{folder}/{declared}").trim_matches('/').to_owned();
            files.extend(
                declared
                    .map(path)
                    .flat_map(|path| if is_declaration(&path) { vec![path] } else { declarations(&path) }),
            );
        }
        files
    }

    fn private(&self, base: &str, specifier: &str, mode: Mode) -> Outcome<PackageTarget> {
        let Some((folder, manifest)) = self.scope_of(base)? else { return Err(not_found(specifier, &[])) };
        let target = manifest.private_target(specifier, mode);
        Ok(match target.map_err(|why| no_target(&folder, specifier, &folder, why))? {
            Target::Files(targets) => {
                PackageTarget::Files(targets.iter().flat_map(|target| self.below(&folder, target)).collect())
            }
            Target::Package(name) => PackageTarget::Package(name),
        })
    }

    /// Returns a target as written, followed by the target with each optional extension.
    fn below(&self, folder: &str, target: &str) -> Vec<String> {
        let path = [folder, target].join("/").trim_matches('/').to_owned();
        let known = [".ts", ".mts", ".js", ".mjs", ".cjs", ".cts", ".json"];
        let exact = known.iter().any(|end| target.ends_with(end)).then(|| path.clone());
        let mut all: Vec<String> = exact.into_iter().collect();
        all.extend(candidates(&path).into_iter().filter(|other| *other != path));
        all
    }

    fn find(&self, base: &str, specifier: &str, name: &str) -> Outcome<(String, Rc<Manifest>)> {
        let workspaces = self.workspaces.as_ref().map_err(Clone::clone)?;
        if let Some(folder) = workspaces.get(name)
            && let Some(manifest) = self.manifest(folder)?
        {
            return Ok((folder.clone(), manifest));
        }
        if let Some((folder, manifest)) = self.scope_of(base)?
            && manifest.name.as_deref() == Some(name)
            && manifest.has_exports()
        {
            // A package may import itself by name.
            return Ok((folder, manifest));
        }
        let mut looked = Vec::new();
        for folder in ancestors(base).into_iter().chain([""]) {
            if folder == "node_modules" || folder.ends_with("/node_modules") {
                continue;
            }
            let place = format!("{folder}/node_modules/{name}").trim_start_matches('/').to_owned();
            if self.manifest(&place)?.is_some() {
                let place = self.real_folder(&place)?;
                if let Some(manifest) = self.manifest(&place)? {
                    return Ok((place, manifest));
                }
            }
            looked.push(place);
        }
        Err(not_found(specifier, &looked))
    }

    /// Returns the folder of the nearest `package.json` around a file, which decides about names that start with `#` too.
    fn scope_of(&self, path: &str) -> Outcome<Option<(String, Rc<Manifest>)>> {
        for folder in ancestors(path).into_iter().chain([""]) {
            if folder.ends_with("node_modules") {
                break;
            }
            if let Some(manifest) = self.manifest(folder)? {
                return Ok(Some((folder.to_owned(), manifest)));
            }
        }
        Ok(None)
    }

    /// Returns the folder that a package folder is a symbolic link to, as `npm` workspaces and `pnpm` create them.
    fn real_folder(&self, folder: &str) -> Outcome<String> {
        if let Some(known) = self.links.borrow().get(folder) {
            return Ok(known.clone());
        }
        let real = self.requester.real_path(folder).map_err(|error| {
            let message = format!("`{folder}` cannot be read: {error}");
            Box::new(Diagnostic::error(Code::MODULE_NOT_FOUND, message))
        })?;
        self.links.borrow_mut().insert(folder.to_owned(), real.clone());
        Ok(real)
    }

    fn manifest(&self, folder: &str) -> Outcome<Option<Rc<Manifest>>> {
        if let Some(known) = self.manifests.borrow().get(folder) {
            return Ok(known.clone());
        }
        let path = format!("{folder}/package.json").trim_start_matches('/').to_owned();
        let wrong = |error: String| {
            Box::new(Diagnostic::error(Code::MODULE_NOT_FOUND, format!("`{path}` cannot be read: {error}")))
        };
        let manifest = match self.requester.read(&path).map_err(wrong)? {
            Some(text) => Some(Rc::new(Manifest::parse(&text).map_err(|error| wrong(error.to_string()))?)),
            None => None,
        };
        self.manifests.borrow_mut().insert(folder.to_owned(), manifest.clone());
        Ok(manifest)
    }

    fn find_workspaces(&self) -> Outcome<BTreeMap<String, String>> {
        let mut found: BTreeMap<String, String> = BTreeMap::new();
        let Some(root) = self.manifest("")? else { return Ok(found) };
        let (excluded, globs): (Vec<&String>, Vec<&String>) =
            root.workspaces.iter().partition(|glob| glob.starts_with('!'));
        for folder in globs.into_iter().map(|glob| self.expand(glob)).collect::<Outcome<Vec<_>>>()?.concat() {
            if excluded.iter().any(|glob| glob[1..].trim_matches('/') == folder) {
                continue;
            }
            let Some(name) = self.manifest(&folder)?.and_then(|manifest| manifest.name.clone()) else {
                continue;
            };
            if let Some(first) = found.insert(name.clone(), folder.clone()).filter(|first| *first != folder) {
                let message = format!("two workspaces have the name `{name}`: `{first}` and `{folder}`");
                return Err(Box::new(Diagnostic::error(Code::MODULE_NOT_FOUND, message)));
            }
        }
        Ok(found)
    }

    /// Expands a glob of `workspaces` to folders. `*` matches one name or a part of one.
    fn expand(&self, glob: &str) -> Outcome<Vec<String>> {
        let glob = glob.trim_start_matches("./").trim_matches('/');
        let mut folders = vec![String::new()];
        for part in glob.split('/').filter(|part| !matches!(*part, "" | "." | "..")) {
            let mut next = Vec::new();
            for folder in folders {
                let join = |name: &str| format!("{folder}/{name}").trim_start_matches('/').to_owned();
                let Some((before, after)) = part.split_once('*') else {
                    next.push(join(part));
                    continue;
                };
                let entries = self.requester.list(&folder).map_err(|error| {
                    let message = format!("the workspaces `{glob}` cannot be listed: {error}");
                    Box::new(Diagnostic::error(Code::MODULE_NOT_FOUND, message))
                })?;
                let fits = |name: &str| {
                    let long = name.len() >= before.len() + after.len();
                    long && name.starts_with(before) && name.ends_with(after.trim_start_matches('*'))
                };
                let entries = entries.into_iter().flatten().filter(|entry| entry.kind == EntryKind::Folder);
                let names = entries.map(|entry| entry.name).filter(|name| name != "node_modules");
                next.extend(names.filter(|name| fits(name)).map(|name| join(&name)));
            }
            folders = next;
        }
        Ok(folders)
    }
}

/// Returns the folders that contain a file, innermost first, without the root.
fn ancestors(path: &str) -> Vec<&str> {
    path.match_indices('/').map(|(at, _)| &path[..at]).rev().collect()
}

fn not_found(specifier: &str, looked: &[String]) -> Box<Diagnostic> {
    let problem = Diagnostic::error(Code::MODULE_NOT_FOUND, format!("there is no module `{specifier}`"));
    let problem = if looked.is_empty() {
        problem
    } else {
        problem.note(format!("looked for {}, and for a workspace of that name", looked.join(", ")))
    };
    let bare = specifier.strip_prefix('#').is_none();
    let problem = problem.help(format!("for a file of the project, write `./{specifier}`"));
    let problem = if bare { problem.help("for a package, install it into the project") } else { problem };
    Box::new(problem.help("stead's own modules are `stead` and `stead/<provider>`, such as `stead/local`"))
}

fn no_target(name: &str, subpath: &str, folder: &str, why: TargetError) -> Box<Diagnostic> {
    let wanted = if subpath.is_empty() { ".".to_owned() } else { format!("./{subpath}") };
    Box::new(match why {
        TargetError::NotExported(known) => {
            let message = format!("the package `{name}` has no export `{wanted}`");
            let problem = Diagnostic::error(Code::MODULE_NOT_FOUND, message);
            let all = known.iter().take(20).cloned().collect::<Vec<_>>().join(", ");
            problem.note(format!("`exports` in {folder}/package.json lists: {all}"))
        }
        TargetError::OutsidePackage(path) => {
            let message = format!("the package `{name}` points outside its folder: `{path}`");
            Diagnostic::error(Code::MODULE_NOT_FOUND, message)
        }
    })
}
