//! Reads of real objects: retried while the provider is busy, and limited by a timeout.

use std::sync::atomic::Ordering;
use std::time::Duration;

use stead_model::{PhysicalId, RunResult, Timeouts, TypeToken, Value};
use stead_plan::Purpose;
use tokio::time::Instant;

use crate::bench::{Bench, Program, text};
use crate::provider::{Batches, Reads, marked};

/// A bench with an existing resource, whose provider answers reads in this way from now on.
async fn bench(reads: Reads) -> Bench {
    let mut bench = Bench::new(8);
    bench.up(&Program::default().node("a", &[])).await;
    *bench.provider.reads.lock().unwrap() = reads;
    bench
}

/// A program that imports an existing object.
fn import(bench: &Bench, timeouts: Timeouts) -> Program {
    let existing = [("name".to_owned(), Value::from("b"))];
    bench.provider.real.lock().unwrap().insert("there".into(), existing.into());
    Program::default().node("a", &[]).node("b", &[]).options(|options| {
        options.import = Some(PhysicalId("there".into()));
        options.timeouts = timeouts;
    })
}

#[tokio::test(start_paused = true)]
async fn read_from_a_busy_provider_is_retried_after_growing_pauses() {
    let bench = bench(Reads::Busy).await;
    let before = Instant::now();
    let refreshed = bench.engine.refresh(&bench.load().await.state).await.unwrap();
    assert!(refreshed.drift.is_empty());
    assert_eq!(bench.provider.read_calls.load(Ordering::SeqCst), 3);
    // The pauses are half a second and a second; at most half of each is random.
    let waited = before.elapsed();
    assert!((Duration::from_millis(750)..=Duration::from_millis(1550)).contains(&waited), "{waited:?}");
}

/// A bench with this many existing resources, whose provider answers batches in this way.
async fn many(count: usize, batches: Batches) -> Bench {
    let mut bench = Bench::new(8);
    let program = (0..count)
        .fold(Program::default(), |program, n| program.node(&format!("r{n}"), &[("size", text("1"))]));
    bench.up(&program).await;
    bench.provider.log();
    *bench.provider.batches.lock().unwrap() = batches;
    bench
}

#[tokio::test(start_paused = true)]
async fn many_resources_are_read_in_one_batch() {
    let bench = many(12, Batches::Answered).await;
    let first = bench.provider.real.lock().unwrap().keys().next().unwrap().clone();
    bench.provider.real.lock().unwrap().get_mut(&first).unwrap().insert("size", Value::from("2"));
    let refreshed = bench.engine.refresh(&bench.load().await.state).await.unwrap();
    assert_eq!(refreshed.drift.len(), 1, "a change is found in a batch");
    assert_eq!(bench.provider.log(), ["read 12"]);
    assert_eq!(bench.provider.read_calls.load(Ordering::SeqCst), 0);

    let few = many(9, Batches::Answered).await;
    few.engine.refresh(&few.load().await.state).await.unwrap();
    assert_eq!((few.provider.log().len(), few.provider.read_calls.load(Ordering::SeqCst)), (0, 9));
}

#[tokio::test(start_paused = true)]
async fn resource_that_a_batch_lacks_is_read_by_itself_before_it_counts_as_gone() {
    let bench = many(12, Batches::Answered).await;
    let first = bench.provider.real.lock().unwrap().keys().next().unwrap().clone();
    bench.provider.real.lock().unwrap().remove(&first);
    let refreshed = bench.engine.refresh(&bench.load().await.state).await.unwrap();
    assert!(matches!(refreshed.drift.as_slice(), [gone] if gone.found.is_none()));
    assert_eq!(bench.provider.read_calls.load(Ordering::SeqCst), 1);
}

#[tokio::test(start_paused = true)]
async fn refused_batch_leaves_its_resources_to_reads() {
    let bench = many(12, Batches::Refused).await;
    assert!(bench.engine.refresh(&bench.load().await.state).await.unwrap().drift.is_empty());
    assert_eq!(bench.provider.log(), ["read 12"]);
    assert_eq!(bench.provider.read_calls.load(Ordering::SeqCst), 12);
}

#[tokio::test(start_paused = true)]
async fn import_from_a_busy_provider_is_retried() {
    let bench = bench(Reads::Busy).await;
    let program = import(&bench, Timeouts::default());
    let plan = bench.engine.plan(&bench.load().await.state, &program.settled(), Purpose::Up).await.unwrap();
    assert_eq!((plan.summary.import, plan.summary.unchanged), (1, 1));
    assert_eq!(bench.provider.read_calls.load(Ordering::SeqCst), 3);
}

#[tokio::test(start_paused = true)]
async fn permanent_refusal_of_a_read_is_not_retried() {
    let bench = bench(Reads::Refused).await;
    let state = bench.load().await.state;
    let problems = bench.engine.refresh(&state).await.err().unwrap();
    assert_eq!(
        (problems[0].code.as_str(), problems[0].help.as_slice()),
        ("ST0510", &["ask for leave".into()][..])
    );
    assert_eq!(bench.provider.read_calls.load(Ordering::SeqCst), 1);
    let program = import(&bench, Timeouts::default());
    let problems = bench.engine.plan(&state, &program.settled(), Purpose::Up).await.unwrap_err();
    assert_eq!(problems[0].code.as_str(), "ST0510");
    let id = PhysicalId("there".into());
    let problem = bench.engine.read_existing(&TypeToken("t.T".into()), &id).await.unwrap_err();
    assert_eq!(problem.message, "cannot read t.T there: reads are not allowed");
    assert_eq!(bench.provider.read_calls.load(Ordering::SeqCst), 3, "one read each");
}

