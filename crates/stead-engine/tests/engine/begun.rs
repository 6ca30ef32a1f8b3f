//! A deletion that an earlier run began, and that nobody would permit by now.

use stead_engine::{CurrentGuards, RecoveryResult};
use stead_guard::pins::{PinfileStatus, Unlisted};
use stead_model::{Event, Options, StepEnd};
use stead_state::{AfterDelete, Intent};

use crate::bench::{Bench, Program, text};
use crate::provider::Looks;

fn program() -> Program {
    Program::default().node("a", &[("size", text("1"))])
}

/// A run that dies when it has written down that it deletes `a`.
async fn die_while_deleting(bench: &mut Bench) {
    bench.up(&program()).await;
    bench.provider.log();
    let copy = bench.load().await.state.by_name(&program().0.nodes[0].name).unwrap().copy();
    let run = bench.open().await;
    run.begin(|key| Intent::Delete { key, copy, after: AfterDelete::Gone }).receipt().await.unwrap();
}

async fn settle(bench: &Bench, today: &CurrentGuards<'_>) -> (RecoveryResult, Vec<Event>) {
    let mut events = Vec::new();
    let settled = bench.engine.settle(&bench.stack(), today, &mut |event| events.push(event)).await.unwrap();
    (settled, events)
}

#[tokio::test]
async fn it_is_sent_again_if_nothing_stands_against_it() {
    let mut bench = Bench::new(8);
    die_while_deleting(&mut bench).await;
    assert!(matches!(settle(&bench, &CurrentGuards::default()).await.0, RecoveryResult::Ready(_)));
    assert_eq!(bench.provider.log(), ["delete a"]);
    assert!(bench.recorded().await.is_empty());
}

async fn is_held_back(today: &CurrentGuards<'_>, why: &str) {
    let mut bench = Bench::new(8);
    die_while_deleting(&mut bench).await;
    let (settled, events) = settle(&bench, today).await;
    assert!(matches!(settled, RecoveryResult::Ready(_)), "a look settles it");
    assert!(bench.provider.log().is_empty(), "{why}");
    assert_eq!(bench.recorded().await, ["a\"1\""]);
    let told = events.iter().any(|event| {
        matches!(event, Event::StepEnded { end: StepEnd::Skipped { because }, .. }
            if because == &format!("dev:main:t.T#a {why} now"))
    });
    assert!(told, "{events:?}");
}

#[tokio::test]
async fn it_is_not_if_the_program_has_it_again_and_keeps_it() {
    let kept = |set: fn(&mut Options)| program().options(set).0;
    for (graph, why) in [
        (kept(|options| options.prevent_delete = Some(true)), "may not be deleted"),
        (kept(|options| options.pinned = Some(true)), "is pinned"),
        (
            kept(|options| options.deletion_policy = Some(stead_model::DeletionPolicy::Retain)),
            "is to be retained",
        ),
    ] {
        is_held_back(&CurrentGuards { program: Some(&graph), ..CurrentGuards::default() }, why).await;
    }
    let renamed = Program::default().node("b", &[]).options(|options| {
        options.aliases = vec![program().0.nodes[0].name.clone()];
        options.prevent_delete = Some(true);
    });
    is_held_back(
        &CurrentGuards { program: Some(&renamed.0), ..CurrentGuards::default() },
        "may not be deleted",
    )
    .await;
}

#[tokio::test]
async fn it_is_not_if_the_pinfile_has_it() {
    let paths = ["t.T.a".to_owned()].into();
    let pins = PinfileStatus::Listed { paths, unlisted: Unlisted::Held };
    is_held_back(&CurrentGuards { pins, ..CurrentGuards::default() }, "is pinned").await;
}

#[tokio::test]
async fn what_has_happened_by_then_has_happened() {
    let mut bench = Bench::new(8);
    die_while_deleting(&mut bench).await;
    bench.drop_real("a").await;
    let graph = program().options(|options| options.prevent_delete = Some(true)).0;
    let (settled, _) =
        settle(&bench, &CurrentGuards { program: Some(&graph), ..CurrentGuards::default() }).await;
    assert!(matches!(settled, RecoveryResult::Ready(_)));
    assert!(bench.recorded().await.is_empty());
    assert!(bench.provider.log().is_empty());
}

#[tokio::test]
async fn where_nobody_can_look_a_person_is_asked() {
    let mut bench = Bench::new(8);
    die_while_deleting(&mut bench).await;
    *bench.provider.looks.lock().unwrap() = Looks::Refused;
    let graph = program().options(|options| options.prevent_delete = Some(true)).0;
    let (settled, _) =
        settle(&bench, &CurrentGuards { program: Some(&graph), ..CurrentGuards::default() }).await;
    let RecoveryResult::Failed(problems) = settled else { panic!("it cannot be told") };
    let problem = &problems[0];
    assert!(problem.message.ends_with("is not sent again: dev:main:t.T#a may not be deleted now"));
    assert!(problem.help.iter().any(|help| help.to_string().contains("stead state resolve")), "{problem:?}");
    assert_eq!(bench.load().await.state.pending().count(), 1);
    assert!(bench.provider.log().is_empty());
}
