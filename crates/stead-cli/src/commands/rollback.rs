//! `stead stack rollback`: a plan towards what was there after an earlier run.

use std::sync::Arc;

use stead_engine::graph_of;
use stead_guard::pins::Orphans;
use stead_journal::JournalError;
use stead_model::{Code, Diagnostic, NoFunctions, RunId};
use stead_plan::{Moves, Purpose, Request};
use stead_state::{FormatError, RunRecord, Snapshot};
use stead_store::Key;

use crate::commands::run::{carry_out, show_plan};
use crate::commands::up::{Look, prepare};
use crate::evaluate::Evaluated;
use crate::failure::{Failure, Kind};
use crate::marks::MarkFlags;
use crate::pins;
use crate::session::Session;
use crate::ui::Ui;

pub(crate) async fn rollback(session: &Session, run: &str, ui: &Ui) -> Result<u8, Failure> {
    let pinning = pins::open(session, Orphans::Refuse)?;
    let loaded = session.load_settled(ui).await?;
    let snapshot = snapshot_after(session, run).await?;
    let evaluated = Evaluated {
        graph: graph_of(&snapshot),
        functions: Arc::new(NoFunctions),
        transcript: Default::default(),
    };
    // Names are what they were; nothing has to be guessed.
    let outer = session.outer(&MarkFlags::default());
    let request = Request { purpose: Purpose::Up, moves: Moves::Refuse, outer, ..Request::default() };
    let (mut prepared, _) = prepare(session, loaded, evaluated, Look::AtRecords, &request).await?;
    prepared.engine = prepared.engine.with_pins(pinning.standing());
    if prepared.is_empty() {
        ui.json("plan", &prepared.plan);
        ui.result(&format!("Nothing to do: everything is as it was after {run}.\n"));
        return Ok(0);
    }
    show_plan(session, &prepared.plan, ui);
    let question = format!("Go back to what was there after {run} in environment {}?", session.environment);
    let code = carry_out(session, prepared, "rollback", &question, ui).await?;
    ui.note("The program is as it is; the next `stead up` follows it again.");
    Ok(code)
}

async fn snapshot_after(session: &Session, run: &str) -> Result<Snapshot, Failure> {
    let (store, keys) = (&session.stack.store, &session.stack.keys);
    let key = keys.history(&RunId(run.to_owned()));
    let Some(found) = store.get(&key).await? else {
        return Err(missing(&format!("there is no run {run:?} in this stack's history")));
    };
    let record = RunRecord::decode(&found.body).map_err(|source| damaged(&key, source))?;
    let key = keys.snapshot(&record.snapshot);
    let Some(stored) = store.get(&key).await? else {
        return Err(missing(&format!("the snapshot of {run} is not kept any more")));
    };
    Snapshot::decode(&stored.body, &record.snapshot).map_err(|source| damaged(&key, source))
}

fn damaged(key: &Key, source: FormatError) -> Failure {
    JournalError::Format { key: key.to_string(), source }.into()
}

fn missing(message: &str) -> Failure {
    let problem = Diagnostic::error(Code::NOT_FOUND, message);
    Failure::new(Kind::Failed, problem.help("`stead stack history` lists the runs"))
}
