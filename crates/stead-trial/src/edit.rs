//! What changes in a program from one run to the next. An edit that does not fit is none.

use serde::{Deserialize, Serialize};

use crate::Chance;
use crate::program::{Declared, Program, TIES, Tie, Trait};

/// One change of a program.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Edit {
    Add(String, Declared),
    Remove(String),
    Size(String, i64),
    Place(String, u64),
    Toggle(String, Trait),
    /// Another name; what speaks of it follows. With an alias the program says what it was called.
    Rename {
        from: String,
        to: String,
        alias: bool,
    },
    Bind(String, Option<(Tie, String)>),
    From(String, Option<String>),
    Provider(String, Option<String>),
    /// Goes to another place in the program.
    Reorder(String, usize),
    /// What was made outside becomes this thing.
    Import(String, String),
}

const TRAITS: [Trait; 12] = [
    Trait::Protected,
    Trait::Protected,
    Trait::Retained,
    Trait::DeleteFirst,
    Trait::DeleteFirst,
    Trait::Rooted,
    Trait::IgnoresSize,
    Trait::ReplacedBySize,
    Trait::Unnamed,
    Trait::Asks,
    Trait::Pinned,
    Trait::Pinned,
];

impl Program {
    /// Applies an edit, unless the program could not be then.
    pub(crate) fn apply(&mut self, edit: &Edit) {
        // Only what speaks of another one can close a circle; a new thing is spoken of by nobody.
        let binds = matches!(edit, Edit::Bind(..) | Edit::From(..) | Edit::Provider(..));
        let before = binds.then(|| self.clone());
        self.change(edit);
        if let Some(before) = before
            && !self.can_be()
        {
            *self = before;
        }
    }

    fn change(&mut self, edit: &Edit) {
        match edit {
            Edit::Add(name, declared) => {
                if self.position(name).is_none() {
                    let mut declared = declared.clone();
                    let missing = |name: &&mut String| self.position(name).is_none();
                    let gone: Vec<String> =
                        declared.speaks_of().filter(missing).map(|name| name.clone()).collect();
                    gone.iter().for_each(|name| declared.forget(name));
                    self.things.push((name.clone(), declared));
                }
            }
            Edit::Remove(name) => {
                self.things.retain(|(found, _)| found != name);
                self.things.iter_mut().for_each(|(_, thing)| thing.forget(name));
            }
            Edit::Size(name, size) => self.with(name, |thing| thing.size = *size),
            Edit::Place(name, place) => self.with(name, |thing| thing.place = *place),
            Edit::Toggle(name, wanted) => self.with(name, |thing| thing.toggle(*wanted)),
            Edit::Bind(_, Some((_, to))) | Edit::From(_, Some(to)) | Edit::Provider(_, Some(to))
                if self.position(to).is_none() => {}
            Edit::Bind(name, tie) => self.with(name, |thing| thing.tie.clone_from(tie)),
            Edit::From(name, from) => self.with(name, |thing| thing.from.clone_from(from)),
            Edit::Provider(name, provider) => self.with(name, |thing| thing.provider.clone_from(provider)),
            Edit::Import(name, id) => self.with(name, |thing| thing.import = Some(id.clone())),
            Edit::Reorder(name, to) => {
                if let Some(at) = self.position(name) {
                    let thing = self.things.remove(at);
                    self.things.insert((*to).min(self.things.len()), thing);
                }
            }
            Edit::Rename { from, to, alias } => self.rename(from, to, *alias),
        }
    }

    fn with(&mut self, name: &str, change: impl FnOnce(&mut Declared)) {
        if let Some(thing) = self.get_mut(name) {
            change(thing);
        }
    }

    fn rename(&mut self, from: &str, to: &str, alias: bool) {
        let (Some(at), None) = (self.position(from), self.position(to)) else { return };
        let (name, thing) = &mut self.things[at];
        to.clone_into(name);
        thing.was.push(from.to_owned());
        if alias && !thing.is(Trait::Unnamed) {
            thing.aliases.retain(|alias| alias != to);
            thing.aliases.push(from.to_owned());
        }
        let others = self.things.iter_mut().flat_map(|(_, thing)| thing.speaks_of());
        others.filter(|name| *name == from).for_each(|name| to.clone_into(name));
    }

    pub(crate) fn draw(chance: &mut Chance) -> Program {
        let mut program = Program::default();
        for _ in 0..4 + chance.below(13) {
            let edit = program.new_thing(chance);
            program.apply(&edit);
        }
        program
    }

    /// One edit, as between two commits.
    pub(crate) fn draw_edit(&self, chance: &mut Chance) -> Edit {
        let Some((name, _)) = chance.pick(&self.things).cloned() else { return self.new_thing(chance) };
        let other = chance.pick(&self.things).map(|(name, _)| name.clone());
        match chance.below(20) {
            0..3 => self.new_thing(chance),
            3 | 4 => Edit::Remove(name),
            5..8 => Edit::Size(name, chance.below(5) as i64),
            8 | 9 => Edit::Place(name, chance.below(3)),
            10..13 => Edit::Toggle(name, *chance.pick(&TRAITS).unwrap_or(&Trait::Protected)),
            13 => {
                let to = format!("t{}", 24 + chance.below(8));
                Edit::Rename { from: name, to, alias: chance.one_in(2) }
            }
            14 | 15 => Edit::Bind(name, chance.pick(&TIES).copied().zip(other)),
            16 => Edit::From(name, other),
            17 => {
                let serves = |(_, thing): &&(String, Declared)| thing.is(Trait::Serves);
                let serving: Vec<_> = self.things.iter().filter(serves).map(|(name, _)| name).collect();
                Edit::Provider(name, chance.pick(&serving).map(|name| (*name).clone()))
            }
            18 => Edit::Reorder(name, chance.below(16) as usize),
            _ => Edit::Import(name, format!("outside-{}", chance.below(3))),
        }
    }

    fn new_thing(&self, chance: &mut Chance) -> Edit {
        let name = format!("t{}", chance.below(24));
        let mut some = |n: u64| {
            if chance.one_in(n) { chance.pick(&self.things).map(|(name, _)| name.clone()) } else { None }
        };
        let (from, depends_on, tied) = (some(2), some(4), some(3));
        let tie = tied.and_then(|to| chance.pick(&TIES).map(|tie| (*tie, to)));
        let serving = self.things.iter().find(|(_, thing)| thing.is(Trait::Serves));
        let provider = serving.filter(|_| chance.one_in(3)).map(|(name, _)| name.clone());
        let mut thing = Declared { from, depends_on, tie, provider, ..Declared::default() };
        (thing.size, thing.place) = (chance.below(5) as i64, chance.below(3));
        for (wanted, n) in [
            (Trait::Protected, 9),
            (Trait::Retained, 16),
            (Trait::DeleteFirst, 6),
            (Trait::Rooted, 4),
            (Trait::IgnoresSize, 20),
            (Trait::ReplacedBySize, 16),
            (Trait::Unnamed, 10),
            (Trait::Asks, 24),
            (Trait::Pinned, 10),
        ] {
            if chance.one_in(n) {
                thing.traits.push(wanted);
            }
        }
        if chance.one_in(12) {
            let (size, place) = (thing.size, thing.place);
            thing = Declared { size, place, traits: vec![Trait::Serves], ..Declared::default() };
        }
        Edit::Add(name, thing)
    }
}
