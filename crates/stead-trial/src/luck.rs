//! What can go wrong between a process and a provider or a store, by count: the n-th call goes so.

use serde::{Deserialize, Serialize};
use stead_model::{Map, Value};

/// How the n-th call that changes something goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CloudFault {
    pub at: u32,
    pub luck: Luck,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Luck {
    Lucky,
    /// Refused, with no effect.
    Refused,
    /// Refused for the moment.
    Busy,
    /// No effect, and nobody can tell.
    LostBefore,
    /// It took effect, and nobody can tell.
    LostAfter,
    /// Half of it took effect.
    Partly,
    /// No answer ever, and no effect.
    HangsBefore,
    /// No answer ever; it took effect.
    HangsAfter,
    /// It took effect, and the answer is not true.
    Lies(Lie),
}

pub(crate) const LUCK: [Luck; 14] = [
    Luck::Refused,
    Luck::Busy,
    Luck::LostBefore,
    Luck::LostAfter,
    Luck::LostAfter,
    Luck::Partly,
    Luck::HangsBefore,
    Luck::HangsAfter,
    Luck::Lies(Lie::WrongType),
    Luck::Lies(Lie::Missing),
    Luck::Lies(Lie::Strange),
    Luck::Lies(Lie::Huge),
    Luck::Lies(Lie::OtherId),
    Luck::Lies(Lie::NoId),
];

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Lie {
    /// Values of other types than the schema says, and other ids where there is one.
    WrongType,
    /// What is known only after apply is not known then either.
    Missing,
    /// Control characters, quotes, what looks like a line's end.
    Strange,
    Huge,
    /// What was made is said to be something that is there already.
    OtherId,
    /// What was made is said to have no id.
    NoId,
}

impl Lie {
    pub(crate) fn tell(self, mut outputs: Map) -> Map {
        match self {
            Lie::WrongType => {
                let nested: Map = [("a".to_owned(), Value::List(vec![Value::Null]))].into();
                outputs.insert("serial".to_owned(), Value::Map(nested));
                outputs.insert("etag".to_owned(), Value::from(7));
                outputs.insert("key".to_owned(), Value::from("somebody else's"));
            }
            Lie::Missing => outputs.clear(),
            Lie::Strange => {
                outputs.insert(
                    "etag".to_owned(),
                    Value::from("\u{0}\u{1b}[2J\n{\"record\":\"seal\"}\r\u{2028}\""),
                );
            }
            Lie::Huge => {
                outputs.insert("etag".to_owned(), Value::from("x".repeat(20_000)));
            }
            Lie::OtherId | Lie::NoId => {}
        }
        outputs
    }
}

/// How the n-th operation on a store goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoreFault {
    pub at: u32,
    pub luck: StoreLuck,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum StoreLuck {
    /// It fails, with no effect.
    Fails,
    /// It takes effect, and the answer is lost.
    AnswerLost,
    /// It takes a while.
    Late,
    /// It fails, and takes effect a while later all the same.
    EffectLate,
    /// It arrives twice, and the second answer is the one that counts.
    Doubled,
    /// Nothing works from here on.
    Down,
}

pub(crate) const STORE_LUCK: [StoreLuck; 6] = [
    StoreLuck::Fails,
    StoreLuck::AnswerLost,
    StoreLuck::Late,
    StoreLuck::EffectLate,
    StoreLuck::Doubled,
    StoreLuck::Down,
];
