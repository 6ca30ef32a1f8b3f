//! A project on disk: `stead.toml`, and the workspaces of its environments.

mod config;
mod environments;
mod managers;
mod marks;
mod secrets;
mod targets;
mod workspace;

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::Deserialize;
use stead_engine::ops::OpError;
use stead_guard::BadMark;
use stead_model::{Code, Diagnostic, Hint, Map, NextStep, SourceRef};
use stead_secrets::{Ask, StretchedKeys};
use stead_world::World;

use config::ProjectConfig;
use marks::{FileMarks, MarkTable, NamespaceSettings};
use secrets::SecretSettings;
use targets::TargetTables;

pub use config::{ConfigArgument, ConfigFile, ConfigInputs, ImportedConfig, PulumiConfig, Written};
pub use environments::read_environment;
pub use managers::{KeyStatus, ManagerChange, RingChange};
pub use marks::{FlagMarks, Prevention};
pub use secrets::{PASSPHRASE, ProjectKeys};
pub use targets::{TARGETS, local_catalog};

/// Name of the file in the root of each project.
pub const FILE: &str = "stead.toml";

/// The content of `stead.toml`. An unknown key is an error.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Settings {
    project: String,
    #[serde(default = "default_main")]
    main: String,
    #[serde(default)]
    environment: Option<String>,
    #[serde(default)]
    target: Option<String>,
    #[serde(default)]
    state: StateSettings,
    #[serde(default)]
    program: ProgramTable,
    #[serde(default, rename = "config")]
    _config: Map,
    #[serde(default)]
    env: BTreeMap<String, EnvironmentSettings>,
    #[serde(default)]
    marks: MarkTable,
    #[serde(default)]
    namespace: BTreeMap<String, NamespaceSettings>,
    #[serde(default)]
    secrets: SecretSettings,
    #[serde(default)]
    targets: TargetTables,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct StateSettings {
    #[serde(default)]
    path: Option<String>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct ProgramTable {
    /// Variables of the environment that the program may read.
    #[serde(default)]
    environment: Vec<String>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct EnvironmentSettings {
    #[serde(default, rename = "config")]
    _config: Map,
    #[serde(default)]
    marks: MarkTable,
    #[serde(default)]
    secrets: Option<SecretSettings>,
}

fn default_main() -> String {
    "main.ts".to_owned()
}

/// A project on disk.
#[derive(Clone)]
pub struct Project {
    pub root: PathBuf,
    pub name: String,
    /// The entry point, relative to the root.
    pub main: String,
    /// Text of the default environment, with its namespace if it has one.
    default_environment: String,
    pub default_target: String,
    /// Folder with the state.
    pub state: PathBuf,
    world: World,
    marks: FileMarks,
    settings: Settings,
    config: ProjectConfig,
    /// Asks a person for passphrases; `None` where there is no terminal.
    ask: Option<Arc<dyn Ask>>,
    /// Keys that were stretched from passphrases, shared by all stacks and config files of the project.
    stretched: StretchedKeys,
}

impl Project {
    /// Returns the root of the project that contains a folder: the nearest parent with a `stead.toml`, or the folder itself.
    pub fn locate(world: &World, from: &Path) -> Result<PathBuf, OpError> {
        let from = world.files.absolute(from).unwrap_or_else(|_| from.to_owned());
        let holds = |folder: &&Path| matches!(world.files.metadata(&folder.join(FILE)), Ok(Some(_)));
        from.ancestors().find(holds).map(Path::to_owned).ok_or_else(|| {
            let message = format!("there is no {FILE} in {} or above it", from.display());
            OpError::invalid(Diagnostic::error(Code::NO_PROJECT, message).help(NextStep::StartProject))
        })
    }

    /// Reads the `stead.toml` in the root of a project.
    pub fn read(world: &World, root: PathBuf) -> Result<Project, OpError> {
        let path = root.join(FILE);
        let bytes = world.files.read(&path).map_err(|error| unusable(&path, &error.to_string()))?;
        let text = String::from_utf8(bytes).map_err(|_| unusable(&path, "it is not UTF-8"))?;
        Project::parse(world, root, &text)
    }

    /// Returns the project of a `stead.toml` with this text.
    pub(crate) fn parse(world: &World, root: PathBuf, text: &str) -> Result<Project, OpError> {
        let settings = parse(text)?;
        if settings.project.is_empty() {
            return Err(unusable(&root.join(FILE), "`project` is empty"));
        }
        let marks = marks_of(text, &settings)?;
        let config = ProjectConfig::read(text)?;
        Ok(Project {
            marks,
            world: world.clone(),
            name: settings.project.clone(),
            main: settings.main.clone(),
            default_environment: settings.environment.clone().unwrap_or_else(|| "dev".to_owned()),
            default_target: settings.target.clone().unwrap_or_else(|| "local".to_owned()),
            state: root.join(settings.state.path.as_deref().unwrap_or(".stead/state")),
            settings,
            config,
            root,
            ask: None,
            stretched: StretchedKeys::default(),
        })
    }

    pub fn world(&self) -> &World {
        &self.world
    }

    /// Returns the names of the variables of the environment that the program may read.
    pub fn granted_variables(&self) -> &[String] {
        &self.settings.program.environment
    }
}

fn parse(text: &str) -> Result<Settings, OpError> {
    let settings: Settings = toml::from_str(text).map_err(|error| malformed(text, &error))?;
    settings.state.path.as_deref().map_or(Ok(()), check_state_path)?;
    Ok(settings)
}

/// Fails if a text is no valid `stead.toml`.
pub fn check(text: &str) -> Result<(), OpError> {
    let settings = parse(text)?;
    marks_of(text, &settings)?;
    ProjectConfig::read(text).map(|_| ())
}

fn marks_of(text: &str, settings: &Settings) -> Result<FileMarks, OpError> {
    let environments = settings.env.iter().map(|(name, environment)| (name, &environment.marks));
    let namespaces = settings.namespace.iter().map(|(name, namespace)| (name, &namespace.marks));
    FileMarks::read(text, (&settings.project, &settings.marks), environments, namespaces)
        .map_err(|bad| OpError::Invalid(bad.iter().map(BadMark::diagnostic).collect()))
}

/// Returns line, column and length of a span.
fn position(text: &str, span: Range<usize>) -> (u32, u32, usize) {
    let before = &text[..span.start.min(text.len())];
    let line = before.matches('\n').count() as u32 + 1;
    let column = before.rsplit('\n').next().unwrap_or_default().chars().count() as u32 + 1;
    let length = text.get(span).map_or(0, |text| text.lines().next().unwrap_or_default().chars().count());
    (line, column, length)
}

/// Refuses a URL: state is in a folder, and no author wants a folder called `s3:`.
fn check_state_path(path: &str) -> Result<(), OpError> {
    let scheme = path.split_once(':').map(|(scheme, _)| scheme);
    let is_scheme = |scheme: &str| {
        scheme.len() > 1 && scheme.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c))
    };
    let Some(scheme) = scheme.filter(|scheme| is_scheme(scheme)) else { return Ok(()) };
    let message =
        format!("{FILE}: state cannot be stored at {path:?}: this version has no store for `{scheme}:`");
    let problem = Diagnostic::error(Code::BAD_CONFIG, message)
        .note("State is in a folder of this machine. Nothing was written.")
        .help("set `path` in `[state]` to a folder, or remove it: the default is `.stead/state`")
        .help(format!("for a folder whose name has this colon, write `./{path}`"));
    Err(OpError::invalid(problem))
}

fn unusable(path: &Path, problem: &str) -> OpError {
    let message = format!("cannot use {}: {problem}", path.display());
    OpError::invalid(Diagnostic::error(Code::BAD_CONFIG, message))
}

fn malformed(text: &str, error: &toml::de::Error) -> OpError {
    malformed_file(FILE, text, error)
}

/// Returns the error for a TOML file that cannot be read, with its place.
fn malformed_file(file: &str, text: &str, error: &toml::de::Error) -> OpError {
    let problem = Diagnostic::error(Code::BAD_CONFIG, format!("{file}: {}", error.message()));
    let problem = match error.span() {
        Some(span) => {
            let (line, column, length) = position(text, span);
            problem.at(SourceRef { file: file.to_owned(), line, column }, length, "here")
        }
        None => problem,
    };
    // Two branches that each make the first secret merge into a file with two such tables.
    let problem = match error.message().contains("duplicate key") {
        true => problem.help(
            "write each table and each key once: after a merge, keep one `[secrets]` with the lines of both sides below it",
        ),
        false => problem,
    };
    OpError::invalid(
        problem
            .help(Hint::from(NextStep::Explain { code: Code::BAD_CONFIG }).and(" for the keys of this file")),
    )
}
