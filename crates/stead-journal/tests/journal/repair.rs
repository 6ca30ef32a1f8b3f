//! A repair replaces a damaged state with a sound one, keeps the damaged objects, and fences earlier runs.

use std::path::Path;
use std::sync::Arc;

use stead_journal::{
    JournalError, OpenRequest, Run, Survey, Takeover, load_run, open, read_head, repair, survey,
};
use stead_model::{Digest, Epoch, RunId, RunResult, Seq};
use stead_state::{Batch, Proposal, Record, RunEnd, RunRecord, Snapshot};
use stead_store::Store;
use stead_world::World;

use crate::bench::{create, keys, overwrite, ran, recorded, request, setup};

async fn survey_stack(store: &Arc<dyn Store>) -> Survey {
    survey(store, &keys()).await.unwrap()
}

async fn take_proposal(store: &Arc<dyn Store>, survey: &Survey, at: usize) -> Result<Digest, JournalError> {
    repair(store, &keys(), &World::real(), survey, &survey.proposals[at]).await
}

async fn opened(store: &Arc<dyn Store>, claims: &Path) -> Run {
    open(request(store, claims, Takeover::IfDead)).await.unwrap()
}

#[tokio::test]
async fn run_that_is_alive_during_a_repair_without_a_head_is_fenced() {
    let (dir, store) = setup();
    ran(&store, dir.path(), &["a"]).await;
    let writer = opened(&store, dir.path()).await;
    create(&writer, "b").await.unwrap();
    store.delete(&keys().head()).await.unwrap();
    let survey = survey_stack(&store).await;
    let digest = take_proposal(&store, &survey, 0).await.unwrap();
    let (head, _) = read_head(&store, &keys()).await.unwrap().unwrap();
    // A run may have been opened in epoch 3 without writing anything; it is fenced too.
    assert_eq!((head.epoch, head.base, head.owner), (Epoch(4), Epoch(5), None));
    assert_eq!((head.snapshot, head.stack), (Some(digest.clone()), writer.stack().clone()));
    assert!(matches!(create(&writer, "c").await, Err(JournalError::Fenced)));
    for (epoch, seq) in [(2, 2), (3, 0)] {
        let seal = store.get(&keys().batch(Epoch(epoch), Seq(seq))).await.unwrap().unwrap();
        let seal = Batch::decode(&seal.body).unwrap();
        assert_eq!((seal.epoch, seal.seq), (Epoch(epoch), Seq(seq)));
        assert_eq!(seal.records, [Record::Seal { by: Epoch(4) }]);
        assert_eq!(seal.previous.is_some(), seq > 0);
    }
    assert_eq!(recorded(&store).await, ["a", "b"]);
    let run = RunId("run-4".into());
    assert_eq!(load_run(&store, &keys(), &run).await.unwrap().unwrap().run, Some(run.clone()));
    let record = store.get(&keys().history(&run)).await.unwrap().unwrap();
    let record = RunRecord::decode(&record.body).unwrap();
    assert_eq!((record.command.as_str(), record.result), ("state repair", RunEnd::Succeeded));
    assert_eq!(record.snapshot, digest);
}

#[tokio::test]
async fn epochs_continue_after_the_last_known_run() {
    let (dir, store) = setup();
    ran(&store, dir.path(), &["a"]).await;
    let last = ran(&store, dir.path(), &["b"]).await;
    store.delete(&keys().head()).await.unwrap();
    take_proposal(&store, &survey_stack(&store).await, 0).await.unwrap();
    let (head, _) = read_head(&store, &keys()).await.unwrap().unwrap();
    assert_eq!(head.epoch, Epoch(4), "epoch 2 is known, and 3 may have been opened");
    assert_ne!(head.snapshot, Some(last.snapshot), "the repair is a run of its own");
    assert_eq!(recorded(&store).await, ["a", "b"]);
}

