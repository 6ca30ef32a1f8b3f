//! What a pin says to a deletion: the program, the file and state, in every combination.

use std::collections::BTreeSet;

use stead_model::{Lifecycle, OpId};
use stead_state::{AfterDelete, Intent, Record};

use super::super::{Content, Declared, Emptied, Hold, Standing, Unlisted, entries_of, hold};
use super::{FewTypes, Program, lines, pins, recorded, state, told, with};
use crate::{Cause, Deletion, Fate, decide};

fn standings() -> [Standing; 5] {
    let of = |text: Option<String>| Standing::of(&pins(text.as_deref()));
    [
        Standing::NotKept,
        of(None),
        of(Some(with(""))),
        of(Some(with(r#""t.Box.data":{"type":"t.Box"}"#))),
        of(Some(with(r#""t.Box.new":{"type":"t.Box","originalPath":"t.Box.data"}"#))),
    ]
}

#[test]
fn the_program_the_file_and_state_are_all_asked() {
    use Hold::{Declared as Source, Free, Listed, Lost};
    let table = [
        // pinned in state, pinned in source: no pins kept, file gone, entry gone, listed, moved from there
        (false, Declared::NotPinned, [Free, Free, Free, Listed, Listed]),
        (true, Declared::NotPinned, [Free, Lost, Free, Listed, Listed]),
        (false, Declared::Pinned, [Free, Source, Source, Source, Source]),
        (true, Declared::Pinned, [Free, Source, Source, Source, Source]),
    ];
    for (in_state, declared, expected) in table {
        let resource = recorded(":t.Box#data", "data", in_state);
        for (standing, expected) in standings().iter().zip(expected) {
            assert_eq!(
                hold(&resource, declared, standing, None),
                expected,
                "{in_state} {declared:?} {standing:?}"
            );
        }
    }
}

#[test]
fn what_was_never_in_the_file_was_not_taken_out_of_it() {
    let set = |path: &str| BTreeSet::from([path.to_owned()]);
    let [_, lost, emptied, listed, _] = standings();
    let mut updated = emptied.clone();
    updated.release_unlisted();
    let (before, never) = (set("t.Box.data"), set("t.Box.other"));
    let others = Standing::Listed { paths: set("t.Box.other"), unlisted: Unlisted::Held };
    for (in_state, standing, once, expected) in [
        (true, &emptied, Some(&before), Hold::Free),
        (true, &emptied, Some(&never), Hold::Unlisted),
        (true, &emptied, None, Hold::Free),
        (true, &others, None, Hold::Unlisted),
        (true, &others, Some(&before), Hold::Free),
        (false, &emptied, Some(&never), Hold::Free),
        (true, &updated, Some(&never), Hold::Free),
        (true, &listed, Some(&never), Hold::Listed),
        (true, &lost, Some(&never), Hold::Lost),
    ] {
        let resource = recorded(":t.Box#data", "data", in_state);
        let found = hold(&resource, Declared::NotPinned, standing, once);
        assert_eq!(found, expected, "{in_state} {standing:?} {once:?}");
    }
}

#[test]
fn a_section_that_was_just_made_for_an_environment_unprotects_nothing() {
    let pin = r#"{"t.Box.data":{"type":"t.Box"}}"#;
    let resource = recorded(":t.Box#data", "data", true);
    for (special, general, expected) in [
        ("{}", Some(pin), Hold::Listed),
        ("{}", Some("{}"), Hold::Free),
        ("{}", None, Hold::Free),
        (r#"{"t.Box.other":{"type":"t.Box"}}"#, Some(pin), Hold::Unlisted),
    ] {
        let general = general.map(|pins| format!(",\"local\":{pins}")).unwrap_or_default();
        let text = format!("{{\"version\":\"1\",\"pinned\":{{\"local:dev\":{special}{general}}}}}");
        let standing = Standing::of(&pins(Some(&text)));
        assert_eq!(hold(&resource, Declared::NotPinned, &standing, None), expected, "{text}");
    }
}

#[test]
fn a_name_that_it_had_is_asked_for_too() {
    let mut resource = recorded(":t.Box#elsewhere", "data", true);
    resource.ties.aliases.push("dev:main:t.Box#data".parse().unwrap());
    let [.., listed, moved] = standings();
    assert_eq!(hold(&resource, Declared::NotPinned, &listed, None), Hold::Listed);
    assert_eq!(hold(&resource, Declared::NotPinned, &moved, None), Hold::Listed);
}

#[test]
fn an_old_copy_is_held_if_it_was_pinned_itself() {
    let [.., listed, _] = standings();
    for (pinned, expected) in [(false, Hold::Free), (true, Hold::Listed)] {
        let mut copy = recorded(":t.Box#data", "data", pinned);
        copy.lifecycle = Lifecycle::Condemned;
        assert_eq!(hold(&copy, Declared::NotPinned, &listed, None), expected);
    }
}

#[test]
fn every_cause_is_refused_and_says_what_to_do() {
    let with = "dev:main:t.Box#around".parse().unwrap();
    let because = || "a change of `size` forces it".to_owned();
    let cases = [
        (Cause::Removed, Fate::Deleted, Hold::Listed),
        (Cause::Removed, Fate::Forgotten, Hold::Listed),
        (Cause::Destroyed, Fate::Deleted, Hold::Listed),
        (Cause::Replaced { because: because() }, Fate::Deleted, Hold::Declared),
        (Cause::Removed, Fate::GoneWith { name: with }, Hold::Listed),
        (Cause::LeftOver, Fate::Deleted, Hold::Listed),
        (Cause::Removed, Fate::Deleted, Hold::Lost),
        (Cause::Replaced { because: because() }, Fate::Deleted, Hold::Lost),
        (Cause::Removed, Fate::Deleted, Hold::Unlisted),
        (Cause::Destroyed, Fate::Deleted, Hold::Unlisted),
    ];
    let text = cases.map(|(cause, fate, pin)| {
        let resource = recorded(":t.Box#data", "data", true);
        let deletion = Deletion { resource: &resource, today: Default::default(), cause, fate, pin };
        told(&decide(&[deletion]).unwrap_err()[0].diagnostic())
    });
    insta::assert_snapshot!(text.join("\n"), @"
    ST0414 dev:main:t.Box#data was removed from the program, and it is pinned
      at main.ts:1:1: declared here
      note: Nothing was changed: the guards look at the whole plan before anything runs.
      help: keep it; or set `pinned: false` on it, run `stead up`, then try again
      help: if it is in the program no more: stead pin rm t.Box.data, then try again
    ST0414 dev:main:t.Box#data was removed from the program, and it is pinned
      at main.ts:1:1: declared here
      note: Nothing was changed: the guards look at the whole plan before anything runs.
      help: keep it; or set `pinned: false` on it, run `stead up`, then try again
      help: if it is in the program no more: stead pin rm t.Box.data, then try again
    ST0414 cannot delete dev:main:t.Box#data: it is pinned
      at main.ts:1:1: declared here
      note: Nothing was changed: the guards look at the whole plan before anything runs.
      help: keep it; or set `pinned: false` on it, run `stead up`, then try again
      help: if it is in the program no more: stead pin rm t.Box.data, then try again
    ST0414 cannot replace dev:main:t.Box#data: a change of `size` forces it, and it is pinned
      at main.ts:1:1: declared here
      note: Nothing was changed: the guards look at the whole plan before anything runs.
      help: undo the change
      help: or set `pinned: false` on it, run `stead up`, then change it
    ST0414 dev:main:t.Box#data would go with dev:main:t.Box#around, and it is pinned
      at main.ts:1:1: declared here
      note: Nothing was changed: the guards look at the whole plan before anything runs.
      help: keep it; or set `pinned: false` on it, run `stead up`, then try again
      help: if it is in the program no more: stead pin rm t.Box.data, then try again
    ST0414 cannot delete the old copy of dev:main:t.Box#data: it is pinned
      at main.ts:1:1: declared here
      note: Nothing was changed: the guards look at the whole plan before anything runs.
      help: keep it; or set `pinned: false` on it, run `stead up`, then try again
      help: if it is in the program no more: stead pin rm t.Box.data, then try again
    ST0418 dev:main:t.Box#data was removed from the program, and it was pinned at the last run (the pinfile is gone)
      at main.ts:1:1: declared here
      note: Nothing was changed: the guards look at the whole plan before anything runs.
      help: `stead pin restore` writes the pinfile again from what state remembers
      help: if it is to go: stead pin rm t.Box.data, then try again
    ST0418 cannot replace dev:main:t.Box#data: a change of `size` forces it, and it was pinned at the last run (the pinfile is gone)
      at main.ts:1:1: declared here
      note: Nothing was changed: the guards look at the whole plan before anything runs.
      help: `stead pin restore` writes the pinfile again from what state remembers
      help: if it is to go: stead pin rm t.Box.data, then try again
    ST0414 dev:main:t.Box#data was removed from the program, and it is pinned (the run that made it did not end well, so the pinfile has no entry yet)
      at main.ts:1:1: declared here
      note: Nothing was changed: the guards look at the whole plan before anything runs.
      help: keep it: declare it again and run `stead up`, which writes its entry
      help: if it is to go: stead up --update-pins
    ST0414 cannot delete dev:main:t.Box#data: it is pinned (the run that made it did not end well, so the pinfile has no entry yet)
      at main.ts:1:1: declared here
      note: Nothing was changed: the guards look at the whole plan before anything runs.
      help: set `pinned: false` on it, run `stead up`, then try again
      help: if it is in the program no more: stead up --update-pins
    ");
}

#[test]
fn a_file_that_is_lost_is_not_written_without_what_only_state_remembers() {
    let base = state(vec![recorded(":t.Box#a", "a", true), recorded(":t.Box#b", "b", true)]);
    let written = |program: Program, text: Option<&str>| {
        let settled = program.settle_on(text, Some(&base)).unwrap();
        (settled.pins.write(Emptied::Removed) != Content::Unchanged, lines(&settled).len())
    };
    let one = || Program::default().pinned(":t.Box#a", "a");
    assert_eq!(written(one(), None), (false, 0));
    assert_eq!(written(one().pinned(":t.Box#b", "b"), None), (true, 2), "all are known");
    assert_eq!(written(one().unpinned(":t.Box#b", "b"), None), (true, 1), "let go on purpose");
    assert_eq!(written(one(), Some(&with(""))), (true, 1), "taken out on purpose");
}

#[test]
fn what_was_being_deleted_gets_no_entry_again() {
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
    let entries = entries_of(&base, &FewTypes);
    assert_eq!(entries.keys().collect::<Vec<_>>(), ["t.Box.updated"]);
}

#[test]
fn lost_entries_are_made_again_from_state() {
    let base = state(vec![
        recorded(":t.Box#data", "data", true),
        recorded(":t.Box#other", "other", false),
        recorded("/Store:t.Key#k", "k", true),
    ]);
    let entries = entries_of(&base, &FewTypes);
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
