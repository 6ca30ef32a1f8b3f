//! Random calls against a plain map, and a stubborn client against a faulty cloud.

use std::collections::BTreeMap;

use proptest::prelude::*;
use stead_cloud::{FaultPlan, Settings};
use stead_model::Value;

use crate::client::Client;

const TYPE: &str = "AWS::SSM::Parameter";

#[derive(Clone, Debug)]
enum Act {
    Create(u8, u8),
    Update(u8, u8),
    Delete(u8),
    /// Repeats the last creation with its client token.
    Repeat,
}

fn act() -> impl Strategy<Value = Act> {
    prop_oneof![
        (0..4u8, 0..9u8).prop_map(|(name, value)| Act::Create(name, value)),
        (0..4u8, 0..9u8).prop_map(|(name, value)| Act::Update(name, value)),
        (0..4u8).prop_map(Act::Delete),
        Just(Act::Repeat),
    ]
}

/// Carries out one act, and checks its end against the map.
async fn agrees(
    client: &Client,
    known: &mut BTreeMap<u8, u8>,
    act: &Act,
    last: &mut Option<(String, String)>,
) {
    let id = |name: u8| format!("p{name}");
    let end = match act {
        Act::Create(name, value) => {
            let desired = format!(r#"{{"Name":"p{name}","Type":"String","Value":"{value}"}}"#);
            let token = format!("t{}", client.cloud.calls().values().sum::<u64>());
            let body = serde_json::json!({ "TypeName": TYPE, "DesiredState": desired, "ClientToken": token });
            let event =
                client.call("CreateResource", &body.to_string()).await.unwrap()["ProgressEvent"].clone();
            *last = Some((body.to_string(), event["RequestToken"].to_string()));
            let is_new = !known.contains_key(name);
            known.entry(*name).or_insert(*value);
            Some((event, is_new))
        }
        Act::Update(name, value) => {
            let patch = format!(r#"[{{"op":"add","path":"/Value","value":"{value}"}}]"#);
            let event = client.update(TYPE, &id(*name), &patch).await;
            assert_eq!(event.is_ok(), known.contains_key(name));
            known.entry(*name).and_modify(|known| *known = *value);
            event.ok().map(|event| (event, true))
        }
        Act::Delete(name) => {
            Some((client.delete(TYPE, &id(*name)).await.unwrap(), known.remove(name).is_some()))
        }
        Act::Repeat => {
            if let Some((body, token)) = last {
                let again = client.call("CreateResource", body).await.unwrap();
                assert_eq!(again["ProgressEvent"]["RequestToken"].to_string(), *token);
            }
            None
        }
    };
    if let Some((event, succeeds)) = end {
        let event = client.finished(&event).await;
        assert_eq!(event["OperationStatus"] == "SUCCESS", succeeds, "{event}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn the_cloud_agrees_with_a_map(acts in prop::collection::vec(act(), 1..40)) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let client = Client::new(Settings::default());
            let (mut known, mut last) = (BTreeMap::new(), None);
            for act in &acts {
                agrees(&client, &mut known, act, &mut last).await;
            }
            for (name, value) in &known {
                let found = client.get(TYPE, &format!("p{name}")).await.unwrap();
                assert_eq!(found.get("Value"), Some(&Value::from(value.to_string().as_str())));
            }
            assert_eq!(client.cloud.resources().unwrap().len(), known.len());
        });
    }
}

/// Creates a queue in spite of faults: the same token until an event comes, a new one after a failure.
async fn created(client: &Client, number: usize) {
    let desired = format!(r#"{{"QueueName":"q{number}"}}"#);
    for attempt in 0..100 {
        let token = format!("q{number}-{attempt}");
        let body = serde_json::json!({ "TypeName": "AWS::SQS::Queue", "DesiredState": desired, "ClientToken": token });
        let event = loop {
            if let Ok(answer) = client.call("CreateResource", &body.to_string()).await {
                break answer["ProgressEvent"].clone();
            }
        };
        let token = serde_json::json!({ "RequestToken": event["RequestToken"] }).to_string();
        let event = loop {
            match client.call("GetResourceRequestStatus", &token).await {
                Ok(answer) if answer["ProgressEvent"]["OperationStatus"] != "IN_PROGRESS" => {
                    break answer["ProgressEvent"].clone();
                }
                _ => {}
            }
        };
        // A creation that failed may have left the queue.
        if event["OperationStatus"] == "SUCCESS" || event["ErrorCode"] == "AlreadyExists" {
            return;
        }
    }
    panic!("queue {number} was not created")
}

#[tokio::test]
async fn tokens_bring_every_resource_up_once_in_spite_of_faults() {
    for seed in 0..5 {
        let faults = Some(FaultPlan { seed, rate: 0.4 });
        let client = Client::new(Settings { faults, ..Settings::default() });
        for number in 0..100 {
            created(&client, number).await;
        }
        assert_eq!(client.cloud.resources().unwrap().len(), 100, "seed {seed}");
    }
}
