//! Config of a project: the tables of `stead.toml`, `stead.ENV.toml`, environment variables, and the settings of one call.
//!
//! Later sources override earlier ones: schema defaults, `[config]`, `[env.NAME.config]`, `stead.NAME.toml`, variables, config
//! files of the call, single settings of the call. Deciding is the work of `stead_eval::config`; this room reads.

mod edit;
mod file;
mod json;
mod pulumi;
mod tables;

use std::path::{Path, PathBuf};

use stead_engine::ops::OpError;
use stead_eval::config::{Config, Given, Key, Origin, Schema, Setting, Variable};
use stead_model::{Code, Diagnostic, SourceRef};

use super::{FILE, Project};
use file::{RING, file_name};
use tables::Table;

pub use edit::Written;
pub use pulumi::{ImportedConfig, PulumiConfig};

/// Config settings of one call, besides the files of the project.
#[derive(Clone, Debug, Default)]
pub struct ConfigInputs {
    /// Environment variables whose name starts with `STEAD_CONFIG_`.
    pub variables: Vec<Variable>,
    /// Files of settings, the strongest last.
    pub files: Vec<ConfigFile>,
    /// Single settings, the strongest last.
    pub arguments: Vec<ConfigArgument>,
}

/// A file with settings for one call.
#[derive(Clone, Debug)]
pub struct ConfigFile {
    /// Path for messages, as the user wrote it.
    pub shown: String,
    pub path: PathBuf,
}

/// A setting for one call.
#[derive(Clone, Debug)]
pub struct ConfigArgument {
    /// `KEY=VALUE`.
    pub text: String,
    /// The argument in the words of the front end.
    pub named: String,
}

/// Config in `stead.toml`: its tables with their places, and the schema in `[config.schema]`.
#[derive(Clone)]
pub(super) struct ProjectConfig {
    table: Table,
    schema: Option<Schema>,
}

impl ProjectConfig {
    pub(super) fn read(text: &str) -> Result<ProjectConfig, OpError> {
        let table = Table::read(FILE, text)?;
        let schema = schema(&table)?;
        Ok(ProjectConfig { table, schema })
    }
}

impl Project {
    /// Reads all config of an environment. Types and missing values are checked when the config is resolved.
    pub fn config(&self, environment: &str, inputs: &ConfigInputs) -> Result<Config, OpError> {
        let ProjectConfig { table, schema } = &self.config;
        let mut project = Vec::new();
        for part in [&["config"][..], &["env", environment, "config"]] {
            table.settings(part, &mut project);
        }
        if schema.is_some() {
            project.retain(|setting| setting.key.parts().first().is_none_or(|part| part != "schema"));
        }
        self.environment_file(environment, &mut project)?;
        let mut problems = Vec::new();
        let mut call = Vec::new();
        for file in &inputs.files {
            match self.config_file(file) {
                Ok(settings) => call.extend(settings),
                Err(error) => problems.extend(error.problems()),
            }
        }
        for argument in &inputs.arguments {
            match setting(argument) {
                Ok(setting) => call.push(setting),
                Err(problem) => problems.push(problem),
            }
        }
        if problems.is_empty() {
            Ok(Config { schema: schema.clone(), project, variables: inputs.variables.clone(), call })
        } else {
            Err(OpError::Invalid(problems))
        }
    }

    /// Reads `stead.NAME.toml`, which may have only the tables `[config]` and `[secrets]`. Encrypted values stay closed.
    fn environment_file(&self, environment: &str, settings: &mut Vec<Setting>) -> Result<(), OpError> {
        let name = file_name(environment);
        // The name of an environment may have characters of paths.
        let path = self.root.join(&name);
        if name.contains(['/', '\\']) || !matches!(self.world().files.metadata(&path), Ok(Some(_))) {
            return Ok(());
        }
        let text = read(self, &path, &name)?;
        let table = Table::read(&name, &text)?;
        let others: Vec<Diagnostic> = table
            .keys()
            .filter(|(key, _)| !["config", RING].contains(key))
            .map(|(key, place)| {
                let message = format!(
                    "{name}: unknown key `{key}`; the file has only the tables `[config]` and `[{RING}]`"
                );
                Diagnostic::error(Code::BAD_CONFIG, message).at(place, key.chars().count(), "here")
            })
            .collect();
        if !others.is_empty() {
            return Err(OpError::Invalid(others));
        }
        table.settings_with_secrets(&["config"], settings);
        Ok(())
    }

    /// Reads a file of settings: JSON if its name ends with `.json`, else TOML. Its keys are config keys.
    fn config_file(&self, file: &ConfigFile) -> Result<Vec<Setting>, OpError> {
        let path = self.world().files.absolute(&file.path).unwrap_or_else(|_| file.path.clone());
        let text = read(self, &path, &file.shown)?;
        // Places are relative to the project, like those of its own files.
        let place = path.strip_prefix(&self.root).unwrap_or(&path).display().to_string();
        let mut settings = Vec::new();
        if file.shown.ends_with(".json") {
            json::settings(&place, &text, &mut settings).map_err(OpError::invalid)?;
        } else {
            Table::read(&place, &text)?.settings(&[], &mut settings);
        }
        Ok(settings)
    }
}

/// Reads and checks the schema in `[config.schema]`. A value called `schema` that is no table is an ordinary key.
fn schema(table: &Table) -> Result<Option<Schema>, OpError> {
    let Some(declarations) = table.map(&["config", "schema"]) else { return Ok(None) };
    let place = |key: &Key| -> Option<SourceRef> {
        let parts: Vec<&str> =
            ["config", "schema"].into_iter().chain(key.parts().iter().map(String::as_str)).collect();
        table.place(&parts)
    };
    Schema::read(&declarations, &place).map(Some).map_err(|problems| {
        let problem = |problem: stead_eval::config::SchemaProblem| {
            let message = format!("[config.schema] `{}`: {}", problem.key, problem.message);
            let diagnostic = Diagnostic::error(Code::BAD_CONFIG, message);
            problem.place.into_iter().fold(diagnostic, |diagnostic, at| diagnostic.at(at, 0, "declared here"))
        };
        OpError::Invalid(problems.into_iter().map(problem).collect())
    })
}

fn setting(argument: &ConfigArgument) -> Result<Setting, Diagnostic> {
    let ConfigArgument { text, named } = argument;
    let wrong = |problem: &str| {
        let shown = text.split('=').next().unwrap_or_default();
        let message = format!("{named} has {shown:?}: {problem}");
        Diagnostic::error(Code::USAGE, message).help("write KEY=VALUE, such as `size=3` or `db.size=3`")
    };
    let (key, value) = text.split_once('=').ok_or_else(|| wrong("it has no `=`"))?;
    let key = Key::parse(key.trim()).ok_or_else(|| wrong("it is not a config key"))?;
    Ok(Setting { key, given: Given::Text(value.to_owned()), origin: Origin::Argument(named.clone()) })
}

fn read(project: &Project, path: &Path, shown: &str) -> Result<String, OpError> {
    let unusable = |why: &str| {
        OpError::invalid(Diagnostic::error(
            Code::BAD_CONFIG,
            format!("cannot read the config file {shown}: {why}"),
        ))
    };
    let bytes = project.world().files.read(path).map_err(|error| unusable(&error.to_string()))?;
    String::from_utf8(bytes).map_err(|_| unusable("it is not UTF-8"))
}
