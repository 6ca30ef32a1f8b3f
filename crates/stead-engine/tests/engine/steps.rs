//! Every kind of step: replacements in both orders, possible replacements, moves, imports, retained resources.

use stead_model::{DeletionPolicy, Lifecycle, Name, NodeId, Options, PhysicalId, Resource, RunResult, Value};
use stead_plan::{Follow, Glob, MovePolicy, Purpose, Reach, Request, Selection};
use stead_state::State;

use crate::bench::{Bench, Program, text};

fn delete_first(options: &mut Options) {
    options.delete_before_replace = Some(true);
}

fn resource<'a>(state: &'a State, name: &str) -> &'a Resource {
    state.by_name(&format!("dev:main:t.T#{name}").parse::<Name>().unwrap()).unwrap()
}

#[tokio::test]
async fn record_holds_ties_aliases_and_policies() {
    let mut bench = Bench::new(8);
    let mut program =
        Program::default().node("a", &[]).provider("p", &[]).node("b", &[]).options(|options| {
            options.provider = Some(NodeId(1));
            options.deleted_with = Some(NodeId(0));
            options.replace_with = vec![NodeId(0)];
            options.aliases = vec!["dev:main:t.T#z".parse().unwrap()];
            options.deletion_policy = Some(DeletionPolicy::Retain);
        });
    program.0.nodes[2].parent = Some(NodeId(0));
    bench.up(&program).await;
    let state = bench.load().await.state;
    let server = state.by_name(&"dev:main:t.Provider#p".parse().unwrap()).unwrap();
    let (a, b) = (resource(&state, "a"), resource(&state, "b"));
    assert_eq!(b.ties.parent.as_ref(), Some(&a.uid));
    assert_eq!(b.ties.provider.as_ref(), Some(&server.copy()));
    assert_eq!(b.ties.deleted_with.as_ref(), Some(&a.uid));
    assert_eq!(b.ties.replace_with, std::slice::from_ref(&a.uid));
    assert_eq!(b.ties.aliases, ["dev:main:t.T#z".parse().unwrap()]);
    assert_eq!(b.deletion_policy, Some(DeletionPolicy::Retain));
    assert_eq!(b.dependencies, [a.copy()], "only the container is a dependency; other ties are not");
    assert!(bench.engine.plan(&state, &program.settled(), Purpose::Up).await.unwrap().is_empty());
}

/// `b` has `a`'s output in a property that cannot be changed in place.
fn rooted(size: &str, other: &str, set: fn(&mut Options)) -> Program {
    let mut program = Program::default().node("a", &[("size", text(size)), ("update", text(other))]);
    let out = program.of(0);
    program.node("b", &[("place", out)]).options(set)
}

#[tokio::test]
async fn possible_replacement_is_unneeded_if_the_value_stays() {
    for set in [(|_: &mut Options| {}) as fn(&mut Options), delete_first] {
        let mut bench = Bench::new(8);
        bench.up(&rooted("1", "x", set)).await;
        bench.provider.log();
        let report = bench.up(&rooted("1", "y", set)).await;
        assert_eq!(report.result, RunResult::Succeeded);
        assert_eq!(bench.provider.log(), ["update a"], "the replacement was unneeded");
        let state = bench.load().await.state;
        assert_eq!(resource(&state, "b").generation.0, 1);
    }
}

#[tokio::test]
async fn possible_replacement_happens_if_the_value_changes() {
    let mut bench = Bench::new(8);
    bench.up(&rooted("1", "x", |_| {})).await;
    bench.provider.log();
    bench.up(&rooted("2", "x", |_| {})).await;
    assert_eq!(bench.provider.log(), ["update a", "create b", "delete b"]);
    let mut bench = Bench::new(8);
    bench.up(&rooted("1", "x", delete_first)).await;
    bench.provider.log();
    bench.up(&rooted("2", "x", delete_first)).await;
    assert_eq!(bench.provider.log(), ["update a", "delete b", "create b"]);
    let state = bench.load().await.state;
    assert_eq!((resource(&state, "b").generation.0, resource(&state, "b").lifecycle), (2, Lifecycle::Live));
}

