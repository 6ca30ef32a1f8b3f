//! Resolves an import specifier to candidate files. Pure: the caller checks which candidate exists.

use crate::program::node;

/// Target of an import.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Specifier {
    /// The module `stead`.
    Stead,
    /// The module `stead/<provider>`.
    Provider(String),
    /// A path in the project, perhaps without extension.
    Files(String),
    /// A relative path that points outside the project.
    Outside,
    /// A module of Node.js, without the prefix `node:`.
    Node(String),
    Package(String),
}

/// Way in which code asks for a module.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Mode {
    /// `import` and `export … from`.
    Import,
    /// `require`.
    Require,
}

/// Absolute path of the project folder, as a program sees it in `__dirname` and `process.cwd()`.
///
/// It is the same on every machine, so that a path in a resource does not depend on the machine.
pub(crate) const PROJECT: &str = "/project";

/// Parses an import in the module at `base`.
pub(crate) fn parse(base: &str, specifier: &str) -> Specifier {
    if specifier == "stead" {
        return Specifier::Stead;
    }
    if let Some(provider) = specifier.strip_prefix("stead/") {
        return Specifier::Provider(provider.to_owned());
    }
    if specifier.starts_with("./") || specifier.starts_with("../") || matches!(specifier, "." | "..") {
        let folder = base.rsplit_once('/').map_or("", |(folder, _)| folder);
        return match join(folder, specifier) {
            Some(path) => Specifier::Files(path),
            None => Specifier::Outside,
        };
    }
    let absolute = specifier.strip_prefix("file://").unwrap_or(specifier);
    if absolute.starts_with('/') {
        let inside = absolute.strip_prefix(PROJECT).filter(|rest| rest.is_empty() || rest.starts_with('/'));
        return inside.and_then(|rest| join("", rest)).map_or(Specifier::Outside, Specifier::Files);
    }
    if let Some(module) = specifier.strip_prefix("node:") {
        return Specifier::Node(module.to_owned());
    }
    if node::is_builtin(specifier) {
        return Specifier::Node(specifier.to_owned());
    }
    Specifier::Package(specifier.to_owned())
}

/// Returns true for a file that does not belong to the project itself: of an installed package, or of Node.js.
pub(crate) fn is_foreign(path: &str) -> bool {
    path.starts_with("node_modules/") || path.contains("/node_modules/") || path.starts_with("node:")
}

/// Returns the module part of resource names for a file: its path without extension.
pub(crate) fn module_name(path: &str) -> &str {
    let (start, file) = path.rsplit_once('/').map_or((0, path), |(folder, file)| (folder.len() + 1, file));
    match file.rfind('.') {
        Some(dot) if dot > 0 => &path[..start + dot],
        _ => path,
    }
}

pub(crate) fn join(folder: &str, relative: &str) -> Option<String> {
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in relative.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()?),
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

/// Returns the files that a path may stand for, in order of preference.
pub(crate) fn candidates(path: &str) -> Vec<String> {
    if is_foreign(path) {
        return foreign_candidates(path);
    }
    let written = |extension: &str| path.strip_suffix(extension);
    // TypeScript allows an import to name the compiled file.
    for (compiled, source) in [(".mjs", ".mts"), (".cjs", ".cts"), (".js", ".ts")] {
        if let Some(stem) = written(compiled) {
            return vec![format!("{stem}{source}"), path.to_owned()];
        }
    }
    if [".ts", ".mts", ".json", ".cts"].iter().any(|extension| path.ends_with(extension)) {
        return vec![path.to_owned()];
    }
    let folder = if path.is_empty() { String::new() } else { format!("{path}/") };
    let mut all = Vec::new();
    if !path.is_empty() {
        all.extend(["ts", "mts", "js", "mjs"].map(|extension| format!("{path}.{extension}")));
    }
    all.extend(["ts", "js"].map(|extension| format!("{folder}index.{extension}")));
    all
}

