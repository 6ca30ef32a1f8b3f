//! Declares programs for tests: one evaluation for each version and set of options, kept for the whole run.
//!
//! Evaluation is deterministic, so that a graph that is used twice is the graph of two evaluations. **Invariant:** every
//! evaluation has an interpreter of its own; no state of a module leaks from one to another.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use async_trait::async_trait;
use stead_engine::ops::{Declaration, Declares, OpError};
use stead_eval::config::{Config, Key, Setting};
use stead_eval::{ConsoleLine, Refused, UnknownBranches};
use stead_guard::{OuterLevels, mark_graph};
use stead_model::{Diagnostic, Environment, Functions, Graph, Limits, Map, NodeId, Value};
use stead_schema::Catalog;
use tokio::runtime::Handle;

use super::requests::{DeclareOptions, Origin, misuse};
use super::version::{Version, VersionSources};
use crate::program::reserved;
use crate::{ConfigInputs, FlagMarks, Project, TARGETS, read_environment};

/// A program as one evaluation declares it.
pub(super) struct Declared {
    pub(super) version: Arc<Version>,
    pub(super) options: DeclareOptions,
    pub(super) environment: Environment,
    pub(super) target: String,
    pub(super) main: String,
    pub(super) config: Config,
    pub(super) levels: OuterLevels,
    pub(super) graph: Graph,
    pub(super) console: Vec<ConsoleLine>,
    /// Dependencies of each node.
    pub(super) needs: Vec<BTreeSet<NodeId>>,
    /// Identifies version and options.
    pub(super) key: String,
    functions: Arc<dyn Functions + Send + Sync>,
}

#[async_trait(?Send)]
impl Declares for Declared {
    async fn declare(&self) -> Result<Declaration, OpError> {
        let functions: Arc<dyn Functions> = self.functions.clone();
        Ok(Declaration { graph: self.graph.clone(), functions, protection: None })
    }
}

type Evaluated = Arc<OnceLock<Result<Arc<Declared>, Vec<Diagnostic>>>>;

/// The versions and evaluations of a test run.
pub(super) struct Declarations {
    project: Project,
    catalog: Catalog,
    runtime: Handle,
    current: Arc<Version>,
    versions: Mutex<HashMap<String, Arc<Version>>>,
    evaluated: Mutex<HashMap<String, Evaluated>>,
}

impl Declarations {
    pub(super) fn new(project: &Project, catalog: Catalog, runtime: Handle) -> Declarations {
        Declarations {
            current: Arc::new(Version::current(project, &runtime)),
            project: project.clone(),
            catalog,
            runtime,
            versions: Mutex::default(),
            evaluated: Mutex::default(),
        }
    }

    pub(super) fn catalog(&self) -> &Catalog {
        &self.catalog
    }

    pub(super) fn current(&self) -> Arc<Version> {
        self.current.clone()
    }

    /// Returns the version of a program that a test names.
    pub(super) fn version(&self, origin: &Origin) -> Result<Arc<Version>, Refused> {
        let (key, open): (String, Box<dyn Fn() -> Result<Version, Refused>>) = match origin {
            Origin::Git { reference } => {
                let open = move || Version::of_commit(&self.project, reference, &self.runtime);
                (format!("git {reference}"), Box::new(open))
            }
            Origin::Folder { path } => {
                let open = move || Version::in_folder(&self.project, path, &self.runtime);
                (format!("folder {path}"), Box::new(open))
            }
            _ => return Ok(self.current()),
        };
        // Opened under the lock, so that each version is read once.
        let mut versions = self.versions.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(version) = versions.get(&key) {
            return Ok(version.clone());
        }
        let version = Arc::new(open()?);
        versions.insert(key, version.clone());
        Ok(version)
    }

    /// Returns the environment and the target that the options name for the current version.
    pub(super) fn place(&self, options: &DeclareOptions) -> Result<(Environment, String), Refused> {
        let StackSettings { environment, target, .. } = StackSettings::of(&self.current, options)?;
        Ok((environment, target))
    }

