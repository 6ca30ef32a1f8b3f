//! The export format: a whole stack as one JSON object, written and read. `docs/format/export.md` defines it.
//!
//! **Invariant:** a file that is damaged, newer, hostile or too large is refused as a whole.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use stead_model::{
    Digest, Keyring, Limits, Map, MarkSource, Name, OpId, ProviderPlaces, Resource, RunId, StackId,
};

use super::codec::FormatError;
use super::{v1, v2};
use crate::state::extent_of;
use crate::{FORMAT, Pending, Retained, Snapshot};

/// Longest place of a provider that is read, in bytes.
const LONGEST_PLACE: usize = 16 << 10;

/// The stack that an export was made of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    /// The version of stead that wrote the export.
    pub stead: String,
    pub project: String,
    pub environment: String,
    pub target: String,
}

/// An exported stack.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Export {
    format: u32,
    /// The digest of all other fields, serialised without spaces. A user who edits the file by hand removes it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    digest: Option<Digest>,
    stead: String,
    pub project: String,
    pub environment: String,
    pub target: String,
    stack: StackId,
    run: Option<RunId>,
    /// Format 1 has none.
    serial: Option<u64>,
    uids: u64,
    next_op: OpId,
    outputs: Map,
    pending: Vec<Pending>,
    resources: Vec<Arc<Resource>>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    retained: Vec<Retained>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pinfile: Option<BTreeSet<String>>,
    /// The wrapped data keys of the stack, without which its secrets could not be read.
    #[serde(default, rename = "keys", skip_serializing_if = "Keyring::is_empty")]
    keyring: Keyring,
    /// The places where the default providers keep the resources. Formats up to 5 have none.
    #[serde(default, skip_serializing_if = "ProviderPlaces::is_empty")]
    places: ProviderPlaces,
    /// True if the file has a digest that does not match its content.
    #[serde(skip)]
    changed: bool,
}

/// Why a file was refused. No part of it is used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ExportError {
    #[error("{0}")]
    Damaged(String),
    #[error("it has format {0}; this stead reads up to {FORMAT}")]
    Newer(u32),
    #[error("it was changed after it was exported: the digest does not match")]
    Changed,
    #[error("it has {0}")]
    TooLarge(String),
    #[error("{name}: {excess}")]
    Oversized { name: String, excess: String },
    #[error("the name {0:?} contains a control character")]
    ControlCharacter(String),
    #[error("{0}: the source of its marks contains a control character")]
    MarkSource(String),
}

impl Export {
    pub fn new(origin: Origin, snapshot: Snapshot) -> Export {
        let Snapshot { stack, run, serial, uids, next_op, outputs, pending, resources, retained, .. } =
            snapshot;
        let (pinfile, keyring, places) = (snapshot.pinfile, snapshot.keyring, snapshot.places);
        let Origin { stead, project, environment, target } = origin;
        let mut export = Export {
            format: FORMAT,
            digest: None,
            stead,
            project,
            environment,
            target,
            stack,
            run,
            serial: Some(serial),
            uids,
            next_op,
            outputs,
            pending,
            resources,
            retained,
            pinfile,
            keyring,
            places,
            changed: false,
        };
        export.digest = Some(export.own_digest());
        export
    }

    /// Returns the export without a digest, for a file with secrets in the clear: they are secrets again as soon as it is read.
    #[must_use]
    pub fn without_digest(self) -> Export {
        Export { digest: None, ..self }
    }

    pub fn decode(bytes: &[u8], limits: &Limits) -> Result<Export, ExportError> {
        #[derive(Deserialize)]
        struct AnyFormat {
            format: u32,
        }
        let damaged = |error: serde_json::Error| ExportError::Damaged(error.to_string());
        let AnyFormat { format } = serde_json::from_slice(bytes).map_err(damaged)?;
        if format > FORMAT {
            return Err(ExportError::Newer(format));
        }
        if format == 0 {
            return Err(ExportError::Damaged("there is no format 0".to_owned()));
        }
        let mut export: Export = match format {
            v2::DOTTED.. => serde_json::from_slice(bytes).map_err(damaged)?,
            _ => v2::parse("export", 1, bytes, v2::Line::Stack, |fields| fields).map_err(old_damaged)?,
        };
        if (format == 1) != export.serial.is_none() {
            return Err(ExportError::Damaged(format!("`serial` does not belong to format {format}")));
        }
        export.check(limits)?;
        if let Some(digest) = export.digest.take() {
            let content = match format {
                v2::DOTTED.. => export.own_digest(),
                _ => v1::export_digest(bytes),
            };
            export.changed = digest != content;
            export.digest = Some(digest);
        }
        Ok(export)
    }

    /// Fails if the file has a digest that does not match its content. A file without a digest passes.
    pub fn check_digest(&self) -> Result<(), ExportError> {
        if self.changed { Err(ExportError::Changed) } else { Ok(()) }
    }

