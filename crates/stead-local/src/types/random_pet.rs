//! `local.RandomPet`: a friendly random name that stays the same until an input changes.

mod words;

use async_trait::async_trait;
use stead_model::{Map, PhysicalId, Resource, Value};
use stead_provider::{Created, Reads, Receipt, Updated};
use stead_schema::{Access, Problem, Property, Shape, TypeSchema};
use stead_world::Entropy;

use self::words::{ADJECTIVES, ANIMALS};
use super::random_string::no_randomness;
use crate::failure::Attempt;
use crate::inputs::{InputView, count, optional_text, range_problem, text};
use crate::machine::Machine;
use crate::types::ResourceType;

const WORDS: &str = "words";
const SEPARATOR: &str = "separator";
const PREFIX: &str = "prefix";
const MAX_WORDS: i64 = 5;

pub(crate) struct RandomPet;

#[async_trait]
impl ResourceType for RandomPet {
    fn schema(&self) -> TypeSchema {
        let (filled, optional) = (Access::Filled, Access::Optional);
        TypeSchema::new(
            "local.RandomPet",
            "A friendly random name, such as brave-otter, drawn once.",
            vec![
                Property::new(WORDS, Shape::Integer, filled, "Number of words, 1 to 5; default 2.")
                    .create_only(),
                Property::new(SEPARATOR, Shape::String, filled, "Text between the words; default \"-\".")
                    .create_only(),
                Property::new(PREFIX, Shape::String, optional, "A first word of your choice.").create_only(),
                Property::new("keepers", Shape::Any, optional, "Any value; a change of it draws a new name.")
                    .create_only(),
                Property::new("result", Shape::String, Access::ReadOnly, "The name.").stable(),
            ],
        )
    }

    fn defaults(&self) -> Map {
        [(WORDS.to_owned(), Value::from(2)), (SEPARATOR.to_owned(), Value::from("-"))].into()
    }

    fn problems(&self, inputs: InputView<'_>) -> Vec<Problem> {
        range_problem(inputs, WORDS, 1, MAX_WORDS).into_iter().collect()
    }

    fn reads(&self) -> Reads {
        Reads::StateOnly
    }

    async fn create(&self, machine: &Machine, receipt: &Receipt, inputs: &Map) -> Attempt<Created> {
        let drawn = draw(machine.world.entropy.as_ref(), count(inputs, WORDS)?);
        let mut words = drawn.map_err(|error| no_randomness(&error))?;
        if let Some(prefix) = optional_text(inputs, PREFIX)? {
            words.insert(0, prefix);
        }
        let result = Value::from(words.join(text(inputs, SEPARATOR)?));
        let id = PhysicalId(receipt.idempotency_key().to_owned());
        Ok(Created { id, outputs: [("result".to_owned(), result)].into() })
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

/// Draws different adjectives and an animal.
fn draw(entropy: &dyn Entropy, count: usize) -> std::io::Result<Vec<&'static str>> {
    let mut left = ADJECTIVES.to_vec();
    let mut words = Vec::with_capacity(count + 1);
    for _ in 1..count {
        words.push(left.swap_remove(entropy.below(left.len() as u32)? as usize));
    }
    words.push(ANIMALS[entropy.below(ANIMALS.len() as u32)? as usize]);
    Ok(words)
}
