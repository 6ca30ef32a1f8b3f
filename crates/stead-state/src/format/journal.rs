//! Journal records: the intent and the outcome of each operation, and changes of the state itself.
//!
//! A batch is one append. It names its predecessor by digest and carries a unique write id, by which a writer that lost
//! the store's answer recognises its own batch.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use stead_model::{
    CopyRef, Digest, Epoch, Keyring, Map, OpId, Operation, OperationToken, PhysicalId, ProviderData,
    ProviderPlaces, Resource, Seq,
};

use super::codec::{FormatError, Lines, append, damaged, line, parse, seal, sealed_lines};
use super::{v1, v2};
use crate::{Arrival, Departure, FORMAT, RetainReason};

const WHAT: &str = "journal";

/// What remains of a copy's record after the provider deleted the resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AfterDelete {
    /// The record is removed.
    Gone,
    /// The record stays and keeps the name, because the replacement is created next.
    Replacing,
}

/// An operation that a run is about to send to a provider: the whole request, so that it can be repeated.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "operation", deny_unknown_fields)]
pub enum Intent {
    /// `resource` is the record after the operation, without the id and the outputs.
    Create {
        key: String,
        resource: Box<Resource>,
    },
    /// `resource` is the record after the operation, with the outputs from before it.
    Update {
        key: String,
        resource: Box<Resource>,
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

    /// Returns the idempotency key: equal for all attempts at one operation, different for any two operations.
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

/// How an operation ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Outcome {
    Created {
        id: PhysicalId,
        outputs: Map,
        #[serde(default, rename = "providerData", skip_serializing_if = "Option::is_none")]
        provider_data: Option<Arc<ProviderData>>,
    },
    Updated {
        outputs: Map,
        /// New data of the provider; `None` keeps the recorded data.
        #[serde(default, rename = "providerData", skip_serializing_if = "Option::is_none")]
        provider_data: Option<Arc<ProviderData>>,
    },
    Deleted,
    /// The operation had no effect.
    Failed {
        message: String,
    },
    /// It is unknown whether the operation happened. It stays pending.
    InDoubt {
        message: String,
    },
}

impl Outcome {
    /// Returns the outcome of a create without data of the provider.
    pub fn created(id: PhysicalId, outputs: Map) -> Outcome {
        Outcome::Created { id, outputs, provider_data: None }
    }

    /// Returns the outcome of an update that keeps the recorded data of the provider.
    pub fn updated(outputs: Map) -> Outcome {
        Outcome::Updated { outputs, provider_data: None }
    }
}

/// An operation that has begun and whose outcome is not recorded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pending {
    pub op: OpId,
    pub intent: Intent,
    /// Why the operation is in doubt; `None` while its run is still executing it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub doubt: Option<String>,
    /// Beginning of the first attempt, in seconds since 1970; formats up to 4 have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<u64>,
    /// Newest name of the operation at its service, or of its processes; `None` if none was told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token: Option<OperationToken>,
}

impl Pending {
    /// Returns an operation that has just begun.
    pub fn new(op: OpId, intent: Intent) -> Pending {
        Pending { op, intent, doubt: None, at: None, token: None }
    }
}

/// A user's answer to an operation in doubt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Settlement {
    /// The operation happened; for a create, `id` is the id of the created resource.
    Happened {
        id: Option<PhysicalId>,
        outputs: Map,
    },
    DidNotHappen,
}