    /// Evaluates a version, or returns the earlier evaluation with the same options.
    pub(super) fn declare(
        &self,
        version: &Arc<Version>,
        options: &DeclareOptions,
    ) -> Result<Arc<Declared>, Refused> {
        let key = format!("{} {}", version.key, serde_json::to_string(options).unwrap_or_default());
        let place = {
            let mut evaluated = self.evaluated.lock().unwrap_or_else(PoisonError::into_inner);
            evaluated.entry(key.clone()).or_default().clone()
        };
        let setting = StackSettings::of(version, options)?;
        let declared = place.get_or_init(|| self.evaluate(version, options, setting, key).map(Arc::new));
        declared.clone().map_err(Refused::Expectable)
    }

    fn evaluate(
        &self,
        version: &Arc<Version>,
        options: &DeclareOptions,
        setting: StackSettings,
        key: String,
    ) -> Result<Declared, Vec<Diagnostic>> {
        let StackSettings { environment, target, main, config } = setting;
        let branches = match options.allow_unknown_branches {
            true => UnknownBranches::Allow,
            false => UnknownBranches::Refuse,
        };
        let program = stead_eval::Program {
            entry: &main,
            environment: environment.clone(),
            project: &version.project.name,
            target: &target,
            config: &config,
            branches,
        };
        let sources = VersionSources { version, options };
        let evaluation = stead_eval::evaluate(&program, &self.catalog, &sources, &Limits::default());
        let evaluation = evaluation.map_err(|failure| failure.diagnostics)?;
        let mut graph = evaluation.graph;
        let reserved = reserved::in_graph(&graph);
        if !reserved.is_empty() {
            return Err(reserved);
        }
        let levels = version.project.levels(&environment, &FlagMarks::default());
        mark_graph(&mut graph, &levels)?;
        Ok(Declared {
            version: version.clone(),
            options: options.clone(),
            environment,
            target,
            main,
            config,
            levels,
            needs: graph.needs(),
            graph,
            console: evaluation.console,
            key,
            functions: evaluation.functions,
        })
    }
}

/// The stack that a program is declared for.
struct StackSettings {
    environment: Environment,
    target: String,
    main: String,
    config: Config,
}

impl StackSettings {
    fn of(version: &Version, options: &DeclareOptions) -> Result<StackSettings, Refused> {
        let project = &version.project;
        let environment = match &options.env {
            Some(text) => read_environment(text),
            None => project.default_environment(),
        };
        let mut environment = environment.map_err(|error| Refused::Expectable(error.problems()))?;
        if let Some(namespace) = &options.namespace {
            environment.namespace = Some(namespace.clone());
        }
        let target = options.target.clone().unwrap_or_else(|| project.default_target.clone());
        if !TARGETS.contains(&target.as_str()) {
            return Err(misuse(format!("there is no target `{target}`; there is: {}", TARGETS.join(", "))));
        }
        let granted = project.granted_variables();
        if let Some(name) = options.environment.keys().find(|name| !granted.contains(name)) {
            return Err(misuse(format!(
                "`environment` has `{name}`, which `environment` of stead.toml does not grant to the program"
            )));
        }
        let config = project.config(&environment.name, &ConfigInputs::default());
        let mut config = config.map_err(|error| Refused::Expectable(error.problems()))?;
        let mut removed = Vec::new();
        let given = without_removals(&options.config, None, &mut removed);
        let is_removed =
            |setting: &Setting| removed.iter().any(|key| setting.key == *key || key.contains(&setting.key));
        config.project.retain(|setting| !is_removed(setting));
        config.call = Config::from(given).project;
        let main = options.main.clone().unwrap_or_else(|| project.main.clone());
        Ok(StackSettings { environment, target, main, config })
    }
}

/// Returns the values of a config without those that are null, at any depth, and collects their keys: they remove settings.
///
/// A name with dots is also the path of a value in tables, as on the command line.
fn without_removals(config: &Map, table: Option<&Key>, removed: &mut Vec<Key>) -> Map {
    let mut kept = Map::new();
    for (name, value) in config {
        let key = table.map_or_else(|| Key::of([name.as_str()]), |table| table.child(name.as_str()));
        match value {
            Value::Null => {
                removed.extend(table.is_none().then(|| Key::parse(name.as_str())).flatten());
                removed.push(key);
            }
            Value::Map(inner) if !inner.is_empty() => {
                let inner = without_removals(inner, Some(&key), removed);
                if !inner.is_empty() {
                    kept.insert(name.clone(), Value::Map(inner));
                }
            }
            value => drop(kept.insert(name.clone(), value.clone())),
        }
    }
    kept
}
