//! A crowd: one stack of many AWS resources that come up, change and go, while the cloud fails and processes die.

use stead_engine::ops::Look;

use super::program::{Keeping, Program};
use super::{CloudLife, Ended, RunFaults};

/// Runs with faults for each of the three changes, unless one succeeds before.
const MOST_RUNS: usize = 60;

/// What it took to bring a crowd up, change it, and remove it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Crowd {
    /// Resources after the first change.
    pub resources: usize,
    pub runs: usize,
    /// Runs that were killed.
    pub died: usize,
    /// Operations that were open after a run, and that the next one settled by their tokens.
    pub settled: usize,
    /// Calls that the cloud answered, or whose answers were lost.
    pub calls: u64,
}

/// Runs a crowd. Every oracle of a cloud life holds after each run; a question to a person is a failure.
pub fn cloud_crowd(seed: u64, resources: usize) -> Result<Crowd, String> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
    let runtime = runtime.map_err(|error| error.to_string())?;
    runtime.block_on(async {
        let mut life = CloudLife::new(seed);
        life.program = Program::default();
        while life.program.resources.len() < resources {
            life.program.add(&mut life.rng);
        }
        life.program.resources.iter_mut().for_each(|declared| declared.keeping = Keeping::No);
        let run = life.crowd().await;
        run.map_err(|lost| format!("{lost}\ncrowd {seed}:\n{}", life.trace.join("\n")))
    })
}

impl CloudLife {
    async fn crowd(&mut self) -> Result<Crowd, String> {
        let mut crowd = Crowd::default();
        self.completed(&mut crowd).await?;
        crowd.resources = self.ours()?.len();
        for at in 0..self.program.resources.len() {
            if self.rng.one_in(2) {
                self.program.change(&mut self.rng, at);
                self.program.resources[at].keeping = Keeping::No;
            }
        }
        self.completed(&mut crowd).await?;
        self.program.resources.clear();
        self.completed(&mut crowd).await?;
        crowd.calls = self.cloud.calls().values().sum();
        match self.ours()?.len() {
            0 => Ok(crowd),
            left => Err(format!("everything is gone at the end: {left} are left")),
        }
    }

    /// Runs with faults until a run succeeds.
    async fn completed(&mut self, crowd: &mut Crowd) -> Result<(), String> {
        for _ in 0..MOST_RUNS {
            self.disturb();
            let (mut faults, look) = (self.run_faults(), self.look());
            // A process of a large program lives longer.
            faults.process.dies_at = faults.process.dies_at.map(|at| at * 20);
            faults.dies_at = faults.dies_at.map(|at| at.later(20));
            let ended = self.up(faults, look).await?;
            self.calm().await?;
            self.check().await?;
            self.answer_questions().await?;
            crowd.runs += 1;
            crowd.died += usize::from(ended == Ended::Died);
            crowd.settled += self.pending().await?;
            if ended == Ended::Succeeded {
                break;
            }
        }
        // A run without faults reads what the others could not, and finishes what faults kept them from.
        crowd.runs += 1;
        match self.up(RunFaults::default(), Look::All).await? {
            Ended::Succeeded => self.check_converged().await,
            ended => Err(format!("a run without faults succeeds: {ended:?}")),
        }
    }
}
