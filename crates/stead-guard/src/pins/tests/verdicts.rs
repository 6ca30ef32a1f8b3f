//! Pin verdicts for all combinations of program, pinfile and state.

use stead_model::{Lifecycle, OpId};
use stead_state::{AfterDelete, Intent, Record};

use super::super::{
    Declared, EmptySection, Orphans, PinVerdict, PinfileStatus, PinfileUpdate, apply_pinfile,
    entries_from_state, pin_verdict,
};
use super::{FewTypes, Program, changes, pins, recorded, state, text_of, with};
use crate::deletion::refusal;
use crate::{Cause, Deletion, DeletionEffect};

/// A pinfile that is not kept, lost, without an entry, with a pin, with a moved pin, and with releases of both.
fn statuses() -> [PinfileStatus; 7] {
    let of = |text: Option<String>| PinfileStatus::of(&pins(text.as_deref()));
    [
        PinfileStatus::NotKept,
        of(None),
        of(Some(with(""))),
        of(Some(with(r#""t.Box.data":{"type":"t.Box"}"#))),
        of(Some(with(r#""t.Box.new":{"type":"t.Box","originalPath":"t.Box.data"}"#))),
        of(Some(with(r#""t.Box.data":{"type":"t.Box","released":true}"#))),
        of(Some(with(r#""t.Box.new":{"type":"t.Box","originalPath":"t.Box.data","released":true}"#))),
    ]
}

#[test]
fn verdict_depends_on_program_pinfile_and_state() {
    use PinVerdict::{Declared as Source, Free, Listed, Lost, Unlisted};
    let table = [
        // pinned in state, pinned in the program: no pins kept, file missing, no entry, listed, moved from there, released twice
        (false, Declared::NotPinned, [Free, Free, Free, Listed, Listed, Free, Free]),
        (true, Declared::NotPinned, [Free, Lost, Unlisted, Listed, Listed, Free, Free]),
        (false, Declared::Pinned, [Free, Source, Source, Source, Source, Source, Source]),
        (true, Declared::Pinned, [Free, Source, Source, Source, Source, Source, Source]),
    ];
    for (in_state, declared, expected) in table {
        let resource = recorded(":t.Box#data", "data", in_state);
        for (status, expected) in statuses().iter().zip(expected) {
            assert_eq!(
                pin_verdict(&resource, declared, status),
                expected,
                "{in_state} {declared:?} {status:?}"
            );
        }
    }
}

#[test]
fn most_specific_entry_for_a_path_decides_and_a_missing_one_ends_no_pin() {
    use PinVerdict::{Free, Listed, Unlisted};
    let (pin, other) = (r#"{"t.Box.data":{"type":"t.Box"}}"#, r#"{"t.Box.other":{"type":"t.Box"}}"#);
    let released = r#"{"t.Box.data":{"type":"t.Box","released":true}}"#;
    for (specific, general, expected) in [
        ("{}", pin, [Listed, Listed]),
        ("{}", "{}", [Unlisted, Free]),
        ("{}", other, [Unlisted, Free]),
        (other, pin, [Listed, Free]),
        (other, other, [Unlisted, Free]),
        (other, released, [Free, Free]),
        (pin, released, [Listed, Listed]),
        (released, pin, [Free, Free]),
    ] {
        let text = format!(r#"{{"version":"1","pinned":{{"local:dev":{specific},"local":{general}}}}}"#);
        let status = PinfileStatus::of(&pins(Some(&text)));
        let verdicts = [true, false].map(|in_state| {
            pin_verdict(&recorded(":t.Box#data", "data", in_state), Declared::NotPinned, &status)
        });
        assert_eq!(verdicts, expected, "{text}");
    }
}

#[test]
fn former_name_of_a_pinned_resource_counts() {
    let mut resource = recorded(":t.Box#elsewhere", "data", true);
    resource.ties.aliases.push("dev:main:t.Box#data".parse().unwrap());
    let [_, _, _, listed, moved, released, _] = statuses();
    assert_eq!(pin_verdict(&resource, Declared::NotPinned, &listed), PinVerdict::Listed);
    assert_eq!(pin_verdict(&resource, Declared::NotPinned, &moved), PinVerdict::Listed);
    assert_eq!(pin_verdict(&resource, Declared::NotPinned, &released), PinVerdict::Unlisted);
}

#[test]
fn condemned_copy_is_pinned_only_if_its_record_is() {
    let [_, _, _, listed, ..] = statuses();
    for (pinned, expected) in [(false, PinVerdict::Free), (true, PinVerdict::Listed)] {
        let mut copy = recorded(":t.Box#data", "data", pinned);
        copy.lifecycle = Lifecycle::Condemned;
        assert_eq!(pin_verdict(&copy, Declared::NotPinned, &listed), expected);
    }
}

#[test]
fn messages_for_every_cause_tell_what_to_do() {
    let with = "dev:main:t.Box#around".parse().unwrap();
    let because = || "a change of `size` forces it".to_owned();
    let cases = [
        (Cause::Removed, DeletionEffect::Deleted, PinVerdict::Listed),
        (Cause::Removed, DeletionEffect::Forgotten, PinVerdict::Listed),
        (Cause::Destroyed, DeletionEffect::Deleted, PinVerdict::Listed),
        (Cause::Replaced { because: because() }, DeletionEffect::Deleted, PinVerdict::Declared),
        (Cause::Removed, DeletionEffect::DeletedWithContainer { name: with }, PinVerdict::Listed),
        (Cause::LeftOver, DeletionEffect::Deleted, PinVerdict::Listed),
        (Cause::Removed, DeletionEffect::Deleted, PinVerdict::Lost),
        (Cause::Replaced { because: because() }, DeletionEffect::Deleted, PinVerdict::Lost),
        (Cause::Removed, DeletionEffect::Deleted, PinVerdict::Unlisted),
        (Cause::Destroyed, DeletionEffect::Deleted, PinVerdict::Unlisted),
    ];
    let text = cases.map(|(cause, effect, pin)| {
        let resource = recorded(":t.Box#data", "data", true);
        let deletion = Deletion {
            resource: &resource,
            current_marks: Default::default(),
            cause,
            effect,
            declared_pin: Declared::NotPinned,
        };
        text_of(&refusal(&deletion, pin).unwrap().diagnostic())
    });
    insta::assert_snapshot!(text.join("\n"), @"
    ST0414 dev:main:t.Box#data was removed from the program, and it is pinned
      note: It was declared at main.ts:1:1.
      note: Nothing was changed: the guards check the whole plan before it runs.
      help: keep it; or set `pinned: false` on it, apply the program, then try again
      help: if the program no longer declares it: remove the pin t.Box.data, then try again
    ST0414 dev:main:t.Box#data was removed from the program, and it is pinned
      note: It was declared at main.ts:1:1.
      note: Nothing was changed: the guards check the whole plan before it runs.
      help: keep it; or set `pinned: false` on it, apply the program, then try again
      help: if the program no longer declares it: remove the pin t.Box.data, then try again
    ST0414 cannot delete dev:main:t.Box#data: it is pinned
      note: It was declared at main.ts:1:1.
      note: Nothing was changed: the guards check the whole plan before it runs.
      help: keep it; or set `pinned: false` on it, apply the program, then try again
      help: if the program no longer declares it: remove the pin t.Box.data, then try again
    ST0414 cannot replace dev:main:t.Box#data: a change of `size` forces it, and it is pinned
      at main.ts:1:1: declared here
      note: Nothing was changed: the guards check the whole plan before it runs.
      help: undo the change
      help: or set `pinned: false` on it, apply the program, then change it
    ST0414 dev:main:t.Box#data would be deleted with dev:main:t.Box#around, and it is pinned
      note: It was declared at main.ts:1:1.
      note: Nothing was changed: the guards check the whole plan before it runs.
      help: keep it; or set `pinned: false` on it, apply the program, then try again
      help: if the program no longer declares it: remove the pin t.Box.data, then try again
    ST0414 cannot delete the old copy of dev:main:t.Box#data: it is pinned
      at main.ts:1:1: declared here
      note: Nothing was changed: the guards check the whole plan before it runs.
      help: keep it; or set `pinned: false` on it, apply the program, then try again
      help: if the program no longer declares it: remove the pin t.Box.data, then try again
    ST0418 dev:main:t.Box#data was removed from the program, and it was pinned at the last run (the pinfile is missing, or has no section for this stack)
      note: It was declared at main.ts:1:1.
      note: Nothing was changed: the guards check the whole plan before it runs.
      help: to keep it, write its entry again: restore the pinfile from state
      help: to end the pin: remove the pin t.Box.data, then try again
      help: to keep it and apply the rest: apply the program and keep the pinned resources
    ST0418 cannot replace dev:main:t.Box#data: a change of `size` forces it, and it was pinned at the last run (the pinfile is missing, or has no section for this stack)
      at main.ts:1:1: declared here
      note: Nothing was changed: the guards check the whole plan before it runs.
      help: to keep it, write its entry again: restore the pinfile from state
      help: to end the pin: remove the pin t.Box.data, then try again
    ST0414 dev:main:t.Box#data was removed from the program, and it was pinned at the last run (the pinfile has no entry for it, and no release)
      note: It was declared at main.ts:1:1.
      note: Nothing was changed: the guards check the whole plan before it runs.
      help: to keep it, write its entry again: restore the pinfile from state
      help: to end the pin: remove the pin t.Box.data, then try again
      help: to keep it and apply the rest: apply the program and keep the pinned resources
    ST0414 cannot delete dev:main:t.Box#data: it was pinned at the last run (the pinfile has no entry for it, and no release)
      note: It was declared at main.ts:1:1.
      note: Nothing was changed: the guards check the whole plan before it runs.
      help: to keep it, write its entry again: restore the pinfile from state
      help: to end the pin: remove the pin t.Box.data, then try again
    ");
}

#[test]
fn pins_in_state_of_undeclared_resources_are_released_by_name() {
    let base = state(vec![recorded(":t.Box#a", "a", true), recorded(":t.Box#b", "b", true)]);
    let program = Program::default().pinned(":t.Box#a", "a");
    for text in [None, Some(with("")), Some(with(r#""t.Box.a":{"type":"t.Box"}"#))] {
        let applied =
            apply_pinfile(program.0.clone(), pins(text.as_deref()), &FewTypes, Some(&base), Orphans::Release)
                .unwrap();
        assert!(changes(&applied).contains(&"[-pin] t.Box.b".to_owned()), "{:?}", changes(&applied));
        let PinfileUpdate::Write(text) = applied.pins.update(EmptySection::Remove) else { panic!() };
        let again = program.apply_pinfile_on(Some(&text), Some(&base)).unwrap();
        assert!(again.changes.is_empty(), "{text}");
        let resource = recorded(":t.Box#b", "b", true);
        assert_eq!(pin_verdict(&resource, Declared::NotPinned, &again.status), PinVerdict::Free, "{text}");
    }
}

#[test]
fn released_resource_that_the_program_pins_is_pinned_again() {
    let text = with(
        r#""t.Box.new":{"type":"t.Box","originalPath":"t.Box.data","released":true,"attributes":{"path":"x"}}"#,
    );
    let applied = Program::default().pinned(":t.Box#new", "y").apply_pinfile(Some(&text)).unwrap();
    assert_eq!(changes(&applied), ["[+pin] t.Box.new"]);
    let PinfileUpdate::Write(text) = applied.pins.update(EmptySection::Remove) else { panic!() };
    assert!(text.contains("t.Box.data") && text.contains("\"x\"") && !text.contains("released"), "{text}");
}

#[test]
fn resource_that_state_alone_pins_and_the_program_unpins_is_named() {
    let base = state(vec![recorded(":t.Box#a", "a", true)]);
    let alone = Program::default().unpinned(":t.Box#a", "a").apply_pinfile_on(None, Some(&base)).unwrap();
    assert_eq!(changes(&alone), ["[-pin] t.Box.a"]);
    for text in [None, Some(with(r#""t.Box.a":{"type":"t.Box","released":true}"#))] {
        let program = Program::default().unpinned(":t.Box#a", "a").pinned(":t.Box#b", "b");
        let applied = program.apply_pinfile_on(text.as_deref(), Some(&base)).unwrap();
        assert_eq!(changes(&applied), ["[-pin] t.Box.a", "[+pin] t.Box.b"]);
    }
}

#[test]
fn kept_orphans_stay_in_the_file() {
    let text = with(r#""t.Box.a":{"type":"t.Box"}"#);
    let applied =
        apply_pinfile(Program::default().0, pins(Some(&text)), &FewTypes, None, Orphans::Keep).unwrap();
    assert!(applied.changes.is_empty());
    assert_eq!(applied.pins.update(EmptySection::Remove), PinfileUpdate::Unchanged);
}

#[test]
fn resource_with_a_pending_deletion_gets_no_restored_entry() {
    let [deleted, updated] = [":t.Box#deleted", ":t.Box#updated"].map(|name| recorded(name, "a", true));
    let mut base = state(vec![deleted.clone(), updated.clone()]);
    let (key, other) = ("k".to_owned(), "l".to_owned());
    let intents = [
        Intent::Delete { key, copy: deleted.copy(), after: AfterDelete::Gone },
        Intent::Update { key: other, resource: Box::new(updated), previous: Default::default() },
    ];
    for (op, intent) in (1..).zip(intents) {
        base.apply(&Record::begin(OpId(op), intent)).unwrap();
    }
    let entries = entries_from_state(&base, &pins(None), &FewTypes);
    assert_eq!(entries.keys().collect::<Vec<_>>(), ["t.Box.updated"]);
}

#[test]
fn lost_entries_are_restored_from_state() {
    let base = state(vec![
        recorded(":t.Box#data", "data", true),
        recorded(":t.Box#other", "other", false),
        recorded("/Store:t.Key#k", "k", true),
    ]);
    let entries = entries_from_state(&base, &pins(None), &FewTypes);
    let sections = [("local".to_owned(), entries)].into();
    insta::assert_snapshot!(super::super::print(&sections), @r#"
    {
      "version": "1",
      "pinned": {
        "local": {
          "t.Box.data": {
            "type": "t.Box",
            "attributes": {},
            "environments": {
              "dev": {
                "path": "data"
              }
            }
          },
          "t.Key.Store_k_ECD7E2C8": {
            "type": "t.Key",
            "attributes": {}
          }
        }
      }
    }
    "#);
}
