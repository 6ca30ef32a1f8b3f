//! `local.Directory`: a folder. It is deleted only when it is empty: its contents are not managed by the
//! resource.

use std::io;
use std::path::{Path, PathBuf};

use async_trait::async_trait;
use stead_model::{Map, PhysicalId, Resource, Value};
use stead_provider::{Created, LiveState, Reads, Receipt, Refusal, Updated};
use stead_schema::{Access, Problem, Property, Shape, TypeSchema};
use stead_world::{FileKind, Files, SHARED_FOLDER};

use crate::failure::{Attempt, Failure, io_refusal, reason};
use crate::files::disk::{is_absent, metadata_of, sync_removal};
use crate::files::mode::{MODE, ModeChange, mode, mode_problem, with_real_mode};
use crate::files::path::{PATH, already_exists, path_problem, wrong_kind, wrong_kind_to_delete};
use crate::inputs::{InputView, text};
use crate::machine::{Machine, folder_of};
use crate::types::{IfExists, ResourceType};

/// Most names in a folder that a refusal lists.
const NAMES_SHOWN: usize = 3;

/// Hint for a folder that already exists.
const EXISTS_HINT: &str =
    "move it away, or remove it from the program: files can be written in an existing folder";

pub(crate) struct Directory;

/// The folder that the inputs describe.
struct DesiredFolder {
    path: PathBuf,
    mode: u32,
}

#[async_trait]
impl ResourceType for Directory {
    fn schema(&self) -> TypeSchema {
        let (required, filled) = (Access::Required, Access::Filled);
        TypeSchema::new(
            "local.Directory",
            "A folder on this machine.",
            vec![
                Property::new(PATH, Shape::String, required, "Absolute path, or relative to the project.")
                    .create_only(),
                Property::new(MODE, Shape::String, filled, "Permission bits in octal; default \"0755\"."),
            ],
        )
    }

    fn defaults(&self) -> Map {
        [(MODE.to_owned(), Value::from("0755"))].into()
    }

    fn problems(&self, inputs: InputView<'_>) -> Vec<Problem> {
        path_problem(inputs).into_iter().chain(mode_problem(inputs)).collect()
    }

    fn inputs_from_id(&self, id: &str) -> Option<Map> {
        Some([(PATH.to_owned(), Value::from(id))].into())
    }

    fn reads(&self) -> Reads {
        Reads::RealResource
    }

    fn places(&self, machine: &Machine, inputs: &Map) -> Vec<PathBuf> {
        text(inputs, PATH).map(|path| machine.locate(path)).into_iter().collect()
    }

    async fn read(&self, machine: &Machine, recorded: &LiveState) -> Result<Option<LiveState>, Refusal> {
        let path = machine.locate(text(&recorded.inputs, PATH)?);
        let found = machine.on_disk(move |files| Ok(metadata_of(files, &path)?)).await;
        let found = found.map_err(Failure::into_refusal)?;
        // A path that is no longer a folder counts as deleted.
        let folder = found.filter(|found| found.kind == FileKind::Directory);
        Ok(folder
            .map(|found| LiveState { inputs: with_real_mode(&recorded.inputs, found), outputs: Map::new() }))
    }

    async fn create(&self, machine: &Machine, receipt: &Receipt, inputs: &Map) -> Attempt<Created> {
        let (desired, if_exists) = (DesiredFolder::of(machine, inputs)?, IfExists::at_attempt(receipt));
        machine.on_disk(move |files| desired.create(files, if_exists)).await?;
        Ok(Created { id: PhysicalId(text(inputs, PATH)?.to_owned()), outputs: Map::new() })
    }

    async fn update(
        &self,
        machine: &Machine,
        _receipt: &Receipt,
        resource: &Resource,
        old_inputs: &Map,
    ) -> Attempt<Updated> {
        let desired = DesiredFolder::of(machine, &resource.inputs)?;
        let change = ModeChange::of(old_inputs, desired.mode);
        machine.on_disk(move |files| desired.update(files, change)).await?;
        Ok(Updated { outputs: Map::new() })
    }

