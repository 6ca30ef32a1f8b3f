//! Tests of the origin of a mark: a value that is only write-only, or that only a search marked, is no secret elsewhere.

use super::tests::{CANARY, inputs, now, record, secret, ty, veiled};
use super::*;
use crate::Providers;
use stead_model::{Input, Kept, OperationToken, Secret, Value};

const MACHINE: &str = "t3.medium";

fn copy_of(provider: &Arc<dyn Provider>, password: &str) -> Value {
    let live = now(provider.read(&record(&[("password", Value::from(password))]))).unwrap().unwrap();
    live.outputs["copy"].clone()
}

fn object(members: [(&str, Value); 2]) -> Value {
    Value::Map(members.into_iter().map(|(key, value)| (key.to_owned(), value)).collect())
}

#[test]
fn value_that_is_only_write_only_is_no_secret_in_answers_about_other_resources() {
    let (_, provider) = veiled();
    let template = object([("type", Value::from(MACHINE)), ("user-data", secret())]);
    let template = Value::Secret(Secret::local(template, Kept::Digest));
    now(provider.check(&ty(), inputs(&[("user", template.clone())]))).unwrap();
    now(provider.read(&record(&[("user", template)]))).unwrap();
    assert_eq!(copy_of(&provider, MACHINE), Value::from(MACHINE));
    assert_eq!(copy_of(&provider, CANARY), secret(), "a secret inside of it is one everywhere");
}

#[test]
fn write_only_value_is_still_a_secret_in_answers_about_its_own_resource() {
    let (_, provider) = veiled();
    let password = Value::Secret(Secret::local(Value::from("written-once"), Kept::Digest));
    let live = now(provider.read(&record(&[("password", password)]))).unwrap().unwrap();
    assert!(matches!(live.outputs["inside"], Value::Secret(_)), "{live:?}");
}

#[test]
fn parts_of_an_object_with_a_secret_in_a_key_are_no_secrets_elsewhere() {
    let (_, provider) = veiled();
    let rules = || Value::Map([(CANARY.to_owned(), Value::from(MACHINE))].into());
    let both = [("password", secret()), ("echo", rules())];
    let outputs = now(provider.read(&record(&both))).unwrap().unwrap().outputs;
    assert!(matches!(outputs["echo"], Value::Secret(_)), "the key shows the secret");
    assert_eq!(copy_of(&provider, MACHINE), Value::from(MACHINE));
    // The state has the object as a secret, and a later run opens it.
    let providers = Providers::default().with(Arc::new(super::tests::Echo::default()));
    let later = providers.named("echo").unwrap().clone();
    let mut recorded = record(&[("password", secret())]);
    recorded.outputs = [("echo".to_owned(), Value::secret(rules()))].into();
    providers.learn_record(&recorded);
    now(later.read(&recorded)).unwrap();
    assert_eq!(copy_of(&later, MACHINE), Value::from(MACHINE));
    assert_eq!(copy_of(&later, CANARY), secret());
}

#[test]
fn outputs_that_the_schema_or_the_option_sensitive_makes_secret_are_learned_from_records() {
    for sensitive in [false, true] {
        let providers = Providers::default().with(Arc::new(super::tests::Echo::default()));
        let provider = providers.named("echo").unwrap().clone();
        let property = if sensitive { "note" } else { "token" };
        let mut recorded = record(&[]);
        recorded.outputs = [(property.to_owned(), Value::secret(Value::from("kept-by-the-cloud")))].into();
        recorded.sensitive = if sensitive { vec!["note".parse().unwrap()] } else { Vec::new() };
        providers.learn_record(&recorded);
        assert!(copy_of(&provider, "kept-by-the-cloud").has_secrets(), "{property}");
    }
}

#[test]
fn checked_inputs_and_problems_of_a_comparison_show_no_secret_of_another_resource() {
    let (_, provider) = veiled();
    now(provider.check(&ty(), inputs(&[("password", secret())]))).unwrap();
    let checked = now(provider.check(&ty(), inputs(&[("fill", Value::from(true))]))).unwrap();
    assert_eq!(checked.get("filled"), Some(&Input::Known(secret())));
    let plain = inputs(&[("user", Value::from(CANARY))]);
    assert_eq!(now(provider.check(&ty(), plain.clone())), Ok(plain), "a given value stays as it is");
    let Diff { problems, .. } = now(provider.diff(&record(&[("trouble", Value::from(true))]), &inputs(&[])));
    assert_eq!(problems[0].message, "trouble with [secret]");
}

#[test]
fn errors_of_marks_places_and_lists_show_no_secret_of_the_run() {
    let (_, provider) = veiled();
    now(provider.check(&ty(), inputs(&[("password", secret())]))).unwrap();
    let marks = now(provider.ownership().unwrap().marks()).unwrap_err();
    assert_eq!(marks.0, "trouble with [secret]");
    assert_eq!(now(provider.place()).unwrap_err().message, "trouble with [secret]");
    let listed = now(provider.listing().unwrap().list(&ty(), crate::ListScope::All, &Map::new()));
    assert_eq!(listed.unwrap_err().message, "trouble with [secret]");
    let token = OperationToken::try_from("token".to_owned()).unwrap();
    assert_eq!(now(provider.may_still_run(&ty(), &token)).as_deref(), Some("trouble with [secret]"));
    let settled = now(provider.settle_work(&ty(), &token, Statement::DidNotHappen));
    assert_eq!(settled.unwrap_err().message, "trouble with [secret]");
}
