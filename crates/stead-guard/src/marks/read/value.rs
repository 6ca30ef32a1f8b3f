//! The values of marks. None of them means "not set": a key that is present always has an effect.

use stead_model::DeletionPolicy;

use super::RawValue;

/// Why a value is invalid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BadValue {
    /// The value is unknown. The text tells the valid ones.
    Use(&'static str),
    /// The value exists in other tools and is not supported yet.
    NotYet,
}

pub(super) const FLAGS: &str = "use true or false";
pub(super) const POLICIES: &str = "use \"delete\" or \"retain\"";

pub(super) fn flag(raw: &RawValue) -> Result<bool, BadValue> {
    match raw {
        RawValue::Bool(value) => Ok(*value),
        RawValue::Text(text) => match text.trim().to_ascii_lowercase().as_str() {
            "true" => Ok(true),
            "false" => Ok(false),
            _ => Err(BadValue::Use(FLAGS)),
        },
        RawValue::Other(_) => Err(BadValue::Use(FLAGS)),
    }
}

pub(super) fn policy(raw: &RawValue) -> Result<DeletionPolicy, BadValue> {
    let RawValue::Text(text) = raw else { return Err(BadValue::Use(POLICIES)) };
    match text.trim().to_ascii_lowercase().as_str() {
        "delete" => Ok(DeletionPolicy::Delete),
        "retain" => Ok(DeletionPolicy::Retain),
        "snapshot" | "retain-except-on-create" => Err(BadValue::NotYet),
        _ => Err(BadValue::Use(POLICIES)),
    }
}

pub(super) fn retain_flag(raw: &RawValue) -> Result<DeletionPolicy, BadValue> {
    flag(raw).map(|retain| if retain { DeletionPolicy::Retain } else { DeletionPolicy::Delete })
}

/// A value that messages can show.
pub(crate) trait Displayed {
    fn display(&self) -> &'static str;
}

impl Displayed for bool {
    fn display(&self) -> &'static str {
        if *self { "true" } else { "false" }
    }
}

impl Displayed for DeletionPolicy {
    fn display(&self) -> &'static str {
        match self {
            DeletionPolicy::Delete => "delete",
            DeletionPolicy::Retain => "retain",
        }
    }
}
