//! Deletions that an interrupted run had started, under the current guards.

use stead_engine::{CurrentGuards, RecoveryResult, Resolution, StatedOutputs};
use stead_guard::pins::{Pinfile, PinfileStatus, Pins};
use stead_model::{Environment, Event, NextStep, Options, ResolveAnswer, StepEnd};
use stead_state::{AfterDelete, Intent};

use crate::bench::{Bench, Program, text};
use crate::provider::Reads;

fn program() -> Program {
    Program::default().node("a", &[("size", text("1"))])
}

/// Crashes a run after the intent to delete `a` is durable.
async fn crash_while_deleting(bench: &mut Bench) {
    bench.up(&program()).await;
    bench.provider.log();
    let copy = bench.load().await.state.by_name(&program().0.nodes[0].name).unwrap().copy();
    let run = bench.open().await;
    run.begin(|key| Intent::Delete { key, copy, after: AfterDelete::Gone }).receipt().await.unwrap();
}

async fn recover(bench: &Bench, guards: &CurrentGuards<'_>) -> (RecoveryResult, Vec<Event>) {
    let mut events = Vec::new();
    let result = bench
        .engine
        .load_recovered(&bench.stack(), guards.into(), &mut |event| events.push(event))
        .await
        .unwrap();
    (result, events)
}

#[tokio::test]
async fn interrupted_deletion_is_repeated_if_the_guards_permit_it() {
    let mut bench = Bench::new(8);
    crash_while_deleting(&mut bench).await;
    assert!(matches!(recover(&bench, &CurrentGuards::default()).await.0, RecoveryResult::Ready(_)));
    assert_eq!(bench.provider.log(), ["delete a"]);
    assert!(bench.recorded().await.is_empty());
}

#[tokio::test]
async fn interrupted_deletion_stays_pending_if_no_guard_is_asked() {
    let mut bench = Bench::new(8);
    crash_while_deleting(&mut bench).await;
    let result = bench.engine.load_recovered(&bench.stack(), None, &mut |_| ()).await.unwrap();
    let RecoveryResult::Ready(loaded) = result else { panic!("it holds nothing up") };
    assert_eq!(loaded.state.pending().count(), 1);
    let run = bench.open().await;
    let pending: Vec<_> = run.base().pending().cloned().collect();
    let recovered = bench.engine.recover(&run, &pending, None, &mut |_| ()).await.unwrap();
    assert!(recovered.finished.is_empty() && recovered.held_back.is_empty());
    drop(run);
    assert!(bench.provider.log().is_empty());
    assert_eq!(bench.recorded().await, ["a\"1\""]);
}

#[tokio::test]
async fn deletion_that_did_not_happen_is_not_recorded_on_a_word() {
    let mut bench = Bench::new(8);
    crash_while_deleting(&mut bench).await;
    let state = bench.load().await.state;
    let pending = state.pending().next().unwrap().clone();
    let done = Resolution::Done { outputs: StatedOutputs::default() };
    let problem = bench.engine.resolve(&state, &pending, &done).await.unwrap_err();
    assert_eq!(problem.message, "dev:main:t.T#a still exists");
    let steps: Vec<_> = problem.help.iter().flat_map(stead_model::Hint::steps).collect();
    assert!(
        matches!(steps[..], [NextStep::Resolve { answer: ResolveAnswer::DidNotHappen, .. }]),
        "{problem:?}"
    );
    *bench.provider.reads.lock().unwrap() = Reads::Refused;
    let problem = bench.engine.resolve(&state, &pending, &done).await.unwrap_err();
    assert!(problem.message.starts_with("cannot read dev:main:t.T#a"), "{problem:?}");
    *bench.provider.reads.lock().unwrap() = Reads::Answered;
    bench.drop_real("a").await;
    assert_eq!(bench.engine.resolve(&state, &pending, &done).await.unwrap().len(), 1);
}

