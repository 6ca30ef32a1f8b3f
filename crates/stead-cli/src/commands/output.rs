//! `stead output`: shows the outputs of the stack, as of the last apply. Secrets are shown only if a person asks for them.

use serde::Serialize;
use stead::Loaded;
use stead::ops::OpEvent;
use stead_model::{BLINDED, Code, Diagnostic, Map, Secret, Text, Unopened, Value, nearest};

use crate::args::OutputArguments;
use crate::commands::run::{Outputs, show_outputs};
use crate::confirm::confirm_disclosure;
use crate::failure::{Failure, Kind};
use crate::redact::Disclosure;
use crate::session::Session;
use crate::ui::Ui;

#[derive(Serialize)]
struct OutputLine<'a> {
    name: &'a str,
    value: &'a Value,
}

pub(crate) async fn output(session: &Session, arguments: &OutputArguments, ui: &Ui) -> Result<u8, Failure> {
    let loaded = session.workspace.load_existing().await?;
    let outputs = loaded.state.outputs();
    let blinded = || outputs.iter().map(|(key, value)| (key.clone(), value.blinded())).collect();
    let asked = arguments.name.as_deref();
    let has_secrets = in_question(outputs, asked).any(|(_, value)| value.has_secrets());
    let (shown, disclosure) = match arguments.show_secrets && has_secrets {
        true => revealed(session, &loaded, asked, ui)
            .await
            .map(|(shown, disclosure)| (shown, Some(disclosure)))?,
        false => (blinded(), None),
    };
    let outputs = &shown;
    let Some(name) = &arguments.name else {
        if outputs.is_empty() {
            ui.note(
                "The stack has no outputs. What the entry point exports are the outputs, after `stead up`.",
            );
        }
        match &disclosure {
            Some(disclosure) => {
                let text = format!("\n{}", stead_render::outputs(outputs));
                ui.disclose(disclosure, ("outputs", &Outputs { outputs }), &text);
            }
            None => show_outputs(outputs, ui),
        }
        return Ok(0);
    };
    let value = outputs.get(name.as_str()).ok_or_else(|| missing(name, outputs))?;
    if arguments.raw {
        let text = raw_text(name, value)?;
        match &disclosure {
            Some(disclosure) => ui.disclose_raw(disclosure, &text),
            None => ui.raw(&text),
        }
        return Ok(0);
    }
    let (line, text) = (OutputLine { name, value }, format!("{}\n", json_text(value)));
    match &disclosure {
        Some(disclosure) => ui.disclose(disclosure, ("output", &line), &text),
        None => {
            ui.json("output", &line);
            ui.result(&text);
        }
    }
    Ok(0)
}

/// Returns the output with a name, or all of them.
fn in_question<'m>(outputs: &'m Map, name: Option<&str>) -> impl Iterator<Item = (&'m Text, &'m Value)> {
    outputs.iter().filter(move |(key, _)| name.is_none_or(|name| key.as_str() == name))
}

/// Returns the outputs in question with their secrets, after the person confirmed and the history has it. A value that is not kept stays
/// `[secret]`.
async fn revealed(
    session: &Session,
    loaded: &Loaded,
    name: Option<&str>,
    ui: &Ui,
) -> Result<(Map, Disclosure), Failure> {
    let disclosure = confirm_disclosure(session, ui, "Show the secrets of this stack in the clear?")?;
    session.workspace.require_secrets(&loaded.state).await?;
    let mut shown = Map::new();
    for (key, value) in in_question(loaded.state.outputs(), name) {
        let reveal = &mut |secret: &Secret| match secret.reveal() {
            Err(Unopened::NotKept) => Ok(Value::from(BLINDED)),
            revealed => revealed.cloned(),
        };
        let value = value.try_map_secrets(reveal).map_err(|why| {
            let message = format!("the secret output {:?} cannot be opened: {why}", key.as_str());
            Failure::new(Kind::Failed, Diagnostic::error(Code::SECRETS_LOCKED, message))
        })?;
        shown.insert(key.clone(), value);
    }
    let listener: &mut dyn FnMut(OpEvent) = &mut ui.listener();
    session.workspace.record_disclosure("output --show-secrets", loaded, listener).await?;
    Ok((shown, disclosure))
}

fn missing(name: &str, outputs: &Map) -> Failure {
    let message = format!("the stack has no output {name:?}");
    let problem = Diagnostic::error(Code::NOT_FOUND, message);
    let known: Vec<&str> = outputs.keys().map(|key| &**key).collect();
    let problem = match nearest(name, known.iter().copied()) {
        Some(meant) => problem.help(format!("did you mean {meant:?}?")),
        None if known.is_empty() => {
            problem.help("what the entry point exports are the outputs, after `stead up`")
        }
        None => problem.help(format!("it has: {}", known.join(", "))),
    };
    Failure::new(Kind::Failed, problem)
}

/// Returns a single value as text. A list or an object has no such text.
fn raw_text(name: &str, value: &Value) -> Result<String, Failure> {
    match value.as_str() {
        Some(text) => Ok(text.to_owned()),
        None if matches!(value, Value::List(_) | Value::Map(_)) => {
            let problem =
                Diagnostic::error(Code::USAGE, format!("the output {name:?} is not a single value"));
            Err(problem.help("leave out `--raw` to get it as JSON").into())
        }
        None => Ok(json_text(value)),
    }
}

fn json_text(value: &Value) -> String {
    // A value always serialises.
    serde_json::to_string_pretty(value).unwrap_or_default()
}
