//! Edits of a program between two commands. An edit that does not fit the program has no effect.

use serde::{Deserialize, Serialize};

use crate::Rng;
use crate::life::program::{DeclaredResource, Program, ResourceFlag, TIES, Tie};

/// One edit of a program.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Edit {
    Add(String, DeclaredResource),
    Remove(String),
    Size(String, i64),
    Place(String, u64),
    /// Gives a resource the secret of this number.
    Password(String, u64),
    Toggle(String, ResourceFlag),
    /// Renames a resource and updates all references to it. With `alias`, the program declares the old name as an
    /// alias.
    Rename {
        from: String,
        to: String,
        alias: bool,
    },
    Bind(String, Option<(Tie, String)>),
    From(String, Option<String>),
    Provider(String, Option<String>),
    /// Moves a declaration to another position in the program.
    Reorder(String, usize),
    /// Declares an import of an object that was created outside.
    Import(String, String),
}

const FLAGS: [ResourceFlag; 12] = [
    ResourceFlag::Protected,
    ResourceFlag::Protected,
    ResourceFlag::Retained,
    ResourceFlag::DeleteFirst,
    ResourceFlag::DeleteFirst,
    ResourceFlag::CreateOnlyInput,
    ResourceFlag::IgnoresSize,
    ResourceFlag::ReplacedBySize,
    ResourceFlag::Unnamed,
    ResourceFlag::ManualRecovery,
    ResourceFlag::Pinned,
    ResourceFlag::Pinned,
];