/// One entry of the journal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "record", deny_unknown_fields)]
pub enum Record {
    /// Sets the number of allocated uids. A plan reserves its uids whether or not all its steps run.
    Reserve {
        uids: u64,
    },
    Begin {
        op: OpId,
        intent: Intent,
        /// Time of the record, in seconds since 1970; formats up to 4 have none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        at: Option<u64>,
    },
    /// Records the name of a pending operation at its service, or of its processes. It holds no value of a resource, so that it
    /// needs no encryption.
    Progress {
        op: OpId,
        token: OperationToken,
    },
    /// Retries a pending operation of an earlier run with its original key.
    Resume {
        op: OpId,
    },
    End {
        op: OpId,
        outcome: Outcome,
    },
    Settle {
        op: OpId,
        #[serde(rename = "answer")]
        settlement: Settlement,
    },
    /// Changes the record of a copy without a provider call: dependencies, marks, source position.
    #[serde(rename = "note")]
    Amend {
        resource: Box<Resource>,
    },
    /// Records a resource that already exists, without a provider call.
    Adopt {
        resource: Box<Resource>,
    },
    /// Records the result of a provider read: changed properties, or, if both are `None`, that the resource is gone.
    Observed {
        copy: CopyRef,
        inputs: Option<Map>,
        outputs: Option<Map>,
        /// New data of the provider; `None` keeps the recorded data.
        #[serde(default, rename = "providerData", skip_serializing_if = "Option::is_none")]
        provider_data: Option<Arc<ProviderData>>,
    },
    /// Removes the record of a copy without a provider call.
    Forget {
        copy: CopyRef,
        /// Why the real resource stays; it is then listed as retained.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        kept: Option<Box<RetainReason>>,
    },
    /// Begins a transfer of resources to another stack.
    Depart {
        departure: Departure,
    },
    /// Records the resources of a transfer in the target stack.
    Arrive {
        arrival: Arrival,
        resources: Vec<Resource>,
    },
    /// Removes the transferred resources from the source stack, because they have arrived.
    Departed {
        transfer: String,
    },
    /// Cancels a transfer in the source stack, because it can no longer arrive.
    Stayed {
        transfer: String,
    },
    /// Removes the arrival mark from the target stack, because the source has recorded the end of the transfer.
    Acknowledge {
        transfer: String,
    },
    /// Sets the outputs of the stack.
    Outputs {
        outputs: Map,
    },
    /// Records the paths in the pinfile after a successful run.
    Pinfile {
        paths: BTreeSet<String>,
    },
    /// Sets the wrapped data keys of the stack. Comes before the first record that is sealed with a new key.
    Keys {
        keyring: Keyring,
    },
    /// Sets the places of the default providers. Comes before the first operation there.
    Places {
        places: ProviderPlaces,
    },
    /// Ends the epoch: its writer cannot append any more.
    Seal {
        by: Epoch,
    },
}

impl Record {
    /// Returns the beginning of an operation, without a time.
    pub fn begin(op: OpId, intent: Intent) -> Record {
        Record::Begin { op, intent, at: None }
    }

    /// Returns the record of changed properties, without new data of the provider.
    pub fn observed(copy: CopyRef, inputs: Option<Map>, outputs: Option<Map>) -> Record {
        Record::Observed { copy, inputs, outputs, provider_data: None }
    }
}

/// The records of one append.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Batch {
    pub epoch: Epoch,
    pub seq: Seq,
    /// The digest of the previous batch; `None` for the first batch of an epoch.
    pub previous: Option<Digest>,
    pub write_id: String,
    pub records: Vec<Record>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
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
        let Lines { format, lines, .. } = sealed_lines(WHAT, bytes)?;
        let header: Header = parse(WHAT, 1, lines[0])?;
        if header.records != lines.len() - 1 {
            return Err(damaged(WHAT, lines.len(), "records are missing"));
        }
        let records = lines[1..]
            .iter()
            .enumerate()
            .map(|(index, record)| match format {
                1 => v2::parse(WHAT, index + 2, record, v2::Line::Record, v1::record),
                2 => v2::parse(WHAT, index + 2, record, v2::Line::Record, |fields| fields),
                _ => parse(WHAT, index + 2, record),
            })
            .collect::<Result<Vec<Record>, _>>()?;
        let Header { epoch, seq, previous, write_id, .. } = header;
        Ok(Batch { epoch, seq, previous, write_id, records })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unreadable_record_is_reported_with_its_line() {
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
