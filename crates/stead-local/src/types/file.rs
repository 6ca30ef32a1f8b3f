//! `local.File`: a text file. It overwrites other files only with `overwrite`, and writes atomically.

use std::path::{Path, PathBuf};

use async_trait::async_trait;
use stead_model::{Digest, Inputs, Map, PhysicalId, Resource, Value};
use stead_provider::{Created, LiveState, Reads, Receipt, Refusal, Updated};
use stead_schema::{Access, Change, Problem, Property, Shape, TypeSchema};
use stead_world::{FileKind, Files, Metadata};
use zeroize::Zeroizing;

use crate::failure::{Attempt, Failure, io_refusal};
use crate::files::disk::{ExpectedFile, FileWrite, give_back, metadata_of};
use crate::files::mode::{MODE, ModeChange, mode, mode_problem, with_real_mode};
use crate::files::path::{
    PATH, already_exists, file_path_problem, not_overwritten, wrong_kind, wrong_kind_to_delete,
};
use crate::inputs::{InputView, flag, text};
use crate::machine::Machine;
use crate::types::{IfExists, ResourceType};

const CONTENT: &str = "content";
const OVERWRITE: &str = "overwrite";
const SHA256: &str = "sha256";

/// Hint for a file that already exists.
const EXISTS_HINT: &str = "move it away, or set `overwrite: true` to replace its content";

/// How a file differs that an update would overwrite.
const OTHER_CONTENT: &str = "was changed outside of Stead: its content is not the recorded one";

pub(crate) struct File;

/// The file that the inputs describe; owned, so that another thread can write it.
struct DesiredFile {
    path: PathBuf,
    content: String,
    mode: u32,
    unique: String,
}

#[async_trait]
impl ResourceType for File {
    fn schema(&self) -> TypeSchema {
        let (required, filled) = (Access::Required, Access::Filled);
        TypeSchema::new(
            "local.File",
            "A text file on this machine.",
            vec![
                Property::new(PATH, Shape::String, required, "Absolute path, or relative to the project.")
                    .create_only(),
                Property::new(CONTENT, Shape::String, required, "The text of the file."),
                Property::new(MODE, Shape::String, filled, "Permission bits in octal; default \"0644\"."),
                Property::new(
                    OVERWRITE,
                    Shape::Boolean,
                    Access::Optional,
                    "Replace an existing file when the resource is created.",
                ),
                Property::new(SHA256, Shape::String, Access::ReadOnly, "SHA-256 of the content, in hex."),
                Property::new("size", Shape::Integer, Access::ReadOnly, "Size of the content, in bytes."),
            ],
        )
    }

    fn defaults(&self) -> Map {
        [(MODE.to_owned(), Value::from("0644"))].into()
    }

    fn problems(&self, inputs: InputView<'_>) -> Vec<Problem> {
        file_path_problem(inputs).into_iter().chain(mode_problem(inputs)).collect()
    }

    /// Ignores `overwrite`, which only affects the create.
    fn significant_changes(
        &self,
        _machine: &Machine,
        _new: &Inputs,
        mut changes: Vec<Change>,
    ) -> Vec<Change> {
        changes.retain(|change| change.path.root() != Some(OVERWRITE));
        changes
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
        let found = machine.on_disk(move |files| Ok(read_file(files, &path)?)).await;
        let Some((metadata, bytes)) = found.map_err(Failure::into_refusal)? else { return Ok(None) };
        let mut inputs = with_real_mode(&recorded.inputs, metadata);
        let outputs = outputs(&bytes);
        let recorded_content = recorded.inputs.get(CONTENT).and_then(Value::as_str);
        inputs.insert(CONTENT.to_owned(), Value::from(as_text(bytes, recorded_content.unwrap_or_default())));
        Ok(Some(LiveState { inputs, outputs }))
    }

    async fn create(&self, machine: &Machine, receipt: &Receipt, inputs: &Map) -> Attempt<Created> {
        let desired = DesiredFile::of(machine, receipt, inputs)?;
        let if_exists =
            if flag(inputs, OVERWRITE)? { IfExists::Replace } else { IfExists::at_attempt(receipt) };
        let outputs = outputs(desired.content.as_bytes());
        machine.on_disk(move |files| desired.create(files, if_exists)).await?;
        Ok(Created { id: PhysicalId(text(inputs, PATH)?.to_owned()), outputs })
    }

    async fn update(
        &self,
        machine: &Machine,
        receipt: &Receipt,
        resource: &Resource,
        old_inputs: &Map,
    ) -> Attempt<Updated> {
        let desired = DesiredFile::of(machine, receipt, &resource.inputs)?;
        let outputs = outputs(desired.content.as_bytes());
        let written = written_digest(&resource.outputs, old_inputs);
        let change = ModeChange::of(old_inputs, desired.mode);
        machine.on_disk(move |files| desired.update(files, written.as_deref(), change)).await?;
        Ok(Updated { outputs })
    }

