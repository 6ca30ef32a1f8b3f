//! Two different values never look alike.

use proptest::prelude::*;
use stead_model::{Map, Number, PropertyPath, Value};
use stead_schema::Change;

use super::{Body, Line, Sign};
use crate::change::differences;
use crate::{Detail, Style, change_lines};

fn change(old: &Value, new: &Value) -> Change {
    let path = PropertyPath::of("p");
    Change {
        path,
        old: Some(old.clone()),
        new: Some(new.clone().into()),
        replaces: false,
        tried_in_place: false,
    }
}

/// Returns the texts of the old and of the new side.
fn sides(lines: &[Line]) -> (String, String) {
    let (mut old, mut new, mut last) = (String::new(), String::new(), Sign::Both);
    for line in lines {
        match (&line.sign, &line.body) {
            (_, Body::Pair { label, old: a, new: b }) => {
                let changed = if a == b { " (changed)" } else { "" };
                old.push_str(&format!("{label}: {a}\n"));
                new.push_str(&format!("{label}: {b}{changed}\n"));
            }
            (Sign::Old, Body::Text(text)) => old.push_str(&format!("{text}\n")),
            (Sign::New, Body::Text(text)) => new.push_str(&format!("{text}\n")),
            (Sign::NoNewline, _) if last == Sign::Old => old.push('\\'),
            (Sign::NoNewline, _) => new.push('\\'),
            // `[1] → [0] value` moves an element; `p: value (new)` has no old side.
            (Sign::Moved, Body::Text(text)) => {
                let (from, to) = text.split_once(" → ").unwrap();
                old.push_str(&format!("{from}\n"));
                new.push_str(&format!("{to}\n"));
            }
            (Sign::Both, Body::Text(text)) if text.ends_with("(new)") => new.push_str(text),
            (Sign::Both, _) => {}
        }
        last = line.sign;
    }
    (old, new)
}

fn check_pair(old: &Value, new: &Value, style: &Style) {
    let lines = differences(&change(old, new), style);
    let (a, b) = sides(&lines);
    assert_ne!(a, b, "{}", change_lines(&change(old, new), style));
}

fn texts() -> impl Strategy<Value = String> {
    prop_oneof![
        "[ab1 \t\n\r\"\\\\…⇥\u{a0}\u{200b}]{0,6}",
        "([a-c]{0,2} ?\n){0,12}[a-c]?",
        "(- )?[ab]: [0-3]\n([ab]:\n  - [ab]: 1\n){0,3}",
        ".{0,8}",
        // Long strings that differ in the middle only.
        ("[xy]{1,3}", 0usize..3).prop_map(|(middle, part)| {
            let (before, after) = ("a b ".repeat(60 + part), "c".repeat(300));
            format!("{before}{middle}{after}")
        }),
        "[xy]{0,900}",
        Just("1".to_owned()),
        Just("null".to_owned()),
    ]
}

fn values() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (-2i64..3).prop_map(Value::from),
        any::<f64>().prop_filter_map("finite", |n| Number::from_f64(n).map(Value::Number)),
        texts().prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 40, 6, |inner| {
        let map = proptest::collection::btree_map("[a-c]|name|x y", inner.clone(), 0..4);
        let map = map.prop_map(|map| Value::Map(map.into_iter().collect::<Map>()));
        let list = proptest::collection::vec(inner, 0..6).prop_map(Value::from);
        prop_oneof![
            map.clone(),
            list.clone(),
            map.prop_map(|value| Value::from(value.to_json())),
            list.prop_map(|value| Value::from(value.to_json())),
        ]
    })
}

fn styles() -> impl Strategy<Value = Style> {
    (prop_oneof![Just(60usize), Just(80), Just(120)], prop_oneof![Just(Detail::Normal), Just(Detail::Full)])
        .prop_map(|(width, detail)| Style { width, detail, ..Style::default() })
}

/// A value, and the same value with a small edit: an element or key less, a leaf changed, a list reordered.
fn edited() -> impl Strategy<Value = (Value, Value)> {
    (values(), any::<u64>(), values()).prop_map(|(value, seed, other)| {
        let changed = edit(&value, seed, &other);
        (value, changed)
    })
}

