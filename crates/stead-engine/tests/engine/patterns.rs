//! Sequences of runs that corrupt the snapshots of another engine, one test each.
//!
//! In each, every stored state passes its rules, no real object is lost, and a last run applies the whole program.

use std::sync::atomic::Ordering;

use stead_model::{Name, NodeId, Options, RunResult};
use stead_plan::{Follow, Glob, Purpose, Reach, Request, Selection};
use stead_state::verify;

use crate::bench::{Bench, Program, text};

fn name(id: &str) -> Name {
    format!("dev:main:t.T#{id}").parse().unwrap()
}

fn target(id: &str, dependents: Follow) -> Request {
    let reach = Reach { dependencies: Follow::No, dependents };
    Request {
        selection: Selection { targets: vec![Glob::new(id)], exclude: Vec::new(), reach },
        ..Request::default()
    }
}

fn alias(id: &str) -> impl FnOnce(&mut Options) {
    let name = name(id);
    move |options| options.aliases.push(name)
}

fn depends_on(node: u32) -> impl FnOnce(&mut Options) {
    move |options| options.depends_on.push(NodeId(node))
}

/// Applies the program while the provider refuses all deletions or all creations.
async fn up_refusing(bench: &mut Bench, operation: &str, program: &Program) {
    let refuses =
        if operation == "delete" { &bench.provider.refuses_delete } else { &bench.provider.refuses_create };
    refuses.store(true, Ordering::SeqCst);
    let report = bench.up(program).await;
    assert_eq!(report.result, RunResult::Failed);
    report.closed.unwrap();
    bench.provider.refuses_delete.store(false, Ordering::SeqCst);
    bench.provider.refuses_create.store(false, Ordering::SeqCst);
}

/// Applies the program, expects that state, plan and real objects agree, and destroys all resources.
async fn apply_and_destroy(bench: &mut Bench, program: &Program) {
    let report = bench.up(program).await;
    assert_eq!(report.result, RunResult::Succeeded, "{:?}", report.problems);
    let state = report.closed.unwrap().state;
    assert!(verify(&state.snapshot(None)).is_empty());
    let plan = bench.engine.plan(&state, &program.settled(), Purpose::Up).await.unwrap();
    assert!(plan.is_empty(), "{:?}", plan.steps);
    assert_eq!(state.copies().count(), program.0.nodes.len());
    assert_eq!(bench.provider.real.lock().unwrap().len(), program.0.nodes.len());
    let report = bench.destroy(Request::from(Purpose::Destroy)).await.unwrap();
    assert_eq!(report.result, RunResult::Succeeded, "{:?}", report.problems);
    assert!(bench.recorded().await.is_empty() && bench.provider.real.lock().unwrap().is_empty());
}

/// `a`, in some place; `b` depends on it.
fn pair(place: &str) -> Program {
    Program::default().node("a", &[("place", text(place))]).node("b", &[]).options(depends_on(0))
}

#[tokio::test]
async fn pattern_01_dependency_on_a_condemned_copy() {
    for operation in ["up", "refresh", "destroy"] {
        let mut bench = Bench::new(8);
        bench.up(&pair("x")).await;
        up_refusing(&mut bench, "delete", &pair("y")).await;
        assert_eq!(bench.recorded().await, ["a", "a", "b"], "b still depends on the old copy");
        match operation {
            "refresh" => assert!(bench.refresh(|_| true).await.is_empty()),
            "destroy" => {
                let report = bench.destroy(Request::from(Purpose::Destroy)).await.unwrap();
                assert_eq!(report.result, RunResult::Succeeded);
                assert!(bench.recorded().await.is_empty());
            }
            _ => {}
        }
        apply_and_destroy(&mut bench, &pair("y")).await;
    }
}

#[tokio::test]
async fn pattern_02_state_refers_to_a_resource_that_is_now_aliased() {
    let mut bench = Bench::new(8);
    bench.up(&pair("x")).await;
    let renamed = |node: Program| node.options(alias("a")).node("b", &[]).options(depends_on(0));
    let moved = renamed(Program::default().node("c", &[("place", text("x")), ("name", text("a"))]));
    apply_and_destroy(&mut bench, &moved).await;
}

