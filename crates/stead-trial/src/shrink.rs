//! Makes a life that breaks a promise as short as it can be, as long as it breaks the same one.

use crate::life::perform;
use crate::script::{Act, Task, Weather};
use crate::{Edit, Script, Start};

/// How often a life is lived again to make it shorter.
const ATTEMPTS: usize = 2_000;

/// The shortest life found that breaks the same promise, and how it ends. `None`: it breaks none.
pub fn shrink(script: &Script) -> Option<(Script, String)> {
    shrink_by(script, |script| {
        let broken = perform(script).err()?;
        Some((broken.loss.oracle.to_owned(), broken.to_string()))
    })
}

/// As `shrink`, with another judge: it names the promise that a life breaks, and tells how it ends.
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
            if let Some((broken, how)) = judge(&smaller)
                && broken == oracle
            {
                (best, end, better) = (smaller, how, true);
                break;
            }
        }
    }
    Some((best, end))
}

/// Everything that is one step smaller, the largest steps first.
fn smaller(script: &Script) -> Vec<Script> {
    let mut all = Vec::new();
    let count = script.acts.len();
    let mut width = count / 2;
    while width > 0 {
        for from in (0..=count - width).rev().step_by(width) {
            let mut fewer = script.clone();
            fewer.acts.drain(from..from + width);
            all.push(fewer);
        }
        width /= 2;
    }
    for at in (0..script.program.things.len()).rev() {
        let mut fewer = script.clone();
        let (name, _) = fewer.program.things.remove(at);
        fewer.program.things.iter_mut().for_each(|(_, thing)| thing.forget(&name));
        all.push(fewer);
    }
    all.extend(script.start.iter().flat_map(|start| nearer(script, start)));
    for (at, act) in script.acts.iter().enumerate() {
        for act in simpler(act) {
            let mut simpler = script.clone();
            simpler.acts[at] = act;
            all.push(simpler);
        }
    }
    all.extend(plainer(script));
    all
}

/// With less at the beginning.
fn nearer(script: &Script, start: &Start) -> Vec<Script> {
    let without = |name: &String| {
        let mut fewer = start.clone();
        fewer.program.apply(&Edit::Remove(name.clone()));
        for list in [&mut fewer.left_over, &mut fewer.replacing, &mut fewer.missing] {
            list.retain(|found| found != name);
        }
        Some(fewer)
    };
    let whole = Start { program: start.program.clone(), ..Start::default() };
    let fewer = start.program.things.iter().rev().map(|(name, _)| without(name));
    [None, Some(whole)].into_iter().chain(fewer).map(|start| Script { start, ..script.clone() }).collect()
}

fn simpler(act: &Act) -> Vec<Act> {
    let mut all = Vec::new();
    let mut with = |change: &dyn Fn(&mut Act)| {
        let mut simpler = act.clone();
        change(&mut simpler);
        if simpler != *act {
            all.push(simpler);
        }
    };
    with(&|act| act.rivals.clear());
    with(&|act| drop(act.rivals.pop()));
    with(&|act| act.weather = Weather::default());
    with(&|act| act.outside = None);
    with(&|act| act.task = Task::Up);
    with(&|act| act.seed = 0);
    for at in 0..act.edits.len() {
        with(&|act| drop(act.edits.remove(at)));
    }
    for change in WEATHER {
        with(&|act| change(&mut act.weather));
        for at in 0..act.rivals.len() {
            with(&|act| change(&mut act.rivals[at].weather));
        }
    }
    for at in 0..act.rivals.len() {
        with(&|act| act.rivals[at].elsewhere = false);
        with(&|act| act.rivals[at].task = Task::Unlock);
        with(&|act| act.rivals[at].after = 0);
    }
    all
}

/// What can be taken out of a weather.
const WEATHER: [fn(&mut Weather); 13] = [
    |weather| weather.fate.dies_at = None,
    |weather| weather.fate.rare = None,
    |weather| weather.fate.stops_at = None,
    |weather| weather.fate.disk_fault = None,
    |weather| weather.fate.power_cut = None,
    |weather| weather.fate.power = false,
    |weather| weather.fate.skew = Default::default(),
    |weather| weather.cloud.truncate(weather.cloud.len().saturating_sub(1)),
    |weather| weather.cloud.drain(..weather.cloud.len().min(1)).for_each(drop),
    |weather| weather.store.truncate(weather.store.len().saturating_sub(1)),
    |weather| weather.store.drain(..weather.store.len().min(1)).for_each(drop),
    |weather| weather.interrupt = None,
    |weather| weather.fate.dies_at = weather.fate.dies_at.map(|at| at.saturating_sub(1).max(1)),
];

/// The same with a thing that says less.
fn plainer(script: &Script) -> Vec<Script> {
    let mut all = Vec::new();
    for (at, (_, thing)) in script.program.things.iter().enumerate() {
        let mut with = |change: &dyn Fn(&mut crate::Declared)| {
            let mut plainer = thing.clone();
            change(&mut plainer);
            if plainer != *thing {
                let mut script = script.clone();
                script.program.things[at].1 = plainer;
                all.push(script);
            }
        };
        with(&|thing| thing.from = None);
        with(&|thing| thing.depends_on = None);
        with(&|thing| thing.tie = None);
        with(&|thing| thing.provider = None);
        for at in 0..thing.traits.len() {
            with(&|thing| {
                thing.traits.remove(at);
            });
        }
    }
    all
}

/// The life as a test, ready to paste.
pub fn as_test(script: &Script, name: &str) -> String {
    let text = serde_json::to_string_pretty(script).unwrap_or_default();
    format!(
        "#[test]\nfn {name}() {{\n    let script = r##\"{text}\"##;\n    stead_trial::relive(script).unwrap();\n}}"
    )
}

/// Lives a life that was printed. `Err`: what was lost, or that it cannot be read.
pub fn relive(text: &str) -> Result<(), String> {
    let script: Script = serde_json::from_str(text).map_err(|error| error.to_string())?;
    perform(&script).map(drop).map_err(|broken| broken.to_string())
}