/// Returns the files that a path stands for in `require`, which also completes names of JSON files.
pub(crate) fn required_candidates(path: &str) -> Vec<String> {
    let mut all = candidates(path);
    let folder = all.iter().position(|file| file.strip_prefix(path) == Some("/index.ts"));
    if let (Some(folder), false) = (folder, is_foreign(path)) {
        all.insert(folder, format!("{path}.json"));
        all.push(format!("{path}/index.json"));
    }
    all
}

/// Returns the files that a path in an installed package may stand for: as written, then as `require` completes it.
fn foreign_candidates(path: &str) -> Vec<String> {
    let mut all = vec![path.to_owned()];
    let ends = ["js", "json", "ts", "mjs", "cjs", "mts", "cts"];
    if path.rsplit_once('.').is_some_and(|(_, own)| ends.contains(&own)) {
        all.extend(path.strip_suffix(".js").map(|stem| format!("{stem}.ts")));
        all.extend([format!("{path}.js"), format!("{path}/index.js")]);
        return all;
    }
    all.extend(ends.map(|end| format!("{path}.{end}")));
    all.extend(["js", "json", "ts"].map(|end| format!("{path}/index.{end}")));
    all
}

/// Returns true for a file that only declares types.
pub(crate) fn is_declaration(path: &str) -> bool {
    [".d.ts", ".d.mts", ".d.cts"].iter().any(|extension| path.ends_with(extension))
}

/// Returns the candidate declaration files of an imported path.
pub(crate) fn declarations(path: &str) -> Vec<String> {
    let stems = [".js", ".mjs", ".cjs", ".ts", ".mts", ".cts"];
    let stem = stems.iter().find_map(|extension| path.strip_suffix(extension)).unwrap_or(path);
    let folder = if stem.is_empty() { String::new() } else { format!("{stem}/") };
    let mut all = vec![format!("{folder}index.d.ts")];
    if !stem.is_empty() {
        all.extend(["d.ts", "d.mts", "d.cts"].map(|extension| format!("{stem}.{extension}")));
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn relative_imports_resolve_to_project_files() {
        let files = |specifier| match parse("net/vpc.ts", specifier) {
            Specifier::Files(path) => candidates(&path),
            other => panic!("{other:?}"),
        };
        assert_eq!(files("./subnet.js"), ["net/subnet.ts", "net/subnet.js"]);
        assert_eq!(files("../a.json"), ["a.json"]);
        assert_eq!(files("../lib")[0], "lib.ts");
        assert!(files("../lib").contains(&"lib/index.ts".to_owned()));
        assert_eq!(files("..")[0], "index.ts");
        assert_eq!(parse("net/vpc.ts", "../../x"), Specifier::Outside);
    }

    #[test]
    fn stead_and_node_modules_are_distinguished_from_packages() {
        assert_eq!(parse("a.ts", "stead"), Specifier::Stead);
        assert_eq!(parse("a.ts", "stead/local"), Specifier::Provider("local".into()));
        assert_eq!(parse("a.ts", "node:fs/promises"), Specifier::Node("fs/promises".into()));
        assert_eq!(parse("a.ts", "events/"), Specifier::Package("events/".into()));
        assert_eq!(parse("a.ts", "/project/lib/x.js"), Specifier::Files("lib/x.js".into()));
        assert_eq!(parse("a.ts", "/etc/passwd"), Specifier::Outside);
        assert_eq!(parse("a.ts", "path"), Specifier::Node("path".into()));
        assert_eq!(parse("a.ts", "lodash/map"), Specifier::Package("lodash/map".into()));
    }

    #[test]
    fn module_name_is_the_path_without_extension() {
        assert_eq!(module_name("main.ts"), "main");
        assert_eq!(module_name("net/vpc.prod.ts"), "net/vpc.prod");
        assert_eq!(module_name("a.b/c"), "a.b/c");
    }
}
