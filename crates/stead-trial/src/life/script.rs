//! The script of a life: programs, commands and faults as data, so that a life can be printed, minimized and
//! replayed.

mod secrets;

use serde::{Deserialize, Serialize};

use crate::Rng;
use crate::faults::behaviour::{StoreBehaviour, StoreFault};
use crate::faults::plan::FaultPlan;
use crate::faults::process_faults::{CrashPlace, RareCrash};
use crate::life::edit::Edit;
use crate::life::initial_stack::InitialStack;
use crate::life::program::{DeclaredResource, Program, ResourceFlag};

/// Script of a life: the complete input of one simulated test case.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Script {
    #[serde(rename = "medium")]
    pub store_kind: StoreKind,
    /// Stack that exists before the first round.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start: Option<InitialStack>,
    pub program: Program,
    #[serde(rename = "acts")]
    pub rounds: Vec<Round>,
}

/// Kind of store that holds the state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum StoreKind {
    Files,
    Objects,
}

/// One round: edits of the program, a command with its faults, and rival processes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Round {
    /// Seed of everything drawn while the round runs: ids and delays.
    pub seed: u64,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub edits: Vec<Edit>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outside: Option<OutsideChange>,
    #[serde(rename = "task")]
    pub command: Command,
    #[serde(rename = "weather", skip_serializing_if = "FaultPlan::is_empty")]
    pub fault_plan: FaultPlan,
    /// Rival processes; each starts while the previous one runs.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub rivals: Vec<Rival>,
}

/// A change made outside of Stead.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum OutsideChange {
    /// Deletes the n-th object of the cloud.
    Deletes(u64),
    Changes(u64),
    /// Creates an object that may be imported later.
    Makes(u64),
    /// Deletes the pinfile by mistake.
    LosesPinfile,
    /// Removes every entry from the pinfile by mistake.
    EmptiesPinfile,
    /// Adds a section for the environment to the pinfile, without most of its pins.
    AddsSection,
    /// Switches between two branches: program and pinfile are those of the other one.
    SwitchesBranch,
}

/// A command, mapped to one operation of the library.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub enum Command {
    #[default]
    Up,
    /// `up` after a refresh of the resources that it would change.
    UpRefreshed,
    /// `up` after a refresh of everything, with likely moves refused.
    #[serde(rename = "UpLooking")]
    UpRefreshAll,
    /// `up` with likely moves accepted or refused.
    UpMoves {
        accept: bool,
    },
    /// `up` for the given resources only, with their dependencies if the flag is set.
    Target(Vec<String>, bool),
    Exclude(Vec<String>),
    FailFast,
    /// Plans, and saves the plan.
    Plan,
    /// Applies the saved plan, if there is one.
    UpSaved,
    Refresh,
    Destroy,
    /// `rename`: renames the resource in the state and in the program.
    Rename(String, String),
    /// `state mv`: as `Rename`, without recording the old name.
    Move(String, String),
    /// `state rm`.
    Remove(String),
    /// Exports the state, and imports it again.
    Reimport,
    /// Rolls back to the state before the given number of runs.
    Rollback(u64),
    /// Resolves operations that only a person can settle.
    Resolve,
    Unlock,
    /// `pin mv` and `pin rm`: updates the pinfile to match the program.
    PinsFollow,
    /// `pin rm`.
    Unpin(String),
    /// `pin restore`.
    PinsRestore,
    /// `up --update-pins` after a refresh of everything, with likely moves refused.
    UpPins,
    /// `import` of an object that was created outside.
    Import(String, String),
    /// `state mv --to-stack`, with all dependencies.
    ToStack(String),
    /// `stack rename` to another environment, and back.
    RenameStack,
    /// A foreign tool records a dependency on a resource that never existed.
    #[serde(rename = "Miswrites")]
    WriteInvalidRecord(String),
    /// Waits for the lock, takes it over from a holder without a heartbeat, then runs `up`.
    Wait,
}

/// Another process, which starts when the previous one has passed `after` crash points, is suspended, or has ended.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Rival {
    #[serde(rename = "task")]
    pub command: Command,
    #[serde(rename = "weather", skip_serializing_if = "FaultPlan::is_empty")]
    pub fault_plan: FaultPlan,
    pub after: u64,
    /// Number of crash points this process passes before the previous one, if suspended, is woken.
    pub wakes: u64,
    /// The process runs on another machine, from which the liveness of the previous one cannot be seen.
    pub elsewhere: bool,
}

