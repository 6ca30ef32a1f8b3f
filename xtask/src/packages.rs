//! Runs scripts of real calls on npm packages here and in Node.js, and compares the results.
//!
//! Each file in `xtask/packages` is a program: an ES module that exports `result`. Both engines write it as text by `show.js`,
//! which keeps the order of keys, `undefined`, NaN and -0. The packages are installed by
//! npm, at the versions of `xtask/packages/package.json`, into a cache outside of the target folder. Needs node and npm.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use stead_model::Value;

use crate::conformance::Extent;
use crate::outside::cache_folder;
use crate::workspace::{Workspace, cargo};

/// Page with the table of the packages.
const PAGE: &str = "docs/guide/packages.md";
pub(crate) const PEER: &str = "npm packages in Node.js";
const START: &str = "<!-- table: cargo xtask conformance packages -->\n";
const END: &str = "<!-- end of table -->\n";

/// Calls that must be refused, with a part of the message and of the help.
const REFUSED: &[(&str, &str, &str, &str)] = &[
    (
        "nanoid",
        "import { nanoid } from \"nanoid\";\nexport const result = nanoid();\n",
        "crypto.",
        "local.RandomString",
    ),
    ("uuid", "import { v4 } from \"uuid\";\nexport const result = v4();\n", "crypto.", "local.RandomString"),
    ("lodash", "import _ from \"lodash\";\nexport const result = _.now();\n", "current time", "config"),
    (
        "dayjs",
        "import dayjs from \"dayjs\";\nexport const result = dayjs().format();\n",
        "current time",
        "config",
    ),
];

/// Runs every script, and checks the table in the guide.
pub(crate) fn conforms(workspace: &Workspace, _: Extent) -> Result<String, String> {
    let mut scripts = scripts(workspace)?;
    let folder = install(workspace)?;
    write_project(workspace, &folder)?;
    let binary = build(workspace)?;
    let mut wrong = Vec::new();
    // The table has only the packages that give the same results.
    scripts.retain(|name, text| {
        let outcome = compare(&binary, &folder, text);
        println!("conformance: packages: {name}: {}", outcome.as_ref().map_or("FAILED", |()| "same"));
        let same = outcome.is_ok();
        wrong.extend(outcome.err().map(|problem| format!("{name}: {problem}")));
        same
    });
    for (name, text, message, help) in REFUSED {
        let outcome = refused(&binary, &folder, text, message, help);
        println!("conformance: packages: {name}: {}", outcome.as_ref().map_or("FAILED", |()| "refused"));
        wrong.extend(outcome.err().map(|problem| format!("{name}: {problem}")));
    }
    if let Err(problem) = check_page(workspace, &scripts, &folder) {
        wrong.push(problem);
    }
    if !wrong.is_empty() {
        return Err(wrong.join("\n"));
    }
    Ok(format!("{} scripts have the same results, {} calls are refused", scripts.len(), REFUSED.len()))
}

fn sources(workspace: &Workspace) -> PathBuf {
    workspace.root.join("xtask/packages")
}

/// Returns name and text of each script.
fn scripts(workspace: &Workspace) -> Result<BTreeMap<String, String>, String> {
    let folder = sources(workspace);
    let entries = std::fs::read_dir(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let mut all = BTreeMap::new();
    for entry in entries {
        let path = entry.map_err(|error| error.to_string())?.path();
        let name = path.file_name().and_then(|name| name.to_str()).and_then(|name| name.strip_suffix(".mjs"));
        if let Some(name) = name {
            all.insert(name.to_owned(), read(&path)?);
        }
    }
    Ok(all)
}

/// Installs the packages unless the cache has the same versions.
fn install(workspace: &Workspace) -> Result<PathBuf, String> {
    let folder = cache_folder("packages")?;
    let wanted = read(&sources(workspace).join("package.json"))?;
    if read(&folder.join("installed.json")).is_ok_and(|installed| installed == wanted) {
        return Ok(folder);
    }
    write(&folder.join("package.json"), &wanted)?;
    let arguments = ["install", "--ignore-scripts", "--no-audit", "--no-fund", "--no-package-lock"];
    run(Command::new("npm").args(arguments).current_dir(&folder))?;
    write(&folder.join("installed.json"), &wanted)?;
    Ok(folder)
}

/// Writes the files around the program: its project, and how each engine shows its result.
fn write_project(workspace: &Workspace, folder: &Path) -> Result<(), String> {
    let files = [
        ("show.mjs", read(&sources(workspace).join("show.js"))?),
        ("stead.toml", "project = \"packages\"\nmain = \"shown.mjs\"\n".to_owned()),
        ("shown.mjs", "import { result as all } from \"./main.mjs\";\nimport { show } from \"./show.mjs\";\nexport const result = show(all);\n".to_owned()),
        ("run.mjs", "console.log(JSON.stringify((await import(\"./shown.mjs\")).result));\n".to_owned()),
    ];
    files.iter().try_for_each(|(name, text)| write(&folder.join(name), text))
}

fn build(workspace: &Workspace) -> Result<PathBuf, String> {
    run(Command::new(cargo()).args(["build", "--quiet", "-p", "stead-cli"]).current_dir(&workspace.root))?;
    Ok(workspace.target.join("debug/stead"))
}

fn compare(binary: &Path, folder: &Path, text: &str) -> Result<(), String> {
    write(&folder.join("main.mjs"), text)?;
    let node = run(Command::new("node").arg("run.mjs").env("TZ", "UTC").current_dir(folder))?;
    let node: Value =
        serde_json::from_str(&node).map_err(|error| format!("node printed no JSON: {error}"))?;
    let here = evaluate(binary, folder)?;
    if node == here {
        return Ok(());
    }
    let shown = |value: &Value| value.to_json().chars().take(2000).collect::<String>();
    let (theirs, ours) = first_difference(&node, &here).unwrap_or((&node, &here));
    Err(format!("the results differ\n  node  {}\n  stead {}", shown(theirs), shown(ours)))
}

/// Returns the first items of two lists that differ.
fn first_difference<'a>(left: &'a Value, right: &'a Value) -> Option<(&'a Value, &'a Value)> {
    let (Value::List(left), Value::List(right)) = (left, right) else { return None };
    left.iter().zip(right.iter()).find(|(a, b)| a != b)
}