#[tokio::test]
async fn delete_first_replacement_deletes_and_recreates_dependents() {
    let program = |place: &str, with_gone: bool| {
        let mut program = Program::default()
            .node("ground", &[("place", text(place)), ("size", text(place))])
            .options(delete_first);
        let out = program.of(0);
        let program = program.node("house", &[("place", out.clone())]);
        if with_gone { program.node("tent", &[("size", out)]) } else { program }
    };
    let mut bench = Bench::new(1);
    bench.up(&program("x", true)).await;
    bench.provider.log();
    let report = bench.up(&program("y", false)).await;
    assert_eq!(report.result, RunResult::Succeeded);
    assert_eq!(
        bench.provider.log(),
        ["delete tent", "delete house", "delete ground", "create ground", "create house"]
    );
    assert_eq!(bench.recorded().await, ["ground\"y\"", "house"]);
}

#[tokio::test]
async fn replaced_container_takes_its_contents_along() {
    let program = |place: &str| {
        Program::default()
            .node("box", &[("place", text(place))])
            .options(delete_first)
            .node("inner", &[])
            .options(|options| options.deleted_with = Some(NodeId(0)))
    };
    let mut bench = Bench::new(8);
    bench.up(&program("x")).await;
    bench.provider.log();
    bench.up(&program("y")).await;
    assert_eq!(bench.provider.log(), ["delete box", "create box", "create inner"]);
    bench.up(&Program::default()).await;
    assert_eq!(bench.provider.log(), ["delete box"]);
    assert!(bench.recorded().await.is_empty());
}

#[tokio::test]
async fn failed_deletion_of_a_container_keeps_its_contents() {
    let program = Program::default()
        .node("box", &[("delete", text("fail"))])
        .node("inner", &[])
        .options(|options| options.deleted_with = Some(NodeId(0)));
    let mut bench = Bench::new(8);
    bench.up(&program).await;
    assert_eq!(bench.up(&Program::default()).await.result, RunResult::Failed);
    assert_eq!(bench.recorded().await, ["box", "inner"]);
}

#[tokio::test]
async fn retained_resource_is_forgotten_and_not_deleted() {
    let mut bench = Bench::new(8);
    let retain = |options: &mut Options| options.deletion_policy = Some(DeletionPolicy::Retain);
    bench.up(&Program::default().node("a", &[]).options(retain)).await;
    bench.provider.log();
    bench.up(&Program::default()).await;
    assert!(bench.provider.log().is_empty() && bench.recorded().await.is_empty());
    assert_eq!(bench.provider.real.lock().unwrap().len(), 1);
}

#[tokio::test]
async fn rename_with_an_edit_is_one_update() {
    let mut bench = Bench::new(8);
    bench.up(&Program::default().node("old", &[("size", text("1"))])).await;
    let uid = resource(&bench.load().await.state, "old").uid.clone();
    bench.provider.log();
    let renamed = Program::default()
        .node("new", &[("size", text("2"))])
        .options(|options| options.aliases.push("dev:main:t.T#old".parse().unwrap()));
    bench.up(&renamed).await;
    assert_eq!(bench.provider.log(), ["update new"]);
    let state = bench.load().await.state;
    assert_eq!(resource(&state, "new").uid, uid);
    assert!(bench.engine.plan(&state, &renamed.settled(), Purpose::Up).await.unwrap().is_empty());
    // Without the option, the recorded alias still matches the old name.
    let back = Program::default().node("old", &[("size", text("2")), ("name", text("new"))]);
    let plan = bench.engine.plan(&state, &back.settled(), Purpose::Up).await.unwrap();
    assert_eq!((plan.summary.moved, plan.summary.delete), (1, 0));
}

#[tokio::test]
async fn siblings_with_shifted_counters_keep_their_resources() {
    let unnamed = |sizes: &[&str]| {
        let mut program = Program::default();
        for (index, size) in sizes.iter().enumerate() {
            program = program.node("x", &[("size", text(size))]);
            let name =
                if index == 0 { "dev:main:t.T".to_owned() } else { format!("dev:main:t.T#{}", index + 1) };
            program.0.nodes.last_mut().unwrap().name = name.parse().unwrap();
        }
        program
    };
    let mut bench = Bench::new(8);
    bench.up(&unnamed(&["a", "b", "c", "d"])).await;
    bench.provider.log();
    bench.up(&unnamed(&["a", "c", "d"])).await;
    assert_eq!(bench.provider.log(), ["delete x"], "only the second sibling is deleted");
    bench.up(&unnamed(&["new", "d", "c", "a"])).await;
    assert_eq!(bench.provider.log(), ["create x"], "the others only change their names");
    let state = bench.load().await.state;
    assert!(
        bench
            .engine
            .plan(&state, &unnamed(&["new", "d", "c", "a"]).settled(), Purpose::Up)
            .await
            .unwrap()
            .is_empty()
    );
}

