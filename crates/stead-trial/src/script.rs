//! A life as it is written before it is lived: what is declared, what is done, what goes wrong. It is data, so that
//! a life can be printed, cut short and lived again.

use serde::{Deserialize, Serialize};

use crate::Chance;
use crate::edit::Edit;
use crate::fate::{DISK_ERRORS, DiskFault, Extent, Fate, PLACES, Place, PowerCut, Rare, Torn};
use crate::luck::{CloudFault, LUCK, Luck, STORE_LUCK, StoreFault, StoreLuck};
use crate::process::Skew;
use crate::program::{Declared, Program, Trait};
use crate::start::Start;

/// A whole life.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Script {
    pub medium: Medium,
    /// What is there before the first act.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start: Option<Start>,
    pub program: Program,
    pub acts: Vec<Act>,
}

/// Where state is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Medium {
    Files,
    Objects,
}

/// One operation, with what precedes it and whoever comes in between.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Act {
    /// For everything that is drawn while it is lived: ids, delays.
    pub seed: u64,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub edits: Vec<Edit>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outside: Option<Outside>,
    pub task: Task,
    #[serde(skip_serializing_if = "is_calm")]
    pub weather: Weather,
    /// Others, each of which comes while the one before it is under way.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub rivals: Vec<Rival>,
}

/// What somebody does without telling anybody.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Outside {
    /// Deletes the n-th thing there is.
    Deletes(u64),
    Changes(u64),
    /// Makes something that may be imported later.
    Makes(u64),
    /// Deletes the pinfile by mistake.
    LosesPinfile,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub enum Task {
    #[default]
    Up,
    /// As `Up`, after a look at what it would touch.
    UpRefreshed,
    /// After a look at everything; what looks like a move is none.
    UpLooking,
    /// What looks like a move is one, or is none.
    UpMoves {
        accept: bool,
    },
    /// Only these, and what they need if so wanted.
    Target(Vec<String>, bool),
    Exclude(Vec<String>),
    FailFast,
    /// Plans, and keeps the plan.
    Plan,
    /// Carries the kept plan out, or nothing.
    UpSaved,
    Refresh,
    Destroy,
    /// `rename`: the record gets another name, and so does the program.
    Rename(String, String),
    /// `state mv`: as above, without remembering the old name.
    Move(String, String),
    /// `state rm`.
    Remove(String),
    /// Exports the state, and imports it again.
    Reimport,
    /// Goes back to what was there so many runs ago.
    Rollback(u64),
    /// Answers what only a person can tell.
    Resolve,
    Unlock,
    /// `pin mv` and `pin rm`: the entries of the pinfile follow the program.
    PinsFollow,
    /// `pin rm`: it may go.
    Unpin(String),
    /// `pin restore`.
    PinsRestore,
    /// `up --update-pins`, after a look at everything; what looks like a move is none.
    UpPins,
    /// `import`: what was made outside becomes this.
    Import(String, String),
    /// `state mv --to-stack`, with all that it depends on.
    ToStack(String),
    /// Somebody's tool writes down that a resource needs what never was.
    Miswrites(String),
    /// Waits for whoever holds the stack; one that shows no life is fenced. Then `Up`.
    Wait,
}

/// What goes wrong during one operation.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Weather {
    pub fate: Fate,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub cloud: Vec<CloudFault>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub store: Vec<StoreFault>,
    /// Ctrl-C after so many events, once or twice.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interrupt: Option<(u32, Twice)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Twice {
    Once,
    Twice,
}

/// Another process, which begins when the one before it has passed so many points, or stopped, or is over.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Rival {
    pub task: Task,
    #[serde(skip_serializing_if = "is_calm")]
    pub weather: Weather,
    pub after: u64,
    /// The one before it, if it is stopped, wakes when this one has passed so many points or is over.
    pub wakes: u64,
    /// It runs on another machine, where nobody can see whether the other one lives.
    pub elsewhere: bool,
}

fn is_calm(weather: &Weather) -> bool {
    *weather == Weather::default()
}

impl Weather {
    /// Whether a run may end early because of it. What only takes longer, or arrives twice, is no reason.
    pub(crate) fn can_end_it(&self) -> bool {
        let Weather { fate, cloud, store, interrupt } = self;
        let harmless = |fault: &StoreFault| matches!(fault.luck, StoreLuck::Late | StoreLuck::Doubled);
        *fate != Fate::default() || !cloud.is_empty() || !store.iter().all(harmless) || interrupt.is_some()
    }
}

