//! Reads `baseUrl` and `paths` of the `tsconfig.json` that covers a file, with `extends` inside the project.
//!
//! A file that cannot be read gives no paths: the type checker reports it, and an import that needed it is reported as missing.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use crate::program::json::Json;
use crate::program::requests::Requester;
use crate::program::specifier::join;

/// Settings of a `tsconfig.json` that affect the resolution of imports.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct PathSettings {
    /// Folder of `baseUrl`.
    base: Option<String>,
    /// Pattern and replacements of each entry of `paths`; the replacements are paths in the project.
    paths: Vec<(String, Vec<String>)>,
}

/// Maximum length of a chain of `extends`.
const MAX_EXTENDS: usize = 20;

pub(crate) struct TsConfigs {
    requester: Requester,
    folders: RefCell<HashMap<String, Option<Rc<PathSettings>>>>,
}

impl TsConfigs {
    pub(crate) fn new(requester: &Requester) -> TsConfigs {
        TsConfigs { requester: requester.clone(), folders: RefCell::default() }
    }

    /// Returns the paths that an import in a file of the project may stand for, in order of preference.
    pub(crate) fn candidates(&self, base: &str, specifier: &str) -> Vec<String> {
        let folder = base.rsplit_once('/').map_or("", |(folder, _)| folder);
        match self.covering(folder) {
            Some(settings) => settings.candidates(specifier),
            None => Vec::new(),
        }
    }

    fn covering(&self, folder: &str) -> Option<Rc<PathSettings>> {
        if let Some(known) = self.folders.borrow().get(folder) {
            return known.clone();
        }
        let path = [folder, "tsconfig.json"].join("/").trim_start_matches('/').to_owned();
        let own = self.read(&path, MAX_EXTENDS).map(Rc::new);
        let found = match (own, folder) {
            (None, "") => None,
            (None, folder) => self.covering(folder.rsplit_once('/').map_or("", |(above, _)| above)),
            (own, _) => own,
        };
        self.folders.borrow_mut().insert(folder.to_owned(), found.clone());
        found
    }

    fn read(&self, path: &str, depth: usize) -> Option<PathSettings> {
        let text = self.requester.read(path).ok().flatten()?;
        let json = Json::parse_lenient(&text)?;
        let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
        let mut settings = PathSettings::default();
        let extended = match json.get("extends") {
            Some(Json::List(all)) => all.iter().filter_map(Json::text).collect(),
            other => other.and_then(Json::text).into_iter().collect::<Vec<_>>(),
        };
        for name in extended.into_iter().filter(|_| depth > 0) {
            let outer = self.extended(folder, name).iter().find_map(|path| self.read(path, depth - 1));
            if let Some(outer) = outer {
                settings.base = outer.base.or(settings.base);
                settings.paths = if outer.paths.is_empty() { settings.paths } else { outer.paths };
            }
        }
        let options = json.get("compilerOptions");
        if let Some(base) = options.and_then(|all| all.get("baseUrl")).and_then(Json::text) {
            settings.base = join(folder, base);
        }
        if let Some(paths) = options.and_then(|all| all.get("paths")) {
            let root = settings.base.clone().unwrap_or_else(|| folder.to_owned());
            let target = |path: &Json| path.text().and_then(|path| join(&root, path));
            let entry = |(pattern, targets): &(String, Json)| {
                (pattern.clone(), targets.list().iter().filter_map(target).collect())
            };
            settings.paths = paths.members().iter().map(entry).collect();
        }
        Some(settings)
    }

    /// Returns the candidate files of an `extends`.
    fn extended(&self, folder: &str, name: &str) -> Vec<String> {
        let with_extension = |path: String| match path.ends_with(".json") {
            true => vec![path],
            false => vec![format!("{path}.json"), format!("{path}/tsconfig.json")],
        };
        if name.starts_with('.') {
            return join(folder, name).map(with_extension).unwrap_or_default();
        }
        with_extension(format!("node_modules/{name}"))
    }
}

impl PathSettings {
    fn candidates(&self, specifier: &str) -> Vec<String> {
        let exact = self.paths.iter().find(|(pattern, _)| pattern == specifier && !pattern.contains('*'));
        let matches = self.paths.iter().filter_map(|(pattern, targets)| {
            let (before, after) = pattern.split_once('*')?;
            let star = specifier.strip_prefix(before)?.strip_suffix(after)?;
            Some((before.len(), star, targets))
        });
        let mut all = match (exact, matches.max_by_key(|(before, ..)| *before)) {
            (Some((_, targets)), _) => targets.clone(),
            (None, Some((_, star, targets))) => targets.iter().map(|path| path.replace('*', star)).collect(),
            (None, None) => Vec::new(),
        };
        all.extend(self.base.as_ref().and_then(|base| join(base, specifier)));
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn longest_pattern_wins_and_base_url_comes_last() {
        let settings = PathSettings {
            base: Some("src".to_owned()),
            paths: [("@/*", "src/*"), ("@/net/*", "net/*"), ("lib", "lib/index")]
                .map(|(pattern, target)| (pattern.to_owned(), vec![target.to_owned()]))
                .to_vec(),
        };
        assert_eq!(settings.candidates("@/a/b"), ["src/a/b", "src/@/a/b"]);
        assert_eq!(settings.candidates("@/net/vpc"), ["net/vpc", "src/@/net/vpc"]);
        assert_eq!(settings.candidates("lib"), ["lib/index", "src/lib"]);
        assert_eq!(settings.candidates("other"), ["src/other"]);
    }
}
