//! `local.KeyPair`: an Ed25519 key pair in two files, as SSH uses them.
//!
//! **Invariant:** the private key exists only in its file: not in inputs, outputs, errors or state. A key
//! that this provider did not create is never overwritten or adopted.

mod openssh;

use std::path::PathBuf;

use async_trait::async_trait;
use sha2::{Digest as _, Sha256};
use stead_model::{Hint, Map, NextStep, PhysicalId, Resource, Value};
use stead_provider::{Created, LiveState, Reads, Receipt, Refusal, Updated};
use stead_schema::{Access, Problem, Property, Shape, TypeSchema};
use stead_world::{FileKind, Files};
use zeroize::Zeroizing;

use self::openssh::{PrivateKeyFile, PublicKey, private_text};
use super::random_string::no_randomness;
use crate::failure::{Attempt, Failure, io_refusal};
use crate::files::disk::{ExpectedFile, FileWrite, give_back, metadata_of, remove};
use crate::files::path::{
    PATH, already_exists, changed_outside, file_path_problem, not_overwritten, wrong_kind,
    wrong_kind_to_delete,
};
use crate::inputs::{InputView, problem, text};
use crate::machine::Machine;
use crate::types::{IfExists, ResourceType};

const COMMENT: &str = "comment";
const FINGERPRINT: &str = "fingerprint";
const PUBLIC_KEY: &str = "publicKey";
const PRIVATE_MODE: u32 = 0o600;
const PUBLIC_MODE: u32 = 0o644;

/// Why a public key is not overwritten.
const OTHER_PUBLIC_KEY: &str = "was changed outside of Stead: its content is not the recorded one";

/// Why a private key is not deleted.
const ANOTHER_KEY: &str = "is another key than the one that this stack created";

/// Hint for a key that already exists.
const EXISTS_HINT: &str = "move it away, or choose another `path`; a key is never overwritten";

pub(crate) struct KeyPair;

/// The two files of a key pair, and the comment of the key.
struct KeyFiles {
    private: PathBuf,
    public: PathBuf,
    comment: String,
}

/// Whether the public key file is part of a pair that exists already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PublicFile {
    New,
    Own,
}

/// The pair that was written or read last.
struct RecordedPair {
    fingerprint: String,
    line: Option<String>,
}

/// Marks of one operation, by which a retry recognises the files of an earlier attempt.
struct OperationMark {
    unique: String,
    /// Number in the private key file, in a field that OpenSSH fills with a random number.
    number: u32,
}

#[async_trait]
impl ResourceType for KeyPair {
    fn schema(&self) -> TypeSchema {
        let output = |name, doc| Property::new(name, Shape::String, Access::ReadOnly, doc).stable();
        TypeSchema::new(
            "local.KeyPair",
            "An Ed25519 key pair for SSH: the private key in a file at `path`, unencrypted and readable by its owner \
             only, the public key in `path.pub`. The private key is never in a plan or in state.",
            vec![
                Property::new(PATH, Shape::String, Access::Required, "Where the private key is written.")
                    .create_only(),
                Property::new(COMMENT, Shape::String, Access::Filled, "The comment of the public key."),
                Property::new(PUBLIC_KEY, Shape::String, Access::ReadOnly, "The public key, as one line."),
                output(FINGERPRINT, "The public key's SHA-256, as `ssh-keygen -l` shows it."),
            ],
        )
    }

    fn defaults(&self) -> Map {
        [(COMMENT.to_owned(), Value::from(""))].into()
    }

    fn problems(&self, inputs: InputView<'_>) -> Vec<Problem> {
        let comment = inputs.text(COMMENT).filter(|comment| comment.contains(char::is_control)).map(|_| {
            problem(COMMENT, "`comment` is more than one line", "remove line ends and control characters")
        });
        file_path_problem(inputs).into_iter().chain(comment).collect()
    }

    fn inputs_from_id(&self, id: &str) -> Option<Map> {
        Some([(PATH.to_owned(), Value::from(id))].into())
    }

