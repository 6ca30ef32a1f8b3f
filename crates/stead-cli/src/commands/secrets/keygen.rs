//! `stead secrets keygen`: a new age identity. **Invariant:** the secret key is written to a file only, never to stdout.

use std::path::Path;

use serde::Serialize;
use stead_model::{Code, Diagnostic};
use zeroize::Zeroizing;

use crate::failure::{Failure, Kind};
use crate::ui::Ui;
use crate::wiring;

#[derive(Serialize)]
struct Identity<'a> {
    recipient: &'a str,
    file: String,
}

pub(super) fn keygen(output: Option<&Path>, ui: &Ui) -> Result<u8, Failure> {
    let world = wiring::world();
    let usual = || world.host.home.as_ref().map(|home| home.join(".config/stead/age.txt"));
    let Some(file) = output.map(Path::to_owned).or_else(usual) else {
        let problem = Diagnostic::error(Code::USAGE, "there is no home folder for the secret key");
        return Err(problem.help("name a file with `--output`").into());
    };
    let file = world.files.absolute(&file).unwrap_or(file);
    let failed = |error: std::io::Error| {
        let message = match error.kind() {
            std::io::ErrorKind::AlreadyExists => {
                format!("{} exists, and a secret key is never overwritten", file.display())
            }
            _ => format!("cannot write {}: {error}", file.display()),
        };
        let problem = Diagnostic::error(Code::STORE, message).note("Nothing was changed.");
        Failure::new(Kind::Failed, problem.help("name another file with `--output`"))
    };
    let identity = stead::secrets::new_identity();
    let text = Zeroizing::new(format!("# public key: {}\n{}\n", identity.recipient, *identity.secret));
    if let Some(folder) = file.parent() {
        world.files.ensure_private_folder(folder).map_err(failed)?;
    }
    let write = || {
        let unique = world.entropy.uuid()?;
        world.files.write_exclusively(&file, text.as_bytes(), 0o600, &unique)
    };
    write().map_err(failed)?;
    ui.note(&format!("The secret key is in {}. Keep it; share only the public key:", file.display()));
    ui.result(&format!("{}\n", identity.recipient));
    ui.json("identity", &Identity { recipient: &identity.recipient, file: file.display().to_string() });
    Ok(0)
}
