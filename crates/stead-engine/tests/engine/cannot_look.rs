//! Providers that cannot read their resources, and providers that lose outputs.

use stead_engine::{CurrentGuards, Resolution, StatedOutputs};
use stead_model::{Code, Name, PhysicalId, RunResult, SIGNATURE_KEY, Value};
use stead_plan::Purpose;
use stead_provider::Reads;
use stead_state::{Intent, State};

use crate::bench::{Bench, Program, text};

fn blind() -> Bench {
    let bench = Bench::new(1);
    *bench.provider.sight.lock().unwrap() = Reads::Nothing;
    bench
}

fn sized(size: &str, update: &str) -> Program {
    Program::default().node("a", &[("size", text(size)), ("update", text(update))])
}

fn stated(outputs: &[(&str, &str)]) -> StatedOutputs {
    StatedOutputs(outputs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect())
}

async fn resolve(bench: &Bench, resolution: Resolution) -> Result<(), stead_model::Diagnostic> {
    let state = bench.load().await.state;
    let records = bench.engine.resolve(&state, state.pending().next().unwrap(), &resolution).await?;
    let run = bench.open().await;
    run.submit_together(records).durable().await.unwrap();
    run.close(RunResult::Succeeded).await.unwrap();
    Ok(())
}

fn output(state: &State, name: &Name) -> Option<Value> {
    state.by_name(name).unwrap().outputs.get("out").cloned()
}

#[tokio::test]
async fn update_that_did_not_happen_leaves_the_old_inputs_and_is_planned_again() {
    let mut bench = blind();
    bench.up(&sized("1", "")).await;
    assert_eq!(bench.up(&sized("2", "doubt")).await.result, RunResult::InDoubt);
    resolve(&bench, Resolution::DidNotHappen).await.unwrap();
    assert_eq!(bench.recorded().await, ["a\"1\""]);
    let plan = bench.engine.plan(&bench.load().await.state, &sized("2", "").settled(), Purpose::Up).await;
    assert_eq!(plan.unwrap().summary.update, 1);
}

#[tokio::test]
async fn refused_repeat_of_an_update_leaves_the_old_inputs_and_is_planned_again() {
    let mut bench = blind();
    bench.up(&sized("1", "")).await;
    let state = bench.load().await.state;
    let old = state.resources()[0].clone();
    let mut resource = old.clone();
    resource.inputs.insert("size", Value::from("2"));
    resource.inputs.insert("update", Value::from("fail"));
    let run = bench.open().await;
    let (resource, previous) = (Box::new(resource), old.inputs.clone());
    run.begin(|key| Intent::Update { key, resource, previous }).receipt().await.unwrap();
    drop(run);

    let (repeatable, _) = bench.engine.triage(&bench.load().await.state);
    let run = bench.open().await;
    let guards = CurrentGuards::default();
    let recovered = bench.engine.recover(&run, &repeatable, Some(&guards), &mut |_| {}).await.unwrap();
    assert_eq!((recovered.finished.len(), recovered.problems.len()), (1, 0));
    run.close(RunResult::Succeeded).await.unwrap();
    let state = bench.load().await.state;
    assert_eq!(state.resources()[0].inputs, old.inputs);
    assert_eq!(state.pending().count(), 0);
    let plan = bench.engine.plan(&state, &sized("2", "").settled(), Purpose::Up).await.unwrap();
    assert_eq!(plan.summary.update, 1);
}

#[tokio::test]
async fn read_after_a_refusal_starts_from_the_old_record() {
    let mut bench = Bench::new(1);
    bench.up(&sized("1", "")).await;
    assert_eq!(bench.up(&sized("2", "doubt")).await.result, RunResult::InDoubt);
    bench.provider.echoes.store(true, std::sync::atomic::Ordering::SeqCst);
    resolve(&bench, Resolution::DidNotHappen).await.unwrap();
    assert_eq!(bench.recorded().await, ["a\"1\""], "an echo of the new inputs is not believed");
}