impl Script {
    /// Draws the script of a seed, with the given number of rounds or a random one.
    pub fn draw(seed: u64, operations: Option<u64>) -> Script {
        let mut rng = Rng::new(seed);
        let program = Program::draw(&mut rng);
        let store_kind = if rng.one_in(4) { StoreKind::Objects } else { StoreKind::Files };
        let start = InitialStack::draw(&mut rng, &program);
        let drawn = if rng.one_in(24) { 12 + rng.below(19) } else { 1 + rng.below(10) };
        let mut now = program.clone();
        let count = operations.unwrap_or(drawn).max(1);
        let mut rounds: Vec<Round> = Vec::new();
        for at in 0..count {
            let before = rounds.last().filter(|round| round.fault_plan.process.can_die());
            let regret = before.and_then(|round| round.regret(&mut rng, &now));
            let mut round = Round::draw(&mut rng, &mut now, store_kind, at);
            round.pin_something(&mut rng, &mut now);
            if let Some(regret) = regret {
                regret.iter().for_each(|edit| now.apply(edit));
                round.edits.extend(regret);
                round.command = Command::Up;
            }
            rounds.push(round);
        }
        // Drawn by numbers of its own, so that every other life stays the one of its seed.
        let mut rng = Rng::new(seed ^ 0x7069_6e73);
        if operations.is_none() && rng.one_in(16) {
            rounds.extend(Round::pin_and_rename(&mut rng, &now));
        }
        let mut script = Script { store_kind, start, program, rounds };
        secrets::declare(&mut script, seed);
        script
    }
}

impl Round {
    /// A batch of the first process arrives late, while a slow rival opens a run on the state before it.
    fn leave_a_batch_on_its_way(&mut self, rng: &mut Rng) {
        let at = 8 + rng.below(8) as u32;
        self.fault_plan = FaultPlan {
            store: vec![StoreFault { at, behaviour: StoreBehaviour::EffectLate }],
            ..FaultPlan::default()
        };
        if let Some(rival) = self.rivals.first_mut() {
            let at = 6 + rng.below(10) as u32;
            let store = vec![StoreFault { at, behaviour: StoreBehaviour::Late }];
            *rival = Rival {
                command: Command::Up,
                fault_plan: FaultPlan { store, ..FaultPlan::default() },
                after: 1000,
                elsewhere: false,
                ..rival.clone()
            };
        }
    }

    /// Pins a resource if the process is to die while it writes the pinfile.
    fn pin_something(&mut self, rng: &mut Rng, now: &mut Program) {
        let writes = self.fault_plan.process.rare.is_some_and(|rare| rare.place == CrashPlace::Pinfile);
        let free = now.resources.iter().filter(|(_, resource)| !resource.is(ResourceFlag::Pinned));
        let free: Vec<String> = free.map(|(name, _)| name.clone()).collect();
        if let Some(name) = rng.pick(&free).filter(|_| writes) {
            if free.len() == now.resources.len() {
                // The first pinfile is written without a fault, so that the next write replaces an existing file.
                self.fault_plan.process.rare = None;
            }
            let edit = Edit::Toggle(name.clone(), ResourceFlag::Pinned);
            now.apply(&edit);
            self.edits.push(edit);
        }
    }

    /// Draws rounds in which a run of another resource lists a pin in the pinfile, and its resource gets another name before
    /// state has the pin.
    fn pin_and_rename(rng: &mut Rng, now: &Program) -> Vec<Round> {
        let free = now.resources.iter().filter(|(_, resource)| !resource.is(ResourceFlag::Pinned));
        let free: Vec<String> = free.map(|(name, _)| name.clone()).collect();
        let (Some(one), Some(other)) = (rng.pick(&free).cloned(), rng.pick(&free).cloned()) else {
            return Vec::new();
        };
        let pin = Edit::Toggle(one.clone(), ResourceFlag::Pinned);
        let named = if rng.one_in(2) {
            Command::Rename(one, format!("t{}", 32 + rng.below(4)))
        } else {
            Command::Move(one, format!("t{}", 36 + rng.below(4)))
        };
        let rounds = [
            (Vec::new(), Command::Up),
            (vec![pin], Command::Target(vec![other], false)),
            (Vec::new(), named),
            (Vec::new(), Command::UpMoves { accept: false }),
        ];
        let round = |(edits, command)| Round { seed: rng.draw(), edits, command, ..Round::default() };
        rounds.map(round).into()
    }

    /// Draws edits after a crash: a deletion that was under way is now guarded, or a pinned resource is removed.
    fn regret(&self, rng: &mut Rng, now: &Program) -> Option<Vec<Edit>> {
        if rng.one_in(3) {
            let just_pinned = self.edits.iter().rev().find_map(|edit| match edit {
                Edit::Toggle(name, ResourceFlag::Pinned) => Some(name),
                _ => None,
            });
            let pinned = || {
                now.resources
                    .iter()
                    .find(|(_, resource)| resource.is(ResourceFlag::Pinned))
                    .map(|(name, _)| name)
            };
            return just_pinned.or_else(pinned).map(|name| vec![Edit::Remove(name.clone())]);
        }
        let note_protected = *rng.pick(&[ResourceFlag::Protected, ResourceFlag::Pinned])?;
        if !rng.one_in(2) {
            return None;
        }
        self.edits.iter().find_map(|edit| match edit {
            Edit::Remove(name) => {
                let declared =
                    DeclaredResource { flags: vec![note_protected], ..DeclaredResource::default() };
                Some(vec![Edit::Add(name.clone(), declared)])
            }
            Edit::Place(name, _) => {
                let resource = &now.resources[now.position(name)?].1;
                (!resource.is(note_protected)).then(|| vec![Edit::Toggle(name.clone(), note_protected)])
            }
            _ => None,
        })
    }

