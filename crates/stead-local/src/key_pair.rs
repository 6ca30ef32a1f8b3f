//! `local.KeyPair`: an Ed25519 key pair in two files, as SSH uses them.
//!
//! **Invariant:** the private key is in its file and nowhere else: not in inputs, outputs, errors or state.
//! A key that this provider did not make is never overwritten and never taken for ours.

use std::collections::BTreeMap;
use std::path::PathBuf;

use async_trait::async_trait;
use sha2::{Digest as _, Sha256};
use stead_model::{Input, Map, PhysicalId, Resource, Value};
use stead_provider::{Created, Live, Receipt, Refusal, Updated};
use stead_schema::{Access, Change, Problem, Property, Shape, TypeSchema};
use stead_world::{FileKind, Files};
use zeroize::Zeroizing;

use crate::disk::{Draft, look, remove};
use crate::failure::{Attempt, Failure, unable};
use crate::given::{Given, problem, text};
use crate::kind::{IfTaken, Kind};
use crate::machine::Machine;
use crate::openssh::{Found, PublicKey, private_text};
use crate::place::{PATH, file_path_problem, in_the_way, not_ours_to_delete, taken, without_respelling};
use crate::random_string::no_randomness;

const COMMENT: &str = "comment";
const PRIVATE_MODE: u32 = 0o600;
const PUBLIC_MODE: u32 = 0o644;

/// What to do about something that is there already.
const TAKEN: &str = "move it away, or choose another `path`; a key is never overwritten";

pub(crate) struct KeyPair;

/// Where a pair is, and what goes with the key.
struct Pair {
    private: PathBuf,
    public: PathBuf,
    comment: String,
}

/// What tells the work of one operation from everybody else's.
struct Ours {
    unique: String,
    /// In the private key's file, where OpenSSH has a number without a meaning of its own.
    mark: u32,
}

#[async_trait]
impl Kind for KeyPair {
    fn schema(&self) -> TypeSchema {
        let output = |name, doc| Property::new(name, Shape::String, Access::ReadOnly, doc).stable();
        TypeSchema::new(
            "local.KeyPair",
            "An Ed25519 key pair for SSH: the private key in a file at `path`, unencrypted and for its owner \
             only, the public one in `path.pub`. The private key is in no plan and in no state.",
            vec![
                Property::new(PATH, Shape::String, Access::Required, "Where the private key is written.")
                    .create_only(),
                Property::new(COMMENT, Shape::String, Access::Filled, "What stands behind the public key."),
                Property::new("publicKey", Shape::String, Access::ReadOnly, "The public key, as one line."),
                output("fingerprint", "The public key's SHA-256, as `ssh-keygen -l` shows it."),
            ],
        )
    }

    fn defaults(&self) -> Map {
        [(COMMENT.to_owned(), Value::from(""))].into()
    }

    fn problems(&self, inputs: Given<'_>) -> Vec<Problem> {
        let comment = inputs.text(COMMENT).filter(|comment| comment.contains(char::is_control)).map(|_| {
            problem(COMMENT, "`comment` is more than one line", "remove ends of lines and control characters")
        });
        file_path_problem(inputs).into_iter().chain(comment).collect()
    }

    fn weigh(&self, machine: &Machine, _new: &BTreeMap<String, Input>, changes: Vec<Change>) -> Vec<Change> {
        without_respelling(machine, changes)
    }

    fn of_id(&self, id: &str) -> Option<Map> {
        Some([(PATH.to_owned(), Value::from(id))].into())
    }

    async fn read(&self, machine: &Machine, recorded: &Live) -> Result<Option<Live>, Refusal> {
        let pair = Pair::of(machine, &recorded.inputs)?;
        let recorded = recorded.inputs.clone();
        machine.on_disk(move |files| Ok(pair.read(files, recorded)?)).await.map_err(Failure::into_refusal)
    }

    async fn create(&self, machine: &Machine, receipt: &Receipt, inputs: &Map) -> Attempt<Created> {
        let (pair, ours) = (Pair::of(machine, inputs)?, Ours::of(receipt));
        let if_taken = IfTaken::at_attempt(receipt);
        let mut seed = Zeroizing::new([0; 32]);
        machine.world.entropy.fill(seed.as_mut_slice()).map_err(|error| no_randomness(&error))?;
        let outputs = machine.on_disk(move |files| pair.create(files, &ours, &seed, if_taken)).await?;
        Ok(Created { id: PhysicalId(text(inputs, PATH)?.to_owned()), outputs })
    }

    async fn update(
        &self,
        machine: &Machine,
        receipt: &Receipt,
        resource: &Resource,
        _old_inputs: &Map,
    ) -> Attempt<Updated> {
        let (pair, ours) = (Pair::of(machine, &resource.inputs)?, Ours::of(receipt));
        let outputs = machine.on_disk(move |files| pair.rewrite_public(files, &ours)).await?;
        Ok(Updated { outputs })
    }

    async fn delete(&self, machine: &Machine, _receipt: &Receipt, resource: &Resource) -> Attempt<()> {
        let pair = Pair::of(machine, &resource.inputs)?;
        machine.on_disk(move |files| pair.delete(files)).await
    }
}

impl Ours {
    fn of(receipt: &Receipt) -> Ours {
        let unique = receipt.idempotency_key().to_owned();
        let digest = Sha256::digest(unique.as_bytes());
        Ours { mark: u32::from_be_bytes([digest[0], digest[1], digest[2], digest[3]]), unique }
    }
}

