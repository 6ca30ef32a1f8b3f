//! The pinfile beside the entry point: read before anything else, settled with the graph, written when all went well.
//!
//! **Invariant:** it is written only if it still is what was read.

use std::collections::BTreeSet;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use serde::Serialize;
use stead_guard::pins::{
    Content, Declared, Emptied, Hold, Line, Orphans, Override, Pinfile, Pins, Refused, Settled, Standing,
    Types, hold, is_mistake, keeps_pins, program_word, settle, without_pins,
};
use stead_model::{Code, Diagnostic, Digest, Resource, TypeToken};
use stead_plan::{Action, Plan};
use stead_schema::{Catalog, identity};
use stead_state::State;

use crate::evaluate::Evaluated;
use crate::failure::{Failure, Kind};
use crate::session::Session;
use crate::ui::Ui;

/// The pinfile of one command, for the target and the environment that it is about.
pub(crate) struct Pinning {
    /// `None`: the target keeps no pins.
    kept: Option<Kept>,
    orphans: Orphans,
}

struct Kept {
    pins: Pins,
    /// As it was read.
    text: Option<String>,
}

/// What came of settling: what to hold against deletions, and what to write in the end.
pub(crate) struct Pinned {
    settled: Option<Settled>,
    text: Option<String>,
}

/// What the catalog says about identities.
struct Known<'a>(&'a Catalog);

impl Types for Known<'_> {
    fn identity(&self, resource: &TypeToken) -> Option<Vec<String>> {
        Some(identity(self.0.get(resource)?).into_iter().map(str::to_owned).collect())
    }

    fn settable(&self, resource: &TypeToken) -> Vec<String> {
        let properties = self.0.get(resource).into_iter().flat_map(|schema| &schema.properties);
        properties.filter(|property| property.settable()).map(|property| property.name.clone()).collect()
    }
}

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

/// What the pinfile is called, seen from the project's folder.
pub(crate) fn name_of(main: &str) -> String {
    format!("{main}.pin.json")
}

/// Reads the project's pinfile. One that cannot be understood ends the command.
pub(crate) fn read(session: &Session) -> Result<(Pinfile, Option<String>), Failure> {
    let name = name_of(&session.project.main);
    let bytes = bytes_of(session, &session.project.root.join(&name))?;
    let file = parse(&name, bytes.as_deref())?;
    Ok((file, bytes.and_then(|bytes| String::from_utf8(bytes).ok())))
}

fn parse(name: &str, bytes: Option<&[u8]>) -> Result<Pinfile, Failure> {
    Pinfile::read(name, bytes).map_err(|problem| Failure::new(Kind::Failed, problem))
}

fn bytes_of(session: &Session, path: &Path) -> Result<Option<Vec<u8>>, Failure> {
    match session.world.files.read(path) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => {
            let message = format!("cannot read {}: {error}", path.display());
            Err(Failure::new(Kind::Failed, Diagnostic::error(Code::STORE, message)))
        }
    }
}

impl Pinning {
    /// As it is on the disk.
    pub(crate) fn open(session: &Session, orphans: Orphans) -> Result<Pinning, Failure> {
        if !keeps_pins(&session.target) {
            return Ok(Pinning { kept: None, orphans });
        }
        let (file, text) = read(session)?;
        let pins = Pins::open(file, &session.target, &session.environment);
        Ok(Pinning { kept: Some(Kept { pins, text }), orphans })
    }

    /// As it was when a plan was saved.
    pub(crate) fn of_saved(
        session: &Session,
        main: &str,
        text: Option<&str>,
        orphans: Orphans,
    ) -> Result<Pinning, Failure> {
        if !keeps_pins(&session.target) {
            return Ok(Pinning { kept: None, orphans });
        }
        let file = parse(&name_of(main), text.map(str::as_bytes))?;
        let pins = Pins::open(file, &session.target, &session.environment);
        Ok(Pinning { kept: Some(Kept { pins, text: text.map(str::to_owned) }), orphans })
    }

