//! Properties of all pinfiles and all programs.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use stead_model::{Environment, Input, Map, Number, TypeToken, Value};

use super::super::{
    Declared, EmptySection, EntryStatus, Orphans, PinEntry, PinVerdict, Pinfile, PinfileChange,
    PinfileStatus, PinfileUpdate, Pins, Section, apply_pinfile, move_pin, pin_verdict, print,
};
use super::{FewTypes, Program, pins, recorded, state};

fn values() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        any::<i64>().prop_map(|number| Value::Number(Number::Int(number))),
        any::<String>().prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 12, 4, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            proptest::collection::btree_map(any::<String>(), inner, 0..4)
                .prop_map(|map| Value::Map(map.into_iter().collect())),
        ]
    })
}

fn sections() -> impl Strategy<Value = BTreeMap<String, Section>> {
    let attributes = proptest::collection::btree_map(any::<String>(), values(), 0..4);
    let status = prop_oneof![Just(EntryStatus::Pinned), Just(EntryStatus::Released)];
    let own = proptest::collection::btree_map(any::<String>(), values(), 0..3);
    let environments = proptest::collection::btree_map("dev|prod|prod:acme", own, 0..3);
    let entry = ("[a-d]{1,3}", proptest::option::of("[A-D]{1,3}"), status, (attributes, environments));
    let section = proptest::collection::vec(entry, 0..5).prop_map(|entries| {
        let mut originals = BTreeSet::new();
        let entries = entries.into_iter().map(|(id, original, status, (attributes, environments))| {
            let original = original.filter(|original| originals.insert(original.clone()));
            let resource = TypeToken("t.Box".into());
            let original_path = original.map(|original| format!("t.Box.{original}"));
            let attributes = attributes.into_iter().collect();
            let environments = environments.into_iter();
            let environments = environments.map(|(key, own)| (key, own.into_iter().collect())).collect();
            (format!("t.Box.{id}"), PinEntry { resource, original_path, status, attributes, environments })
        });
        entries.collect::<Section>()
    });
    proptest::collection::btree_map("local|local:prod|aws|[é-ü]{2}", section, 0..4)
}

proptest! {
    #[test]
    fn printed_sections_are_read_unchanged(sections in sections()) {
        let text = print(&sections);
        let read = Pinfile::read("p", Some(text.as_bytes())).map_err(|problem| problem.message).unwrap();
        prop_assert_eq!(&read.sections, &sections);
        prop_assert_eq!(print(&read.sections), text);
    }

    #[test]
    fn damaged_file_never_makes_the_reader_panic(sections in sections(), at in any::<prop::sample::Index>(), byte in any::<u8>()) {
        let mut bytes = print(&sections).into_bytes();
        let at = at.index(bytes.len());
        bytes[at] = byte;
        if let Ok(read) = Pinfile::read("p", Some(&bytes)) {
            let again = print(&read.sections);
            prop_assert_eq!(Pinfile::read("p", Some(again.as_bytes())).unwrap().sections, read.sections);
        }
    }
}

/// The pin and the path of each box of a program; `None` if the box is not declared.
type Boxes = BTreeMap<String, Option<(bool, String)>>;

fn boxes() -> impl Strategy<Value = Boxes> {
    let declared = proptest::option::of((any::<bool>(), "[a-c]{1,2}"));
    proptest::collection::btree_map("[a-f]", declared, 0..6)
}

fn program(boxes: &Boxes) -> Program {
    let declared = boxes.iter().filter_map(|(id, declared)| Some((id, declared.as_ref()?)));
    declared.fold(Program::default(), |program, (id, (pinned, path))| {
        let name = format!(":t.Box#{id}");
        if *pinned { program.pinned(&name, path) } else { program.unpinned(&name, path) }
    })
}

fn text_after(content: PinfileUpdate, before: Option<String>) -> Option<String> {
    match content {
        PinfileUpdate::Unchanged => before,
        PinfileUpdate::Write(text) => Some(text),
        PinfileUpdate::Remove => None,
    }
}

