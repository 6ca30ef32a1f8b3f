//! Import of everything that exists: one resource of each type, made outside of stead, found by lists and declared.

use std::collections::BTreeSet;
use std::sync::Arc;

use stead::ops::{ListScope, Look, Wait};
use stead::plan::Action;
use stead::{Existing, ExistingRequest, ExistingSurvey, Reference, existing};
use stead_cloud::{Quotas, References};
use stead_model::Value;
use stead_schema::cfn::list_parent_keys;
use stead_schema::token_of;
use stead_world::{SimulatedClock, Timestamp};

use crate::bench::{Bench, apply, told};
use crate::census::manageable;
use crate::program::TestProgram;
use crate::subject::{Size, Subject, catalog, schema_of};

/// Returns the types whose resources a list returns without a parent.
fn listable() -> BTreeSet<String> {
    let listed = manageable().into_iter().filter(|ty| {
        let schema = schema_of(catalog().get(ty).unwrap());
        schema.handlers.list.is_some() && list_parent_keys(&schema.type_name).is_empty()
    });
    listed.map(|ty| ty.to_string()).collect()
}

#[test]
fn everything_that_can_be_listed_is_imported_and_declared_so_that_nothing_is_left_to_do() {
    let clock = SimulatedClock::starting_at(Timestamp(1_767_225_600_000));
    let bench = Bench::new(Arc::new(clock.clone()));
    bench.cloud.configure(|settings| {
        (settings.quotas, settings.references) = (Quotas::Ignored, References::Ignored);
    });
    for ty in manageable() {
        let it = Subject::new(&ty, Size::Some).unwrap().it().clone();
        bench.cloud.insert(&bench.place(), &it.schema().type_name, &it.inputs).unwrap();
    }
    clock.block_on(imported(&bench)).unwrap();
}

async fn imported(bench: &Bench) {
    let stack = bench.stack();
    let request = ExistingRequest {
        types: Vec::new(),
        scope: ListScope::All,
        tag: None,
        module: "main".to_owned(),
        written: String::new(),
    };
    let ExistingSurvey { found, unread, unlisted, .. } = existing(&stack.workspace, &request).await.unwrap();
    assert!(unread.is_empty(), "{unread:?}");
    let types: BTreeSet<String> = found.iter().map(|found| found.import.ty.to_string()).collect();
    // The parents of most children are others than the sample names, so that their lists are empty.
    let missed: Vec<String> = listable().difference(&types).cloned().collect();
    assert!(missed.is_empty(), "{missed:?}");
    assert!(unlisted.iter().all(|(ty, _)| !types.contains(ty.as_str())));
    // `--list` returns the same ids, with the names as AWS writes them.
    let bucket = stack
        .workspace
        .list_resources("AWS::S3::Bucket", ListScope::Unowned, &Default::default(), None)
        .await
        .unwrap();
    assert_eq!((bucket.len(), token_of("AWS::S3::Bucket").unwrap().as_str()), (1, "aws.s3.Bucket"));

    let program = TestProgram::of_text(typescript(&found)).unwrap();
    let imports: Vec<_> = found.iter().map(|found| found.import.clone()).collect();
    let settings = (Wait::No, Vec::new());
    let planned = stack.workspace.preview_imports(&program, &imports, settings, &mut |_| {}).await;
    let proposal = planned.map_err(|error| told(&error)).unwrap();
    let is_import =
        |action: &Action| matches!(action, Action::Import { .. } | Action::Record { .. } | Action::Barrier);
    let others = proposal.plan().steps.iter().filter(|step| !is_import(&step.action));
    let others: Vec<String> = others.map(|step| step.name.to_string()).collect();
    assert!(others.is_empty(), "{} would change: {others:?}", others.len());
    apply(proposal).await.unwrap();

    let undeclared = found.iter().filter(|found| found.incomplete.is_some()).count();
    for look in [Look::Recorded, Look::All] {
        let proposal = stack.plan(&program, look).await.map_err(|error| told(&error)).unwrap();
        let steps: Vec<String> = proposal.plan().steps.iter().map(|step| step.name.to_string()).collect();
        assert!(proposal.is_empty(), "{look:?}: {steps:?}");
        assert_eq!(proposal.undeclared_imports().len(), undeclared);
    }
    assert!(undeclared * 10 < found.len(), "{undeclared} of {} are not declared", found.len());
}

/// Returns the declarations of all resources that can be declared.
fn typescript(found: &[Existing]) -> String {
    let mut text = "import * as aws from \"stead/aws\";\n".to_owned();
    for Existing { import, variable, inputs, references, .. } in
        found.iter().filter(|found| found.incomplete.is_none())
    {
        let inputs = literal("", &Value::Map(inputs.clone()), references);
        let id = Value::from(import.name.short()).to_json();
        text.push_str(&format!("const {variable} = new {}({inputs}, {{ id: {id} }});\n", import.ty));
    }
    text
}

fn literal(key: &str, value: &Value, references: &[Reference]) -> String {
    match value {
        Value::Map(map) => {
            let members = map.iter().map(|(key, value)| {
                format!("{}: {}", Value::from(key.as_str()).to_json(), literal(key, value, references))
            });
            format!("{{ {} }}", members.collect::<Vec<_>>().join(", "))
        }
        Value::List(items) => {
            let items = items.iter().map(|item| literal(key, item, references));
            format!("[{}]", items.collect::<Vec<_>>().join(", "))
        }
        Value::String(text) => {
            let is_whole = |reference: &&Reference| {
                reference.key == key && reference.text == text.as_str() && reference.value == reference.text
            };
            match references.iter().find(is_whole) {
                Some(Reference { variable, property, .. }) => {
                    format!("{variable}[{}]", Value::from(property.as_str()).to_json())
                }
                None => value.to_json(),
            }
        }
        plain => plain.to_json(),
    }
}
