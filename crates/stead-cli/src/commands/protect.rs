//! `stead state protect`, `unprotect` and `retained`: marks in state itself, and what was let go of.

use std::collections::HashMap;

use serde::Serialize;
use stead_journal::Takeover;
use stead_model::{Name, Resource, RunId, RunResult, TypeToken};
use stead_plan::{Action, Plan};
use stead_state::{Record, Retained, State};

use crate::commands::state::find;
use crate::failure::Failure;
use crate::session::Session;
use crate::ui::Ui;

/// What a person wants of the record's own mark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Protection {
    Set,
    TakenAway,
}

pub(crate) async fn protect(
    session: &Session,
    name: &str,
    protection: Protection,
    ui: &Ui,
) -> Result<u8, Failure> {
    let loaded = session.load_settled(ui).await?;
    let resource = find(&loaded.state, name)?;
    let (name, protected) = (resource.name.clone(), protection == Protection::Set);
    let differing: Vec<Resource> = loaded
        .state
        .copies_of(&resource.uid)
        .filter(|copy| copy.marks.protected != protected)
        .cloned()
        .collect();
    if differing.is_empty() {
        let what = if protected { "is protected already" } else { "is not protected in state" };
        ui.result(&format!("{name} {what}; nothing was changed.\n"));
    } else {
        let command = if protected { "state protect" } else { "state unprotect" };
        let run = session.run(command, Some(loaded.version.clone()), Takeover::IfDead).await?;
        for mut copy in differing {
            copy.marks.protected = protected;
            run.submit(Record::Note { resource: Box::new(copy) }).durable().await?;
        }
        run.close(RunResult::Succeeded).await?;
        let what = if protected { "Protected" } else { "No longer protected in state:" };
        ui.result(&format!("{what} {name}.\n"));
    }
    if let (false, Some(mark)) = (protected, program_mark(resource)) {
        ui.note(&format!(
            "prevent-delete is still true on it: last set by {mark}. Only that setting takes it away; then run `stead up`."
        ));
    }
    Ok(0)
}

/// What the program, or what is around it, last set.
fn program_mark(resource: &Resource) -> Option<String> {
    let mut bare = resource.clone();
    bare.marks.protected = false;
    bare.recorded_marks().prevent_delete.filter(|mark| mark.value).map(|mark| mark.source.to_string())
}

#[derive(Serialize)]
struct RetainedLine<'a> {
    #[serde(flatten)]
    retained: &'a Retained,
    import: String,
}

pub(crate) async fn retained(session: &Session, ui: &Ui) -> Result<u8, Failure> {
    let loaded = session.load_existing().await?;
    for retained in loaded.state.retained() {
        let import = import_command(retained);
        let Retained { name, resource, id, kept } = retained;
        let why = match &kept.source {
            Some(source) => source.to_string(),
            None => "`stead state rm`".to_owned(),
        };
        ui.result(&format!(
            "{resource} {name} (id {id})\n  kept by {} because of {why}\n  {import}\n",
            kept.run
        ));
        ui.json("retained", &RetainedLine { retained, import });
    }
    if loaded.state.retained().next().is_none() {
        ui.note("Nothing that this stack let go of is known to exist.");
    }
    Ok(0)
}

/// Says what a run let go of.
pub(crate) fn tell_kept(state: &State, run: &RunId, ui: &Ui) {
    for retained in state.retained().filter(|retained| retained.kept.run == *run) {
        let Retained { name, resource, id, kept } = retained;
        let source = kept.source.as_ref().map(|source| format!(" ({source})")).unwrap_or_default();
        ui.json("retained", &RetainedLine { retained, import: import_command(retained) });
        ui.note(&format!(
            "kept {resource} {name} (id {id}): its deletion-policy is retain{source}. It still exists and is no longer \
             managed; re-adopt it with\n  {}",
            import_command(retained)
        ));
    }
}

/// Says which of the things that would be made are still there from before.
pub(crate) fn tell_retained(state: &State, plan: &Plan, ui: &Ui) {
    let retained: HashMap<(&Name, &TypeToken), &Retained> =
        state.retained().map(|retained| ((&retained.name, &retained.resource), retained)).collect();
    if retained.is_empty() {
        return;
    }
    let made = plan.steps.iter().filter(|step| matches!(step.action, Action::Create { .. }));
    for retained in made.filter_map(|step| retained.get(&(&step.name, &step.resource))) {
        ui.note(&format!(
            "{} was kept by {} and still exists; instead of making a second one, take it back with\n  {}",
            retained.name,
            retained.kept.run,
            import_command(retained)
        ));
    }
}

/// Ready to paste.
fn import_command(retained: &Retained) -> String {
    let Retained { name, resource, id, .. } = retained;
    format!("stead import {resource} {} {}", quoted(&name.to_string()), quoted(id.as_str()))
}

fn quoted(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:@%+=,".contains(c);
    if !text.is_empty() && text.chars().all(plain) {
        return text.to_owned();
    }
    format!("'{}'", text.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_shell_would_take_apart_is_quoted() {
        assert_eq!(quoted("dev:main:local.File"), "dev:main:local.File");
        assert_eq!(quoted("dev:main:local.File#a"), "'dev:main:local.File#a'");
        assert_eq!(quoted("it's"), r"'it'\''s'");
        assert_eq!(quoted(""), "''");
    }
}
