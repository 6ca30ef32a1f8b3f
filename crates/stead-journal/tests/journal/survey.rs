//! What a look at a damaged stack finds, and what it proposes.

use std::path::Path;
use std::sync::Arc;

use stead_journal::{JournalError, Survey, Takeover, open, read_head, rename, survey};
use stead_model::{Digest, Environment, RunResult, Seq};
use stead_state::{Absent, Batch, Record, Way};
use stead_store::Store;

use crate::bench::{append, batch, begin, break_a_rule, create, dying, keys, opening, overwrite, ran, setup};

async fn look(store: &Arc<dyn Store>) -> Survey {
    survey(store, &keys()).await.unwrap()
}

async fn lose_head(store: &Arc<dyn Store>) {
    store.delete(&keys().head()).await.unwrap();
}

fn ways(survey: &Survey) -> Vec<Way> {
    survey.proposals.iter().map(|proposal| proposal.way.clone()).collect()
}

fn history(run: &str) -> Way {
    Way::History { run: run.to_owned() }
}

fn rebuild(folded: usize) -> Way {
    Way::Rebuild { folded, unreadable: None }
}

fn reserve(uids: u64) -> Vec<Record> {
    vec![Record::Reserve { uids }]
}

/// A run that makes these, and dies.
async fn died(store: &Arc<dyn Store>, claims: &Path, names: &[&str]) {
    let run = open(opening(store, claims, Takeover::IfDead)).await.unwrap();
    for name in names {
        create(&run, name).await.unwrap();
    }
}

#[tokio::test]
async fn nothing_is_proposed_where_nothing_is_wrong() {
    let (dir, store) = setup();
    let nothing = look(&store).await;
    assert!(nothing.is_sound() && nothing.proposals.is_empty() && nothing.recorded.is_none());
    // A run that ends while an operation is under way: recorded as it is, not as a repair would have it.
    let run = open(opening(&store, dir.path(), Takeover::IfDead)).await.unwrap();
    create(&run, "a").await.unwrap();
    begin(&run, "b").await.unwrap();
    let closed = run.close(RunResult::Failed).await.unwrap();
    let found = look(&store).await;
    assert!(found.is_sound() && found.proposals.is_empty(), "{found:?}");
    assert_eq!(found.recorded.unwrap().encode().1, closed.snapshot);
    let run = open(opening(&store, dir.path(), Takeover::IfDead)).await.unwrap();
    run.leave(Absent::Removed).await.unwrap();
    let removed = look(&store).await;
    assert!(removed.is_sound() && removed.recorded.is_none() && removed.proposals.is_empty());
}

#[tokio::test]
async fn a_stack_that_moved_is_looked_for_where_it_is() {
    let (dir, store) = setup();
    let run = open(opening(&store, dir.path(), Takeover::IfDead)).await.unwrap();
    rename(run, &Environment::new("prod")).await.unwrap();
    let found = survey(&store, &keys()).await;
    assert!(matches!(found, Err(JournalError::Renamed { to }) if to == "prod"));
}

#[tokio::test]
async fn a_lost_head_is_missed_by_what_ran_and_by_what_was_written() {
    let problem = [format!("{} is missing", keys().head())];
    let (dir, store) = setup();
    ran(&store, dir.path(), &["a"]).await; // leaves a history, and no journal
    lose_head(&store).await;
    let found = look(&store).await;
    assert_eq!(found.problems, problem);
    assert!(!found.is_sound() && found.recorded.is_none());
    assert_eq!(
        ways(&found),
        [history("run-1")],
        "the snapshot is all there is, so there is nothing to rebuild"
    );
    let (dir, store) = setup();
    died(&store, dir.path(), &["a"]).await; // leaves a journal, and no history
    lose_head(&store).await;
    let found = look(&store).await;
    assert_eq!(found.problems, problem);
    assert!(found.proposals.is_empty(), "no snapshot says whose journal it is");
}