#[tokio::test]
async fn damaged_head_is_stored_unchanged() {
    let (dir, store) = setup();
    ran(&store, dir.path(), &["a"]).await;
    overwrite(&store, &keys().head(), "no head").await;
    take_proposal(&store, &survey_stack(&store).await, 0).await.unwrap();
    let stored = store.get(&keys().replaced_head(&Digest::of(b"no head"))).await.unwrap().unwrap();
    assert_eq!(stored.body, "no head");
    assert_eq!(recorded(&store).await, ["a"]);
}

#[tokio::test]
async fn repair_fences_no_epoch_if_the_head_has_no_owner() {
    let (dir, store) = setup();
    ran(&store, dir.path(), &["a"]).await;
    let lost = ran(&store, dir.path(), &["b"]).await;
    store.delete(&keys().snapshot(&lost.snapshot)).await.unwrap();
    take_proposal(&store, &survey_stack(&store).await, 0).await.unwrap();
    let (head, _) = read_head(&store, &keys()).await.unwrap().unwrap();
    assert_eq!((head.epoch, head.base), (Epoch(3), Epoch(4)));
    assert!(store.list(&keys().journal(Epoch(2))).await.unwrap().is_empty());
    assert_eq!(recorded(&store).await, ["a"]);
}

#[tokio::test]
async fn stack_of_a_living_run_is_not_repaired_and_that_of_a_dead_one_is() {
    let (dir, store) = setup();
    ran(&store, dir.path(), &["a"]).await;
    let writer = opened(&store, dir.path()).await;
    create(&writer, "b").await.unwrap();
    overwrite(&store, &keys().batch(Epoch(2), Seq(1)), "no batch").await;
    let survey = survey_stack(&store).await;
    let refused = take_proposal(&store, &survey, 0).await;
    assert!(matches!(refused, Err(JournalError::Held(owner)) if owner.run == writer.id()));
    drop(writer);
    take_proposal(&store, &survey, 0).await.unwrap();
    let (head, _) = read_head(&store, &keys()).await.unwrap().unwrap();
    assert_eq!(head.epoch, Epoch(3));
    assert!(
        store.get(&keys().batch(Epoch(2), Seq(2))).await.unwrap().is_some(),
        "the dead run is fenced too"
    );
    let run = opened(&store, dir.path()).await;
    assert_eq!(run.in_doubt().len(), 1, "b began, but its outcome cannot be read");
}

#[tokio::test]
async fn proposal_that_violates_a_rule_is_refused() {
    let (dir, store) = setup();
    ran(&store, dir.path(), &["a"]).await;
    store.delete(&keys().head()).await.unwrap();
    let survey = survey_stack(&store).await;
    let Proposal { method: way, snapshot } = survey.proposals[0].clone();
    let broken = Proposal { method: way, snapshot: Snapshot { uids: 0, ..snapshot } };
    let refused = repair(&store, &keys(), &World::real(), &survey, &broken).await;
    assert!(matches!(refused, Err(JournalError::Integrity(_))), "{refused:?}");
    assert!(store.get(&keys().head()).await.unwrap().is_none());
}

#[tokio::test]
async fn repair_of_a_stack_that_changed_since_the_survey_changes_nothing() {
    let (dir, store) = setup();
    ran(&store, dir.path(), &["a"]).await;
    let lost = ran(&store, dir.path(), &["b"]).await;
    let key = keys().snapshot(&lost.snapshot);
    let bytes = store.get(&key).await.unwrap().unwrap().body;
    store.delete(&key).await.unwrap();
    let survey = survey_stack(&store).await;
    overwrite(&store, &key, bytes).await;
    let request = OpenRequest { command: "up".into(), ..request(&store, dir.path(), Takeover::IfDead) };
    open(request).await.unwrap().close(RunResult::Succeeded).await.unwrap();
    assert!(matches!(take_proposal(&store, &survey, 0).await, Err(JournalError::StateChanged)));
    assert_eq!(recorded(&store).await, ["a", "b"]);
}
