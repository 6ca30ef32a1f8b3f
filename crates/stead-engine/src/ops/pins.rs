//! Edits of the pinfile. They change no resource and no state.

use std::collections::BTreeSet;

use stead_guard::pins::{
    Pinfile, PinfileChange, PinfileUpdate, Pins, add_entries, carry_frozen, entries_from_state, keeps_pins,
    missing_entries, move_pin, no_such_pin, paths_of, release_pin,
};
use stead_model::{Code, Diagnostic, Environment, Resource};

use crate::KnownTypes;
use crate::ops::{OpError, Workspace};

/// An edit of the pinfile.
#[derive(Clone, Debug)]
pub enum PinEdit {
    /// A pinned resource has another path now.
    Move { from: String, to: String },
    /// A pin ends: the pinfile releases it, for every environment that uses the section.
    Remove { path: String },
    /// The pins that state remembers are written again.
    Restore,
}

/// A line of the pinfile that an edit adds or removes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PinChange {
    pub section: String,
    pub line: PinfileChange,
}

/// The pinfile after an edit, not written yet.
pub struct ProposedPinEdit {
    workspace: Workspace,
    file: Pinfile,
    content: PinfileUpdate,
    changes: Vec<PinChange>,
}

impl ProposedPinEdit {
    pub fn changes(&self) -> &[PinChange] {
        &self.changes
    }

    /// The name of the pinfile.
    pub fn file(&self) -> &str {
        &self.file.name
    }

    /// Writes the pinfile, unless it changed meanwhile.
    pub fn apply(self) -> Result<Vec<PinChange>, OpError> {
        self.workspace.pinfile.put(&self.file, &self.content).map_err(OpError::pinfile)?;
        Ok(self.changes)
    }
}

impl Workspace {
    /// Reads the pinfile. A target that keeps no pins is an error.
    pub fn read_pinfile(&self) -> Result<Pinfile, OpError> {
        if !keeps_pins(self.target()) {
            let problem = Diagnostic::error(Code::USAGE, format!("target {} keeps no pins", self.target()));
            return Err(OpError::invalid(problem.help("choose another target")));
        }
        self.pinfile.read().map(|(file, _)| file).map_err(OpError::pinfile)
    }

    /// Prepares an edit of the pinfile.
    pub async fn edit_pins(&self, edit: PinEdit) -> Result<ProposedPinEdit, OpError> {
        let file = self.read_pinfile()?;
        let (content, changes) = match edit {
            PinEdit::Move { from, to } => {
                let (content, sections) = move_pin(&file, self.target(), &from, &to).map_err(refused)?;
                let lines = |section: String| {
                    let line = |line| PinChange { section: section.clone(), line };
                    [line(PinfileChange::Removed(from.clone())), line(PinfileChange::Added(to.clone()))]
                };
                (content, sections.into_iter().flat_map(lines).collect())
            }
            PinEdit::Remove { path } => self.removal(&file, path).await?,
            PinEdit::Restore => self.restoration(&file).await?,
        };
        Ok(ProposedPinEdit { workspace: self.clone(), file, content, changes })
    }

    async fn removal(
        &self,
        file: &Pinfile,
        path: String,
    ) -> Result<(PinfileUpdate, Vec<PinChange>), OpError> {
        let pins = Pins::open(file.clone(), self.target(), self.environment());
        let section = pins.section_with(&path).unwrap_or(&pins.key).to_owned();
        if pins.section_with(&path).is_none() && !self.remembers(&pins, &path).await? {
            return Err(refused(no_such_pin(file, &path)));
        }
        let content = release_pin(file, &section, &path).map_err(refused)?;
        let entry = file.sections.get(&section).and_then(|section| section.get(&path));
        let line = match entry.and_then(|entry| entry.original_path.clone()) {
            Some(original) => PinfileChange::RemovedMoved { original, path },
            None => PinfileChange::Removed(path),
        };
        Ok((content, vec![PinChange { section, line }]))
    }

    /// Returns true if state remembers a pin with this path.
    async fn remembers(&self, pins: &Pins, path: &str) -> Result<bool, OpError> {
        let loaded = self.load().await?;
        Ok(entries_from_state(&loaded.state, pins, &KnownTypes(&self.engine.catalog)).contains_key(path))
    }

    async fn restoration(&self, file: &Pinfile) -> Result<(PinfileUpdate, Vec<PinChange>), OpError> {
        let loaded = self.load_existing().await?;
        let pins = Pins::open(file.clone(), self.target(), self.environment());
        let recorded = entries_from_state(&loaded.state, &pins, &KnownTypes(&self.engine.catalog));
        let missing = missing_entries(&pins, recorded);
        let line =
            |path: &String| PinChange { section: pins.key.clone(), line: PinfileChange::Added(path.clone()) };
        let changes: Vec<PinChange> = missing.keys().map(line).collect();
        let content = match changes.is_empty() {
            true => PinfileUpdate::Unchanged,
            false => add_entries(file, &pins.key, missing),
        };
        Ok((content, changes))
    }
}

impl Workspace {
    /// Gives the frozen values of resources to the environment that they moved to, on the same target.
    pub(super) fn carry_frozen(&self, to: &Environment, resources: &[Resource]) -> Result<(), OpError> {
        if !keeps_pins(self.target()) || !self.pinfile.has_program() {
            return Ok(());
        }
        let file = self.read_pinfile()?;
        let paths: BTreeSet<String> = resources.iter().flat_map(paths_of).collect();
        let content = carry_frozen(&file, self.target(), (self.environment(), to), &paths);
        self.pinfile.put(&file, &content).map_err(OpError::pinfile)
    }
}

fn refused(problem: Diagnostic) -> OpError {
    OpError::refused(problem)
}
