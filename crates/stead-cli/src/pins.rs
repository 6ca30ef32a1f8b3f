//! The pinfile on the command line: which one is meant, and what is shown of it. The rest is the engine's.

use std::sync::Arc;

use serde::Serialize;
use stead_engine::{KnownTypes, PinPlace, Pinned, Pinning, Written};
use stead_guard::pins::{
    Content, Line, Orphans, Override, Pinfile, Refused, Types, is_mistake, program_word,
};
use stead_model::Diagnostic;
use stead_plan::Plan;
use stead_state::State;

use crate::evaluate::Evaluated;
use crate::failure::{Failure, Kind};
use crate::session::Session;
use crate::ui::Ui;

#[derive(Serialize)]
struct PinLine<'a> {
    change: &'static str,
    path: &'a str,
}

#[derive(Serialize)]
struct OverrideLine<'a> {
    path: &'a str,
    property: &'a str,
    value: &'a stead_model::Value,
}

pub(crate) fn orphans(update_pins: bool) -> Orphans {
    if update_pins { Orphans::Remove } else { Orphans::Refuse }
}

/// The project's pinfile, for the target and the environment of this command.
pub(crate) fn place(session: &Session) -> PinPlace {
    PinPlace {
        world: session.world.clone(),
        root: session.project.root.clone(),
        main: session.project.main.clone(),
        target: session.target.clone(),
        environment: session.environment.clone(),
    }
}

pub(crate) fn failed(problem: Diagnostic) -> Failure {
    Failure::new(Kind::Failed, problem)
}

/// As it is on the disk. One that cannot be understood ends the command.
pub(crate) fn open(session: &Session, orphans: Orphans) -> Result<Pinning, Failure> {
    Pinning::open(place(session), orphans).map_err(failed)
}

/// Reads the project's pinfile. One that cannot be understood ends the command.
pub(crate) fn read(session: &Session) -> Result<Pinfile, Failure> {
    place(session).read().map(|(file, _)| file).map_err(failed)
}

pub(crate) fn put(session: &Session, file: &Pinfile, content: &Content) -> Result<(), Failure> {
    place(session).put(file, content).map_err(failed)
}

/// Applies the rules, and shows what they come to. State is looked at if there is one.
pub(crate) fn settle(
    session: &Session,
    pinning: Pinning,
    evaluated: Evaluated,
    state: Option<&State>,
    ui: &Ui,
) -> Result<(Evaluated, Arc<Pinned>), Failure> {
    match pinning.settle(evaluated.graph, &session.engine.catalog, state) {
        Ok((graph, pinned)) => {
            show_lines(pinned.lines(), ui);
            pinned.overrides().for_each(|(over, file)| show_override(over, file, ui));
            ui.problems(pinned.warnings());
            if !pinned.lines().is_empty() || pinned.overrides().next().is_some() {
                ui.result("\n");
            }
            Ok((Evaluated { graph, ..evaluated }, Arc::new(pinned)))
        }
        Err(Refused { lines, problems }) => {
            show_lines(&lines, ui);
            let mistaken = problems.iter().any(is_mistake);
            let kind = if mistaken { Kind::Failed } else { Kind::Guarded };
            Err(Failure::all(kind, problems))
        }
    }
}

fn show_lines(lines: &[Line], ui: &Ui) {
    for line in lines {
        ui.result(&format!("{line}\n"));
        let (change, path) = match line {
            Line::Added(path) => ("added", path),
            Line::Removed(path) => ("removed", path),
        };
        ui.json("pin", &PinLine { change, path });
    }
}

fn show_override(over: &Override, file: &str, ui: &Ui) {
    let Override { path, property, value, .. } = over;
    let value_text = value.to_json();
    ui.result(&format!("{path}: `{property}` is {value_text}, from {file}; {}\n", program_word(over)));
    ui.json("frozen", &OverrideLine { path, property, value });
}

/// Says of what goes that it was pinned once: somebody took its entry away.
pub(crate) fn name_released(pinned: &Pinned, plan: &Plan, base: &State, ui: &Ui) {
    for (name, file) in pinned.released(plan, base) {
        ui.note(&format!("{name} was pinned; its entry is not in {file} any more, so it may go."));
    }
}

/// Says what became of the file; what was generated for one environment is frozen in its section.
pub(crate) async fn finish(
    session: &Session,
    pinned: &Pinned,
    written: Result<Written, Diagnostic>,
    ui: &Ui,
) -> Result<(), Failure> {
    let why = match written.map_err(failed)? {
        Written::Done => None,
        Written::NoProgram { file } => {
            Some((file, "the program is not here. `stead compile` beside it does that."))
        }
        Written::Withheld { file } => Some((
            file,
            "it is lost, and had pins that the program has not. `stead pin restore` writes it again.",
        )),
    };
    if let Some((file, why)) = why {
        ui.note(&format!("{file} is not written: {why}"));
        return Ok(());
    }
    if pinned.wants_completion() {
        let loaded = session.load().await?;
        pinned.complete(&session.engine.catalog, &loaded.state).map_err(failed)?;
    }
    Ok(())
}

/// For the commands that edit the file.
pub(crate) fn types(session: &Session) -> impl Types + '_ {
    KnownTypes(&session.engine.catalog)
}

#[cfg(test)]
mod tests {
    use stead_guard::pins::stateful_types;
    use stead_model::TypeToken;
    use stead_schema::Catalog;

    #[test]
    fn the_types_that_are_pinned_by_default_exist() {
        let catalog = Catalog::default().with_published();
        let known = |token: &&&str| catalog.get(&TypeToken((**token).to_owned())).is_some();
        let of_aws = stateful_types().iter().filter(|token| token.starts_with("aws."));
        let unknown: Vec<&str> = of_aws.filter(|token| !known(token)).copied().collect();
        assert!(unknown.is_empty(), "{unknown:?}");
    }
}
