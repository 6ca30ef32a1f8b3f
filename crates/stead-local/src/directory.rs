//! `local.Directory`: a folder. Deletes it only when it is empty: what is inside belongs to somebody else.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use async_trait::async_trait;
use stead_model::{Input, Map, PhysicalId, Resource, Value};
use stead_provider::{Created, Live, Receipt, Refusal, Updated};
use stead_schema::{Access, Change, Problem, Property, Shape, TypeSchema};
use stead_world::{FileKind, Files};

use crate::disk::{is_gone, look, removed};
use crate::failure::{Attempt, Failure, reason, unable};
use crate::given::{Given, text};
use crate::kind::{IfTaken, Kind};
use crate::machine::{Machine, folder_of};
use crate::mode::{MODE, mode, mode_problem, with_real_mode};
use crate::place::{PATH, in_the_way, not_ours_to_delete, path_problem, taken, without_respelling};

/// How many of the names in a folder a refusal lists.
const NAMES_SHOWN: usize = 3;

/// What to do about something that is there already.
const TAKEN: &str =
    "move it away, or leave it out of the program: files can be written in a folder that is there";

pub(crate) struct Directory;

/// The folder as the inputs want it.
struct Wanted {
    path: PathBuf,
    mode: u32,
}

#[async_trait]
impl Kind for Directory {
    fn schema(&self) -> TypeSchema {
        let (required, filled) = (Access::Required, Access::Filled);
        TypeSchema::new(
            "local.Directory",
            "A folder on this machine.",
            vec![
                Property::new(PATH, Shape::String, required, "Where: absolute, or relative to the project.")
                    .create_only(),
                Property::new(
                    MODE,
                    Shape::String,
                    filled,
                    "Permission bits, in octal; \"0755\" if left out.",
                ),
            ],
        )
    }

    fn defaults(&self) -> Map {
        [(MODE.to_owned(), Value::from("0755"))].into()
    }

    fn problems(&self, inputs: Given<'_>) -> Vec<Problem> {
        path_problem(inputs).into_iter().chain(mode_problem(inputs)).collect()
    }

    fn weigh(&self, machine: &Machine, _new: &BTreeMap<String, Input>, changes: Vec<Change>) -> Vec<Change> {
        without_respelling(machine, changes)
    }

    fn of_id(&self, id: &str) -> Option<Map> {
        Some([(PATH.to_owned(), Value::from(id))].into())
    }

    async fn read(&self, machine: &Machine, recorded: &Live) -> Result<Option<Live>, Refusal> {
        let path = machine.locate(text(&recorded.inputs, PATH)?);
        let found = machine.on_disk(move |files| Ok(look(files, &path)?)).await;
        let found = found.map_err(Failure::into_refusal)?;
        // What is not a folder any more is not our folder.
        let folder = found.filter(|found| found.kind == FileKind::Directory);
        Ok(folder.map(|found| Live { inputs: with_real_mode(&recorded.inputs, found), outputs: Map::new() }))
    }

    async fn create(&self, machine: &Machine, receipt: &Receipt, inputs: &Map) -> Attempt<Created> {
        let (wanted, if_taken) = (Wanted::of(machine, inputs)?, IfTaken::at_attempt(receipt));
        machine.on_disk(move |files| wanted.make(files, if_taken)).await?;
        Ok(Created { id: PhysicalId(text(inputs, PATH)?.to_owned()), outputs: Map::new() })
    }

    async fn update(
        &self,
        machine: &Machine,
        _receipt: &Receipt,
        resource: &Resource,
        _old_inputs: &Map,
    ) -> Attempt<Updated> {
        let wanted = Wanted::of(machine, &resource.inputs)?;
        machine.on_disk(move |files| wanted.make(files, IfTaken::AcceptOurs)).await?;
        Ok(Updated { outputs: Map::new() })
    }

    async fn delete(&self, machine: &Machine, _receipt: &Receipt, resource: &Resource) -> Attempt<()> {
        let path = machine.locate(text(&resource.inputs, PATH)?);
        machine.on_disk(move |files| delete(files, &path)).await
    }
}

impl Wanted {
    fn of(machine: &Machine, inputs: &Map) -> Result<Wanted, Refusal> {
        Ok(Wanted { path: machine.locate(text(inputs, PATH)?), mode: mode(inputs)? })
    }

    fn make(&self, files: &dyn Files, if_taken: IfTaken) -> Attempt<()> {
        let path = self.path.as_path();
        match (look(files, path)?.map(|found| found.kind), if_taken) {
            (None, _) => self.make_new(files),
            (Some(FileKind::Directory), IfTaken::Refuse) => Err(taken(path, TAKEN).into()),
            (Some(FileKind::Directory), _) => {
                files.set_mode(path, self.mode).map_err(|error| unable("set the mode of", path, &error))?;
                self.keep(files)
            }
            (Some(other), _) => Err(in_the_way(path, other, "a folder is to be made there").into()),
        }
    }

    fn make_new(&self, files: &dyn Files) -> Attempt<()> {
        let path = self.path.as_path();
        let refused = |error: &io::Error| unable("create", path, error);
        files.ensure_folder(folder_of(path)).map_err(|error| refused(&error))?;
        files.create_folder(path).map_err(|error| refused(&error))?;
        if let Err(error) = files.set_mode(path, self.mode) {
            // A refusal says that nothing was made, so nothing may stay.
            files.remove_folder(path).map_err(|_| {
                Failure::in_doubt(format!("{} was made, but without its mode", path.display()))
            })?;
            return Err(refused(&error).into());
        }
        self.keep(files)
    }

    /// Makes sure that the folder outlives a crash. Its own mode may keep even us from opening it.
    fn keep(&self, files: &dyn Files) -> Attempt<()> {
        files.sync_folder(folder_of(&self.path)).map_err(|error| {
            let path = self.path.display();
            Failure::in_doubt(format!("{path} may not be on the disk for good: {}", reason(&error)))
        })
    }
}

fn delete(files: &dyn Files, path: &Path) -> Attempt<()> {
    match look(files, path)?.map(|found| found.kind) {
        None => return Ok(()),
        Some(FileKind::Directory) => {}
        Some(other) => return Err(not_ours_to_delete(path, other, "folder").into()),
    }
    match files.remove_folder(path) {
        Ok(()) => removed(files, path),
        Err(error) if is_gone(&error) => Ok(()),
        Err(error) => Err(undeletable(files, path, &error).into()),
    }
}

fn undeletable(files: &dyn Files, path: &Path, error: &io::Error) -> Refusal {
    let names = files.list(path).unwrap_or_default();
    if names.is_empty() {
        return unable("delete", path, error);
    }
    let shown = names.iter().take(NAMES_SHOWN).map(String::as_str).collect::<Vec<_>>().join(", ");
    let more = match names.len().saturating_sub(NAMES_SHOWN) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    Refusal::new(format!("cannot delete {}: it is not empty, it holds {shown}{more}", path.display()))
        .at(PATH)
        .help("move away or delete what is in it, then try again")
}
