//! The crash matrix: one life with every kind of step, and a blow at every place, one after the other.

use crate::fate::{Boundary, DiskFault, Fate, PowerCut};
use crate::life::{CALM, Story, Weather};
use crate::program::{Declared, Program, Tie};

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
}

/// Makes things, changes them all with a blow in the middle, and a second blow in the recovery from it, then
/// comes to rest. `Ok(false)`: the first blow fell on nothing, because the run was over before.
pub fn rehearse(first: Blow, second: Option<Blow>) -> Result<bool, String> {
    Ok(perform(first, second)?.0)
}

/// As `rehearse`, with the power cut; tells what there was to lose. `None`: the run was over before.
pub fn rehearse_power_cut(cut: PowerCut) -> Result<Option<Boundary>, String> {
    Ok(perform(Blow::PowerCut(cut), None)?.1)
}

fn perform(first: Blow, second: Option<Blow>) -> Result<(bool, Option<Boundary>), String> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
    let runtime = runtime.map_err(|error| error.to_string())?;
    let mut story = Story::new(7);
    story.program = before();
    let outcome = runtime.block_on(async {
        story.up(CALM).await?;
        story.program = after();
        let struck = story.strike(first).await?;
        if let Some(second) = second {
            story.strike(second).await?;
        }
        story.come_to_rest().await?;
        Ok((struck, story.boundary))
    });
    outcome.map_err(|lost: String| format!("{first:?}, {second:?}: {lost}\n{}", story.trace()))
}

impl Blow {
    pub(crate) fn weather(self) -> Weather {
        let fate = match self {
            Blow::Kill(at) | Blow::PowerLoss(at) => Fate { dies_at: Some(at), ..Fate::default() },
            Blow::DiskFailure(fault) => Fate { disk_fault: Some(fault), ..Fate::default() },
            Blow::PowerCut(cut) => Fate { power_cut: Some(cut), ..Fate::default() },
        };
        Weather { fate, cloud_faults: 0 }
    }
}

fn thing(size: i64, place: u64, from: Option<&str>) -> Declared {
    Declared {
        size,
        place,
        from: from.map(str::to_owned),
        depends_on: None,
        protected: false,
        delete_first: false,
        rooted: false,
        tie: None,
    }
}

fn before() -> Program {
    let things = [
        ("kept", thing(1, 0, None)),
        ("updated", thing(1, 0, None)),
        ("replaced", thing(1, 0, None)),
        ("follower", thing(1, 0, Some("replaced"))),
        ("swapped", Declared { delete_first: true, ..thing(1, 0, None) }),
        ("removed", thing(1, 0, Some("updated"))),
        ("ground", Declared { delete_first: true, ..thing(1, 0, None) }),
        ("house", Declared { rooted: true, ..thing(1, 0, Some("ground")) }),
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
        ("updated", thing(2, 0, None)),
        ("replaced", thing(2, 1, None)),
        ("follower", thing(1, 0, Some("replaced"))),
        ("swapped", Declared { delete_first: true, ..thing(1, 1, None) }),
        ("new", thing(1, 0, Some("swapped"))),
        ("ground", Declared { delete_first: true, ..thing(1, 1, None) }),
        ("house", Declared { rooted: true, ..thing(1, 0, Some("ground")) }),
        ("room", Declared { tie: Some((Tie::DeletedWith, "house".to_owned())), ..thing(1, 0, None) }),
    ];
    Program { things: things.map(|(name, thing)| (name.to_owned(), thing)).into() }
}
