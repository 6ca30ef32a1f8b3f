//! Text of the manifests, and comparison of the policies' CEL with the webhook's judgement.

use std::collections::BTreeMap;
use std::sync::Arc;

use cel::{Context, Env, Program, Value};
use serde_json::{Value as Json, json};

use super::*;
use crate::admission::judge::{EnclosingNamespace, Ruling, Subject};
use crate::admission::object::Annotations;
use crate::cluster::yaml::documents;

fn wanted(part: Part) -> Manifests {
    Manifests {
        part,
        namespace: "stead-system".to_owned(),
        image: "stead:0.1.0".to_owned(),
        ca_bundle: None,
        groups: Groups::default(),
        prevent_delete: PreventDelete::AsMarked,
    }
}

#[test]
fn webhook_manifests() {
    insta::assert_snapshot!(manifests(&wanted(Part::Webhook)).unwrap());
}

#[test]
fn policy_manifests() {
    insta::assert_snapshot!(manifests(&wanted(Part::Policy)).unwrap());
}

#[test]
fn every_document_is_yaml_without_placeholders() {
    let more = Manifests {
        groups: Groups::with(["db.example.org".to_owned()]),
        prevent_delete: PreventDelete::Always,
        ..wanted(Part::All)
    };
    for wanted in [wanted(Part::All), more] {
        let text = manifests(&wanted).unwrap();
        assert!(!text.contains("{{"), "{text}");
        let kinds: Vec<String> = documents(&text)
            .unwrap()
            .iter()
            .map(|document| document["kind"].as_str().unwrap().to_owned())
            .collect();
        assert_eq!(kinds.len(), 12, "{kinds:?}");
    }
}

#[test]
fn webhook_without_a_ca_bundle_lets_cert_manager_add_it() {
    let configuration = |wanted: &Manifests| {
        let documents = documents(&manifests(wanted).unwrap()).unwrap();
        documents.into_iter().find(|it| it["kind"] == "ValidatingWebhookConfiguration").unwrap()
    };
    let injected = Manifests { namespace: "guards".to_owned(), ..wanted(Part::All) };
    let found = configuration(&injected);
    assert_eq!(found["metadata"]["annotations"]["cert-manager.io/inject-ca-from"], "guards/stead-admission");
    assert!(found["webhooks"][0]["clientConfig"].get("caBundle").is_none(), "{found}");
    let pem = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
    let given = Manifests { ca_bundle: Some(pem.as_bytes().to_vec()), ..wanted(Part::All) };
    let found = configuration(&given);
    assert_eq!(found["webhooks"][0]["clientConfig"]["caBundle"], STANDARD.encode(pem));
    assert!(found["metadata"].get("annotations").is_none(), "{found}");
}

#[test]
fn groups_and_prevent_delete_reach_all_manifests() {
    let more = Manifests {
        groups: Groups::with(["db.example.org".to_owned()]),
        prevent_delete: PreventDelete::Always,
        ..wanted(Part::All)
    };
    let text = manifests(&more).unwrap();
    for part in [
        "            - --group=db.example.org\n            - --prevent-delete\n",
        "      - db.example.org\n",
        "(request.resource.group.endsWith('.services.k8s.aws') || request.resource.group in ['db.example.org'])",
        "oldObject.spec.group in ['db.example.org']",
        "    - name: always\n      expression: \"true\"",
    ] {
        assert!(text.contains(part), "{part}");
    }
}

#[test]
fn invalid_names_are_refused() {
    let namespace = Manifests { namespace: "a: b".into(), ..wanted(Part::All) };
    assert_eq!(manifests(&namespace), Err(BadManifest::Namespace("a: b".into())));
    let image = Manifests { image: "x\ny".into(), ..wanted(Part::All) };
    assert_eq!(manifests(&image), Err(BadManifest::Image("x\ny".into())));
    let group = Manifests { groups: Groups::with(["a'b".to_owned()]), ..wanted(Part::All) };
    assert_eq!(manifests(&group), Err(BadManifest::Group("a'b".into())));
    let bundle = Manifests { ca_bundle: Some(b"no PEM".to_vec()), ..wanted(Part::All) };
    assert_eq!(manifests(&bundle), Err(BadManifest::CaBundle));
}

/// One `ValidatingAdmissionPolicy`, compiled from the generated YAML.
struct Policy {
    environment: Arc<Env>,
    variables: Vec<(String, Program)>,
    validations: Vec<(Program, Program)>,
}

