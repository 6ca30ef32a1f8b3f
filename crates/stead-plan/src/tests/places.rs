//! Moves of whole modules and instances: one suggestion for all their resources.

use proptest::prelude::*;

use super::moves::{moved, named, recorded, with};
use super::*;
use crate::{Confidence, MovePolicy, MovedPlace};

fn program(rows: &[(&str, &str)]) -> Program {
    rows.iter()
        .fold(Program::default(), |program, (name, size)| named(program, name, &[("size", known(size))]))
}

fn told(plan: &Plan) -> Vec<(String, String, Confidence, usize)> {
    let one = |place: &MovedPlace| {
        (place.from.to_string(), place.to.to_string(), place.confidence, place.resources.len())
    };
    plan.places.iter().map(one).collect()
}

fn base(rows: &[(&str, &str)]) -> State {
    let rows: Vec<(&str, [(&str, &str); 1])> =
        rows.iter().map(|(name, size)| (*name, [("size", *size)])).collect();
    let rows: Vec<(&str, &[(&str, &str)])> = rows.iter().map(|(name, inputs)| (*name, &inputs[..])).collect();
    recorded(&rows)
}

#[test]
fn module_that_moved_into_a_folder_is_one_certain_move() {
    let base = base(&[
        ("dev:main:t.T#user", "0"),
        ("dev:network:t.T#vpc", "1"),
        ("dev:network:t.T", "2"),
        ("dev:network/Zone#a:t.T#in", "3"),
    ]);
    let program = program(&[
        ("dev:main:t.T#user", "0"),
        ("dev:lib.network:t.T#vpc", "changed"),
        ("dev:lib.network:t.T", "2"),
        ("dev:lib.network/Zone#a:t.T#in", "3"),
    ]);
    let plan = program.plan(&base);
    let expected = ("dev:network".to_owned(), "dev:lib.network".to_owned(), Confidence::Certain, 3);
    assert_eq!(told(&plan), [expected]);
    assert_eq!(plan.places[0].equal, 2);
    assert!(plan.suggestions.is_empty() && plan.ambiguities.is_empty(), "{:?}", plan.suggestions);
    assert!(plan.has_likely_moves());
    assert_eq!((plan.summary.create, plan.summary.delete), (3, 3), "a suggestion changes no step");
    let accepted = program.ask(&base, &with(MovePolicy::Accept)).unwrap();
    assert_eq!(moved(&accepted).len(), 3);
    assert_eq!((accepted.summary.create, accepted.summary.delete, accepted.summary.update), (0, 0, 1));
    assert!(accepted.places.is_empty());
    let refused = program.ask(&base, &with(MovePolicy::Refuse)).unwrap();
    assert!(!refused.has_likely_moves() && refused.places.is_empty());
}

#[test]
fn renamed_class_and_class_in_another_module_are_one_move_each() {
    let base = base(&[
        ("dev:main/Site#home:t.T#a", "1"),
        ("dev:main/Site#home/Page:t.T", "2"),
        ("dev:main/Shop:t.T#a", "3"),
        ("dev:main/Shop:t.T#b", "4"),
    ]);
    let plan = program(&[
        ("dev:main/Web#home:t.T#a", "1"),
        ("dev:main/Web#home/Page:t.T", "2"),
        ("dev:lib.shop/Shop:t.T#a", "x"),
        ("dev:lib.shop/Shop:t.T#b", "y"),
        ("dev:main:t.T#new", "5"),
    ])
    .plan(&base);
    let one = |from: &str, to: &str| (from.to_owned(), to.to_owned(), Confidence::Certain, 2);
    assert_eq!(
        told(&plan),
        [one("dev:main/Shop", "dev:lib.shop/Shop"), one("dev:main/Site#home", "dev:main/Web#home")]
    );
}

#[test]
fn two_modules_of_equal_structure_are_told_apart_by_the_names_of_their_files() {
    let base =
        base(&[("dev:a:t.T#x", "1"), ("dev:a:t.T#y", "2"), ("dev:b:t.T#x", "1"), ("dev:b:t.T#y", "2")]);
    let plan = program(&[
        ("dev:lib.a:t.T#x", "1"),
        ("dev:lib.a:t.T#y", "2"),
        ("dev:lib.b:t.T#x", "1"),
        ("dev:lib.b:t.T#y", "2"),
    ])
    .plan(&base);
    let pairs: Vec<(String, String)> =
        plan.places.iter().map(|place| (place.from.to_string(), place.to.to_string())).collect();
    let pair = |from: &str, to: &str| (from.to_owned(), to.to_owned());
    assert_eq!(pairs, [pair("dev:a", "dev:lib.a"), pair("dev:b", "dev:lib.b")]);
}

