//! Generator of the bundle of published AWS types, from the schemas in the cfn-lint package.
//!
//! Needs python3 with pip for the download; the shipped binary needs neither.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use stead_model::Value;
use stead_schema::cfn;
use stead_schema::cfn::bundle::{self, Origin};

use crate::conformance::Extent;
use crate::outside::cache_folder;
use crate::workspace::Workspace;

const PACKAGE: &str = "cfn-lint";
/// Version of the package, under MIT-0. To update: change it, run `cargo xtask schemas`, review `docs/aws-coverage.md`.
const VERSION: &str = "1.58.0";
pub(crate) const PEER: &str = "cfn-lint 1.58.0";

/// A file in the repository, and its content.
type Generated = (PathBuf, Vec<u8>);

/// Writes the bundle.
pub(crate) fn run(workspace: &Workspace) -> Result<ExitCode, String> {
    let (files, types) = generate(workspace)?;
    for (path, bytes) in &files {
        std::fs::write(path, bytes).map_err(|error| format!("cannot write {}: {error}", path.display()))?;
        println!("schemas: {types} types of {PACKAGE} {VERSION}, {} bytes: {}", bytes.len(), path.display());
    }
    Ok(ExitCode::SUCCESS)
}

/// Checks that the bundle in the repository is the output of the generator.
pub(crate) fn conforms(workspace: &Workspace, _: Extent) -> Result<String, String> {
    let (files, types) = generate(workspace)?;
    for (path, bytes) in files {
        let kept =
            std::fs::read(&path).map_err(|error| format!("cannot read {}: {error}", path.display()))?;
        if kept != bytes {
            let path = path.display();
            return Err(format!(
                "{path} differs from the output of the generator; run `cargo xtask schemas`"
            ));
        }
    }
    Ok(format!("the bundle has the {types} types of the package"))
}

fn generate(workspace: &Workspace) -> Result<(Vec<Generated>, usize), String> {
    let folder = unpacked()?.join("cfnlint/data/schemas");
    let date = text(&json(&folder.join("version.json"))?, "schema_date")?;
    let published = published(&folder)?;
    let types = published.len();
    let origin = Origin { package: PACKAGE.to_owned(), version: VERSION.to_owned(), date };
    let folder = workspace.root.join("crates/stead-schema/data");
    let permissions = cfn::permissions::make(&published).map_err(|error| error.to_string())?;
    let bundle = bundle::make(origin, published).map_err(|error| error.to_string())?;
    let files = [("aws-types.bundle", bundle), ("aws-permissions.bundle", permissions)];
    Ok((files.map(|(name, bytes)| (folder.join(name), bytes)).into(), types))
}

/// Downloads the package into the cache, once.
fn unpacked() -> Result<PathBuf, String> {
    let folder = cache_folder("schemas")?;
    let wheel = folder.join(format!("cfn_lint-{VERSION}-py3-none-any.whl"));
    let unpacked = folder.join(VERSION);
    if !wheel.exists() {
        let requirement = format!("{PACKAGE}=={VERSION}");
        let arguments = ["-m", "pip", "download", "--quiet", "--no-deps", "--dest"];
        python(Command::new("python3").args(arguments).arg(&folder).arg(requirement))?;
    }
    if !unpacked.exists() {
        python(Command::new("python3").args(["-m", "zipfile", "-e"]).arg(&wheel).arg(&unpacked))?;
    }
    Ok(unpacked)
}

fn python(command: &mut Command) -> Result<(), String> {
    let output = command.output().map_err(|error| format!("cannot run python3: {error}"))?;
    if output.status.success() {
        return Ok(());
    }
    Err(format!("{command:?} failed:\n{}", String::from_utf8_lossy(&output.stderr)))
}

/// Returns the schema of every type in any region. A type has one schema for all regions.
fn published(folder: &Path) -> Result<Vec<Value>, String> {
    let regions = folder.join("providers");
    let entries = std::fs::read_dir(&regions).map_err(|error| format!("{}: {error}", regions.display()))?;
    let mut types: BTreeMap<String, String> = BTreeMap::new();
    for entry in entries {
        let path = entry.map_err(|error| error.to_string())?.path();
        if path.extension().is_some_and(|extension| extension == "json")
            && let Value::Map(region) = json(&path)?
        {
            types.extend(
                region
                    .into_iter()
                    .filter_map(|(name, hash)| Some((name.to_string(), hash.as_str()?.to_owned()))),
            );
        }
    }
    // Types of a transform do not exist in any service.
    types.retain(|name, _| name.starts_with("AWS::") && !name.starts_with("AWS::Serverless::"));
    types.values().map(|hash| json(&folder.join("resources").join(format!("{hash}.json")))).collect()
}

fn json(path: &Path) -> Result<Value, String> {
    let bytes = std::fs::read(path).map_err(|error| format!("{}: {error}", path.display()))?;
    serde_json::from_slice(&bytes).map_err(|error| format!("{}: {error}", path.display()))
}

fn text(value: &Value, key: &str) -> Result<String, String> {
    let found = value.as_map().and_then(|map| map.get(key)).and_then(Value::as_str);
    found.map(str::to_owned).ok_or_else(|| format!("`{key}` is missing"))
}
