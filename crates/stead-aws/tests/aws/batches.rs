//! Batch reads: one list for many resources of a type that has only an identifier.

use stead_cloud::Fault;
use stead_model::{PhysicalId, Resource, TypeToken};
use stead_provider::{BatchReads, CallOutcome, Provider};

use crate::bench::{BUCKET, Bench, map, record};

const COUNT: usize = 120;

fn batches(bench: &Bench) -> &dyn BatchReads {
    bench.provider.batch_reads().unwrap()
}

/// Returns the types that a list tells about.
fn covered(bench: &Bench) -> Vec<TypeToken> {
    let catalog = bench.provider.catalog();
    catalog.tokens_of("aws").filter(|token| batches(bench).covers(token)).cloned().collect()
}

/// Creates resources of a type whose identifier the service makes.
async fn existing(bench: &Bench) -> Vec<Resource> {
    for token in covered(bench) {
        if !matches!(bench.create(token.as_str(), "{}").await, CallOutcome::Done(_)) {
            continue;
        }
        let mut made = Vec::new();
        for _ in 0..COUNT {
            made.push(bench.created(token.as_str(), "{}").await);
        }
        return made;
    }
    panic!("{:?}", covered(bench));
}

#[test]
fn lists_tell_about_types_that_have_only_an_identifier() {
    let bench = Bench::new();
    let covered = covered(&bench);
    assert!(!batches(&bench).covers(&TypeToken(BUCKET.into())));
    assert!((10..=40).contains(&covered.len()), "{covered:?}");
}

#[tokio::test]
async fn many_resources_are_read_with_one_list_as_reads_would_find_them() {
    let bench = Bench::new();
    let resources = existing(&bench).await;
    let all: Vec<&Resource> = resources.iter().collect();
    let (lists, reads) = (bench.calls("ListResources"), bench.calls("GetResource"));
    let told = batches(&bench).read_all(&all).await.unwrap();
    assert_eq!(bench.calls("ListResources") - lists, 2, "a page has 100 resources");
    assert_eq!(bench.calls("GetResource"), reads);
    for (resource, told) in resources.iter().zip(&told).take(3) {
        assert_eq!(told.as_ref(), bench.read(resource).await.as_ref());
    }
    assert!(told.iter().all(Option::is_some));
}

#[tokio::test]
async fn list_does_not_tell_about_a_resource_that_it_lacks() {
    let bench = Bench::new();
    let mut resources = existing(&bench).await;
    let gone = record(resources[0].ty.as_str(), map("{}"));
    resources.push(Resource { id: Some(PhysicalId("gone".into())), ..gone });
    let all: Vec<&Resource> = resources.iter().collect();
    let told = batches(&bench).read_all(&all).await.unwrap();
    assert_eq!(told.iter().filter(|told| told.is_none()).count(), 1);
    assert_eq!(told.last(), Some(&None));
    bench.fail_times(Fault::InternalError, "ListResources", 50);
    assert!(batches(&bench).read_all(&all).await.is_err());
}