proptest! {
    #[test]
    fn applying_the_pinfile_twice_equals_applying_it_once(boxes in boxes()) {
        let program = program(&boxes);
        let first = program.apply_pinfile(None).unwrap();
        let text = text_after(first.pins.update(EmptySection::Keep), None);
        let again = program.apply_pinfile(text.as_deref()).unwrap();
        prop_assert!(again.changes.is_empty() && again.overrides.is_empty());
        prop_assert_eq!(again.pins.update(EmptySection::Keep), PinfileUpdate::Unchanged);
        // The file is missing, or has an entry for each pinned box and no other.
        let pinned = boxes.values().flatten().filter(|(pinned, _)| *pinned).count();
        prop_assert_eq!(text.is_some(), pinned > 0);
        prop_assert_eq!(first.changes.len(), pinned);
    }

    #[test]
    fn no_program_loses_a_pinned_resource_silently(before in boxes(), after in boxes()) {
        let text = text_after(program(&before).apply_pinfile(None).unwrap().pins.update(EmptySection::Keep), None);
        let next = program(&after);
        let outcome = next.apply_pinfile(text.as_deref());
        let was = |id: &str| before.get(id).cloned().flatten().filter(|(pinned, _)| *pinned);
        let orphaned = before.keys().any(|id| was(id).is_some() && after.get(id).cloned().flatten().is_none());
        let unpinned_and_changed = after.iter().any(|(id, declared)| {
            let now = declared.as_ref().filter(|(pinned, _)| !*pinned);
            was(id).zip(now).is_some_and(|((_, old), (_, new))| old != *new)
        });
        prop_assert_eq!(outcome.is_err(), orphaned || unpinned_and_changed);
        if let Ok(settled) = outcome {
            for node in &settled.graph.nodes {
                // A resource that was pinned has the value that it was pinned with.
                if let Some((_, path)) = was(node.name.short()) {
                    prop_assert_eq!(&node.inputs["path"], &Input::Known(Value::from(path)));
                }
            }
        }
    }

    #[test]
    fn removing_orphans_is_never_refused_and_leaves_none(before in boxes(), after in boxes()) {
        let text = text_after(program(&before).apply_pinfile(None).unwrap().pins.update(EmptySection::Keep), None);
        // Unpinning with a change of identity is still refused, so the paths stay the same.
        let after: Boxes = after.into_iter().map(|(id, declared)| {
            let old = before.get(&id).cloned().flatten().map(|(_, path)| path);
            (id, declared.map(|(pinned, path)| (pinned, old.unwrap_or(path))))
        }).collect();
        let graph = program(&after).0;
        let settled = apply_pinfile(graph.clone(), pins(text.as_deref()), &FewTypes, None, Orphans::Release).unwrap();
        let text = text_after(settled.pins.update(EmptySection::Keep), text);
        let again = apply_pinfile(graph, pins(text.as_deref()), &FewTypes, None, Orphans::Refuse).unwrap();
        prop_assert!(again.changes.is_empty());
        prop_assert!(settled.changes.windows(2).all(|pair| pair[0] < pair[1]));
    }

    #[test]
    fn recorded_move_keeps_all_values(path in "[a-z]{1,4}", hops in proptest::collection::vec("[a-c]", 1..5)) {
        let mut at = "start".to_owned();
        let settled = Program::default().pinned(":t.Box#start", &path).apply_pinfile(None).unwrap();
        let mut text = text_after(settled.pins.update(EmptySection::Keep), None).unwrap();
        for hop in hops {
            if hop == at {
                continue;
            }
            let file = Pinfile::read("p", Some(text.as_bytes())).unwrap();
            let (from, to) = (format!("t.Box.{at}"), format!("t.Box.{hop}"));
            text = text_after(move_pin(&file, "local", &from, &to).unwrap().0, Some(text)).unwrap();
            at = hop;
            let settled = Program::default().pinned(&format!(":t.Box#{at}"), "elsewhere").apply_pinfile(Some(&text)).unwrap();
            prop_assert!(settled.changes.is_empty());
            prop_assert_eq!(&settled.graph.nodes[0].inputs["path"], &Input::Known(Value::from(path.as_str())));
            prop_assert_eq!(settled.graph.nodes[0].options.original_path.as_deref(), Some("t.Box.start"));
        }
    }

    #[test]
    fn sections_of_other_targets_are_never_changed(sections in sections(), boxes in boxes()) {
        let text = print(&sections);
        let file = Pinfile::read("p", Some(text.as_bytes())).unwrap();
        let open = Pins::open(file, "gcp", &Environment::new("dev"));
        let settled = apply_pinfile(program(&boxes).0, open, &FewTypes, None, Orphans::Refuse).unwrap();
        prop_assert!(settled.changes.iter().all(|change| matches!(change, PinfileChange::Added(_))));
        if let Some(text) = text_after(settled.pins.update(EmptySection::Remove), Some(text)) {
            let mut read = Pinfile::read("p", Some(text.as_bytes())).unwrap().sections;
            read.remove("gcp");
            prop_assert_eq!(read, sections);
        } else {
            prop_assert!(sections.is_empty());
        }
    }
}

