//! `stead config`: shows and sets the config of the environment, and where each value comes from. The program is not evaluated.

mod import;
mod set;

use std::fmt::Write as _;

use serde::Serialize;
use stead::config::{BLINDED, Explained, Key, Origin, Resolution, Standing};
use stead::ops::OpError;
use stead::secrets::ManagerError;
use stead_model::{Code, Diagnostic, Value, nearest};
use stead_render::Paint;

use crate::args::{ConfigCommand, ForeignConfig};
use crate::confirm::confirm_disclosure;
use crate::failure::{Failure, Kind};
use crate::session::Session;
use crate::ui::Ui;

pub(crate) async fn config(session: &Session, command: &ConfigCommand, ui: &Ui) -> Result<u8, Failure> {
    match command {
        ConfigCommand::Set { secret, key, value } => {
            return set::set(session, *secret, key, value.as_deref(), ui).await;
        }
        ConfigCommand::Rm { key } => return set::rm(session, key, ui),
        ConfigCommand::Import { from: ForeignConfig::Pulumi, file } => {
            return import::pulumi(session, file, ui).await;
        }
        ConfigCommand::Get { show_secrets: true, .. } => {
            let environment = &session.environment().name;
            session
                .project
                .open_config(environment, &session.config)
                .await
                .map_err(|error| locked(&error))?;
        }
        _ => {}
    }
    let resolution = session.config.resolve();
    let all = resolution.explain(session.config.schema.as_ref());
    let chosen = match command {
        ConfigCommand::Ls
        | ConfigCommand::Explain { key: None }
        | ConfigCommand::Set { .. }
        | ConfigCommand::Import { .. }
        | ConfigCommand::Rm { .. } => all.iter().collect(),
        ConfigCommand::Explain { key: Some(key) } | ConfigCommand::Get { key, .. } => select(&all, key)?,
    };
    for explained in &chosen {
        ui.json("config", explained);
    }
    match command {
        ConfigCommand::Explain { .. } => chosen.iter().for_each(|one| ui.result(&describe(one, ui))),
        ConfigCommand::Ls => {
            let set = chosen.iter().filter_map(|one| Some((&one.key, one.value.as_ref()?)));
            set.for_each(|(key, value)| ui.result(&format!("{key} = {}\n", shown(value))));
        }
        ConfigCommand::Get { key, show_secrets: true } => reveal(session, &resolution, key, &chosen, ui)?,
        ConfigCommand::Get { key, .. } => get(&resolution, key, &chosen, ui)?,
        ConfigCommand::Set { .. } | ConfigCommand::Import { .. } | ConfigCommand::Rm { .. } => {}
    }
    resolution.warnings.iter().for_each(|warning| ui.notice(&stead::Notice::Warning(warning)));
    if resolution.problems.is_empty() {
        return Ok(0);
    }
    Err(Failure::from(OpError::Invalid(resolution.problems)))
}

/// Returns the key, or all keys in its table.
fn select<'a>(all: &'a [Explained], wanted: &str) -> Result<Vec<&'a Explained>, Failure> {
    let key = Key::parse(wanted);
    let chosen: Vec<&Explained> = all
        .iter()
        .filter(|one| key.as_ref().is_some_and(|key| one.key == *key || key.contains(&one.key)))
        .collect();
    if !chosen.is_empty() {
        return Ok(chosen);
    }
    let problem = Diagnostic::error(Code::CONFIG_VALUE, format!("there is no config key `{wanted}`"));
    let known: Vec<String> = all.iter().map(|one| one.key.to_string()).collect();
    let problem = match nearest(wanted, known.iter().map(String::as_str)) {
        Some(meant) => problem.help(format!("did you mean `{meant}`?")),
        None if known.is_empty() => problem.help("nothing is set and nothing is declared"),
        None => problem.help(format!("the keys are: {}", known.join(", "))),
    };
    Err(Failure::new(Kind::Failed, problem))
}

