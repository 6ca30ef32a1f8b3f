//! Pin verdicts for all combinations of program, pinfile and state.

use std::collections::BTreeSet;

use stead_model::{Lifecycle, OpId};
use stead_state::{AfterDelete, Intent, Record};

use super::super::{
    Declared, EmptySection, PinVerdict, PinfileStatus, PinfileUpdate, Unlisted, entries_from_state,
    pin_verdict,
};
use super::{FewTypes, Program, changes, pins, recorded, state, text_of, with};
use crate::deletion::refusal;
use crate::{Cause, Deletion, DeletionEffect};

fn statuses() -> [PinfileStatus; 5] {
    let of = |text: Option<String>| PinfileStatus::of(&pins(text.as_deref()));
    [
        PinfileStatus::NotKept,
        of(None),
        of(Some(with(""))),
        of(Some(with(r#""t.Box.data":{"type":"t.Box"}"#))),
        of(Some(with(r#""t.Box.new":{"type":"t.Box","originalPath":"t.Box.data"}"#))),
    ]
}

#[test]
fn verdict_depends_on_program_pinfile_and_state() {
    use PinVerdict::{Declared as Source, Free, Listed, Lost};
    let table = [
        // pinned in state, pinned in the program: no pins kept, file missing, entry removed, listed, moved from there
        (false, Declared::NotPinned, [Free, Free, Free, Listed, Listed]),
        (true, Declared::NotPinned, [Free, Lost, Free, Listed, Listed]),
        (false, Declared::Pinned, [Free, Source, Source, Source, Source]),
        (true, Declared::Pinned, [Free, Source, Source, Source, Source]),
    ];
    for (in_state, declared, expected) in table {
        let resource = recorded(":t.Box#data", "data", in_state);
        for (status, expected) in statuses().iter().zip(expected) {
            assert_eq!(
                pin_verdict(&resource, declared, status, None),
                expected,
                "{in_state} {declared:?} {status:?}"
            );
        }
    }
}

#[test]
fn pin_that_was_never_in_the_file_does_not_count_as_removed() {
    let set = |path: &str| BTreeSet::from([path.to_owned()]);
    let [_, lost, emptied, listed, _] = statuses();
    let mut updated = emptied.clone();
    updated.release_unlisted();
    let (before, never) = (set("t.Box.data"), set("t.Box.other"));
    let others = PinfileStatus::Listed { paths: set("t.Box.other"), unlisted: Unlisted::Held };
    for (in_state, status, recorded_paths, expected) in [
        (true, &emptied, Some(&before), PinVerdict::Free),
        (true, &emptied, Some(&never), PinVerdict::Unlisted),
        (true, &emptied, None, PinVerdict::Free),
        (true, &others, None, PinVerdict::Unlisted),
        (true, &others, Some(&before), PinVerdict::Free),
        (false, &emptied, Some(&never), PinVerdict::Free),
        (true, &updated, Some(&never), PinVerdict::Free),
        (true, &listed, Some(&never), PinVerdict::Listed),
        (true, &lost, Some(&never), PinVerdict::Lost),
    ] {
        let resource = recorded(":t.Box#data", "data", in_state);
        let verdict = pin_verdict(&resource, Declared::NotPinned, status, recorded_paths);
        assert_eq!(verdict, expected, "{in_state} {status:?} {recorded_paths:?}");
    }
}

#[test]
fn new_empty_section_of_an_environment_releases_no_pin() {
    let pin = r#"{"t.Box.data":{"type":"t.Box"}}"#;
    let resource = recorded(":t.Box#data", "data", true);
    for (specific, general, expected) in [
        ("{}", Some(pin), PinVerdict::Listed),
        ("{}", Some("{}"), PinVerdict::Free),
        ("{}", None, PinVerdict::Free),
        (r#"{"t.Box.other":{"type":"t.Box"}}"#, Some(pin), PinVerdict::Unlisted),
    ] {
        let general = general.map(|pins| format!(",\"local\":{pins}")).unwrap_or_default();
        let text = format!("{{\"version\":\"1\",\"pinned\":{{\"local:dev\":{specific}{general}}}}}");
        let status = PinfileStatus::of(&pins(Some(&text)));
        assert_eq!(pin_verdict(&resource, Declared::NotPinned, &status, None), expected, "{text}");
    }
}

#[test]
fn former_name_of_a_pinned_resource_counts() {
    let mut resource = recorded(":t.Box#elsewhere", "data", true);
    resource.ties.aliases.push("dev:main:t.Box#data".parse().unwrap());
    let [.., listed, moved] = statuses();
    assert_eq!(pin_verdict(&resource, Declared::NotPinned, &listed, None), PinVerdict::Listed);
    assert_eq!(pin_verdict(&resource, Declared::NotPinned, &moved, None), PinVerdict::Listed);
}

#[test]
fn condemned_copy_is_pinned_only_if_its_record_is() {
    let [.., listed, _] = statuses();
    for (pinned, expected) in [(false, PinVerdict::Free), (true, PinVerdict::Listed)] {
        let mut copy = recorded(":t.Box#data", "data", pinned);
        copy.lifecycle = Lifecycle::Condemned;
        assert_eq!(pin_verdict(&copy, Declared::NotPinned, &listed, None), expected);
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
      at main.ts:1:1: declared here
      note: Nothing was changed: the guards check the whole plan before it runs.
      help: keep it; or set `pinned: false` on it, apply the program, then try again
      help: if the program no longer declares it: remove the pin t.Box.data, then try again
    ST0414 dev:main:t.Box#data was removed from the program, and it is pinned
      at main.ts:1:1: declared here
      note: Nothing was changed: the guards check the whole plan before it runs.
      help: keep it; or set `pinned: false` on it, apply the program, then try again
      help: if the program no longer declares it: remove the pin t.Box.data, then try again
    ST0414 cannot delete dev:main:t.Box#data: it is pinned
      at main.ts:1:1: declared here
      note: Nothing was changed: the guards check the whole plan before it runs.
      help: keep it; or set `pinned: false` on it, apply the program, then try again
      help: if the program no longer declares it: remove the pin t.Box.data, then try again
    ST0414 cannot replace dev:main:t.Box#data: a change of `size` forces it, and it is pinned
      at main.ts:1:1: declared here
      note: Nothing was changed: the guards check the whole plan before it runs.
      help: undo the change
      help: or set `pinned: false` on it, apply the program, then change it
    ST0414 dev:main:t.Box#data would be deleted with dev:main:t.Box#around, and it is pinned
      at main.ts:1:1: declared here
      note: Nothing was changed: the guards check the whole plan before it runs.
      help: keep it; or set `pinned: false` on it, apply the program, then try again
      help: if the program no longer declares it: remove the pin t.Box.data, then try again
    ST0414 cannot delete the old copy of dev:main:t.Box#data: it is pinned
      at main.ts:1:1: declared here
      note: Nothing was changed: the guards check the whole plan before it runs.
      help: keep it; or set `pinned: false` on it, apply the program, then try again
      help: if the program no longer declares it: remove the pin t.Box.data, then try again
    ST0418 dev:main:t.Box#data was removed from the program, and it was pinned at the last run (the pinfile is missing)
      at main.ts:1:1: declared here
      note: Nothing was changed: the guards check the whole plan before it runs.
      help: to keep it, write the pinfile again: restore the pinfile from state
      help: to delete it: remove the pin t.Box.data, then try again
    ST0418 cannot replace dev:main:t.Box#data: a change of `size` forces it, and it was pinned at the last run (the pinfile is missing)
      at main.ts:1:1: declared here
      note: Nothing was changed: the guards check the whole plan before it runs.
      help: to keep it, write the pinfile again: restore the pinfile from state
      help: to delete it: remove the pin t.Box.data, then try again
    ST0414 dev:main:t.Box#data was removed from the program, and it is pinned (the run that created it did not succeed, so the pinfile has no entry yet)
      at main.ts:1:1: declared here
      note: Nothing was changed: the guards check the whole plan before it runs.
      help: to keep it, declare it again and write its entry: apply the program
      help: to delete it: apply the program and update the pins
    ST0414 cannot delete dev:main:t.Box#data: it is pinned (the run that created it did not succeed, so the pinfile has no entry yet)
      at main.ts:1:1: declared here
      note: Nothing was changed: the guards check the whole plan before it runs.
      help: set `pinned: false` on it, apply the program, then try again
      help: if the program no longer declares it: apply the program and update the pins
    ");
}

#[test]
fn missing_file_is_not_written_while_state_has_more_pins_than_the_program() {
    let base = state(vec![recorded(":t.Box#a", "a", true), recorded(":t.Box#b", "b", true)]);
    let written = |program: Program, text: Option<&str>| {
        let settled = program.apply_pinfile_on(text, Some(&base)).unwrap();
        (settled.pins.update(EmptySection::Remove) != PinfileUpdate::Unchanged, changes(&settled).len())
    };
    let one = || Program::default().pinned(":t.Box#a", "a");
    assert_eq!(written(one(), None), (false, 0));
    assert_eq!(written(one().pinned(":t.Box#b", "b"), None), (true, 2), "the program has all pins");
    assert_eq!(written(one().unpinned(":t.Box#b", "b"), None), (true, 1), "unpinned on purpose");
    assert_eq!(written(one(), Some(&with(""))), (true, 1), "removed on purpose");
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
        base.apply(&Record::Begin { op: OpId(op), intent }).unwrap();
    }
    let entries = entries_from_state(&base, &FewTypes);
    assert_eq!(entries.keys().collect::<Vec<_>>(), ["t.Box.updated"]);
}

#[test]
fn lost_entries_are_restored_from_state() {
    let base = state(vec![
        recorded(":t.Box#data", "data", true),
        recorded(":t.Box#other", "other", false),
        recorded("/Store:t.Key#k", "k", true),
    ]);
    let entries = entries_from_state(&base, &FewTypes);
    let sections = [("local".to_owned(), entries)].into();
    insta::assert_snapshot!(super::super::print(&sections), @r#"
    {
      "version": "1",
      "pinned": {
        "local": {
          "t.Box.data": {
            "type": "t.Box",
            "attributes": {
              "path": "data"
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