    fn reads(&self) -> Reads {
        Reads::RealResource
    }

    fn places(&self, machine: &Machine, inputs: &Map) -> Vec<PathBuf> {
        let Ok(path) = text(inputs, PATH) else { return Vec::new() };
        vec![machine.locate(path), machine.locate(&public_path(path))]
    }

    async fn read(&self, machine: &Machine, recorded: &LiveState) -> Result<Option<LiveState>, Refusal> {
        let pair = KeyFiles::of(machine, &recorded.inputs)?;
        let recorded = recorded.inputs.clone();
        machine.on_disk(move |files| Ok(pair.read(files, recorded)?)).await.map_err(Failure::into_refusal)
    }

    async fn create(&self, machine: &Machine, receipt: &Receipt, inputs: &Map) -> Attempt<Created> {
        let (pair, mark) = (KeyFiles::of(machine, inputs)?, OperationMark::of(receipt));
        let if_exists = IfExists::at_attempt(receipt);
        let mut seed = Zeroizing::new([0; 32]);
        machine.world.entropy.fill(seed.as_mut_slice()).map_err(|error| no_randomness(&error))?;
        let outputs = machine.on_disk(move |files| pair.create(files, &mark, &seed, if_exists)).await?;
        Ok(Created { id: PhysicalId(text(inputs, PATH)?.to_owned()), outputs })
    }

    async fn update(
        &self,
        machine: &Machine,
        receipt: &Receipt,
        resource: &Resource,
        old_inputs: &Map,
    ) -> Attempt<Updated> {
        let (pair, mark) = (KeyFiles::of(machine, &resource.inputs)?, OperationMark::of(receipt));
        let recorded = RecordedPair::of(old_inputs, &resource.outputs);
        let outputs = machine.on_disk(move |files| pair.update(files, &mark, recorded.as_ref())).await?;
        Ok(Updated { outputs })
    }

    async fn delete(&self, machine: &Machine, receipt: &Receipt, resource: &Resource) -> Attempt<()> {
        let pair = KeyFiles::at(machine, text(&resource.inputs, PATH)?, String::new());
        let recorded = RecordedPair::of(&resource.inputs, &resource.outputs);
        let unique = receipt.idempotency_key().to_owned();
        let created = recorded.map(|recorded| recorded.fingerprint);
        machine.on_disk(move |files| pair.delete(files, created.as_deref(), &unique)).await
    }

    async fn take_back(&self, machine: &Machine, receipt: &Receipt, resource: &Resource) -> Attempt<()> {
        let path = machine.locate(text(&resource.inputs, PATH)?);
        let unique = receipt.idempotency_key().to_owned();
        machine.on_disk(move |files| give_back(files, &path, &unique)).await
    }
}

impl OperationMark {
    fn of(receipt: &Receipt) -> OperationMark {
        let unique = receipt.idempotency_key().to_owned();
        let digest = Sha256::digest(unique.as_bytes());
        OperationMark { number: u32::from_be_bytes([digest[0], digest[1], digest[2], digest[3]]), unique }
    }
}

impl RecordedPair {
    /// `None`: a refresh has already recorded that the two files do not belong together, and so removed the comment.
    fn of(inputs: &Map, outputs: &Map) -> Option<RecordedPair> {
        inputs.get(COMMENT)?;
        let text = |name: &str| outputs.get(name).and_then(Value::as_str).map(str::to_owned);
        Some(RecordedPair { fingerprint: text(FINGERPRINT)?, line: text(PUBLIC_KEY) })
    }
}

impl KeyFiles {
    fn of(machine: &Machine, inputs: &Map) -> Result<KeyFiles, Refusal> {
        Ok(KeyFiles::at(machine, text(inputs, PATH)?, text(inputs, COMMENT)?.to_owned()))
    }

    fn at(machine: &Machine, path: &str, comment: String) -> KeyFiles {
        KeyFiles { private: machine.locate(path), public: machine.locate(&public_path(path)), comment }
    }

