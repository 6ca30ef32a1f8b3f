//! Changes of long and nested values in a plan, at the widths of common terminals.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use std::collections::BTreeMap;

use stead_model::{
    CopyRef, Environment, Generation, Input, Inputs, Name, NodeId, PhysicalId, PropertyPath, Resource,
    SourceRef, TypeToken, Uid, Value,
};
use stead_plan::{Action, AfterDelete, Certainty, Incarnation, Plan, Step, Summary, Why};
use stead_render::{Detail, Header, Style, View, Wrap, leaves_out_new_properties, plan, plan_json};
use stead_schema::{Change, ReplaceOrder};

fn copy(uid: &str) -> CopyRef {
    CopyRef { uid: Uid(uid.into()), generation: Generation(1) }
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

fn change(path: &str, old: impl Into<Value>, new: impl Into<Value>) -> Change {
    let (old, new) = (Some(old.into()), Some(Input::Known(new.into())));
    Change { path: PropertyPath::of(path), old, new, replaces: false, tried_in_place: false }
}

fn step(name: &str, action: Action, why: Why, changes: Vec<Change>) -> Step {
    Step {
        action,
        why,
        name: name.parse().unwrap(),
        ty: TypeToken("t.T".into()),
        source: SourceRef { file: "main.ts".into(), line: 3, column: 1 },
        changes,
        unknown_from: Vec::new(),
        after: Vec::new(),
        node: Some(NodeId(0)),
        from_pinfile: Vec::new(),
    }
}

fn update(name: &str, changes: Vec<Change>) -> Step {
    step(name, Action::Update { copy: copy("u1"), inputs: Inputs::new() }, Why::Changed, changes)
}

fn create(name: &str) -> Step {
    let inputs = [("path".to_owned(), Value::from("x.txt").into())].into();
    step(
        name,
        Action::Create { incarnation: Incarnation::First { counter: 0 }, inputs },
        Why::New,
        Vec::new(),
    )
}

fn delete(name: &str) -> Step {
    let action = Action::Delete { copy: copy("u1"), after_delete: AfterDelete::Gone };
    Step { node: None, ..step(name, action, Why::Removed, Vec::new()) }
}

fn replace(name: &str) -> Step {
    let incarnation = Incarnation::Next { uid: Uid("u1".into()), generation: Generation(2) };
    let why = Why::Replaced {
        forced_by: vec![PropertyPath::of("path")],
        order: ReplaceOrder::CreateFirst,
        certainty: Certainty::Certain,
        cause: None,
    };
    let changes = vec![Change { replaces: true, ..change("path", "a.txt", "b.txt") }];
    step(name, Action::Create { incarnation, inputs: Inputs::new() }, why, changes)
}

fn plan_of(steps: Vec<Step>, output_changes: Vec<Change>) -> Plan {
    Plan {
        steps,
        summary: Summary { unchanged: 14, ..Summary::default() },
        outputs: Inputs::new(),
        output_changes,
        uids: 0,
        existing: BTreeMap::new(),
        places: Vec::new(),
        suggestions: Vec::new(),
        ambiguities: Vec::new(),
        unchanged: Vec::new(),
        purpose: Default::default(),
        outer: Default::default(),
    }
}

fn with_view<T>(unchanged: &[Name], style: Style, run: impl FnOnce(&View<'_>) -> T) -> T {
    let dev = Environment::new("dev");
    let place = SourceRef { file: "old.ts".into(), line: 9, column: 1 };
    let name = "dev:main:t.T#any".parse().unwrap();
    let record = Resource {
        id: Some(PhysicalId("/srv/www/a.txt".into())),
        inputs: [("path".to_owned(), Value::from("a.txt"))].into_iter().collect(),
        ..Resource::new(Uid("u1".into()), name, TypeToken("t.T".into()), place)
    };
    let unchanged: Vec<&Name> = unchanged.iter().collect();
    run(&View {
        header: Header { project: "shop", environment: &dev, target: "local" },
        record: &|copy: &CopyRef| (copy.uid == record.uid).then_some(&record),
        schema: &|_| None,
        unchanged: &unchanged,
        style,
    })
}

fn style(width: usize) -> Style {
    Style { width, wrap: Wrap::Words, ..Style::default() }
}

fn lines(count: usize, edit: impl Fn(usize) -> Option<&'static str>) -> String {
    (1..=count).map(|n| edit(n).map_or_else(|| format!("line {n}\n"), str::to_owned)).collect()
}

/// An update of every kind of value.
fn changes() -> Plan {
    let long = |middle: &str| format!("{}{middle}{}", "arn:aws:iam::1234/".repeat(10), "/end".repeat(40));
    let pod = |image: &str| {
        let containers: String = (1..=3)
            .map(|n| format!("  - name: c{n}\n    image: {}\n", if n == 2 { image } else { "web:1" }))
            .collect();
        format!(
            "apiVersion: v1\nkind: Pod\nmetadata:\n  name: web\nspec:\n  replicas: 2\n  containers:\n{containers}"
        )
    };
    let policy = |action: &str, extra: &str| {
        format!(
            r#"{{"Version":"2012","Statement":[{{"Sid":"Read","Effect":"Allow","Action":["s3:Get","{action}"]}}{extra}]}}"#
        )
    };
    let text = vec![
        change(
            "content",
            lines(30, |_| None),
            lines(30, |n| match n {
                15 => Some("line fifteen\n"),
                20 => Some(""),
                21 => Some("line 21\nand one more\n"),
                _ => None,
            }),
        ),
        change("manifest", pod("web:1"), pod("web:2")),
        change("policy", policy("s3:List", ""), policy("s3:Put", r#",{"Sid":"New"}"#)),
        change("token", long("A"), long("B")),
    ];
    let whitespace = vec![
        change("indent", "a\n\tb\n", "a\n    b\n"),
        change("ending", "a\nb", "a\nb\n"),
        change("trailing", "a b", "a b "),
        change("space", "a b", "a\u{a0}b"),
        change("type", Value::from(1), Value::from("1")),
        change("escape", "a\\nb", "a\nb"),
    ];
    let ports = r#"["http","https","ssh","dns","smtp","imap","pop","ntp","ldap"]"#;
    let nested = vec![
        change("ports", json(ports), json(r#"["ldap","http","https","ssh","dns","smtp","pop","ntp","git"]"#)),
        change(
            "rules",
            json(r#"[{"name":"a","from":1,"to":2},{"name":"b","from":1,"to":{"port":80,"host":"x"}}]"#),
            json(r#"[{"name":"b","from":1,"to":{"port":8080,"host":"x"}},{"name":"c"}]"#),
        ),
        change("tags", json("[]"), json(r#"["x"]"#)),
    ];
    let outputs = vec![change("url", "https://a.example/".repeat(12), "https://b.example/".repeat(12))];
    let steps = vec![
        delete("dev:main:t.T#old"),
        update("dev:main:t.T#text", text),
        update("dev:net.vpc/Network#a:t.T#whitespace", whitespace),
        replace("dev:main:t.T#moved"),
        update("dev:net.vpc/Network#a:t.T#nested", nested),
    ];
    plan_of(steps, outputs)
}

#[test]
fn changes_at_60_columns() {
    insta::assert_snapshot!(with_view(&[], style(60), |view| plan(&changes(), view)));
}

#[test]
fn changes_at_80_columns() {
    insta::assert_snapshot!(with_view(&[], style(80), |view| plan(&changes(), view)));
}

#[test]
fn changes_at_120_columns() {
    insta::assert_snapshot!(with_view(&[], style(120), |view| plan(&changes(), view)));
}

#[test]
fn concise_plan_has_one_line_a_resource() {
    let style = Style { detail: Detail::Concise, ..style(80) };
    insta::assert_snapshot!(with_view(&[], style, |view| plan(&changes(), view)));
}

#[test]
fn full_plan_leaves_nothing_out() {
    let style = Style { detail: Detail::Full, ..style(80) };
    let unchanged: Vec<Name> =
        ["dev:main:t.T#x", "dev:other:t.T#y"].iter().map(|name| name.parse().unwrap()).collect();
    let text = with_view(&unchanged, style, |view| plan(&changes(), view));
    assert!(!text.lines().any(|line| line.trim_start().starts_with("… ")), "{text}");
    assert!(text.contains("line 1\n") && text.contains("line 30\n"), "{text}");
    assert!(text.contains("same main:t.T#x") && text.contains("same other:t.T#y"), "{text}");
}

#[test]
fn plan_of_300_resources_is_grouped_with_the_dangerous_last() {
    let mut steps = Vec::new();
    for n in 0..300 {
        let name = format!("dev:m{}/Web#w{}:t.T#r{n}", n % 5, n % 2);
        steps.push(match n {
            7 | 120 => delete(&name),
            9 => replace(&name),
            n if n % 60 == 0 => update(&name, vec![change("size", "small", "big")]),
            _ => create(&name),
        });
    }
    let unchanged: Vec<Name> =
        (0..1000).map(|n| format!("dev:m{}/Web#w0:t.T#u{n}", n % 5).parse().unwrap()).collect();
    let plan_of_all = plan_of(steps, Vec::new());
    let text = with_view(&unchanged, style(80), |view| plan(&plan_of_all, view));
    assert!(leaves_out_new_properties(&plan_of_all, &style(80)));
    let position = |part: &str| text.find(part).unwrap_or_else(|| panic!("{part} is not in {text}"));
    let last_safe = text.rfind("+ create").unwrap().max(text.rfind("~ update").unwrap());
    assert!(position("± replace") > last_safe && position("- delete") > last_safe, "{text}");
    assert!(text.contains("m0/Web#w0: 29 changes, … 200 unchanged\n"), "{text}");
    assert!(text.lines().count() < 400 && !text.contains("x.txt") && !text.contains("dev:m"), "{text}");
    assert!(text.contains("    size: \"small\" → \"big\"\n"), "{text}");
    let concise = Style { detail: Detail::Concise, ..style(80) };
    let text = with_view(&unchanged, concise, |view| plan(&plan_of_all, view));
    assert!(text.lines().count() < 330, "{text}");
}

#[test]
fn json_plan_has_the_records_of_what_goes() {
    let plan = plan_of(vec![delete("dev:main:t.T#old")], Vec::new());
    let text = with_view(&[], style(80), |view| serde_json::to_value(plan_json(&plan, view)).unwrap());
    let recorded = &text["recorded"][0];
    assert_eq!(recorded["id"], "/srv/www/a.txt");
    assert_eq!(recorded["properties"]["path"], "a.txt");
    assert_eq!(text["steps"][0]["action"], "delete");
}