#[test]
fn tenant_that_replaces_another_one_of_the_same_structure_is_no_move() {
    let base = base(&[("dev:main/Tenant#acme:t.T#a", "1"), ("dev:main/Tenant#acme:t.T#b", "2")]);
    let plan =
        program(&[("dev:main/Tenant#zeta:t.T#a", "3"), ("dev:main/Tenant#zeta:t.T#b", "4")]).plan(&base);
    assert_eq!(told(&plan), []);
    // The same contents are the same tenant under another id.
    let plan =
        program(&[("dev:main/Tenant#zeta:t.T#a", "1"), ("dev:main/Tenant#zeta:t.T#b", "2")]).plan(&base);
    assert_eq!(told(&plan).len(), 1);
}

#[test]
fn place_that_still_declares_a_resource_has_not_moved() {
    let base = base(&[("dev:net:t.T#a", "1"), ("dev:net:t.T#b", "2"), ("dev:net:t.T#c", "3")]);
    let plan = program(&[("dev:lib.net:t.T#a", "1"), ("dev:lib.net:t.T#b", "2"), ("dev:net:t.T#c", "3")])
        .plan(&base);
    assert_eq!(told(&plan), []);
    assert_eq!(plan.suggestions.len(), 2);
}

#[test]
fn alias_in_the_spelling_of_earlier_versions_finds_its_record_and_changes_nothing_afterwards() {
    let alias = |options: &mut Options| options.aliases.push("dev:zone.v2:t.T#a".parse().unwrap());
    let declared = named(Program::default(), "dev:main:t.T#a", &[("size", known("1"))]).options(alias);
    let plan = declared.plan(&base(&[("dev:zone%2Ev2:t.T#a", "1")]));
    assert_eq!(moved(&plan), ["dev:zone%2Ev2:t.T#a -> dev:main:t.T#a"]);
    let mut snapshot = base(&[("dev:main:t.T#a", "1")]).snapshot(None);
    Arc::make_mut(&mut snapshot.resources[0]).ties.aliases = vec!["dev:zone%2Ev2:t.T#a".parse().unwrap()];
    let later = declared.plan(&State::from(snapshot));
    assert!(later.is_empty(), "{}", show(&later));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn nothing_is_left_to_do_after_the_suggested_move_of_a_module(
        rows in proptest::collection::btree_set(("(/[A-C](#[a-c])?){0,2}", proptest::option::of("[a-d]{1,2}")), 2..10),
        to in "lib\\.net|lib\\.deep\\.net|other|main/Net",
    ) {
        let name = |place: &str, (scope, id): &(String, Option<String>)| {
            let id = id.as_ref().map(|id| format!("#{id}")).unwrap_or_default();
            format!("dev:{place}{scope}:t.T{id}")
        };
        let names = |place: &str| -> Vec<(String, String)> {
            rows.iter().enumerate().map(|(at, row)| (name(place, row), at.to_string())).collect()
        };
        let (old, new) = (names("net"), names(&to));
        let old: Vec<(&str, &str)> = old.iter().map(|(name, size)| (name.as_str(), size.as_str())).collect();
        let new: Vec<(&str, &str)> = new.iter().map(|(name, size)| (name.as_str(), size.as_str())).collect();
        let program = program(&new);
        let plan = program.plan(&base(&old));
        prop_assert_eq!(plan.places.len(), 1, "{:?}", plan.suggestions);
        prop_assert!(plan.suggestions.is_empty());
        let place = &plan.places[0];
        // The rename as `stead rename` does it.
        let renamed: Vec<(String, &str)> = old
            .iter()
            .map(|(name, size)| (place.from.renamed(&name.parse().unwrap(), &place.to).unwrap().to_string(), *size))
            .collect();
        let renamed: Vec<(&str, &str)> = renamed.iter().map(|(name, size)| (name.as_str(), *size)).collect();
        let after = program.plan(&base(&renamed));
        prop_assert!(after.is_empty(), "{}", show(&after));
    }
}
