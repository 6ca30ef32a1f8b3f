//! `stead secrets status`: keys and managers, and which of them open on this machine. Needs no key, and asks nobody.

use serde::Serialize;
use stead::KeyStatus;
use stead::ops::key_owner;
use stead_model::Keyring;
use stead_state::State;

use crate::failure::Failure;
use crate::session::Session;
use crate::ui::Ui;

#[derive(Serialize)]
struct Line<'a> {
    /// `stack`, or the name of the config file.
    place: &'a str,
    key: &'a str,
    current: bool,
    manager: &'a str,
    opens: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'a str>,
    /// A recipient of the current key that `stead.toml` does not name.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    unnamed: bool,
}

pub(super) async fn status(session: &Session, ui: &Ui) -> Result<u8, Failure> {
    let environment = session.environment();
    let state = session.workspace.load().await?.state;
    let file = format!("stead.{}.toml", environment.name);
    let configured = session.project.keys().configured(&environment.to_string());
    ui.result(&match configured.is_empty() {
        true => "stead.toml names no manager; a new key gets a passphrase.\n".to_owned(),
        false => format!("A new key is wrapped for: {}\n", configured.join(", ")),
    });
    show(session, "stack", &key_owner(&state), state.keyring(), ui).await;
    let owner = session.project.config_owner(&environment.name);
    show(session, &file, &owner, &session.project.config_ring(&environment.name)?, ui).await;
    Ok(0)
}

async fn show(session: &Session, place: &str, owner: &str, ring: &Keyring, ui: &Ui) {
    if ring.is_empty() {
        return ui.result(&format!("{place}: no data key\n"));
    }
    let environment = session.environment().to_string();
    let unnamed = session.project.keys().unnamed_recipients(&environment, ring);
    for KeyStatus { key, is_current, manager, opens } in session.project.key_status(owner, ring).await {
        let reason = opens.as_ref().err().map(|error| error.message.as_str());
        let age = if is_current { "current" } else { "older" };
        let here = reason.map_or_else(|| "opens here".to_owned(), |why| format!("does not open here: {why}"));
        ui.result(&format!("{place}\t{key}\t{age}\t{manager}\t{here}\n"));
        let unnamed = is_current && unnamed.contains(&manager);
        let (key, manager, opens) = (key.as_str(), manager.as_str(), reason.is_none());
        ui.json("secrets_key", &Line { place, key, current: is_current, manager, opens, reason, unnamed });
    }
    warn(place, &unnamed, ui);
}

/// Warns of recipients that open the stack or its config file although `stead.toml` does not name them.
pub(crate) fn warn_of_unnamed(session: &Session, state: &State, ui: &Ui) {
    let (keys, environment) = (session.project.keys(), session.environment());
    let unnamed = |ring: &Keyring| keys.unnamed_recipients(&environment.to_string(), ring);
    warn("the stack", &unnamed(state.keyring()), ui);
    // A file that cannot be read was reported when its config was.
    if let Ok(ring) = session.project.config_ring(&environment.name) {
        warn(&format!("stead.{}.toml", environment.name), &unnamed(&ring), ui);
    }
}

fn warn(place: &str, unnamed: &[String], ui: &Ui) {
    if !unnamed.is_empty() {
        ui.note(&format!(
            "Warning: {place} opens for {}, which stead.toml does not name; `stead secrets rotate` makes a key without it.",
            unnamed.join(", ")
        ));
    }
}
