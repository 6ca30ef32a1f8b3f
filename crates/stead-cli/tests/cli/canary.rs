//! Random secrets that every project carries, and the search for them when it is dropped.
//!
//! The commands of a project get three secrets: the value of the config key `canary`, the age identity that opens it, and a variable
//! that no program is granted. [`Canary::in_file`] declares a resource and an output made of the first one. When the project is
//! dropped, no file and no output of its commands may contain a secret in any form of [`Needles`], a long line of one, or the SHA-256 of
//! one. The environment variable
//! `STEAD_CANARY_SEED` repeats the secrets of a failed run.

mod tests;

use std::borrow::Cow;
use std::cell::RefCell;
use std::hash::{BuildHasher as _, RandomState};
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use flate2::read::GzDecoder;
use stead::secrets::{Needles, NewIdentity, new_identity};

use crate::random::Random;

/// Pieces that secrets are made of: quotes, line breaks, other scripts, look-alikes of base64 and of escapes.
const PIECES: [&str; 14] =
    ["\"", "'", "\\", "\n", "\t", " ", "ü", "日本", "🗝", "aGVsbG8=", "%41", "\\u0041", "</script>", "&"];
const LETTERS: &[u8; 62] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

/// Folder of a project for real resources that are made of secrets.
const REAL: &str = "real";

/// Line before the declarations of the canary.
const MARK: &str = "// canary";

/// Declarations that are made from the secret.
const DECLARED: &str = r#"
import { config as canaryConfig } from "stead";
import * as canaryLocal from "stead/local";
const canary = canaryConfig.secret("canary");
new canaryLocal.Data({ value: { url: `https://ada:${canary}@host`, all: [canary, 1] } }, { id: "canary" });
export const canaryUrl = `https://ada:${canary}@host`;
"#;

/// Whether the program of a project has the resource made of the secret.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Carries {
    Secret,
    /// The test looks at every resource of its program, so none is added.
    Nothing,
}

/// The secrets of one project, and the output of its commands.
pub(crate) struct Canary {
    seed: u64,
    carries: Carries,
    /// Value of the config key.
    value: String,
    /// Value of a variable that no program reads.
    ambient: String,
    identity: NewIdentity,
    printed: RefCell<Vec<u8>>,
    /// Folders in which every file is searched.
    folders: Vec<PathBuf>,
}

impl Canary {
    /// Returns the canary of a project that writes to these folders. The project's own folder is the first.
    pub(crate) fn new(carries: Carries, folders: Vec<PathBuf>) -> Canary {
        let seed = next_seed();
        let mut random = Random(seed);
        let (value, ambient) = (draw(&mut random), draw(&mut random));
        let (identity, printed) = (new_identity(), RefCell::default());
        Canary { seed, carries, value, ambient, identity, printed, folders }
    }

    /// Adds the secrets to the environment of a command.
    pub(crate) fn add_to(&self, command: &mut Command) {
        command.env("AMBIENT_TOKEN", &self.ambient);
        if self.carries == Carries::Secret {
            command.env("STEAD_CONFIG_CANARY", &self.value).env("STEAD_AGE_KEY", &*self.identity.secret);
        }
    }

    /// Returns the text that the test writes to a file, with the declarations in `main.ts` and the public key in `stead.toml`.
    pub(crate) fn in_file<'t>(&self, file: &str, text: &'t str) -> Cow<'t, str> {
        match file {
            _ if self.carries == Carries::Nothing => text.into(),
            "main.ts" if !text.contains(MARK) => format!("{text}\n{MARK}{DECLARED}").into(),
            "stead.toml" if !text.contains("[secrets") => {
                let recipient = &self.identity.recipient;
                format!("{text}\n[secrets.recipients]\ncanary = \"{recipient}\"\n").into()
            }
            _ => text.into(),
        }
    }

    /// Takes note of an output.
    pub(crate) fn printed(&self, output: &[u8]) {
        self.printed.borrow_mut().extend_from_slice(output);
    }

    /// Returns the first file or output with a secret. Resources in the folder `real` may have one.
    fn leak(&self) -> Option<String> {
        let needles = Needles::with_digests([&*self.value, &*self.ambient, &*self.identity.secret]);
        let printed = self.printed.borrow();
        if let Some(line) = printed.split(|byte| *byte == b'\n').find(|line| needles.are_in_message(line)) {
            return Some(format!("an output has a secret: {}", String::from_utf8_lossy(line)));
        }
        if needles.are_in_message(&*printed) {
            return Some(format!("an output has a secret:\n{}", String::from_utf8_lossy(&printed)));
        }
        let mut files = Vec::new();
        self.folders.iter().for_each(|folder| collect(folder, &mut files));
        let leaks = |path: &PathBuf| {
            // Real resources have their secrets in the clear.
            if path.parent() == Some(&self.folders[0].join(REAL)) {
                return false;
            }
            let Ok(bytes) = std::fs::read(path) else { return false };
            needles.are_in_message(unpacked(&bytes))
                || needles.are_in_message(path.as_os_str().as_encoded_bytes())
        };
        files.iter().find(|path| leaks(path)).map(|path| format!("{} has a secret", path.display()))
    }
}

impl Drop for Canary {
    #[allow(clippy::print_stderr, reason = "a failed test tells how to repeat it")]
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("the secrets of this project: STEAD_CANARY_SEED={}", self.seed);
        } else if let Some(leak) = self.leak() {
            panic!("{leak}\nSTEAD_CANARY_SEED={}", self.seed);
        }
    }
}

/// Returns a seed that only this project has. It depends on the test and on the seed of the whole run.
fn next_seed() -> u64 {
    static RUN: OnceLock<Option<u64>> = OnceLock::new();
    let given =
        RUN.get_or_init(|| std::env::var("STEAD_CANARY_SEED").ok().and_then(|text| text.parse().ok()));
    given.unwrap_or_else(|| RandomState::new().hash_one("canary"))
}

/// Draws a secret of 8 bytes to 16 KiB. It begins with eight letters, so that it is in no text by chance.
fn draw(random: &mut Random) -> String {
    let order = if random.one_in(16) { 8 + random.below(6) } else { 3 + random.below(5) };
    let length = (1 << order) + random.below(1 << order) as usize;
    let letter = |random: &mut Random| char::from(LETTERS[random.below(LETTERS.len() as u64) as usize]);
    let mut secret: String = (0..8).map(|_| letter(random)).collect();
    let plain = random.one_in(4);
    while secret.len() < length && !random.one_in(64) {
        match plain {
            true => secret.push(letter(random)),
            false => secret.push_str(PIECES[random.below(PIECES.len() as u64) as usize]),
        }
    }
    secret
}

fn collect(folder: &Path, found: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let path = entry.path();
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => collect(&path, found),
            Ok(kind) if kind.is_file() => found.push(path),
            _ => {}
        }
    }
}

/// Returns the content of a packed file, and other bytes as they are.
fn unpacked(bytes: &[u8]) -> Cow<'_, [u8]> {
    if !bytes.starts_with(&[0x1f, 0x8b]) {
        return bytes.into();
    }
    let mut content = Vec::new();
    // An error means that the rest of the file is damaged, which some tests do.
    let _ = GzDecoder::new(bytes).read_to_end(&mut content);
    content.into()
}
