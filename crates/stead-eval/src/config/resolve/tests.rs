//! Tests of resolution: precedence, types of texts, rules of declarations, saved config.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
use proptest::prelude::*;

use super::*;
use crate::config::Variable;

fn given(key: &str, value: Value, origin: &str) -> Setting {
    Setting {
        key: Key::parse(key).unwrap(),
        given: Given::Value(value),
        origin: Origin::Argument(origin.to_owned()),
    }
}

fn text(key: &str, text: &str) -> Setting {
    let origin = Origin::Argument("flag".to_owned());
    Setting { key: Key::parse(key).unwrap(), given: Given::Text(text.to_owned()), origin }
}

fn schema(json: &str) -> Schema {
    Schema::read(&serde_json::from_str(json).unwrap(), &|_| None).unwrap()
}

fn messages(resolution: &Resolution) -> Vec<String> {
    resolution.problems.iter().map(|problem| problem.message.clone()).collect()
}

proptest! {
    /// The values equal nested tables to which all settings are applied in order, the weakest first.
    #[test]
    fn stronger_settings_win_and_tables_merge(
        settings in prop::collection::vec((prop::sample::select(vec!["a", "b", "t", "t.x", "t.y", "t.x.deep", "u.x"]), 0_u8..2), 0..12),
        split in 0_usize..12,
    ) {
        let all: Vec<Setting> =
            settings.iter().enumerate().map(|(at, (key, _))| given(key, Value::from(at as i64), "x")).collect();
        let split = split.min(all.len());
        let config = Config { project: all[..split].to_vec(), call: all[split..].to_vec(), ..Config::default() };
        let mut wanted = Map::new();
        for (at, (key, _)) in settings.iter().enumerate() {
            set(&mut wanted, Key::parse(key).unwrap().parts(), Value::from(at as i64));
        }
        let resolution = config.resolve();
        prop_assert_eq!(&resolution.values, &wanted);
        prop_assert!(resolution.problems.is_empty());
        // Every setting is explained once, and the one that holds is the last.
        let explained = resolution.explain(None);
        prop_assert_eq!(explained.iter().map(|one| one.settings.len()).sum::<usize>(), all.len());
        for one in &explained {
            prop_assert!(one.settings[0].holds && one.settings.iter().skip(1).all(|setting| !setting.holds));
            prop_assert_eq!(one.value.as_ref(), Some(&one.settings[0].value));
        }
    }
}

