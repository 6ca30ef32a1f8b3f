//! Runs after other runs: late plans, the base after a takeover, claims of dead runs, earlier states and
//! imports.

use std::path::Path;
use std::sync::Arc;

use stead_journal::{JournalError, OpenRequest, ReadVersion, Takeover, load, load_run, open, read_head};
use stead_model::{Epoch, RunId, RunResult, StackId};
use stead_state::{Departure, Record, Snapshot, StackRef};
use stead_store::Store;
use stead_world::World;

use crate::bench::{create, keys, overwrite, ran, recorded, request, resource, setup};

fn planned(store: &Arc<dyn Store>, claims: &Path, planned_on: &ReadVersion) -> OpenRequest {
    OpenRequest { planned_on: Some(planned_on.clone()), ..request(store, claims, Takeover::IfDead) }
}

#[tokio::test]
async fn late_plan_is_refused_with_the_holder_or_with_a_changed_state() {
    let (dir, store) = setup();
    let planned_on = load(&store, &keys()).await.unwrap().version;
    let holder = open(request(&store, dir.path(), Takeover::IfDead)).await.unwrap();
    let late = open(planned(&store, dir.path(), &planned_on)).await;
    assert!(matches!(late.err(), Some(JournalError::Held(owner)) if owner.run == holder.id()));
    drop(holder);
    let late = open(planned(&store, dir.path(), &planned_on)).await;
    assert!(matches!(late.err(), Some(JournalError::StateChanged)), "the stack has no holder any more");
}

#[tokio::test]
async fn takeover_publishes_the_recovered_state_and_deletes_the_old_journal_except_its_seal() {
    let (dir, store) = setup();
    let first = open(request(&store, dir.path(), Takeover::IfDead)).await.unwrap();
    create(&first, "a").await.unwrap();
    drop(first);
    let second = open(request(&store, dir.path(), Takeover::IfDead)).await.unwrap();
    let (head, _) = read_head(&store, &keys()).await.unwrap().unwrap();
    assert_eq!((head.epoch, head.base), (Epoch(2), Epoch(2)));
    assert!(head.snapshot.is_some());
    assert_eq!(store.list(&keys().journal(Epoch(1))).await.unwrap().len(), 1, "the seal");
    drop(second);
    assert_eq!(recorded(&store).await, ["a"]);
}

fn claims(folder: &Path) -> usize {
    std::fs::read_dir(folder).unwrap().count()
}

#[tokio::test(start_paused = true)]
async fn claim_of_a_dead_run_is_removed_only_on_its_own_machine() {
    let (dir, store) = setup();
    drop(open(request(&store, dir.path(), Takeover::IfDead)).await.unwrap());
    assert_eq!(claims(dir.path()), 1);
    let mut elsewhere = request(&store, dir.path(), Takeover::Always);
    Arc::make_mut(&mut elsewhere.world.host).name = "another-machine".into();
    drop(open(elsewhere).await.unwrap());
    assert_eq!(claims(dir.path()), 2, "another machine cannot tell whose file it is");
    let mut elsewhere = request(&store, dir.path(), Takeover::IfDead);
    Arc::make_mut(&mut elsewhere.world.host).name = "another-machine".into();
    drop(open(elsewhere).await.unwrap());
    assert_eq!(claims(dir.path()), 2, "its own claim was replaced by a new one");
}

#[tokio::test]
async fn folders_above_a_claim_are_durable_before_the_run_starts() {
    let (dir, store) = setup();
    let folder = dir.path().join("a/b");
    std::fs::create_dir_all(&folder).unwrap();
    let world = World::real();
    let request = OpenRequest { world: world.clone(), ..request(&store, &folder, Takeover::IfDead) };
    let _run = open(request).await.unwrap();
    assert_eq!(world.files.syncs(), 3, "the claims folder and the two above it");
}

#[tokio::test]
async fn state_at_the_end_of_a_run_can_be_read_later() {
    let (dir, store) = setup();
    ran(&store, dir.path(), &["a"]).await;
    ran(&store, dir.path(), &["b"]).await;
    let then = load_run(&store, &keys(), &RunId("run-1".into())).await.unwrap().unwrap();
    let names: Vec<_> = then.resources.iter().map(|resource| resource.name.short().to_owned()).collect();
    assert_eq!(names, ["a"]);
    assert_eq!(then.run, Some(RunId("run-1".into())));
    assert!(load_run(&store, &keys(), &RunId("run-9".into())).await.unwrap().is_none());
    overwrite(&store, &keys().history(&RunId("run-2".into())), "no record").await;
    let damaged = load_run(&store, &keys(), &RunId("run-2".into())).await;
    assert!(matches!(damaged, Err(JournalError::Format { .. })), "{damaged:?}");
}

#[tokio::test]
async fn imported_state_belongs_to_the_importing_stack() {
    let (dir, store) = setup();
    let run = open(request(&store, dir.path(), Takeover::IfDead)).await.unwrap();
    create(&run, "a").await.unwrap();
    let to = StackRef { environment: "prod".into(), target: "local".into() };
    let departure = Departure { transfer: "t".into(), to, uids: vec![resource("a").uid] };
    run.submit(Record::Depart { departure }).durable().await.unwrap();
    let before = run.close(RunResult::Succeeded).await.unwrap().state;
    let run = open(request(&store, dir.path(), Takeover::IfDead)).await.unwrap();
    let (stack, id) = (run.stack().clone(), run.id());
    let mut imported = resource("there");
    imported.id = Some(stead_model::PhysicalId("i".into()));
    let foreign = Snapshot { uids: 3, ..Snapshot::empty(StackId("another".into())) }.with(vec![imported]);
    let closed = run.close_with(foreign).await.unwrap();
    assert_eq!(closed.state.stack(), &stack);
    assert_eq!(
        closed.state.transfers(),
        before.transfers(),
        "an import does not change the stack's own transfers"
    );
    assert!(!before.transfers().is_empty());
    let (head, _) = read_head(&store, &keys()).await.unwrap().unwrap();
    assert_eq!((head.owner, head.base, head.snapshot), (None, Epoch(3), Some(closed.snapshot)));
    assert_eq!(id, RunId("run-2".into()));
    assert_eq!(recorded(&store).await, ["there"]);
}
