//! The pinfile beside the entry point: read before anything else, settled with the graph, written when all went well.
//!
//! **Invariant:** the file is written only if it did not change since it was read.

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use stead_guard::pins::{
    AppliedPinfile, EmptySection, Orphans, Override, PinRefusal, Pinfile, PinfileChange, PinfileStatus,
    PinfileUpdate, Pins, SettledGraph, Types, apply_pinfile, keeps_pins,
};
use stead_model::{Code, Diagnostic, Digest, Environment, Graph, Hint, NextStep, TypeToken};
use stead_schema::{Access, Catalog, identity};
use stead_state::State;
use stead_world::World;

/// Where a pinfile is, and which of its sections is meant.
#[derive(Clone)]
pub struct PinfileLocation {
    pub world: World,
    /// The project's folder.
    pub root: PathBuf,
    /// The entry point, seen from there.
    pub main: String,
    pub target: String,
    pub environment: Environment,
}

/// The pinfile of one command, for the target and the environment that it is about.
pub struct OpenPinfile {
    place: PinfileLocation,
    /// `None`: the target keeps no pins.
    kept: Option<Kept>,
    orphans: Orphans,
}

struct Kept {
    pins: Pins,
    /// As it was read.
    text: Option<String>,
}

/// The pins of a graph after the pinfile was applied: those that forbid deletions, and the file to write in the end.
#[derive(Clone)]
pub struct SettledPins {
    place: PinfileLocation,
    settled: Option<AppliedPinfile>,
    text: Option<String>,
}

/// Whether the pinfile was written after a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PinfileWrite {
    /// The file lists the current pins.
    Done,
    /// The file should change, but the program is not in this folder, so that the file has no place.
    NoProgram { file: String },
}

/// The identifying properties of the types in a catalog.
pub struct KnownTypes<'a>(pub &'a Catalog);

impl Types for KnownTypes<'_> {
    fn identity(&self, resource: &TypeToken) -> Option<Vec<String>> {
        Some(identity(self.0.get(resource)?).into_iter().map(str::to_owned).collect())
    }

    fn settable(&self, resource: &TypeToken) -> Vec<String> {
        let properties = self.0.get(resource).into_iter().flat_map(|schema| &schema.properties);
        properties.filter(|property| property.settable()).map(|property| property.name.clone()).collect()
    }

    fn is_filled_in(&self, resource: &TypeToken, property: &str) -> bool {
        let property = self.0.get(resource).and_then(|schema| schema.property(property));
        property.is_some_and(|property| !matches!(property.access, Access::Required | Access::Optional))
    }
}

impl PinfileLocation {
    /// The name of the file, relative to the project's folder.
    pub fn name(&self) -> String {
        name_of(&self.main)
    }

    /// Reads the file, and gives its text too. One that cannot be understood is a problem.
    pub fn read(&self) -> Result<(Pinfile, Option<String>), Diagnostic> {
        let name = self.name();
        let bytes = self.bytes(&self.root.join(&name))?;
        let file = Pinfile::read(&name, bytes.as_deref())?;
        Ok((file, bytes.and_then(|bytes| String::from_utf8(bytes).ok())))
    }

    fn bytes(&self, path: &Path) -> Result<Option<Vec<u8>>, Diagnostic> {
        match self.world.files.read(path) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => {
                let message = format!("cannot read {}: {error}", path.display());
                Err(Diagnostic::error(Code::STORE, message))
            }
        }
    }

    /// Writes or removes the file, unless it changed since it was read.
    pub fn put(&self, file: &Pinfile, content: &PinfileUpdate) -> Result<(), Diagnostic> {
        if *content == PinfileUpdate::Unchanged {
            return Ok(());
        }
        self.world.crash_point("pins.write.before");
        self.same_on_disk(file)?;
        let path: PathBuf = self.root.join(&file.name);
        let files = &self.world.files;
        let written = match content {
            PinfileUpdate::Unchanged => Ok(()),
            PinfileUpdate::Remove => {
                files.remove_file(&path).and_then(|()| files.sync_folder(path.parent().unwrap_or(&self.root)))
            }
            PinfileUpdate::Write(text) => {
                // A link to the file stays one: the file that it leads to is written, with the mode of that file.
                let path = files.canonical(&path).unwrap_or_else(|_| path.clone());
                let mode = files.metadata(&path).ok().flatten().map_or(0o644, |found| found.mode);
                let unique = self.world.entropy.uuid();
                unique.and_then(|unique| files.write_atomically(&path, text.as_bytes(), mode, &unique))
            }
        };
        self.world.crash_point("pins.write.after");
        written.map_err(|error| {
            let message = format!("cannot write {}: {error}", path.display());
            Diagnostic::error(Code::STORE, message)
                .help(Hint::text("once the cause is fixed, ").then(NextStep::Compile).and(" writes it"))
        })
    }

    fn same_on_disk(&self, file: &Pinfile) -> Result<(), Diagnostic> {
        let bytes = self.bytes(&self.root.join(&file.name))?;
        if bytes.map(|bytes| Digest::of(&bytes)) == file.digest {
            return Ok(());
        }
        let message = format!("{} changed while this command was at work", file.name);
        Err(Diagnostic::error(Code::PINFILE_CHANGED, message)
            .note("It was left as it is. What a run did until then is recorded in state.")
            .help("run the command again: it reads the file as it is now"))
    }

    /// A saved plan may be applied where the program is not; then there is no place for a pinfile either.
    pub fn has_program(&self) -> bool {
        matches!(self.world.files.metadata(&self.root.join(&self.main)), Ok(Some(_)))
    }
}