    fn create(
        &self,
        files: &dyn Files,
        mark: &OperationMark,
        seed: &[u8; 32],
        if_exists: IfExists,
    ) -> Attempt<Map> {
        let existing = (metadata_of(files, &self.private)?, metadata_of(files, &self.public)?);
        match existing {
            (None, None) => self.create_new(files, mark, seed),
            // An earlier attempt wrote the private key first: without it, the public key is another's.
            (Some(_), _) if if_exists == IfExists::AcceptOwn && self.has_mark(files, mark)? => {
                self.rewrite_public(files, mark)
            }
            (Some(_), _) => Err(already_exists(&self.private, EXISTS_HINT).into()),
            (None, Some(_)) => Err(already_exists(&self.public, EXISTS_HINT).into()),
        }
    }

    fn create_new(&self, files: &dyn Files, mark: &OperationMark, seed: &[u8; 32]) -> Attempt<Map> {
        let text = private_text(seed, mark.number, &self.comment);
        let (path, bytes) = (self.private.as_path(), text.as_bytes());
        FileWrite { path, bytes, mode: PRIVATE_MODE, unique: &mark.unique }.create(files, EXISTS_HINT)?;
        let public = self.write_public(files, mark, PublicKey::of(seed), PublicFile::New);
        if let Err(Failure::Refused(_)) = &public {
            // A refusal states that nothing was created, so the private key must not stay.
            remove(files, path).map_err(|_| {
                let (private, public) = (path.display(), self.public.display());
                Failure::in_doubt(format!("{private} was written, but {public} could not be"))
            })?;
        }
        public
    }

    fn write_public(
        &self,
        files: &dyn Files,
        mark: &OperationMark,
        key: PublicKey,
        file: PublicFile,
    ) -> Attempt<Map> {
        let line = key.line(&self.comment);
        let (path, bytes) = (self.public.as_path(), format!("{line}\n"));
        let write = FileWrite { path, bytes: bytes.as_bytes(), mode: PUBLIC_MODE, unique: &mark.unique };
        match file {
            PublicFile::New => write.create(files, EXISTS_HINT)?,
            PublicFile::Own => write.replace(files)?,
        }
        Ok(outputs(line, key))
    }

    /// Writes the public key file with the new comment. Refuses if one of the two files was changed outside.
    fn update(
        &self,
        files: &dyn Files,
        mark: &OperationMark,
        recorded: Option<&RecordedPair>,
    ) -> Attempt<Map> {
        let private = self.private_file(files)?.ok_or_else(|| self.unreadable())?.public;
        if let Some(RecordedPair { fingerprint, line }) = recorded {
            if private.fingerprint() != *fingerprint {
                return Err(not_overwritten(&self.private, ANOTHER_KEY).into());
            }
            let desired = private.line(&self.comment);
            let known = |text: &str| text == desired || line.as_ref().is_none_or(|line| text == line);
            let text = self.public_text(files)?;
            if text.is_some_and(|text| !known(text.trim_end_matches(['\n', '\r']))) {
                return Err(not_overwritten(&self.public, OTHER_PUBLIC_KEY).into());
            }
        }
        self.rewrite_public(files, mark)
    }

    /// Writes the public key file again, from the private key.
    fn rewrite_public(&self, files: &dyn Files, mark: &OperationMark) -> Attempt<Map> {
        if let Some(found) = metadata_of(files, &self.public)?.filter(|found| found.kind != FileKind::File) {
            return Err(wrong_kind(&self.public, found.kind, "a public key is to be written there").into());
        }
        let key = self.private_file(files)?.ok_or_else(|| self.unreadable())?.public;
        self.write_public(files, mark, key, PublicFile::Own)
    }

    /// Returns true if an earlier attempt at this operation wrote the private key, and the public key belongs
    /// to it.
    fn has_mark(&self, files: &dyn Files, mark: &OperationMark) -> Result<bool, Refusal> {
        let Some(file) = self.private_file(files)?.filter(|file| file.mark == Some(mark.number)) else {
            return Ok(false);
        };
        if metadata_of(files, &self.public)?.is_none() {
            return Ok(true);
        }
        Ok(self.public_text(files)?.and_then(|text| Some(PublicKey::parse(&text)?.0)) == Some(file.public))
    }