fn edit(value: &Value, seed: u64, other: &Value) -> Value {
    let deeper = seed / 7;
    if let Some(list) = value.as_list().filter(|list| !list.is_empty()) {
        let mut list = list.to_vec();
        let at = (deeper % list.len() as u64) as usize;
        match seed % 5 {
            0 => drop(list.remove(at)),
            1 => list.insert(at, other.clone()),
            2 => list.rotate_left(at),
            3 => list.swap(0, at),
            _ => list[at] = edit(&list[at], deeper, other),
        }
        return Value::from(list);
    }
    if let Some(map) = value.as_map().filter(|map| !map.is_empty()) {
        let mut entries: Vec<(String, Value)> = map.iter().map(|(k, v)| (k.to_string(), v.clone())).collect();
        let at = (deeper % entries.len() as u64) as usize;
        match seed % 3 {
            0 => drop(entries.remove(at)),
            1 => entries.push(("new".to_owned(), other.clone())),
            _ => entries[at].1 = edit(&entries[at].1, deeper, other),
        }
        return Value::Map(entries.into_iter().collect::<Map>());
    }
    match value.as_str() {
        Some(text) => {
            let mut chars: Vec<char> = text.chars().collect();
            let at = (deeper % (chars.len() as u64 + 1)) as usize;
            match seed % 4 {
                0 => chars.insert(at, ' '),
                1 => chars.insert(at, '\n'),
                2 if at < chars.len() => drop(chars.remove(at)),
                _ => chars.insert(at, '\t'),
            }
            Value::from(chars.into_iter().collect::<String>())
        }
        None => other.clone(),
    }
}

/// Returns the value with every text in it as a secret.
fn concealed(value: &Value) -> Value {
    if let Some(list) = value.as_list() {
        return Value::from(list.iter().map(concealed).collect::<Vec<Value>>());
    }
    if let Some(map) = value.as_map() {
        return Value::Map(
            map.iter().map(|(key, value)| (key.to_string(), concealed(value))).collect::<Map>(),
        );
    }
    if value.as_str().is_some() { Value::secret(value.clone()) } else { value.clone() }
}

#[test]
fn changed_secret_in_a_list_or_an_object_is_told_at_its_path() {
    let value = |secret: &str| {
        let element = [("name", Value::from("a")), ("v", Value::secret(Value::from(secret)))];
        let element = element.map(|(key, value)| (key.to_owned(), value));
        Value::from(vec![Value::Map(Map::from(element)), Value::from("b")])
    };
    let text = change_lines(&change(&value("old-hunter2"), &value("new-hunter2")), &Style::default());
    assert_eq!(
        text,
        "    p:\n      [0].v: [secret] (changed)\n      … 1 unchanged in [0]\n        [1] \"b\"\n"
    );
    let same = change(&value("one"), &Value::from(vec![Value::from("b")]));
    assert!(!change_lines(&same, &Style::default()).contains("hunter2"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn both_sides_of_a_change_differ((old, new) in edited(), other in values(), style in styles()) {
        if old != new {
            check_pair(&old, &new, &style);
            check_pair(&new, &old, &style);
        }
        if old != other {
            check_pair(&old, &other, &style);
        }
    }

    #[test]
    fn both_sides_of_a_change_of_secrets_differ((old, new) in edited(), other in values(), style in styles()) {
        for new in [new, other] {
            let (old, new) = (concealed(&old), concealed(&new));
            if old != new {
                check_pair(&old, &new, &style);
                check_pair(&new, &old, &style);
            }
        }
    }

    #[test]
    fn change_determines_both_values((new, other) in edited(), old in values(), style in styles()) {
        if new != other && old != new && old != other {
            let text = |a: &Value, b: &Value| change_lines(&change(a, b), &style);
            prop_assert_ne!(text(&old, &new), text(&old, &other), "one old value, two new ones");
            prop_assert_ne!(text(&new, &old), text(&other, &old), "two old values, one new one");
        }
    }

    #[test]
    fn edits_of_one_value_look_different((old, new) in edited(), seed in any::<u64>(), style in styles()) {
        let other = edit(&old, seed, &Value::from("z"));
        if old != new && old != other && new != other {
            let text = |a: &Value, b: &Value| change_lines(&change(a, b), &style);
            prop_assert_ne!(text(&old, &new), text(&old, &other));
        }
    }

    #[test]
    fn value_alone_determines_itself(a in values(), b in values()) {
        if a != b {
            prop_assert_ne!(crate::value(&a), crate::value(&b));
        }
    }
}
