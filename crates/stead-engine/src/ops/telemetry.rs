//! Logs and figures of recorded resources. Reads state and asks the providers; no program is needed, and nothing is written.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt as _;
use stead_model::{Code, Diagnostic, Hint, Lifecycle, Name, NextStep, Resource, TypeToken, Uid};
use stead_provider::{LogLines, Provider, Refusal};
pub use stead_provider::{Moment, Rest, Series, Span, Statistic, Unit};
use stead_state::State;

use crate::ops::find::find_able;
use crate::ops::places::Untold;
use crate::ops::{Access, OpError, Workspace};
use crate::secrets::locked_record;

/// Time before the newest line that is read again, because lines of a log can arrive late.
const LATE: Duration = Duration::from_secs(60);

/// Pauses between two looks at logs: the first one, and the longest one.
const FIRST_PAUSE: Duration = Duration::from_secs(1);
const LONGEST_PAUSE: Duration = Duration::from_secs(10);

/// Logs or figures that are asked for at the same time.
const PARALLEL: usize = 8;

/// A line of the log of a resource.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedLine {
    pub name: Name,
    /// Time of the event; `None` if the log keeps none.
    pub at: Option<Moment>,
    pub stream: String,
    pub text: String,
}

/// Result of one look at logs.
#[derive(Debug, Default)]
pub struct LogLook {
    /// New lines of all logs, by time. Lines without a time come first.
    pub lines: Vec<NamedLine>,
    /// Logs that have more lines in the span than were read.
    pub left_out: Vec<Name>,
    /// Logs that do not exist yet, with the place where they would be.
    pub not_yet: Vec<(Name, String)>,
    /// Logs that could not be read.
    pub problems: Vec<Diagnostic>,
}

/// Reads the log of one resource, or of all resources that have one, again and again.
pub struct LogReader<'a> {
    workspace: &'a Workspace,
    wanted: Option<String>,
    since: Moment,
    /// Time of the newest line of each resource.
    newest: BTreeMap<Uid, Moment>,
    /// Times and ids of lines that were read already and may be read again, with the resource that showed each. A line of a log
    /// that two resources have is shown once.
    seen: BTreeMap<(Option<Moment>, String), Uid>,
    pause: Duration,
}

/// Figures of a resource.
#[derive(Debug)]
pub struct NamedStats {
    pub name: Name,
    pub ty: TypeToken,
    pub series: Result<Vec<Series>, Diagnostic>,
}

/// A resource to ask about, with its provider.
type Asked<'a> = (&'a Resource, Arc<dyn Provider>);

/// What a resource can be asked for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Ability {
    Log,
    Stats,
}

impl Workspace {
    /// Returns a reader of the log of a resource, or of all logs of the stack, from a moment on.
    pub fn logs(&self, wanted: Option<&str>, since: Moment) -> LogReader<'_> {
        LogReader {
            workspace: self,
            wanted: wanted.map(str::to_owned),
            since,
            newest: BTreeMap::new(),
            seen: BTreeMap::new(),
            pause: FIRST_PAUSE,
        }
    }

    /// Returns the figures of a resource, or of all resources that have some, by name.
    pub async fn stats(&self, wanted: Option<&str>, span: Span) -> Result<Vec<NamedStats>, OpError> {
        let loaded = self.load_existing().await?;
        self.open_secrets(&loaded.state, None, Access::ReadOnly).await?;
        self.compare_places(&loaded.state, (None, &[]), Untold::Refuse).await?;
        let asked = self.asked(&loaded.state, wanted, Ability::Stats)?;
        let stats = futures_util::stream::iter(asked).map(|(resource, provider)| async move {
            let read = async || match provider.telemetry() {
                Some(telemetry) => telemetry.stats(resource, span).await,
                None => Ok(Vec::new()),
            };
            let series = self.ask(resource, &provider, read).await;
            let series = series.map_err(|refusal| unread(resource, Ability::Stats, refusal));
            NamedStats { name: resource.name.clone(), ty: resource.ty.clone(), series }
        });
        Ok(stats.buffered(PARALLEL).collect().await)
    }

    /// Returns the resources to ask, each with its provider. A resource without the ability, and a stack without any, is an error
    /// that names the resources that have it.
    fn asked<'a>(
        &self,
        state: &'a State,
        wanted: Option<&str>,
        ability: Ability,
    ) -> Result<Vec<Asked<'a>>, OpError> {
        let current = |resource: &&Resource| resource.lifecycle == Lifecycle::Live && resource.id.is_some();
        let able = |resource: &'a Resource| {
            let provider = self.engine.serving(resource, state).ok()?;
            let telemetry = provider.telemetry()?;
            let has = match ability {
                Ability::Log => telemetry.log_of(resource).is_some(),
                Ability::Stats => !telemetry.metrics_of(resource).is_empty(),
            };
            has.then_some((resource, provider))
        };
        let all = || state.resources().into_iter().filter(current).filter_map(able);
        match wanted {
            None => {
                let all: Vec<_> = all().collect();
                if all.is_empty() { Err(OpError::not_found(none_able(ability))) } else { Ok(all) }
            }
            Some(wanted) => {
                let is_able = |resource: &Resource| all().any(|(able, _)| able.copy() == resource.copy());
                let resource = find_able(state, wanted, is_able)?;
                able(resource).map(|one| vec![one]).ok_or_else(|| {
                    let others: Vec<&Name> = all().map(|(resource, _)| &resource.name).collect();
                    OpError::not_found(not_able(resource, ability, &others))
                })
            }
        }
    }

    /// Asks a provider about a record, with retries.
    async fn ask<T>(
        &self,
        resource: &Resource,
        provider: &Arc<dyn Provider>,
        question: impl AsyncFn() -> Result<T, Refusal>,
    ) -> Result<T, Refusal> {
        // Without its key, a secret of the record could not be recognised in the answer.
        if let Some(locked) = locked_record(resource) {
            return Err(Refusal::new(locked));
        }
        let timeout = self.engine.read_timeout(None, provider, &resource.ty);
        self.engine.with_retries(timeout, || question()).await
    }
}