impl Program {
    /// Applies an edit, unless the resulting program would be invalid.
    pub(crate) fn apply(&mut self, edit: &Edit) {
        // Only a new reference can close a cycle; nothing refers to a new resource yet.
        let binds = matches!(edit, Edit::Bind(..) | Edit::From(..) | Edit::Provider(..));
        let before = binds.then(|| self.clone());
        self.change(edit);
        if let Some(before) = before
            && !self.is_valid()
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
                        declared.references().filter(missing).map(|name| name.clone()).collect();
                    gone.iter().for_each(|name| declared.forget(name));
                    self.resources.push((name.clone(), declared));
                }
            }
            Edit::Remove(name) => {
                self.resources.retain(|(found, _)| found != name);
                self.resources.iter_mut().for_each(|(_, resource)| resource.forget(name));
            }
            Edit::Size(name, size) => self.with(name, |resource| resource.size = *size),
            Edit::Place(name, place) => self.with(name, |resource| resource.place = *place),
            Edit::Password(name, number) => self.with(name, |resource| resource.password = Some(*number)),
            Edit::Toggle(name, wanted) => self.with(name, |resource| resource.toggle(*wanted)),
            Edit::Bind(_, Some((_, to))) | Edit::From(_, Some(to)) | Edit::Provider(_, Some(to))
                if self.position(to).is_none() => {}
            Edit::Bind(name, tie) => self.with(name, |resource| resource.tie.clone_from(tie)),
            Edit::From(name, from) => self.with(name, |resource| resource.from.clone_from(from)),
            Edit::Provider(name, provider) => {
                self.with(name, |resource| resource.provider.clone_from(provider))
            }
            // The cloud has one place, so that two providers cannot have different objects with one id.
            Edit::Import(name, id) if self.is_imported_elsewhere(name, id) => {}
            Edit::Import(name, id) => self.with(name, |resource| resource.import = Some(id.clone())),
            Edit::Reorder(name, to) => {
                if let Some(at) = self.position(name) {
                    let resource = self.resources.remove(at);
                    self.resources.insert((*to).min(self.resources.len()), resource);
                }
            }
            Edit::Rename { from, to, alias } => self.rename(from, to, *alias),
        }
    }

    /// Returns true if a resource of another provider imports this id.
    fn is_imported_elsewhere(&self, name: &str, id: &str) -> bool {
        let provider = self.position(name).and_then(|at| self.resources[at].1.provider.as_ref());
        let imports_it = |other: &DeclaredResource| other.import.as_deref() == Some(id);
        let mut others = self.resources.iter().filter(|(other, _)| other != name);
        others.any(|(_, other)| imports_it(other) && other.provider.as_ref() != provider)
    }

    fn with(&mut self, name: &str, change: impl FnOnce(&mut DeclaredResource)) {
        if let Some(resource) = self.get_mut(name) {
            change(resource);
        }
    }

    fn rename(&mut self, from: &str, to: &str, alias: bool) {
        let (Some(at), None) = (self.position(from), self.position(to)) else { return };
        let (name, resource) = &mut self.resources[at];
        to.clone_into(name);
        resource.former_names.push(from.to_owned());
        if alias && !resource.is(ResourceFlag::Unnamed) {
            resource.aliases.retain(|alias| alias != to);
            resource.aliases.push(from.to_owned());
        }
        let others = self.resources.iter_mut().flat_map(|(_, resource)| resource.references());
        others.filter(|name| *name == from).for_each(|name| to.clone_into(name));
    }

    pub(crate) fn draw(rng: &mut Rng) -> Program {
        let mut program = Program::default();
        for _ in 0..4 + rng.below(13) {
            let edit = program.new_resource(rng);
            program.apply(&edit);
        }
        program
    }

    /// Draws one edit, as between two commits.
    pub(crate) fn draw_edit(&self, rng: &mut Rng) -> Edit {
        let Some((name, _)) = rng.pick(&self.resources).cloned() else { return self.new_resource(rng) };
        let other = rng.pick(&self.resources).map(|(name, _)| name.clone());
        match rng.below(20) {
            0..3 => self.new_resource(rng),
            3 | 4 => Edit::Remove(name),
            5..8 => Edit::Size(name, rng.below(5) as i64),
            8 | 9 => Edit::Place(name, rng.below(3)),
            10..13 => Edit::Toggle(name, *rng.pick(&FLAGS).unwrap_or(&ResourceFlag::Protected)),
            13 => {
                let to = format!("t{}", 24 + rng.below(8));
                Edit::Rename { from: name, to, alias: rng.one_in(2) }
            }
            14 | 15 => Edit::Bind(name, rng.pick(&TIES).copied().zip(other)),
            16 => Edit::From(name, other),
            17 => {
                let serves =
                    |(_, resource): &&(String, DeclaredResource)| resource.is(ResourceFlag::IsProvider);
                let serving: Vec<_> = self.resources.iter().filter(serves).map(|(name, _)| name).collect();
                Edit::Provider(name, rng.pick(&serving).map(|name| (*name).clone()))
            }
            18 => Edit::Reorder(name, rng.below(16) as usize),
            _ => Edit::Import(name, format!("outside-{}", rng.below(3))),
        }
    }

    fn new_resource(&self, rng: &mut Rng) -> Edit {
        let name = format!("t{}", rng.below(24));
        let mut some = |n: u64| {
            if rng.one_in(n) { rng.pick(&self.resources).map(|(name, _)| name.clone()) } else { None }
        };
        let (from, depends_on, tied) = (some(2), some(4), some(3));
        let tie = tied.and_then(|to| rng.pick(&TIES).map(|tie| (*tie, to)));
        let serving = self.resources.iter().find(|(_, resource)| resource.is(ResourceFlag::IsProvider));
        let provider = serving.filter(|_| rng.one_in(3)).map(|(name, _)| name.clone());
        let mut resource =
            DeclaredResource { from, depends_on, tie, provider, ..DeclaredResource::default() };
        (resource.size, resource.place) = (rng.below(5) as i64, rng.below(3));
        for (wanted, n) in [
            (ResourceFlag::Protected, 9),
            (ResourceFlag::Retained, 16),
            (ResourceFlag::DeleteFirst, 6),
            (ResourceFlag::CreateOnlyInput, 4),
            (ResourceFlag::IgnoresSize, 20),
            (ResourceFlag::ReplacedBySize, 16),
            (ResourceFlag::Unnamed, 10),
            (ResourceFlag::ManualRecovery, 24),
            (ResourceFlag::Pinned, 10),
        ] {
            if rng.one_in(n) {
                resource.flags.push(wanted);
            }
        }
        if rng.one_in(12) {
            let (size, place) = (resource.size, resource.place);
            resource = DeclaredResource {
                size,
                place,
                flags: vec![ResourceFlag::IsProvider],
                ..DeclaredResource::default()
            };
        }
        Edit::Add(name, resource)
    }
}
