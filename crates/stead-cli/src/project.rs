//! `stead.toml`: where a project is, and what it says about itself.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use stead_guard::BadMark;
use stead_model::{Code, Diagnostic, Map, SourceRef};
use stead_world::World;

use crate::failure::{Failure, Kind};
use crate::marks::{FileMarks, MarkTable, NamespaceSettings};

pub(crate) const FILE: &str = "stead.toml";

/// What the file says. A key that is not known here is a mistake, and said so.
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
    config: Map,
    #[serde(default)]
    env: BTreeMap<String, EnvironmentSettings>,
    #[serde(default)]
    marks: MarkTable,
    #[serde(default)]
    namespace: BTreeMap<String, NamespaceSettings>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct StateSettings {
    #[serde(default)]
    path: Option<String>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct EnvironmentSettings {
    #[serde(default)]
    config: Map,
    #[serde(default)]
    marks: MarkTable,
}

fn default_main() -> String {
    "main.ts".to_owned()
}

/// A project on disk.
#[derive(Clone)]
pub(crate) struct Project {
    pub root: PathBuf,
    pub name: String,
    pub main: String,
    pub default_environment: String,
    pub default_target: String,
    pub state: PathBuf,
    /// What its tables say about deletions.
    pub marks: FileMarks,
    settings: Settings,
}

impl Project {
    /// The folder of the project that a folder is in: the nearest `stead.toml`, upwards.
    pub(crate) fn locate(world: &World, from: &Path) -> Result<PathBuf, Failure> {
        let from = world.files.absolute(from).unwrap_or_else(|_| from.to_owned());
        let holds = |folder: &&Path| matches!(world.files.metadata(&folder.join(FILE)), Ok(Some(_)));
        from.ancestors().find(holds).map(Path::to_owned).ok_or_else(|| {
            let message = format!("there is no {FILE} in {} or above it", from.display());
            let problem = Diagnostic::error(Code::NO_PROJECT, message)
                .help("start a project here with `stead init`, or point to one with `-C DIR`");
            Failure::new(Kind::Usage, problem)
        })
    }

    pub(crate) fn read(world: &World, root: PathBuf) -> Result<Project, Failure> {
        let path = root.join(FILE);
        let bytes = world.files.read(&path).map_err(|error| unreadable(&path, &error.to_string()))?;
        let text = String::from_utf8(bytes).map_err(|_| unreadable(&path, "it is not UTF-8"))?;
        let settings = parse(&text)?;
        if settings.project.is_empty() {
            return Err(unreadable(&path, "`project` is empty"));
        }
        let marks = marks(&text, &settings)?;
        Ok(Project {
            marks,
            name: settings.project.clone(),
            main: settings.main.clone(),
            default_environment: settings.environment.clone().unwrap_or_else(|| "dev".to_owned()),
            default_target: settings.target.clone().unwrap_or_else(|| "local".to_owned()),
            state: root.join(settings.state.path.as_deref().unwrap_or(".stead/state")),
            settings,
            root,
        })
    }

    /// What `config` holds in an environment: its own values over the project's.
    pub(crate) fn config(&self, environment: &str) -> Map {
        let mut config = self.settings.config.clone();
        if let Some(own) = self.settings.env.get(environment) {
            config.extend(own.config.clone());
        }
        config
    }
}

fn parse(text: &str) -> Result<Settings, Failure> {
    toml::from_str(text).map_err(|error| misunderstood(text, &error))
}

/// Whether a text can be a `stead.toml`.
#[cfg_attr(not(test), allow(dead_code, reason = "for tests and fuzzing"))]
pub(crate) fn check(text: &str) -> Result<(), Failure> {
    let settings = parse(text)?;
    marks(text, &settings).map(|_| ())
}

fn marks(text: &str, settings: &Settings) -> Result<FileMarks, Failure> {
    let environments = settings.env.iter().map(|(name, environment)| (name, &environment.marks));
    let namespaces = settings.namespace.iter().map(|(name, namespace)| (name, &namespace.marks));
    FileMarks::read(text, (&settings.project, &settings.marks), environments, namespaces)
        .map_err(|bad| Failure::all(Kind::Usage, bad.iter().map(BadMark::diagnostic).collect()))
}

/// Line, column and length of a span.
pub(crate) fn place_in(text: &str, span: Range<usize>) -> (u32, u32, usize) {
    let before = &text[..span.start.min(text.len())];
    let line = before.matches('\n').count() as u32 + 1;
    let column = before.rsplit('\n').next().unwrap_or_default().chars().count() as u32 + 1;
    let length = text.get(span).map_or(0, |text| text.lines().next().unwrap_or_default().chars().count());
    (line, column, length)
}

fn unreadable(path: &Path, problem: &str) -> Failure {
    let message = format!("cannot use {}: {problem}", path.display());
    Failure::new(Kind::Usage, Diagnostic::error(Code::BAD_CONFIG, message))
}

fn misunderstood(text: &str, error: &toml::de::Error) -> Failure {
    let problem = Diagnostic::error(Code::BAD_CONFIG, format!("{FILE}: {}", error.message()));
    let problem = match error.span() {
        Some(span) => {
            let (line, column, length) = place_in(text, span);
            problem.at(SourceRef { file: FILE.to_owned(), line, column }, length, "here")
        }
        None => problem,
    };
    Failure::new(Kind::Usage, problem.help("see `stead explain ST0602` for what the file may hold"))
}
