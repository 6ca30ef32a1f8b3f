//! Recovery after crashes, operations in doubt, and drift.

use stead_engine::{CurrentGuards, Resolution, StatedOutputs};
use stead_model::{Operation, PhysicalId, RunResult, Value};
use stead_plan::Incarnation;
use stead_state::{Intent, Record};

use stead_plan::Purpose;

use crate::bench::{Bench, Program, text};

/// Crashes a run after the intent of its create is durable.
async fn crash_while_creating(bench: &mut Bench, program: &Program) {
    let base = bench.load().await.state;
    let plan = bench.engine.plan(&base, &program.settled(), Purpose::Up).await.unwrap();
    let stead_plan::Action::Create { incarnation: Incarnation::First { counter }, .. } =
        &plan.steps[0].action
    else {
        panic!("the first step creates")
    };
    let run = bench.open().await;
    let node = &program.0.nodes[0];
    let inputs = stead_model::known(&node.inputs).unwrap();
    let resource = stead_model::Resource {
        inputs,
        ..stead_model::Resource::new(
            stead_model::Uid::derive(run.stack(), &node.name.to_string(), *counter),
            node.name.clone(),
            node.ty.clone(),
            node.source.clone(),
        )
    };
    drop(run.submit(Record::Reserve { uids: counter + 1 }));
    let begun = run.begin(|key| Intent::Create { key, resource: Box::new(resource) });
    begun.receipt().await.unwrap();
}

#[tokio::test]
async fn interrupted_create_is_repeated_with_the_same_key() {
    let mut bench = Bench::new(8);
    let program = Program::default().node("a", &[]);
    crash_while_creating(&mut bench, &program).await;
    let (repeatable, doubtful) = bench.engine.triage(&bench.load().await.state);
    assert_eq!((repeatable.len(), doubtful.len()), (1, 0));
    let run = bench.open().await;
    let recovered =
        bench.engine.recover(&run, &repeatable, Some(&CurrentGuards::default()), &mut |_| {}).await.unwrap();
    assert_eq!(recovered.finished.len(), 1);
    run.close(RunResult::Succeeded).await.unwrap();
    let state = bench.load().await.state;
    let made = state.by_name(&program.0.nodes[0].name).unwrap();
    assert_eq!(made.id.as_ref().unwrap().as_str(), repeatable[0].intent.key());
    assert_eq!(bench.provider.real.lock().unwrap().len(), 1);
    assert!(bench.engine.plan(&state, &program.settled(), Purpose::Up).await.unwrap().is_empty());
}

#[tokio::test(start_paused = true)]
async fn repeated_operation_of_a_busy_provider_is_retried() {
    let mut bench = Bench::new(8);
    let program = Program::default().node("a", &[("create", text("busy"))]);
    crash_while_creating(&mut bench, &program).await;
    let (repeatable, _) = bench.engine.triage(&bench.load().await.state);
    let run = bench.open().await;
    let mut retried = 0;
    let mut on_event =
        |event| retried += usize::from(matches!(event, stead_model::Event::StepRetried { .. }));
    let recovered = bench
        .engine
        .recover(&run, &repeatable, Some(&CurrentGuards::default()), &mut on_event)
        .await
        .unwrap();
    assert_eq!((recovered.finished.len(), recovered.problems.len(), retried), (1, 0, 2));
    run.close(RunResult::Succeeded).await.unwrap();
    assert_eq!(bench.provider.log(), ["create a", "create a", "create a"]);
    assert_eq!(bench.provider.real.lock().unwrap().len(), 1, "the same key each time");
}

#[tokio::test]
async fn create_whose_end_the_service_tells_is_settled_without_a_person() {
    for (told, left) in [("ended", 0), ("fail", 1)] {
        let mut bench = Bench::new(8);
        let program = Program::default().node("a", &[("create", text(told))]);
        crash_while_creating(&mut bench, &program).await;
        let (repeatable, _) = bench.engine.triage(&bench.load().await.state);
        let run = bench.open().await;
        let recovered = bench
            .engine
            .recover(&run, &repeatable, Some(&CurrentGuards::default()), &mut |_| {})
            .await
            .unwrap();
        assert_eq!((recovered.finished.len(), recovered.problems.len()), (1 - left, left), "{told}");
        run.close(RunResult::Succeeded).await.unwrap();
        assert_eq!(bench.provider.log(), ["create a"], "the same key would be told the same end");
        let state = bench.load().await.state;
        assert_eq!((state.pending().count(), state.len()), (left, 0), "{told}");
    }
}

#[tokio::test]
async fn operation_that_a_person_has_to_resolve_is_not_repeated() {
    let mut bench = Bench::new(8);
    let program = Program::default().node("a", &[("ask", text("yes"))]);
    crash_while_creating(&mut bench, &program).await;
    let (repeatable, doubtful) = bench.engine.triage(&bench.load().await.state);
    assert_eq!((repeatable.len(), doubtful.len()), (0, 1));
    assert_eq!(doubtful[0].pending.intent.operation(), Operation::Create);
    assert!(bench.provider.log().is_empty());
}

#[tokio::test]
async fn operation_in_doubt_stays_in_doubt_across_runs() {
    let mut bench = Bench::new(8);
    let program = Program::default().node("a", &[("create", text("doubt"))]).node("b", &[]);
    let report = bench.up(&program).await;
    assert_eq!(report.result, RunResult::InDoubt);
    assert_eq!(bench.recorded().await, ["b"]);
    let state = bench.load().await.state;
    let pending: Vec<_> = state.pending().collect();
    assert_eq!(pending.len(), 1);
    assert_eq!(pending[0].doubt.as_deref(), Some("the line went dead"));
}