#[test]
fn text_takes_the_type_of_the_declaration_or_of_the_value_it_overrides() {
    let config = Config {
        project: vec![given("n", Value::from(2), "file"), given("s", Value::from("2"), "file")],
        variables: vec![Variable { name: "STEAD_CONFIG_N".to_owned(), text: "3".to_owned() }],
        call: vec![text("s", "4"), text("new", "5")],
        ..Config::default()
    };
    assert_eq!(Value::Map(config.resolve().values).to_json(), r#"{"n":3,"new":"5","s":"4"}"#);
    let wrong = Config { call: vec![text("n", "x")], ..config.clone() };
    assert_eq!(messages(&wrong.resolve()), ["config `n` must be a number, not \"x\""]);
    let schema = schema(r#"{"n":"string","s":"number","new":{"type":"boolean","default":true}}"#);
    let declared = Config {
        schema: Some(schema),
        project: Vec::new(),
        call: vec![text("s", "4"), text("new", "false")],
        ..config
    };
    assert_eq!(Value::Map(declared.resolve().values).to_json(), r#"{"n":"3","new":false,"s":4}"#);
}

#[test]
fn every_rule_of_a_declaration_is_checked() {
    let schema = schema(
        r#"{"s":{"type":"string","pattern":"^[a-z]+$","max":4},"i":{"type":"integer","min":1},"e":{"type":"string","enum":["x","y"]},
            "l":{"type":"list","items":"string","max":1},"m":{"type":"map","items":"number"},"r":{"type":"string","required":true},
            "p":{"type":"string","secret":true,"pattern":"^ok$"}}"#,
    );
    let project = |settings: Vec<Setting>| Config {
        schema: Some(schema.clone()),
        project: settings,
        ..Config::default()
    };
    let list = |items: &[&str]| items.iter().map(|item| Value::from(*item)).collect::<Value>();
    let good = [
        given("s", "abc".into(), ""),
        given("i", 1.into(), ""),
        given("e", "x".into(), ""),
        given("l", list(&["a"]), ""),
        given("m.k", 1.into(), ""),
        given("r", "".into(), ""),
        given("p", "ok".into(), ""),
    ];
    assert_eq!(messages(&project(good.to_vec()).resolve()), [""; 0]);
    let bad = [
        given("s", "A".into(), ""),
        given("i", 0.into(), ""),
        given("e", "z".into(), ""),
        given("l", list(&["a", "b"]), ""),
        given("m.k", "1".into(), ""),
        given("p", "canary".into(), ""),
        given("rr", "".into(), ""),
    ];
    assert_eq!(
        messages(&project(bad.to_vec()).resolve()),
        [
            "config `rr` is not declared in the schema",
            "config `e` must be one of \"x\", \"y\", not \"z\"",
            "config `i` must be at least 1, not 0",
            "config `l` must be at most 1 items",
            "config `m` must hold only numbers, and `k` is a string",
            "config `p` must match the pattern `^ok$`, not [secret]",
            "config `r` is required, and has no value; it must be a string",
            "config `s` must match the pattern `^[a-z]+$`, not \"A\"",
        ]
    );
}

#[test]
fn saved_config_has_no_secret_and_still_resolves() {
    let schema = schema(
        r#"{"p":{"type":"string","secret":true,"required":true},"q":{"type":"string","secret":true,"default":"canary"},"n":"number"}"#,
    );
    let config = Config {
        schema: Some(schema),
        project: vec![given("q", "canary".into(), "")],
        variables: ["P", "N", "OTHER_TOKEN"]
            .map(|name| Variable { name: format!("STEAD_CONFIG_{name}"), text: "7".to_owned() })
            .to_vec(),
        call: vec![text("q", "canary")],
    };
    let saved = config.without_secrets();
    let json = serde_json::to_string(&saved).unwrap();
    assert!(!json.contains("canary") && json.contains("STEAD_CONFIG_N"), "{json}");
    assert!(!json.contains("OTHER_TOKEN"), "{json}");
    let read: Config = serde_json::from_str(&json).unwrap();
    assert_eq!(read, saved);
    assert_eq!(messages(&read.resolve()), [""; 0]);
    assert_eq!(read.resolve().value(&Key::of(["n"])), Some(Value::from(7)));
}

fn secret(value: impl Into<Value>) -> Value {
    Value::secret(value.into())
}

fn locked() -> Value {
    Value::Secret(stead_model::Secret::stored(stead_model::Stored::Sealed(stead_model::Ciphertext(
        "x".to_owned(),
    ))))
}

#[test]
fn secret_value_is_checked_where_it_can_be_opened_and_never_shown() {
    let schema = schema(
        r#"{"p":{"type":"string","pattern":"^ok$"},"n":{"type":"integer","min":5},"m":{"type":"map","items":"number"},
            "e":{"type":"string","enum":["x"]},"l":{"type":"string","min":5}}"#,
    );
    let table: Value = serde_json::from_str(r#"{"canary":"canary"}"#).unwrap();
    let config = |settings: Vec<Setting>| Config {
        schema: Some(schema.clone()),
        project: settings,
        ..Config::default()
    };
    let bad = config(vec![
        given("p", secret("canary"), ""),
        given("n", secret("3"), ""),
        given("m", secret(table), ""),
        given("e", secret("canary"), ""),
        given("l", locked(), ""),
    ]);
    let resolution = bad.resolve();
    assert_eq!(
        messages(&resolution),
        [
            "config `e` must be one of \"x\", not [secret]",
            "config `m` must hold only numbers, and one is a string, not [secret]",
            "config `n` must be at least 5, not [secret]",
            "config `p` must match the pattern `^ok$`, not [secret]",
        ]
    );
    let explained = serde_json::to_string(&resolution.explain(Some(&schema))).unwrap();
    assert!(!explained.contains("canary") && explained.contains("[secret]"), "{explained}");
    assert!(!format!("{bad:?}{resolution:?}").contains("canary"));
    let good = config(vec![given("n", secret("7"), ""), given("p", secret("ok"), "")]).resolve();
    assert_eq!(messages(&good), [""; 0]);
    assert_eq!(good.value(&Key::of(["n"])), Some(secret(7)));
}

#[test]
fn setting_over_a_secret_is_secret_and_a_saved_config_has_neither() {
    let config = Config {
        project: vec![
            given("p", secret("canary"), ""),
            given("t.q", secret("canary"), ""),
            given("t.r", 1.into(), ""),
        ],
        variables: vec![Variable { name: "STEAD_CONFIG_P".to_owned(), text: "canary".to_owned() }],
        call: vec![text("t.q", "canary"), text("o", "open")],
        ..Config::default()
    };
    let shown = format!("{config:?}");
    assert!(!shown.contains("canary") && shown.contains("STEAD_CONFIG_P"), "{shown}");
    let resolution = config.resolve();
    assert_eq!(
        Value::Map(resolution.values.clone()).to_json(),
        r#"{"o":"open","p":"[secret]","t":{"q":"[secret]","r":1}}"#
    );
    assert_eq!(resolution.value(&Key::of(["p"])), Some(secret("canary")));
    let explained = serde_json::to_string(&resolution.explain(None)).unwrap();
    assert!(!explained.contains("canary"), "{explained}");
    let saved = config.without_secrets();
    let json = serde_json::to_string(&saved).unwrap();
    assert!(!json.contains("canary") && json.contains("open"), "{json}");
    assert_eq!(serde_json::from_str::<Config>(&json).unwrap(), saved);
    assert_eq!(messages(&saved.resolve()), [""; 0]);
}

#[test]
fn value_in_a_secret_table_is_a_secret() {
    let table: Value = serde_json::from_str(r#"{"user":{"name":"root"}}"#).unwrap();
    let resolution = Config { project: vec![given("db", secret(table), "")], ..Config::default() }.resolve();
    assert_eq!(resolution.value(&Key::of(["db", "user", "name"])), Some(secret("root")));
    let found = crate::config::look_up(&resolution.values, "db.user.name");
    assert_eq!(found, Some((secret("root"), Key::of(["db", "user", "name"]))));
}
