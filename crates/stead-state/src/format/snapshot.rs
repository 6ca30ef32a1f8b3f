//! A snapshot: the complete state of a stack at one moment. Equal states encode to equal bytes.
//!
//! The encoding is gzip around lines of JSON, readable with `zcat`: a header, then one resource on each line, sorted by
//! name, uid and generation.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Read as _};
use std::sync::Arc;

use flate2::read::GzDecoder;
use serde::{Deserialize, Serialize};
use stead_model::{Digest, Keyring, Limits, Map, OpId, ProviderPlaces, Resource, RunId, StackId, ValuePool};

use super::codec::{FormatError, check_format, damaged, line, parse};
use super::gzip::{pack, stored};
use super::{v1, v2};
use crate::{FORMAT, Pending, Retained, Transfers};

const WHAT: &str = "snapshot";

/// The longest line that is read, longer than any resource. It bounds what a decompression bomb can unpack.
const MAX_LINE: u64 = 256 << 20;

/// The state of a stack as it is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Snapshot {
    pub stack: StackId,
    /// The run that wrote the snapshot; `None` for the empty snapshot.
    pub run: Option<RunId>,
    /// The number of journal records that led to this state. Of two snapshots of one stack, the higher one is newer.
    pub serial: u64,
    /// The number of uids allocated so far.
    pub uids: u64,
    pub next_op: OpId,
    pub outputs: Map,
    /// Operations without a recorded outcome, sorted by number.
    pub pending: Vec<Pending>,
    pub transfers: Transfers,
    /// All copies of all resources, sorted by name, uid and generation.
    pub resources: Vec<Arc<Resource>>,
    /// Real resources that the stack no longer manages, sorted by type and id.
    pub retained: Vec<Retained>,
    /// The paths in the pinfile after the last successful run; `None` if no run recorded them.
    pub pinfile: Option<BTreeSet<String>>,
    /// The wrapped data keys of the stack; empty before its first secret.
    pub keyring: Keyring,
    /// The places where the default providers keep resources of the stack.
    pub places: ProviderPlaces,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Header {
    format: u32,
    stack: StackId,
    run: Option<RunId>,
    /// Format 1 has none.
    serial: Option<u64>,
    uids: u64,
    next_op: OpId,
    resources: usize,
    outputs: Map,
    pending: Vec<Pending>,
    #[serde(default, skip_serializing_if = "Transfers::is_empty")]
    transfers: Transfers,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    retained: Vec<Retained>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pinfile: Option<BTreeSet<String>>,
    #[serde(default, rename = "keys", skip_serializing_if = "Keyring::is_empty")]
    keyring: Keyring,
    /// Formats up to 5 have none.
    #[serde(default, skip_serializing_if = "ProviderPlaces::is_empty")]
    places: ProviderPlaces,
}

impl Snapshot {
    pub fn empty(stack: StackId) -> Snapshot {
        Snapshot {
            stack,
            run: None,
            serial: 0,
            uids: 0,
            next_op: OpId(1),
            outputs: Map::new(),
            pending: Vec::new(),
            transfers: Transfers::default(),
            resources: Vec::new(),
            retained: Vec::new(),
            pinfile: None,
            keyring: Keyring::default(),
            places: ProviderPlaces::default(),
        }
    }

    /// Returns the snapshot with these resources, in the given order.
    #[must_use]
    pub fn with(self, resources: Vec<Resource>) -> Snapshot {
        Snapshot { resources: resources.into_iter().map(Arc::new).collect(), ..self }
    }

    /// Returns the bytes to store, and their digest, which is the key of the stored object.
    pub fn encode(&self) -> (Vec<u8>, Digest) {
        let header = Header {
            format: FORMAT,
            stack: self.stack.clone(),
            run: self.run.clone(),
            serial: Some(self.serial),
            uids: self.uids,
            next_op: self.next_op,
            resources: self.resources.len(),
            outputs: self.outputs.clone(),
            pending: self.pending.clone(),
            transfers: self.transfers.clone(),
            retained: self.retained.clone(),
            pinfile: self.pinfile.clone(),
            keyring: self.keyring.clone(),
            places: self.places.clone(),
        };
        let resources = self.resources.iter().map(|resource| line(resource.as_ref()));
        // Cannot fail: the output is memory.
        let bytes = pack(std::iter::once(line(&header)).chain(resources)).unwrap_or_default();
        let digest = Digest::of(&bytes);
        (bytes, digest)
    }

    /// Decodes bytes that were stored under `digest`.
    ///
    /// Fails if their digest is another one, or if the content is not a complete snapshot.
    pub fn decode(bytes: &[u8], digest: &Digest) -> Result<Snapshot, FormatError> {
        if Digest::of(bytes) != *digest {
            return Err(damaged(WHAT, 1, "its digest is not the one in its name"));
        }
        match stored(bytes) {
            Some(stored) => Snapshot::read(Lines { reader: stored, line: Vec::new(), read: 0 }),
            None => {
                let reader = BufReader::new(GzDecoder::new(bytes));
                Snapshot::read(Lines { reader, line: Vec::new(), read: 0 })
            }
        }
    }

