//! `stead state owners`: lists the marks that name the owners of real resources.

use serde::Serialize;
use stead::{OwnedThing, Standing};
use stead_model::{Code, Diagnostic, Name, Uid};

use crate::failure::Failure;
use crate::session::Session;
use crate::ui::Ui;

#[derive(Serialize)]
struct OwnerLine<'a> {
    identity: &'a str,
    name: &'a Name,
    uid: &'a Uid,
    project: &'a str,
    environment: &'a str,
    target: &'a str,
    store: &'a str,
    standing: &'static str,
}

pub(crate) async fn owners(session: &Session, all: bool, ui: &Ui) -> Result<u8, Failure> {
    let things = session.workspace.owned_things().await.map_err(|unavailable| {
        let problem = Diagnostic::error(
            Code::OWNERS_UNAVAILABLE,
            format!("cannot read the owner marks: {}", unavailable.0),
        );
        problem.help("set STEAD_OWNERS to a folder that this user can write")
    })?;
    let own = session.workspace.engine.owners.as_ref().map(|owners| &owners.place);
    let of_project = |thing: &&OwnedThing| {
        let place = &thing.owner.place;
        own.is_some_and(|own| own.store == place.store && own.project == place.project)
    };
    let mut count = 0;
    for thing in things.iter().filter(|thing| all || of_project(thing)) {
        show(thing, ui);
        count += 1;
    }
    if count == 0 {
        ui.note("No owner marks.");
    }
    Ok(0)
}

fn show(OwnedThing { identity, owner, standing }: &OwnedThing, ui: &Ui) {
    let (word, remark) = match standing {
        Standing::Own | Standing::Living => ("current", String::new()),
        Standing::Stale => {
            ("stale", "\n  stale: no stack records it any more, so that the mark refuses nothing".to_owned())
        }
        Standing::Unreadable(reason) => ("unreadable", format!("\n  its state cannot be read: {reason}")),
    };
    let place = &owner.place;
    ui.result(&format!("{identity}\n  {} ({place}){remark}\n", owner.name));
    let line = OwnerLine {
        identity: identity.as_str(),
        name: &owner.name,
        uid: &owner.uid,
        project: &place.project,
        environment: &place.environment,
        target: &place.target,
        store: &place.store,
        standing: word,
    };
    ui.json("owner", &line);
}
