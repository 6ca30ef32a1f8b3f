//! `local.Data`.

use stead_model::{Map, Value};
use stead_provider::{Provider as _, Reads};

use crate::bench::{Bench, done, map};

const DATA: &str = "local.Data";

fn data(value: impl Into<Value>) -> Map {
    map([("value", value.into())])
}

#[tokio::test]
async fn data_accepts_any_value_and_changes_in_place() {
    let bench = Bench::new();
    let nested = Value::Map(map([("list", Value::from(vec![Value::Null, 1.into()]))]));
    let made = bench.created(DATA, data(nested.clone())).await;
    assert_eq!(made.outputs, map([("output", nested)]));
    assert_eq!(bench.provider.reads(&made.ty), Reads::StateOnly);
    assert_eq!(bench.changes(&made, data("x")).await, ["value"]);
    let changed = bench.updated(&made, data("x")).await;
    assert_eq!(changed.outputs, map([("output", "x".into())]));
    done(bench.delete(&changed).await);
    assert_eq!(bench.names("."), [""; 0], "no file was created");
}

#[tokio::test]
async fn each_data_has_an_id_of_its_own() {
    let bench = Bench::new();
    let (one, two) = (bench.created(DATA, data(1)).await, bench.created(DATA, data(1)).await);
    assert_ne!(one.id, two.id);
}
