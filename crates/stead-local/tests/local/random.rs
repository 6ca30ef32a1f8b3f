//! `local.RandomString` and `local.RandomPet`.

use std::collections::BTreeSet;

use stead_model::{Map, Value};
use stead_provider::{Provider as _, Reads};

use crate::bench::{Bench, done, map};

const STRING: &str = "local.RandomString";
const PET: &str = "local.RandomPet";

async fn draw(bench: &Bench, token: &str, inputs: Map) -> String {
    let made = bench.created(token, inputs).await;
    made.outputs["result"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn random_string_has_its_length_and_a_character_of_each_class() {
    let bench = Bench::new();
    for _ in 0..20 {
        let drawn = draw(&bench, STRING, map([("length", 4.into()), ("special", true.into())])).await;
        assert_eq!(drawn.len(), 4, "{drawn}");
        assert!(drawn.contains(|c: char| c.is_ascii_uppercase()), "{drawn}");
        assert!(drawn.contains(|c: char| c.is_ascii_lowercase()), "{drawn}");
        assert!(drawn.contains(|c: char| c.is_ascii_digit()), "{drawn}");
        assert!(drawn.contains(|c: char| c.is_ascii_punctuation()), "{drawn}");
    }
    assert_eq!(draw(&bench, STRING, map([("length", 1.into())])).await.len(), 1);
    let digits = map([("length", 4096.into()), ("upper", false.into()), ("lower", false.into())]);
    let drawn = draw(&bench, STRING, digits).await;
    assert!(drawn.len() == 4096 && drawn.bytes().all(|byte| byte.is_ascii_digit()));
    assert_eq!(drawn.bytes().collect::<BTreeSet<_>>().len(), 10, "every digit occurs");
}

#[tokio::test]
async fn random_string_stays_until_an_input_changes() {
    let bench = Bench::new();
    let made = bench.created(STRING, map([("length", 16.into())])).await;
    assert_eq!(made.inputs, {
        let filled = [("upper", true), ("lower", true), ("numeric", true), ("special", false)];
        let mut inputs = map(filled.map(|(name, value)| (name, Value::from(value))));
        inputs.insert("length", 16.into());
        inputs
    });
    assert_eq!(bench.changes(&made, map([("length", 16.into())])).await, [""; 0]);
    assert_eq!(bench.provider.reads(&made.ty), Reads::StateOnly);
    for (name, value) in [("length", Value::from(17)), ("special", true.into()), ("keepers", "new".into())] {
        let mut inputs = map([("length", 16.into())]);
        inputs.insert(name.to_owned(), value);
        assert_eq!(bench.changes(&made, inputs).await, [format!("{name}!")]);
    }
    done(bench.delete(&made).await);
}

#[tokio::test]
async fn invalid_length_and_empty_character_set_are_problems() {
    let bench = Bench::new();
    for length in [0, -1, 4097] {
        let problems = bench.problems(STRING, map([("length", length.into())])).await;
        let expected = format!("`length` cannot be {length} / use a whole number from 1 to 4096");
        assert_eq!(problems, [expected]);
    }
    let none = map([
        ("length", 8.into()),
        ("upper", false.into()),
        ("lower", false.into()),
        ("numeric", false.into()),
    ]);
    let problems = bench.problems(STRING, none).await;
    assert!(problems[0].starts_with("no characters are allowed"), "{problems:?}");
}

#[tokio::test]
async fn pet_has_the_requested_number_of_words() {
    let bench = Bench::new();
    for words in 1..=5 {
        let inputs = map([("words", words.into()), ("separator", "_".into()), ("prefix", "my".into())]);
        let name = draw(&bench, PET, inputs).await;
        assert_eq!(name.split('_').count() as i64, words + 1, "{name}");
        assert!(name.starts_with("my_"), "{name}");
        assert_eq!(name.split('_').collect::<BTreeSet<_>>().len() as i64, words + 1, "no word twice: {name}");
    }
    let name = draw(&bench, PET, Map::new()).await;
    assert_eq!(name.split('-').count(), 2, "{name}");
    for words in [0, 6] {
        assert_eq!(bench.problems(PET, map([("words", words.into())])).await.len(), 1);
    }
}

#[tokio::test]
async fn pet_stays_until_an_input_changes() {
    let bench = Bench::new();
    let made = bench.created(PET, Map::new()).await;
    assert_eq!(made.inputs, map([("separator", "-".into()), ("words", 2.into())]));
    assert_eq!(bench.provider.reads(&made.ty), Reads::StateOnly);
    assert_eq!(bench.changes(&made, Map::new()).await, [""; 0]);
    for (name, value) in
        [("words", Value::from(3)), ("separator", ".".into()), ("prefix", "a".into()), ("keepers", 1.into())]
    {
        assert_eq!(bench.changes(&made, map([(name, value)])).await, [format!("{name}!")]);
    }
    done(bench.delete(&made).await);
}
