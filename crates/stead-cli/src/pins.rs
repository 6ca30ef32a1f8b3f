//! Lines that commands print about the pinfile.

use serde::Serialize;
use stead::guard::{Override, PinfileChange, program_value};
use stead::ops::{OpError, Proposal};
use stead::{PinfileWrite, SettledPins};
use stead_model::{Diagnostic, Value};

use crate::failure::Failure;
use crate::ui::Ui;

#[derive(Serialize)]
struct PinLine<'a> {
    change: &'static str,
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
        let (change, path) = match line {
            PinfileChange::Added(path) => ("added", path),
            PinfileChange::Removed(path) => ("removed", path),
        };
        ui.json("pin", &PinLine { change, path });
    }
}

fn show_override(over: &Override, file: &str, ui: &Ui) {
    let Override { path, property, value, .. } = over;
    let value_text = value.to_json();
    ui.result(&format!("{path}: `{property}` is {value_text}, from {file}; {}\n", program_value(over)));
    ui.json("frozen", &OverrideLine { path, property, value });
}

/// Lists the deleted resources whose pins were removed from the pinfile.
pub(crate) fn show_released(proposal: &Proposal, ui: &Ui) {
    for (name, file) in proposal.released() {
        ui.note(&format!("{name} was pinned; its entry was removed from {file}, so it may be deleted."));
    }
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
        PinfileWrite::Withheld { file } => {
            (file, "it is lost, and had pins that the program does not have. Run `stead pin restore`.")
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
