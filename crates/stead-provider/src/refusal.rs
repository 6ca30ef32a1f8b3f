//! Refusals: a provider did not carry out a request, for a known reason.

use stead_model::{Hint, PropertyPath};

/// Class of a refusal, which decides about retries and about the exit code.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RefusalClass {
    /// The same request would be refused again.
    #[default]
    Final,
    /// The provider is busy or unreachable at the moment; a retry may succeed.
    Transient,
    /// The service does not make the change in place. The replacement follows if the plan shows it as possible; otherwise
    /// the refusal is final.
    NotInPlace,
    /// Another stack owns the real resource. Providers do not use this class: the engine asks for the owner before a call.
    OwnedElsewhere,
}

/// Attempts that a refusal speaks for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RefusalScope {
    /// The refused attempt had no effect. An earlier attempt at the operation may have had one.
    #[default]
    Attempt,
    /// No attempt at the operation had an effect, and none with its idempotency key will have one: the service told the
    /// end of the operation itself.
    Operation,
}

/// The reason why a request was not carried out, with a hint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    pub message: String,
    pub class: RefusalClass,
    pub scope: RefusalScope,
    /// The property that caused the refusal.
    pub path: Option<PropertyPath>,
    pub help: Option<Hint>,
}

impl Refusal {
    pub fn new(message: impl Into<String>) -> Refusal {
        let (class, scope) = (RefusalClass::Final, RefusalScope::Attempt);
        Refusal { message: message.into(), class, scope, path: None, help: None }
    }

    /// Returns a refusal after which a retry may succeed.
    pub fn transient(message: impl Into<String>) -> Refusal {
        Refusal { class: RefusalClass::Transient, ..Refusal::new(message) }
    }

    /// Returns the refusal of an update that only a replacement can make.
    #[must_use]
    pub fn not_in_place(self) -> Refusal {
        Refusal { class: RefusalClass::NotInPlace, ..self }
    }

    /// Returns the refusal as one of the operation, with all its attempts.
    #[must_use]
    pub fn of_operation(self) -> Refusal {
        Refusal { scope: RefusalScope::Operation, ..self }
    }

    /// Names the property that caused the refusal.
    #[must_use]
    pub fn at(self, property: &str) -> Refusal {
        Refusal { path: Some(PropertyPath::of(property)), ..self }
    }

    /// Adds a hint.
    #[must_use]
    pub fn help(self, help: impl Into<Hint>) -> Refusal {
        Refusal { help: Some(help.into()), ..self }
    }
}
