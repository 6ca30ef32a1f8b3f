//! Surveys of damaged stacks: problems and proposals.

use std::path::Path;
use std::sync::Arc;

use stead_journal::{JournalError, Survey, Takeover, open, read_head, rename, survey};
use stead_model::{Digest, Environment, RunResult, Seq};
use stead_state::{Absent, Batch, Record, RepairMethod};
use stead_store::Store;

use crate::bench::{append, batch, begin, break_a_rule, create, dying, keys, overwrite, ran, request, setup};

async fn survey_stack(store: &Arc<dyn Store>) -> Survey {
    survey(store, &keys()).await.unwrap()
}

async fn lose_head(store: &Arc<dyn Store>) {
    store.delete(&keys().head()).await.unwrap();
}

fn ways(survey: &Survey) -> Vec<RepairMethod> {
    survey.proposals.iter().map(|proposal| proposal.method.clone()).collect()
}

fn history(run: &str) -> RepairMethod {
    RepairMethod::History { run: run.to_owned() }
}

fn rebuild(folded: usize) -> RepairMethod {
    RepairMethod::Rebuild { folded, unreadable: None }
}

fn reserve(uids: u64) -> Vec<Record> {
    vec![Record::Reserve { uids }]
}

/// Performs a run that creates these resources and dies.
async fn run_and_die(store: &Arc<dyn Store>, claims: &Path, names: &[&str]) {
    let run = open(request(store, claims, Takeover::IfDead)).await.unwrap();
    for name in names {
        create(&run, name).await.unwrap();
    }
}

#[tokio::test]
async fn sound_stack_gets_no_proposals() {
    let (dir, store) = setup();
    let nothing = survey_stack(&store).await;
    assert!(nothing.is_sound() && nothing.proposals.is_empty() && nothing.recorded.is_none());
    // A run that ends while an operation is under way leaves a sound state.
    let run = open(request(&store, dir.path(), Takeover::IfDead)).await.unwrap();
    create(&run, "a").await.unwrap();
    begin(&run, "b").await.unwrap();
    let closed = run.close(RunResult::Failed).await.unwrap();
    let survey = survey_stack(&store).await;
    assert!(survey.is_sound() && survey.proposals.is_empty(), "{survey:?}");
    assert_eq!(survey.recorded.unwrap().encode().1, closed.snapshot);
    let run = open(request(&store, dir.path(), Takeover::IfDead)).await.unwrap();
    run.retire_stack(Absent::Removed).await.unwrap();
    let removed = survey_stack(&store).await;
    assert!(removed.is_sound() && removed.recorded.is_none() && removed.proposals.is_empty());
}

#[tokio::test]
async fn survey_of_a_renamed_stack_names_the_new_environment() {
    let (dir, store) = setup();
    let run = open(request(&store, dir.path(), Takeover::IfDead)).await.unwrap();
    rename(run, &Environment::new("prod")).await.unwrap();
    let refused = survey(&store, &keys()).await;
    assert!(matches!(refused, Err(JournalError::Renamed { to }) if to == "prod"));
}

#[tokio::test]
async fn missing_head_is_reported_if_there_is_a_history_or_a_journal() {
    let exist = "snapshots, journals or run records of the stack exist";
    let problem = [format!("{} is missing, but {exist}", keys().head())];
    let (dir, store) = setup();
    ran(&store, dir.path(), &["a"]).await; // leaves a history, and no journal
    lose_head(&store).await;
    let survey = survey_stack(&store).await;
    assert_eq!(survey.problems, problem);
    assert!(!survey.is_sound() && survey.recorded.is_none());
    assert_eq!(ways(&survey), [history("run-1")], "without a journal there is nothing to replay");
    let (dir, store) = setup();
    run_and_die(&store, dir.path(), &["a"]).await; // leaves a journal, and no history
    lose_head(&store).await;
    let survey = survey_stack(&store).await;
    assert_eq!(survey.problems, problem);
    assert!(survey.proposals.is_empty(), "without a snapshot the journal has no base");
}

