//! `local.Data`.

use stead_model::{Map, Value};

use crate::bench::{Bench, done, map};

const DATA: &str = "local.Data";

fn data(value: impl Into<Value>) -> Map {
    map([("value", value.into())])
}

#[tokio::test]
async fn data_holds_any_value_and_changes_it_in_place() {
    let bench = Bench::new();
    let nested = Value::Map(map([("list", Value::List(vec![Value::Null, 1.into()]))]));
    let made = bench.made(DATA, data(nested.clone())).await;
    assert_eq!(made.outputs, map([("output", nested)]));
    let live = bench.live(&made).await.unwrap();
    assert_eq!((&live.inputs, &live.outputs), (&made.inputs, &made.outputs));
    assert_eq!(bench.changes(&made, data("x")).await, ["value"]);
    let changed = bench.changed(&made, data("x")).await;
    assert_eq!(changed.outputs, map([("output", "x".into())]));
    done(bench.delete(&changed).await);
    assert_eq!(bench.names("."), [""; 0], "nothing was touched");
}

#[tokio::test]
async fn each_data_has_an_id_of_its_own() {
    let bench = Bench::new();
    let (one, two) = (bench.made(DATA, data(1)).await, bench.made(DATA, data(1)).await);
    assert_ne!(one.id, two.id);
}
