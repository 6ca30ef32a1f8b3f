//! Evaluates the project's program into a graph.

use std::sync::Arc;

use stead_eval::{ConsoleLevel, ConsoleLine, Program, Sources, UnknownBranches};
use stead_model::{Functions, Graph, Limits, Map};

use crate::failure::{Failure, Kind};
use crate::session::Session;
use crate::sources::ProjectSources;
use crate::transcript::{Recording, Transcript};
use crate::ui::Ui;

/// What the program declares, and the interpreter for what it put off.
pub(crate) struct Evaluated {
    pub graph: Graph,
    pub functions: Arc<dyn Functions>,
    /// What the program was told: with it, it can be evaluated again without its sources.
    pub transcript: Transcript,
}

/// What is evaluated besides the sources.
pub(crate) struct Settings {
    pub main: String,
    pub config: Map,
    pub branches: UnknownBranches,
}

impl Settings {
    pub(crate) fn of(session: &Session) -> Settings {
        Settings {
            main: session.project.main.clone(),
            config: session.project.config(&session.environment.name),
            branches: session.branches,
        }
    }
}

/// The project's program as it is on the disk.
pub(crate) fn evaluate(session: &Session, ui: &Ui) -> Result<Evaluated, Failure> {
    let sources = ProjectSources { project: &session.project, world: &session.world };
    evaluate_from(session, &sources, &Settings::of(session), ui)
}

/// A program from any sources.
pub(crate) fn evaluate_from(
    session: &Session,
    sources: &dyn Sources,
    settings: &Settings,
    ui: &Ui,
) -> Result<Evaluated, Failure> {
    let program = Program {
        entry: &settings.main,
        environment: session.environment.clone(),
        project: &session.project.name,
        target: &session.target,
        config: &settings.config,
        branches: settings.branches,
    };
    let recording = Recording::of(sources);
    match stead_eval::evaluate(&program, &session.engine.catalog, &recording, &Limits::default()) {
        Ok(evaluation) => {
            console(&evaluation.console, ui);
            let transcript = recording.transcript();
            Ok(Evaluated { graph: evaluation.graph, functions: evaluation.functions, transcript })
        }
        Err(failure) => {
            console(&failure.console, ui);
            Err(Failure::all(Kind::Failed, failure.diagnostics))
        }
    }
}

fn console(lines: &[ConsoleLine], ui: &Ui) {
    for line in lines {
        let level = match line.level {
            ConsoleLevel::Error => "error: ",
            ConsoleLevel::Warn => "warning: ",
            _ => "",
        };
        let place = line.place.as_ref().map(|place| format!("{place}: ")).unwrap_or_default();
        ui.note(&format!("{place}{level}{}", line.text));
    }
}
