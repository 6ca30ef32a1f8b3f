//! `stead config set` and `stead config rm`: edits of `stead.ENV.toml`.

use std::io::Read as _;

use serde::Serialize;
use stead::Written;
use stead::config::Key;
use stead_model::{Code, Diagnostic};
use zeroize::Zeroizing;

use crate::ask::read_hidden;
use crate::failure::{Failure, Kind};
use crate::redact;
use crate::session::Session;
use crate::ui::Ui;

#[derive(Serialize)]
struct Changed<'a> {
    key: String,
    file: &'a str,
    /// `set` or `removed`.
    change: &'static str,
    secret: bool,
}

pub(super) async fn set(
    session: &Session,
    secret: bool,
    key: &str,
    value: Option<&str>,
    ui: &Ui,
) -> Result<u8, Failure> {
    let key = parse(key)?;
    let text = match value {
        Some("-") => from_stdin()?,
        Some(text) => Zeroizing::new(text.to_owned()),
        None if secret && ui.can_ask() => {
            let asked = read_hidden(&format!("Value of {key}: ")).filter(|text| !text.is_empty());
            asked.ok_or_else(|| refused("no value was given"))?
        }
        None => {
            let problem = Diagnostic::error(Code::USAGE, format!("config `{key}` gets no value"));
            return Err(problem.help("write it behind the key, or `-` to read it from stdin").into());
        }
    };
    if secret {
        redact::add(&text);
    }
    let written = if secret { Written::Encrypted } else { Written::InTheClear };
    let environment = &session.environment().name;
    let file = session.project.set_config(environment, &key, &text, written).await?;
    let how = if secret { ", encrypted" } else { "" };
    ui.result(&format!("Set {key} in {file}{how}.\n"));
    ui.json("config_changed", &Changed { key: key.to_string(), file: &file, change: "set", secret });
    Ok(0)
}

pub(super) fn rm(session: &Session, key: &str, ui: &Ui) -> Result<u8, Failure> {
    let key = parse(key)?;
    let file = session.project.remove_config(&session.environment().name, &key)?;
    ui.result(&format!("Removed {key} from {file}.\n"));
    ui.json(
        "config_changed",
        &Changed { key: key.to_string(), file: &file, change: "removed", secret: false },
    );
    Ok(0)
}

fn parse(text: &str) -> Result<Key, Failure> {
    Key::parse(text).ok_or_else(|| {
        let problem = Diagnostic::error(Code::USAGE, format!("{text:?} is not a config key"));
        problem.help("write a key such as `size` or `db.size`").into()
    })
}

/// Reads a value from stdin. One line break at its end is not part of it.
fn from_stdin() -> Result<Zeroizing<String>, Failure> {
    let mut text = Zeroizing::new(String::new());
    std::io::stdin().read_to_string(&mut text).map_err(|_| refused("stdin cannot be read as UTF-8"))?;
    let shorter = text.strip_suffix('\n').map(|text| text.strip_suffix('\r').unwrap_or(text).len());
    if let Some(length) = shorter {
        text.truncate(length);
    }
    Ok(text)
}

fn refused(message: &str) -> Failure {
    Failure::new(Kind::Failed, Diagnostic::error(Code::USAGE, message).note("Nothing was changed."))
}
