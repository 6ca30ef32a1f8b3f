//! Who comes after whom: plans that came too late, what a taker leaves, and what of a dead run is cleared away.

use std::path::Path;
use std::sync::Arc;

use stead_journal::{JournalError, Opening, Seen, Takeover, load, load_run, open, read_head};
use stead_model::{Epoch, RunId, RunResult, StackId};
use stead_state::{Departure, Record, Snapshot, StackRef};
use stead_store::Store;
use stead_world::World;

use crate::bench::{create, keys, opening, overwrite, ran, recorded, resource, setup};

fn planned(store: &Arc<dyn Store>, claims: &Path, planned_on: &Seen) -> Opening {
    Opening { planned_on: Some(planned_on.clone()), ..opening(store, claims, Takeover::IfDead) }
}

#[tokio::test]
async fn who_planned_before_another_run_began_hears_who_holds_the_stack_or_that_it_moved() {
    let (dir, store) = setup();
    let planned_on = load(&store, &keys()).await.unwrap().version;
    let holder = open(opening(&store, dir.path(), Takeover::IfDead)).await.unwrap();
    let late = open(planned(&store, dir.path(), &planned_on)).await;
    assert!(matches!(late.err(), Some(JournalError::Held(owner)) if owner.run == holder.id()));
    drop(holder);
    let late = open(planned(&store, dir.path(), &planned_on)).await;
    assert!(matches!(late.err(), Some(JournalError::Moved)), "nobody holds it any more");
}

#[tokio::test]
async fn a_taker_makes_what_it_found_its_base_and_clears_the_journal_but_for_the_seal() {
    let (dir, store) = setup();
    let first = open(opening(&store, dir.path(), Takeover::IfDead)).await.unwrap();
    create(&first, "a").await.unwrap();
    drop(first);
    let second = open(opening(&store, dir.path(), Takeover::IfDead)).await.unwrap();
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
async fn the_claim_of_a_dead_run_is_cleared_away_by_its_own_machine_alone() {
    let (dir, store) = setup();
    drop(open(opening(&store, dir.path(), Takeover::IfDead)).await.unwrap());
    assert_eq!(claims(dir.path()), 1);
    let mut elsewhere = opening(&store, dir.path(), Takeover::Always);
    Arc::make_mut(&mut elsewhere.world.host).name = "another-machine".into();
    drop(open(elsewhere).await.unwrap());
    assert_eq!(claims(dir.path()), 2, "whose file that is, nobody there can tell");
    let mut elsewhere = opening(&store, dir.path(), Takeover::IfDead);
    Arc::make_mut(&mut elsewhere.world.host).name = "another-machine".into();
    drop(open(elsewhere).await.unwrap());
    assert_eq!(claims(dir.path()), 2, "its own went, and there is a new one");
}

#[tokio::test]
async fn the_folders_above_a_claim_are_on_the_disk_before_the_run_begins() {
    let (dir, store) = setup();
    let folder = dir.path().join("a/b");
    std::fs::create_dir_all(&folder).unwrap();
    let world = World::real();
    let opening = Opening { world: world.clone(), ..opening(&store, &folder, Takeover::IfDead) };
    let _run = open(opening).await.unwrap();
    assert_eq!(world.files.syncs(), 3, "the claims, and the two folders above them");
}

#[tokio::test]
async fn the_state_that_a_run_ended_with_can_be_read_later() {
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
async fn what_is_imported_belongs_to_the_stack_that_takes_it_in() {
    let (dir, store) = setup();
    let run = open(opening(&store, dir.path(), Takeover::IfDead)).await.unwrap();
    create(&run, "a").await.unwrap();
    let to = StackRef { environment: "prod".into(), target: "local".into() };
    let departure = Departure { transfer: "t".into(), to, uids: vec![resource("a").uid] };
    run.submit(Record::Depart { departure }).durable().await.unwrap();
    let before = run.close(RunResult::Succeeded).await.unwrap().state;
    let run = open(opening(&store, dir.path(), Takeover::IfDead)).await.unwrap();
    let (stack, id) = (run.stack().clone(), run.id());
    let mut there = resource("there");
    there.id = Some(stead_model::PhysicalId("i".into()));
    let foreign = Snapshot { uids: 3, ..Snapshot::empty(StackId("another".into())) }.with(vec![there]);
    let closed = run.close_with(foreign).await.unwrap();
    assert_eq!(closed.state.stack(), &stack);
    assert_eq!(closed.state.transfers(), before.transfers(), "what is on its way is the stack's own affair");
    assert!(!before.transfers().is_empty());
    let (head, _) = read_head(&store, &keys()).await.unwrap().unwrap();
    assert_eq!((head.owner, head.base, head.snapshot), (None, Epoch(3), Some(closed.snapshot)));
    assert_eq!(id, RunId("run-2".into()));
    assert_eq!(recorded(&store).await, ["there"]);
}
