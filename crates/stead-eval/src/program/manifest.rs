//! Reads a `package.json` and resolves an import of the package to candidate paths.
//!
//! Pure: the caller checks which candidate exists. The conditions `import`, `module` and `default` apply; `types` and `require`
//! do not.

use serde_json::Value;

/// Parts of a `package.json` that module resolution needs.
#[derive(Debug, Default)]
pub(crate) struct Manifest {
    pub(crate) name: Option<String>,
    exports: Option<Value>,
    imports: Option<Value>,
    module: Option<String>,
    main: Option<String>,
    types: Option<String>,
    /// Globs such as `packages/*`.
    pub(crate) workspaces: Vec<String>,
}

/// Error of resolving an import inside a package.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum TargetError {
    /// `exports` does not list the subpath. Contains the keys that it lists.
    NotExported(Vec<String>),
    /// Only the condition `require` names a file.
    OnlyCommonJs,
    /// The target is not a path inside the package.
    OutsidePackage(String),
}

const CONDITIONS: &[&str] = &["import", "module", "default"];

impl Manifest {
    pub(crate) fn parse(text: &str) -> Result<Manifest, serde_json::Error> {
        let value: Value = serde_json::from_str(text.strip_prefix('\u{feff}').unwrap_or(text))?;
        let text = |key: &str| value.get(key).and_then(Value::as_str).map(str::to_owned);
        let workspaces = match value.get("workspaces") {
            Some(Value::Object(object)) => object.get("packages"),
            other => other,
        };
        let globs = workspaces.and_then(Value::as_array).into_iter().flatten();
        Ok(Manifest {
            name: text("name"),
            exports: value.get("exports").filter(|exports| !exports.is_null()).cloned(),
            imports: value.get("imports").cloned(),
            module: text("module"),
            main: text("main"),
            types: text("types").or_else(|| text("typings")),
            workspaces: globs.filter_map(Value::as_str).map(str::to_owned).collect(),
        })
    }

    /// Returns candidate paths inside the package for a subpath, in order of preference. `""` is the package itself.
    pub(crate) fn targets(&self, subpath: &str) -> Result<Vec<String>, TargetError> {
        if let Some(exports) = &self.exports {
            let key = if subpath.is_empty() { ".".to_owned() } else { format!("./{subpath}") };
            let target = match exports {
                Value::Object(map) if map.keys().any(|key| key.starts_with('.')) => lookup(map, &key),
                whole if key == "." => pick(whole, ""),
                _ => Picked::Nothing,
            };
            return within(target, || public_keys(exports));
        }
        if !subpath.is_empty() {
            return inside(subpath).map(|path| vec![path]);
        }
        // `main` is often CommonJS; bundlers prefer `module`.
        let named = self.module.iter().chain(&self.main).map(|path| inside(path));
        let mut all = named.collect::<Result<Vec<_>, _>>()?;
        all.push("index".to_owned());
        Ok(all)
    }

