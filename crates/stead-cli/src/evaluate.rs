//! Evaluates the project's program into a graph.

use std::sync::Arc;

use stead_eval::{ConsoleLevel, ConsoleLine, Program, Sources, UnknownBranches};
use stead_guard::{Outer, mark_graph};
use stead_model::{Code, Diagnostic, Functions, Graph, Limits, Map};
use stead_schema::{Catalog, warnings};

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
    /// The marks around the program.
    pub outer: Outer,
}

impl Settings {
    pub(crate) fn of(session: &Session, outer: &Outer) -> Settings {
        Settings {
            outer: outer.clone(),
            main: session.project.main.clone(),
            config: session.project.config(&session.environment.name),
            branches: session.branches,
        }
    }
}

/// The project's program as it is on the disk.
pub(crate) async fn evaluate(session: &Session, outer: &Outer, ui: &Ui) -> Result<Evaluated, Failure> {
    evaluate_from(session, ProjectSources::of(session), Settings::of(session, outer), ui).await
}

/// A program from any sources. It runs on a thread of its own: state can be read meanwhile.
pub(crate) async fn evaluate_from(
    session: &Session,
    sources: impl Sources + Send + 'static,
    settings: Settings,
    ui: &Ui,
) -> Result<Evaluated, Failure> {
    let (environment, catalog) = (session.environment.clone(), session.engine.catalog.clone());
    let (project, target) = (session.project.name.clone(), session.target.clone());
    let outer = settings.outer.clone();
    let evaluation = tokio::task::spawn_blocking(move || {
        let program = Program {
            entry: &settings.main,
            environment,
            project: &project,
            target: &target,
            config: &settings.config,
            branches: settings.branches,
        };
        let recording = Recording::of(&sources);
        let outcome = stead_eval::evaluate(&program, &catalog, &recording, &Limits::default());
        outcome.map(|evaluation| (evaluation, recording.transcript()))
    });
    match evaluation.await {
        Ok(Ok((evaluation, transcript))) => {
            console(&evaluation.console, ui);
            deprecations(&session.engine.catalog, &evaluation.graph, ui);
            let mut graph = evaluation.graph;
            mark(&mut graph, &outer, ui)?;
            Ok(Evaluated { graph, functions: evaluation.functions, transcript })
        }
        Ok(Err(failure)) => {
            console(&failure.console, ui);
            Err(Failure::all(Kind::Failed, failure.diagnostics))
        }
        Err(failed) => {
            let message = format!("the evaluation ended unexpectedly: {failed}");
            Err(Failure::new(Kind::Failed, Diagnostic::error(Code::PROGRAM_THREW, message)))
        }
    }
}

/// Puts the marks that hold on every resource.
pub(crate) fn mark(graph: &mut Graph, outer: &Outer, ui: &Ui) -> Result<(), Failure> {
    let warnings = mark_graph(graph, outer).map_err(|problems| Failure::all(Kind::Failed, problems))?;
    warnings.iter().for_each(|warning| ui.problem(warning));
    Ok(())
}

/// Says which properties in use are going away.
fn deprecations(catalog: &Catalog, graph: &Graph, ui: &Ui) {
    for node in &graph.nodes {
        let warnings = catalog.get(&node.resource).map(|schema| warnings(schema, &node.inputs));
        for warning in warnings.unwrap_or_default() {
            let label = format!("{} is declared here", node.name);
            ui.problem(&Diagnostic::warning(Code::BAD_PROPERTY, warning.message).at(
                node.source.clone(),
                0,
                label,
            ));
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
