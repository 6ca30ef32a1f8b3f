//! The lives of all types, lived once for all tests.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread;

use stead_model::TypeToken;
use stead_schema::cfn::bundle;
use stead_world::{SimulatedClock, Timestamp};

use crate::bench::Bench;
use crate::life::{Results, Shortfall, Stage, live};
use crate::subject::{Size, Subject, catalog, schema_of};

/// 2026-01-01.
const START: Timestamp = Timestamp(1_767_225_600_000);

pub(crate) struct Census {
    /// Results by type, or why there are no inputs.
    pub(crate) lives: BTreeMap<TypeToken, Result<Results, String>>,
}

/// Number of types of a stage: passed, and not applicable by reason.
#[derive(Default)]
pub(crate) struct Tally<'a> {
    pub(crate) passed: usize,
    pub(crate) not_applicable: BTreeMap<&'a str, usize>,
}

/// Returns the types that Cloud Control can create, read and delete.
pub(crate) fn manageable() -> Vec<TypeToken> {
    let is_manageable = |ty: &TypeToken| catalog().get(ty).is_some_and(|ty| schema_of(ty).is_manageable());
    bundle::shipped().names().filter_map(stead_schema::token_of).filter(is_manageable).collect()
}

pub(crate) fn census() -> &'static Census {
    static CENSUS: OnceLock<Census> = OnceLock::new();
    CENSUS.get_or_init(|| {
        let types = manageable();
        let next = AtomicUsize::new(0);
        let work = || {
            let mut lives = Vec::new();
            while let Some(ty) = types.get(next.fetch_add(1, Ordering::Relaxed)) {
                lives.push((ty.clone(), lived(ty, Size::All)));
            }
            lives
        };
        let workers = thread::available_parallelism().map_or(1, usize::from);
        let mut lives = BTreeMap::new();
        thread::scope(|scope| {
            let threads: Vec<_> = (0..workers).map(|_| scope.spawn(work)).collect();
            threads.into_iter().for_each(|thread| lives.extend(thread.join().unwrap()));
        });
        Census { lives }
    })
}

/// Takes a type through its life in this process, on a clock that does not wait.
pub(crate) fn lived(ty: &TypeToken, size: Size) -> Result<Results, String> {
    let subject = Subject::new(ty, size)?;
    let clock = SimulatedClock::starting_at(START);
    let [bench, elsewhere] = [(); 2].map(|()| Bench::new(Arc::new(clock.clone())));
    clock.block_on(live(&bench, &elsewhere, &subject)).map_err(|error| error.to_string())
}

impl Census {
    pub(crate) fn tally(&self, stage: Stage) -> Tally<'_> {
        let mut tally = Tally::default();
        for results in self.lives.values().flatten() {
            match results.get(&stage) {
                Some(Ok(())) => tally.passed += 1,
                Some(Err(Shortfall::NotApplicable(why))) => {
                    *tally.not_applicable.entry(why).or_default() += 1
                }
                Some(Err(Shortfall::Failed(_))) | None => {}
            }
        }
        tally
    }

    /// Returns each stage that a type failed, with the reason.
    pub(crate) fn failures(&self) -> Vec<String> {
        let mut failures = Vec::new();
        for (ty, results) in &self.lives {
            let results = match results {
                Ok(results) => results,
                Err(why) => {
                    failures.push(format!("{ty}: {why}"));
                    continue;
                }
            };
            for (stage, ended) in results {
                if let Err(Shortfall::Failed(why)) = ended {
                    failures.push(format!("{ty}, {}: {why}", stage.title()));
                }
            }
        }
        failures
    }
}