/// Returns the value of the export `result`.
fn evaluate(binary: &Path, folder: &Path) -> Result<Value, String> {
    let graph = folder.join("graph.json");
    run(Command::new(binary).arg("-C").arg(folder).args(["compile", "--out"]).arg(&graph))?;
    let graph: Value = serde_json::from_str(&read(&graph)?).map_err(|error| error.to_string())?;
    let member = |value: &Value, key: &str| value.as_map().and_then(|map| map.get(key)).cloned();
    let outputs = member(&graph, "graph").and_then(|graph| member(&graph, "outputs"));
    let outputs = outputs.ok_or("the graph has no outputs")?;
    let result = member(&outputs, "result").ok_or("the program has no export `result`")?;
    Ok(member(&result, "known").unwrap_or(result))
}

fn refused(binary: &Path, folder: &Path, text: &str, message: &str, help: &str) -> Result<(), String> {
    write(&folder.join("main.mjs"), text)?;
    match evaluate(binary, folder) {
        Ok(value) => Err(format!("not refused: {}", value.to_json())),
        Err(problem)
            if !problem.contains(message) || !problem.contains(help) || !problem.contains("main.mjs:2") =>
        {
            Err(format!("refused without `{message}`, `{help}` or the caller's line:\n{problem}"))
        }
        Err(_) => Ok(()),
    }
}

/// Compares the table in the guide with the scripts and the installed versions. `STEAD_WRITE=1` writes it.
fn check_page(
    workspace: &Workspace,
    scripts: &BTreeMap<String, String>,
    folder: &Path,
) -> Result<(), String> {
    let path = workspace.root.join(PAGE);
    let page = read(&path)?;
    let missing = || format!("{PAGE} has no table between its marks");
    let (before, rest) = page.split_once(START).ok_or_else(missing)?;
    let (shown, after) = rest.split_once(END).ok_or_else(missing)?;
    let table = table(scripts, folder)?;
    if shown == table {
        return Ok(());
    }
    if std::env::var_os("STEAD_WRITE").is_none() {
        return Err(format!("the table in {PAGE} is out of date; run with STEAD_WRITE=1"));
    }
    write(&path, &format!("{before}{START}{table}{END}{after}"))
}

fn table(scripts: &BTreeMap<String, String>, folder: &Path) -> Result<String, String> {
    let node = run(Command::new("node").arg("--version"))?;
    let mut text =
        format!("Compared with Node.js {}:\n\n| package | version | calls |\n|---|---|---|\n", node.trim());
    for (name, script) in scripts.iter().filter(|(name, _)| !name.starts_with("node-")) {
        let manifest: Value =
            serde_json::from_str(&read(&folder.join("node_modules").join(name).join("package.json"))?)
                .map_err(|error| format!("{name}: {error}"))?;
        let version =
            manifest.as_map().and_then(|map| map.get("version")).and_then(Value::as_str).unwrap_or("?");
        let imports = script.lines().filter(|line| line.starts_with("import "));
        let imports: Vec<String> =
            imports.map(|line| format!("`{}`", line.trim_end_matches(';').replace('|', "\\|"))).collect();
        text.push_str(&format!("| {name} | {version} | {} |\n", imports.join("<br>")));
    }
    Ok(text)
}

fn read(path: &Path) -> Result<String, String> {
    std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))
}

fn write(path: &Path, text: &str) -> Result<(), String> {
    std::fs::write(path, text).map_err(|error| format!("{}: {error}", path.display()))
}

/// Runs a command and returns its output; the error has both streams.
fn run(command: &mut Command) -> Result<String, String> {
    let output = command.output().map_err(|error| format!("cannot run {command:?}: {error}"))?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    if output.status.success() {
        return Ok(text);
    }
    Err(format!("{command:?} failed:\n{text}{}", String::from_utf8_lossy(&output.stderr)))
}
