//! `head`: the small object that names the current snapshot and journal of a stack.

use serde::{Deserialize, Serialize};
use stead_model::{Digest, Epoch, RunId, RunResult, StackId};

use super::codec::{FormatError, damaged, line, lines, parse, seal, sealed_lines};
use super::v1;
use crate::FORMAT;

const WHAT: &str = "head";

/// The process that holds the lock of a stack.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Owner {
    pub user: String,
    pub host: String,
    pub pid: u32,
    pub since: String,
    pub run: RunId,
    /// The path of a file that the owner keeps locked while its process runs.
    pub claim: String,
    /// The command of the run, for the history of a run that is killed; `None` in format 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<Command>,
}

/// The command of a run, and its limits and settings, for the history.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Command {
    /// `up`, `destroy`, …
    pub name: String,
    /// The patterns that limit the run to some resources; empty: all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub targets: Vec<String>,
    /// Settings of the run that differ from their defaults, by name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub options: Vec<String>,
}

impl Command {
    /// Returns a command without limits and settings.
    pub fn new(name: &str) -> Command {
        Command { name: name.to_owned(), ..Command::default() }
    }
}

impl From<&str> for Command {
    fn from(name: &str) -> Command {
        Command::new(name)
    }
}

/// How a run ended, for the history.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunEnd {
    Succeeded,
    Failed,
    InDoubt,
    Interrupted,
    /// The process of the run was killed, or its lock was taken. The next run wrote this record.
    Killed,
}

impl From<RunResult> for RunEnd {
    fn from(result: RunResult) -> RunEnd {
        match result {
            RunResult::Succeeded => RunEnd::Succeeded,
            RunResult::Failed => RunEnd::Failed,
            RunResult::InDoubt => RunEnd::InDoubt,
            RunResult::Interrupted => RunEnd::Interrupted,
        }
    }
}

/// Why a head exists without a stack. The head is never deleted, so that earlier writers stay fenced.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
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
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Head {
    pub stack: StackId,
    pub epoch: Epoch,
    pub owner: Option<Owner>,
    /// `None` if no run has completed yet.
    pub snapshot: Option<Digest>,
    /// The first epoch whose journal is not folded into the snapshot. Older journals are ignored.
    pub base: Epoch,
    pub absent: Option<Absent>,
}

/// A head as it is stored.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Framed {
    format: u32,
    stack: StackId,
    epoch: Epoch,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    owner: Option<Owner>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    snapshot: Option<Digest>,
    base: Epoch,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    absent: Option<Absent>,
}

impl Head {
    pub fn encode(&self) -> Vec<u8> {
        let Head { stack, epoch, owner, snapshot, base, absent } = self.clone();
        seal(line(&Framed { format: FORMAT, stack, epoch, owner, snapshot, base, absent }))
    }

    pub fn decode(bytes: &[u8]) -> Result<Head, FormatError> {
        let lines = sealed_lines(WHAT, bytes)?;
        let body = lines.only()?;
        let framed = match lines.format {
            1 => v1::parse(WHAT, 1, body, v1::head)?,
            _ => parse(WHAT, 1, body)?,
        };
        let Framed { stack, epoch, owner, snapshot, base, absent, .. } = framed;
        if epoch.0.max(base.0) > u64::MAX / 2 {
            return Err(damaged(WHAT, 1, "a counter is out of range"));
        }
        Ok(Head { stack, epoch, owner, snapshot, base, absent })
    }
}

/// The history entry of one run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunRecord {
    pub format: u32,
    pub run: RunId,
    /// The command: `up`, `destroy`, …
    pub command: String,
    /// The patterns that limited the run to some resources; empty: all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub targets: Vec<String>,
    /// Settings of the run that differ from their defaults, by name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub options: Vec<String>,
    pub user: String,
    pub host: String,
    pub started: String,
    pub ended: String,
    pub result: RunEnd,
    /// The snapshot that the run started from; `None` if the stack was empty, or in format 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base: Option<Digest>,
    pub snapshot: Digest,
}

impl RunRecord {
    pub fn encode(&self) -> Vec<u8> {
        line(self)
    }

    pub fn decode(bytes: &[u8]) -> Result<RunRecord, FormatError> {
        let lines = lines("history", bytes)?;
        parse("history", 1, lines.only()?)
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
            command: Some(Command::new("up")),
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
            targets: vec!["*".into()],
            options: Vec::new(),
            user: "ada".into(),
            host: "h".into(),
            started: "2026-01-01T00:00:00Z".into(),
            ended: "2026-01-01T00:00:01Z".into(),
            result: RunEnd::Succeeded,
            base: None,
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
