//! `head`: the one small object that says which snapshot and which journal are the truth.

use serde::{Deserialize, Serialize};
use stead_model::{Digest, Epoch, RunId, RunResult, StackId};

use crate::FORMAT;
use crate::codec::{FormatError, damaged, line, lines, parse, seal, sealed_lines};

const WHAT: &str = "head";

/// Who has the stack open, for people and for telling whether that process still lives.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Owner {
    pub user: String,
    pub host: String,
    pub pid: u32,
    pub since: String,
    pub run: RunId,
    /// A file that the owner keeps locked while it lives.
    pub claim: String,
}

/// Why there is no stack although there is a head. The head stays: it keeps old writers out for ever.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "why")]
pub enum Absent {
    Removed,
    /// Its resources are in another environment since that epoch.
    Renamed {
        to: String,
        at: Epoch,
    },
    /// It becomes a stack in the moment in which the other one is `Renamed` to it at that epoch.
    Arriving {
        from: String,
        at: Epoch,
    },
}

/// Changed only by compare-and-swap.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Head {
    pub stack: StackId,
    pub epoch: Epoch,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner: Option<Owner>,
    /// `None`: nothing was ever applied.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub snapshot: Option<Digest>,
    /// The first epoch whose journal is not folded into the snapshot. Older journals mean nothing.
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
            // The format was looked at with the lines.
            [body] => match parse::<Head>(WHAT, 1, body)? {
                head if head.epoch.0.max(head.base.0) > u64::MAX / 2 => {
                    Err(damaged(WHAT, 1, "it counts further than any stack gets"))
                }
                head => Ok(head),
            },
            lines => Err(damaged(WHAT, lines.len(), "it has more than one line")),
        }
    }
}

/// What the history keeps of a run.
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
    fn a_head_counts_no_further_than_any_stack_gets() {
        let end = Epoch(u64::MAX / 2);
        let (epoch, base) = (Head { epoch: end, ..head() }, Head { base: end, ..head() });
        assert!(Head::decode(&epoch.encode()).is_ok() && Head::decode(&base.encode()).is_ok());
        let (epoch, base) = (Head { epoch: end.next(), ..head() }, Head { base: end.next(), ..head() });
        for beyond in [epoch, base] {
            let refused = Head::decode(&beyond.encode()).unwrap_err().to_string();
            assert_eq!(refused, "head is damaged at line 1: it counts further than any stack gets");
        }
    }

    #[test]
    fn what_ran_round_trips_as_one_line() {
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
    fn every_changed_bit_and_every_truncation_of_head_is_seen() {
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
    fn a_newer_format_is_refused_as_such() {
        let newer = b"{\"format\":99,\"things\":1}\n\"x\"\n";
        assert_eq!(Head::decode(newer), Err(FormatError::Newer { what: WHAT, found: 99 }));
    }
}