    /// Returns the stack that was exported.
    pub fn stack(&self) -> &StackId {
        &self.stack
    }

    /// Returns the serial of the exported state: of two exports of one stack, the higher one is newer.
    pub fn serial(&self) -> u64 {
        self.serial.unwrap_or_else(|| v1::serial(self.next_op))
    }

    /// Returns the stack that the export names as its own.
    pub fn origin(&self) -> Origin {
        Origin {
            stead: self.stead.clone(),
            project: self.project.clone(),
            environment: self.environment.clone(),
            target: self.target.clone(),
        }
    }

    /// Returns the exported state, with its resources sorted.
    pub fn into_snapshot(mut self) -> Snapshot {
        self.resources.sort_by(|a, b| a.sort_key().cmp(&b.sort_key()));
        self.into_unsorted_snapshot()
    }

    /// Returns the exported state with its resources in the order of the file, for a repair.
    pub fn into_unsorted_snapshot(self) -> Snapshot {
        let serial = self.serial();
        let Export { stack, run, uids, next_op, outputs, pending, resources, retained, pinfile, .. } = self;
        let (keyring, places) = (self.keyring, self.places);
        let transfers = Default::default();
        Snapshot {
            stack,
            run,
            serial,
            uids,
            next_op,
            outputs,
            pending,
            transfers,
            resources,
            retained,
            pinfile,
            keyring,
            places,
        }
    }

    /// Returns the digest of all fields. The caller has removed the field `digest`.
    fn own_digest(&self) -> Digest {
        // Cannot fail: the types have string keys and finite numbers only.
        Digest::of(&serde_json::to_vec(self).unwrap_or_default())
    }

    fn check(&self, limits: &Limits) -> Result<(), ExportError> {
        if let Some(excess) =
            limits.exceeded(&extent_of(self.resources.iter().map(|resource| resource.as_ref())))
        {
            return Err(ExportError::TooLarge(excess));
        }
        // A counter at its maximum would overflow in the next run.
        let max_counter = u64::MAX / 2;
        if self.uids > max_counter || self.next_op.0 > max_counter || self.serial() > max_counter {
            return Err(ExportError::Damaged("a counter is out of range".to_owned()));
        }
        for resource in &self.resources {
            if resource.generation.0 > u32::MAX / 2 {
                let excess = format!("its generation is {}", resource.generation);
                return Err(ExportError::Oversized { name: resource.name.to_string(), excess });
            }
            let names = std::iter::once(&resource.name).chain(&resource.ties.aliases);
            if let Some(name) = names.into_iter().find(|name| name.control_character().is_some()) {
                return Err(ExportError::ControlCharacter(Name::to_string(name)));
            }
            let sources = resource.marks.prevent_delete.iter().chain(&resource.marks.deletion_policy);
            check_sources(&resource.name, sources)?;
            let sizes = [&resource.inputs, &resource.outputs].map(|properties| limits.oversized(properties));
            if let Some(excess) = sizes.into_iter().flatten().next() {
                return Err(ExportError::Oversized { name: resource.name.to_string(), excess });
            }
        }
        for Retained { name, id, reason, .. } in &self.retained {
            let id = id.as_str();
            if name.control_character().is_some() || id.chars().any(char::is_control) {
                return Err(ExportError::ControlCharacter(name.to_string()));
            }
            check_sources(name, &reason.source)?;
        }
        check_places(&self.places)?;
        match limits.oversized(&self.outputs) {
            Some(excess) => Err(ExportError::Oversized { name: "outputs".to_owned(), excess }),
            None => Ok(()),
        }
    }
}

fn old_damaged(error: FormatError) -> ExportError {
    match error {
        FormatError::Damaged { problem, .. } => ExportError::Damaged(problem),
        FormatError::Newer { found, .. } => ExportError::Newer(found),
    }
}

/// Refuses places with control characters, or of a size that no provider tells: they are printed.
fn check_places(places: &ProviderPlaces) -> Result<(), ExportError> {
    for (provider, place) in &places.0 {
        let texts =
            || std::iter::once(provider).chain(place.0.iter().flat_map(|(name, value)| [name, value]));
        if let Some(text) = texts().find(|text| text.chars().any(char::is_control)) {
            return Err(ExportError::ControlCharacter(text.clone()));
        }
        if texts().map(String::len).sum::<usize>() > LONGEST_PLACE {
            return Err(ExportError::TooLarge(format!("a place of more than {LONGEST_PLACE} bytes")));
        }
    }
    Ok(())
}

/// Refuses mark sources with control characters: they are printed, and must not control the terminal.
fn check_sources<'s>(
    name: &Name,
    sources: impl IntoIterator<Item = &'s Arc<MarkSource>>,
) -> Result<(), ExportError> {
    if sources.into_iter().any(|source| source.has_control_characters()) {
        return Err(ExportError::MarkSource(name.to_string()));
    }
    Ok(())
}