#[tokio::test]
async fn pattern_03_interrupted_replacement_moves_to_another_parent() {
    let program = |place: &str, id: &str, parent: Option<u32>| {
        let mut program = Program::default().node("p", &[]).node("q", &[]);
        program = program.node(id, &[("place", text(place))]).options(|options| {
            options.delete_before_replace = Some(true);
            options.aliases = vec![name("a")];
        });
        program.0.nodes[2].parent = parent.map(NodeId);
        program
    };
    let mut bench = Bench::new(8);
    bench.up(&program("x", "a", Some(0))).await;
    up_refusing(&mut bench, "create", &program("y", "a", Some(0))).await;
    apply_and_destroy(&mut bench, &program("y", "moved", Some(1))).await;
}

/// `b` is a child of `a`.
fn child(place: &str) -> Program {
    let mut program = Program::default().node("a", &[("place", text(place))]).node("b", &[]);
    program.0.nodes[1].parent = Some(NodeId(0));
    program
}

#[tokio::test]
async fn pattern_04_refresh_under_a_parent_with_a_condemned_copy() {
    let mut bench = Bench::new(8);
    bench.up(&child("x")).await;
    up_refusing(&mut bench, "delete", &child("y")).await;
    bench.drop_real("b").await;
    assert_eq!(bench.refresh(|_| true).await, ["b"]);
    apply_and_destroy(&mut bench, &child("y")).await;
}

#[tokio::test]
async fn pattern_05_refresh_with_dependencies_on_an_interrupted_replacement() {
    let first = |place: &str| {
        let mut program = pair(place);
        program.0.nodes[0].options.delete_before_replace = Some(true);
        program
    };
    let mut bench = Bench::new(8);
    bench.up(&first("x")).await;
    up_refusing(&mut bench, "create", &first("y")).await;
    assert!(bench.refresh(|_| true).await.is_empty(), "a deleted copy is not read");
    apply_and_destroy(&mut bench, &first("y")).await;
}

#[tokio::test]
async fn pattern_06_targeted_run_with_refresh_under_a_condemned_parent() {
    let mut bench = Bench::new(8);
    bench.up(&child("x")).await;
    up_refusing(&mut bench, "delete", &child("y")).await;
    bench.drop_real("b").await;
    bench.refresh(|resource| resource.name.short() == "b").await;
    let report = bench.up_with(&child("y"), target("b", Follow::No)).await;
    assert_eq!(report.result, RunResult::Succeeded);
    assert_eq!(bench.recorded().await, ["a", "a", "b"], "the old copy of the parent is not selected");
    apply_and_destroy(&mut bench, &child("y")).await;
}

#[tokio::test]
async fn pattern_07_targeted_refresh_of_a_changed_program() {
    let mut bench = Bench::new(8);
    bench.up(&pair("x")).await;
    bench.drop_real("a").await;
    assert_eq!(bench.refresh(|resource| resource.name.short() == "a").await, ["a"]);
    let changed = pair("y").node("c", &[]).options(depends_on(1));
    let report = bench.up_with(&changed, target("a", Follow::No)).await;
    assert_eq!(report.result, RunResult::Succeeded);
    apply_and_destroy(&mut bench, &changed).await;
}

#[tokio::test]
async fn pattern_08_children_are_refreshed_and_moved_to_another_parent() {
    let mut bench = Bench::new(8);
    bench.up(&child("x")).await;
    bench.drop_real("b").await;
    bench.refresh(|_| true).await;
    let mut moved = Program::default().node("z", &[]).node("a", &[("place", text("x"))]).node("b", &[]);
    moved.0.nodes[2].parent = Some(NodeId(0));
    apply_and_destroy(&mut bench, &moved).await;
}

#[tokio::test]
async fn pattern_09_destroy_of_a_protected_resource_and_its_provider() {
    let program = |protected: bool| {
        Program::default().provider("p", &[]).node("a", &[]).options(|options| {
            options.provider = Some(NodeId(0));
            options.prevent_delete = protected.then_some(true);
        })
    };
    let mut bench = Bench::new(8);
    bench.up(&program(true)).await;
    let refused = bench.destroy(Request::from(Purpose::Destroy)).await.unwrap_err();
    assert_eq!(refused[0].code.as_str(), "ST0401");
    assert_eq!(bench.recorded().await, ["p", "a"], "neither was deleted");
    let only_provider = Request { purpose: Purpose::Destroy, ..target("p", Follow::No) };
    assert_eq!(bench.destroy(only_provider).await.unwrap_err()[0].code.as_str(), "ST0305");
    apply_and_destroy(&mut bench, &program(false)).await;
}

