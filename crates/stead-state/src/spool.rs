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
    use crate::rules::tests::resource;
    use crate::{Intent, Snapshot};

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
    /// A state in which operation 7 waits for its answer, and the answer to it, of epoch 2.
    fn waiting() -> (State, Spooled) {
        let mut state = State::from(Snapshot { uids: 1, ..Snapshot::empty(StackId("s".into())) });
        let intent = Intent::Create { key: "k".into(), resource: Box::new(resource("a", 1)) };
        state.apply(&Record::Begin { op: OpId(7), intent }).unwrap();
        let outcome = Outcome::Created { id: PhysicalId("i".into()), outputs: Map::new() };
        let (stack, key) = (StackId("s".into()), "k".into());
        (state, Spooled { stack, epoch: Epoch(2), op: OpId(7), key, outcome, inputs: None })
    }

    #[test]
    fn an_answer_belongs_to_its_operation_until_that_has_ended_and_to_nothing_else() {
        let (mut state, mine) = waiting();
        assert_eq!(mine.belongs(&state, Epoch(1)), Belongs::Never, "its run is still to come");
        assert_eq!(mine.belongs(&state, Epoch(2)), Belongs::Yes);
        assert_eq!(mine.belongs(&state, Epoch(3)), Belongs::Yes);
        let others = [
            Spooled { stack: StackId("another".into()), ..mine.clone() },
            Spooled { key: "another".into(), ..mine.clone() },
            Spooled { op: OpId(8), ..mine.clone() },
        ];
        for other in &others {
            assert_eq!(other.belongs(&state, Epoch(3)), Belongs::Never, "{other:?}");
        }
        let earlier = Spooled { op: OpId(6), ..mine.clone() };
        assert_eq!(earlier.belongs(&state, Epoch(3)), Belongs::NoLonger);
        mine.records(&state).iter().for_each(|record| state.apply(record).unwrap());
        assert_eq!(mine.belongs(&state, Epoch(3)), Belongs::NoLonger);
        assert_eq!(others[0].belongs(&state, Epoch(3)), Belongs::Never);
    }

    #[test]
    fn what_was_done_in_part_becomes_two_records() {
        let (mut state, whole) = waiting();
        let end = Record::End { op: OpId(7), outcome: whole.outcome.clone() };
        assert_eq!(whole.records(&state), std::slice::from_ref(&end));
        let inputs: Map = [("size".to_owned(), 3.into())].into();
        let part = Spooled { inputs: Some(inputs.clone()), ..whole };
        let copy = resource("a", 1).copy();
        let seen = Record::Observed { copy: copy.clone(), inputs: Some(inputs.clone()), outputs: None };
        assert_eq!(part.records(&state), [end, seen]);
        part.records(&state).iter().for_each(|record| state.apply(record).unwrap());
        assert_eq!(state.copy(&copy).unwrap().inputs, inputs);
    }
}