impl Script {
    /// The life that a seed stands for, with so many operations if that is said.
    pub fn draw(seed: u64, operations: Option<u64>) -> Script {
        let mut chance = Chance::new(seed);
        let program = Program::draw(&mut chance);
        let medium = if chance.one_in(4) { Medium::Objects } else { Medium::Files };
        let start = Start::draw(&mut chance, &program);
        let drawn = if chance.one_in(24) { 12 + chance.below(19) } else { 1 + chance.below(10) };
        let mut now = program.clone();
        let count = operations.unwrap_or(drawn).max(1);
        let mut acts: Vec<Act> = Vec::new();
        for at in 0..count {
            let before = acts.last().filter(|act| act.weather.fate.dies());
            let regret = before.and_then(|act| act.regret(&mut chance, &now));
            let mut act = Act::draw(&mut chance, &mut now, medium, at);
            act.pin_something(&mut chance, &mut now);
            if let Some(regret) = regret {
                regret.iter().for_each(|edit| now.apply(edit));
                act.edits.extend(regret);
                act.task = Task::Up;
            }
            acts.push(act);
        }
        Script { medium, start, program, acts }
    }
}

impl Act {
    /// What is to die when it writes the pinfile has something to write.
    fn pin_something(&mut self, chance: &mut Chance, now: &mut Program) {
        let writes = self.weather.fate.rare.is_some_and(|rare| rare.place == Place::Pinfile);
        let free = now.things.iter().filter(|(_, thing)| !thing.is(Trait::Pinned));
        let free: Vec<String> = free.map(|(name, _)| name.clone()).collect();
        if let Some(name) = chance.pick(&free).filter(|_| writes) {
            if free.len() == now.things.len() {
                // The first time it only gets there, so that the next time there is a file already.
                self.weather.fate.rare = None;
            }
            let edit = Edit::Toggle(name.clone(), Trait::Pinned);
            now.apply(&edit);
            self.edits.push(edit);
        }
    }

    /// The run died, and somebody is glad: what it was about to delete is to stay after all. Or somebody does not know
    /// what is pinned.
    fn regret(&self, chance: &mut Chance, now: &Program) -> Option<Vec<Edit>> {
        if chance.one_in(3) {
            let just_pinned = self.edits.iter().rev().find_map(|edit| match edit {
                Edit::Toggle(name, Trait::Pinned) => Some(name),
                _ => None,
            });
            let pinned =
                || now.things.iter().find(|(_, thing)| thing.is(Trait::Pinned)).map(|(name, _)| name);
            return just_pinned.or_else(pinned).map(|name| vec![Edit::Remove(name.clone())]);
        }
        let keeps = *chance.pick(&[Trait::Protected, Trait::Pinned])?;
        if !chance.one_in(2) {
            return None;
        }
        self.edits.iter().find_map(|edit| match edit {
            Edit::Remove(name) => {
                let declared = Declared { traits: vec![keeps], ..Declared::default() };
                Some(vec![Edit::Add(name.clone(), declared)])
            }
            Edit::Place(name, _) => {
                let thing = &now.things[now.position(name)?].1;
                (!thing.is(keeps)).then(|| vec![Edit::Toggle(name.clone(), keeps)])
            }
            _ => None,
        })
    }

    fn draw(chance: &mut Chance, program: &mut Program, medium: Medium, at: u64) -> Act {
        let mut act = Act { seed: chance.draw(), weather: Weather::draw(chance, medium), ..Act::default() };
        if at > 0 && chance.one_in(2) {
            for _ in 0..1 + chance.below(4) {
                let edit = program.draw_edit(chance);
                program.apply(&edit);
                act.edits.push(edit);
            }
        }
        if chance.one_in(6) {
            let which = chance.below(16);
            let all = [Outside::Deletes(which), Outside::Changes(which), Outside::Makes(which % 3)];
            let lost = which == 15 && program.things.iter().any(|(_, thing)| thing.is(Trait::Pinned));
            act.outside = if lost { Some(Outside::LosesPinfile) } else { chance.pick(&all).copied() };
        }
        act.task = if at == 0 && !chance.one_in(8) { Task::Up } else { Task::draw(chance, program) };
        if chance.one_in(6) {
            act.weather.fate.stops_at = (!chance.one_in(3)).then(|| 1 + chance.below(40));
            act.rivals.push(Rival::draw(chance, program, medium));
            if chance.one_in(3) {
                act.rivals[0].weather.fate.stops_at = (!chance.one_in(3)).then(|| 1 + chance.below(30));
                act.rivals.push(Rival::draw(chance, program, medium));
            }
        }
        act
    }
}