/// Recovers under these guards, and expects that the deletion is not sent again for this reason.
async fn assert_not_repeated(guards: &CurrentGuards<'_>, reason: &str) {
    let mut bench = Bench::new(8);
    crash_while_deleting(&mut bench).await;
    let (result, events) = recover(&bench, guards).await;
    assert!(matches!(result, RecoveryResult::Ready(_)), "a read tells the outcome");
    assert!(bench.provider.log().is_empty(), "{reason}");
    assert_eq!(*bench.provider.taken_back.lock().unwrap(), ["a"], "its first steps are taken back");
    assert_eq!(bench.recorded().await, ["a\"1\""]);
    let reported = events.iter().any(|event| {
        matches!(event, Event::StepEnded { end: StepEnd::Skipped { because }, .. }
            if because == &format!("dev:main:t.T#a {reason} now"))
    });
    assert!(reported, "{events:?}");
}

#[tokio::test]
async fn interrupted_deletion_is_not_repeated_if_the_program_protects_the_resource() {
    let protected = |set: fn(&mut Options)| program().options(set).0;
    for (graph, reason) in [
        (protected(|options| options.prevent_delete = Some(true)), "may not be deleted"),
        (protected(|options| options.pinned = Some(true)), "is pinned"),
        (
            protected(|options| options.deletion_policy = Some(stead_model::DeletionPolicy::Retain)),
            "is to be retained",
        ),
    ] {
        assert_not_repeated(&CurrentGuards { program: Some(&graph), ..CurrentGuards::default() }, reason)
            .await;
    }
    let renamed = Program::default().node("b", &[]).options(|options| {
        options.aliases = vec![program().0.nodes[0].name.clone()];
        options.prevent_delete = Some(true);
    });
    assert_not_repeated(
        &CurrentGuards { program: Some(&renamed.0), ..CurrentGuards::default() },
        "may not be deleted",
    )
    .await;
    // The inputs tell it as well as an alias.
    let alike = Program::default().node("b", &[("size", text("1"))]);
    let alike = alike.options(|options| options.prevent_delete = Some(true));
    let guards = CurrentGuards { program: Some(&alike.0), ..CurrentGuards::default() };
    assert_not_repeated(&guards, "may not be deleted").await;
}

#[tokio::test]
async fn interrupted_deletion_is_not_repeated_if_the_resource_is_pinned() {
    let text = r#"{"version":"1","pinned":{"local":{"t.T.a":{"type":"t.T"}}}}"#;
    let file = Pinfile::read("p", Some(text.as_bytes())).unwrap();
    let pins = PinfileStatus::of(&Pins::open(file, "local", &Environment::new("dev")));
    assert_not_repeated(&CurrentGuards { pins, ..CurrentGuards::default() }, "is pinned").await;
}

#[tokio::test]
async fn interrupted_deletion_that_happened_is_recorded() {
    let mut bench = Bench::new(8);
    crash_while_deleting(&mut bench).await;
    bench.drop_real("a").await;
    let graph = program().options(|options| options.prevent_delete = Some(true)).0;
    let (result, _) =
        recover(&bench, &CurrentGuards { program: Some(&graph), ..CurrentGuards::default() }).await;
    assert!(matches!(result, RecoveryResult::Ready(_)));
    assert!(bench.recorded().await.is_empty());
    assert!(bench.provider.log().is_empty());
}

#[tokio::test]
async fn refused_deletion_stays_in_doubt_if_the_resource_cannot_be_read() {
    let mut bench = Bench::new(8);
    crash_while_deleting(&mut bench).await;
    *bench.provider.reads.lock().unwrap() = Reads::Refused;
    let graph = program().options(|options| options.prevent_delete = Some(true)).0;
    let (result, _) =
        recover(&bench, &CurrentGuards { program: Some(&graph), ..CurrentGuards::default() }).await;
    let RecoveryResult::Failed(problems) = result else { panic!("the outcome cannot be known") };
    let problem = &problems[0];
    assert!(problem.message.ends_with("is not sent again: dev:main:t.T#a may not be deleted now"));
    let steps: Vec<_> = problem.help.iter().flat_map(stead_model::Hint::steps).collect();
    assert!(matches!(steps[..], [NextStep::Resolve { .. }, NextStep::Resolve { .. }]), "{problem:?}");
    assert_eq!(bench.load().await.state.pending().count(), 1);
    assert!(bench.provider.log().is_empty());
}
