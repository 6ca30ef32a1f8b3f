//! The same state and program give the same plan at any parallelism, order of independent declarations and hash seed.
//!
//! Node ids and step ids are positions in the program, so two orders of declaration are compared by the names, reasons and
//! predecessors of the steps.

use std::collections::BTreeMap;

use stead_model::{Graph, NodeId, Value};
use stead_plan::{Plan, Purpose};

use crate::bench::{Bench, Program, text};

/// Declares independent pairs in this order; the second resource of each pair depends on the first.
fn program(order: &[usize], size: &str) -> Program {
    let mut program = Program::default();
    for (at, n) in order.iter().enumerate() {
        program = program
            .node(&format!("a{n}"), &[("size", text(size)), ("place", Value::from((n % 2) as i64).into())]);
        let out = program.of(at as u32 * 2);
        program = program.node(&format!("b{n}"), &[("place", out)]);
    }
    program
}

/// Returns the predecessors of each step, all by action, name and reason.
fn by_name(plan: &Plan) -> BTreeMap<String, Vec<String>> {
    let title = |index: usize| {
        let step = &plan.steps[index];
        let action = serde_json::to_value(&step.action).unwrap();
        format!("{} {} {:?}", action["action"], step.name, step.why)
    };
    let is_barrier = |index: usize| matches!(plan.steps[index].action, stead_plan::Action::Barrier);
    let after = |index: usize| {
        let mut names: Vec<String> = plan.steps[index].after.iter().map(|id| title(id.0)).collect();
        names.sort();
        names
    };
    (0..plan.steps.len())
        .filter(|index| !is_barrier(*index))
        .map(|index| (title(index), after(index)))
        .collect()
}

async fn plan(bench: &Bench, graph: &Graph) -> Plan {
    let graph = stead_guard::pins::SettledGraph::from_records(graph.clone());
    bench.engine.plan(&bench.load().await.state, &graph, Purpose::Up).await.unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn plan_has_the_same_bytes_at_any_parallelism() {
    let order: Vec<usize> = (0..10).collect();
    let mut bench = Bench::new(8);
    bench.up(&program(&order, "1")).await;
    let changed = program(&order[2..], "2");
    let bytes = |plan: &Plan| serde_json::to_vec(plan).unwrap();
    let first = bytes(&plan(&bench, &changed.0).await);
    for parallel in [1, 2, 3, 32] {
        bench.engine.parallel = parallel;
        for _ in 0..5 {
            assert_eq!(bytes(&plan(&bench, &changed.0).await), first, "{parallel} at once");
        }
    }
}

#[tokio::test]
async fn order_of_independent_declarations_changes_no_step() {
    let order: Vec<usize> = (0..10).collect();
    let mut bench = Bench::new(8);
    bench.up(&program(&order, "1")).await;
    let first = plan(&bench, &program(&order[1..], "2").0).await;
    for turn in 1..9 {
        let mut turned = order[1..].to_vec();
        turned.rotate_left(turn);
        let other = plan(&bench, &program(&turned, "2").0).await;
        assert_eq!(by_name(&other), by_name(&first));
        assert_eq!(other.summary, first.summary);
    }
    let node = |plan: &Plan| plan.existing.keys().copied().max();
    assert_eq!(node(&first), Some(NodeId(17)));
}
