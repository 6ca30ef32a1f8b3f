//! The same state and program give the same plan, for every hash seed, every order of verdicts, and every order of independent
//! declarations.

use std::collections::BTreeSet;

use super::*;

/// One resource: its `place`, its possible dependency, and its special option.
type Spec = (u8, u8, u8);

const COUNT: u8 = 12;
const PLACES: [&str; 3] = ["x", "y", "z"];

fn specs() -> impl Strategy<Value = BTreeMap<u8, Spec>> {
    proptest::collection::btree_map(0..COUNT, (0u8..3, 0..COUNT, 0u8..4), 0..COUNT as usize)
}

/// Returns the recorded state of the specs, with their places in `property`. The maps inside have new hash seeds in each call.
fn base(specs: &BTreeMap<u8, Spec>, property: &str) -> State {
    let names: Vec<String> = (0..COUNT).map(|n| format!("r{n:02}")).collect();
    let name = |n: u8| names[usize::from(n)].as_str();
    let rows: Vec<_> = specs
        .iter()
        .map(|(n, (place, on, _))| {
            let depends = specs.contains_key(on) && on < n;
            let depends: Vec<&str> = depends.then(|| name(*on)).into_iter().collect();
            (*n, [(property, PLACES[usize::from(*place)])], depends)
        })
        .collect();
    let rows: Vec<Row<'_>> = rows.iter().map(|(n, inputs, on)| (name(*n), &inputs[..], &on[..])).collect();
    state(&rows)
}

/// Returns the specs as a program, declared in this order. Some resources have another name than their record.
fn program(specs: &BTreeMap<u8, Spec>, order: &[u8], property: &str) -> Program {
    let at = |n: &u8| order.iter().position(|other| other == n).map(|at| at as u32);
    let mut program = Program::default();
    for n in order {
        let (place, on, special) = specs[n];
        let mut inputs = vec![(property, known(PLACES[usize::from(place)]))];
        if on < *n
            && let Some(node) = at(&on)
        {
            inputs.push(("size", program.of(node, "etag")));
        }
        let name = if special == 3 { format!("moved{n:02}") } else { format!("r{n:02}") };
        program = program.node(&name, &inputs).options(|options| {
            options.delete_before_replace = (special == 1).then_some(true);
            if special == 2 {
                options.aliases.push(format!("dev:main:t.T#old{n:02}").parse().unwrap());
            }
        });
    }
    program
}

/// Makes a plan with verdicts in an order drawn from the seed.
fn answered(program: &Program, base: &State, mut seed: u64) -> Result<Plan, Vec<stead_model::Diagnostic>> {
    let (catalog, request) = (catalog(), Request::default());
    let graph = SettledGraph::from_records(program.0.clone());
    let canonical = CanonicalIdentities::default();
    let mut planner = Planner::new(base, &graph, &catalog, &canonical, &request, &NoFunctions)?;
    let mut open = Vec::new();
    loop {
        open.extend(planner.questions(usize::MAX));
        if open.is_empty() {
            return planner.finish();
        }
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let question = open.swap_remove((seed >> 33) as usize % open.len());
        let changes =
            question.old.map(|old| diff(&schema(), &old.inputs, &question.inputs)).unwrap_or_default();
        let order = ReplaceOrder::CreateFirst;
        let (found, place, identity) = (None, crate::PlaceChange::Untold, Vec::new());
        let (impossible, inputs) = (super::impossible(&changes), question.inputs);
        let verdict = Verdict::Valid { inputs, changes, order, found, place, identity, impossible };
        planner.answer(question.node, verdict);
    }
}

/// Returns the plan without positions in the program: the steps with their reasons and predecessors, and the suggestions.
fn by_name(plan: &Plan) -> (BTreeSet<String>, BTreeSet<String>) {
    let title = |index: usize| {
        let step = &plan.steps[index];
        let action = serde_json::to_value(&step.action).unwrap();
        let paths: Vec<String> = step.changes.iter().map(|change| change.path.to_string()).collect();
        format!("{} {} {:?} {paths:?} {:?}", action["action"], step.name, step.why, step.unknown_from)
    };
    let steps = (0..plan.steps.len()).map(|index| {
        let after: BTreeSet<String> = plan.steps[index].after.iter().map(|id| title(id.0)).collect();
        format!("{} <- {after:?}", title(index))
    });
    let suggested = plan.suggestions.iter().map(|one| format!("{} {} {:?}", one.from, one.to, one.reason));
    let unsure = plan.ambiguities.iter().map(|one| {
        let (from, to): (BTreeSet<_>, BTreeSet<_>) = (one.from.iter().collect(), one.to.iter().collect());
        format!("{from:?} {to:?}")
    });
    (steps.collect(), suggested.chain(unsure).collect())
}

proptest! {
    #[test]
    fn plan_is_the_same_for_every_hash_seed_and_order_of_verdicts(
        (old, new, seed) in (specs(), specs(), any::<u64>()),
        // A place is a property like others, a path names the real resource.
        property in proptest::sample::select(vec!["place", "path"]),
    ) {
        let order: Vec<u8> = new.keys().copied().collect();
        let bytes = |seed: u64| {
            let plan = answered(&program(&new, &order, property), &base(&old, property), seed).unwrap();
            serde_json::to_vec(&plan).unwrap()
        };
        prop_assert_eq!(bytes(0), bytes(seed));
    }

    #[test]
    fn steps_are_the_same_for_every_order_of_independent_declarations(
        (old, new) in (specs(), specs()),
        keys in proptest::collection::vec(any::<u32>(), COUNT as usize),
    ) {
        let order: Vec<u8> = new.keys().copied().collect();
        let mut other = order.clone();
        other.sort_by_key(|n| keys[usize::from(*n)]);
        let plan = |order: &[u8]| answered(&program(&new, order, "place"), &base(&old, "place"), 0).unwrap();
        let (first, second) = (plan(&order), plan(&other));
        prop_assert_eq!(by_name(&first), by_name(&second));
        prop_assert_eq!(first.summary, second.summary);
    }
}