#[tokio::test(start_paused = true)]
async fn refresh_plan_and_import_end_after_the_timeout_of_the_provider() {
    let bench = bench(Reads::Hang).await;
    let (state, five_minutes) = (bench.load().await.state, Duration::from_secs(300));
    let before = Instant::now();
    let problems = bench.engine.refresh(&state).await.err().unwrap();
    assert_eq!((problems.len(), problems[0].code.as_str()), (1, "ST0510"));
    assert!(problems[0].message.ends_with("the provider did not answer within 300 s"));
    assert!(before.elapsed() <= five_minutes + Duration::from_secs(1), "{:?}", before.elapsed());

    let before = Instant::now();
    let program = Program::default().node("a", &[("size", text("2"))]);
    let problems = bench.engine.plan(&state, &program.settled(), Purpose::Up).await.unwrap_err();
    assert_eq!(problems[0].code.as_str(), "ST0510", "check and diff are not waited for either");
    assert!(before.elapsed() <= five_minutes + Duration::from_secs(1), "{:?}", before.elapsed());

    let before = Instant::now();
    let id = PhysicalId("there".into());
    assert!(bench.engine.read_existing(&TypeToken("t.T".into()), &id).await.is_err());
    assert!(before.elapsed() <= five_minutes + Duration::from_secs(1), "{:?}", before.elapsed());
}

#[tokio::test(start_paused = true)]
async fn option_sets_the_timeout_of_a_read() {
    let bench = bench(Reads::Hang).await;
    let program = import(&bench, Timeouts { read: Some(10), ..Timeouts::default() });
    let mut alone = program.clone();
    alone.0.nodes.remove(0);
    let before = Instant::now();
    let problems =
        bench.engine.plan(&bench.load().await.state, &alone.settled(), Purpose::Up).await.unwrap_err();
    assert_eq!(problems[0].message, "cannot read dev:main:t.T#b: the provider did not answer within 10 s");
    assert!(before.elapsed() <= Duration::from_secs(11), "{:?}", before.elapsed());
}

#[tokio::test(start_paused = true)]
async fn parallel_reads_stay_within_the_limit_of_the_provider() {
    let mut bench = Bench::new(16);
    let names: Vec<String> = (0..20).map(|n| format!("r{n}")).collect();
    bench.up(&names.iter().fold(Program::default(), |program, name| program.node(name, &[]))).await;
    *bench.provider.reads.lock().unwrap() = Reads::Slow;
    let most = || bench.provider.most.swap(0, Ordering::SeqCst);
    let state = bench.load().await.state;
    most();
    bench.engine.refresh(&state).await.unwrap();
    assert_eq!(most(), 16, "as many as the run allows");
    bench.provider.limit.store(3, Ordering::SeqCst);
    bench.engine.refresh(&state).await.unwrap();
    assert_eq!(most(), 3, "and no more than the provider does");
    let imports = names.iter().fold(Program::default(), |program, name| {
        let id = format!("{name}-there");
        bench
            .provider
            .real
            .lock()
            .unwrap()
            .insert(id.clone(), [("name".to_owned(), Value::from(name.as_str()))].into());
        let program = program.node(&format!("{name}-new"), &[("name", text(name))]);
        program.options(|options| options.import = Some(PhysicalId(id)))
    });
    bench.engine.plan(&state, &imports.settled(), Purpose::Up).await.unwrap();
    assert_eq!(most(), 3, "in a plan too");
}

#[tokio::test]
async fn object_with_the_key_of_secrets_is_recorded_as_its_text() {
    let mut bench = Bench::new(8);
    let inputs = [("size", text("1")), ("create", text("mark"))];
    let names: Vec<String> = (0..12).map(|at| format!("a{at}")).collect();
    let program = names.iter().fold(Program::default(), |program, name| program.node(name, &inputs));
    assert_eq!(bench.up(&program).await.result, RunResult::Succeeded);
    let recorded = async |bench: &Bench| {
        let resource = bench.load().await.state.resources()[0].clone();
        (resource.inputs.get("size").cloned(), resource.outputs.get("out").cloned())
    };
    let shown = Some(Value::from(marked().to_json()));
    assert_eq!(recorded(&bench).await, (Some("1".into()), shown.clone()));
    for batches in [Batches::None, Batches::Answered] {
        *bench.provider.batches.lock().unwrap() = batches;
        for inputs in bench.provider.real.lock().unwrap().values_mut() {
            inputs.insert("size", marked());
        }
        bench.refresh(|_| true).await;
        assert_eq!(recorded(&bench).await, (shown.clone(), shown.clone()), "{batches:?}");
    }
}
