//! Runs: order, parallelism, failures, guards, updates that turn out to be unnecessary.

use std::sync::atomic::Ordering;

use stead_engine::Stop;
use stead_model::{Event, Graph, Lifecycle, RunResult, StepEnd, Value};
use tokio::sync::watch;

use stead_plan::Purpose;

use crate::bench::{Bench, Program, text};

#[tokio::test]
async fn dependents_wait_for_the_outputs_of_their_dependencies() {
    let mut bench = Bench::new(8);
    let mut program = Program::default().node("vpc", &[("size", text("10"))]);
    let out = program.of(0);
    let mut program = program.node("db", &[("size", out)]).node("free", &[]);
    let output = program.of(1);
    program.0.outputs.insert("db", output);
    let report = bench.up(&program).await;
    assert_eq!(report.result, RunResult::Succeeded);
    assert_eq!(report.outputs["db"], Value::from("10"));
    assert_eq!(bench.recorded().await, ["db\"10\"", "free", "vpc\"10\""]);
    let state = bench.load().await.state;
    assert_eq!(state.outputs()["db"], Value::from("10"));
    let db = state.by_name(&"dev:main:t.T#db".parse().unwrap()).unwrap();
    assert_eq!(state.resolve(&db.dependencies[0]).unwrap().name.short(), "vpc");
    assert!(db.property_dependencies.contains_key("size"));

    let again = bench.engine.plan(&state, &program.settled(), Purpose::Up).await.unwrap();
    assert!(again.is_empty());
}

#[tokio::test(start_paused = true)]
async fn independent_steps_run_in_parallel_up_to_the_limit() {
    let mut bench = Bench::new(4);
    let sleep = Value::from(5).into();
    let names: Vec<String> = (0..12).map(|n| format!("r{n}")).collect();
    let program = names.iter().fold(Program::default(), |program, name| {
        program.node(name, &[("sleep", std::clone::Clone::clone(&sleep))])
    });
    bench.up(&program).await;
    assert_eq!(bench.provider.most.load(Ordering::SeqCst), 4);
    assert_eq!(bench.provider.log().len(), 12);
}

#[tokio::test]
async fn failed_step_skips_its_dependents_and_no_others() {
    let mut bench = Bench::new(1);
    let mut program = Program::default().node("bad", &[("create", text("fail"))]);
    let out = program.of(0);
    let program = program.node("behind", &[("size", out)]).node("free", &[]);
    let report = bench.up(&program).await;
    assert_eq!((report.result, report.done, report.skipped), (RunResult::Failed, 1, 1));
    assert_eq!(report.problems.len(), 1);
    assert_eq!(report.problems[0].labels[0].place.line, 1);
    assert_eq!(report.problems[0].help, ["tell it not to".into()]);
    assert_eq!(bench.recorded().await, ["free"]);
    let skipped = bench.events.iter().find_map(|event| match event {
        Event::StepEnded { name, end: StepEnd::Skipped { because }, .. } => {
            Some((name.short(), because.clone()))
        }
        _ => None,
    });
    assert_eq!(skipped, Some(("behind", "dev:main:t.T#bad did not succeed".into())));
}

#[tokio::test]
async fn failed_create_prevents_all_deletions() {
    let mut bench = Bench::new(8);
    bench.up(&Program::default().node("old", &[])).await;
    bench.provider.log();
    bench.up(&Program::default().node("new", &[("create", text("fail"))])).await;
    assert_eq!(bench.provider.log(), ["create new"]);
    assert_eq!(bench.recorded().await, ["old"]);
}

#[tokio::test]
async fn replacement_creates_updates_dependents_and_deletes_the_old_copy_last() {
    let mut bench = Bench::new(8);
    let program = |place: &str| {
        let mut program = Program::default().node("vpc", &[("place", text(place)), ("size", text(place))]);
        let out = program.of(0);
        program.node("db", &[("size", out)])
    };
    bench.up(&program("a")).await;
    bench.provider.log();
    let report = bench.up(&program("b")).await;
    assert_eq!(report.result, RunResult::Succeeded);
    assert_eq!(bench.provider.log(), ["create vpc", "update db", "delete vpc"]);
    let state = bench.load().await.state;
    assert_eq!(state.resources().len(), 2);
    let vpc = state.by_name(&"dev:main:t.T#vpc".parse().unwrap()).unwrap();
    assert_eq!((vpc.generation.0, vpc.lifecycle), (2, Lifecycle::Live));
}

#[tokio::test]
async fn failed_delete_first_replacement_is_finished_by_the_next_run() {
    let mut bench = Bench::new(8);
    let program = |place: &str, create: &str| {
        Program::default()
            .node("vpc", &[("place", text(place)), ("create", text(create))])
            .options(|options| options.delete_before_replace = Some(true))
    };
    bench.up(&program("a", "")).await;
    bench.provider.log();
    assert_eq!(bench.up(&program("b", "fail")).await.result, RunResult::Failed);
    assert_eq!(bench.provider.log(), ["delete vpc", "create vpc"]);
    let state = bench.load().await.state;
    assert_eq!(state.resources()[0].lifecycle, Lifecycle::Replacing);
    assert_eq!(bench.up(&program("b", "")).await.result, RunResult::Succeeded);
    assert_eq!(bench.provider.log(), ["create vpc"]);
    let state = bench.load().await.state;
    assert_eq!((state.resources().len(), state.resources()[0].generation.0), (1, 2));
}

