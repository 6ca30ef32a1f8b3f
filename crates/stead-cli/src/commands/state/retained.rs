//! `stead state retained`: lists resources that still exist and are no longer managed.

use std::collections::HashMap;

use serde::Serialize;
use stead::plan::{Action, Plan};
use stead_model::{Name, TypeToken};
use stead_state::{Retained, State};
use stead_world::ShellCommand;

use crate::failure::Failure;
use crate::session::Session;
use crate::ui::Ui;

#[derive(Serialize)]
struct RetainedLine<'a> {
    #[serde(flatten)]
    retained: &'a Retained,
    import: String,
}

pub(crate) async fn retained(session: &Session, ui: &Ui) -> Result<u8, Failure> {
    let loaded = session.workspace.load_existing().await?;
    for retained in loaded.state.retained() {
        let import = import_command(session, retained);
        let Retained { name, resource, id, reason: kept } = retained;
        let reason = match &kept.source {
            Some(source) => source.to_string(),
            None => "`stead state rm`".to_owned(),
        };
        ui.result(&format!(
            "{resource} {name} (id {id})\n  kept by {} because of {reason}\n  {import}\n",
            kept.run
        ));
        ui.json("retained", &RetainedLine { retained, import });
    }
    if loaded.state.retained().next().is_none() {
        ui.note("No retained resources.");
    }
    Ok(0)
}

/// Reports a resource that a run retained, with the command that imports it again.
pub(crate) fn show_retained(session: &Session, retained: &Retained, ui: &Ui) {
    let Retained { name, resource, id, reason: kept } = retained;
    let source = kept.source.as_ref().map(|source| format!(" ({source})")).unwrap_or_default();
    let import = import_command(session, retained);
    ui.note(&format!(
        "kept {resource} {name} (id {id}): its deletion-policy is retain{source}. It still exists and is no longer \
         managed; re-adopt it with\n  {import}"
    ));
    ui.json("retained", &RetainedLine { retained, import });
}

/// Warns of each planned create whose resource was retained and still exists.
pub(crate) fn warn_of_retained(session: &Session, state: &State, plan: &Plan, ui: &Ui) {
    let retained: HashMap<(&Name, &TypeToken), &Retained> =
        state.retained().map(|retained| ((&retained.name, &retained.resource), retained)).collect();
    if retained.is_empty() {
        return;
    }
    let created = plan.steps.iter().filter(|step| matches!(step.action, Action::Create { .. }));
    for retained in created.filter_map(|step| retained.get(&(&step.name, &step.ty))) {
        ui.note(&format!(
            "{} was kept by {} and still exists; to import it instead of creating a second one, run\n  {}",
            retained.name,
            retained.reason.run,
            import_command(session, retained)
        ));
    }
}

/// Returns the command that imports the resource again, ready to paste.
fn import_command(session: &Session, retained: &Retained) -> String {
    let Retained { name, resource, id, .. } = retained;
    let (name, id) = (ShellCommand::word(&name.to_string()), ShellCommand::word(id.as_str()));
    format!("stead import {resource} {name} {id}{}", session.shown_stack().flags())
}