#[tokio::test]
async fn drift_is_found_recorded_and_corrected() {
    let mut bench = Bench::new(8);
    let program = Program::default().node("a", &[("size", text("1"))]).node("b", &[("size", text("2"))]);
    bench.up(&program).await;
    bench.provider.log();
    let ids: Vec<String> = bench.provider.real.lock().unwrap().keys().cloned().collect();
    {
        let mut real = bench.provider.real.lock().unwrap();
        real.get_mut(&ids[0]).unwrap().insert("size", Value::from("9"));
        real.remove(&ids[1]);
    }
    let base = bench.load().await.state;
    let refreshed = bench.engine.refresh(&base).await.unwrap();
    let seen: Vec<_> =
        refreshed.drift.iter().map(|drift| (drift.name.short(), drift.found.is_some())).collect();
    assert_eq!(seen, [("a", true), ("b", false)]);
    assert_eq!(refreshed.drift[0].changes[0].path.to_string(), "size");

    let plan = bench.engine.plan(&refreshed.state, &program.settled(), Purpose::Up).await.unwrap();
    assert_eq!((plan.summary.update, plan.summary.create), (1, 1));
    let run = bench.open().await;
    for record in refreshed.records {
        run.submit(record).durable().await.unwrap();
    }
    run.close(RunResult::Succeeded).await.unwrap();
    assert_eq!(bench.up(&program).await.result, RunResult::Succeeded);
    let mut log = bench.provider.log();
    log.sort();
    assert_eq!(log, ["create b", "update a"]);
    assert_eq!(bench.recorded().await, ["a\"1\"", "b\"2\""]);
}

fn created(id: &str) -> Resolution {
    Resolution::Created { id: PhysicalId(id.to_owned()), outputs: StatedOutputs::default() }
}

/// Resolves the only operation in doubt.
async fn resolve(bench: &Bench, resolution: Resolution) {
    let state = bench.load().await.state;
    let pending = state.pending().next().unwrap();
    let records = bench.engine.resolve(&state, pending, &resolution).await.unwrap();
    let run = bench.open().await;
    run.submit_together(records).durable().await.unwrap();
    run.close(RunResult::Succeeded).await.unwrap();
}

#[tokio::test]
async fn resolved_create_records_the_values_that_were_read() {
    let mut bench = Bench::new(1);
    let program = Program::default().node("a", &[("size", text("5")), ("create", text("doubt"))]);
    assert_eq!(bench.up(&program).await.result, RunResult::InDoubt);
    // The create took effect in part: the object has no size yet.
    let half = [("name".to_owned(), Value::from("a")), ("create".to_owned(), Value::from("doubt"))];
    *bench.provider.real.lock().unwrap() = [("a-1".to_owned(), half.clone().into())].into();
    resolve(&bench, created("a-1")).await;
    let state = bench.load().await.state;
    assert_eq!(state.by_name(&program.0.nodes[0].name).unwrap().inputs, half.into());
    bench.provider.log();
    bench.up(&program).await;
    assert_eq!(bench.provider.log(), ["update a"], "the rest follows");
}

#[tokio::test]
async fn update_resolved_as_not_happened_records_the_values_that_were_read() {
    let mut bench = Bench::new(1);
    let program = |size: &str, place: &str| {
        Program::default()
            .node("a", &[("size", text(size)), ("sleep", text(place)), ("update", text("doubt"))])
    };
    bench.up(&program("1", "x")).await;
    assert_eq!(bench.up(&program("2", "y")).await.result, RunResult::InDoubt);
    let id =
        bench.load().await.state.by_name(&program("1", "x").0.nodes[0].name).unwrap().id.clone().unwrap();
    let mut real = bench.provider.real.lock().unwrap().get(id.as_str()).unwrap().clone();
    real.insert("size".to_owned(), Value::from("1"));
    real.insert("sleep".to_owned(), Value::from("y"));
    bench.provider.real.lock().unwrap().insert(id.as_str().to_owned(), real.clone());
    resolve(&bench, Resolution::DidNotHappen).await;
    let state = bench.load().await.state;
    assert_eq!(state.by_name(&program("1", "x").0.nodes[0].name).unwrap().inputs, real);
}

#[tokio::test]
async fn resolution_for_another_kind_of_operation_is_refused() {
    let mut bench = Bench::new(1);
    bench.up(&Program::default().node("a", &[("create", text("doubt"))])).await;
    let state = bench.load().await.state;
    let pending = state.pending().next().unwrap();
    let refused = bench
        .engine
        .resolve(&state, pending, &Resolution::Done { outputs: StatedOutputs::default() })
        .await
        .unwrap_err();
    assert_eq!(refused.message, "this answer does not fit a pending create");
    let refused = bench.engine.resolve(&state, pending, &created("b")).await.unwrap_err();
    assert!(refused.message.ends_with("does not exist"), "{}", refused.message);
}

#[tokio::test]
async fn create_cannot_be_resolved_with_the_physical_id_of_another_resource() {
    let mut bench = Bench::new(1);
    let program = Program::default().node("a", &[]).node("b", &[("create", text("doubt"))]);
    bench.up(&program).await;
    let state = bench.load().await.state;
    let id = state.by_name(&program.0.nodes[0].name).unwrap().id.clone().unwrap();
    let pending = state.pending().next().unwrap();
    let refused = bench.engine.resolve(&state, pending, &created(id.as_str())).await.unwrap_err();
    assert_eq!(refused.message, format!("{id} already belongs to dev:main:t.T#a"));
}