#[tokio::test]
async fn the_newest_snapshot_and_the_journal_after_it_make_the_state_again() {
    let (dir, store) = setup();
    for name in ["a", "b", "c", "d", "e", "f"] {
        ran(&store, dir.path(), &[name]).await;
    }
    died(&store, dir.path(), &["g"]).await;
    lose_head(&store).await;
    let found = look(&store).await;
    // Three records: uids are reserved, the operation begins and ends.
    let mut expected = vec![rebuild(3)];
    expected.extend(["run-6", "run-5", "run-4", "run-3", "run-2"].map(history));
    assert_eq!(ways(&found), expected);
    let resources = |at: usize| found.proposals[at].snapshot.resources.len();
    assert_eq!((resources(0), resources(1), resources(5)), (7, 6, 2));
}

#[tokio::test]
async fn a_journal_after_a_gap_speaks_of_another_state() {
    let (dir, store) = setup();
    ran(&store, dir.path(), &["a"]).await;
    lose_head(&store).await;
    append(&store, &batch(4, 0, None, reserve(40))).await;
    assert_eq!(ways(&look(&store).await), [history("run-1")], "epochs 2 and 3 are missing");
    append(&store, &batch(2, 0, None, reserve(20))).await;
    let found = look(&store).await;
    assert_eq!(ways(&found), [rebuild(1), history("run-1")]);
    assert_eq!(found.proposals[0].snapshot.uids, 20);
}

#[tokio::test]
async fn a_snapshot_of_no_run_is_gone_on_from_as_it_is() {
    let (dir, store) = setup();
    died(&store, dir.path(), &["a"]).await;
    died(&store, dir.path(), &[]).await; // took over: a snapshot in between, and the seal of epoch 1
    lose_head(&store).await;
    let found = look(&store).await;
    assert_eq!(ways(&found), [rebuild(0)]);
    assert_eq!(found.proposals[0].snapshot.resources.len(), 1);
}

#[tokio::test]
async fn a_journal_that_the_snapshot_holds_already_is_not_folded_twice() {
    let (dir, store) = setup();
    died(&store, dir.path(), &["a"]).await;
    let opening = dying(&store, dir.path(), "run.publish.after_snapshot");
    assert!(tokio::spawn(open(opening)).await.is_err(), "it died");
    lose_head(&store).await;
    let found = look(&store).await;
    assert_eq!(ways(&found), [rebuild(0)]);
    assert_eq!(found.problems.len(), 1, "{:?}", found.problems);
}

#[tokio::test]
async fn records_are_counted_and_seals_are_none() {
    let (dir, store) = setup();
    died(&store, dir.path(), &["a"]).await;
    let opening = dying(&store, dir.path(), "run.open.after_seal");
    assert!(tokio::spawn(open(opening)).await.is_err(), "it died");
    let place = keys().batch(stead_model::Epoch(2), Seq(0));
    overwrite(&store, &place, "no batch").await;
    let found = look(&store).await;
    assert_eq!(found.problems.len(), 1);
    assert!(found.problems[0].starts_with(&place.to_string()), "{:?}", found.problems);
    let unreadable = Some(found.problems[0].clone());
    assert_eq!(ways(&found), [Way::Rebuild { folded: 3, unreadable }]);
}

#[tokio::test]
async fn what_cannot_be_read_ends_a_rebuild_and_leaves_doubts() {
    let (dir, store) = setup();
    let run = open(opening(&store, dir.path(), Takeover::IfDead)).await.unwrap();
    begin(&run, "a").await.unwrap();
    run.close(RunResult::Failed).await.unwrap();
    died(&store, dir.path(), &["b"]).await;
    overwrite(&store, &keys().batch(stead_model::Epoch(2), Seq(0)), "no batch").await;
    let found = look(&store).await;
    assert!(found.recorded.is_some() && found.violations.is_empty());
    let unreadable = Some(found.problems[0].clone());
    assert_eq!(ways(&found), [Way::Rebuild { folded: 0, unreadable }, history("run-1")]);
    let doubt = |at: usize| found.proposals[at].snapshot.pending[0].doubt.is_some();
    assert!(doubt(0), "nobody will end it any more");
    assert!(!doubt(1), "that one is as it was");
}