fn get(resolution: &Resolution, wanted: &str, chosen: &[&Explained], ui: &Ui) -> Result<(), Failure> {
    let secret = chosen.iter().any(|one| one.secret);
    let value = Key::parse(wanted).and_then(|key| resolution.value(&key));
    let text = match value {
        Some(_) if secret => BLINDED.to_owned(),
        Some(Value::String(text)) => text.to_string(),
        Some(value) => value.to_json(),
        None => {
            let message = format!("config `{wanted}` is not set");
            return Err(Failure::new(Kind::Failed, Diagnostic::error(Code::CONFIG_VALUE, message)));
        }
    };
    ui.result(&format!("{text}\n"));
    Ok(())
}

/// Prints a value with its secrets.
fn reveal(
    session: &Session,
    resolution: &Resolution,
    wanted: &str,
    chosen: &[&Explained],
    ui: &Ui,
) -> Result<(), Failure> {
    let Some(value) = Key::parse(wanted).and_then(|key| resolution.value(&key)) else {
        return get(resolution, wanted, chosen, ui);
    };
    if !value.has_secrets() && !chosen.iter().any(|one| one.secret) {
        return get(resolution, wanted, chosen, ui);
    }
    let disclosure = confirm_disclosure(session, ui, &format!("Show config `{wanted}` in the clear?"))?;
    let value = value.revealed().map_err(|why| {
        let message = format!("config `{wanted}` cannot be opened: {why}");
        Failure::new(Kind::Failed, Diagnostic::error(Code::SECRETS_LOCKED, message))
    })?;
    let text = value.as_str().map_or_else(|| value.to_json(), str::to_owned);
    let line = Revealed { key: wanted, value: &value };
    ui.disclose(&disclosure, ("config_value", &line), &format!("{text}\n"));
    Ok(())
}

#[derive(Serialize)]
struct Revealed<'a> {
    key: &'a str,
    value: &'a Value,
}

fn locked(error: &ManagerError) -> Failure {
    let message = format!("the secrets in the config file are locked: {}", error.message);
    let problem = Diagnostic::error(Code::SECRETS_LOCKED, message);
    Failure::new(Kind::Failed, error.help.iter().cloned().fold(problem, Diagnostic::help))
}

fn shown(value: &Value) -> String {
    if value.as_str() == Some(BLINDED) { BLINDED.to_owned() } else { value.to_json() }
}

fn describe(explained: &Explained, ui: &Ui) -> String {
    let style = ui.out_style();
    let Explained { key, value, ty, required, secret, description, settings } = explained;
    let value = value.as_ref().map_or_else(|| "not set".to_owned(), |value| format!("= {}", shown(value)));
    let declared = ty.map(|ty| format!("{ty:?}").to_lowercase());
    let words = declared
        .into_iter()
        .chain(required.then(|| "required".to_owned()))
        .chain(secret.then(|| "secret".to_owned()));
    let words: Vec<String> = words.collect();
    let words = if words.is_empty() { String::new() } else { format!("  ({})", words.join(", ")) };
    let mut out = format!(
        "{} {value}{}\n",
        style.paint(Paint::Strong, &key.to_string()),
        style.paint(Paint::Quiet, &words)
    );
    if let Some(text) = description {
        let _ = writeln!(out, "  {}", style.paint(Paint::Quiet, text));
    }
    for Standing { key: set, value, origin, holds } in settings {
        let standing = if *holds { "holds" } else { "overridden" };
        let other = if set == key { String::new() } else { format!(" (as `{set}`)") };
        let _ = writeln!(out, "  {standing:<10} {:<12} {}{other}", shown(value), place(origin));
    }
    out
}

fn place(origin: &Origin) -> String {
    match origin {
        Origin::Default => "default of the schema".to_owned(),
        Origin::Variable(name) => name.clone(),
        Origin::Argument(name) => name.trim_matches('`').to_owned(),
        Origin::File(_) => origin.to_string(),
    }
}
