//! Tests of all types.

use std::collections::BTreeSet;

use stead_model::{ExprId, Input, Inputs, Map, Operation, TypeToken, Value};
use stead_provider::{CreateRequest, DeleteRequest, Provider as _, Recovery};
use stead_schema::{Access, ReplaceOrder};

use crate::bench::{Bench, map, permit, receipt, record, refused};

#[tokio::test]
async fn provider_serves_its_seven_types() {
    let bench = Bench::new();
    assert_eq!(bench.provider.name(), "local");
    let types = bench.provider.types();
    let tokens: Vec<&str> = types.iter().map(|schema| schema.token.as_str()).collect();
    assert_eq!(
        tokens,
        [
            "local.Command",
            "local.Data",
            "local.Directory",
            "local.File",
            "local.KeyPair",
            "local.RandomPet",
            "local.RandomString"
        ]
    );
    for schema in &types {
        assert!(!schema.doc.is_empty() && schema.properties.iter().all(|property| !property.doc.is_empty()));
        let names: BTreeSet<_> = schema.properties.iter().map(|property| &property.name).collect();
        assert_eq!(names.len(), schema.properties.len(), "{}", schema.token);
        let delete_first = schema.replace_order == ReplaceOrder::DeleteFirst;
        assert_eq!(delete_first, schema.token.as_str() == "local.Command");
    }
}

#[tokio::test]
async fn check_fills_every_property_that_has_a_default() {
    let bench = Bench::new();
    for schema in bench.provider.types() {
        let required = schema.properties.iter().filter(|property| property.access == Access::Required);
        let inputs: Inputs =
            required.map(|property| (property.name.clone(), Input::Deferred(ExprId(0)))).collect();
        let checked = bench.provider.check(&schema.token, inputs).await.unwrap();
        for property in schema.properties.iter().filter(|property| property.access == Access::Filled) {
            assert!(checked.contains_key(&property.name), "{} {}", schema.token, property.name);
        }
    }
}

#[tokio::test]
async fn invalid_deferred_value_is_refused_before_any_effect() {
    let bench = Bench::new();
    for (token, inputs, message) in [
        (
            "local.File",
            map([("path", "a".into()), ("content", 5.into()), ("mode", "0644".into())]),
            "`content` must be a string, but is a number",
        ),
        (
            "local.File",
            map([("path", "a".into()), ("content", "x".into()), ("mode", "9".into())]),
            "`mode` cannot be \"9\"",
        ),
        ("local.Directory", map([("path", "".into()), ("mode", "0755".into())]), "`path` is empty"),
        (
            "local.Command",
            map([("create", "touch a".into()), ("environment", Value::Map(map([("A", 1.into())])))]),
            "`environment.A` must be a string, but is a number",
        ),
        ("local.RandomString", map([("length", 9999.into())]), "`length` cannot be 9999"),
        ("local.Missing", Map::new(), "the provider `local` has no type `local.Missing`"),
    ] {
        let record = record(token, inputs);
        let request = CreateRequest {
            name: &record.name,
            resource: &record.ty,
            source: &record.source,
            inputs: &record.inputs,
            owner: None,
        };
        let refusal = refused(bench.provider.create(receipt().await, request).await);
        assert_eq!(refusal.message, message);
    }
    assert_eq!(bench.names("."), [""; 0]);
}

#[tokio::test]
async fn problems_of_the_schema_and_of_the_type_are_reported_together() {
    let bench = Bench::new();
    let problems = bench.problems("local.File", map([("path", "".into()), ("contents", "x".into())])).await;
    assert_eq!(problems.len(), 3, "{problems:?}");
    let unknown = bench.problems("local.Fil", Map::new()).await;
    assert!(unknown[0].starts_with("the provider `local` has no type `local.Fil` / it has: local.Command,"));
}

#[tokio::test]
async fn permit_for_another_generation_deletes_nothing() {
    let bench = Bench::new();
    let made = bench.created("local.File", map([("path", "a".into()), ("content", "x".into())])).await;
    let mut other = made.clone();
    other.generation = other.generation.next();
    let request = DeleteRequest { resource: &made };
    let refusal = refused(bench.provider.delete(receipt().await, permit(&other), request).await);
    assert!(refusal.message.contains("permit"), "{}", refusal.message);
    assert_eq!(bench.names("."), ["a"]);
}

#[tokio::test]
async fn operation_of_an_unknown_type_is_not_repeated() {
    let bench = Bench::new();
    let recovery =
        bench.provider.recovery(Operation::Create, &TypeToken("local.Missing".into()), &Map::new());
    assert_eq!(recovery, Recovery::Ask);
}