    async fn delete(&self, machine: &Machine, _receipt: &Receipt, resource: &Resource) -> Attempt<()> {
        let path = machine.locate(text(&resource.inputs, PATH)?);
        machine.on_disk(move |files| delete(files, &path)).await
    }
}

impl DesiredFolder {
    fn of(machine: &Machine, inputs: &Map) -> Result<DesiredFolder, Refusal> {
        Ok(DesiredFolder { path: machine.locate(text(inputs, PATH)?), mode: mode(inputs)? })
    }

    fn create(&self, files: &dyn Files, if_exists: IfExists) -> Attempt<()> {
        let path = self.path.as_path();
        match (metadata_of(files, path)?.map(|found| found.kind), if_exists) {
            (None, _) => self.create_new(files),
            (Some(FileKind::Directory), IfExists::Refuse) => Err(already_exists(path, EXISTS_HINT).into()),
            (Some(FileKind::Directory), _) => {
                files
                    .set_mode(path, self.mode)
                    .map_err(|error| io_refusal("set the mode of", path, &error))?;
                self.sync(files)
            }
            (Some(other), _) => Err(wrong_kind(path, other, "a folder is to be created there").into()),
        }
    }

    /// Sets the mode of the folder. Refuses if the mode was changed outside.
    fn update(self, files: &dyn Files, change: ModeChange) -> Attempt<()> {
        let mode = match metadata_of(files, &self.path)? {
            Some(found) if found.kind == FileKind::Directory => change.to_set(&self.path, found)?,
            _ => self.mode,
        };
        DesiredFolder { mode, ..self }.create(files, IfExists::AcceptOwn)
    }

    fn create_new(&self, files: &dyn Files) -> Attempt<()> {
        let path = self.path.as_path();
        let refused = |error: &io::Error| io_refusal("create", path, error);
        files.ensure_folder(folder_of(path)).map_err(|error| refused(&error))?;
        files.create_folder(path, SHARED_FOLDER).map_err(|error| refused(&error))?;
        if let Err(error) = files.set_mode(path, self.mode) {
            // A refusal states that nothing was created, so the folder must not stay.
            files.remove_folder(path).map_err(|_| {
                Failure::in_doubt(format!("{} was created, but without its mode", path.display()))
            })?;
            return Err(refused(&error).into());
        }
        self.sync(files)
    }

    /// Makes the folder's name durable. The folder itself cannot always be opened, because of its mode.
    fn sync(&self, files: &dyn Files) -> Attempt<()> {
        files.sync_folder(folder_of(&self.path)).map_err(|error| {
            let path = self.path.display();
            Failure::in_doubt(format!("{path} was created, but may not survive a crash: {}", reason(&error)))
        })
    }
}

fn delete(files: &dyn Files, path: &Path) -> Attempt<()> {
    match metadata_of(files, path)?.map(|found| found.kind) {
        None => return Ok(()),
        Some(FileKind::Directory) => {}
        Some(other) => return Err(wrong_kind_to_delete(path, other, "folder").into()),
    }
    match files.remove_folder(path) {
        Ok(()) => sync_removal(files, path),
        Err(error) if is_absent(&error) => Ok(()),
        Err(error) => Err(delete_refusal(files, path, &error).into()),
    }
}

fn delete_refusal(files: &dyn Files, path: &Path, error: &io::Error) -> Refusal {
    let names = files.list(path).unwrap_or_default();
    if names.is_empty() {
        return io_refusal("delete", path, error);
    }
    let shown = names.iter().take(NAMES_SHOWN).map(String::as_str).collect::<Vec<_>>().join(", ");
    let more = match names.len().saturating_sub(NAMES_SHOWN) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    Refusal::new(format!("cannot delete {}: it is not empty, it contains {shown}{more}", path.display()))
        .at(PATH)
        .help("move or delete its contents, then try again")
}
