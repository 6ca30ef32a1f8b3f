//! Permitted and refused deletions, and the messages of the refused ones.

use std::sync::Arc;

use stead_model::{DeletionPolicy, Level, MarkSource, Marked, PhysicalId, SourceRef, TypeToken, Uid};

use super::*;
use crate::pins::{Declared, PinfileStatus};

pub(crate) fn resource(name: &str, prevent_delete: bool) -> Resource {
    Resource {
        id: Some(PhysicalId("x".into())),
        prevent_delete,
        ..Resource::new(
            Uid(name.into()),
            format!("dev:main:t.T#{name}").parse().unwrap(),
            TypeToken("t.T".into()),
            SourceRef { file: "main.ts".into(), line: 3, column: 7 },
        )
    }
}

fn source(level: Level, key: &str, line: u32) -> Arc<MarkSource> {
    let place = Some(SourceRef { file: "stead.toml".into(), line, column: 1 });
    Arc::new(MarkSource { level, key: key.into(), place })
}

fn prevented(value: bool) -> Marks {
    let source = source(Level::Environment("prod".into()), "t/prevent-delete", 7);
    Marks { prevent_delete: Some(Marked { value, source }), deletion_policy: None }
}

/// Decides for a target that keeps no pins.
fn decide(deletions: &[Deletion<'_>]) -> Result<Permits, Vec<Refusal>> {
    super::decide(deletions, &PinfileStatus::NotKept)
}

fn replaced() -> Cause {
    Cause::Replaced { because: "a change of `path` forces it".into() }
}

fn deletion(resource: &Resource, cause: Cause, effect: DeletionEffect) -> Deletion<'_> {
    Deletion { resource, current_marks: Marks::default(), cause, effect, declared_pin: Declared::NotPinned }
}

fn display(refusal: &Refusal) -> String {
    let diagnostic = refusal.diagnostic();
    let help: Vec<String> = diagnostic.help.iter().map(|help| format!("\n  {help}")).collect();
    format!("{}{}", diagnostic.message, help.concat())
}

#[test]
fn one_refusal_withholds_all_permits() {
    let (free, kept) = (resource("free", false), resource("kept", true));
    let removed = |resource| deletion(resource, Cause::Removed, DeletionEffect::Deleted);
    let mut permits = decide(&[removed(&free)]).unwrap();
    assert!(permits.take(&free.copy()).is_some());
    assert!(permits.take(&free.copy()).is_none(), "a permit can be taken once");
    assert!(permits.reissue(&free.copy()).is_some(), "another attempt gets it again");
    assert!(permits.reissue(&kept.copy()).is_none(), "a permit that was never taken is not reissued");
    let refused = decide(&[removed(&free), removed(&kept)]).unwrap_err();
    assert_eq!(refused.len(), 1);
    assert_eq!(refused[0].name, kept.name);
}

#[test]
fn more_restrictive_of_recorded_and_current_mark_applies() {
    for (recorded, current_marks, allowed) in [
        (false, Marks::default(), true),
        (false, prevented(false), true),
        (false, prevented(true), false),
        (true, Marks::default(), false),
        (true, prevented(false), false),
    ] {
        let resource = resource("a", recorded);
        let deletion = Deletion {
            resource: &resource,
            current_marks: current_marks.clone(),
            cause: replaced(),
            effect: DeletionEffect::Deleted,
            declared_pin: Declared::NotPinned,
        };
        assert_eq!(decide(&[deletion]).is_ok(), allowed, "{recorded} {current_marks:?}");
    }
}