#[tokio::test]
async fn create_that_happened_needs_the_outputs() {
    let mut bench = blind();
    let program = Program::default().node("a", &[("create", text("doubt"))]);
    assert_eq!(bench.up(&program).await.result, RunResult::InDoubt);
    let created = |outputs| Resolution::Created { id: PhysicalId("a-1".into()), outputs };
    let missing = resolve(&bench, created(stated(&[]))).await.unwrap_err();
    assert_eq!(missing.code, Code::IN_DOUBT);
    assert!(missing.message.ends_with("stays in doubt: it needs the outputs `out`"), "{}", missing.message);
    let unknown = resolve(&bench, created(stated(&[("oout", "1")]))).await.unwrap_err();
    assert_eq!(unknown.message, "t.T has no output `oout`");
    let marked = format!("[{{\"{SIGNATURE_KEY}\":7}}]");
    let reserved = resolve(&bench, created(stated(&[("out", &marked)]))).await.unwrap_err();
    assert_eq!(reserved.code, Code::RESERVED_KEY, "{reserved:?}");
    assert_eq!(bench.load().await.state.pending().count(), 1, "the operation is still in doubt");

    resolve(&bench, created(stated(&[("out", "[1, \"two\"]")]))).await.unwrap();
    let state = bench.load().await.state;
    let list = serde_json::from_str::<Value>("[1, \"two\"]").unwrap();
    assert_eq!(output(&state, &program.0.nodes[0].name), Some(list));
}

#[tokio::test]
async fn update_that_happened_needs_the_outputs_too() {
    let mut bench = blind();
    bench.up(&sized("1", "")).await;
    assert_eq!(bench.up(&sized("2", "doubt")).await.result, RunResult::InDoubt);
    let missing = resolve(&bench, Resolution::Done { outputs: stated(&[]) }).await.unwrap_err();
    assert!(missing.message.contains("the update of dev:main:t.T#a stays in doubt"), "{}", missing.message);
    resolve(&bench, Resolution::Done { outputs: stated(&[("out", "new")]) }).await.unwrap();
    let state = bench.load().await.state;
    assert_eq!(output(&state, &sized("1", "").0.nodes[0].name), Some(Value::from("new")));
    assert_eq!(bench.recorded().await, ["a\"2\""]);
}

#[tokio::test]
async fn outputs_of_a_readable_resource_cannot_be_stated() {
    let mut bench = Bench::new(1);
    bench.up(&sized("1", "")).await;
    assert_eq!(bench.up(&sized("2", "doubt")).await.result, RunResult::InDoubt);
    let refused = resolve(&bench, Resolution::Done { outputs: stated(&[("out", "1")]) }).await.unwrap_err();
    assert_eq!(refused.code, Code::USAGE);
}

#[tokio::test]
async fn refresh_of_an_unreadable_resource_finds_no_drift() {
    let mut bench = blind();
    bench.up(&sized("1", "")).await;
    bench.provider.real.lock().unwrap().clear();
    assert!(bench.refresh(|_| true).await.is_empty());
}

#[tokio::test]
async fn lost_output_fails_its_dependents_and_is_never_null() {
    let mut bench = Bench::new(1);
    let program = |names: &[&str]| {
        let mut program = Program::default().node("a", &[("create", text("lose"))]);
        let out = program.of(0);
        names.iter().fold(program, |program, name| program.node(name, &[("size", out.clone())]))
    };
    let report = bench.up(&program(&["b"])).await;
    assert_eq!(report.result, RunResult::Failed);
    let message = &report.problems[0].message;
    assert_eq!(
        message,
        "`size` of dev:main:t.T#b has no value: no value of `out` is recorded for dev:main:t.T#a"
    );
    assert_eq!(bench.recorded().await, ["a"]);
    // The next plan knows it before anything is changed.
    let state = bench.load().await.state;
    let refused = bench.engine.plan(&state, &program(&["b"]).settled(), Purpose::Up).await.unwrap_err();
    assert!(refused[0].message.contains("no value of `out` is recorded"), "{}", refused[0].message);
    assert!(bench.engine.plan(&state, &program(&[]).settled(), Purpose::Up).await.unwrap().is_empty());
}
