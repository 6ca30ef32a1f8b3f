//! A person with credentials of another account runs the program on the stack.

use std::collections::BTreeSet;
use std::sync::Arc;

use stead_aws::{RoleSettings, Settings};
use stead_cloud::ResourceName;
use stead_engine::ops::Look;

use super::{Actor, CloudLife, Ended, REGION, applied, workspace};
use crate::faults::process_faults::ProcessFaults;
use crate::life::operate::DeclaredGraph;
use crate::world::process::{ClockSkew, Process};

/// Account of the other person.
const ROLE: &str = "arn:aws:iam::222222222222:role/deploy";

impl CloudLife {
    /// Runs the program with credentials of another account. Nothing may be read, changed or recorded there.
    ///
    /// The stack is bound to its account by its records, and by creates of an interrupted run.
    pub(super) async fn stranger(&mut self) -> Result<(), String> {
        if !self.strangers.one_in(4) || !self.is_bound().await? {
            return Ok(());
        }
        let look = [Look::Recorded, Look::Changed, Look::All][self.strangers.below(3) as usize];
        let before = self.everything()?;
        let actor = self.other_person();
        let ended = applied(&actor.workspace, &DeclaredGraph(self.program.graph()?), look).await;
        actor.process.end(&self.disk);
        self.trace.push(format!("somebody with another account runs it with {look:?}: {ended:?}"));
        let is_refused = matches!(&ended, Ended::Otherwise(why) if why.contains("leads to another account"));
        if !is_refused {
            return Err(format!("a run with credentials of another account is refused: {ended:?}"));
        }
        if self.everything()? != before {
            return Err("a run with credentials of another account changes nothing".to_owned());
        }
        Ok(())
    }

    fn everything(&self) -> Result<BTreeSet<ResourceName>, String> {
        let all = self.cloud.resources().map_err(|error| error.to_string())?;
        Ok(all.into_iter().collect())
    }

    async fn is_bound(&mut self) -> Result<bool, String> {
        let actor = self.other_person();
        let loaded = actor.workspace.load().await.map_err(|error| error.to_string())?;
        actor.process.end(&self.disk);
        let state = loaded.state;
        Ok(!state.places().is_empty() && (!state.is_empty() || state.pending().next().is_some()))
    }

    fn other_person(&mut self) -> Actor {
        self.processes += 1;
        let skew = ClockSkew { off: self.clock.seconds(), ..ClockSkew::default() };
        let process = Process::new(self.processes, ProcessFaults { skew, ..ProcessFaults::default() });
        let mut world = process.world(&self.disk, &mut self.strangers);
        world.http = Arc::new(self.cloud.clone());
        let role = RoleSettings { arn: ROLE.to_owned(), external_id: None, session_name: None };
        let settings = Settings { region: Some(REGION.to_owned()), role: Some(role), ..Settings::default() };
        Actor { workspace: workspace(world, settings, 2), process }
    }
}
