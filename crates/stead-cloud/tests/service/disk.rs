//! A cloud in a folder: it is there again, also after a kill, and for another process.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use stead_cloud::{Cloud, Delay, Settings};
use stead_world::testing::FastClock;
use stead_world::{Timestamp, World};

use crate::client::Client;

const FOLDER: &str = "/cloud";

fn world(files: Vec<(PathBuf, Vec<u8>)>) -> World {
    World { clock: Arc::new(FastClock::at(Timestamp(1_000_000_000))), ..World::in_memory(files) }
}

fn opened(world: &World, settings: Settings) -> Client {
    let cloud = Cloud::open(world, Path::new(FOLDER), settings).unwrap();
    Client::of(cloud, FastClock::at(Timestamp(1_000_000_000)))
}

/// Returns the files of a cloud, without its lock.
fn files(world: &World) -> Vec<(PathBuf, Vec<u8>)> {
    let names = world.files.list(Path::new(FOLDER)).unwrap();
    let paths = names.iter().filter(|name| *name != "lock").map(|name| Path::new(FOLDER).join(name));
    paths.map(|path| (path.clone(), world.files.read(&path).unwrap())).collect()
}

#[tokio::test]
async fn a_cloud_keeps_resources_and_requests() {
    let world = world(Vec::new());
    let slow = Settings { operations: Delay::looks(2), ..Settings::default() };
    let client = opened(&world, slow.clone());
    client.made("AWS::S3::Bucket", r#"{"BucketName":"bucket-a"}"#).await;
    let event = client.create("AWS::S3::Bucket", r#"{"BucketName":"bucket-b"}"#).await.unwrap();
    drop(client);
    let client = opened(&world, slow);
    assert!(client.get("AWS::S3::Bucket", "bucket-a").await.is_ok());
    assert_eq!(client.finished(&event).await["OperationStatus"], "SUCCESS");
    assert!(client.get("AWS::S3::Bucket", "bucket-b").await.is_ok());
}

#[tokio::test]
async fn two_processes_share_a_cloud() {
    let folder = tempfile::tempdir().unwrap();
    let open = || {
        let cloud = Cloud::open(&World::real(), folder.path(), Settings::default()).unwrap();
        Client::of(cloud, FastClock::at(Timestamp(0)))
    };
    let (one, two) = (open(), open());
    for number in 0..200 {
        let client = if number % 2 == 0 { &one } else { &two };
        client.made("AWS::SQS::Queue", &format!(r#"{{"QueueName":"q{number}"}}"#)).await;
    }
    assert_eq!(one.cloud.resources().unwrap().len(), 200);
    assert_eq!(one.cloud.resources().unwrap(), two.cloud.resources().unwrap());
    // Changes are folded into a snapshot, so the folder stays small.
    assert!(World::real().files.list(folder.path()).unwrap().len() < 300);
    assert_eq!(open().cloud.resources().unwrap().len(), 200);
}

#[tokio::test]
async fn a_cloud_that_was_killed_opens_with_all_whole_changes() {
    let first = world(Vec::new());
    let client = opened(&first, Settings::default());
    for number in 0..150 {
        let event = client
            .create("AWS::S3::Bucket", &format!(r#"{{"BucketName":"bucket-{number}"}}"#))
            .await
            .unwrap();
        client.finished(&event).await;
        if number % 3 == 0 {
            client.gone("AWS::S3::Bucket", &format!("bucket-{number}")).await;
        }
    }
    let all = client.cloud.resources().unwrap();
    assert_eq!(all.len(), 100);
    let whole = files(&first);
    let snapshots = whole.iter().filter(|(path, _)| path.to_string_lossy().contains("snapshot-")).count();
    assert_eq!(snapshots, 1);
    assert_eq!(opened(&world(whole.clone()), Settings::default()).cloud.resources().unwrap(), all);
    // A change may be torn, and a temporary file may be left; what came before is there.
    for kept in 0..whole.len() - snapshots {
        let mut left = whole.clone();
        let bytes = left[kept].1.len() / 2;
        left[kept].1.truncate(bytes);
        left.push((Path::new(FOLDER).join(".tmp-change-000000000999.json"), b"torn".to_vec()));
        let again = opened(&world(left), Settings::default());
        let found = again.cloud.resources().unwrap();
        let before: Vec<_> = whole[..kept].iter().chain(&whole[whole.len() - snapshots..]).cloned().collect();
        assert_eq!(found, opened(&world(before), Settings::default()).cloud.resources().unwrap(), "{kept}");
        again.made("AWS::SQS::Queue", r#"{"QueueName":"later"}"#).await;
        assert_eq!(again.cloud.resources().unwrap().len(), found.len() + 1);
    }
}
