//! One real thing is one resource, whatever a provider says.

use stead_engine::{CurrentGuards, RecoveryResult};
use stead_model::{Lifecycle, RunResult};

use crate::bench::{Bench, Program, text};

#[tokio::test]
async fn what_another_resource_has_is_not_taken_for_something_new() {
    let mut bench = Bench::new(8);
    let first = Program::default().node("a", &[("create", text("as x"))]);
    bench.up(&first).await;
    let both = first.clone().node("b", &[("create", text("as x"))]);
    let report = bench.up(&both).await;
    assert_eq!(report.result, RunResult::InDoubt);
    let problem = &report.problems[0].message;
    assert!(problem.contains("made x, which is dev:main:t.T#a already"), "{problem}");
    assert_eq!(bench.recorded().await, ["a"]);
    assert_eq!(bench.load().await.state.pending().count(), 1, "nobody knows what b is, if anything");
}

#[tokio::test]
async fn two_that_are_made_at_once_are_not_the_same_thing_either() {
    let mut bench = Bench::new(1);
    let both =
        Program::default().node("a", &[("create", text("as x"))]).node("b", &[("create", text("as x"))]);
    assert_eq!(bench.up(&both).await.result, RunResult::InDoubt);
    assert_eq!(bench.recorded().await, ["a"]);
}

#[tokio::test]
async fn what_has_no_id_is_in_doubt() {
    let mut bench = Bench::new(8);
    let report = bench.up(&Program::default().node("a", &[("create", text("as "))])).await;
    assert_eq!(report.result, RunResult::InDoubt);
    assert!(report.problems[0].message.contains("no id"), "{}", report.problems[0].message);
}

#[tokio::test]
async fn a_recovery_does_not_believe_it_either() {
    let mut bench = Bench::new(8);
    let first = Program::default().node("a", &[("create", text("as x"))]);
    bench.up(&first).await;
    bench.up(&first.clone().node("b", &[("create", text("as x"))])).await;
    let (repeatable, _) = bench.engine.triage(&bench.load().await.state);
    let run = bench.open().await;
    let recovered =
        bench.engine.recover(&run, &repeatable, &CurrentGuards::default(), &mut |_| ()).await.unwrap();
    assert!(recovered.problems[0].message.contains("which is dev:main:t.T#a already"));
    run.close(RunResult::Failed).await.unwrap();
    assert_eq!(bench.recorded().await, ["a"]);
}

#[tokio::test]
async fn an_old_copy_that_turns_out_to_be_the_new_one_is_not_deleted() {
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
    let RecoveryResult::Ready(_) =
        bench.engine.settle(&bench.stack(), &CurrentGuards::default(), &mut |_| ()).await.unwrap()
    else {
        panic!("nothing is left to do");
    };
}