impl LogReader<'_> {
    /// Reads the lines that are new since the last look, of the state as it is now.
    pub async fn look(&mut self) -> Result<LogLook, OpError> {
        let workspace = self.workspace;
        let loaded = workspace.load_existing().await?;
        workspace.open_secrets(&loaded.state, None, Access::ReadOnly).await?;
        workspace.compare_places(&loaded.state, (None, &[]), Untold::Refuse).await?;
        let asked = workspace.asked(&loaded.state, self.wanted.as_deref(), Ability::Log)?;
        // Events of the millisecond that has just begun belong to the next look.
        let to = Moment(workspace.stack.world.clock.now().0.max(self.since.0 + 1));
        let spans = asked
            .into_iter()
            .map(|(resource, provider)| (resource, provider, Span { from: self.from(resource), to }));
        let reads = futures_util::stream::iter(spans.collect::<Vec<_>>()).map(
            |(resource, provider, span)| async move {
                let read = async || match provider.telemetry() {
                    Some(telemetry) => telemetry.log(resource, span).await,
                    None => Ok(LogLines::default()),
                };
                let lines = workspace.ask(resource, &provider, read).await;
                let place = provider.telemetry().and_then(|telemetry| telemetry.log_of(resource));
                (resource, place.unwrap_or_default(), lines)
            },
        );
        let read: Vec<_> = reads.buffered(PARALLEL).collect().await;
        let mut look = LogLook::default();
        for (resource, place, lines) in read {
            match lines {
                Ok(lines) => self.add(&mut look, resource, place, lines),
                Err(refusal) => look.problems.push(unread(resource, Ability::Log, refusal)),
            }
        }
        look.lines.sort_by_key(|line| line.at);
        self.pause = match look.lines.is_empty() {
            true => (self.pause * 2).min(LONGEST_PAUSE),
            false => FIRST_PAUSE,
        };
        Ok(look)
    }

    /// Waits before the next look: longer, the longer nothing happens.
    pub async fn wait(&self) {
        self.workspace.stack.world.clock.sleep(self.pause).await;
    }

    /// Returns the time from which on the log of a resource is read.
    fn from(&self, resource: &Resource) -> Moment {
        self.newest.get(&resource.uid).map_or(self.since, |newest| newest.before(LATE).max(self.since))
    }

    /// Adds the lines that were not seen yet.
    fn add(&mut self, look: &mut LogLook, resource: &Resource, place: String, read: LogLines) {
        let from = self.from(resource);
        for line in read.lines {
            if let Some(at) = line.at {
                let newest = self.newest.entry(resource.uid.clone()).or_insert(at);
                *newest = at.max(*newest);
            }
            match self.seen.entry((line.at, line.id)) {
                Entry::Occupied(_) => continue,
                Entry::Vacant(new) => drop(new.insert(resource.uid.clone())),
            }
            let (name, at, stream, text) = (resource.name.clone(), line.at, line.stream, line.text);
            look.lines.push(NamedLine { name, at, stream, text });
        }
        // Lines before the next span are not read again.
        self.seen.retain(|(at, _), uid| *uid != resource.uid || at.is_none_or(|at| at >= from));
        match read.rest {
            Rest::None => {}
            Rest::LeftOut => look.left_out.push(resource.name.clone()),
            Rest::NoLogYet => look.not_yet.push((resource.name.clone(), place)),
        }
    }
}

impl Ability {
    fn noun(self) -> &'static str {
        match self {
            Ability::Log => "logs",
            Ability::Stats => "metrics",
        }
    }
}

fn none_able(ability: Ability) -> Diagnostic {
    let message = format!("no resource of this stack has {} that stead can read", ability.noun());
    Diagnostic::error(Code::NO_TELEMETRY, message)
        .help(Hint::from(NextStep::ListState).and(" lists all resources"))
}

fn not_able(resource: &Resource, ability: Ability, others: &[&Name]) -> Diagnostic {
    let noun = ability.noun();
    let message = format!("{} has no {noun} that stead can read", resource.name.short());
    let problem = Diagnostic::error(Code::NO_TELEMETRY, message);
    let names: Vec<&str> = others.iter().map(|name| name.short()).collect();
    match names.as_slice() {
        [] => problem.note(format!("No resource of this stack has {noun}.")),
        [one] => problem.note(format!("One resource of the stack has {noun}: {one}.")),
        [rest @ .., last] => {
            problem.note(format!("These resources of the stack have {noun}: {} and {last}.", rest.join(", ")))
        }
    }
}

fn unread(resource: &Resource, ability: Ability, refusal: Refusal) -> Diagnostic {
    let message =
        format!("cannot read the {} of {}: {}", ability.noun(), resource.name.short(), refusal.message);
    refusal.help.into_iter().fold(Diagnostic::error(Code::CANNOT_READ, message), Diagnostic::help)
}
