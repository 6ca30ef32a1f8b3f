//! A physical id belongs to one resource, whatever a provider answers.

use stead_engine::{CurrentGuards, RecoveryResult};
use stead_model::{Lifecycle, RunResult};

use crate::bench::{Bench, Program, text};

#[tokio::test]
async fn create_with_the_physical_id_of_another_resource_is_in_doubt() {
    let mut bench = Bench::new(8);
    let first = Program::default().node("a", &[("create", text("as x"))]);
    bench.up(&first).await;
    let both = first.clone().node("b", &[("create", text("as x"))]);
    let report = bench.up(&both).await;
    assert_eq!(report.result, RunResult::InDoubt);
    let problem = &report.problems[0].message;
    assert!(problem.contains("the physical id x, which already belongs to dev:main:t.T#a"), "{problem}");
    assert_eq!(bench.recorded().await, ["a"]);
    assert_eq!(bench.load().await.state.pending().count(), 1, "the physical id of b is unknown");
}

#[tokio::test]
async fn two_creates_of_one_run_with_the_same_physical_id_are_in_doubt() {
    let mut bench = Bench::new(1);
    let both =
        Program::default().node("a", &[("create", text("as x"))]).node("b", &[("create", text("as x"))]);
    assert_eq!(bench.up(&both).await.result, RunResult::InDoubt);
    assert_eq!(bench.recorded().await, ["a"]);
}

#[tokio::test]
async fn create_without_a_physical_id_is_in_doubt() {
    let mut bench = Bench::new(8);
    let report = bench.up(&Program::default().node("a", &[("create", text("as "))])).await;
    assert_eq!(report.result, RunResult::InDoubt);
    assert!(report.problems[0].message.contains("no physical id"), "{}", report.problems[0].message);
}

#[tokio::test]
async fn repeated_create_with_the_physical_id_of_another_resource_stays_in_doubt() {
    let mut bench = Bench::new(8);
    let first = Program::default().node("a", &[("create", text("as x"))]);
    bench.up(&first).await;
    bench.up(&first.clone().node("b", &[("create", text("as x"))])).await;
    let (repeatable, _) = bench.engine.triage(&bench.load().await.state);
    let run = bench.open().await;
    let recovered =
        bench.engine.recover(&run, &repeatable, Some(&CurrentGuards::default()), &mut |_| ()).await.unwrap();
    assert!(recovered.problems[0].message.contains("which already belongs to dev:main:t.T#a"));
    run.close(RunResult::Failed).await.unwrap();
    assert_eq!(bench.recorded().await, ["a"]);
}

#[tokio::test]
async fn old_copy_with_the_physical_id_of_the_new_copy_is_not_deleted() {
    let mut bench = Bench::new(8);
    let at = |place: &str| Program::default().node("a", &[("create", text("as x")), ("place", text(place))]);
    bench.up(&at("here")).await;
    bench.provider.log();
    let report = bench.up(&at("there")).await;
    assert_eq!(report.result, RunResult::Succeeded);
    assert_eq!(bench.provider.log(), ["create a"], "nothing is deleted");
    assert!(bench.provider.real.lock().unwrap().contains_key("x"));
    let state = bench.load().await.state;
    let copies: Vec<_> = state.copies().map(|copy| (copy.generation.0, copy.lifecycle)).collect();
    assert_eq!(copies, [(2, Lifecycle::Live)]);
    let RecoveryResult::Ready(_) = bench
        .engine
        .load_recovered(&bench.stack(), Some(&CurrentGuards::default()), &mut |_| ())
        .await
        .unwrap()
    else {
        panic!("an operation is pending");
    };
}