impl Policy {
    fn printed(name: &str, prevent_delete: PreventDelete) -> Policy {
        let text = manifests(&Manifests { prevent_delete, ..wanted(Part::Policy) }).unwrap();
        let documents = documents(&text).unwrap();
        let is_it = |document: &&Json| {
            document["kind"] == "ValidatingAdmissionPolicy" && document["metadata"]["name"] == name
        };
        let spec = &documents.iter().find(is_it).unwrap()["spec"];
        let compiled = |text: &Json| Program::compile(text.as_str().unwrap()).unwrap();
        let variables = spec["variables"].as_array().unwrap().iter();
        let validations = spec["validations"].as_array().unwrap().iter();
        Policy {
            environment: environment(),
            variables: variables
                .map(|v| (v["name"].as_str().unwrap().to_owned(), compiled(&v["expression"])))
                .collect(),
            validations: validations
                .map(|v| (compiled(&v["expression"]), compiled(&v["messageExpression"])))
                .collect(),
        }
    }

    /// Returns the message of the first validation that fails.
    fn refusal(&self, inputs: &[(&str, Json)]) -> Option<String> {
        let mut context = Context::with_env(self.environment.clone());
        for (name, value) in inputs {
            context.add_variable(*name, value).unwrap();
        }
        let mut known: BTreeMap<String, Value> = BTreeMap::new();
        for (name, program) in &self.variables {
            add_variables(&mut context, &known);
            known.insert(name.clone(), program.execute(&context).unwrap());
        }
        add_variables(&mut context, &known);
        let failed = self
            .validations
            .iter()
            .find(|(expression, _)| expression.execute(&context).unwrap() == Value::Bool(false));
        failed.map(|(_, message)| match message.execute(&context).unwrap() {
            Value::String(text) => text.to_string(),
            other => panic!("{other:?}"),
        })
    }
}

fn add_variables(context: &mut Context<'_, '_>, known: &BTreeMap<String, Value>) {
    let map: std::collections::HashMap<String, Value> =
        known.iter().map(|(name, value)| (name.clone(), value.clone())).collect();
    context.add_variable_from_value("variables", map);
}

/// Returns a CEL environment with the string library of API servers.
fn environment() -> Arc<Env> {
    let mut env = Env::default().with_stdlib();
    cel::extensions::strings(&mut env).unwrap();
    Arc::new(env)
}

fn request(group: &str, resource: &str, kind: &str) -> Json {
    json!({ "resource": { "group": group, "resource": resource }, "kind": { "kind": kind } })
}

fn object(annotations: &Annotations) -> Json {
    json!({ "metadata": { "name": "logs", "annotations": annotations } })
}

/// Evaluates one case with the generated policy and with the webhook, compares both, and returns the error code.
fn both(policy: &Policy, flag: PreventDelete, own: &Annotations, around: &Annotations) -> Option<String> {
    let inputs = [
        ("request", request("s3.services.k8s.aws", "buckets", "Bucket")),
        ("oldObject", object(own)),
        ("namespaceObject", object(around)),
    ];
    let by_policy = policy.refusal(&inputs);
    let subject = Subject {
        kind: "Bucket",
        group: "s3.services.k8s.aws",
        resource: "buckets.s3.services.k8s.aws",
        name: "logs",
        namespace: Some("prod"),
        annotations: own,
    };
    let ruling = subject.judge(Some(EnclosingNamespace { name: "prod", annotations: around }), flag);
    let by_webhook = subject.refused(&ruling).map(|refused| refused.message);
    let code = agreed(&by_policy, &by_webhook);
    assert_eq!(ruling == Ruling::Free, code.is_none());
    code
}

fn agreed(by_policy: &Option<String>, by_webhook: &Option<String>) -> Option<String> {
    let code = |message: &String| message[message.rfind('(').unwrap()..].to_owned();
    let codes = (by_policy.as_ref().map(code), by_webhook.as_ref().map(code));
    assert_eq!(codes.0.is_some(), codes.1.is_some(), "{by_policy:?} {by_webhook:?}");
    codes.0
}

const SPELLINGS: [&str; 4] = [
    "s3/prevent-delete",
    "s3.services.k8s.aws/prevent-delete",
    "prevent-delete",
    "services.k8s.aws/prevent-delete",
];

/// Returns every combination of these keys on one level.
fn levels() -> Vec<Annotations> {
    let all = (0..3_usize.pow(4)).map(|number| {
        let set = SPELLINGS.iter().enumerate().filter_map(|(at, key)| {
            let value = [None, Some("true"), Some("false")][number / 3_usize.pow(at as u32) % 3]?;
            Some(((*key).to_owned(), json!(value)))
        });
        set.collect()
    });
    all.collect()
}

