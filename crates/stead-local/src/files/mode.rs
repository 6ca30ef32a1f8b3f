//! The property `mode`: permission bits as three or four octal digits.

use std::path::Path;

use stead_model::{Map, Value};
use stead_provider::Refusal;
use stead_schema::Problem;
use stead_world::Metadata;

use crate::files::path::not_overwritten;
use crate::inputs::{InputView, problem, text};

pub(crate) const MODE: &str = "mode";

fn parse(text: &str) -> Option<u32> {
    let is_octal = text.bytes().all(|digit| (b'0'..=b'7').contains(&digit));
    let fits = (3..=4).contains(&text.len()) && is_octal;
    if fits { u32::from_str_radix(text, 8).ok() } else { None }
}

pub(crate) fn mode_problem(inputs: InputView<'_>) -> Option<Problem> {
    let text = inputs.text(MODE)?;
    let message = format!("`{MODE}` cannot be {text:?}");
    let help = "use three or four octal digits in a string, such as \"0644\" or \"0755\"";
    parse(text).is_none().then(|| problem(MODE, message, help))
}

/// Returns the permission bits in the inputs.
pub(crate) fn mode(inputs: &Map) -> Result<u32, Refusal> {
    let text = text(inputs, MODE)?;
    parse(text).ok_or_else(|| Refusal::new(format!("`{MODE}` cannot be {text:?}")).at(MODE))
}

/// A change of permission bits.
#[derive(Clone, Copy)]
pub(crate) struct ModeChange {
    pub(crate) recorded: Option<u32>,
    pub(crate) desired: u32,
}

impl ModeChange {
    pub(crate) fn of(old_inputs: &Map, desired: u32) -> ModeChange {
        let recorded = old_inputs.get(MODE).and_then(Value::as_str).and_then(parse);
        ModeChange { recorded, desired }
    }

    /// Returns the mode to set. A mode that was changed outside stays if the program did not change it, and is a refusal otherwise.
    pub(crate) fn to_set(self, path: &Path, found: Metadata) -> Result<u32, Refusal> {
        let ModeChange { recorded, desired } = self;
        if cfg!(not(unix)) || found.mode == desired || recorded == Some(found.mode) {
            return Ok(desired);
        }
        match recorded {
            Some(recorded) if recorded != desired => {
                let how = format!(
                    "was changed outside of Stead: its mode is {:04o}, and {recorded:04o} is recorded",
                    found.mode
                );
                Err(not_overwritten(path, &how))
            }
            _ => Ok(found.mode),
        }
    }
}

/// Returns the inputs with the real mode. A recorded mode that is only spelled differently stays.
pub(crate) fn with_real_mode(inputs: &Map, found: Metadata) -> Map {
    let mut inputs = inputs.clone();
    let recorded = inputs.get(MODE).and_then(Value::as_str).and_then(parse);
    // A system without permission bits reports no change.
    if cfg!(unix) && recorded != Some(found.mode) {
        inputs.insert(MODE.to_owned(), Value::from(format!("{:04o}", found.mode)));
    }
    inputs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mode_has_three_or_four_octal_digits() {
        assert_eq!(parse("644"), Some(0o644));
        assert_eq!(parse("1777"), Some(0o1777));
        for bad in ["", "44", "00644", "0o644", "0689", "rw-r--r--", "+644", "６４４"] {
            assert_eq!(parse(bad), None, "{bad}");
        }
    }
}
