//! The values of marks. `unset` is not among them: who wrote a key meant something.

use stead_model::DeletionPolicy;

use super::Given;

/// Why a value is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BadValue {
    /// What may stand there.
    Use(&'static str),
    /// A value that has a meaning elsewhere, and none here so far.
    NotYet,
}

pub(super) const FLAGS: &str = "use true or false";
pub(super) const POLICIES: &str = "use \"delete\" or \"retain\"";

pub(super) fn flag(given: &Given) -> Result<bool, BadValue> {
    match given {
        Given::Bool(value) => Ok(*value),
        Given::Text(text) => match text.trim().to_ascii_lowercase().as_str() {
            "true" => Ok(true),
            "false" => Ok(false),
            _ => Err(BadValue::Use(FLAGS)),
        },
        Given::Other(_) => Err(BadValue::Use(FLAGS)),
    }
}

pub(super) fn policy(given: &Given) -> Result<DeletionPolicy, BadValue> {
    let Given::Text(text) = given else { return Err(BadValue::Use(POLICIES)) };
    match text.trim().to_ascii_lowercase().as_str() {
        "delete" => Ok(DeletionPolicy::Delete),
        "retain" => Ok(DeletionPolicy::Retain),
        "snapshot" | "retain-except-on-create" => Err(BadValue::NotYet),
        _ => Err(BadValue::Use(POLICIES)),
    }
}

pub(super) fn retain_flag(given: &Given) -> Result<DeletionPolicy, BadValue> {
    flag(given).map(|retain| if retain { DeletionPolicy::Retain } else { DeletionPolicy::Delete })
}

/// How a value stands in a message.
pub(crate) trait Shown {
    fn shown(&self) -> &'static str;
}

impl Shown for bool {
    fn shown(&self) -> &'static str {
        if *self { "true" } else { "false" }
    }
}

impl Shown for DeletionPolicy {
    fn shown(&self) -> &'static str {
        match self {
            DeletionPolicy::Delete => "delete",
            DeletionPolicy::Retain => "retain",
        }
    }
}
