//! Reads a `package.json` and resolves an import of the package to candidate paths, by the rules of Node.js.
//!
//! Pure: the caller checks which candidate exists. The conditions `node`, `default`, and `import` or `require` apply, in the
//! order in which the package lists them.

use crate::program::json::Json;
use crate::program::specifier::{self, Mode};

/// Parts of a `package.json` that module resolution needs.
#[derive(Debug, Default)]
pub(crate) struct Manifest {
    pub(crate) name: Option<String>,
    /// `"type": "module"`: files with the extension `.js` are ES modules.
    pub(crate) is_module: bool,
    exports: Option<Json>,
    imports: Option<Json>,
    module: Option<String>,
    main: Option<String>,
    types: Option<String>,
    /// Globs such as `packages/*`.
    pub(crate) workspaces: Vec<String>,
}

/// Target of an import inside a package.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Target {
    /// Candidate paths in the package, in order of preference.
    Files(Vec<String>),
    /// Another package, which only a private import (`#name`) can name.
    Package(String),
}

/// Error of resolving an import inside a package.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum TargetError {
    /// `exports` does not list the subpath. Contains the keys that it lists.
    NotExported(Vec<String>),
    /// The target is not a path inside the package.
    OutsidePackage(String),
}

impl Manifest {
    pub(crate) fn parse(text: &str) -> Result<Manifest, serde_json::Error> {
        let value = Json::parse(text)?;
        let text = |key: &str| value.get(key).and_then(Json::text).map(str::to_owned);
        let workspaces = match value.get("workspaces") {
            Some(object @ Json::Map(_)) => object.get("packages"),
            other => other,
        };
        let globs = workspaces.map(Json::list).unwrap_or_default();
        Ok(Manifest {
            name: text("name"),
            is_module: text("type").as_deref() == Some("module"),
            exports: value.get("exports").filter(|exports| **exports != Json::Null).cloned(),
            imports: value.get("imports").cloned(),
            module: text("module"),
            main: text("main"),
            types: text("types").or_else(|| text("typings")),
            workspaces: globs.iter().filter_map(Json::text).map(str::to_owned).collect(),
        })
    }

    pub(crate) fn has_exports(&self) -> bool {
        self.exports.is_some()
    }

    /// Returns candidate paths inside the package for a subpath, in order of preference. `""` is the package itself.
    pub(crate) fn targets(&self, subpath: &str, mode: Mode) -> Result<Vec<String>, TargetError> {
        let Some(exports) = &self.exports else {
            return if subpath.is_empty() {
                self.main_files()
            } else {
                inside(subpath).map(|path| vec![path])
            };
        };
        let key = if subpath.is_empty() { ".".to_owned() } else { format!("./{subpath}") };
        let found = |mode: Mode| match exports {
            Json::Map(members) if has_subpaths(members) => lookup(members, &key, mode),
            whole if key == "." => pick(whole, None, mode),
            _ => Picked::Nothing,
        };
        // A package that names a file only for `require` serves an `import` too: the file is CommonJS.
        let target = match found(mode) {
            Picked::Nothing if mode == Mode::Import => found(Mode::Require),
            target => target,
        };
        match target {
            Picked::Path(path) if path.starts_with("./") => inside(&path).map(|path| vec![path]),
            Picked::Path(path) => Err(TargetError::OutsidePackage(path)),
            Picked::Excluded | Picked::Nothing => Err(TargetError::NotExported(public_keys(exports))),
        }
    }

    /// Returns the files of a package without `exports`. Node.js knows only `main` and `index.js`; `module` is the entry
    /// point of bundlers, for a package that has nothing else.
    pub(crate) fn main_files(&self) -> Result<Vec<String>, TargetError> {
        let mut all: Vec<String> = self.main.iter().map(|path| inside(path)).collect::<Result<_, _>>()?;
        all.push("index".to_owned());
        all.extend(self.module.iter().map(|path| inside(path)).collect::<Result<Vec<_>, _>>()?);
        Ok(all)
    }

    /// Returns the candidate paths of the declarations of a subpath, some without an extension.
    pub(crate) fn declarations(&self, subpath: &str) -> Vec<String> {
        let exported = self.exports.as_ref().and_then(|exports| match exports {
            Json::Map(members) if has_subpaths(members) => {
                exports.get(&if subpath.is_empty() { ".".to_owned() } else { format!("./{subpath}") })
            }
            whole => subpath.is_empty().then_some(whole),
        });
        let mut all: Vec<String> = exported.and_then(types_of).into_iter().collect();
        if subpath.is_empty() {
            all.extend(self.types.clone());
            all.push("index".to_owned());
        } else {
            all.push(subpath.to_owned());
        }
        all.iter().filter_map(|path| inside(path).ok()).collect()
    }

