//! `local.RandomString`: random characters that stay the same until an input changes.
//!
//! The value is in state and in plans, in the clear.

use async_trait::async_trait;
use stead_model::{Map, PhysicalId, Resource, Value};
use stead_provider::{Created, Live, Receipt, Refusal, Updated};
use stead_schema::{Access, Problem, Property, Shape, TypeSchema};
use stead_world::Entropy;

use crate::failure::{Attempt, reason};
use crate::given::{Given, count, flag, out_of_range, problem};
use crate::kind::Kind;
use crate::machine::Machine;

const LENGTH: &str = "length";
const LONGEST: i64 = 4096;

/// A property that lets characters in, whether it does so by itself, and the characters.
const CLASSES: [(&str, bool, &str); 4] = [
    ("upper", true, "ABCDEFGHIJKLMNOPQRSTUVWXYZ"),
    ("lower", true, "abcdefghijklmnopqrstuvwxyz"),
    ("numeric", true, "0123456789"),
    ("special", false, "!@#$%&*()-_=+[]{}<>:?"),
];

pub(crate) struct RandomString;

#[async_trait]
impl Kind for RandomString {
    fn schema(&self) -> TypeSchema {
        let length =
            Property::new(LENGTH, Shape::Integer, Access::Required, "How many characters, 1 to 4096.");
        let classes = CLASSES.iter().map(|(name, default, characters)| {
            let doc = format!("Use characters of {characters} ({default} if left out).");
            Property::new(name, Shape::Boolean, Access::Filled, &doc).create_only()
        });
        let keepers = Property::new("keepers", Shape::Any, Access::Optional, "A change of it draws anew.");
        let result = Property::new("result", Shape::String, Access::ReadOnly, "The characters.");
        TypeSchema::new(
            "local.RandomString",
            "Random characters, drawn once. This is not a secret store: the result is kept in state, in the clear.",
            [length.create_only()]
                .into_iter()
                .chain(classes)
                .chain([keepers.create_only(), result.stable()])
                .collect(),
        )
    }

    fn defaults(&self) -> Map {
        CLASSES.iter().map(|(name, default, _)| ((*name).to_owned(), Value::from(*default))).collect()
    }

    fn problems(&self, inputs: Given<'_>) -> Vec<Problem> {
        let off = |name: &str| inputs.get(name).and_then(Value::as_bool) == Some(false);
        let nothing = CLASSES.iter().all(|(name, _, _)| off(name)).then(|| {
            let message = "no characters are left to draw from";
            problem("upper", message, "set one of `upper`, `lower`, `numeric` and `special` to true")
        });
        out_of_range(inputs, LENGTH, 1, LONGEST).into_iter().chain(nothing).collect()
    }

    async fn read(&self, _machine: &Machine, recorded: &Live) -> Result<Option<Live>, Refusal> {
        Ok(Some(recorded.clone()))
    }

    async fn create(&self, machine: &Machine, receipt: &Receipt, inputs: &Map) -> Attempt<Created> {
        let mut classes = Vec::with_capacity(CLASSES.len());
        for (name, _, characters) in CLASSES {
            if flag(inputs, name)? {
                classes.push(characters);
            }
        }
        let drawn = draw(machine.world.entropy.as_ref(), &classes, count(inputs, LENGTH)?);
        let result = drawn.map_err(|error| no_randomness(&error))?;
        let id = PhysicalId(receipt.idempotency_key().to_owned());
        Ok(Created { id, outputs: [("result".to_owned(), Value::from(result))].into() })
    }

    async fn update(
        &self,
        _machine: &Machine,
        _receipt: &Receipt,
        resource: &Resource,
        _old_inputs: &Map,
    ) -> Attempt<Updated> {
        Ok(Updated { outputs: resource.outputs.clone() })
    }

    async fn delete(&self, _machine: &Machine, _receipt: &Receipt, _resource: &Resource) -> Attempt<()> {
        Ok(())
    }
}

/// One character of each class if there is room, the rest of all of them, in random order.
fn draw(entropy: &dyn Entropy, classes: &[&str], length: usize) -> std::io::Result<String> {
    let all = classes.concat();
    let mut drawn = Vec::with_capacity(length);
    if classes.len() <= length {
        for class in classes {
            drawn.push(one_of(entropy, class)?);
        }
    }
    while drawn.len() < length {
        drawn.push(one_of(entropy, &all)?);
    }
    for last in (1..drawn.len()).rev() {
        drawn.swap(last, entropy.below(last as u32 + 1)? as usize);
    }
    Ok(drawn.into_iter().map(char::from).collect())
}

fn one_of(entropy: &dyn Entropy, characters: &str) -> std::io::Result<u8> {
    let index = entropy.below(characters.len().max(1) as u32)? as usize;
    characters
        .as_bytes()
        .get(index)
        .copied()
        .ok_or_else(|| std::io::Error::other("no characters to draw from"))
}

pub(crate) fn no_randomness(error: &std::io::Error) -> Refusal {
    Refusal::new(format!("the system gives no random bytes: {}", reason(error)))
        .help("see that the system's random source can be used, then try again")
}
