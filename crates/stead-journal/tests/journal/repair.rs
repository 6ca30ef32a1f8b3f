//! A repair puts a sound state in the place of a damaged one, keeps what was there, and keeps old writers out.

use std::path::Path;
use std::sync::Arc;

use stead_journal::{
    JournalError, Opening, Run, Survey, Takeover, load_run, open, read_head, repair, survey,
};
use stead_model::{Digest, Epoch, RunId, RunResult, Seq};
use stead_state::{Batch, Proposal, Record, RunRecord, Snapshot};
use stead_store::Store;
use stead_world::World;

use crate::bench::{create, keys, opening, overwrite, ran, recorded, setup};

async fn look(store: &Arc<dyn Store>) -> Survey {
    survey(store, &keys()).await.unwrap()
}

async fn mend(store: &Arc<dyn Store>, survey: &Survey, at: usize) -> Result<Digest, JournalError> {
    repair(store, &keys(), &World::real(), survey, &survey.proposals[at]).await
}

async fn opened(store: &Arc<dyn Store>, claims: &Path) -> Run {
    open(opening(store, claims, Takeover::IfDead)).await.unwrap()
}

#[tokio::test]
async fn a_writer_that_lived_through_a_repair_without_a_head_is_fenced() {
    let (dir, store) = setup();
    ran(&store, dir.path(), &["a"]).await;
    let writer = opened(&store, dir.path()).await;
    create(&writer, "b").await.unwrap();
    store.delete(&keys().head()).await.unwrap();
    let found = look(&store).await;
    let digest = mend(&store, &found, 0).await.unwrap();
    let (head, _) = read_head(&store, &keys()).await.unwrap().unwrap();
    // A run may have been opened in epoch 3 that wrote nothing: it is fenced too.
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
    assert_eq!((record.command.as_str(), record.result), ("state repair", RunResult::Succeeded));
    assert_eq!(record.snapshot, digest);
}

#[tokio::test]
async fn epochs_go_on_after_the_last_run_that_is_known_of() {
    let (dir, store) = setup();
    ran(&store, dir.path(), &["a"]).await;
    let last = ran(&store, dir.path(), &["b"]).await;
    store.delete(&keys().head()).await.unwrap();
    mend(&store, &look(&store).await, 0).await.unwrap();
    let (head, _) = read_head(&store, &keys()).await.unwrap().unwrap();
    assert_eq!(head.epoch, Epoch(4), "2 is known, and 3 may have been");
    assert_ne!(head.snapshot, Some(last.snapshot), "it is the end of a run of its own");
    assert_eq!(recorded(&store).await, ["a", "b"]);
}

#[tokio::test]
async fn a_damaged_head_is_kept_as_it_was() {
    let (dir, store) = setup();
    ran(&store, dir.path(), &["a"]).await;
    overwrite(&store, &keys().head(), "no head").await;
    mend(&store, &look(&store).await, 0).await.unwrap();
    let kept = store.get(&keys().kept(&Digest::of(b"no head"))).await.unwrap().unwrap();
    assert_eq!(kept.body, "no head");
    assert_eq!(recorded(&store).await, ["a"]);
}

#[tokio::test]
async fn nobody_is_fenced_where_head_says_that_nobody_writes() {
    let (dir, store) = setup();
    ran(&store, dir.path(), &["a"]).await;
    let lost = ran(&store, dir.path(), &["b"]).await;
    store.delete(&keys().snapshot(&lost.snapshot)).await.unwrap();
    mend(&store, &look(&store).await, 0).await.unwrap();
    let (head, _) = read_head(&store, &keys()).await.unwrap().unwrap();
    assert_eq!((head.epoch, head.base), (Epoch(3), Epoch(4)));
    assert!(store.list(&keys().journal(Epoch(2))).await.unwrap().is_empty());
    assert_eq!(recorded(&store).await, ["a"]);
}

#[tokio::test]
async fn what_somebody_living_holds_is_not_repaired_and_what_a_dead_one_held_is() {
    let (dir, store) = setup();
    ran(&store, dir.path(), &["a"]).await;
    let writer = opened(&store, dir.path()).await;
    create(&writer, "b").await.unwrap();
    overwrite(&store, &keys().batch(Epoch(2), Seq(1)), "no batch").await;
    let found = look(&store).await;
    let refused = mend(&store, &found, 0).await;
    assert!(matches!(refused, Err(JournalError::Held(owner)) if owner.run == writer.id()));
    drop(writer);
    mend(&store, &found, 0).await.unwrap();
    let (head, _) = read_head(&store, &keys()).await.unwrap().unwrap();
    assert_eq!(head.epoch, Epoch(3));
    assert!(store.get(&keys().batch(Epoch(2), Seq(2))).await.unwrap().is_some(), "it is fenced all the same");
    let run = opened(&store, dir.path()).await;
    assert_eq!(run.in_doubt().len(), 1, "b began, and its end cannot be read");
}

#[tokio::test]
async fn a_proposal_that_breaks_a_rule_is_refused() {
    let (dir, store) = setup();
    ran(&store, dir.path(), &["a"]).await;
    store.delete(&keys().head()).await.unwrap();
    let found = look(&store).await;
    let Proposal { way, snapshot } = found.proposals[0].clone();
    let broken = Proposal { way, snapshot: Snapshot { uids: 0, ..snapshot } };
    let refused = repair(&store, &keys(), &World::real(), &found, &broken).await;
    assert!(matches!(refused, Err(JournalError::Integrity(_))), "{refused:?}");
    assert!(read_head(&store, &keys()).await.unwrap().is_none());
}

#[tokio::test]
async fn a_repair_of_what_changed_since_it_was_looked_at_changes_nothing() {
    let (dir, store) = setup();
    ran(&store, dir.path(), &["a"]).await;
    let lost = ran(&store, dir.path(), &["b"]).await;
    let key = keys().snapshot(&lost.snapshot);
    let bytes = store.get(&key).await.unwrap().unwrap().body;
    store.delete(&key).await.unwrap();
    let found = look(&store).await;
    overwrite(&store, &key, bytes).await;
    let opening = Opening { command: "up".into(), ..opening(&store, dir.path(), Takeover::IfDead) };
    open(opening).await.unwrap().close(RunResult::Succeeded).await.unwrap();
    assert!(matches!(mend(&store, &found, 0).await, Err(JournalError::Moved)));
    assert_eq!(recorded(&store).await, ["a", "b"]);
}
