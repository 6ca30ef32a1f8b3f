//! Looking outside: asked again while the provider is busy, never waited for without end.

use std::sync::atomic::Ordering;
use std::time::Duration;

use stead_model::{PhysicalId, Timeouts, TypeToken, Value};
use stead_plan::Purpose;
use tokio::time::Instant;

use crate::bench::{Bench, Program, text};
use crate::provider::Looks;

/// A resource that is recorded and there, and how looks go from now on.
async fn bench(looks: Looks) -> Bench {
    let mut bench = Bench::new(8);
    bench.up(&Program::default().node("a", &[])).await;
    *bench.provider.looks.lock().unwrap() = looks;
    bench
}

/// A program that imports something that is really there.
fn import(bench: &Bench, timeouts: Timeouts) -> Program {
    let there = [("name".to_owned(), Value::from("b"))];
    bench.provider.real.lock().unwrap().insert("there".into(), there.into());
    Program::default().node("a", &[]).node("b", &[]).options(|options| {
        options.import = Some(PhysicalId("there".into()));
        options.timeouts = timeouts;
    })
}

#[tokio::test(start_paused = true)]
async fn a_busy_provider_is_looked_at_again_after_growing_pauses() {
    let bench = bench(Looks::Busy).await;
    let before = Instant::now();
    let refreshed = bench.engine.refresh(&bench.load().await.state).await.unwrap();
    assert!(refreshed.drift.is_empty());
    assert_eq!(bench.provider.looked.load(Ordering::SeqCst), 3);
    // Half a second and a second, of each at least one half.
    let waited = before.elapsed();
    assert!((Duration::from_millis(750)..=Duration::from_millis(1550)).contains(&waited), "{waited:?}");
}

#[tokio::test(start_paused = true)]
async fn an_import_asks_a_busy_provider_again() {
    let bench = bench(Looks::Busy).await;
    let program = import(&bench, Timeouts::default());
    let plan = bench.engine.plan(&bench.load().await.state, &program.settled(), Purpose::Up).await.unwrap();
    assert_eq!((plan.summary.import, plan.summary.unchanged), (1, 1));
    assert_eq!(bench.provider.looked.load(Ordering::SeqCst), 3);
}

#[tokio::test(start_paused = true)]
async fn what_would_be_refused_again_is_not_asked_again() {
    let bench = bench(Looks::Refused).await;
    let state = bench.load().await.state;
    let problems = bench.engine.refresh(&state).await.err().unwrap();
    assert_eq!(
        (problems[0].code.as_str(), problems[0].help.as_slice()),
        ("ST0510", &["ask for leave".into()][..])
    );
    assert_eq!(bench.provider.looked.load(Ordering::SeqCst), 1);
    let program = import(&bench, Timeouts::default());
    let problems = bench.engine.plan(&state, &program.settled(), Purpose::Up).await.unwrap_err();
    assert_eq!(problems[0].code.as_str(), "ST0510");
    let id = PhysicalId("there".into());
    let problem = bench.engine.look(&TypeToken("t.T".into()), &id).await.unwrap_err();
    assert_eq!(problem.message, "cannot read t.T there: you may not look");
    assert_eq!(bench.provider.looked.load(Ordering::SeqCst), 3, "one look each");
}

#[tokio::test(start_paused = true)]
async fn a_provider_that_hangs_hangs_neither_refresh_nor_plan_nor_import() {
    let bench = bench(Looks::Hang).await;
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
    assert!(bench.engine.look(&TypeToken("t.T".into()), &id).await.is_err());
    assert!(before.elapsed() <= five_minutes + Duration::from_secs(1), "{:?}", before.elapsed());
}

#[tokio::test(start_paused = true)]
async fn the_option_says_how_long_a_look_may_take() {
    let bench = bench(Looks::Hang).await;
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
async fn a_provider_gets_no_more_looks_at_once_than_it_takes() {
    let mut bench = Bench::new(16);
    let names: Vec<String> = (0..20).map(|n| format!("r{n}")).collect();
    bench.up(&names.iter().fold(Program::default(), |program, name| program.node(name, &[]))).await;
    *bench.provider.looks.lock().unwrap() = Looks::Slow;
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
