//! Prevent-delete: what carries the mark is neither deleted, replaced nor forgotten, whatever the cause.
//! Retain: what carries it does not go with another, and does not stand in its replacement's way.
//!
//! The mark in the program and the mark recorded in state both count, and the safer one holds: to unprotect
//! and to destroy are two runs.

use serde::Serialize;
use stead_model::{Code, CopyRef, DeletionPolicy, Diagnostic, Name, Resource, SourceRef};

use crate::Permits;

/// Why a copy would be deleted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case", tag = "cause")]
pub enum Cause {
    /// The program no longer declares it.
    Removed,
    /// `stead destroy` asked for it.
    Destroyed,
    /// A change that cannot be made in place.
    Replaced { because: String },
    /// An earlier run replaced it and did not get to delete the old copy.
    LeftOver,
}

/// What becomes of the real thing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case", tag = "fate")]
pub enum Fate {
    Deleted,
    /// It stays; its deletion policy says so.
    Forgotten,
    /// It goes because what it is in is deleted.
    GoneWith {
        name: Name,
    },
    /// It stays, where its replacement has to be.
    InTheWay,
}

/// A deletion that a plan or a recovery wants.
pub struct Deletion<'a> {
    pub resource: &'a Resource,
    /// The mark in the program, if it still declares the resource and says something.
    pub declared: Option<bool>,
    pub cause: Cause,
    pub fate: Fate,
}

/// The mark that stands against a deletion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    PreventDelete,
    Retain,
}

/// A deletion that a guard does not allow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    pub name: Name,
    pub source: SourceRef,
    pub cause: Cause,
    pub fate: Fate,
    pub mark: Mark,
}

