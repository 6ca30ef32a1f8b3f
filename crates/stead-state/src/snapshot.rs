//! A snapshot: all that is known of a stack at one moment, as bytes that are the same for the same state.
//!
//! Gzip around lines of JSON, so that `zcat` is all a person needs: a header, then one resource a line,
//! sorted by name and generation.

use std::io::{Read as _, Write as _};

use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use serde::{Deserialize, Serialize};
use stead_model::{Digest, Map, OpId, Resource, RunId, StackId};

use crate::codec::{FormatError, damaged, line, lines, parse};
use crate::{FORMAT, Pending, Transfers};

const WHAT: &str = "snapshot";

/// More than 100,000 resources of ordinary size; a hostile file cannot make us allocate without end.
const MAX_BYTES: u64 = 4 << 30;

/// Everything that state remembers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Snapshot {
    pub stack: StackId,
    /// The run that ended with it; `None` for the empty one.
    pub run: Option<RunId>,
    /// How many uids were ever given out.
    pub uids: u64,
    pub next_op: OpId,
    pub outputs: Map,
    /// Operations in doubt, by number.
    pub pending: Vec<Pending>,
    pub transfers: Transfers,
    /// Sorted by name, then generation.
    pub resources: Vec<Resource>,
}

#[derive(Serialize, Deserialize)]
struct Header {
    format: u32,
    stack: StackId,
    run: Option<RunId>,
    uids: u64,
    next_op: OpId,
    resources: usize,
    outputs: Map,
    pending: Vec<Pending>,
    #[serde(default, skip_serializing_if = "Transfers::is_empty")]
    transfers: Transfers,
}

impl Snapshot {
    pub fn empty(stack: StackId) -> Snapshot {
        Snapshot {
            stack,
            run: None,
            uids: 0,
            next_op: OpId(1),
            outputs: Map::new(),
            pending: Vec::new(),
            transfers: Transfers::default(),
            resources: Vec::new(),
        }
    }

    /// The bytes to store, and the digest that is their name.
    pub fn encode(&self) -> (Vec<u8>, Digest) {
        let header = Header {
            format: FORMAT,
            stack: self.stack.clone(),
            run: self.run.clone(),
            uids: self.uids,
            next_op: self.next_op,
            resources: self.resources.len(),
            outputs: self.outputs.clone(),
            pending: self.pending.clone(),
            transfers: self.transfers.clone(),
        };
        let mut text = line(&header);
        for resource in &self.resources {
            text.extend(line(resource));
        }
        let mut gzip = GzEncoder::new(Vec::with_capacity(text.len() / 4), Compression::fast());
        // Writing to memory does not fail.
        let bytes = gzip.write_all(&text).and_then(|()| gzip.finish()).unwrap_or_default();
        let digest = Digest::of(&bytes);
        (bytes, digest)
    }

    /// Decodes bytes that were stored under `digest`.
    pub fn decode(bytes: &[u8], digest: &Digest) -> Result<Snapshot, FormatError> {
        if Digest::of(bytes) != *digest {
            return Err(damaged(WHAT, 1, "its bytes are not those that its name was made from"));
        }
        let mut text = Vec::new();
        GzDecoder::new(bytes)
            .take(MAX_BYTES)
            .read_to_end(&mut text)
            .map_err(|error| damaged(WHAT, 1, &error.to_string()))?;
        let lines = lines(WHAT, &text)?;
        let header: Header = parse(WHAT, 1, lines[0])?;
        if header.resources != lines.len() - 1 {
            return Err(damaged(WHAT, lines.len(), "resources are missing"));
        }
        let resources = lines[1..]
            .iter()
            .enumerate()
            .map(|(index, resource)| parse(WHAT, index + 2, resource))
            .collect::<Result<Vec<Resource>, _>>()?;
        let Header { stack, run, uids, next_op, outputs, pending, transfers, .. } = header;
        Ok(Snapshot { stack, run, uids, next_op, outputs, pending, transfers, resources })
    }
}