    fn read(mut lines: Lines<impl BufRead>) -> Result<Snapshot, FormatError> {
        let first = lines.next()?.ok_or_else(|| damaged(WHAT, 1, "it is empty"))?;
        let format = check_format(WHAT, first)?;
        let header: Header = match format {
            v2::DOTTED.. => parse(WHAT, 1, first)?,
            _ => v2::parse(WHAT, 1, first, v2::Line::Stack, |fields| fields)?,
        };
        let serial = match (format, header.serial) {
            (1, None) => v1::serial(header.next_op),
            (_, Some(serial)) if serial <= u64::MAX / 2 => serial,
            _ => return Err(damaged(WHAT, 1, "it has no serial, or one that is out of range")),
        };
        let most = Limits::default().of_state().resources;
        if header.resources > most {
            let problem = format!("it has {} resources; at most {most} are read", header.resources);
            return Err(damaged(WHAT, 1, &problem));
        }
        let mut resources: Vec<Arc<Resource>> = Vec::with_capacity(header.resources);
        // Outputs repeat inputs, and inputs repeat the outputs of dependencies.
        let mut pool = ValuePool::default();
        while let Some(line) = lines.next()? {
            // The header is line 1.
            let number = resources.len() + 2;
            if resources.len() == header.resources {
                return Err(damaged(WHAT, number, "it has more resources than its header states"));
            }
            let mut resource: Resource = match format {
                v2::DOTTED.. => parse(WHAT, number, line)?,
                _ => v2::parse_resource(WHAT, number, line)?,
            };
            pool.share_map(&mut resource.inputs);
            pool.share_map(&mut resource.outputs);
            resources.push(Arc::new(resource));
        }
        if resources.len() < header.resources {
            return Err(damaged(WHAT, lines.read, "resources are missing"));
        }
        let Header {
            stack,
            run,
            uids,
            next_op,
            outputs,
            pending,
            transfers,
            retained,
            pinfile,
            keyring,
            places,
            ..
        } = header;
        Ok(Snapshot {
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
        })
    }
}

/// A reader of lines that holds one line at a time.
struct Lines<R> {
    reader: R,
    /// The line that was read last.
    line: Vec<u8>,
    /// The number of lines read so far.
    read: usize,
}

impl<R: BufRead> Lines<R> {
    fn next(&mut self) -> Result<Option<&[u8]>, FormatError> {
        let number = self.read + 1;
        self.line.clear();
        let read = (&mut self.reader).take(MAX_LINE).read_until(b'\n', &mut self.line);
        read.map_err(|error| damaged(WHAT, number, &error.to_string()))?;
        if self.line.is_empty() {
            return Ok(None);
        }
        if self.line.pop() != Some(b'\n') {
            return Err(damaged(WHAT, number, "it does not end with a newline, or the line is too long"));
        }
        self.read = number;
        Ok(Some(&self.line))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::tests::resource;

    /// Returns the error for a snapshot whose header claims `claimed` resources, followed by these lines.
    fn refused(claimed: usize, lines: &[Vec<u8>]) -> String {
        let header = format!(
            "{{\"format\":3,\"stack\":\"s\",\"run\":null,\"serial\":0,\"uids\":0,\"next_op\":1,\"resources\":{claimed},\
             \"outputs\":{{}},\"pending\":[]}}\n"
        );
        let bytes = pack(std::iter::once(header.into_bytes()).chain(lines.iter().cloned())).unwrap();
        Snapshot::decode(&bytes, &Digest::of(&bytes)).unwrap_err().to_string()
    }

    #[test]
    fn wrong_resource_count_and_broken_line_are_reported() {
        let (a, b) = (line(&resource("a", 1)), line(&resource("b", 1)));
        let damaged = |what: &str| format!("snapshot is damaged at line {what}");
        assert_eq!(refused(2, std::slice::from_ref(&a)), damaged("2: resources are missing"));
        assert_eq!(refused(1, &[a.clone(), b]), damaged("3: it has more resources than its header states"));
        let broken = refused(2, &[a.clone(), b"{}\n".to_vec()]);
        assert!(broken.starts_with(&damaged("3: ")), "{broken}");
        let cut = refused(2, &[a, b"{}".to_vec()]);
        assert!(cut.starts_with(&damaged("3: it does not end with a newline")), "{cut}");
    }

    #[test]
    fn snapshot_that_claims_too_many_resources_is_refused() {
        let most = Limits::default().of_state().resources;
        let said = format!("it has {} resources; at most {most} are read", most + 1);
        assert_eq!(refused(most + 1, &[]), format!("snapshot is damaged at line 1: {said}"));
        assert_eq!(refused(most, &[]), "snapshot is damaged at line 1: resources are missing");
    }
}