    /// Returns the candidate paths of the declarations of a subpath, some without an extension.
    pub(crate) fn declarations(&self, subpath: &str) -> Vec<String> {
        let exported = self.exports.as_ref().and_then(|exports| match exports {
            Value::Object(map) if map.keys().any(|key| key.starts_with('.')) => {
                map.get(&if subpath.is_empty() { ".".to_owned() } else { format!("./{subpath}") })
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

    /// Returns the candidate paths for a private import `#name` of the package.
    pub(crate) fn private_target(&self, specifier: &str) -> Result<Vec<String>, TargetError> {
        match &self.imports {
            Some(Value::Object(map)) => within(lookup(map, specifier), || map.keys().cloned().collect()),
            _ => Err(TargetError::NotExported(Vec::new())),
        }
    }
}

enum Picked {
    Path(String),
    /// The target exists only for the condition `require`.
    OnlyRequire,
    Nothing,
}

/// Finds the target of an exact key, or of the pattern with the longest prefix before its `*`.
fn lookup(map: &serde_json::Map<String, Value>, key: &str) -> Picked {
    if let Some(target) = map.get(key).filter(|_| !key.contains('*')) {
        return pick(target, "");
    }
    let matches = map.iter().filter_map(|(pattern, target)| {
        let (before, after) = pattern.split_once('*')?;
        let star = key.strip_prefix(before)?.strip_suffix(after)?;
        (!star.is_empty()).then_some((before.len(), pattern.len(), star, target))
    });
    match matches.max_by_key(|(before, whole, ..)| (*before, *whole)) {
        Some((.., star, target)) => pick(target, star),
        None => Picked::Nothing,
    }
}

fn pick(target: &Value, star: &str) -> Picked {
    match target {
        Value::String(path) => Picked::Path(path.replace('*', star)),
        Value::Array(all) => all
            .iter()
            .map(|one| pick(one, star))
            .find(|one| matches!(one, Picked::Path(_)))
            .unwrap_or(Picked::Nothing),
        Value::Object(map) => {
            let conditions = CONDITIONS.iter().filter_map(|condition| map.get(*condition));
            let found = conditions.map(|one| pick(one, star)).find(|one| matches!(one, Picked::Path(_)));
            match found {
                Some(found) => found,
                None if map.contains_key("require") => Picked::OnlyRequire,
                None => Picked::Nothing,
            }
        }
        _ => Picked::Nothing,
    }
}

/// Returns the first path under the condition `types`.
fn types_of(target: &Value) -> Option<String> {
    match target {
        Value::String(path) => crate::program::specifier::is_declaration(path).then(|| path.clone()),
        Value::Object(map) => match map.get("types") {
            Some(Value::String(path)) => Some(path.clone()),
            Some(inner) => types_of(inner),
            None => map.values().find_map(types_of),
        },
        _ => None,
    }
}

fn within(target: Picked, known: impl FnOnce() -> Vec<String>) -> Result<Vec<String>, TargetError> {
    match target {
        Picked::Path(path) if path.starts_with("./") => inside(&path).map(|path| vec![path]),
        Picked::Path(path) => Err(TargetError::OutsidePackage(path)),
        Picked::OnlyRequire => Err(TargetError::OnlyCommonJs),
        Picked::Nothing => Err(TargetError::NotExported(known())),
    }
}

/// Returns the normalised path, or an error if it is not inside the package.
fn inside(path: &str) -> Result<String, TargetError> {
    let joined = crate::program::specifier::join("", path).filter(|_| !path.starts_with('/'));
    joined.ok_or_else(|| TargetError::OutsidePackage(path.to_owned()))
}

fn public_keys(exports: &Value) -> Vec<String> {
    match exports {
        Value::Object(map) if map.keys().any(|key| key.starts_with('.')) => map.keys().cloned().collect(),
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

    fn targets(manifest: &str, subpath: &str) -> Result<Vec<String>, TargetError> {
        Manifest::parse(manifest).unwrap().targets(subpath)
    }

    #[test]
    fn exports_are_matched_by_subpath_pattern_and_condition() {
        let manifest = r#"{ "exports": { ".": { "types": "./t.d.ts", "default": "./d.js", "import": "./i.js" },
            "./a/*": "./src/a/*.ts", "./a/b/*": "./src/b/*.ts", "./a/x": "./src/x.ts", "./old": { "require": "./o.cjs" },
            "./hidden/*": null, "./up": "../up.js" } }"#;
        assert_eq!(targets(manifest, ""), Ok(vec!["i.js".into()]));
        assert_eq!(targets(manifest, "a/q"), Ok(vec!["src/a/q.ts".into()]));
        assert_eq!(targets(manifest, "a/b/c/d"), Ok(vec!["src/b/c/d.ts".into()]));
        assert_eq!(targets(manifest, "a/x"), Ok(vec!["src/x.ts".into()]));
        assert_eq!(targets(manifest, "old"), Err(TargetError::OnlyCommonJs));
        assert_eq!(targets(manifest, "up"), Err(TargetError::OutsidePackage("../up.js".into())));
        assert!(matches!(targets(manifest, "hidden/x"), Err(TargetError::NotExported(_))));
        assert_eq!(targets(r#"{ "exports": "./only.js" }"#, ""), Ok(vec!["only.js".into()]));
        assert_eq!(
            targets(r#"{ "exports": "./only.js" }"#, "x"),
            Err(TargetError::NotExported(vec![".".into()]))
        );
    }

    #[test]
    fn without_exports_module_comes_before_main_and_index() {
        let all = targets(r#"{ "main": "lib/m", "module": "./esm/m.js" }"#, "");
        assert_eq!(all, Ok(vec!["esm/m.js".into(), "lib/m".into(), "index".into()]));
        assert_eq!(targets("{}", "lib/x"), Ok(vec!["lib/x".into()]));
        assert!(targets("{}", "../x").is_err());
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