/// All deletions are allowed, or none is.
pub fn decide(deletions: &[Deletion<'_>]) -> Result<Permits, Vec<Refusal>> {
    let refused: Vec<Refusal> = deletions.iter().filter_map(refusal).collect();
    let deleted = deletions.iter().filter(|deletion| deletion.fate == Fate::Deleted);
    if refused.is_empty() { Ok(Permits::of(deleted.map(copy))) } else { Err(refused) }
}

fn copy(deletion: &Deletion<'_>) -> CopyRef {
    deletion.resource.copy()
}

fn refusal(deletion: &Deletion<'_>) -> Option<Refusal> {
    let Deletion { resource, declared, cause, fate } = deletion;
    let retained = resource.deletion_policy == Some(DeletionPolicy::Retain);
    let mark = match fate {
        _ if resource.prevent_delete || *declared == Some(true) => Mark::PreventDelete,
        Fate::InTheWay => Mark::Retain,
        Fate::GoneWith { .. } if retained => Mark::Retain,
        _ => return None,
    };
    Some(Refusal {
        name: resource.name.clone(),
        source: resource.source.clone(),
        cause: cause.clone(),
        fate: fate.clone(),
        mark,
    })
}

impl Refusal {
    pub fn diagnostic(&self) -> Diagnostic {
        let (message, help) = self.message();
        Diagnostic::error(Code::GUARDED, message)
            .at(self.source.clone(), 0, "declared here")
            .note("Nothing was changed: the guards look at the whole plan before anything runs.")
            .help(help)
    }

    fn message(&self) -> (String, &'static str) {
        let name = &self.name;
        match (&self.cause, &self.fate, self.mark) {
            (_, Fate::GoneWith { name: with }, Mark::PreventDelete) => (
                format!("{name} would go with {with}, and prevent-delete is true on it"),
                "keep what it is in; or set `preventDelete: false` on it, run `stead up`, then try again",
            ),
            (_, Fate::GoneWith { name: with }, Mark::Retain) => (
                format!("{name} would go with {with}, and its deletion policy is to retain it"),
                "keep what it is in; or set `deletionPolicy: \"delete\"` on it, run `stead up`, then try again",
            ),
            (_, _, Mark::Retain) => (
                format!(
                    "cannot replace {name}: the old one has to go first, and its deletion policy is to retain it"
                ),
                "undo the change; or set `deletionPolicy: \"delete\"`, run `stead up`, then change it",
            ),
            (Cause::Removed, _, _) => (
                format!("{name} was removed from the program, but prevent-delete is true on it"),
                "put it back with `preventDelete: false`, run `stead up`, then remove it",
            ),
            (Cause::Destroyed, _, _) => (
                format!("cannot delete {name}: prevent-delete is true"),
                "set `preventDelete: false` on it, run `stead up`, then try again",
            ),
            (Cause::Replaced { because }, _, _) => (
                format!("cannot replace {name}: {because}, and prevent-delete is true"),
                "undo the change; or set `preventDelete: false`, run `stead up`, then change it",
            ),
            (Cause::LeftOver, _, _) => (
                format!("cannot delete the old copy of {name}: prevent-delete is true on it"),
                "set `preventDelete: false` on it, run `stead up`, then try again",
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use stead_model::{Generation, Lifecycle, Map, PhysicalId, TypeToken, Uid};

    use super::*;

    fn resource(name: &str, prevent_delete: bool) -> Resource {
        Resource {
            uid: Uid(name.into()),
            generation: Generation(1),
            name: format!("dev:main:t.T#{name}").parse().unwrap(),
            resource: TypeToken("t.T".into()),
            lifecycle: Lifecycle::Live,
            id: Some(PhysicalId("x".into())),
            inputs: Map::new(),
            outputs: Map::new(),
            dependencies: Vec::new(),
            property_dependencies: std::collections::BTreeMap::new(),
            ties: Default::default(),
            prevent_delete,
            deletion_policy: None,
            source: SourceRef { file: "main.ts".into(), line: 3, column: 7 },
        }
    }

    #[test]
    fn one_refusal_takes_every_permit_away() {
        let (free, kept) = (resource("free", false), resource("kept", true));
        let deletion =
            |resource| Deletion { resource, declared: None, cause: Cause::Removed, fate: Fate::Deleted };
        let mut permits = decide(&[deletion(&free)]).unwrap();
        assert!(permits.take(&free.copy()).is_some());
        assert!(permits.take(&free.copy()).is_none(), "a permit is good once");
        let refused = decide(&[deletion(&free), deletion(&kept)]).unwrap_err();
        assert_eq!(refused.len(), 1);
        assert_eq!(refused[0].name, kept.name);
    }

    #[test]
    fn the_safer_of_the_recorded_and_the_declared_mark_holds() {
        for (recorded, declared, allowed) in [
            (false, None, true),
            (false, Some(false), true),
            (false, Some(true), false),
            (true, None, false),
            (true, Some(false), false),
        ] {
            let resource = resource("a", recorded);
            let cause = Cause::Replaced { because: "a change of `path` forces it".into() };
            let decision = decide(&[Deletion { resource: &resource, declared, cause, fate: Fate::Deleted }]);
            assert_eq!(decision.is_ok(), allowed, "{recorded} {declared:?}");
        }
    }

    #[test]
    fn messages_say_what_why_and_what_now() {
        let causes = [
            Cause::Removed,
            Cause::Destroyed,
            Cause::Replaced { because: "a change of `path` forces it".into() },
            Cause::LeftOver,
        ];
        let text: Vec<String> = causes
            .into_iter()
            .map(|cause| {
                let resource = resource("db", true);
                let refused =
                    decide(&[Deletion { resource: &resource, declared: None, cause, fate: Fate::Deleted }])
                        .unwrap_err();
                let diagnostic = refused[0].diagnostic();
                format!("{}\n  {}", diagnostic.message, diagnostic.help.join("\n"))
            })
            .collect();
        insta::assert_snapshot!(text.join("\n"), @r"
        dev:main:t.T#db was removed from the program, but prevent-delete is true on it
          put it back with `preventDelete: false`, run `stead up`, then remove it
        cannot delete dev:main:t.T#db: prevent-delete is true
          set `preventDelete: false` on it, run `stead up`, then try again
        cannot replace dev:main:t.T#db: a change of `path` forces it, and prevent-delete is true
          undo the change; or set `preventDelete: false`, run `stead up`, then change it
        cannot delete the old copy of dev:main:t.T#db: prevent-delete is true on it
          set `preventDelete: false` on it, run `stead up`, then try again
        ");
    }

    #[test]
    fn a_retained_one_neither_goes_with_another_nor_stands_in_the_way() {
        let with: Name = "dev:main:t.T#box".parse().unwrap();
        let gone = || Fate::GoneWith { name: with.clone() };
        for (retained, prevented, fate, mark) in [
            (true, false, Fate::Forgotten, None),
            (true, true, Fate::Forgotten, Some(Mark::PreventDelete)),
            (true, false, gone(), Some(Mark::Retain)),
            (false, false, gone(), None),
            (false, true, gone(), Some(Mark::PreventDelete)),
            (true, false, Fate::InTheWay, Some(Mark::Retain)),
        ] {
            let mut resource = resource("a", prevented);
            resource.deletion_policy = retained.then_some(DeletionPolicy::Retain);
            let deletion = Deletion { resource: &resource, declared: None, cause: Cause::Removed, fate };
            let decision = decide(&[deletion]).map_err(|refused| refused[0].mark);
            match (decision, mark) {
                (Ok(mut permits), None) => {
                    assert!(permits.take(&resource.copy()).is_none(), "no call, no permit")
                }
                (Err(refused), Some(mark)) => assert_eq!(refused, mark),
                (decision, mark) => panic!("{decision:?}, {mark:?}"),
            }
        }
    }
}
