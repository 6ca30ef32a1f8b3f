//! Journal records: what is about to be done, and what came of it.
//!
//! A batch is one append. It names its predecessor by digest and carries a write id of its own, so that a
//! writer whose answer got lost can tell its batch from a rival's.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use stead_model::{CopyRef, Digest, Epoch, Map, OpId, Operation, PhysicalId, Resource, Seq, unique_keys};

use crate::codec::{FormatError, append, damaged, line, parse, seal, sealed_lines};
use crate::{Arrival, Departure, FORMAT, Kept};

const WHAT: &str = "journal";

/// What remains of a resource when its real thing was deleted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AfterDelete {
    Gone,
    /// The name stays taken: the replacement is made next.
    Replacing,
}

/// An operation that a provider is about to be asked for: the whole request, so that it can be repeated.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "operation")]
pub enum Intent {
    /// `resource` is the record as it will be, without what only the provider can tell.
    Create {
        key: String,
        resource: Box<Resource>,
    },
    /// `resource` is the record as it will be, still with the old outputs.
    Update {
        key: String,
        resource: Box<Resource>,
        #[serde(deserialize_with = "unique_keys")]
        previous: Map,
    },
    Delete {
        key: String,
        copy: CopyRef,
        after: AfterDelete,
    },
}

impl Intent {
    pub fn operation(&self) -> Operation {
        match self {
            Intent::Create { .. } => Operation::Create,
            Intent::Update { .. } => Operation::Update,
            Intent::Delete { .. } => Operation::Delete,
        }
    }

    /// The idempotency key: the same for every attempt at the same operation, never the same for two.
    pub fn key(&self) -> &str {
        match self {
            Intent::Create { key, .. } | Intent::Update { key, .. } | Intent::Delete { key, .. } => key,
        }
    }

    pub fn copy(&self) -> CopyRef {
        match self {
            Intent::Create { resource, .. } | Intent::Update { resource, .. } => resource.copy(),
            Intent::Delete { copy, .. } => copy.clone(),
        }
    }
}

/// What came of an operation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "outcome")]
pub enum Outcome {
    Created {
        id: PhysicalId,
        outputs: Map,
    },
    Updated {
        outputs: Map,
    },
    Deleted,
    /// It certainly did not happen.
    Failed {
        message: String,
    },
    /// Nobody knows. The operation stays pending.
    InDoubt {
        message: String,
    },
}

/// An operation without a certain end.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pending {
    pub op: OpId,
    pub intent: Intent,
    /// Why nobody knows; `None` while it is simply under way.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub doubt: Option<String>,
}

/// A person's answer to what nobody knew.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "answer")]
pub enum Settlement {
    /// It happened; for a create, this is what it made.
    Happened { id: Option<PhysicalId>, outputs: Map },
    /// It did not happen.
    DidNotHappen,
}

/// One entry of the journal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "record")]
pub enum Record {
    /// From now on this many uids count as given out: a plan's, whether or not all its steps run.
    Reserve {
        uids: u64,
    },
    Begin {
        op: OpId,
        intent: Intent,
    },
    /// A pending operation of an earlier run is attempted again, with its old key.
    Resume {
        op: OpId,
    },
    End {
        op: OpId,
        #[serde(flatten)]
        outcome: Outcome,
    },
    Settle {
        op: OpId,
        #[serde(flatten)]
        settlement: Settlement,
    },
    /// A live resource's record changed although no provider was asked: dependencies, marks, place.
    Note {
        resource: Box<Resource>,
    },
    /// Something that exists already is a resource from now on; no provider was asked to make it.
    Adopt {
        resource: Box<Resource>,
    },
    /// A live resource turned out to be different, or gone, when it was read.
    Observed {
        copy: CopyRef,
        inputs: Option<Map>,
        outputs: Option<Map>,
    },
    /// The record of this copy goes; no provider was asked for anything.
    Forget {
        copy: CopyRef,
        /// The real thing is there still, and nobody manages it any more.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        kept: Option<Box<Kept>>,
    },
    /// These resources are about to leave for another stack.
    Depart {
        departure: Departure,
    },
    /// Resources came from another stack, all at once.
    Arrive {
        arrival: Arrival,
        resources: Vec<Resource>,
    },
    /// What departed has arrived; its records go.
    Departed {
        transfer: String,
    },
    /// What was to depart never arrived, and never can; it stays.
    Stayed {
        transfer: String,
    },
    /// The source knows of the arrival.
    Acknowledge {
        transfer: String,
    },
    /// The stack's outputs.
    Outputs {
        outputs: Map,
    },
    /// What the pinfile lists now that a run went well.
    Pinfile {
        paths: BTreeSet<String>,
    },
    /// The epoch is over; whoever wrote it before cannot append any more.
    Seal {
        by: Epoch,
    },
}

/// One append.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Batch {
    pub epoch: Epoch,
    pub seq: Seq,
    /// Digest of the batch before it; `None` for the first of an epoch.
    pub previous: Option<Digest>,
    pub write_id: String,
    pub records: Vec<Record>,
}

#[derive(Serialize, Deserialize)]
struct Header {
    format: u32,
    epoch: Epoch,
    seq: Seq,
    previous: Option<Digest>,
    write_id: String,
    records: usize,
}

impl Batch {
    pub fn encode(&self) -> Vec<u8> {
        let mut bytes = line(&Header {
            format: FORMAT,
            epoch: self.epoch,
            seq: self.seq,
            previous: self.previous.clone(),
            write_id: self.write_id.clone(),
            records: self.records.len(),
        });
        self.records.iter().for_each(|record| append(&mut bytes, record));
        seal(bytes)
    }

    pub fn decode(bytes: &[u8]) -> Result<Batch, FormatError> {
        let lines = sealed_lines(WHAT, bytes)?;
        let header: Header = parse(WHAT, 1, lines[0])?;
        if header.records != lines.len() - 1 {
            return Err(damaged(WHAT, lines.len(), "records are missing"));
        }
        let records = lines[1..]
            .iter()
            .enumerate()
            .map(|(index, record)| parse(WHAT, index + 2, record))
            .collect::<Result<Vec<Record>, _>>()?;
        let Header { epoch, seq, previous, write_id, .. } = header;
        Ok(Batch { epoch, seq, previous, write_id, records })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_that_cannot_be_read_is_told_by_its_line() {
        let records = vec![Record::Reserve { uids: 1 }, Record::Reserve { uids: 2 }];
        let batch = Batch { epoch: Epoch(1), seq: Seq(0), previous: None, write_id: "w".into(), records };
        let text = String::from_utf8(batch.encode()).unwrap();
        let body: Vec<&str> = text.lines().take(3).collect();
        for (uids, said) in [("1", "line 2"), ("2", "line 3")] {
            let damaged = body.join("\n").replace(&format!("\"uids\":{uids}"), "\"uids\":-1") + "\n";
            let refused = Batch::decode(&seal(damaged.into_bytes())).unwrap_err().to_string();
            assert!(refused.contains(said), "{refused}");
        }
    }
}