fn contradicts(level: &Annotations) -> bool {
    let pairs = [(SPELLINGS[0], SPELLINGS[1]), (SPELLINGS[2], SPELLINGS[3])];
    pairs
        .iter()
        .any(|(one, other)| level.get(*one).zip(level.get(*other)).is_some_and(|(one, other)| one != other))
}

#[test]
fn the_policy_and_the_webhook_agree_on_every_combination_of_marks() {
    let policy = Policy::printed("stead-prevent-delete", PreventDelete::AsMarked);
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for own in levels() {
        for around in levels() {
            // A contradiction on one level decides the case. Each level is tried in turn.
            if (contradicts(&own) && !around.is_empty()) || (contradicts(&around) && !own.is_empty()) {
                continue;
            }
            let code = both(&policy, PreventDelete::AsMarked, &own, &around);
            assert_eq!(code.as_deref() == Some("(ST0403)"), contradicts(&own) || contradicts(&around));
            *counts.entry(code.unwrap_or_else(|| "allowed".into())).or_default() += 1;
        }
    }
    // Two keys in two spellings each: 81 combinations a level, of which 7 x 7 do not contradict themselves.
    assert_eq!((counts["(ST0403)"], counts.values().sum::<usize>()), (2 * 32, 49 * 49 + 2 * 32));
    assert!(counts["(ST0801)"] > 0 && counts["allowed"] > 0, "{counts:?}");
}

#[test]
fn the_policy_and_the_webhook_agree_on_unusual_keys_and_values() {
    let flags = [PreventDelete::AsMarked, PreventDelete::Always];
    let names =
        ["prevent-delete", "deletion-policy", "prevent-delete-lock", "Prevent-Delete", "prevent-deletes"];
    let prefixes = [
        "",
        "/",
        "s3/",
        "rds/",
        "services.k8s.aws/",
        "s3.services.k8s.aws/",
        "rds.services.k8s.aws/",
        "stead.dev/",
        ".services.k8s.aws/",
        "a.b.services.k8s.aws/",
        "S3/",
        "s3/x/",
        "s_3/",
    ];
    let values = [
        "true",
        "false",
        "True",
        " TRUE\n",
        "yes",
        "",
        "1",
        "delete",
        "Retain",
        "retian",
        "snapshot",
        "true=true",
        "x\n/prevent-delete=true",
        "true\nx",
        "\u{a0}true",
        "ｔrue",
    ];
    let other: Annotations = [("s3/prevent-delete".to_owned(), json!("false"))].into();
    for flag in flags {
        let policy = Policy::printed("stead-prevent-delete", flag);
        for key in prefixes.iter().flat_map(|prefix| names.map(|name| format!("{prefix}{name}"))) {
            for value in values {
                let odd: Annotations = [(key.clone(), json!(value))].into();
                both(&policy, flag, &odd, &Annotations::new());
                both(&policy, flag, &Annotations::new(), &odd);
                both(&policy, flag, &other, &odd);
            }
        }
    }
}

#[test]
fn missing_annotations_and_namespace_mean_no_marks() {
    let policy = Policy::printed("stead-prevent-delete", PreventDelete::AsMarked);
    let inputs = [
        ("request", request("s3.services.k8s.aws", "buckets", "Bucket")),
        ("oldObject", json!({ "metadata": { "name": "logs" } })),
        ("namespaceObject", Json::Null),
    ];
    assert_eq!(policy.refusal(&inputs), None);
}

#[test]
fn the_policy_for_containers_and_the_webhook_agree() {
    let policy = Policy::printed("stead-prevent-delete-containers", PreventDelete::AsMarked);
    let containers = [
        ("", "namespaces", "Namespace"),
        ("apiextensions.k8s.io", "customresourcedefinitions", "CustomResourceDefinition"),
    ];
    let keys = [
        "prevent-delete",
        "rds/prevent-delete",
        "rds.services.k8s.aws/prevent-delete",
        "prevent-delete-lock",
    ];
    for (group, resource, kind) in containers {
        for number in 0..4_usize.pow(4) {
            let mut own = Annotations::new();
            for (at, key) in keys.iter().enumerate() {
                if let Some(value) =
                    [None, Some("true"), Some("false"), Some("on")][number / 4_usize.pow(at as u32) % 4]
                {
                    own.insert((*key).to_owned(), json!(value));
                }
            }
            let by_policy =
                policy.refusal(&[("request", request(group, resource, kind)), ("oldObject", object(&own))]);
            let subject = Subject { kind, group, resource, name: "logs", namespace: None, annotations: &own };
            let by_webhook = subject.refused(&subject.judge_container()).map(|refused| refused.message);
            agreed(&by_policy, &by_webhook);
        }
    }
}
