//! `head`: the small object that names the current snapshot and journal of a stack.

use serde::{Deserialize, Serialize};
use stead_model::{Digest, Epoch, RunId, RunResult, StackId};

use super::codec::{FormatError, damaged, line, lines, parse, seal, sealed_lines};
use crate::FORMAT;

const WHAT: &str = "head";

/// The process that holds the lock of a stack.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Owner {
    pub user: String,
    pub host: String,
    pub pid: u32,
    pub since: String,
    pub run: RunId,
    /// The path of a file that the owner keeps locked while its process runs.
    pub claim: String,
}

/// Why a head exists without a stack. The head is never deleted, so that earlier writers stay fenced.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "why")]
pub enum Absent {
    Removed,
    /// The stack was renamed to environment `to` at epoch `at`.
    Renamed {
        to: String,
        at: Epoch,
    },
    /// A rename from environment `from` is in progress. This head becomes a stack as soon as the head of `from` is
    /// `Renamed` to this one at epoch `at`.
    Arriving {
        from: String,
        at: Epoch,
    },
}

/// The current snapshot and journal of a stack. It changes by compare-and-swap only.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Head {
    pub stack: StackId,
    pub epoch: Epoch,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner: Option<Owner>,
    /// `None` if no run has completed yet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub snapshot: Option<Digest>,
    /// The first epoch whose journal is not folded into the snapshot. Older journals are ignored.
    pub base: Epoch,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub absent: Option<Absent>,
}

#[derive(Serialize)]
struct Framed<'a> {
    format: u32,
    #[serde(flatten)]
    head: &'a Head,
}

impl Head {
    pub fn encode(&self) -> Vec<u8> {
        seal(line(&Framed { format: FORMAT, head: self }))
    }

    pub fn decode(bytes: &[u8]) -> Result<Head, FormatError> {
        match sealed_lines(WHAT, bytes)?.as_slice() {
            [body] => match parse::<Head>(WHAT, 1, body)? {
                head if head.epoch.0.max(head.base.0) > u64::MAX / 2 => {
                    Err(damaged(WHAT, 1, "a counter is out of range"))
                }
                head => Ok(head),
            },
            lines => Err(damaged(WHAT, lines.len(), "it has more than one line")),
        }
    }
}

/// The history entry of one run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunRecord {
    pub format: u32,
    pub run: RunId,
    /// The command: `up`, `destroy`, …
    pub command: String,
    pub user: String,
    pub host: String,
    pub started: String,
    pub ended: String,
    pub result: RunResult,
    pub snapshot: Digest,
}

impl RunRecord {
    pub fn encode(&self) -> Vec<u8> {
        line(self)
    }

    pub fn decode(bytes: &[u8]) -> Result<RunRecord, FormatError> {
        match lines("history", bytes)?.as_slice() {
            [record] => parse("history", 1, record),
            lines => Err(damaged("history", lines.len(), "it has more than one line")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head() -> Head {
        let owner = Owner {
            user: "ada".into(),
            host: "h".into(),
            pid: 7,
            since: "2026-01-01T00:00:00Z".into(),
            run: RunId("run-3".into()),
            claim: "/p/claim".into(),
        };
        Head {
            stack: StackId("u".into()),
            epoch: Epoch(3),
            owner: Some(owner),
            snapshot: Some(Digest::of(b"")),
            base: Epoch(2),
            absent: None,
        }
    }

    #[test]
    fn head_round_trips() {
        assert_eq!(Head::decode(&head().encode()).unwrap(), head());
    }

    #[test]
    fn head_with_an_out_of_range_counter_is_refused() {
        let max = Epoch(u64::MAX / 2);
        let (epoch, base) = (Head { epoch: max, ..head() }, Head { base: max, ..head() });
        assert!(Head::decode(&epoch.encode()).is_ok() && Head::decode(&base.encode()).is_ok());
        let (epoch, base) = (Head { epoch: max.next(), ..head() }, Head { base: max.next(), ..head() });
        for beyond in [epoch, base] {
            let refused = Head::decode(&beyond.encode()).unwrap_err().to_string();
            assert_eq!(refused, "head is damaged at line 1: a counter is out of range");
        }
    }

    #[test]
    fn run_record_round_trips_as_one_line() {
        let record = RunRecord {
            format: FORMAT,
            run: RunId("run-3".into()),
            command: "up".into(),
            user: "ada".into(),
            host: "h".into(),
            started: "2026-01-01T00:00:00Z".into(),
            ended: "2026-01-01T00:00:01Z".into(),
            result: RunResult::Succeeded,
            snapshot: Digest::of(b""),
        };
        let bytes = record.encode();
        assert_eq!(RunRecord::decode(&bytes).unwrap(), record);
        let refused = RunRecord::decode(&[bytes.clone(), bytes].concat()).unwrap_err().to_string();
        assert_eq!(refused, "history is damaged at line 2: it has more than one line");
    }

    #[test]
    fn every_changed_bit_and_every_truncation_of_head_is_detected() {
        let bytes = head().encode();
        for at in 0..bytes.len() {
            for bit in 0..8 {
                let mut changed = bytes.clone();
                changed[at] ^= 1 << bit;
                assert!(Head::decode(&changed).is_err(), "bit {bit} of byte {at}");
            }
            assert!(Head::decode(&bytes[..at]).is_err(), "cut at {at}");
        }
    }

    #[test]
    fn newer_format_is_refused_as_newer() {
        let newer = b"{\"format\":99,\"things\":1}\n\"x\"\n";
        assert_eq!(Head::decode(newer), Err(FormatError::Newer { what: WHAT, found: 99 }));
    }
}