#[tokio::test]
async fn pattern_10_aliased_resource_is_the_target() {
    let mut bench = Bench::new(8);
    bench.up(&pair("x")).await;
    let moved = Program::default()
        .node("c", &[("place", text("x")), ("size", text("2"))])
        .options(alias("a"))
        .node("b", &[])
        .options(depends_on(0));
    let report = bench.up_with(&moved, target("a", Follow::No)).await;
    assert_eq!(report.result, RunResult::Succeeded);
    assert_eq!(bench.recorded().await, ["b", "c\"2\""]);
    let gone = Request { purpose: Purpose::Destroy, ..target("c", Follow::Yes) };
    assert_eq!(bench.destroy(gone).await.unwrap().result, RunResult::Succeeded);
    assert!(bench.recorded().await.is_empty());
    apply_and_destroy(&mut bench, &moved).await;
}

#[tokio::test]
async fn pattern_11_destroy_of_a_resource_with_a_dependent() {
    let mut bench = Bench::new(8);
    bench.up(&pair("x")).await;
    let alone = Request { purpose: Purpose::Destroy, ..target("a", Follow::No) };
    assert_eq!(bench.destroy(alone).await.unwrap_err()[0].code.as_str(), "ST0305");
    let both = Request { purpose: Purpose::Destroy, ..target("a", Follow::Yes) };
    bench.provider.log();
    assert_eq!(bench.destroy(both).await.unwrap().result, RunResult::Succeeded);
    assert_eq!(bench.provider.log(), ["delete b", "delete a"]);
    apply_and_destroy(&mut bench, &pair("x")).await;
}

#[tokio::test]
async fn pattern_12_parent_gets_another_name() {
    let mut bench = Bench::new(8);
    bench.up(&child("x")).await;
    let mut moved = Program::default().node("c", &[("place", text("x"))]).options(alias("a")).node("b", &[]);
    moved.0.nodes[1].parent = Some(NodeId(0));
    bench.provider.log();
    bench.up(&moved).await;
    assert_eq!(bench.provider.log(), ["update c"], "its name is one of its properties here");
    apply_and_destroy(&mut bench, &moved).await;
}

#[tokio::test]
async fn pattern_13_dependency_on_a_resource_that_is_deleted_in_the_same_run() {
    let mut bench = Bench::new(8);
    bench.up(&pair("x").node("c", &[]).options(depends_on(1))).await;
    let without = Program::default().node("c", &[]);
    up_refusing(&mut bench, "delete", &without).await;
    assert_eq!(bench.recorded().await, ["a", "b", "c"]);
    apply_and_destroy(&mut bench, &without).await;
}

#[tokio::test]
async fn pattern_14_provider_gets_another_name() {
    let served = |id: &str| {
        Program::default()
            .provider(id, &[("name", text("p"))])
            .options(|options| options.aliases.push("dev:main:t.Provider#p".parse().unwrap()))
            .node("a", &[])
            .options(|options| options.provider = Some(NodeId(0)))
    };
    let mut bench = Bench::new(8);
    bench.up(&served("p")).await;
    apply_and_destroy(&mut bench, &served("renamed")).await;
}

#[tokio::test]
async fn pattern_15_provider_changes_its_parent() {
    let served = |parent: u32, place: &str| {
        let mut program = Program::default()
            .node("x", &[])
            .node("y", &[])
            .provider("p", &[("place", text(place))])
            .node("a", &[])
            .options(|options| options.provider = Some(NodeId(2)));
        program.0.nodes[2].parent = Some(NodeId(parent));
        program
    };
    let mut bench = Bench::new(8);
    bench.up(&served(0, "here")).await;
    up_refusing(&mut bench, "delete", &served(1, "there")).await;
    apply_and_destroy(&mut bench, &served(1, "there")).await;
}
