//! Resolves an import specifier to candidate files. Pure: the caller checks which candidate exists.

/// Target of an import.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Specifier {
    /// The module `stead`.
    Stead,
    /// The module `stead/<provider>`.
    Provider(String),
    /// Candidate files of the project, in order of preference.
    Files(Vec<String>),
    /// A relative path that points outside the project.
    Outside,
    /// A Node.js module.
    Node(String),
    Package(String),
}

const NODE_MODULES: &[&str] = &[
    "assert",
    "async_hooks",
    "buffer",
    "child_process",
    "cluster",
    "console",
    "constants",
    "crypto",
    "dgram",
    "diagnostics_channel",
    "dns",
    "domain",
    "events",
    "fs",
    "http",
    "http2",
    "https",
    "inspector",
    "module",
    "net",
    "os",
    "path",
    "perf_hooks",
    "process",
    "punycode",
    "querystring",
    "readline",
    "repl",
    "stream",
    "string_decoder",
    "sys",
    "timers",
    "tls",
    "tty",
    "url",
    "util",
    "v8",
    "vm",
    "wasi",
    "worker_threads",
    "zlib",
];

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
            Some(path) => Specifier::Files(candidates(&path)),
            None => Specifier::Outside,
        };
    }
    let bare = specifier.strip_prefix("node:");
    let first = bare.unwrap_or(specifier).split('/').next().unwrap_or_default();
    if bare.is_some() || NODE_MODULES.contains(&first) {
        return Specifier::Node(first.to_owned());
    }
    Specifier::Package(specifier.to_owned())
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

pub(crate) fn candidates(path: &str) -> Vec<String> {
    let written = |extension: &str| path.strip_suffix(extension);
    // TypeScript allows an import to name the compiled file.
    if let Some(stem) = written(".mjs") {
        return vec![format!("{stem}.mts"), path.to_owned()];
    }
    if let Some(stem) = written(".js") {
        return vec![format!("{stem}.ts"), path.to_owned()];
    }
    if [".ts", ".mts", ".json", ".cjs", ".cts"].iter().any(|extension| path.ends_with(extension)) {
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
            Specifier::Files(files) => files,
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
        assert_eq!(parse("a.ts", "node:fs/promises"), Specifier::Node("fs".into()));
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
