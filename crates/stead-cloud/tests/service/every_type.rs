//! Every type that can be created and read: created twice, read, changed and deleted through HTTP, with sampled inputs.

use std::collections::BTreeMap;

use serde_json::Value as Json;
use stead_cloud::{Quotas, References, Sampler, Settings, validate};
use stead_model::{Map, PropertyPath, Value};
use stead_schema::cfn::{Class, Schema, bundle};

use crate::client::Client;

/// Alternatives of a schema that are tried for inputs.
const ALTERNATIVES: usize = 8;
/// Properties that protect a resource from deletion.
const PROTECTION: &[&str] = &["DeletionProtection", "DeletionProtectionEnabled"];

/// Returns inputs of a type that the service accepts.
async fn inputs(client: &Client, schema: &Schema) -> Result<(Map, Json), String> {
    let mut why = String::new();
    for optional in [usize::MAX, 5, 0] {
        for arm in 0..ALTERNATIVES {
            let mut sampler = Sampler::new(schema);
            (sampler.arm, sampler.optional) = (arm, optional);
            let desired = sampler.desired();
            match client.create(&schema.type_name, &Value::Map(desired.clone()).to_json()).await {
                Ok(event) => return Ok((desired, event)),
                Err(refusal) if why.is_empty() => why = refusal,
                Err(_) => {}
            }
        }
    }
    Err(why)
}

/// Takes a resource of a type through its life, and returns whether it could be changed.
async fn lives(client: &Client, schema: &Schema) -> Result<bool, String> {
    let type_name = schema.type_name.as_str();
    let (desired, event) = inputs(client, schema).await?;
    let event = client.finished(&event).await;
    let identifier = event["Identifier"].as_str().filter(|_| event["OperationStatus"] == "SUCCESS");
    let identifier = identifier.ok_or_else(|| event.to_string())?;
    if identifier.split('|').any(str::is_empty) {
        return Err(format!("identifier {identifier:?}"));
    }
    let shown = client.get(type_name, identifier).await?;
    is_plausible(schema, &shown)?;
    let changed =
        schema.handlers.update.is_some() && changes(client, schema, identifier, &desired, &shown).await?;
    let again = client.create(type_name, &Value::Map(desired).to_json()).await?;
    let again = client.finished(&again).await;
    match again["Identifier"].as_str() {
        Some(other) if again["OperationStatus"] == "SUCCESS" && other != identifier => {
            unprotected(client, type_name, other);
            client.gone(type_name, other).await;
        }
        _ if again["ErrorCode"] == "AlreadyExists" => {}
        _ => return Err(format!("created twice: {again}")),
    }
    unprotected(client, type_name, identifier);
    client.gone(type_name, identifier).await;
    match client.get(type_name, identifier).await {
        Err(gone) if gone.starts_with("ResourceNotFoundException") => Ok(changed),
        other => Err(format!("after the deletion: {other:?}")),
    }
}