#[tokio::test]
async fn state_is_rebuilt_from_the_newest_snapshot_and_the_journal_after_it() {
    let (dir, store) = setup();
    for name in ["a", "b", "c", "d", "e", "f"] {
        ran(&store, dir.path(), &[name]).await;
    }
    run_and_die(&store, dir.path(), &["g"]).await;
    lose_head(&store).await;
    let survey = survey_stack(&store).await;
    // Three records: uids are reserved, the operation begins and ends.
    let mut expected = vec![rebuild(3)];
    expected.extend(["run-6", "run-5", "run-4", "run-3", "run-2"].map(history));
    assert_eq!(ways(&survey), expected);
    let resources = |at: usize| survey.proposals[at].snapshot.resources.len();
    assert_eq!((resources(0), resources(1), resources(5)), (7, 6, 2));
}

#[tokio::test]
async fn journal_after_a_missing_epoch_is_not_replayed() {
    let (dir, store) = setup();
    ran(&store, dir.path(), &["a"]).await;
    lose_head(&store).await;
    append(&store, &batch(4, 0, None, reserve(40))).await;
    assert_eq!(ways(&survey_stack(&store).await), [history("run-1")], "epochs 2 and 3 are missing");
    append(&store, &batch(2, 0, None, reserve(20))).await;
    let survey = survey_stack(&store).await;
    assert_eq!(ways(&survey), [rebuild(1), history("run-1")]);
    assert_eq!(survey.proposals[0].snapshot.uids, 20);
}

#[tokio::test]
async fn snapshot_published_by_a_takeover_is_proposed() {
    let (dir, store) = setup();
    run_and_die(&store, dir.path(), &["a"]).await;
    run_and_die(&store, dir.path(), &[]).await; // its takeover publishes a snapshot and seals epoch 1
    lose_head(&store).await;
    let survey = survey_stack(&store).await;
    assert_eq!(ways(&survey), [rebuild(0)]);
    assert_eq!(survey.proposals[0].snapshot.resources.len(), 1);
}

#[tokio::test]
async fn journal_that_the_snapshot_contains_is_not_replayed_again() {
    let (dir, store) = setup();
    run_and_die(&store, dir.path(), &["a"]).await;
    let request = dying(&store, dir.path(), "run.publish.after_snapshot");
    assert!(tokio::spawn(open(request)).await.is_err(), "the run must die at the crash point");
    lose_head(&store).await;
    let survey = survey_stack(&store).await;
    assert_eq!(ways(&survey), [rebuild(0)]);
    assert_eq!(survey.problems.len(), 1, "{:?}", survey.problems);
}

#[tokio::test]
async fn seals_do_not_count_as_replayed_records() {
    let (dir, store) = setup();
    run_and_die(&store, dir.path(), &["a"]).await;
    let request = dying(&store, dir.path(), "run.open.after_seal");
    assert!(tokio::spawn(open(request)).await.is_err(), "the run must die at the crash point");
    let place = keys().batch(stead_model::Epoch(2), Seq(0));
    overwrite(&store, &place, "no batch").await;
    let survey = survey_stack(&store).await;
    assert_eq!(survey.problems.len(), 1);
    assert!(survey.problems[0].starts_with(&place.to_string()), "{:?}", survey.problems);
    let unreadable = Some(survey.problems[0].clone());
    assert_eq!(ways(&survey), [RepairMethod::Rebuild { folded: 3, unreadable }]);
}

#[tokio::test]
async fn unreadable_batch_ends_a_rebuild_and_leaves_operations_in_doubt() {
    let (dir, store) = setup();
    let run = open(request(&store, dir.path(), Takeover::IfDead)).await.unwrap();
    begin(&run, "a").await.unwrap();
    run.close(RunResult::Failed).await.unwrap();
    run_and_die(&store, dir.path(), &["b"]).await;
    overwrite(&store, &keys().batch(stead_model::Epoch(2), Seq(0)), "no batch").await;
    let survey = survey_stack(&store).await;
    assert!(survey.recorded.is_some() && survey.violations.is_empty());
    let unreadable = Some(survey.problems[0].clone());
    assert_eq!(ways(&survey), [RepairMethod::Rebuild { folded: 0, unreadable }, history("run-1")]);
    let doubt = |at: usize| survey.proposals[at].snapshot.pending[0].doubt.is_some();
    assert!(doubt(0), "its outcome will never be recorded");
    assert!(!doubt(1), "an earlier state is proposed unchanged");
}

