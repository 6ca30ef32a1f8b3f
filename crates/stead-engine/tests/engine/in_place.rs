//! Changes that a service makes in place only sometimes: planned as possible replacements, and tried first.

use stead_model::{Event, RunResult};
use stead_plan::{Certainty, Purpose, Why};

use crate::bench::{Bench, Program, text};

/// Returns a program whose resource has a tier. `answer` is what the provider says to an update.
fn tier(tier: &str, answer: &str) -> Program {
    Program::default().node("a", &[("tier", text(tier)), ("update", text(answer))])
}

async fn made(program: &Program) -> Bench {
    let mut bench = Bench::new(8);
    bench.up(program).await;
    bench.provider.log();
    bench
}

#[tokio::test]
async fn change_is_planned_as_a_possible_replacement_and_tried_in_place() {
    let mut bench = made(&tier("1", "")).await;
    let (base, next) = (bench.load().await.state, tier("2", ""));
    let plan = bench.engine.plan(&base, &next.settled(), Purpose::Up).await.unwrap();
    assert_eq!(plan.summary.replace, 1);
    let possible =
        |why: &Why| matches!(why, Why::Replaced { certainty, .. } if *certainty == Certainty::Possible);
    assert!(plan.steps.iter().any(|step| possible(&step.why)));
    assert_eq!(bench.up(&next).await.result, RunResult::Succeeded);
    assert_eq!(bench.provider.log(), ["update a"]);
    let state = bench.load().await.state;
    assert_eq!(state.by_name(&next.0.nodes[0].name).unwrap().generation.0, 1);
    assert!(bench.engine.plan(&state, &next.settled(), Purpose::Up).await.unwrap().is_empty());
}

#[tokio::test]
async fn replacement_follows_if_the_service_refuses_the_change_in_place() {
    for delete_first in [false, true] {
        let program = |at: &str| {
            let mut program = tier(at, "not in place");
            program.0.nodes[0].options.delete_before_replace = Some(delete_first);
            program
        };
        let mut bench = made(&program("1")).await;
        assert_eq!(bench.up(&program("2")).await.result, RunResult::Succeeded);
        let replaces = |event: &&Event| matches!(event, Event::StepReplaces { because, .. } if because == "it has to be made anew");
        assert_eq!(bench.events.iter().filter(replaces).count(), 1);
        assert!(!bench.events.iter().any(|event| matches!(event, Event::StepRetried { .. })));
        let order = if delete_first { ["delete a", "create a"] } else { ["create a", "delete a"] };
        assert_eq!(bench.provider.log(), [&["update a"], order.as_slice()].concat());
        let state = bench.load().await.state;
        let name = &program("2").0.nodes[0].name;
        assert_eq!((state.len(), state.by_name(name).unwrap().generation.0), (1, 2));
        assert_eq!(state.pending().count(), 0);
    }
}

#[tokio::test]
async fn guards_judge_the_possible_replacement() {
    let protected = |at: &str| {
        let mut program = tier(at, "");
        program.0.nodes[0].options.prevent_delete = Some(true);
        program
    };
    let bench = made(&protected("1")).await;
    let (base, next) = (bench.load().await.state, protected("2"));
    let plan = bench.engine.plan(&base, &next.settled(), Purpose::Up).await.unwrap();
    assert!(bench.engine.permit(&plan, &base, &next.0).is_err());
}

#[tokio::test]
async fn refusal_of_a_change_that_the_plan_shows_as_an_update_is_a_failure() {
    let program =
        |size: &str| Program::default().node("a", &[("size", text(size)), ("update", text("not in place"))]);
    let mut bench = made(&program("1")).await;
    assert_eq!(bench.up(&program("2")).await.result, RunResult::Failed);
    assert_eq!(bench.provider.log(), ["update a"]);
    assert_eq!(bench.load().await.state.len(), 1);
}