/// Turns the protection from deletion off, in the console.
fn unprotected(client: &Client, type_name: &str, identifier: &str) {
    let names = client.cloud.resources().unwrap();
    let name =
        names.iter().find(|name| name.type_name == type_name && name.identifier == identifier).unwrap();
    let model = client.cloud.model(name).unwrap().unwrap();
    for property in PROTECTION.iter().filter(|property| model.contains_key(**property)) {
        let patch = format!(r#"[{{"op":"remove","path":"/{property}"}}]"#);
        client.cloud.drift(name, &serde_json::from_str(&patch).unwrap()).unwrap();
    }
}

/// Checks that the answer of a read is valid for an update and has no write-only value.
fn is_plausible(schema: &Schema, shown: &Map) -> Result<(), String> {
    let hidden = schema.classes.of(Class::WriteOnly);
    if schema.handlers.update.is_some()
        && let Err(rejection) = validate(schema, shown)
    {
        // A write-only value may be required, and a read never returns it.
        let text = rejection.to_string();
        let lacks = text.contains("required key") || text.contains("subschema");
        let is_hidden = lacks && !hidden.patterns().is_empty();
        if !is_hidden {
            return Err(rejection.to_string());
        }
    }
    match shown.keys().find(|name| hidden.covers(&PropertyPath::of(name))) {
        Some(name) => Err(format!("{name} is write-only and was returned")),
        None => Ok(()),
    }
}

/// Changes a text of a resource, if it has one that may be changed, and resends what is write-only.
async fn changes(
    client: &Client,
    schema: &Schema,
    identifier: &str,
    desired: &Map,
    shown: &Map,
) -> Result<bool, String> {
    let is = |class: Class, name: &str| schema.classes.of(class).covers(&PropertyPath::of(name));
    let free = |name: &str| !is(Class::CreateOnly, name) && !is(Class::ReadOnly, name);
    let has_choices = |name: &str| {
        let form = schema.member(Schema::ROOT, name);
        form.and_then(|form| schema.find(form, &mut Vec::new(), &|form| form.choices.first().map(|_| ())))
            .is_some()
    };
    let text = shown.iter().find_map(|(name, value)| {
        let text =
            value.as_str().filter(|_| free(name) && desired.contains_key(&**name) && !has_choices(name))?;
        Some((name.to_string(), format!("{text}2")))
    });
    let Some((name, value)) = text else { return Ok(false) };
    let add = |name: &str, value: &Value| {
        let value: Json = serde_json::from_str(&value.to_json()).unwrap();
        serde_json::json!({ "op": "add", "path": format!("/{name}"), "value": value })
    };
    let mut patch: Vec<Json> = Vec::new();
    for (name, value) in desired.iter().filter(|(name, _)| is(Class::WriteOnly, name) && free(name)) {
        patch.push(add(name, value));
    }
    patch.push(add(&name, &Value::from(value.as_str())));
    let event = match client.update(&schema.type_name, identifier, &Json::from(patch).to_string()).await {
        Ok(event) => event,
        // Values deep inside that are write-only and required, or create-only, cannot be sent this simply.
        Err(refusal) if refusal.contains("Model validation failed") => return Ok(false),
        Err(refusal) if refusal.starts_with("NotUpdatable") && is_sent(schema, desired) => return Ok(false),
        Err(refusal) => return Err(format!("change of {name}: {refusal}")),
    };
    let event = client.finished(&event).await;
    if event["OperationStatus"] != "SUCCESS" {
        return Err(event.to_string());
    }
    let after = client.get(&schema.type_name, identifier).await?;
    if after.get(name.as_str()).and_then(Value::as_str) == Some(&value) {
        Ok(true)
    } else {
        Err(format!("{name} did not change"))
    }
}

/// Returns true if inputs contain write-only values.
fn is_sent(schema: &Schema, desired: &Map) -> bool {
    desired.keys().any(|name| schema.classes.of(Class::WriteOnly).covers(&PropertyPath::of(name)))
}

#[tokio::test]
async fn every_type_is_created_read_changed_and_deleted() {
    let settings =
        Settings { quotas: Quotas::Ignored, references: References::Ignored, ..Settings::default() };
    let client = Client::new(settings);
    let (mut lived, mut changed, mut failed) = (0, 0, BTreeMap::new());
    for name in bundle::shipped().names() {
        let schema = bundle::shipped().schema(name).unwrap();
        if !schema.is_manageable() {
            continue;
        }
        match lives(&client, &schema).await {
            Ok(did_change) => {
                lived += 1;
                changed += usize::from(did_change);
            }
            Err(why) => drop(failed.insert(name, why)),
        }
    }
    let shown: Vec<String> = failed.iter().map(|(name, why)| format!("{name}: {why}")).collect();
    assert!(failed.is_empty(), "{} fail:\n{}", failed.len(), shown.join("\n"));
    assert_eq!(client.cloud.resources().unwrap(), []);
    assert!(lived > 1700 && changed > 900, "{lived} types lived, {changed} changed");
}
