//! A spooled answer: a provider's answer that could not be written to the journal, stored beside it until the next run
//! records it.

use serde::{Deserialize, Serialize};
use stead_model::{Epoch, Map, OpId, StackId};

use super::codec::{FormatError, line, parse, seal, sealed_lines};
use super::v1;
use crate::{FORMAT, Head, Outcome, Record, State};

const WHAT: &str = "spooled answer";

/// A provider's answer, with the identity of the operation that it answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spooled {
    pub stack: StackId,
    /// The epoch of the run that could not record the answer.
    pub epoch: Epoch,
    pub op: OpId,
    /// The idempotency key of the operation.
    pub key: String,
    pub outcome: Outcome,
    /// The actual inputs, if the provider applied the request in part.
    pub inputs: Option<Map>,
}

/// How a spooled answer relates to a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpoolStatus {
    /// The operation is pending: the answer can be recorded.
    Applicable,
    /// The operation has ended since, or a later run may have repeated it: the answer proves nothing any more.
    Superseded,
    /// The answer belongs to another stack, another operation or a later epoch.
    Foreign,
}

/// A spooled answer as it is stored.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Framed {
    format: u32,
    stack: StackId,
    epoch: Epoch,
    op: OpId,
    key: String,
    outcome: Outcome,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    inputs: Option<Map>,
}

impl Spooled {
    pub fn encode(&self) -> Vec<u8> {
        let Spooled { stack, epoch, op, key, outcome, inputs } = self.clone();
        seal(line(&Framed { format: FORMAT, stack, epoch, op, key, outcome, inputs }))
    }

    pub fn decode(bytes: &[u8]) -> Result<Spooled, FormatError> {
        let lines = sealed_lines(WHAT, bytes)?;
        let framed = match lines.format {
            1 => v1::parse(WHAT, 1, lines.only()?, v1::spooled)?,
            _ => parse(WHAT, 1, lines.only()?)?,
        };
        let Framed { stack, epoch, op, key, outcome, inputs, .. } = framed;
        Ok(Spooled { stack, epoch, op, key, outcome, inputs })
    }

    /// Returns the journal records for the answer, in a state where its operation is pending.
    pub fn records(&self, state: &State) -> Vec<Record> {
        let mut records = vec![Record::End { op: self.op, outcome: self.outcome.clone() }];
        if let (Some(inputs), Some(pending)) = (&self.inputs, state.operation(self.op)) {
            let (copy, inputs) = (pending.intent.copy(), Some(inputs.clone()));
            records.push(Record::observed(copy, inputs, None));
        }
        records
    }

    /// Returns how the answer relates to `state`, whose head is `head`.
    pub fn status(&self, state: &State, head: &Head) -> SpoolStatus {
        if self.stack != *state.stack() || self.epoch > head.epoch || self.op >= state.next_op() {
            return SpoolStatus::Foreign;
        }
        match state.operation(self.op) {
            Some(pending) if pending.intent.key() != self.key => SpoolStatus::Foreign,
            Some(_) if self.is_proof() || self.is_of_last_attempt(head) => SpoolStatus::Applicable,
            Some(_) | None => SpoolStatus::Superseded,
        }
    }

    /// Returns true if no other attempt can change the answer: the operation happened completely, or it created a resource,
    /// whose id no other answer may tell again.
    ///
    /// A later attempt at a create that happened in part may have completed the inputs since. The next plan sends the missing part, and
    /// does no harm if it is there already; the inputs of the request would hide that it is missing.
    fn is_proof(&self) -> bool {
        match self.outcome {
            Outcome::Created { .. } => true,
            Outcome::Failed { .. } => false,
            _ => self.inputs.is_none(),
        }
    }

    /// Returns true if no later run can have repeated the operation: there is none, or it has not stored its first snapshot, which
    /// contains the journal of this one.
    ///
    /// A run that was suspended while another one took over fails its calls, because they start too late. The other run may have
    /// repeated them by then.
    fn is_of_last_attempt(&self, head: &Head) -> bool {
        self.epoch == head.epoch || head.base <= self.epoch
    }
}

#[cfg(test)]
mod tests {
    use stead_model::PhysicalId;

    use super::*;
    use crate::rules::tests::resource;
    use crate::{Intent, Snapshot};