    /// Returns the target of a private import `#name` of the package.
    pub(crate) fn private_target(&self, specifier: &str, mode: Mode) -> Result<Target, TargetError> {
        let members = self.imports.as_ref().map(Json::members).unwrap_or_default();
        match lookup(members, specifier, mode) {
            Picked::Path(path) if path.starts_with("./") => {
                inside(&path).map(|path| Target::Files(vec![path]))
            }
            Picked::Path(path) if !path.starts_with(['.', '/']) => Ok(Target::Package(path)),
            Picked::Path(path) => Err(TargetError::OutsidePackage(path)),
            Picked::Excluded | Picked::Nothing => {
                Err(TargetError::NotExported(members.iter().map(|(key, _)| key.clone()).collect()))
            }
        }
    }
}

enum Picked {
    Path(String),
    /// `null`: the package excludes the subpath.
    Excluded,
    /// No condition matches, or the subpath is not listed.
    Nothing,
}

fn has_subpaths(members: &[(String, Json)]) -> bool {
    members.iter().any(|(key, _)| key.starts_with('.'))
}

/// Finds the target of an exact key, or of the pattern with the longest prefix before its `*`.
fn lookup(members: &[(String, Json)], key: &str, mode: Mode) -> Picked {
    let exact = members.iter().find(|(name, _)| name == key && !key.contains('*'));
    if let Some((_, target)) = exact {
        return pick(target, None, mode);
    }
    let matches = members.iter().filter_map(|(pattern, target)| {
        let (before, after) = pattern.split_once('*')?;
        let star = key.strip_prefix(before)?.strip_suffix(after)?;
        (!star.is_empty()).then_some((before.len(), pattern.len(), star, target))
    });
    match matches.max_by_key(|(before, whole, ..)| (*before, *whole)) {
        Some((.., star, target)) => pick(target, Some(star), mode),
        None => Picked::Nothing,
    }
}

fn pick(target: &Json, star: Option<&str>, mode: Mode) -> Picked {
    match target {
        Json::Text(path) => Picked::Path(star.map_or_else(|| path.clone(), |star| path.replace('*', star))),
        Json::List(all) => {
            let picked = all.iter().map(|one| pick(one, star, mode));
            picked.into_iter().find(|one| matches!(one, Picked::Path(_))).unwrap_or(Picked::Nothing)
        }
        Json::Map(members) => {
            let applies = |condition: &str| match condition {
                "node" | "default" => true,
                "import" => mode == Mode::Import,
                "require" => mode == Mode::Require,
                _ => false,
            };
            let picked = members.iter().filter(|(condition, _)| applies(condition));
            let mut picked = picked.map(|(_, inner)| pick(inner, star, mode));
            picked.find(|one| !matches!(one, Picked::Nothing)).unwrap_or(Picked::Nothing)
        }
        Json::Null => Picked::Excluded,
        Json::Scalar => Picked::Nothing,
    }
}

/// Returns the first path under the condition `types`.
fn types_of(target: &Json) -> Option<String> {
    match target {
        Json::Text(path) => specifier::is_declaration(path).then(|| path.clone()),
        Json::Map(members) => match target.get("types") {
            Some(Json::Text(path)) => Some(path.clone()),
            Some(inner) => types_of(inner),
            None => members.iter().find_map(|(_, inner)| types_of(inner)),
        },
        _ => None,
    }
}

/// Returns the normalised path, or an error if it is not inside the package.
fn inside(path: &str) -> Result<String, TargetError> {
    let joined = specifier::join("", path).filter(|_| !path.starts_with('/'));
    joined.ok_or_else(|| TargetError::OutsidePackage(path.to_owned()))
}

fn public_keys(exports: &Json) -> Vec<String> {
    match exports {
        Json::Map(members) if has_subpaths(members) => members.iter().map(|(key, _)| key.clone()).collect(),
        _ => vec![".".to_owned()],
    }
}