fn name_of(main: &str) -> String {
    format!("{main}.pin.json")
}

impl OpenPinfile {
    /// As it is on the disk.
    pub fn open(place: PinfileLocation, orphans: Orphans) -> Result<OpenPinfile, Diagnostic> {
        if !keeps_pins(&place.target) {
            return Ok(OpenPinfile { place, kept: None, orphans });
        }
        let (file, text) = place.read()?;
        let pins = Pins::open(file, &place.target, &place.environment);
        Ok(OpenPinfile { place, kept: Some(Kept { pins, text }), orphans })
    }

    /// As it was when a plan was saved, beside an entry point that may have been another.
    pub fn of_saved(
        place: PinfileLocation,
        main: &str,
        text: Option<&str>,
        orphans: Orphans,
    ) -> Result<OpenPinfile, Diagnostic> {
        if !keeps_pins(&place.target) {
            return Ok(OpenPinfile { place, kept: None, orphans });
        }
        let file = Pinfile::read(&name_of(main), text.map(str::as_bytes))?;
        let pins = Pins::open(file, &place.target, &place.environment);
        Ok(OpenPinfile { place, kept: Some(Kept { pins, text: text.map(str::to_owned) }), orphans })
    }

    /// The pins that forbid deletions, where no program is evaluated.
    pub fn standing(&self) -> PinfileStatus {
        self.kept.as_ref().map_or(PinfileStatus::NotKept, |kept| PinfileStatus::of(&kept.pins))
    }

    /// Applies the rules. State is looked at if there is one.
    pub fn settle(
        self,
        graph: Graph,
        catalog: &Catalog,
        state: Option<&State>,
    ) -> Result<(SettledGraph, SettledPins), PinRefusal> {
        let OpenPinfile { place, kept, orphans } = self;
        let Some(Kept { pins, text }) = kept else {
            return Ok((SettledGraph::without_pins(graph), SettledPins { place, settled: None, text: None }));
        };
        let mut settled = apply_pinfile(graph, pins, &KnownTypes(catalog), state, orphans)?;
        let graph = std::mem::take(&mut settled.graph);
        Ok((graph, SettledPins { place, settled: Some(settled), text }))
    }
}

impl SettledPins {
    pub fn standing(&self) -> PinfileStatus {
        self.settled.as_ref().map_or(PinfileStatus::NotKept, |settled| settled.status.clone())
    }

    /// The changes that the file will get.
    pub fn lines(&self) -> &[PinfileChange] {
        self.settled.as_ref().map_or(&[], |settled| &settled.changes)
    }

    /// The frozen values that override the program's, with the name of the file.
    pub fn overrides(&self) -> impl Iterator<Item = (&Override, &str)> {
        let settled = self.settled.iter();
        settled
            .flat_map(|settled| settled.overrides.iter().map(|over| (over, settled.pins.file.name.as_str())))
    }

    pub fn warnings(&self) -> &[Diagnostic] {
        self.settled.as_ref().map_or(&[], |settled| &settled.warnings)
    }

    /// The pinfile as it was read, for a plan that is saved.
    pub fn text(&self) -> Option<String> {
        self.text.clone()
    }

    /// Fails if the file changed since it was read.
    pub fn still_the_same(&self) -> Result<(), Diagnostic> {
        match &self.settled {
            Some(settled) if self.place.has_program() => self.place.same_on_disk(&settled.pins.file),
            _ => Ok(()),
        }
    }

    /// Returns the pins with some more released, which state alone records.
    #[must_use]
    pub(crate) fn releasing(&self, pins: &BTreeMap<String, TypeToken>) -> SettledPins {
        let mut released = self.clone();
        released.settled.iter_mut().for_each(|settled| settled.release(pins));
        released
    }

    /// Writes the current pins after a successful run.
    pub fn write_after_run(&self) -> Result<PinfileWrite, Diagnostic> {
        let Some(settled) = &self.settled else { return Ok(PinfileWrite::Done) };
        let content = settled.pins.update(EmptySection::Remove);
        if content != PinfileUpdate::Unchanged && !self.place.has_program() {
            return Ok(PinfileWrite::NoProgram { file: settled.pins.file.name.clone() });
        }
        self.place.put(&settled.pins.file, &content).map(|()| PinfileWrite::Done)
    }

    /// Freezes the values that are known only after the run.
    pub fn complete(&self, catalog: &Catalog, state: &State) -> Result<(), Diagnostic> {
        let Some(settled) = self.settled.as_ref().filter(|settled| settled.wants_completion()) else {
            return Ok(());
        };
        let (mut complete, mut file) = (settled.clone(), settled.pins.file.clone());
        complete.complete(state, &KnownTypes(catalog));
        let (written, wanted) =
            (settled.pins.update(EmptySection::Remove), complete.pins.update(EmptySection::Remove));
        if written == wanted || !self.place.has_program() {
            return Ok(());
        }
        match &written {
            PinfileUpdate::Unchanged => {}
            PinfileUpdate::Remove => file.digest = None,
            PinfileUpdate::Write(text) => file.digest = Some(Digest::of(text.as_bytes())),
        }
        self.place.put(&file, &wanted)
    }

    /// Returns true if [`complete`](SettledPins::complete) may add values.
    pub fn wants_completion(&self) -> bool {
        self.settled.as_ref().is_some_and(AppliedPinfile::wants_completion)
    }

    /// Writes the pins of a compilation, which has no state.
    pub fn write(&self) -> Result<(), Diagnostic> {
        match &self.settled {
            Some(settled) => self.place.put(&settled.pins.file, &settled.pins.update(EmptySection::Keep)),
            None => Ok(()),
        }
    }
}