#[tokio::test]
async fn batch_that_does_not_follow_its_predecessor_ends_a_rebuild() {
    let (dir, store) = setup();
    ran(&store, dir.path(), &["a"]).await;
    run_and_die(&store, dir.path(), &[]).await;
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
        let survey = survey_stack(&store).await;
        let problem = format!("{place} does not follow the record before it");
        assert_eq!(survey.problems, std::slice::from_ref(&problem), "{batch:?}");
        let rebuilt = RepairMethod::Rebuild { folded: 1, unreadable: Some(problem) };
        assert_eq!(ways(&survey), [rebuilt, history("run-1")]);
        assert_eq!(survey.proposals[0].snapshot.uids, 20);
    }
    append(&store, &good).await;
    assert!(survey_stack(&store).await.is_sound());
}

#[tokio::test]
async fn missing_or_damaged_snapshot_is_reported_and_not_proposed() {
    let (dir, store) = setup();
    ran(&store, dir.path(), &["a"]).await;
    let closed = ran(&store, dir.path(), &["b"]).await;
    let key = keys().snapshot(&closed.snapshot);
    let bytes = store.get(&key).await.unwrap().unwrap().body;
    store.delete(&key).await.unwrap();
    let survey = survey_stack(&store).await;
    assert_eq!(survey.problems, [format!("{key} is missing, but another object of the stack refers to it")]);
    assert_eq!(ways(&survey), [history("run-1")]);
    overwrite(&store, &key, bytes.slice(..20)).await;
    let survey = survey_stack(&store).await;
    assert!(survey.problems[0].starts_with(&format!("{key}: ")), "{:?}", survey.problems);
    assert_eq!(ways(&survey), [history("run-1")]);
    // An intact snapshot under the key of another digest.
    store.delete(&key).await.unwrap();
    overwrite(&store, &keys().snapshot(&Digest::of(b"another")), bytes).await;
    assert_eq!(ways(&survey_stack(&store).await), [history("run-1")]);
}

#[tokio::test]
async fn repaired_state_is_proposed_for_one_that_violates_a_rule() {
    let (dir, store) = setup();
    ran(&store, dir.path(), &[]).await;
    let (head, _) = read_head(&store, &keys()).await.unwrap().unwrap();
    break_a_rule(&store, &head).await;
    let survey = survey_stack(&store).await;
    assert!(survey.problems.is_empty() && survey.violations.len() == 1 && !survey.is_sound());
    assert_eq!(ways(&survey), [RepairMethod::Sort, history("run-1")]);
    assert_eq!(survey.proposals[0].snapshot.uids, 1);
}

#[tokio::test]
async fn damaged_head_is_reported_and_one_of_a_newer_format_is_refused() {
    let (dir, store) = setup();
    ran(&store, dir.path(), &["a"]).await;
    let head = store.get(&keys().head()).await.unwrap().unwrap().body;
    overwrite(&store, &keys().head(), head.slice(..20)).await;
    let survey = survey_stack(&store).await;
    assert_eq!(survey.problems.len(), 1);
    assert!(survey.problems[0].starts_with(&format!("{}: ", keys().head())), "{:?}", survey.problems);
    assert_eq!(ways(&survey), [history("run-1")]);
    let newer = String::from_utf8(head.to_vec()).unwrap().replace("\"format\":6", "\"format\":7");
    overwrite(&store, &keys().head(), newer).await;
    let refused = stead_journal::survey(&store, &keys()).await;
    assert!(matches!(refused, Err(JournalError::Format { key, .. }) if key == keys().head().to_string()));
}