    #[test]
    fn every_changed_bit_and_every_truncation_of_a_spooled_answer_is_detected() {
        let outcome = Outcome::created(PhysicalId("i".into()), Map::new());
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

    /// Returns a state in which operation 7 is pending, and its answer of epoch 2.
    fn waiting() -> (State, Spooled) {
        let mut state = State::from(Snapshot { uids: 1, ..Snapshot::empty(StackId("s".into())) });
        let intent = Intent::Create { key: "k".into(), resource: Box::new(resource("a", 1)) };
        state.apply(&Record::begin(OpId(7), intent)).unwrap();
        let outcome = Outcome::created(PhysicalId("i".into()), Map::new());
        let (stack, key) = (StackId("s".into()), "k".into());
        (state, Spooled { stack, epoch: Epoch(2), op: OpId(7), key, outcome, inputs: None })
    }

    fn head(epoch: u64, base: u64) -> Head {
        let stack = StackId("s".into());
        Head { stack, epoch: Epoch(epoch), owner: None, snapshot: None, base: Epoch(base), absent: None }
    }

    #[test]
    fn failure_applies_only_if_no_later_run_can_have_repeated_the_operation() {
        let (state, whole) = waiting();
        let failed = Outcome::Failed { message: "the call did not start in time".into() };
        let partial =
            Spooled { outcome: Outcome::updated(Map::new()), inputs: Some(Map::new()), ..whole.clone() };
        for answer in [Spooled { outcome: failed, ..whole.clone() }, partial] {
            for (epoch, base) in [(2, 2), (2, 3), (3, 1), (3, 2)] {
                let status = answer.status(&state, &head(epoch, base));
                assert_eq!(status, SpoolStatus::Applicable, "{epoch} {base}");
            }
            for (epoch, base) in [(3, 3), (3, 4), (4, 3)] {
                let status = answer.status(&state, &head(epoch, base));
                assert_eq!(status, SpoolStatus::Superseded, "{epoch} {base}");
                assert_eq!(whole.status(&state, &head(epoch, base)), SpoolStatus::Applicable);
            }
        }
    }

    #[test]
    fn create_in_part_applies_with_its_id_and_inputs_after_a_later_attempt() {
        let (mut state, whole) = waiting();
        let inputs: Map = [("size".to_owned(), 3.into())].into();
        let part = Spooled { inputs: Some(inputs.clone()), ..whole };
        for (epoch, base) in [(2, 2), (3, 3), (4, 3)] {
            assert_eq!(part.status(&state, &head(epoch, base)), SpoolStatus::Applicable, "{epoch} {base}");
        }
        part.records(&state).iter().for_each(|record| state.apply(record).unwrap());
        let copy = state.copy(&resource("a", 1).copy()).unwrap();
        assert_eq!((&copy.id, &copy.inputs), (&Some(PhysicalId("i".into())), &inputs));
        assert_eq!(part.status(&state, &head(4, 3)), SpoolStatus::Superseded);
    }

    #[test]
    fn answer_applies_to_its_pending_operation_only() {
        let (mut state, mine) = waiting();
        assert_eq!(mine.status(&state, &head(1, 1)), SpoolStatus::Foreign, "its epoch is later");
        assert_eq!(mine.status(&state, &head(2, 2)), SpoolStatus::Applicable);
        assert_eq!(mine.status(&state, &head(3, 3)), SpoolStatus::Applicable);
        let others = [
            Spooled { stack: StackId("another".into()), ..mine.clone() },
            Spooled { key: "another".into(), ..mine.clone() },
            Spooled { op: OpId(8), ..mine.clone() },
        ];
        for other in &others {
            assert_eq!(other.status(&state, &head(3, 3)), SpoolStatus::Foreign, "{other:?}");
        }
        let earlier = Spooled { op: OpId(6), ..mine.clone() };
        assert_eq!(earlier.status(&state, &head(3, 3)), SpoolStatus::Superseded);
        mine.records(&state).iter().for_each(|record| state.apply(record).unwrap());
        assert_eq!(mine.status(&state, &head(3, 3)), SpoolStatus::Superseded);
        assert_eq!(others[0].status(&state, &head(3, 3)), SpoolStatus::Foreign);
    }

    #[test]
    fn partial_answer_becomes_two_records() {
        let (mut state, whole) = waiting();
        let end = Record::End { op: OpId(7), outcome: whole.outcome.clone() };
        assert_eq!(whole.records(&state), std::slice::from_ref(&end));
        let inputs: Map = [("size".to_owned(), 3.into())].into();
        let part = Spooled { inputs: Some(inputs.clone()), ..whole };
        let copy = resource("a", 1).copy();
        let seen = Record::observed(copy.clone(), Some(inputs.clone()), None);
        assert_eq!(part.records(&state), [end, seen]);
        part.records(&state).iter().for_each(|record| state.apply(record).unwrap());
        assert_eq!(state.copy(&copy).unwrap().inputs, inputs);
    }
}