    /// What it holds against deletions where no program is looked at.
    pub(crate) fn standing(&self) -> Standing {
        self.kept.as_ref().map_or(Standing::NotKept, |kept| Standing::of(&kept.pins))
    }

    /// A section that says that its pins went on purpose has nothing to say once everything is gone.
    pub(crate) fn forget_emptied(&self, session: &Session) -> Result<(), Failure> {
        match &self.kept {
            Some(Kept { pins, .. }) if pins.is_there() && pins.saved().is_empty() => {
                put(session, &pins.file, &pins.write(Emptied::Removed))
            }
            _ => Ok(()),
        }
    }

    /// Applies the rules, and shows what they come to. State is looked at if there is one.
    pub(crate) fn settle(
        self,
        session: &Session,
        evaluated: Evaluated,
        state: Option<&State>,
        ui: &Ui,
    ) -> Result<(Evaluated, Pinned), Failure> {
        let Some(Kept { pins, text }) = self.kept else {
            let graph = without_pins(evaluated.graph);
            return Ok((Evaluated { graph, ..evaluated }, Pinned { settled: None, text: None }));
        };
        let file = pins.file.name.clone();
        let types = Known(&session.engine.catalog);
        match settle(evaluated.graph, pins, &types, state, self.orphans) {
            Ok(mut settled) => {
                show_lines(&settled.lines, ui);
                settled.overrides.iter().for_each(|over| show_override(over, &file, ui));
                ui.problems(&settled.warnings);
                if !settled.lines.is_empty() || !settled.overrides.is_empty() {
                    ui.result("\n");
                }
                let graph = std::mem::take(&mut settled.graph);
                Ok((Evaluated { graph, ..evaluated }, Pinned { settled: Some(settled), text }))
            }
            Err(Refused { lines, problems }) => {
                show_lines(&lines, ui);
                let mistaken = problems.iter().any(is_mistake);
                let kind = if mistaken { Kind::Failed } else { Kind::Guarded };
                Err(Failure::all(kind, problems))
            }
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

impl Pinned {
    pub(crate) fn standing(&self) -> Standing {
        self.settled.as_ref().map_or(Standing::NotKept, |settled| settled.standing.clone())
    }

    /// The paths that the pinfile will have, if one is kept.
    pub(crate) fn paths(&self) -> Option<BTreeSet<String>> {
        self.settled.as_ref().map(|settled| settled.pins.paths())
    }

    /// The pinfile as it was read, for a plan that is saved.
    pub(crate) fn text(&self) -> Option<String> {
        self.text.clone()
    }

    /// Ends a command before it does anything if somebody changed the file meanwhile.
    pub(crate) fn still_the_same(&self, session: &Session) -> Result<(), Failure> {
        match &self.settled {
            Some(settled) if self.wants_writing() && has_sources(session) => {
                same_on_disk(session, &settled.pins.file)
            }
            _ => Ok(()),
        }
    }

    fn wants_writing(&self) -> bool {
        let changed = |settled: &Settled| settled.pins.write(Emptied::Removed) != Content::Unchanged;
        self.settled.as_ref().is_some_and(|settled| changed(settled) || settled.wants_completion())
    }

    /// Says of what goes that it was pinned once: somebody took its entry away.
    pub(crate) fn name_released(&self, plan: &Plan, base: &State, ui: &Ui) {
        let Some(settled) = &self.settled else { return };
        for step in &plan.steps {
            let (Action::Delete { copy, .. } | Action::Forget { copy, .. }) = &step.action else { continue };
            let free = |resource: &&Resource| {
                hold(resource, Declared::NotPinned, &settled.standing, base.pinfile()) == Hold::Free
            };
            if base.copy(copy).filter(|resource| resource.pinned).filter(free).is_some() {
                let file = &settled.pins.file.name;
                ui.note(&format!(
                    "{} was pinned; its entry is not in {file} any more, so it may go.",
                    step.name
                ));
            }
        }
    }

    /// After a run that did all it was asked: the file says what is pinned now.
    pub(crate) async fn write_after_run(mut self, session: &Session, ui: &Ui) -> Result<(), Failure> {
        let Some(settled) = &mut self.settled else { return Ok(()) };
        if settled.wants_completion() {
            let loaded = session.load().await?;
            settled.complete(&loaded.state, &Known(&session.engine.catalog));
        }
        let content = settled.pins.write(Emptied::Removed);
        if content != Content::Unchanged && !has_sources(session) {
            ui.note(&format!(
                "{} is not written: the program is not here. `stead compile` beside it does that.",
                settled.pins.file.name
            ));
            return Ok(());
        }
        put(session, &settled.pins.file, &content)
    }

    /// After `compile`, which knows nothing of what is applied.
    pub(crate) fn write(&self, session: &Session) -> Result<(), Failure> {
        match &self.settled {
            Some(settled) => put(session, &settled.pins.file, &settled.pins.write(Emptied::Kept)),
            None => Ok(()),
        }
    }
}

/// A saved plan may be applied where the program is not; then there is no place for a pinfile either.
fn has_sources(session: &Session) -> bool {
    matches!(session.world.files.metadata(&session.project.root.join(&session.project.main)), Ok(Some(_)))
}

/// Writes or removes the file, unless it is not what was read any more.
pub(crate) fn put(session: &Session, file: &Pinfile, content: &Content) -> Result<(), Failure> {
    if *content == Content::Unchanged {
        return Ok(());
    }
    session.world.crash_point("pins.write.before");
    same_on_disk(session, file)?;
    let path: PathBuf = session.project.root.join(&file.name);
    let files = &session.world.files;
    let written = match content {
        Content::Unchanged => Ok(()),
        Content::Remove => files
            .remove_file(&path)
            .and_then(|()| files.sync_folder(path.parent().unwrap_or(&session.project.root))),
        Content::Write(text) => {
            let mode = files.metadata(&path).ok().flatten().map_or(0o644, |found| found.mode);
            session
                .world
                .entropy
                .uuid()
                .and_then(|unique| files.write_atomically(&path, text.as_bytes(), mode, &unique))
        }
    };
    written.map_err(|error| {
        let message = format!("cannot write {}: {error}", path.display());
        let problem = Diagnostic::error(Code::STORE, message);
        Failure::new(Kind::Failed, problem.help("`stead compile` writes it once the cause is mended"))
    })
}

fn same_on_disk(session: &Session, file: &Pinfile) -> Result<(), Failure> {
    let bytes = bytes_of(session, &session.project.root.join(&file.name))?;
    if bytes.map(|bytes| Digest::of(&bytes)) == file.digest {
        return Ok(());
    }
    let message = format!("{} changed while this command was at work", file.name);
    let problem = Diagnostic::error(Code::PINFILE_CHANGED, message)
        .note("It was left as it is. What a run did until then is recorded in state.")
        .help("run the command again: it reads the file as it is now");
    Err(Failure::new(Kind::Failed, problem))
}

/// For the commands that edit the file.
pub(crate) fn types(session: &Session) -> impl Types + '_ {
    Known(&session.engine.catalog)
}

#[cfg(test)]
mod tests {
    use stead_guard::pins::stateful_types;

    use super::*;

    #[test]
    fn the_types_that_are_pinned_by_default_exist() {
        let catalog = Catalog::default().with_published();
        let known = |token: &&&str| catalog.get(&TypeToken((**token).to_owned())).is_some();
        let of_aws = stateful_types().iter().filter(|token| token.starts_with("aws."));
        let unknown: Vec<&str> = of_aws.filter(|token| !known(token)).copied().collect();
        assert!(unknown.is_empty(), "{unknown:?}");
    }
}