#[tokio::test]
async fn a_batch_that_does_not_follow_ends_a_rebuild() {
    let (dir, store) = setup();
    ran(&store, dir.path(), &["a"]).await;
    died(&store, dir.path(), &[]).await;
    let first = append(&store, &batch(2, 0, None, reserve(20))).await;
    let good = batch(2, 1, Some(first), reserve(30));
    let place = keys().batch(good.epoch, good.seq);
    let foreign = [
        Batch { epoch: good.epoch.next(), ..good.clone() },
        Batch { seq: Seq(2), ..good.clone() },
        Batch { previous: Some(Digest::of(b"another")), ..good.clone() },
        Batch { previous: None, ..good.clone() },
    ];
    for batch in foreign {
        overwrite(&store, &place, batch.encode()).await;
        let found = look(&store).await;
        let problem = format!("{place} does not follow the record before it");
        assert_eq!(found.problems, std::slice::from_ref(&problem), "{batch:?}");
        let rebuilt = Way::Rebuild { folded: 1, unreadable: Some(problem) };
        assert_eq!(ways(&found), [rebuilt, history("run-1")]);
        assert_eq!(found.proposals[0].snapshot.uids, 20);
    }
    append(&store, &good).await;
    assert!(look(&store).await.is_sound());
}

#[tokio::test]
async fn a_snapshot_that_is_lost_or_damaged_is_told_and_not_used() {
    let (dir, store) = setup();
    ran(&store, dir.path(), &["a"]).await;
    let closed = ran(&store, dir.path(), &["b"]).await;
    let key = keys().snapshot(&closed.snapshot);
    let bytes = store.get(&key).await.unwrap().unwrap().body;
    store.delete(&key).await.unwrap();
    let found = look(&store).await;
    assert_eq!(found.problems, [format!("{key} is missing, and head refers to it")]);
    assert_eq!(ways(&found), [history("run-1")]);
    overwrite(&store, &key, bytes.slice(..20)).await;
    let found = look(&store).await;
    assert!(found.problems[0].starts_with(&format!("{key}: ")), "{:?}", found.problems);
    assert_eq!(ways(&found), [history("run-1")]);
    // Whole, and under a name that is not its own.
    store.delete(&key).await.unwrap();
    overwrite(&store, &keys().snapshot(&Digest::of(b"another")), bytes).await;
    assert_eq!(ways(&look(&store).await), [history("run-1")]);
}

#[tokio::test]
async fn a_state_that_breaks_a_rule_is_mended() {
    let (dir, store) = setup();
    ran(&store, dir.path(), &[]).await;
    let (head, _) = read_head(&store, &keys()).await.unwrap().unwrap();
    break_a_rule(&store, &head).await;
    let found = look(&store).await;
    assert!(found.problems.is_empty() && found.violations.len() == 1 && !found.is_sound());
    assert_eq!(ways(&found), [Way::Sort, history("run-1")]);
    assert_eq!(found.proposals[0].snapshot.uids, 1);
}

#[tokio::test]
async fn a_damaged_head_is_told_and_a_newer_one_is_left_alone() {
    let (dir, store) = setup();
    ran(&store, dir.path(), &["a"]).await;
    let head = store.get(&keys().head()).await.unwrap().unwrap().body;
    overwrite(&store, &keys().head(), head.slice(..20)).await;
    let found = look(&store).await;
    assert_eq!(found.problems.len(), 1);
    assert!(found.problems[0].starts_with(&format!("{}: ", keys().head())), "{:?}", found.problems);
    assert_eq!(ways(&found), [history("run-1")]);
    let newer = String::from_utf8(head.to_vec()).unwrap().replace("\"format\":1", "\"format\":2");
    overwrite(&store, &keys().head(), newer).await;
    let found = survey(&store, &keys()).await;
    assert!(matches!(found, Err(JournalError::Format { key, .. }) if key == keys().head().to_string()));
}