impl Pair {
    fn of(machine: &Machine, inputs: &Map) -> Result<Pair, Refusal> {
        let path = text(inputs, PATH)?;
        Ok(Pair {
            private: machine.locate(path),
            public: machine.locate(&format!("{path}.pub")),
            comment: text(inputs, COMMENT)?.to_owned(),
        })
    }

    fn create(&self, files: &dyn Files, ours: &Ours, seed: &[u8; 32], if_taken: IfTaken) -> Attempt<Map> {
        let there = (look(files, &self.private)?, look(files, &self.public)?);
        match there {
            (None, None) => self.make(files, ours, seed),
            // The private key is written first: without it, no part of the pair is ours.
            (Some(_), _) if if_taken == IfTaken::AcceptOurs && self.is_ours(files, ours)? => {
                self.rewrite_public(files, ours)
            }
            (Some(_), _) => Err(taken(&self.private, TAKEN).into()),
            (None, Some(_)) => Err(taken(&self.public, TAKEN).into()),
        }
    }

    fn make(&self, files: &dyn Files, ours: &Ours, seed: &[u8; 32]) -> Attempt<Map> {
        let text = private_text(seed, ours.mark, &self.comment);
        let (path, bytes) = (self.private.as_path(), text.as_bytes());
        Draft { path, bytes, mode: PRIVATE_MODE, unique: &ours.unique }.put(files)?;
        let public = self.put_public(files, ours, PublicKey::of(seed));
        if let Err(Failure::Refused(_)) = &public {
            // A refusal says that nothing was made, so nothing may stay.
            remove(files, path).map_err(|_| {
                let (private, public) = (path.display(), self.public.display());
                Failure::in_doubt(format!("{private} was written, but {public} could not be"))
            })?;
        }
        public
    }

    fn put_public(&self, files: &dyn Files, ours: &Ours, key: PublicKey) -> Attempt<Map> {
        let line = key.line(&self.comment);
        let (path, bytes) = (self.public.as_path(), format!("{line}\n"));
        Draft { path, bytes: bytes.as_bytes(), mode: PUBLIC_MODE, unique: &ours.unique }.put(files)?;
        Ok(outputs(line, key))
    }

    /// Writes the public key's file anew, from the private one.
    fn rewrite_public(&self, files: &dyn Files, ours: &Ours) -> Attempt<Map> {
        if let Some(found) = look(files, &self.public)?.filter(|found| found.kind != FileKind::File) {
            return Err(in_the_way(&self.public, found.kind, "a public key is to be written there").into());
        }
        let key = self.found(files)?.ok_or_else(|| self.unreadable())?.public;
        self.put_public(files, ours, key)
    }

    /// Whether an earlier attempt at this operation wrote the private key, and nobody has put another
    /// public one beside it.
    fn is_ours(&self, files: &dyn Files, ours: &Ours) -> Result<bool, Refusal> {
        let Some(found) = self.found(files)?.filter(|found| found.mark == Some(ours.mark)) else {
            return Ok(false);
        };
        if look(files, &self.public)?.is_none() {
            return Ok(true);
        }
        Ok(self.public_text(files)?.and_then(|text| Some(PublicKey::parse(&text)?.0)) == Some(found.public))
    }

    /// What the private key's file tells, or `None` if it tells nothing.
    fn found(&self, files: &dyn Files) -> Result<Option<Found>, Refusal> {
        if look(files, &self.private)?.is_none_or(|found| found.kind != FileKind::File) {
            return Ok(None);
        }
        let bytes = files.read(&self.private).map_err(|error| unable("read", &self.private, &error))?;
        Ok(Found::parse(&Zeroizing::new(bytes)))
    }

    fn public_text(&self, files: &dyn Files) -> Result<Option<String>, Refusal> {
        if look(files, &self.public)?.is_none_or(|found| found.kind != FileKind::File) {
            return Ok(None);
        }
        let bytes = files.read(&self.public).map_err(|error| unable("read", &self.public, &error))?;
        Ok(Some(String::from_utf8_lossy(&bytes).into_owned()))
    }

    /// A public key that is gone, damaged or another one has no comment of ours: to set it again is what
    /// brings the file back.
    fn read(&self, files: &dyn Files, mut inputs: Map) -> Result<Option<Live>, Refusal> {
        if look(files, &self.private)?.is_none_or(|found| found.kind != FileKind::File) {
            return Ok(None);
        }
        let private = self.found(files)?.map(|found| found.public);
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
        Ok(Some(Live { inputs, outputs }))
    }

    fn delete(&self, files: &dyn Files) -> Attempt<()> {
        for path in [&self.public, &self.private] {
            if let Some(found) = look(files, path)?.filter(|found| found.kind != FileKind::File) {
                return Err(not_ours_to_delete(path, found.kind, "key").into());
            }
        }
        remove(files, &self.public)?;
        remove(files, &self.private).map_err(|failure| {
            let Refusal { message, .. } = failure.into_refusal();
            Failure::in_doubt(format!("{} is deleted, but: {message}", self.public.display()))
        })
    }

    fn unreadable(&self) -> Refusal {
        let path = self.private.display();
        Refusal::new(format!("{path} is not an Ed25519 private key of OpenSSH any more"))
            .at(PATH)
            .help("put the key back; or delete the file, run `stead refresh` and have a new pair made")
    }
}

fn outputs(line: String, key: PublicKey) -> Map {
    [("publicKey".to_owned(), Value::from(line)), ("fingerprint".to_owned(), Value::from(key.fingerprint()))]
        .into()
}
