//! The export format, in both directions; `docs/format/export.md`.

use std::borrow::Cow;
use std::path::Path;

use serde::{Deserialize, Serialize};
use stead_model::{Code, Diagnostic, Map, OpId, Resource, RunId, StackId};
use stead_state::{FORMAT, Pending, Snapshot};

use crate::failure::{Failure, Kind};
use crate::session::Session;

/// A whole stack as one JSON object.
#[derive(Serialize, Deserialize)]
pub(crate) struct Export<'a> {
    format: u32,
    stead: Cow<'a, str>,
    pub project: Cow<'a, str>,
    pub environment: Cow<'a, str>,
    pub target: Cow<'a, str>,
    stack: StackId,
    run: Option<RunId>,
    uids: u64,
    next_op: OpId,
    outputs: Map,
    pending: Vec<Pending>,
    resources: Vec<Resource>,
}

impl<'a> Export<'a> {
    pub(crate) fn of(session: &'a Session, snapshot: Snapshot) -> Export<'a> {
        let environment = session.environment.to_string().into();
        Export::new(
            [session.project.name.as_str().into(), environment, session.target.as_str().into()],
            snapshot,
        )
    }

    fn new([project, environment, target]: [Cow<'a, str>; 3], snapshot: Snapshot) -> Export<'a> {
        let Snapshot { stack, run, uids, next_op, outputs, pending, resources } = snapshot;
        Export {
            format: FORMAT,
            stead: env!("CARGO_PKG_VERSION").into(),
            project,
            environment,
            target,
            stack,
            run,
            uids,
            next_op,
            outputs,
            pending,
            resources,
        }
    }

    /// Also what is out of order is taken as it stands.
    pub(crate) fn into_snapshot_as_it_is(self) -> Snapshot {
        let Export { stack, run, uids, next_op, outputs, pending, resources, .. } = self;
        Snapshot { stack, run, uids, next_op, outputs, pending, resources }
    }

    pub(crate) fn into_snapshot(self) -> Snapshot {
        let Export { stack, run, uids, next_op, outputs, pending, mut resources, .. } = self;
        resources.sort_by(|a, b| a.place().cmp(&b.place()));
        Snapshot { stack, run, uids, next_op, outputs, pending, resources }
    }
}

/// Reads an exported file. Nothing of a file that is damaged or newer is believed.
pub(crate) fn read(session: &Session, file: &Path) -> Result<Export<'static>, Failure> {
    #[derive(Deserialize)]
    struct AnyFormat {
        format: u32,
    }
    let bytes = session.world.files.read(file).map_err(|error| {
        let message = format!("cannot read {}: {error}", file.display());
        Failure::new(Kind::Failed, Diagnostic::error(Code::STORE, message))
    })?;
    let damaged = |error: serde_json::Error| {
        let problem = Diagnostic::error(Code::STATE_DAMAGED, format!("{}: {error}", file.display()));
        Failure::new(Kind::Unsound, problem.note("Nothing was written."))
    };
    let AnyFormat { format } = serde_json::from_slice(&bytes).map_err(damaged)?;
    if format > FORMAT {
        let message = format!("{} has format {format}; this stead reads up to {FORMAT}", file.display());
        let problem = Diagnostic::error(Code::STATE_NEWER, message).note("Nothing was written.");
        return Err(Failure::new(Kind::Unsound, problem.help("use a newer stead")));
    }
    serde_json::from_slice(&bytes).map_err(damaged)
}

#[cfg(test)]
mod tests;
