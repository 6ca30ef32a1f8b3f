//! `local.File`: a text file. Never replaces what it did not write, unless told to; never leaves half a file.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use async_trait::async_trait;
use stead_model::{Digest, Input, Map, PhysicalId, Resource, Value};
use stead_provider::{Created, Live, Receipt, Refusal, Updated};
use stead_schema::{Access, Change, Problem, Property, Shape, TypeSchema};
use stead_world::{FileKind, Files, Metadata};

use crate::disk::{Draft, look, remove};
use crate::failure::{Attempt, Failure, unable};
use crate::given::{Given, flag, text};
use crate::kind::{IfTaken, Kind};
use crate::machine::Machine;
use crate::mode::{MODE, mode, mode_problem, with_real_mode};
use crate::place::{PATH, file_path_problem, in_the_way, not_ours_to_delete, taken, without_respelling};

const CONTENT: &str = "content";
const OVERWRITE: &str = "overwrite";

/// What to do about something that is there already.
const TAKEN: &str = "move it away, or set `overwrite: true` to let its content go";

pub(crate) struct File;

/// The file as the inputs want it, apart from them so that another thread can write it.
struct Wanted {
    path: PathBuf,
    content: String,
    mode: u32,
    unique: String,
}

#[async_trait]
impl Kind for File {
    fn schema(&self) -> TypeSchema {
        let (required, filled) = (Access::Required, Access::Filled);
        TypeSchema::new(
            "local.File",
            "A text file on this machine.",
            vec![
                Property::new(PATH, Shape::String, required, "Where: absolute, or relative to the project.")
                    .create_only(),
                Property::new(CONTENT, Shape::String, required, "The text of the file."),
                Property::new(
                    MODE,
                    Shape::String,
                    filled,
                    "Permission bits, in octal; \"0644\" if left out.",
                ),
                Property::new(
                    OVERWRITE,
                    Shape::Boolean,
                    Access::Optional,
                    "At creation, take the place of a file that is there already.",
                ),
                Property::new("sha256", Shape::String, Access::ReadOnly, "SHA-256 of the content, in hex."),
                Property::new("size", Shape::Integer, Access::ReadOnly, "Size of the content, in bytes."),
            ],
        )
    }

    fn defaults(&self) -> Map {
        [(MODE.to_owned(), Value::from("0644"))].into()
    }

    fn problems(&self, inputs: Given<'_>) -> Vec<Problem> {
        file_path_problem(inputs).into_iter().chain(mode_problem(inputs)).collect()
    }

    /// `overwrite` is about a moment that is over: a change of it leaves nothing to do.
    fn weigh(
        &self,
        machine: &Machine,
        _new: &BTreeMap<String, Input>,
        mut changes: Vec<Change>,
    ) -> Vec<Change> {
        changes.retain(|change| change.path.root() != Some(OVERWRITE));
        without_respelling(machine, changes)
    }

    fn of_id(&self, id: &str) -> Option<Map> {
        Some([(PATH.to_owned(), Value::from(id))].into())
    }

    async fn read(&self, machine: &Machine, recorded: &Live) -> Result<Option<Live>, Refusal> {
        let path = machine.locate(text(&recorded.inputs, PATH)?);
        let found = machine.on_disk(move |files| Ok(read_file(files, &path)?)).await;
        let Some((metadata, bytes)) = found.map_err(Failure::into_refusal)? else { return Ok(None) };
        let mut inputs = with_real_mode(&recorded.inputs, metadata);
        let outputs = outputs(&bytes);
        let written = recorded.inputs.get(CONTENT).and_then(Value::as_str);
        inputs.insert(CONTENT.to_owned(), Value::from(as_text(bytes, written.unwrap_or_default())));
        Ok(Some(Live { inputs, outputs }))
    }

    async fn create(&self, machine: &Machine, receipt: &Receipt, inputs: &Map) -> Attempt<Created> {
        let wanted = Wanted::of(machine, receipt, inputs)?;
        let if_taken = if flag(inputs, OVERWRITE)? { IfTaken::Replace } else { IfTaken::at_attempt(receipt) };
        let outputs = outputs(wanted.content.as_bytes());
        machine.on_disk(move |files| wanted.create(files, if_taken)).await?;
        Ok(Created { id: PhysicalId(text(inputs, PATH)?.to_owned()), outputs })
    }

    async fn update(
        &self,
        machine: &Machine,
        receipt: &Receipt,
        resource: &Resource,
        _old_inputs: &Map,
    ) -> Attempt<Updated> {
        let wanted = Wanted::of(machine, receipt, &resource.inputs)?;
        let outputs = outputs(wanted.content.as_bytes());
        machine.on_disk(move |files| wanted.create(files, IfTaken::Replace)).await?;
        Ok(Updated { outputs })
    }

    async fn delete(&self, machine: &Machine, _receipt: &Receipt, resource: &Resource) -> Attempt<()> {
        let path = machine.locate(text(&resource.inputs, PATH)?);
        let work = move |files: &dyn Files| match look(files, &path)?.map(|found| found.kind) {
            None => Ok(()),
            Some(FileKind::File) => remove(files, &path),
            Some(other) => Err(not_ours_to_delete(&path, other, "file").into()),
        };
        machine.on_disk(work).await
    }
}

impl Wanted {
    fn of(machine: &Machine, receipt: &Receipt, inputs: &Map) -> Result<Wanted, Refusal> {
        Ok(Wanted {
            path: machine.locate(text(inputs, PATH)?),
            content: text(inputs, CONTENT)?.to_owned(),
            mode: mode(inputs)?,
            unique: receipt.idempotency_key().to_owned(),
        })
    }

    fn create(&self, files: &dyn Files, if_taken: IfTaken) -> Attempt<()> {
        let (path, bytes) = (self.path.as_path(), self.content.as_bytes());
        let draft = Draft { path, bytes, mode: self.mode, unique: &self.unique };
        match (look(files, path)?.map(|found| found.kind), if_taken) {
            (None, _) | (Some(FileKind::File), IfTaken::Replace) => draft.put(files),
            // Written again, for the mode and for the disk: the first attempt may not have come that far.
            (Some(FileKind::File), IfTaken::AcceptOurs) if draft.is_there(files) => draft.put(files),
            (Some(FileKind::File), _) => Err(taken(path, TAKEN).into()),
            (Some(other), _) => Err(in_the_way(path, other, "a file is to be written there").into()),
        }
    }
}

/// What is not a file any more is not our file.
fn read_file(files: &dyn Files, path: &Path) -> Result<Option<(Metadata, Vec<u8>)>, Refusal> {
    match look(files, path)? {
        Some(found) if found.kind == FileKind::File => {
            let bytes = files.read(path).map_err(|error| unable("read", path, &error))?;
            Ok(Some((found, bytes)))
        }
        _ => Ok(None),
    }
}

/// The bytes as text. Where they are none, the text is close to them and never the one on record.
fn as_text(bytes: Vec<u8>, recorded: &str) -> String {
    String::from_utf8(bytes).unwrap_or_else(|error| {
        let mut text = String::from_utf8_lossy(error.as_bytes()).into_owned();
        if text == recorded {
            text.push(char::REPLACEMENT_CHARACTER);
        }
        text
    })
}

fn outputs(bytes: &[u8]) -> Map {
    [
        ("sha256".to_owned(), Value::from(Digest::of(bytes).as_str())),
        ("size".to_owned(), Value::from(bytes.len() as i64)),
    ]
    .into()
}