#[tokio::test]
async fn update_without_changes_is_not_sent() {
    let mut bench = Bench::new(8);
    let program = |size: &str, other: &str| {
        let inputs = [("size", text(size)), ("sleep", Value::from(other.len() as i64).into())];
        let mut program = Program::default().node("a", &inputs);
        let out = program.of(0);
        program.node("b", &[("size", out)])
    };
    bench.up(&program("1", "")).await;
    bench.provider.log();
    let report = bench.up(&program("1", "x")).await;
    assert_eq!(report.result, RunResult::Succeeded);
    assert_eq!(bench.provider.log(), ["update a"], "`out` of `a` stayed the same, so `b` needs no update");
}

#[tokio::test]
async fn guard_refuses_the_whole_plan_before_any_call() {
    let mut bench = Bench::new(8);
    let kept = Program::default().node("db", &[]).options(|options| options.prevent_delete = Some(true));
    bench.up(&kept).await;
    bench.provider.log();
    let (_keep, stop) = watch::channel(Stop::No);
    let gone = Program::default().node("other", &[]);
    let refused = bench.try_up(&gone, stop).await.unwrap_err();
    assert_eq!(refused[0].code, stead_model::Code::GUARDED);
    assert_eq!(bench.provider.log(), Vec::<String>::new());
    // Unprotecting is a run of its own; after it the deletion is allowed.
    bench.up(&Program::default().node("db", &[])).await;
    assert_eq!(bench.up(&gone).await.result, RunResult::Succeeded);
    assert_eq!(bench.recorded().await, ["other"]);
}

#[tokio::test]
async fn destroy_deletes_dependents_first() {
    let mut bench = Bench::new(8);
    let mut program = Program::default().node("a", &[("size", text("1"))]);
    let out = program.of(0);
    bench.up(&program.node("b", &[("size", out)])).await;
    bench.provider.log();
    bench.up(&Program(Graph::default())).await;
    assert_eq!(bench.provider.log(), ["delete b", "delete a"]);
    assert_eq!(bench.recorded().await, Vec::<String>::new());
}

#[tokio::test(start_paused = true)]
async fn stopped_run_starts_no_step_and_records_the_running_ones() {
    let mut bench = Bench::new(1);
    let sleep: stead_model::Input = Value::from(50).into();
    let program = Program::default().node("a", &[("sleep", sleep.clone())]).node("b", &[("sleep", sleep)]);
    let (send, stop) = watch::channel(Stop::No);
    tokio::spawn(async move {
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
        send.send(Stop::Finish).unwrap();
        std::future::pending::<()>().await;
    });
    let report = bench.try_up(&program, stop).await.unwrap();
    assert_eq!((report.result, report.done, report.skipped), (RunResult::Interrupted, 1, 1));
    assert_eq!(bench.recorded().await, ["a"]);
}

/// A store that panics on writes.
struct ReadOnly(std::sync::Arc<dyn stead_store::Store>);

#[async_trait::async_trait]
impl stead_store::Store for ReadOnly {
    async fn get(
        &self,
        key: &stead_store::Key,
    ) -> Result<Option<stead_store::Blob>, stead_store::StoreError> {
        self.0.get(key).await
    }

    async fn put(
        &self,
        key: &stead_store::Key,
        _: bytes::Bytes,
        _: stead_store::Expect,
    ) -> Result<stead_store::Version, stead_store::StoreError> {
        panic!("{key} was written")
    }

    async fn list(
        &self,
        prefix: &stead_store::Key,
    ) -> Result<Vec<stead_store::Key>, stead_store::StoreError> {
        self.0.list(prefix).await
    }

    async fn delete(&self, key: &stead_store::Key) -> Result<(), stead_store::StoreError> {
        panic!("{key} was deleted")
    }

    fn describe(&self) -> String {
        self.0.describe()
    }
}

#[tokio::test]
async fn plan_and_refresh_write_nothing_even_after_a_crash() {
    let mut bench = Bench::new(8);
    bench.up(&Program::default().node("a", &[])).await;
    let died = bench.open().await;
    drop(died);
    let store: std::sync::Arc<dyn stead_store::Store> = std::sync::Arc::new(ReadOnly(bench.store.clone()));
    let state = stead_journal::load(&store, &crate::provider::keys()).await.unwrap().state;
    let program = Program::default().node("a", &[("size", text("2"))]).node("b", &[]);
    let plan = bench.engine.plan(&state, &program.settled(), Purpose::Up).await.unwrap();
    assert_eq!((plan.summary.update, plan.summary.create), (1, 1));
    bench.engine.refresh(&state).await.unwrap();
}

#[tokio::test]
async fn invalid_input_is_reported_with_its_place_before_any_call() {
    let mut bench = Bench::new(8);
    let program = Program::default().node("a", &[("sise", text("1"))]).node("b", &[("plase", text("x"))]);
    let (_keep, stop) = watch::channel(Stop::No);
    let problems = bench.try_up(&program, stop).await.unwrap_err();
    let lines: Vec<u32> = problems.iter().map(|problem| problem.labels[0].place.line).collect();
    assert_eq!(lines, [1, 2]);
    assert!(bench.load().await.head.is_none());
}