impl Rival {
    fn draw(chance: &mut Chance, program: &Program, medium: Medium) -> Rival {
        let task = match chance.below(8) {
            0..3 => Task::Unlock,
            3..6 => Task::Wait,
            6 => Task::Up,
            _ => Task::draw(chance, program),
        };
        let mut rival = Rival {
            task,
            weather: if chance.one_in(3) { Weather::draw(chance, medium) } else { Weather::default() },
            after: chance.below(30),
            wakes: 1 + chance.below(40),
            elsewhere: chance.one_in(2),
        };
        if chance.one_in(16)
            && let Some((name, _)) = chance.pick(&program.things)
        {
            // It has both stacks when it dies.
            rival.task = Task::ToStack(name.clone());
            rival.weather.fate.rare = Some(Rare { place: Place::Transfer, nth: 1 + chance.below(2) });
        }
        rival
    }
}

impl Task {
    fn draw(chance: &mut Chance, program: &Program) -> Task {
        let one = chance.pick(&program.things).map(|(name, _)| name.clone()).unwrap_or_default();
        let pinned = program.things.iter().filter(|(_, thing)| thing.is(Trait::Pinned));
        let pinned: Vec<&String> = pinned.map(|(name, _)| name).collect();
        if !pinned.is_empty() && chance.one_in(6) {
            let one = chance.pick(&pinned).map(|name| (*name).clone()).unwrap_or_default();
            return match chance.below(8) {
                0..4 => Task::PinsFollow,
                4 => Task::Unpin(one),
                5 => Task::PinsRestore,
                _ => Task::UpPins,
            };
        }
        match chance.below(43) {
            0..17 => Task::Up,
            17 => Task::UpRefreshed,
            18 => Task::UpLooking,
            19 => Task::UpMoves { accept: true },
            20 => Task::UpMoves { accept: false },
            21 | 22 => Task::Target(vec![one], chance.one_in(2)),
            23 => Task::Exclude(vec![one]),
            24 => Task::FailFast,
            25 => Task::Plan,
            26 => Task::UpSaved,
            27..30 => Task::Refresh,
            30 | 31 => Task::Destroy,
            32 => Task::Rename(one, format!("t{}", 32 + chance.below(4))),
            33 => Task::Move(one, format!("t{}", 36 + chance.below(4))),
            34 => Task::Remove(one),
            35 => Task::Reimport,
            36 => Task::Rollback(1 + chance.below(3)),
            37 | 38 => Task::Resolve,
            39 => Task::Import(format!("t{}", 40 + chance.below(4)), format!("outside-{}", chance.below(3))),
            40 => Task::ToStack(one),
            41 => Task::Miswrites(one),
            _ => Task::Wait,
        }
    }
}

impl Weather {
    fn draw(chance: &mut Chance, medium: Medium) -> Weather {
        let mut weather = Weather::default();
        let fate = &mut weather.fate;
        if chance.one_in(2) {
            fate.dies_at = Some(1 + chance.below(36));
            fate.power = chance.one_in(2);
        } else if chance.one_in(6) {
            let place = *chance.pick(&PLACES).unwrap_or(&Place::Pinfile);
            fate.rare = Some(Rare { place, nth: 1 + chance.below(2) });
            fate.power = chance.one_in(2);
        } else if medium == Medium::Files && chance.one_in(20) {
            let torn = *chance.pick(&Torn::ALL).unwrap_or(&Torn::Whole);
            fate.power_cut = Some(PowerCut { sync: 1 + chance.below(40), survivors: chance.draw(), torn });
        }
        if chance.one_in(12) {
            fate.disk_fault = Some(disk_fault(chance));
        }
        if chance.one_in(8) {
            let mut off = || chance.below(200_000) as i64 - 100_000;
            let (off, jump) = (off(), off());
            fate.skew = Skew { off, fast: chance.below(101) as i64 - 50, jump };
        }
        if chance.one_in(2) {
            for _ in 0..1 + chance.below(3) {
                let luck = *chance.pick(&LUCK).unwrap_or(&Luck::Refused);
                weather.cloud.push(CloudFault { at: 1 + chance.below(5) as u32, luck });
            }
        }
        if medium == Medium::Objects && chance.one_in(4) {
            for _ in 0..1 + chance.below(2) {
                let luck = *chance.pick(&STORE_LUCK).unwrap_or(&StoreLuck::Fails);
                weather.store.push(StoreFault { at: 1 + chance.below(30) as u32, luck });
            }
        }
        if chance.one_in(24) {
            let twice = if chance.one_in(2) { Twice::Twice } else { Twice::Once };
            weather.interrupt = Some((1 + chance.below(12) as u32, twice));
        }
        weather
    }
}

fn disk_fault(chance: &mut Chance) -> DiskFault {
    let extents = [Extent::Once, Extent::Once, Extent::Store, Extent::Project, Extent::Disk];
    DiskFault {
        at: 1 + chance.below(120),
        kind: *chance.pick(&DISK_ERRORS).unwrap_or(&std::io::ErrorKind::Other),
        extent: *chance.pick(&extents).unwrap_or(&Extent::Once),
    }
}
