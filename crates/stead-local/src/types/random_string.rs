//! `local.RandomString`: random characters that stay the same until an input changes.
//!
//! State and plans contain the value in the clear.

use async_trait::async_trait;
use stead_model::{Map, PhysicalId, Resource, Value};
use stead_provider::{Created, Reads, Receipt, Refusal, Updated};
use stead_schema::{Access, Problem, Property, Shape, TypeSchema};
use stead_world::Entropy;

use crate::failure::{Attempt, reason};
use crate::inputs::{InputView, count, flag, problem, range_problem};
use crate::machine::Machine;
use crate::types::ResourceType;

const LENGTH: &str = "length";
const MAX_LENGTH: i64 = 4096;

/// Character classes: the property, its default, and the characters.
const CLASSES: [(&str, bool, &str); 4] = [
    ("upper", true, "ABCDEFGHIJKLMNOPQRSTUVWXYZ"),
    ("lower", true, "abcdefghijklmnopqrstuvwxyz"),
    ("numeric", true, "0123456789"),
    ("special", false, "!@#$%&*()-_=+[]{}<>:?"),
];

pub(crate) struct RandomString;

#[async_trait]
impl ResourceType for RandomString {
    fn schema(&self) -> TypeSchema {
        let length =
            Property::new(LENGTH, Shape::Integer, Access::Required, "Number of characters, 1 to 4096.");
        let classes = CLASSES.iter().map(|(name, default, characters)| {
            let doc = format!("Use the characters {characters} (default {default}).");
            Property::new(name, Shape::Boolean, Access::Filled, &doc).create_only()
        });
        let keepers = Property::new(
            "keepers",
            Shape::Any,
            Access::Optional,
            "Any value; a change of it draws new characters.",
        );
        let result = Property::new("result", Shape::String, Access::ReadOnly, "The characters.");
        TypeSchema::new(
            "local.RandomString",
            "Random characters, drawn once. Not for secrets: state contains the result in the clear.",
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

    fn problems(&self, inputs: InputView<'_>) -> Vec<Problem> {
        let off = |name: &str| inputs.get(name).and_then(Value::as_bool) == Some(false);
        let no_characters = CLASSES.iter().all(|(name, _, _)| off(name)).then(|| {
            let message = "no characters are allowed";
            problem("upper", message, "set one of `upper`, `lower`, `numeric` and `special` to true")
        });
        range_problem(inputs, LENGTH, 1, MAX_LENGTH).into_iter().chain(no_characters).collect()
    }

    fn reads(&self) -> Reads {
        Reads::StateOnly
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

/// Draws one character of each class if the length allows it, the rest from all classes, in random order.
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

/// Refuses an operation because the system returned no random bytes.
pub(crate) fn no_randomness(error: &std::io::Error) -> Refusal {
    Refusal::new(format!("the system returned no random bytes: {}", reason(error)))
        .help("check the system's random source, then try again")
}