#[test]
fn protection_in_state_overrules_the_program() {
    let mut resource = resource("a", false);
    resource.marks.protected = true;
    let refused = [Cause::Destroyed, Cause::Removed].map(|cause| {
        let deletion = Deletion {
            current_marks: prevented(false),
            ..deletion(&resource, cause, DeletionEffect::Deleted)
        };
        display(&decide(&[deletion]).unwrap_err()[0])
    });
    insta::assert_snapshot!(refused.join("\n"), @r#"
    cannot delete dev:main:t.T#a: prevent-delete is true (set with `stead state protect`)
      unprotect dev:main:t.T#a, then try again
    dev:main:t.T#a was removed from the program, but prevent-delete is true on it (set with `stead state protect`)
      unprotect dev:main:t.T#a, then try again
      if you renamed it, set `aliases: ["dev:main:t.T#a"]` on the new one
    "#);
}

#[test]
fn resource_with_prevent_delete_cannot_be_forgotten() {
    for (recorded, current_marks, forgotten) in [
        (false, Marks::default(), true),
        (false, prevented(false), true),
        (false, prevented(true), false),
        (true, prevented(false), false),
    ] {
        let refused = crate::forget_refusal(&resource("a", recorded), &current_marks);
        assert_eq!(refused.is_none(), forgotten, "{recorded} {current_marks:?}");
    }
    let mut protected = resource("a", false);
    protected.marks.protected = true;
    let problem = crate::forget_refusal(&protected, &Marks::default()).unwrap();
    insta::assert_snapshot!(format!("{}\n  {}", problem.message, problem.help.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n  ")), @"
    cannot forget dev:main:t.T#a: prevent-delete is true (set with `stead state protect`)
      unprotect dev:main:t.T#a, then try again
    ");
}

#[test]
fn retained_resource_is_not_replaced_under_its_name() {
    let mut kept = resource("a", false);
    assert!(decide(&[deletion(&kept, replaced(), DeletionEffect::Deleted)]).is_ok());
    kept.deletion_policy = Some(DeletionPolicy::Retain);
    let refused = decide(&[deletion(&kept, replaced(), DeletionEffect::RetainedNameConflict)]).unwrap_err();
    assert_eq!((refused[0].mark, refused[0].set_by().key.as_str()), (Mark::Retain, "deletionPolicy"));
    assert!(
        display(&refused[0]).contains("(last set by deletionPolicy on resource"),
        "{}",
        display(&refused[0])
    );
    let source = source(Level::Project("shop".into()), "deletion-policy", 9);
    let current_marks = |value| Marks {
        deletion_policy: Some(Marked { value, source: source.clone() }),
        prevent_delete: None,
    };
    let refused = |resource: &Resource, current_marks: Marks| {
        decide(&[Deletion {
            current_marks,
            ..deletion(resource, replaced(), DeletionEffect::RetainedNameConflict)
        }])
        .unwrap_err()
        .remove(0)
    };
    let by_setting = refused(&resource("b", false), current_marks(DeletionPolicy::Retain));
    assert!(display(&by_setting).contains("(deletion-policy on project"), "{}", display(&by_setting));
    let by_state = refused(&kept, current_marks(DeletionPolicy::Delete));
    assert!(display(&by_state).contains("(last set by deletionPolicy on resource"), "{}", display(&by_state));
}

#[test]
fn label_points_to_a_mark_that_is_set_elsewhere() {
    let labels = |current_marks: Marks, recorded: bool| {
        let resource = resource("a", recorded);
        let deletion =
            Deletion { current_marks, ..deletion(&resource, Cause::Destroyed, DeletionEffect::Deleted) };
        let problem = decide(&[deletion]).unwrap_err()[0].diagnostic();
        problem.labels.iter().map(|label| label.place.file.clone()).collect::<Vec<_>>()
    };
    assert_eq!(labels(prevented(true), false), ["main.ts", "stead.toml"]);
    assert!(labels(Marks::default(), true).is_empty(), "the places of a record may have changed");
    let mut here = prevented(true);
    let mark = here.prevent_delete.as_mut().unwrap();
    mark.source = Arc::new(MarkSource { place: Some(resource("a", false).source), ..(*mark.source).clone() });
    assert_eq!(labels(here, false), ["main.ts"], "one label is enough");
    let mut then = resource("a", true);
    then.marks.prevent_delete = Some(source(Level::Project("shop".into()), "prevent-delete", 9));
    let refused = decide(&[deletion(&then, Cause::Destroyed, DeletionEffect::Deleted)]).unwrap_err();
    let problem = refused[0].diagnostic();
    assert!(problem.labels.is_empty(), "the places of a record may have changed");
    assert!(
        problem.notes.iter().any(|note| note.starts_with("It was declared at main.ts:")),
        "{:?}",
        problem.notes
    );
}

#[test]
fn messages_tell_cause_mark_and_next_step() {
    let causes = [Cause::Removed, Cause::Destroyed, replaced(), Cause::LeftOver];
    let mut db = resource("db", true);
    db.marks.prevent_delete = Some(source(Level::Project("shop".into()), "prevent-delete", 9));
    let mut text: Vec<String> = causes
        .into_iter()
        .flat_map(|cause| {
            [Marks::default(), prevented(true)].map(|current_marks| (cause.clone(), current_marks))
        })
        .map(|(cause, current_marks)| {
            let deletion = Deletion {
                resource: &db,
                current_marks,
                cause,
                effect: DeletionEffect::Deleted,
                declared_pin: Declared::NotPinned,
            };
            display(&decide(&[deletion]).unwrap_err()[0])
        })
        .collect();
    for set_by in [
        source(Level::Flag, "--prevent-delete", 1),
        source(Level::Environment("prod".into()), "prevent-delete-lock", 4),
    ] {
        let current_marks =
            Marks { prevent_delete: Some(Marked { value: true, source: set_by }), ..Marks::default() };
        let free = resource("free", false);
        let deletion = Deletion {
            resource: &free,
            current_marks,
            cause: Cause::Destroyed,
            effect: DeletionEffect::Deleted,
            declared_pin: Declared::NotPinned,
        };
        text.push(display(&decide(&[deletion]).unwrap_err()[0]));
    }
    insta::assert_snapshot!(text.join("\n"), @r#"
    dev:main:t.T#db was removed from the program, but prevent-delete is true on it (last set by prevent-delete on project "shop", stead.toml:9)
      declare it again, set `preventDelete: false` on it, apply the program, then remove it
      if you renamed it, set `aliases: ["dev:main:t.T#db"]` on the new one
    dev:main:t.T#db was removed from the program, but prevent-delete is true on it (t/prevent-delete on environment "prod", stead.toml:7)
      declare it again, set `preventDelete: false` on it, apply the program, then remove it
      if you renamed it, set `aliases: ["dev:main:t.T#db"]` on the new one
    cannot delete dev:main:t.T#db: prevent-delete is true (last set by prevent-delete on project "shop", stead.toml:9)
      set `preventDelete: false` on it, apply the program, then try again
    cannot delete dev:main:t.T#db: prevent-delete is true (t/prevent-delete on environment "prod", stead.toml:7)
      set `preventDelete: false` on it, apply the program, then try again
    cannot replace dev:main:t.T#db: a change of `path` forces it, and prevent-delete is true (last set by prevent-delete on project "shop", stead.toml:9)
      undo the change; or set `preventDelete: false` on it, apply the program, then change it
    cannot replace dev:main:t.T#db: a change of `path` forces it, and prevent-delete is true (t/prevent-delete on environment "prod", stead.toml:7)
      undo the change; or set `preventDelete: false` on it, apply the program, then change it
    cannot delete the old copy of dev:main:t.T#db: prevent-delete is true on it (last set by prevent-delete on project "shop", stead.toml:9)
      set `preventDelete: false` on it, apply the program, then try again
    cannot delete the old copy of dev:main:t.T#db: prevent-delete is true on it (t/prevent-delete on environment "prod", stead.toml:7)
      set `preventDelete: false` on it, apply the program, then try again
    cannot delete dev:main:t.T#free: prevent-delete is true (--prevent-delete on the command line, stead.toml:1)
      omit the flag, if it was given by mistake, then try again
    cannot delete dev:main:t.T#free: prevent-delete is true (prevent-delete-lock on environment "prod", stead.toml:4)
      have the lock removed, set `preventDelete: false` on it, apply the program, then try again
    "#);
}

#[test]
fn retained_resource_is_neither_deleted_with_its_container_nor_replaced_under_its_name() {
    let with: Name = "dev:main:t.T#box".parse().unwrap();
    let gone = || DeletionEffect::DeletedWithContainer { name: with.clone() };
    let mut text = Vec::new();
    for (retained, prevented, effect, mark) in [
        (true, false, DeletionEffect::Forgotten, None),
        (true, true, DeletionEffect::Forgotten, Some(Mark::PreventDelete)),
        (true, false, gone(), Some(Mark::Retain)),
        (false, false, gone(), None),
        (false, true, gone(), Some(Mark::PreventDelete)),
        (true, false, DeletionEffect::RetainedNameConflict, Some(Mark::Retain)),
    ] {
        let mut resource = resource("a", prevented);
        resource.deletion_policy = retained.then_some(DeletionPolicy::Retain);
        let deleted = matches!(effect, DeletionEffect::DeletedWithContainer { .. });
        let decision = decide(&[deletion(&resource, replaced(), effect)]);
        match (decision, mark) {
            (Ok(mut permits), None) => {
                assert_eq!(
                    permits.take(&resource.copy()).is_some(),
                    deleted,
                    "only a deletion needs a permit"
                )
            }
            (Err(refused), Some(mark)) => {
                assert_eq!(refused[0].mark, mark);
                text.push(display(&refused[0]));
            }
            (decision, mark) => panic!("{decision:?}, {mark:?}"),
        }
    }
    insta::assert_snapshot!(text.join("\n"), @r#"
    cannot replace dev:main:t.T#a: a change of `path` forces it, and prevent-delete is true (last set by preventDelete on resource "dev:main:t.T#a")
      undo the change; or set `preventDelete: false` on it, apply the program, then change it
    dev:main:t.T#a would be deleted with dev:main:t.T#box, and its deletion-policy is retain (last set by deletionPolicy on resource "dev:main:t.T#a")
      keep its container; or set `deletionPolicy: "delete"` on it, apply the program, then try again
    dev:main:t.T#a would be deleted with dev:main:t.T#box, and prevent-delete is true on it (last set by preventDelete on resource "dev:main:t.T#a")
      keep its container; or set `preventDelete: false` on it, apply the program, then try again
    cannot replace dev:main:t.T#a: a change of `path` forces it, and the old resource keeps the name that the new one needs, because its deletion-policy is retain (last set by deletionPolicy on resource "dev:main:t.T#a")
      undo the change, or give the new resource another name; or set `deletionPolicy: "delete"` on it, apply the program, then change it
    "#);
}
