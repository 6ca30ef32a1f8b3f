//! A snapshot: all that is known of a stack at one moment, as bytes that are the same for the same state.
//!
//! Gzip around lines of JSON, so that `zcat` is all a person needs: a header, then one resource a line,
//! sorted by name and generation.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Read as _};
use std::sync::Arc;

use flate2::read::GzDecoder;
use serde::{Deserialize, Serialize};
use stead_model::{Digest, Limits, Map, OpId, Resource, RunId, StackId, unique_keys};

use crate::codec::{FormatError, check_format, damaged, line, parse};
use crate::gzip::{pack, stored};
use crate::{FORMAT, Pending, Retained, Transfers};

const WHAT: &str = "snapshot";

/// More than any resource takes. A hostile file cannot make us unpack without end: lines are read one by one.
const MAX_LINE: u64 = 256 << 20;

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
    pub resources: Vec<Arc<Resource>>,
    /// What still exists and is not managed any more. Sorted by type and id.
    pub retained: Vec<Retained>,
    /// What the pinfile listed at the end of the last run that went well.
    pub pinfile: Option<BTreeSet<String>>,
}

#[derive(Serialize, Deserialize)]
struct Header {
    format: u32,
    stack: StackId,
    run: Option<RunId>,
    uids: u64,
    next_op: OpId,
    resources: usize,
    #[serde(deserialize_with = "unique_keys")]
    outputs: Map,
    pending: Vec<Pending>,
    #[serde(default, skip_serializing_if = "Transfers::is_empty")]
    transfers: Transfers,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    retained: Vec<Retained>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pinfile: Option<BTreeSet<String>>,
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
            retained: Vec::new(),
            pinfile: None,
        }
    }

    /// The same with these resources, in the order in which they stand.
    #[must_use]
    pub fn with(self, resources: Vec<Resource>) -> Snapshot {
        Snapshot { resources: resources.into_iter().map(Arc::new).collect(), ..self }
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
            retained: self.retained.clone(),
            pinfile: self.pinfile.clone(),
        };
        let resources = self.resources.iter().map(|resource| line(resource.as_ref()));
        // Packing in memory does not fail.
        let bytes = pack(std::iter::once(line(&header)).chain(resources)).unwrap_or_default();
        let digest = Digest::of(&bytes);
        (bytes, digest)
    }

    /// Decodes bytes that were stored under `digest`.
    pub fn decode(bytes: &[u8], digest: &Digest) -> Result<Snapshot, FormatError> {
        if Digest::of(bytes) != *digest {
            return Err(damaged(WHAT, 1, "its bytes are not those that its name was made from"));
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
        check_format(WHAT, first)?;
        let header: Header = parse(WHAT, 1, first)?;
        let most = Limits::default().of_state().resources;
        if header.resources > most {
            let problem = format!("it has {} resources; at most {most} are read", header.resources);
            return Err(damaged(WHAT, 1, &problem));
        }
        let mut resources: Vec<Arc<Resource>> = Vec::with_capacity(header.resources);
        while let Some(line) = lines.next()? {
            // The header is the first line.
            let number = resources.len() + 2;
            if resources.len() == header.resources {
                return Err(damaged(WHAT, number, "it has more resources than it says"));
            }
            resources.push(Arc::new(parse(WHAT, number, line)?));
        }
        if resources.len() < header.resources {
            return Err(damaged(WHAT, lines.read, "resources are missing"));
        }
        let Header { stack, run, uids, next_op, outputs, pending, transfers, retained, pinfile, .. } = header;
        Ok(Snapshot { stack, run, uids, next_op, outputs, pending, transfers, resources, retained, pinfile })
    }
}

/// The lines of what is packed, unpacked as they are read.
struct Lines<R> {
    reader: R,
    /// The last one.
    line: Vec<u8>,
    /// How many were read: the number of the last one.
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

    /// What is said of a snapshot that claims so many resources and has these lines after its header.
    fn refused(claimed: usize, lines: &[Vec<u8>]) -> String {
        let header = format!(
            "{{\"format\":1,\"stack\":\"s\",\"run\":null,\"uids\":0,\"next_op\":1,\"resources\":{claimed},\
             \"outputs\":{{}},\"pending\":[]}}\n"
        );
        let bytes = pack(std::iter::once(header.into_bytes()).chain(lines.iter().cloned())).unwrap();
        Snapshot::decode(&bytes, &Digest::of(&bytes)).unwrap_err().to_string()
    }

    #[test]
    fn a_snapshot_has_as_many_resources_as_it_says_and_a_broken_line_is_told() {
        let (a, b) = (line(&resource("a", 1)), line(&resource("b", 1)));
        let damaged = |what: &str| format!("snapshot is damaged at line {what}");
        assert_eq!(refused(2, std::slice::from_ref(&a)), damaged("2: resources are missing"));
        assert_eq!(refused(1, &[a.clone(), b]), damaged("3: it has more resources than it says"));
        let broken = refused(2, &[a.clone(), b"{}\n".to_vec()]);
        assert!(broken.starts_with(&damaged("3: ")), "{broken}");
        let cut = refused(2, &[a, b"{}".to_vec()]);
        assert!(cut.starts_with(&damaged("3: it does not end with a newline")), "{cut}");
    }

    #[test]
    fn a_snapshot_that_claims_more_than_is_read_is_refused_for_that() {
        let most = Limits::default().of_state().resources;
        let said = format!("it has {} resources; at most {most} are read", most + 1);
        assert_eq!(refused(most + 1, &[]), format!("snapshot is damaged at line 1: {said}"));
        assert_eq!(refused(most, &[]), "snapshot is damaged at line 1: resources are missing");
    }
}