    fn draw(rng: &mut Rng, program: &mut Program, store_kind: StoreKind, at: u64) -> Round {
        let mut round =
            Round { seed: rng.draw(), fault_plan: FaultPlan::draw(rng, store_kind), ..Round::default() };
        if at > 0 && rng.one_in(2) {
            for _ in 0..1 + rng.below(4) {
                let edit = program.draw_edit(rng);
                program.apply(&edit);
                round.edits.push(edit);
            }
        }
        if rng.one_in(6) {
            let which = rng.below(16);
            let all = [
                OutsideChange::Deletes(which),
                OutsideChange::Changes(which),
                OutsideChange::Makes(which % 3),
            ];
            let pinned = program.resources.iter().any(|(_, resource)| resource.is(ResourceFlag::Pinned));
            round.outside = match which {
                12 if pinned => Some(OutsideChange::SwitchesBranch),
                13 if pinned => Some(OutsideChange::AddsSection),
                14 if pinned => Some(OutsideChange::EmptiesPinfile),
                15 if pinned => Some(OutsideChange::LosesPinfile),
                _ => rng.pick(&all).copied(),
            };
        }
        round.command = if at == 0 && !rng.one_in(8) { Command::Up } else { Command::draw(rng, program) };
        if rng.one_in(6) {
            round.fault_plan.process.stops_at = (!rng.one_in(3)).then(|| 1 + rng.below(40));
            round.rivals.push(Rival::draw(rng, program, store_kind));
            // A person who runs a stack under its old name while it is renamed makes a second stack.
            if round.command == Command::RenameStack {
                round.command = Command::Up;
            }
            if store_kind == StoreKind::Objects && rng.one_in(4) {
                round.leave_a_batch_on_its_way(rng);
            }
            if rng.one_in(3) {
                round.rivals[0].fault_plan.process.stops_at = (!rng.one_in(3)).then(|| 1 + rng.below(30));
                round.rivals.push(Rival::draw(rng, program, store_kind));
            }
        }
        round
    }
}

impl Rival {
    fn draw(rng: &mut Rng, program: &Program, store_kind: StoreKind) -> Rival {
        let command = match rng.below(8) {
            0..3 => Command::Unlock,
            3..6 => Command::Wait,
            6 => Command::Up,
            _ => Command::draw(rng, program),
        };
        let command = if command == Command::RenameStack { Command::Up } else { command };
        let mut rival = Rival {
            command,
            fault_plan: if rng.one_in(3) { FaultPlan::draw(rng, store_kind) } else { FaultPlan::default() },
            after: rng.below(30),
            wakes: 1 + rng.below(40),
            elsewhere: rng.one_in(2),
        };
        if rng.one_in(16)
            && let Some((name, _)) = rng.pick(&program.resources)
        {
            // The process holds both locks when it dies.
            rival.command = Command::ToStack(name.clone());
            rival.fault_plan.process.rare =
                Some(RareCrash { place: CrashPlace::Transfer, nth: 1 + rng.below(2) });
        }
        rival
    }
}

impl Command {
    fn draw(rng: &mut Rng, program: &Program) -> Command {
        let one = rng.pick(&program.resources).map(|(name, _)| name.clone()).unwrap_or_default();
        let pinned = program.resources.iter().filter(|(_, resource)| resource.is(ResourceFlag::Pinned));
        let pinned: Vec<&String> = pinned.map(|(name, _)| name).collect();
        if !pinned.is_empty() && rng.one_in(6) {
            let one = rng.pick(&pinned).map(|name| (*name).clone()).unwrap_or_default();
            return match rng.below(8) {
                0..4 => Command::PinsFollow,
                4 => Command::Unpin(one),
                5 => Command::PinsRestore,
                _ => Command::UpPins,
            };
        }
        match rng.below(44) {
            0..17 => Command::Up,
            17 => Command::UpRefreshed,
            18 => Command::UpRefreshAll,
            19 => Command::UpMoves { accept: true },
            20 => Command::UpMoves { accept: false },
            21 | 22 => Command::Target(vec![one], rng.one_in(2)),
            23 => Command::Exclude(vec![one]),
            24 => Command::FailFast,
            25 => Command::Plan,
            26 => Command::UpSaved,
            27..30 => Command::Refresh,
            30 | 31 => Command::Destroy,
            32 => Command::Rename(one, format!("t{}", 32 + rng.below(4))),
            33 => Command::Move(one, format!("t{}", 36 + rng.below(4))),
            34 => Command::Remove(one),
            35 => Command::Reimport,
            36 => Command::Rollback(1 + rng.below(3)),
            37 | 38 => Command::Resolve,
            39 => Command::Import(format!("t{}", 40 + rng.below(4)), format!("outside-{}", rng.below(3))),
            40 => Command::ToStack(one),
            41 => Command::WriteInvalidRecord(one),
            42 => Command::RenameStack,
            _ => Command::Wait,
        }
    }
}
