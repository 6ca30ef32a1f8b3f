//! Errors of files that cannot be loaded, with the chain of imports that leads to them.

use stead_model::{Diagnostic, nearest};

use super::{Importer, Loader};
use crate::EntryKind;
use crate::compile::Needs;
use crate::program::specifier::is_declaration;

/// Maximum number of imports that are followed back from a package file to the program.
const MAX_IMPORT_CHAIN: usize = 1000;

impl Loader {
    /// Adds notes about the import chain to an error in a package file.
    pub(super) fn with_import_chain(&self, path: &str, problem: Diagnostic) -> Diagnostic {
        let Some((_, package)) = self.resolver.packages.package_of(path) else { return problem };
        let mut way = Vec::new();
        let (mut at, mut of) = (path, package.clone());
        for _ in 0..MAX_IMPORT_CHAIN {
            let Some(Importer { source, span, .. }) = self.importers.get(at) else { break };
            let place = source.locate(*span).at;
            match self.resolver.packages.package_of(&source.path) {
                Some((_, by)) if by == of => {}
                Some((_, by)) => {
                    way.push(format!("`{by}` imports `{of}` at {place}"));
                    of = by;
                }
                None => {
                    way.push(format!("the program imports `{of}` at {place}"));
                    break;
                }
            }
            at = &source.path;
        }
        let problem = problem.note(format!("the file belongs to the package `{package}`"));
        way.into_iter().fold(problem, Diagnostic::note)
    }

    /// Adds the way out for a file that cannot run and that is imported for its types only.
    pub(super) fn with_type_help(&self, path: &str, problem: Diagnostic) -> Diagnostic {
        match self.importers.get(path) {
            Some(Importer { source, span, needs }) => {
                let written = source.text.get(span.start as usize..span.end as usize).unwrap_or_default();
                with_type_help(problem, written.trim_matches(['"', '\'']), *needs)
            }
            None => problem,
        }
    }

    /// Returns a help with the import of the nearest existing file, or with the files of the folder.
    pub(super) fn nearest_file(&self, specifier: &str, candidate: &str) -> Option<String> {
        let (folder, _) = candidate.rsplit_once('/').unwrap_or(("", candidate));
        let shown = if folder.is_empty() { "the project folder" } else { folder };
        let Ok(Some(entries)) = self.requester.list(folder) else {
            return Some(format!("there is no folder `{shown}`"));
        };
        let module = |entry: &crate::Entry| match entry.kind {
            EntryKind::Folder => (entry.name != "node_modules").then(|| entry.name.clone()),
            _ if entry.name.ends_with(".json") => Some(entry.name.clone()),
            _ if is_declaration(&entry.name) => None,
            _ => without_extension(&entry.name).map(str::to_owned),
        };
        let modules: Vec<String> =
            entries.iter().filter(|entry| !entry.name.starts_with('.')).filter_map(module).collect();
        let (before, last) = specifier.rsplit_once('/').unwrap_or((".", specifier));
        let last = without_extension(last).unwrap_or(last);
        if let Some(meant) = nearest(last, modules.iter().map(String::as_str)) {
            return Some(format!("did you mean `{before}/{meant}`?"));
        }
        let listed: Vec<String> = modules.iter().take(20).map(|module| format!("`{module}`")).collect();
        (!listed.is_empty()).then(|| format!("modules in {shown}: {}", listed.join(", ")))
    }
}

fn without_extension(file: &str) -> Option<&str> {
    [".ts", ".mts", ".js", ".mjs"].iter().find_map(|extension| file.strip_suffix(extension))
}

/// Adds the way out for an import none of whose bindings is used as a value.
pub(super) fn with_type_help(problem: Diagnostic, specifier: &str, needs: Needs) -> Diagnostic {
    if needs != Needs::UnusedBindings {
        return problem;
    }
    let problem = problem.note("an imported module runs even if no imported value is used");
    problem.help(format!("if you need only types of it, write `import type {{ … }} from \"{specifier}\"`; else remove the import"))
}
