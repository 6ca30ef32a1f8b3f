//! Runs with failures: retries, timeouts, partial effects, limits of providers.

use std::sync::atomic::Ordering;
use std::time::Duration;

use stead_engine::{OnFailure, Stop};
use stead_model::{Event, RunResult, StepEnd, Timeouts, Value};
use stead_plan::Purpose;
use tokio::sync::watch;

use crate::bench::{Bench, Program, text};

#[tokio::test(start_paused = true)]
async fn operation_of_a_busy_provider_is_retried_after_growing_pauses() {
    let mut bench = Bench::new(8);
    let program = Program::default().node("a", &[("create", text("busy"))]);
    let report = bench.up(&program).await;
    assert_eq!((report.result, report.done), (RunResult::Succeeded, 1));
    assert_eq!(bench.provider.log(), ["create a", "create a", "create a"]);
    let pauses: Vec<u64> = bench
        .events
        .iter()
        .filter_map(|event| match event {
            Event::StepRetried { millis, .. } => Some(*millis),
            _ => None,
        })
        .collect();
    assert_eq!(pauses.len(), 2);
    assert!((250..=500).contains(&pauses[0]) && (500..=1000).contains(&pauses[1]), "{pauses:?}");
    assert_eq!(bench.recorded().await, ["a"]);
}

#[tokio::test]
async fn warning_of_a_service_about_a_success_is_an_event() {
    let mut bench = Bench::new(8);
    let warned = [("create", text("warn")), ("size", text("short names"))];
    let report = bench.up(&Program::default().node("a", &warned)).await;
    assert_eq!((report.result, report.done), (RunResult::Succeeded, 1));
    let warnings: Vec<&str> = bench
        .events
        .iter()
        .filter_map(|event| match event {
            Event::StepWarned { message, .. } => Some(message.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(warnings, ["a hook dislikes short names"]);
}

#[tokio::test(start_paused = true)]
async fn deletion_of_a_busy_provider_is_retried() {
    let mut bench = Bench::new(8);
    bench.up(&Program::default().node("a", &[("delete", text("busy"))])).await;
    bench.provider.log();
    let report = bench.up(&Program::default()).await;
    assert_eq!(report.result, RunResult::Succeeded);
    assert_eq!(bench.provider.log(), ["delete a", "delete a", "delete a"]);
    assert!(bench.recorded().await.is_empty());
}

#[tokio::test(start_paused = true)]
async fn operation_is_in_doubt_after_its_timeout() {
    let mut bench = Bench::new(8);
    let program = Program::default()
        .node("stuck", &[("create", text("hang"))])
        .options(|options| options.timeouts = Timeouts { create: Some(60), ..Timeouts::default() })
        .node("free", &[]);
    let before = tokio::time::Instant::now();
    let report = bench.up(&program).await;
    assert_eq!(report.result, RunResult::InDoubt);
    assert_eq!(report.problems[0].code.as_str(), "ST0503");
    assert!(before.elapsed() < Duration::from_secs(70), "{:?}", before.elapsed());
    assert_eq!(bench.recorded().await, ["free"]);
    assert_eq!(bench.load().await.state.pending().count(), 1);
}

#[tokio::test]
async fn partial_create_is_recorded_and_the_rest_is_planned() {
    let mut bench = Bench::new(8);
    let mut program = Program::default().node("a", &[("size", text("1")), ("create", text("partly"))]);
    let out = program.of(0);
    let program = program.node("behind", &[("size", out)]);
    let report = bench.up(&program).await;
    assert_eq!((report.result, report.skipped), (RunResult::Failed, 1));
    let state = bench.load().await.state;
    let recorded = state.by_name(&"dev:main:t.T#a".parse().unwrap()).unwrap();
    assert!(recorded.id.is_some() && !recorded.inputs.contains_key("size"));
    let plan = bench.engine.plan(&state, &program.settled(), Purpose::Up).await.unwrap();
    assert_eq!((plan.summary.update, plan.summary.create), (1, 1), "the rest of `a`, and its dependent");
}

#[tokio::test]
async fn fail_fast_starts_no_step_after_a_failure() {
    let program = Program::default().node("bad", &[("create", text("fail"))]).node("b", &[]).node("c", &[]);
    let mut bench = Bench::new(1);
    bench.engine = bench.engine.clone().on_failure(OnFailure::Stop);
    let report = bench.up(&program).await;
    assert_eq!((report.result, report.done, report.skipped), (RunResult::Failed, 0, 2));
    assert_eq!(bench.provider.log(), ["create bad"]);
    let because = bench.events.iter().find_map(|event| match event {
        Event::StepEnded { end: StepEnd::Skipped { because }, .. } => Some(because.clone()),
        _ => None,
    });
    assert!(because.unwrap().starts_with("dev:main:t.T#bad did not succeed"));
}

#[tokio::test(start_paused = true)]
async fn parallel_calls_stay_within_the_limit_of_the_provider() {
    let mut bench = Bench::new(16);
    bench.provider.limit.store(3, Ordering::SeqCst);
    let sleep = Value::from(5).into();
    let names: Vec<String> = (0..20).map(|n| format!("r{n}")).collect();
    let program = names.iter().fold(Program::default(), |program, name| {
        program.node(name, &[("sleep", std::clone::Clone::clone(&sleep))])
    });
    let report = bench.up(&program).await;
    assert_eq!(report.done, 20);
    assert_eq!(bench.provider.most.load(Ordering::SeqCst), 3);
}

#[tokio::test(start_paused = true)]
async fn step_that_waits_for_a_retry_fails_when_the_run_is_stopped() {
    let mut bench = Bench::new(8);
    let program = Program::default()
        .node("a", &[("create", text("busy"))])
        .node("b", &[("sleep", Value::from(100).into())]);
    let (stopper, stop) = watch::channel(Stop::No);
    let stopping = tokio::spawn(async move {
        tokio::time::sleep(Duration::from_millis(50)).await;
        stopper.send(Stop::Finish).unwrap();
        stopper
    });
    let report = bench.try_up(&program, stop).await.unwrap();
    drop(stopping);
    assert_eq!((report.result, report.done), (RunResult::Interrupted, 1));
    assert_eq!(report.problems.len(), 1);
}

#[tokio::test(start_paused = true)]
async fn thousand_parallel_calls_take_little_more_than_the_ideal_time() {
    let mut bench = Bench::new(32);
    bench.provider.trusting.store(true, Ordering::SeqCst);
    let sleep = Value::from(50).into();
    let names: Vec<String> = (0..1000).map(|n| format!("r{n}")).collect();
    let program = names.iter().fold(Program::default(), |program, name| {
        program.node(name, &[("sleep", std::clone::Clone::clone(&sleep))])
    });
    let before = tokio::time::Instant::now();
    let report = bench.up(&program).await;
    assert_eq!(report.done, 1000);
    let ideal = Duration::from_millis(50) * 1000u32.div_ceil(32);
    assert!(before.elapsed() < ideal.mul_f64(1.15), "{:?} for {ideal:?}", before.elapsed());
}
