//! `stead config import --from pulumi FILE`: takes config and secrets over from another tool.

use std::path::Path;

use serde::Serialize;
use stead::config::Key;
use stead::{ImportedConfig, PulumiConfig};
use stead_model::{Code, Diagnostic};
use zeroize::Zeroizing;

use crate::ask::read_hidden;
use crate::failure::{Failure, Kind};
use crate::session::Session;
use crate::ui::Ui;

const VARIABLE: &str = "PULUMI_CONFIG_PASSPHRASE";
const FILE_VARIABLE: &str = "PULUMI_CONFIG_PASSPHRASE_FILE";

#[derive(Serialize)]
struct Imported<'a> {
    file: &'a str,
    plain: Vec<String>,
    secret: Vec<String>,
}

pub(super) async fn pulumi(session: &Session, file: &Path, ui: &Ui) -> Result<u8, Failure> {
    let shown = file.display().to_string();
    let source = PulumiConfig::read(&session.project, file, &shown)?;
    let crypter = match source.has_secrets() {
        true => {
            source.check_passphrase_managed()?;
            let passphrase = passphrase(session, &shown, ui)?;
            Some(source.unlock(&passphrase)?)
        }
        false => None,
    };
    let environment = &session.environment().name;
    let imported = session.project.import_pulumi_config(environment, &source, crypter.as_ref()).await?;
    let ImportedConfig { file, plain, secret } = &imported;
    let names = |keys: &[Key]| keys.iter().map(Key::to_string).collect::<Vec<String>>();
    let (plain, secret) = (names(plain), names(secret));
    ui.json("config_imported", &Imported { file, plain: plain.clone(), secret: secret.clone() });
    plain.iter().for_each(|key| ui.result(&format!("Set {key} in {file}.\n")));
    secret.iter().for_each(|key| ui.result(&format!("Set {key} in {file}, encrypted.\n")));
    if plain.is_empty() && secret.is_empty() {
        ui.note(&format!("{shown} sets no config."));
    }
    Ok(0)
}

/// Returns the passphrase of the Pulumi stack, which may be empty: from the variables that Pulumi reads, or from the person.
fn passphrase(session: &Session, shown: &str, ui: &Ui) -> Result<Zeroizing<String>, Failure> {
    let world = &session.workspace.stack.world;
    let variables = &world.host.variables;
    if let Some(text) = variables.get(VARIABLE) {
        return Ok(Zeroizing::new(text.to_owned()));
    }
    if let Some(path) = variables.get(FILE_VARIABLE) {
        let bytes = world.files.read(Path::new(path)).ok().map(Zeroizing::new);
        let text = bytes.as_ref().and_then(|bytes| str::from_utf8(bytes).ok()).map(str::trim);
        let text = text.ok_or_else(|| missing(&format!("{path} cannot be read as text")))?;
        return Ok(Zeroizing::new(text.to_owned()));
    }
    let asked = ui.can_ask().then(|| read_hidden(&format!("Passphrase of {shown}: "))).flatten();
    asked.ok_or_else(|| missing("no passphrase of the Pulumi stack is set"))
}

fn missing(why: &str) -> Failure {
    let problem =
        Diagnostic::error(Code::SECRETS_LOCKED, format!("the secrets in the file are locked: {why}"))
            .note("Nothing was changed.")
            .help(format!("set {VARIABLE} to the passphrase, or {FILE_VARIABLE} to a file that contains it"));
    Failure::new(Kind::Failed, problem)
}
