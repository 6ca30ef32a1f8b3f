//! Faults of provider calls and store operations: the n-th call behaves in a given way.

use serde::{Deserialize, Serialize};
use stead_model::{Map, Value};

/// Fault of the n-th mutating provider call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CloudFault {
    pub at: u32,
    #[serde(rename = "luck")]
    pub behaviour: CloudBehaviour,
}

/// Behaviour of a mutating provider call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum CloudBehaviour {
    #[serde(rename = "Lucky")]
    Succeeds,
    /// Refused for good, without an effect.
    Refused,
    /// Refused for the moment, without an effect.
    Busy,
    /// No effect, and the answer is lost.
    LostBefore,
    /// The call takes effect, and the answer is lost.
    LostAfter,
    /// Half of the change takes effect.
    Partly,
    /// No effect, and no answer ever.
    HangsBefore,
    /// The call takes effect, and never answers.
    HangsAfter,
    /// The call takes effect, and the answer is wrong.
    Lies(WrongAnswer),
}

pub(crate) const CLOUD_BEHAVIOURS: [CloudBehaviour; 14] = [
    CloudBehaviour::Refused,
    CloudBehaviour::Busy,
    CloudBehaviour::LostBefore,
    CloudBehaviour::LostAfter,
    CloudBehaviour::LostAfter,
    CloudBehaviour::Partly,
    CloudBehaviour::HangsBefore,
    CloudBehaviour::HangsAfter,
    CloudBehaviour::Lies(WrongAnswer::WrongType),
    CloudBehaviour::Lies(WrongAnswer::Missing),
    CloudBehaviour::Lies(WrongAnswer::Strange),
    CloudBehaviour::Lies(WrongAnswer::Huge),
    CloudBehaviour::Lies(WrongAnswer::OtherId),
    CloudBehaviour::Lies(WrongAnswer::NoId),
];

/// Kind of a wrong answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum WrongAnswer {
    /// Output values of types other than the schema's, and another id in the outputs.
    WrongType,
    /// Outputs that should be known after apply are missing.
    Missing,
    /// Control characters, quotes, and text that looks like a new line of the journal.
    Strange,
    Huge,
    /// The created object is reported with the id of another, existing object.
    OtherId,
    /// The created object is reported without an id.
    NoId,
}

impl WrongAnswer {
    pub(crate) fn tell(self, mut outputs: Map) -> Map {
        match self {
            WrongAnswer::WrongType => {
                let nested: Map = [("a".to_owned(), Value::from(vec![Value::Null]))].into();
                outputs.insert("serial".to_owned(), Value::Map(nested));
                outputs.insert("etag".to_owned(), Value::from(7));
                outputs.insert("key".to_owned(), Value::from("another key"));
            }
            WrongAnswer::Missing => outputs.clear(),
            WrongAnswer::Strange => {
                outputs.insert(
                    "etag".to_owned(),
                    Value::from("\u{0}\u{1b}[2J\n{\"record\":\"seal\"}\r\u{2028}\""),
                );
            }
            WrongAnswer::Huge => {
                outputs.insert("etag".to_owned(), Value::from("x".repeat(20_000)));
            }
            WrongAnswer::OtherId | WrongAnswer::NoId => {}
        }
        outputs
    }
}

/// Fault of the n-th store operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoreFault {
    pub at: u32,
    #[serde(rename = "luck")]
    pub behaviour: StoreBehaviour,
}

/// Behaviour of a faulty store operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum StoreBehaviour {
    /// The operation fails without an effect.
    Fails,
    /// The operation takes effect, and the answer is lost.
    AnswerLost,
    /// The operation takes a few seconds.
    Late,
    /// The operation fails, and takes effect a few seconds later.
    EffectLate,
    /// The operation arrives twice, and the second answer is returned.
    Doubled,
    /// This operation and all later ones fail.
    Down,
}

pub(crate) const STORE_BEHAVIOURS: [StoreBehaviour; 6] = [
    StoreBehaviour::Fails,
    StoreBehaviour::AnswerLost,
    StoreBehaviour::Late,
    StoreBehaviour::EffectLate,
    StoreBehaviour::Doubled,
    StoreBehaviour::Down,
];
