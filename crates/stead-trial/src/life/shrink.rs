//! Minimizes a failing script while it violates the same oracle.

use crate::faults::plan::FaultPlan;
use crate::life::script::{Command, Round};
use crate::life::simulation::run_script;
use crate::{Edit, InitialStack, Script};

/// Maximum number of lives run to minimize a script.
const ATTEMPTS: usize = 2_000;

/// Returns the smallest script found that violates the same oracle, and its failure. Returns `None` if the script
/// passes.
pub fn shrink(script: &Script) -> Option<(Script, String)> {
    shrink_by(script, |script| {
        let failed = run_script(script).err()?;
        Some((failed.violation.oracle.to_owned(), failed.to_string()))
    })
}

/// As `shrink`, with a custom judge, which returns the violated oracle and the failure of a script.
pub fn shrink_by(
    script: &Script,
    judge: impl Fn(&Script) -> Option<(String, String)>,
) -> Option<(Script, String)> {
    let (oracle, mut end) = judge(script)?;
    let mut best = script.clone();
    let mut attempts = 0;
    let mut better = true;
    while better && attempts < ATTEMPTS {
        better = false;
        for smaller in smaller(&best) {
            attempts += 1;
            if attempts >= ATTEMPTS {
                break;
            }
            if let Some((failed, how)) = judge(&smaller)
                && failed == oracle
            {
                (best, end, better) = (smaller, how, true);
                break;
            }
        }
    }
    Some((best, end))
}

/// Returns all scripts that are one step smaller, the largest steps first.
fn smaller(script: &Script) -> Vec<Script> {
    let mut all = Vec::new();
    let count = script.rounds.len();
    let mut width = count / 2;
    while width > 0 {
        for from in (0..=count - width).rev().step_by(width) {
            let mut fewer = script.clone();
            fewer.rounds.drain(from..from + width);
            all.push(fewer);
        }
        width /= 2;
    }
    for at in (0..script.program.resources.len()).rev() {
        let mut fewer = script.clone();
        let (name, _) = fewer.program.resources.remove(at);
        fewer.program.resources.iter_mut().for_each(|(_, resource)| resource.forget(&name));
        all.push(fewer);
    }
    all.extend(script.start.iter().flat_map(|start| with_smaller_start(script, start)));
    for (at, round) in script.rounds.iter().enumerate() {
        for round in simpler(round) {
            let mut simpler = script.clone();
            simpler.rounds[at] = round;
            all.push(simpler);
        }
    }
    all.extend(with_simpler_resources(script));
    all
}

/// Returns scripts with a smaller initial stack.
fn with_smaller_start(script: &Script, start: &InitialStack) -> Vec<Script> {
    let without = |name: &String| {
        let mut fewer = start.clone();
        fewer.program.apply(&Edit::Remove(name.clone()));
        for list in [&mut fewer.left_over, &mut fewer.replacing, &mut fewer.missing] {
            list.retain(|found| found != name);
        }
        Some(fewer)
    };
    let whole = InitialStack { program: start.program.clone(), ..InitialStack::default() };
    let fewer = start.program.resources.iter().rev().map(|(name, _)| without(name));
    [None, Some(whole)].into_iter().chain(fewer).map(|start| Script { start, ..script.clone() }).collect()
}

fn simpler(round: &Round) -> Vec<Round> {
    let mut all = Vec::new();
    let mut with = |change: &dyn Fn(&mut Round)| {
        let mut simpler = round.clone();
        change(&mut simpler);
        if simpler != *round {
            all.push(simpler);
        }
    };
    with(&|round| round.rivals.clear());
    with(&|round| drop(round.rivals.pop()));
    with(&|round| round.fault_plan = FaultPlan::default());
    with(&|round| round.outside = None);
    with(&|round| round.command = Command::Up);
    with(&|round| round.seed = 0);
    for at in 0..round.edits.len() {
        with(&|round| drop(round.edits.remove(at)));
    }
    for change in FAULT_REMOVALS {
        with(&|round| change(&mut round.fault_plan));
        for at in 0..round.rivals.len() {
            with(&|round| change(&mut round.rivals[at].fault_plan));
        }
    }
    for at in 0..round.rivals.len() {
        with(&|round| round.rivals[at].elsewhere = false);
        with(&|round| round.rivals[at].command = Command::Unlock);
        with(&|round| round.rivals[at].after = 0);
    }
    all
}

/// Simplifications of a fault plan.
const FAULT_REMOVALS: [fn(&mut FaultPlan); 13] = [
    |fault_plan| fault_plan.process.dies_at = None,
    |fault_plan| fault_plan.process.rare = None,
    |fault_plan| fault_plan.process.stops_at = None,
    |fault_plan| fault_plan.process.disk_fault = None,
    |fault_plan| fault_plan.process.power_cut = None,
    |fault_plan| fault_plan.process.power = false,
    |fault_plan| fault_plan.process.skew = Default::default(),
    |fault_plan| fault_plan.cloud.truncate(fault_plan.cloud.len().saturating_sub(1)),
    |fault_plan| fault_plan.cloud.drain(..fault_plan.cloud.len().min(1)).for_each(drop),
    |fault_plan| fault_plan.store.truncate(fault_plan.store.len().saturating_sub(1)),
    |fault_plan| fault_plan.store.drain(..fault_plan.store.len().min(1)).for_each(drop),
    |fault_plan| fault_plan.interrupt = None,
    |fault_plan| {
        fault_plan.process.dies_at = fault_plan.process.dies_at.map(|at| at.saturating_sub(1).max(1))
    },
];

/// Returns scripts with one simpler resource.
fn with_simpler_resources(script: &Script) -> Vec<Script> {
    let mut all = Vec::new();
    for (at, (_, resource)) in script.program.resources.iter().enumerate() {
        let mut with = |change: &dyn Fn(&mut crate::DeclaredResource)| {
            let mut with_simpler_resources = resource.clone();
            change(&mut with_simpler_resources);
            if with_simpler_resources != *resource {
                let mut script = script.clone();
                script.program.resources[at].1 = with_simpler_resources;
                all.push(script);
            }
        };
        with(&|resource| resource.from = None);
        with(&|resource| resource.depends_on = None);
        with(&|resource| resource.tie = None);
        with(&|resource| resource.provider = None);
        for at in 0..resource.flags.len() {
            with(&|resource| {
                resource.flags.remove(at);
            });
        }
    }
    all
}

/// Returns the script as the source of a test.
pub fn as_test(script: &Script, name: &str) -> String {
    let text = serde_json::to_string_pretty(script).unwrap_or_default();
    format!(
        "#[test]\nfn {name}() {{\n    let script = r##\"{text}\"##;\n    stead_trial::replay(script).unwrap();\n}}"
    )
}

/// Runs a printed script. Returns the failure, or the error of a script that cannot be parsed.
pub fn replay(text: &str) -> Result<(), String> {
    let script: Script = serde_json::from_str(text).map_err(|error| error.to_string())?;
    run_script(&script).map(drop).map_err(|failed| failed.to_string())
}
