//! The crash matrix: one life with every kind of step, and a blow at every place, one after the other.

use std::collections::BTreeSet;

use crate::fate::{Boundary, DiskFault, Fate, PowerCut};
use crate::life::{Story, on_runtime};
use crate::luck::StoreFault;
use crate::model::Loss;
use crate::program::{Declared, Program, Tie, Trait};
use crate::script::{Act, Medium, Task, Weather};

/// Where the blow falls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Blow {
    /// Killed at the n-th crash point that is passed.
    Kill(u64),
    /// The power goes at the n-th crash point that is passed.
    PowerLoss(u64),
    /// A file operation fails, or all from one on.
    DiskFailure(DiskFault),
    /// The power goes when something is about to be synced.
    PowerCut(PowerCut),
    /// The store is reached over a network, and one operation on it goes so.
    Network(StoreFault),
}

/// Makes things, changes them all with a blow in the middle, and a second blow in the recovery from it, then
/// comes to rest. `Ok(false)`: the first blow fell on nothing, because the run was over before.
pub fn rehearse(first: Blow, second: Option<Blow>) -> Result<bool, String> {
    rehearse_in(Medium::Files, first, second)
}

/// As `rehearse`, with state in any place.
pub fn rehearse_in(medium: Medium, first: Blow, second: Option<Blow>) -> Result<bool, String> {
    Ok(play(medium, first, second)?.struck)
}

/// The crash points that a rehearsal passes.
pub fn points_of_rehearsal(first: Blow) -> Result<BTreeSet<&'static str>, String> {
    Ok(play(Medium::Files, first, None)?.points)
}

/// As `rehearse`, with the power cut; tells what there was to lose. `None`: the run was over before.
pub fn rehearse_power_cut(cut: PowerCut) -> Result<Option<Boundary>, String> {
    Ok(play(Medium::Files, Blow::PowerCut(cut), None)?.boundary)
}

/// What a rehearsal was like.
struct Played {
    struck: bool,
    boundary: Option<Boundary>,
    points: BTreeSet<&'static str>,
}

fn play(medium: Medium, first: Blow, second: Option<Blow>) -> Result<Played, String> {
    let mut story = Story::new(medium, before());
    let outcome = on_runtime(async {
        story.act(&Act::default()).await?;
        story.program = after();
        let struck = story.strike(first).await?;
        let boundary = story.boundary;
        if let Some(second) = second {
            story.strike(second).await?;
        }
        story.act(&Act::default()).await?;
        story.come_to_rest().await?;
        let points = std::mem::take(&mut story.stage.tape.written().points);
        Ok(Played { struck, boundary, points })
    });
    outcome.map_err(|Loss { oracle, what }| {
        format!("{first:?}, {second:?}: {oracle}: {what}\n{}", story.trace())
    })
}

impl Story {
    /// One `up` with a blow. `false`: it fell on nothing.
    async fn strike(&mut self, blow: Blow) -> Result<bool, Loss> {
        let before = self.stage.tape.written().faults;
        self.act(&Act { seed: 7, task: Task::Up, weather: blow.weather(), ..Act::default() }).await?;
        Ok(self.stage.tape.written().faults > before)
    }
}

impl Blow {
    pub(crate) fn weather(self) -> Weather {
        let fate = match self {
            Blow::Kill(at) => Fate { dies_at: Some(at), ..Fate::default() },
            Blow::PowerLoss(at) => Fate { dies_at: Some(at), power: true, ..Fate::default() },
            Blow::DiskFailure(fault) => Fate { disk_fault: Some(fault), ..Fate::default() },
            Blow::PowerCut(cut) => Fate { power_cut: Some(cut), ..Fate::default() },
            Blow::Network(_) => Fate::default(),
        };
        let store = if let Blow::Network(fault) = self { vec![fault] } else { Vec::new() };
        Weather { fate, store, ..Weather::default() }
    }
}

fn thing(size: i64, place: u64, from: Option<&str>) -> Declared {
    Declared { size, place, from: from.map(str::to_owned), ..Declared::default() }
}

fn before() -> Program {
    let things = [
        ("kept", Declared { traits: vec![Trait::Pinned], ..thing(1, 0, None) }),
        ("updated", thing(1, 0, None)),
        ("replaced", thing(1, 0, None)),
        ("follower", thing(1, 0, Some("replaced"))),
        ("swapped", Declared { traits: vec![Trait::DeleteFirst], ..thing(1, 0, None) }),
        ("removed", thing(1, 0, Some("updated"))),
        ("ground", Declared { traits: vec![Trait::DeleteFirst], ..thing(1, 0, None) }),
        ("house", Declared { traits: vec![Trait::Rooted], ..thing(1, 0, Some("ground")) }),
        ("room", Declared { tie: Some((Tie::DeletedWith, "house".to_owned())), ..thing(1, 0, None) }),
        ("leaving", thing(1, 0, Some("ground"))),
    ];
    Program { things: things.map(|(name, thing)| (name.to_owned(), thing)).into() }
}

/// One of each: nothing, update, replacement either way round, a dependant of one, a new one, one gone; and a
/// replacement that takes what stands on it down first, with what is in that.
fn after() -> Program {
    let things = [
        ("kept", thing(1, 0, None)),
        ("updated", Declared { traits: vec![Trait::Pinned], ..thing(2, 0, None) }),
        ("replaced", thing(2, 1, None)),
        ("follower", thing(1, 0, Some("replaced"))),
        ("swapped", Declared { traits: vec![Trait::DeleteFirst], ..thing(1, 1, None) }),
        ("new", thing(1, 0, Some("swapped"))),
        ("ground", Declared { traits: vec![Trait::DeleteFirst], ..thing(1, 1, None) }),
        ("house", Declared { traits: vec![Trait::Rooted], ..thing(1, 0, Some("ground")) }),
        ("room", Declared { tie: Some((Tie::DeletedWith, "house".to_owned())), ..thing(1, 0, None) }),
    ];
    Program { things: things.map(|(name, thing)| (name.to_owned(), thing)).into() }
}