    async fn delete(&self, machine: &Machine, receipt: &Receipt, resource: &Resource) -> Attempt<()> {
        let path = machine.locate(text(&resource.inputs, PATH)?);
        let written = written_digest(&resource.outputs, &resource.inputs);
        let unique = receipt.idempotency_key().to_owned();
        let work = move |files: &dyn Files| match metadata_of(files, &path)?.map(|found| found.kind) {
            None | Some(FileKind::File) => {
                let is_written = |bytes: &[u8]| {
                    written.as_ref().is_none_or(|written| Digest::of(bytes).as_str() == written)
                };
                let (is_expected, change) = (&is_written, "was changed outside of Stead");
                ExpectedFile { path: &path, unique: &unique, is_expected, change }.remove(files)
            }
            Some(other) => Err(wrong_kind_to_delete(&path, other, "file").into()),
        };
        machine.on_disk(work).await
    }

    async fn take_back(&self, machine: &Machine, receipt: &Receipt, resource: &Resource) -> Attempt<()> {
        let path = machine.locate(text(&resource.inputs, PATH)?);
        let unique = receipt.idempotency_key().to_owned();
        machine.on_disk(move |files| give_back(files, &path, &unique)).await
    }
}

impl DesiredFile {
    fn of(machine: &Machine, receipt: &Receipt, inputs: &Map) -> Result<DesiredFile, Refusal> {
        Ok(DesiredFile {
            path: machine.locate(text(inputs, PATH)?),
            content: text(inputs, CONTENT)?.to_owned(),
            mode: mode(inputs)?,
            unique: receipt.idempotency_key().to_owned(),
        })
    }

    /// Writes the file in place of the one with the digest `written`. Refuses if the file was changed outside, and accepts the
    /// content of an earlier attempt.
    fn update(mut self, files: &dyn Files, written: Option<&str>, change: ModeChange) -> Attempt<()> {
        let path = self.path.as_path();
        if let Some(found) = metadata_of(files, path)?.filter(|found| found.kind == FileKind::File) {
            let bytes =
                files.read(path).map(Zeroizing::new).map_err(|error| io_refusal("read", path, &error))?;
            let is_written = written.is_none_or(|written| Digest::of(&bytes).as_str() == written);
            if !is_written && *bytes != self.content.as_bytes() {
                return Err(not_overwritten(path, OTHER_CONTENT).into());
            }
            self.mode = change.to_set(path, found)?;
        }
        self.create(files, IfExists::Replace)
    }

    fn create(&self, files: &dyn Files, if_exists: IfExists) -> Attempt<()> {
        let (path, bytes) = (self.path.as_path(), self.content.as_bytes());
        let write = FileWrite { path, bytes, mode: self.mode, unique: &self.unique };
        match (metadata_of(files, path)?.map(|found| found.kind), if_exists) {
            (None, _) => write.create(files, EXISTS_HINT),
            (Some(FileKind::File), IfExists::Replace) => write.replace(files),
            // Written again: the first attempt may not have set the mode or synced the folder.
            (Some(FileKind::File), IfExists::AcceptOwn) if write.is_written(files) => write.replace(files),
            (Some(FileKind::File), _) => Err(already_exists(path, EXISTS_HINT).into()),
            (Some(other), _) => Err(wrong_kind(path, other, "a file is to be written there").into()),
        }
    }
}

/// Returns the digest of the content that the record says was written or read last.
fn written_digest(outputs: &Map, inputs: &Map) -> Option<String> {
    let recorded = outputs.get(SHA256).and_then(Value::as_str).map(str::to_owned);
    let content = || inputs.get(CONTENT).and_then(Value::as_str);
    recorded.or_else(|| Some(Digest::of(content()?.as_bytes()).as_str().to_owned()))
}

/// Reads a file. A path that is no longer a file counts as deleted.
fn read_file(files: &dyn Files, path: &Path) -> Result<Option<(Metadata, Vec<u8>)>, Refusal> {
    match metadata_of(files, path)? {
        Some(found) if found.kind == FileKind::File => {
            let bytes = files.read(path).map_err(|error| io_refusal("read", path, &error))?;
            Ok(Some((found, bytes)))
        }
        _ => Ok(None),
    }
}

/// Returns the bytes as text. Bytes that are not UTF-8 never give the recorded text, so that they show as
/// drift.
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
        (SHA256.to_owned(), Value::from(Digest::of(bytes).as_str())),
        ("size".to_owned(), Value::from(bytes.len() as i64)),
    ]
    .into()
}
