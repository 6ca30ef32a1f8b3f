//! Lines that commands print about the pinfile.

use serde::Serialize;
use stead::guard::{Override, PinfileChange, program_value};
use stead::ops::{HeldPin, OpError, Proposal};
use stead::{PinfileWrite, SettledPins};
use stead_model::{Diagnostic, Name, NextStep, Value};

use crate::confirm::ask;
use crate::failure::Failure;
use crate::session::Session;
use crate::ui::Ui;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct PinLine<'a> {
    change: &'static str,
    path: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    original_path: Option<&'a str>,
}

#[derive(Serialize)]
struct HeldLine<'a> {
    name: &'a Name,
    path: &'a str,
}

#[derive(Serialize)]
struct OverrideLine<'a> {
    path: &'a str,
    property: &'a str,
    value: &'a Value,
}

/// Shows how the pinfile was applied to the program.
pub(crate) fn show(pins: &SettledPins, ui: &Ui) {
    show_lines(pins.lines(), ui);
    pins.overrides().for_each(|(over, file)| show_override(over, file, ui));
    ui.problems(pins.warnings());
    if !pins.lines().is_empty() || pins.overrides().next().is_some() {
        ui.result("\n");
    }
}

pub(crate) fn show_lines(lines: &[PinfileChange], ui: &Ui) {
    for line in lines {
        ui.result(&format!("{line}\n"));
        let (change, original_path) = parts(line);
        ui.json("pin", &PinLine { change, path: line.path(), original_path });
    }
}

/// Returns the kind of a change in JSON, and the path that a moved pin had first.
pub(crate) fn parts(line: &PinfileChange) -> (&'static str, Option<&str>) {
    match line {
        PinfileChange::Added(_) => ("added", None),
        PinfileChange::Removed(_) => ("removed", None),
        PinfileChange::RemovedMoved { original, .. } => ("removed", Some(original)),
    }
}

fn show_override(over: &Override, file: &str, ui: &Ui) {
    let Override { path, property, value, .. } = over;
    let value_text = value.to_json();
    ui.result(&format!("{path}: `{property}` is {value_text}, from {file}; {}\n", program_value(over)));
    ui.json("frozen", &OverrideLine { path, property, value });
}

/// Lists the deleted resources whose pins were released.
pub(crate) fn show_released(proposal: &Proposal, ui: &Ui) {
    for name in proposal.released() {
        ui.note(&format!("{name} was pinned; its pin is released, so it may be deleted."));
    }
}

/// Lists the resources that `--keep-pinned` leaves alone.
pub(crate) fn show_held(proposal: &Proposal, ui: &Ui) {
    for HeldPin { name, path, .. } in proposal.held() {
        let end = ui.phrase(&NextStep::RemovePin { path: path.clone() });
        ui.note(&format!("{name} is pinned and stays as it is. To end the pin: {end}"));
        ui.json("held", &HeldLine { name, path });
    }
}

/// Asks for the names of resources that the plan deletes and that state alone pins. Their pins end if all are typed.
///
/// Without a terminal nothing is asked, and the guards refuse the plan.
pub(crate) fn ask_to_release(session: &Session, proposal: Proposal, ui: &Ui) -> Proposal {
    let pinned = proposal.releasable();
    if session.yes || !ui.interactive() || pinned.is_empty() {
        return proposal;
    }
    let agreed = pinned.iter().all(|HeldPin { name, .. }| {
        let question = format!(
            "{name} was pinned at the last run, and the pinfile has no entry for it.\n\
             To end its pin and delete it, type its name: "
        );
        let is_name = |answer: &str| {
            answer == name.to_string()
                || answer == name.short()
                || name.shown_in(name.environment()) == answer
        };
        ask(&question).is_some_and(|answer| is_name(&answer))
    });
    if agreed { proposal.release(&pinned) } else { proposal }
}

/// Reports why the pinfile was not written.
pub(crate) fn report_write(
    written: Option<Result<PinfileWrite, Diagnostic>>,
    ui: &Ui,
) -> Result<(), Failure> {
    let Some(written) = written else { return Ok(()) };
    let (file, why) = match written.map_err(OpError::pinfile)? {
        PinfileWrite::Done => return Ok(()),
        PinfileWrite::NoProgram { file } => {
            (file, "the program is not in this folder. Run `stead compile` beside the program.")
        }
    };
    ui.note(&format!("{file} is not written: {why}"));
    Ok(())
}

#[cfg(test)]
mod tests {
    use stead::guard::stateful_types;
    use stead_model::TypeToken;
    use stead_schema::Catalog;

    #[test]
    fn every_type_that_is_pinned_by_default_exists() {
        let catalog = Catalog::default().with_published();
        let known = |token: &&&str| catalog.get(&TypeToken((**token).to_owned())).is_some();
        let of_aws = stateful_types().iter().filter(|token| token.starts_with("aws."));
        let unknown: Vec<&str> = of_aws.filter(|token| !known(token)).copied().collect();
        assert!(unknown.is_empty(), "{unknown:?}");
    }
}
