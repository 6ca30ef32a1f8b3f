//! All combinations of levels against an independent oracle, and properties of farther levels.

use proptest::prelude::*;
use stead_model::DeletionPolicy::{Delete, Retain};

use super::*;
use crate::marks::read::{MarkReader, RawMark, RawValue, Spelling, UnknownKeys};

fn level(index: usize) -> Level {
    match index {
        0 => Level::Resource("db".into()),
        1 => Level::Enclosing("web".into()),
        2 => Level::Environment("prod".into()),
        3 => Level::Project("shop".into()),
        _ => Level::Flag,
    }
}

fn read(level: Level, entries: &[(&str, RawValue)]) -> LevelMarks {
    let entries = entries.iter().map(|(key, value)| RawMark {
        key: (*key).to_owned(),
        spelling: Spelling::Annotation,
        value: value.clone(),
        place: None,
    });
    MarkReader { unknown_keys: UnknownKeys::Refused, service: None }.read(level, entries).unwrap()
}

fn policy_text(policy: DeletionPolicy) -> RawValue {
    RawValue::Text(if policy == Delete { "delete" } else { "retain" }.into())
}

/// Nine settings: service key and general key at four levels, then the flag.
type Nine<T> = [Option<T>; 9];

fn levels_of<T: Copy>(slots: &Nine<T>, name: &str, given: impl Fn(T) -> RawValue) -> Vec<LevelMarks> {
    let service_key = format!("s3/{name}");
    (0..5)
        .map(|index| {
            let mut entries = Vec::new();
            if index == 4 {
                entries.extend(slots[8].map(|value| (name, given(value))));
            } else {
                entries.extend(slots[2 * index].map(|value| (service_key.as_str(), given(value))));
                entries.extend(slots[2 * index + 1].map(|value| (name, given(value))));
            }
            read(level(index), &entries)
        })
        .collect()
}

fn nine<T: Copy>(mut number: usize, values: [T; 2]) -> Nine<T> {
    std::array::from_fn(|_| {
        let digit = number % 3;
        number /= 3;
        digit.checked_sub(1).map(|which| values[which])
    })
}

#[test]
fn all_19683_combinations_of_policies_match_the_oracle() {
    for number in 0..3usize.pow(9) {
        let slots = nine(number, [Delete, Retain]);
        let levels = levels_of(&slots, "deletion-policy", policy_text);
        let levels: Vec<&LevelMarks> = levels.iter().collect();
        // The oracle: the nearest setting decides.
        let mut expected = Delete;
        for policy in slots.iter().rev().flatten() {
            expected = *policy;
        }
        let choice = explain_policy(&levels, "s3");
        assert_eq!(choice.value, expected, "{slots:?}");
        assert_eq!(resolve(&levels, "s3").policy().unwrap_or(Delete), expected);
        assert_eq!(choice.table.len(), slots.iter().flatten().count() + 1);
        assert_eq!(choice.table.iter().filter(|row| row.effect == SettingEffect::Decides).count(), 1);
    }
}

#[test]
fn all_19683_combinations_of_prevention_match_the_oracle() {
    for number in 0..3usize.pow(9) {
        let slots = nine(number, [false, true]);
        let levels = levels_of(&slots, "prevent-delete", RawValue::Bool);
        let levels: Vec<&LevelMarks> = levels.iter().collect();
        let nearest = slots[..8].iter().flatten().next().copied();
        let expected = slots[8] == Some(true) || nearest == Some(true);
        assert_eq!(resolve(&levels, "s3").prevents_deletion(), expected, "{slots:?}");
        let choice = explain_prevention(&levels, "s3");
        assert_eq!(choice.value, expected);
        let by_flag = slots[8] == Some(true) && nearest != Some(true);
        assert_eq!(choice.source.level == Level::Flag, by_flag, "{slots:?}");
        // A flag with the value false has no effect and no row.
        let rows = slots[..8].iter().flatten().count() + usize::from(slots[8] == Some(true)) + 1;
        assert_eq!(choice.table.len(), rows, "{slots:?}");
        assert_eq!(choice.table.iter().filter(|row| row.effect == SettingEffect::Decides).count(), 1);
    }
}

#[test]
fn documented_truth_table_holds() {
    let (d, r) = (Some(Delete), Some(Retain));
    let no = None;
    for (slots, expected) in [
        ([no, no, no, no, no, no, no, no, no], Delete),
        ([no, no, no, no, no, no, no, no, r], Retain),
        ([no, no, no, no, no, no, no, d, r], Delete),
        ([no, no, no, no, no, r, no, d, d], Retain),
        ([no, no, no, no, d, r, r, r, r], Delete),
        ([no, no, no, r, d, d, d, d, d], Retain),
        ([no, d, r, r, r, r, r, r, r], Delete),
        ([r, d, d, d, d, d, d, d, d], Retain),
    ] {
        let levels = levels_of(&slots, "deletion-policy", policy_text);
        let levels: Vec<&LevelMarks> = levels.iter().collect();
        assert_eq!(explain_policy(&levels, "s3").value, expected, "{slots:?}");
    }
}