#[test]
fn order_of_attributes_does_not_matter() {
    let map = |text: &str| -> Map {
        let file = Pinfile::read("p", Some(super::with(text).as_bytes())).unwrap();
        file.sections["local"]["t.Box.a"].attributes.clone()
    };
    let one = map(r#""t.Box.a":{"attributes":{"b":1,"a":2},"type":"t.Box"}"#);
    let other = map(r#""t.Box.a":{"type":"t.Box","attributes":{"a":2,"b":1}}"#);
    assert_eq!(one, other);
}

/// Sections of any keys, targets and content, with one release at most: of `released`, if it is given.
fn any_sections(released: Option<&'static str>) -> impl Strategy<Value = BTreeMap<String, Section>> {
    let entry = ("[a-c]", proptest::option::of("[a-c]"));
    let section = proptest::collection::vec(entry, 0..4).prop_map(move |entries| {
        let mut originals = BTreeSet::new();
        let entries = entries.into_iter().map(move |(id, original)| {
            let is_released = Some(id.as_str()) == released;
            let fits =
                |original: &String| *original != id && !is_released && Some(original.as_str()) != released;
            let original = original.filter(fits).filter(|original| originals.insert(original.clone()));
            let status = if is_released { EntryStatus::Released } else { EntryStatus::Pinned };
            let original_path = original.map(|original| format!("t.Box.{original}"));
            let entry = PinEntry { original_path, ..PinEntry::new(TypeToken("t.Box".into()), status) };
            (format!("t.Box.{id}"), entry)
        });
        entries.collect::<Section>()
    });
    proptest::collection::btree_map("local|local:dev|local:prod|local:dev:x|aws", section, 0..5)
}

proptest! {
    #[test]
    fn pin_in_state_ends_only_by_a_release(
        sections in any_sections(None),
        others in any_sections(Some("b")),
        environment in "dev|prod|dev:x|new",
        name in "[a-c]",
    ) {
        let open = |sections: &BTreeMap<String, Section>| {
            let file = Pinfile::read("p", Some(print(sections).as_bytes())).unwrap();
            Pins::open(file, "local", &environment.parse().unwrap())
        };
        let resource = recorded(&format!(":t.Box#{name}"), "x", true);
        let verdict = |pins: &Pins| pin_verdict(&resource, Declared::NotPinned, &PinfileStatus::of(pins));
        // No file, section, branch or environment without a release ends the pin.
        prop_assert_ne!(verdict(&open(&sections)), PinVerdict::Free);
        // Nor does the release of another path, nor a run that keeps or refuses orphans.
        if name != "b" {
            prop_assert_ne!(verdict(&open(&others)), PinVerdict::Free);
        }
        let base = state(vec![resource.clone()]);
        for orphans in [Orphans::Keep, Orphans::Refuse] {
            let applied = apply_pinfile(Program::default().0, open(&sections), &FewTypes, Some(&base), orphans);
            let Ok(applied) = applied else { continue };
            prop_assert_ne!(pin_verdict(&resource, Declared::NotPinned, &applied.status), PinVerdict::Free);
            let ended = PinfileChange::Removed(format!("t.Box.{name}"));
            prop_assert!(!applied.changes.contains(&ended));
        }
        // Updating the pins names each pin that it ends, and the file says so afterwards.
        let pins = open(&sections);
        let key = pins.key.clone();
        let applied = apply_pinfile(Program::default().0, pins, &FewTypes, Some(&base), Orphans::Release).unwrap();
        prop_assert_eq!(pin_verdict(&resource, Declared::NotPinned, &applied.status), PinVerdict::Free);
        let PinfileUpdate::Write(text) = applied.pins.update(EmptySection::Remove) else { panic!("written") };
        let written = Pinfile::read("p", Some(text.as_bytes())).unwrap();
        prop_assert!(written.sections[&key].values().all(|entry| entry.status == EntryStatus::Released));
        prop_assert_eq!(verdict(&open(&written.sections)), PinVerdict::Free);
    }
}