/// Splits `@scope/name/sub/path` into (`@scope/name`, `sub/path`).
pub(crate) fn split(specifier: &str) -> Option<(&str, &str)> {
    let slashes: Vec<usize> = specifier.match_indices('/').map(|(at, _)| at).collect();
    let end = if specifier.starts_with('@') { slashes.get(1) } else { slashes.first() };
    let (name, subpath) = match end {
        Some(end) => (&specifier[..*end], &specifier[end + 1..]),
        None => (specifier, ""),
    };
    let scoped = !name.starts_with('@') || name.len() > name.find('/').unwrap_or(name.len()) + 1;
    let usable = |part: &str| !part.is_empty() && !part.starts_with('.') && !part.contains(['\\', '%', ':']);
    (scoped && name.split('/').all(usable)).then_some((name, subpath.trim_end_matches('/')))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn targets(manifest: &str, subpath: &str, mode: Mode) -> Result<Vec<String>, TargetError> {
        Manifest::parse(manifest).unwrap().targets(subpath, mode)
    }

    fn import(manifest: &str, subpath: &str) -> Result<Vec<String>, TargetError> {
        targets(manifest, subpath, Mode::Import)
    }

    #[test]
    fn exports_are_matched_by_subpath_pattern_and_condition() {
        let manifest = r#"{ "exports": { ".": { "types": "./t.d.ts", "import": "./i.js", "require": "./r.cjs", "default": "./d.js" },
            "./a/*": "./src/a/*.ts", "./a/b/*": "./src/b/*.ts", "./a/x": "./src/x.ts", "./old": { "require": "./o.cjs" },
            "./hidden/*": null, "./up": "../up.js", "./list": [{ "browser": "./b.js" }, "./l.js"] } }"#;
        assert_eq!(import(manifest, ""), Ok(vec!["i.js".into()]));
        assert_eq!(targets(manifest, "", Mode::Require), Ok(vec!["r.cjs".into()]));
        assert_eq!(import(manifest, "a/q"), Ok(vec!["src/a/q.ts".into()]));
        assert_eq!(import(manifest, "a/b/c/d"), Ok(vec!["src/b/c/d.ts".into()]));
        assert_eq!(import(manifest, "a/x"), Ok(vec!["src/x.ts".into()]));
        assert_eq!(import(manifest, "old"), Ok(vec!["o.cjs".into()]));
        assert_eq!(import(manifest, "list"), Ok(vec!["l.js".into()]));
        assert_eq!(import(manifest, "up"), Err(TargetError::OutsidePackage("../up.js".into())));
        assert!(matches!(import(manifest, "hidden/x"), Err(TargetError::NotExported(_))));
        assert_eq!(import(r#"{ "exports": "./only.js" }"#, ""), Ok(vec!["only.js".into()]));
        let missing = import(r#"{ "exports": "./only.js" }"#, "x");
        assert_eq!(missing, Err(TargetError::NotExported(vec![".".into()])));
    }

    /// Each row is a package, a subpath and the files for `import` and `require` by the documentation of Node.js.
    #[test]
    fn conditions_apply_in_the_order_of_the_package() {
        let rows = [
            (r#"{ "exports": { "default": "./d.js", "import": "./i.js" } }"#, "d.js", "d.js"),
            (
                r#"{ "exports": { "node": { "import": "./ni.js", "require": "./nr.js" }, "default": "./d.js" } }"#,
                "ni.js",
                "nr.js",
            ),
            (
                r#"{ "exports": { "browser": "./b.js", "node": "./n.js", "import": "./i.js" } }"#,
                "n.js",
                "n.js",
            ),
            (r#"{ "exports": { "node": { "deno": "./x.js" }, "default": "./d.js" } }"#, "d.js", "d.js"),
            (r#"{ "exports": { "import": null, "default": "./d.js" } }"#, "-", "d.js"),
            (r#"{ "exports": { "module": "./m.js", "default": "./d.js" } }"#, "d.js", "d.js"),
        ];
        for (manifest, by_import, by_require) in rows {
            let shown =
                |mode| targets(manifest, "", mode).map_or_else(|_| "-".to_owned(), |all| all.join(" "));
            assert_eq!(
                (shown(Mode::Import), shown(Mode::Require)),
                (by_import.into(), by_require.into()),
                "{manifest}"
            );
        }
    }

    #[test]
    fn without_exports_main_comes_before_index_and_module() {
        let all = import(r#"{ "main": "lib/m", "module": "./esm/m.js" }"#, "");
        assert_eq!(all, Ok(vec!["lib/m".into(), "index".into(), "esm/m.js".into()]));
        assert_eq!(import("{}", "lib/x"), Ok(vec!["lib/x".into()]));
        assert!(import("{}", "../x").is_err());
    }

    #[test]
    fn private_imports_name_files_or_packages() {
        let manifest = r##"{ "imports": { "#a": { "node": "./n.js", "default": "./d.js" }, "#p/*": "./src/*.js", "#dep": "other/x" } }"##;
        let manifest = Manifest::parse(manifest).unwrap();
        let target = |specifier| manifest.private_target(specifier, Mode::Import);
        assert_eq!(target("#a"), Ok(Target::Files(vec!["n.js".into()])));
        assert_eq!(target("#p/q/r"), Ok(Target::Files(vec!["src/q/r.js".into()])));
        assert_eq!(target("#dep"), Ok(Target::Package("other/x".into())));
        assert!(target("#none").is_err());
    }

    #[test]
    fn specifier_splits_into_package_and_subpath() {
        assert_eq!(split("a"), Some(("a", "")));
        assert_eq!(split("a/b/c"), Some(("a", "b/c")));
        assert_eq!(split("@s/a"), Some(("@s/a", "")));
        assert_eq!(split("@s/a/b"), Some(("@s/a", "b")));
        assert_eq!(split("@s"), None);
        assert_eq!(split("http://x"), None);
        assert_eq!(split(".hidden"), None);
    }
}
