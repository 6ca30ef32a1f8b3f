//! A TypeScript program as a source of declarations.

pub(crate) mod reserved;
pub(crate) mod sources;
mod transcript;

use std::cell::RefCell;

use async_trait::async_trait;
use stead_engine::ops::{Declaration, Declares, OpError, Workspace};
use stead_eval::config::Config;
use stead_eval::{ConsoleLine, Sources, UnknownBranches};
use stead_guard::{OuterLevels, mark_graph};
use stead_model::{Code, Diagnostic, Graph, Limits, Map, Text, Value};
use stead_schema::warnings;

use crate::Project;

use sources::ProjectSources;
use transcript::Recording;

pub(crate) use transcript::LookUp;
pub use transcript::Transcript;

/// Settings of an evaluation, besides the sources.
#[derive(Clone)]
pub struct ProgramSettings {
    /// The entry point, relative to the project.
    pub main: String,
    pub config: Config,
    pub branches: UnknownBranches,
    /// The mark settings around the program.
    pub levels: OuterLevels,
}

/// A message of an evaluation, besides its graph.
pub enum Notice<'a> {
    /// The program wrote a line with `console`.
    Console(&'a ConsoleLine),
    Warning(&'a Diagnostic),
}

/// A program, evaluated from the files of its project or from a transcript.
pub struct Program<'a> {
    project: String,
    workspace: Workspace,
    settings: ProgramSettings,
    /// Recorded answers; `None` reads the files of the project.
    answers: Option<Transcript>,
    /// The project that opens encrypted config; `None` for recorded answers, whose config is open.
    keys: Option<Project>,
    /// Variables of the environment that the program may read.
    granted: Vec<String>,
    listener: &'a dyn Fn(Notice<'_>),
    transcript: RefCell<Transcript>,
}

impl<'a> Program<'a> {
    /// Returns the program in the files of a project, which are read when it is evaluated.
    pub fn of(
        project: &Project,
        workspace: &Workspace,
        config: Config,
        branches: UnknownBranches,
        levels: OuterLevels,
        listener: &'a dyn Fn(Notice<'_>),
    ) -> Program<'a> {
        let settings = ProgramSettings { main: project.main.clone(), config, branches, levels };
        Program {
            project: project.name.clone(),
            workspace: workspace.clone(),
            settings,
            answers: None,
            keys: Some(project.clone()),
            granted: project.granted_variables().to_vec(),
            listener,
            transcript: RefCell::default(),
        }
    }

    /// Returns the program of an earlier evaluation, which is evaluated with the recorded answers.
    pub fn replayed(
        project: &Project,
        workspace: &Workspace,
        settings: ProgramSettings,
        answers: Transcript,
        listener: &'a dyn Fn(Notice<'_>),
    ) -> Program<'a> {
        Program {
            project: project.name.clone(),
            workspace: workspace.clone(),
            settings,
            answers: Some(answers),
            keys: None,
            granted: Vec::new(),
            listener,
            transcript: RefCell::default(),
        }
    }

    pub fn settings(&self) -> &ProgramSettings {
        &self.settings
    }

    /// Returns the questions of the last evaluation with their answers.
    pub fn transcript(&self) -> Transcript {
        self.transcript.borrow().clone()
    }

    /// Evaluates the program on a thread of its own, so that state can be read meanwhile.
    async fn evaluate(&self, sources: impl Sources + Send + 'static) -> Result<Declaration, OpError> {
        self.check_config()?;
        let workspace = &self.workspace;
        let (environment, catalog) = (workspace.environment().clone(), workspace.engine.catalog.clone());
        let (project, target) = (self.project.clone(), workspace.target().to_owned());
        let ProgramSettings { main, config, branches, levels } = self.settings.clone();
        let evaluation = tokio::task::spawn_blocking(move || {
            let program = stead_eval::Program {
                entry: &main,
                environment,
                project: &project,
                target: &target,
                config: &config,
                branches,
            };
            let recording = Recording::of(&sources);
            let outcome = stead_eval::evaluate(&program, &catalog, &recording, &Limits::default());
            outcome.map(|evaluation| (evaluation, recording.transcript()))
        });
        let console =
            |lines: &[ConsoleLine]| lines.iter().for_each(|line| (self.listener)(Notice::Console(line)));
        match evaluation.await {
            Ok(Ok((evaluation, transcript))) => {
                console(&evaluation.console);
                *self.transcript.borrow_mut() = transcript;
                let mut graph = evaluation.graph;
                self.warn_of_deprecations(&graph);
                let reserved = reserved::in_graph(&graph);
                if !reserved.is_empty() {
                    return Err(OpError::Program(reserved));
                }
                let warnings = mark_graph(&mut graph, &levels).map_err(OpError::Program)?;
                warnings.iter().for_each(|warning| (self.listener)(Notice::Warning(warning)));
                Ok(Declaration { graph, functions: evaluation.functions, protection: None })
            }
            Ok(Err(failure)) => {
                console(&failure.console);
                Err(OpError::Program(failure.diagnostics))
            }
            Err(failed) => {
                let message = format!("the evaluation ended unexpectedly: {failed}");
                Err(OpError::Program(vec![Diagnostic::error(Code::PROGRAM_THREW, message)]))
            }
        }
    }

    /// Fails if a config value is missing or wrong, before anything runs.
    fn check_config(&self) -> Result<(), OpError> {
        let resolution = self.settings.config.resolve();
        resolution.warnings.iter().for_each(|warning| (self.listener)(Notice::Warning(warning)));
        if resolution.problems.is_empty() { Ok(()) } else { Err(OpError::Invalid(resolution.problems)) }
    }

    fn warn_of_deprecations(&self, graph: &Graph) {
        for node in &graph.nodes {
            let schema = self.workspace.engine.catalog.get(&node.ty);
            for warning in schema.map(|schema| warnings(schema, &node.inputs)).unwrap_or_default() {
                let label = format!("{} is declared here", node.name);
                let warning = Diagnostic::warning(Code::BAD_PROPERTY, warning.message);
                (self.listener)(Notice::Warning(&warning.at(node.source.clone(), 0, label)));
            }
        }
    }
}

/// Returns the secret values of a config.
fn secret_config(config: &Config) -> Map {
    let resolution = config.resolve();
    let settings = config.project.iter().chain(&config.call).map(|setting| &setting.key);
    let declared = config.schema.iter().flat_map(|schema| schema.keys());
    let secret = settings.chain(declared).filter(|key| config.is_secret(key));
    secret
        .filter_map(|key| Some((Text::from(key.to_string()), Value::secret(resolution.value(key)?))))
        .collect()
}

#[async_trait(?Send)]
impl Declares for Program<'_> {
    async fn declare(&self) -> Result<Declaration, OpError> {
        if let Some(project) = &self.keys {
            // A value that stays locked says so if the program uses it.
            let environment = &self.workspace.environment().name;
            let _ = project.open_config(environment, &self.settings.config).await;
        }
        // The program looks up resources while it is evaluated, and no answer may show a secret of its config.
        self.workspace.engine.providers.learn_secrets(&secret_config(&self.settings.config));
        match &self.answers {
            Some(answers) => self.evaluate(answers.clone()).await,
            None => self.evaluate(ProjectSources::of(&self.workspace, &self.granted)).await,
        }
    }
}