#[test]
fn lock_overrules_a_nearer_false_and_is_reported() {
    for (own, locked, expected, source) in [
        (None, false, false, "prevent-delete on environment \"prod\""),
        (None, true, true, "prevent-delete-lock on project \"shop\""),
        (Some(false), true, true, "prevent-delete-lock on project \"shop\""),
        (Some(false), false, false, "prevent-delete on resource \"db\""),
        (Some(true), true, true, "prevent-delete on resource \"db\""),
    ] {
        let own: Vec<(&str, RawValue)> =
            own.map(|own| ("prevent-delete", RawValue::Bool(own))).into_iter().collect();
        let resource = read(level(0), &own);
        let environment = read(level(2), &[("prevent-delete", RawValue::Bool(false))]);
        let project = read(level(3), &[("prevent-delete-lock", RawValue::Bool(locked))]);
        let choice = explain_prevention(&[&resource, &environment, &project], "s3");
        assert_eq!((choice.value, choice.source.to_string().as_str()), (expected, source));
    }
}

#[test]
fn key_of_another_service_has_no_effect() {
    let project = read(level(3), &[("rds/deletion-policy", RawValue::Text("retain".into()))]);
    assert!(resolve(&[&project], "s3").is_empty());
    assert!(resolve(&[&project], "rds").retains());
    assert_eq!(project.services().map(|(service, _)| service).collect::<Vec<_>>(), ["rds"]);
}

fn some_marks() -> impl Strategy<Value = Vec<(&'static str, RawValue)>> {
    let policy = prop_oneof![Just("delete"), Just("retain")].prop_map(|text| RawValue::Text(text.into()));
    let policies = prop::sample::subsequence(
        vec!["s3/deletion-policy", "deletion-policy", "rds/deletion-policy"],
        0..=3,
    );
    let flags =
        prop::sample::subsequence(vec!["s3/prevent-delete", "prevent-delete", "rds/prevent-delete"], 0..=3);
    (policies, prop::collection::vec(policy, 3), flags, prop::collection::vec(any::<bool>(), 3)).prop_map(
        |(policies, values, flags, bits)| {
            let flags = flags.into_iter().zip(bits).map(|(key, bit)| (key, RawValue::Bool(bit)));
            policies.into_iter().zip(values).chain(flags).collect()
        },
    )
}

proptest! {
    #[test]
    fn farther_mark_never_changes_a_nearer_decision(
        near in prop::collection::vec(some_marks(), 1..4),
        far in prop::collection::vec(some_marks(), 1..4),
    ) {
        let all: Vec<LevelMarks> =
            near.iter().chain(&far).enumerate().map(|(index, marks)| read(Level::Project(index.to_string()), marks)).collect();
        let all: Vec<&LevelMarks> = all.iter().collect();
        let before = resolve(&all[..near.len()], "s3");
        let after = resolve(&all, "s3");
        if before.prevent_delete.is_some() {
            prop_assert_eq!(&before.prevent_delete, &after.prevent_delete);
        }
        if before.deletion_policy.is_some() {
            prop_assert_eq!(&before.deletion_policy, &after.deletion_policy);
        }
    }

    #[test]
    fn locks_and_the_flag_only_ever_add_protection(
        marks in prop::collection::vec(some_marks(), 1..4),
        lock in prop::option::of(any::<bool>()),
        flag in prop::option::of(any::<bool>()),
    ) {
        let bare: Vec<LevelMarks> =
            marks.iter().enumerate().map(|(index, marks)| read(Level::Enclosing(index.to_string()), marks)).collect();
        let set = |key: &'static str, value: Option<bool>| -> Vec<(&str, RawValue)> {
            value.map(|value| (key, RawValue::Bool(value))).into_iter().collect()
        };
        let project = read(level(3), &set("prevent-delete-lock", lock));
        let flags = read(Level::Flag, &set("prevent-delete", flag));
        let bare: Vec<&LevelMarks> = bare.iter().collect();
        let all: Vec<&LevelMarks> = bare.iter().copied().chain([&project, &flags]).collect();
        let (before, after) = (resolve(&bare, "s3"), resolve(&all, "s3"));
        let added = lock == Some(true) || flag == Some(true);
        prop_assert_eq!(after.prevents_deletion(), before.prevents_deletion() || added);
        prop_assert_eq!(before.deletion_policy, after.deletion_policy);
    }

    #[test]
    fn invalid_value_is_an_error_beside_any_other_marks(marks in some_marks(), bad in "[a-z]{0,4}") {
        prop_assume!(!["true"].contains(&bad.as_str()));
        let entries = marks.into_iter().chain([("s3/prevent-delete-lock", RawValue::Text(bad))]);
        let entries = entries.map(|(key, value)| RawMark { key: key.into(), spelling: Spelling::Annotation, value, place: None });
        let read = MarkReader { unknown_keys: UnknownKeys::Refused, service: None }.read(level(3), entries);
        prop_assert!(read.is_err());
    }
}
