//! `stead stack place`: shows where the resources of the stack are, and records that they are reached in another place.

use serde::Serialize;
use stead::ops::{DefaultPlace, EditChange, OpEvent, StateEdit};
use stead_model::{Name, PhysicalId, ProviderPlace, TypeToken};

use crate::confirm::confirm;
use crate::failure::Failure;
use crate::session::Session;
use crate::ui::Ui;

#[derive(Serialize)]
struct PlaceLine<'a> {
    provider: &'a str,
    recorded: Option<&'a ProviderPlace>,
    now: Option<&'a ProviderPlace>,
    /// Why the present place is not known.
    problem: Option<&'a str>,
}

#[derive(Serialize)]
struct AcceptedLine<'a> {
    provider: &'a str,
    from: Option<&'a ProviderPlace>,
    to: &'a ProviderPlace,
}

#[derive(Serialize)]
struct MissingLine<'a> {
    name: &'a Name,
    #[serde(rename = "type")]
    ty: &'a TypeToken,
    id: Option<&'a PhysicalId>,
}

/// Shows the recorded place of each default provider, and the one to which it leads now.
pub(crate) async fn show(session: &Session, ui: &Ui) -> Result<u8, Failure> {
    let places = session.workspace.default_places().await?;
    if places.is_empty() {
        ui.result("No resource of this stack is in a place of its own.\n");
    }
    for DefaultPlace { provider, recorded, now } in &places {
        let text = recorded.as_ref().map_or_else(|| "not recorded yet".to_owned(), ToString::to_string);
        ui.result(&format!("{provider}\trecorded: {text}\n"));
        match now {
            Ok(now) if Some(now) == recorded.as_ref() => {}
            Ok(now) => ui.result(&format!("{provider}\tnow: {now}\n")),
            Err(problem) => ui.result(&format!("{provider}\tnow: unknown, because {problem}\n")),
        }
        let (recorded, problem) = (recorded.as_ref(), now.as_ref().err().map(String::as_str));
        ui.json("place", &PlaceLine { provider, recorded, now: now.as_ref().ok(), problem });
    }
    Ok(0)
}

/// Records the places to which the default providers lead now. No real resource changes.
pub(crate) async fn accept(session: &Session, ui: &Ui) -> Result<u8, Failure> {
    let edit = session.workspace.edit(StateEdit::AcceptPlace, session.wait, &mut ui.listener()).await?;
    if edit.is_empty() {
        ui.result("The resources are recorded in the place to which the settings lead.\n");
        return Ok(0);
    }
    for change in edit.changes() {
        match change {
            EditChange::PlaceAccepted { provider, from, to } => {
                let text = from.as_ref().map_or_else(|| "not recorded".to_owned(), ToString::to_string);
                ui.note(&format!("{provider}: recorded in {text}"));
                ui.note(&format!("{provider}: reached in {to}"));
                ui.json("place_accepted", &AcceptedLine { provider, from: from.as_ref(), to });
            }
            EditChange::ResourcesFound { count } => {
                ui.note(&format!("{count} resources of this stack exist there."));
            }
            EditChange::NotThere { name, ty, id } => {
                let shown = id.as_ref().map_or("no id", |id| id.as_str());
                ui.note(&format!("{name} does not exist there: {ty} {shown}"));
                ui.json("place_missing", &MissingLine { name, ty, id: id.as_ref() });
            }
            _ => {}
        }
    }
    let edit = edit.permit()?;
    confirm(session, ui, "Record this place? No real resource changes.")?;
    ui.shown(async |events: &mut dyn FnMut(OpEvent)| edit.apply(events).await).await?;
    ui.result("Recorded.\n");
    Ok(0)
}