#[tokio::test]
async fn imported_resource_is_updated_to_its_declaration() {
    let mut bench = Bench::new(8);
    let existing = [("name".to_owned(), Value::from("a")), ("size".to_owned(), Value::from("1"))];
    bench.provider.real.lock().unwrap().insert("there".into(), existing.into());
    let import = |size: &str, id: &str| {
        let id = PhysicalId(id.into());
        Program::default().node("a", &[("size", text(size))]).options(|options| options.import = Some(id))
    };
    let missing =
        bench.engine.plan(&bench.load().await.state, &import("1", "nowhere").settled(), Purpose::Up).await;
    assert_eq!(missing.unwrap_err()[0].code.as_str(), "ST0306");
    bench.up(&import("1", "there")).await;
    assert!(bench.provider.log().is_empty(), "the import needs no update");
    let state = bench.load().await.state;
    assert_eq!(resource(&state, "a").id, Some(PhysicalId("there".into())));
    assert!(
        bench.engine.plan(&state, &import("1", "there").settled(), Purpose::Up).await.unwrap().is_empty()
    );

    let mut bench = Bench::new(8);
    let existing = [("name".to_owned(), Value::from("a")), ("size".to_owned(), Value::from("1"))];
    bench.provider.real.lock().unwrap().insert("there".into(), existing.into());
    let report = bench.up(&import("2", "there")).await;
    assert_eq!((report.result, bench.provider.log()), (RunResult::Succeeded, vec!["update a".to_owned()]));
    assert_eq!(bench.recorded().await, ["a\"2\""]);
}

#[tokio::test]
async fn unselected_resource_keeps_its_record_to_the_byte() {
    let mut bench = Bench::new(8);
    let program =
        |size: &str| Program::default().node("a", &[("size", text(size))]).node("b", &[("size", text(size))]);
    bench.up(&program("1")).await;
    let before = bench.load().await.state;
    let selection = Selection {
        targets: vec![Glob::new("a")],
        exclude: Vec::new(),
        reach: Reach { dependencies: Follow::No, dependents: Follow::No },
    };
    let request = Request { selection, ..Request::default() };
    bench.up_with(&program("2"), request).await;
    let after = bench.load().await.state;
    assert_eq!(resource(&before, "b"), resource(&after, "b"));
    assert_eq!(resource(&after, "a").inputs["size"], Value::from("2"));
}

#[tokio::test]
async fn accepted_move_changes_only_the_name() {
    let mut bench = Bench::new(8);
    let program = |name: &str| Program::default().node(name, &[("size", text("1")), ("name", text("same"))]);
    let named = |name: &str| {
        let mut program = program(name);
        program.0.nodes[0].inputs.insert("name", text("same"));
        program
    };
    bench.up(&named("old")).await;
    bench.provider.log();
    bench.up_with(&named("new"), Request { moves: MovePolicy::Accept, ..Request::default() }).await;
    assert!(bench.provider.log().is_empty());
    assert_eq!(bench.recorded().await, ["new\"1\""]);
}

#[tokio::test]
async fn earlier_snapshot_can_be_applied_like_a_program() {
    let mut bench = Bench::new(8);
    let program = |size: &str| {
        let mut program = Program::default().node("a", &[("size", text(size))]);
        let out = program.of(0);
        program.node("b", &[("size", out)])
    };
    bench.up(&program("1")).await;
    let first = bench.load().await.state.snapshot(None);
    bench.up(&program("2").node("c", &[])).await;
    bench.provider.log();
    let back = stead_engine::graph_of(&first);
    bench.up(&Program(back)).await;
    assert_eq!(bench.recorded().await, ["a\"1\"", "b\"1\""]);
    assert_eq!(bench.provider.log(), ["update a", "update b", "delete c"]);
}
