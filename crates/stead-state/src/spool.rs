//! A provider's answer that the journal did not take: kept beside it until the next run takes it in.

use serde::{Deserialize, Serialize};
use stead_model::{Epoch, Map, OpId, StackId};

use crate::codec::{FormatError, damaged, line, parse, seal, sealed_lines};
use crate::{FORMAT, Outcome, Record, State};

const WHAT: &str = "spooled answer";

/// What a provider answered, and enough to tell which operation it answers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spooled {
    pub stack: StackId,
    /// The epoch of the run that could not record it.
    pub epoch: Epoch,
    pub op: OpId,
    /// The operation's idempotency key, which no other has.
    pub key: String,
    #[serde(flatten)]
    pub outcome: Outcome,
    /// The inputs as they really are, if not all that was asked for was done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inputs: Option<Map>,
}

/// What a spooled answer is to a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Belongs {
    /// Its operation is waiting for it.
    Yes,
    /// Its operation has ended since: it has nothing to tell any more.
    NoLonger,
    /// It is another stack's, or of a time that is still to come.
    Never,
}

#[derive(Serialize, Deserialize)]
struct Framed {
    format: u32,
    #[serde(flatten)]
    answer: Spooled,
}

impl Spooled {
    pub fn encode(&self) -> Vec<u8> {
        seal(line(&Framed { format: FORMAT, answer: self.clone() }))
    }

    pub fn decode(bytes: &[u8]) -> Result<Spooled, FormatError> {
        match sealed_lines(WHAT, bytes)?.as_slice() {
            [body] => Ok(parse::<Framed>(WHAT, 1, body)?.answer),
            lines => Err(damaged(WHAT, lines.len(), "it has more than one line")),
        }
    }

    /// The records that it should have become, in a state where its operation is pending.
    pub fn records(&self, state: &State) -> Vec<Record> {
        let mut records = vec![Record::End { op: self.op, outcome: self.outcome.clone() }];
        if let (Some(inputs), Some(pending)) = (&self.inputs, state.operation(self.op)) {
            let (copy, inputs) = (pending.intent.copy(), Some(inputs.clone()));
            records.push(Record::Observed { copy, inputs, outputs: None });
        }
        records
    }

    pub fn belongs(&self, state: &State, epoch: Epoch) -> Belongs {
        if self.stack != *state.stack() || self.epoch > epoch || self.op >= state.next_op() {
            return Belongs::Never;
        }
        match state.operation(self.op) {
            Some(pending) if pending.intent.key() == self.key => Belongs::Yes,
            Some(_) => Belongs::Never,
            None => Belongs::NoLonger,
        }
    }
}

#[cfg(test)]
mod tests {
    use stead_model::PhysicalId;

    use super::*;

    #[test]
    fn every_changed_bit_and_every_truncation_of_a_spooled_answer_is_seen() {
        let outcome = Outcome::Created { id: PhysicalId("i".into()), outputs: Map::new() };
        let (stack, key) = (StackId("s".into()), "k".into());
        let inputs = Some([("size".to_owned(), 3.into())].into());
        let spooled = Spooled { stack, epoch: Epoch(2), op: OpId(7), key, outcome, inputs };
        let bytes = spooled.encode();
        assert_eq!(Spooled::decode(&bytes).unwrap(), spooled);
        for at in 0..bytes.len() {
            assert!(Spooled::decode(&bytes[..at]).is_err(), "cut at {at}");
            for bit in 0..8 {
                let mut changed = bytes.clone();
                changed[at] ^= 1 << bit;
                assert!(Spooled::decode(&changed).is_err(), "bit {bit} of byte {at}");
            }
        }
    }
}