    /// Reads the private key file; `None` if it is no OpenSSH key.
    fn private_file(&self, files: &dyn Files) -> Result<Option<PrivateKeyFile>, Refusal> {
        if metadata_of(files, &self.private)?.is_none_or(|found| found.kind != FileKind::File) {
            return Ok(None);
        }
        let bytes = files.read(&self.private).map_err(|error| io_refusal("read", &self.private, &error))?;
        Ok(PrivateKeyFile::parse(&Zeroizing::new(bytes)))
    }

    fn public_text(&self, files: &dyn Files) -> Result<Option<String>, Refusal> {
        if metadata_of(files, &self.public)?.is_none_or(|found| found.kind != FileKind::File) {
            return Ok(None);
        }
        let bytes = files.read(&self.public).map_err(|error| io_refusal("read", &self.public, &error))?;
        Ok(Some(String::from_utf8_lossy(&bytes).into_owned()))
    }

    /// Reads the pair. Without its own public key file it has no comment, so that an update writes the file
    /// again.
    fn read(&self, files: &dyn Files, mut inputs: Map) -> Result<Option<LiveState>, Refusal> {
        if metadata_of(files, &self.private)?.is_none_or(|found| found.kind != FileKind::File) {
            return Ok(None);
        }
        let private = self.private_file(files)?.map(|file| file.public);
        let text = self.public_text(files)?;
        let public = text.as_deref().and_then(PublicKey::parse);
        match public {
            Some((key, comment)) if Some(key) == private => {
                inputs.insert(COMMENT.to_owned(), Value::from(comment));
            }
            _ => {
                inputs.remove(COMMENT);
            }
        }
        let outputs = match (public, private) {
            (Some((key, comment)), _) => outputs(key.line(comment), key),
            (None, Some(key)) => outputs(key.line(""), key),
            (None, None) => Map::new(),
        };
        Ok(Some(LiveState { inputs, outputs }))
    }

    /// Deletes the pair. Refuses if the private key is not the one with the fingerprint `created`.
    fn delete(&self, files: &dyn Files, created: Option<&str>, unique: &str) -> Attempt<()> {
        for path in [&self.public, &self.private] {
            if let Some(found) = metadata_of(files, path)?.filter(|found| found.kind != FileKind::File) {
                return Err(wrong_kind_to_delete(path, found.kind, "key").into());
            }
        }
        let present = metadata_of(files, &self.private)?.is_some();
        if let Some(created) = created.filter(|_| present)
            && self.private_file(files)?.is_none_or(|file| file.public.fingerprint() != created)
        {
            return Err(changed_outside(&self.private, ANOTHER_KEY).into());
        }
        remove(files, &self.public)?;
        let is_created = |bytes: &[u8]| {
            let parsed = || PrivateKeyFile::parse(bytes);
            created.is_none_or(|created| parsed().is_some_and(|file| file.public.fingerprint() == created))
        };
        let (path, is_expected, change) = (self.private.as_path(), &is_created, ANOTHER_KEY);
        ExpectedFile { path, unique, is_expected, change }.remove(files).map_err(|failure| {
            let Refusal { message, .. } = failure.into_refusal();
            Failure::in_doubt(format!("{} is deleted, but: {message}", self.public.display()))
        })
    }

    fn unreadable(&self) -> Refusal {
        let path = self.private.display();
        Refusal::new(format!("{path} is no longer an Ed25519 private key of OpenSSH")).at(PATH).help(
            Hint::text("restore the key; or delete the file, ")
                .then(NextStep::Refresh)
                .and(" and let a new pair be created"),
        )
    }
}

fn public_path(path: &str) -> String {
    format!("{path}.pub")
}

fn outputs(line: String, key: PublicKey) -> Map {
    [(PUBLIC_KEY.to_owned(), Value::from(line)), (FINGERPRINT.to_owned(), Value::from(key.fingerprint()))]
        .into()
}
