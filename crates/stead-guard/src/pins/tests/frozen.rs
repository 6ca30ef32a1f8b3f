//! Values that are known only after a run, and frozen then.

use stead_model::{Environment, Expr, Input, Map, NodeId, Value};
use stead_state::State;

use super::super::{
    AppliedPinfile, EmptySection, Orphans, PinRefusal, PinfileUpdate, Pins, apply_pinfile, carry_frozen,
    entries_from_state, print,
};
use super::{FewTypes, Program, file, full_text, pins, recorded, state, with};

/// Applies a pinfile in an environment.
fn apply_in(
    environment: &str,
    program: &Program,
    text: Option<&str>,
    state: &State,
) -> Result<AppliedPinfile, PinRefusal> {
    let environment: Environment = environment.parse().unwrap();
    let mut graph = program.0.clone();
    for node in &mut graph.nodes {
        node.name = node.name.in_environment(&environment);
    }
    let pins = Pins::open(file(text), "local", &environment);
    apply_pinfile(graph, pins, &FewTypes, Some(state), Orphans::Refuse)
}

/// Records of one environment.
fn state_of(environment: &str, names: &[(&str, &str)]) -> State {
    let environment: Environment = environment.parse().unwrap();
    let record = |(name, path): &(&str, &str)| {
        let mut record = recorded(name, path, true);
        record.name = record.name.in_environment(&environment);
        record
    };
    state(names.iter().map(record).collect())
}

/// Returns the text of the pinfile after a run that left this state.
fn after_run(environment: &str, program: &Program, text: Option<&str>, state: &State) -> String {
    let mut settled = apply_in(environment, program, text, state).unwrap();
    assert!(settled.wants_completion());
    settled.complete(state, &FewTypes);
    match settled.pins.update(EmptySection::Remove) {
        PinfileUpdate::Write(text) => text,
        other => panic!("{other:?}"),
    }
}

#[test]
fn generated_names_are_frozen_for_each_environment_of_a_shared_section() {
    let program = Program::default().unnamed(":t.Box#data").pinned(":t.Box#fixed", "fixed");
    let of = |environment: &str, path: &str| {
        state_of(environment, &[(":t.Box#data", path), (":t.Box#fixed", "fixed")])
    };
    let dev = after_run("dev", &program, None, &of("dev", "data-7f"));
    let text = after_run("prod:acme", &program, Some(&dev), &of("prod:acme", "data-c4"));
    insta::assert_snapshot!(text, @r#"
    {
      "version": "1",
      "pinned": {
        "local": {
          "t.Box.data": {
            "type": "t.Box",
            "attributes": {},
            "environments": {
              "dev": {
                "path": "data-7f"
              },
              "prod:acme": {
                "path": "data-c4"
              }
            }
          },
          "t.Box.fixed": {
            "type": "t.Box",
            "attributes": {
              "path": "fixed"
            }
          }
        }
      }
    }
    "#);
    assert_eq!(print(&file(Some(&text)).sections), text);
    // After the loss of state, each environment gets its own name again, and a new environment gets none.
    let input = |environment: &str| {
        let settled = apply_in(environment, &program, Some(&text), &state(Vec::new())).unwrap();
        settled.graph.nodes[0].inputs.get("path").cloned()
    };
    assert_eq!(input("dev"), Some(Input::Known(Value::from("data-7f"))));
    assert_eq!(input("prod:acme"), Some(Input::Known(Value::from("data-c4"))));
    assert_eq!(input("prod"), None);
    let settled = apply_in("dev", &program, Some(&text), &of("dev", "data-7f")).unwrap();
    assert!(!settled.wants_completion() && settled.overrides.is_empty());
    assert_eq!(settled.pins.update(EmptySection::Remove), PinfileUpdate::Unchanged);
}

#[test]
fn entry_of_a_compilation_gets_the_generated_name_with_the_next_run() {
    let program = Program::default().unnamed(":t.Box#data");
    let compiled = program.apply_pinfile(None).unwrap();
    let PinfileUpdate::Write(text) = compiled.pins.update(EmptySection::Keep) else { panic!() };
    assert!(text.contains("\"attributes\": {}"), "{text}");
    let text = after_run("dev", &program, Some(&text), &state_of("dev", &[(":t.Box#data", "data-7f")]));
    assert!(text.contains("data-7f"), "{text}");
    let again = program.apply_pinfile(Some(&text)).unwrap();
    assert_eq!(
        again.pins.update(EmptySection::Keep),
        PinfileUpdate::Unchanged,
        "it compiles the same everywhere"
    );
}

#[test]
fn section_of_one_environment_has_generated_names_among_its_attributes() {
    let program = Program::default().unnamed(":t.Box#data");
    for (environment, key, shared) in
        [("dev", "local:dev", false), ("dev:acme", "local:dev:acme", false), ("dev:acme", "local:dev", true)]
    {
        let empty = format!("{{\"version\":\"1\",\"pinned\":{{\"{key}\":{{}}}}}}");
        let base = state_of(environment, &[(":t.Box#data", "data-7f")]);
        let text = after_run(environment, &program, Some(&empty), &base);
        assert_eq!(text.contains("environments"), shared, "the namespaces of dev share a section: {text}");
        let entry = &file(Some(&text)).sections[key]["t.Box.data"];
        let environment: Environment = environment.parse().unwrap();
        assert_eq!(entry.frozen_in(&environment)["path"], Value::from("data-7f"));
    }
}

#[test]
fn name_that_the_provider_chose_stays_unset_while_the_record_has_it() {
    let program = Program::default().unnamed(":t.Box#data");
    let mut chosen = recorded(":t.Box#data", "data-7f", true);
    chosen.outputs = std::mem::replace(&mut chosen.inputs, Map::new());
    let base = state(vec![chosen]);
    let text = after_run("dev", &program, None, &base);
    let settled = program.apply_pinfile_on(Some(&text), Some(&base)).unwrap();
    assert!(!settled.graph.nodes[0].inputs.contains_key("path"), "a set property would be a change");
    let lost = program.apply_pinfile_on(Some(&text), Some(&state(Vec::new()))).unwrap();
    assert_eq!(lost.graph.nodes[0].inputs["path"], Input::Known(Value::from("data-7f")));
    assert!(lost.warnings.is_empty(), "the value is of this environment");
}

#[test]
fn value_of_another_resource_is_frozen_and_keeps_its_source_while_the_record_has_it() {
    let mut program = Program::default().leaf(":t.Key#source", "k").unnamed(":t.Box#data");
    let of_source = program.0.exprs.push(Expr::Property { node: NodeId(0), property: "id".into() });
    program.0.nodes[1].inputs.insert("path", Input::Deferred(of_source));
    let base = state_of("dev", &[(":t.Box#data", "data-7f")]);
    let text = after_run("dev", &program, None, &base);
    let settled = program.apply_pinfile_on(Some(&text), Some(&base)).unwrap();
    assert_eq!(
        settled.graph.nodes[1].inputs["path"],
        Input::Deferred(of_source),
        "another source would be a change"
    );
    assert!(settled.overrides.is_empty());
    let lost = program.apply_pinfile_on(Some(&text), Some(&state(Vec::new()))).unwrap();
    assert_eq!(lost.graph.nodes[1].inputs["path"], Input::Known(Value::from("data-7f")));
}

#[test]
fn environment_that_gives_a_resource_away_does_not_keep_its_name() {
    let entry = |path: &str, rest: &str| {
        format!(
            "\"{path}\":{{\"type\":\"t.Box\"{rest},\"environments\":{{\"dev\":{{\"path\":\"{path}-7f\"}}}}}}"
        )
    };
    let text = with(
        &[entry("t.Box.a", ""), entry("t.Box.b", ""), entry("t.Box.c", ",\"originalPath\":\"t.Box.old\"")]
            .join(","),
    );
    let environments = ["dev", "prod:x"].map(|text| text.parse::<Environment>().unwrap());
    let moved = ["t.Box.a", "t.Box.old"].map(str::to_owned).into();
    let update = carry_frozen(&file(Some(&text)), "local", (&environments[0], &environments[1]), &moved);
    let PinfileUpdate::Write(text) = update else { panic!() };
    let section = file(Some(&text)).sections["local"].clone();
    let owners =
        section.iter().map(|(path, entry)| (path.as_str(), entry.environments.keys().cloned().collect()));
    let owners: Vec<(&str, Vec<String>)> = owners.collect();
    let of = |environment: &str| vec![environment.to_owned()];
    assert_eq!(owners, [("t.Box.a", of("prod:x")), ("t.Box.b", of("dev")), ("t.Box.c", of("prod:x"))]);
}

#[test]
fn generated_name_is_restored_for_its_own_environment() {
    let base = state(vec![recorded(":t.Box#data", "data-7f", true), recorded(":local.KeyPair#k", "k", true)]);
    let entries = entries_from_state(&base, &pins(None), &FewTypes);
    assert!(entries["t.Box.data"].attributes.is_empty());
    assert_eq!(entries["t.Box.data"].environments["dev"]["path"], Value::from("data-7f"));
    assert_eq!(entries["local.KeyPair.k"].attributes["path"], Value::from("k"), "only the program sets it");
}

#[test]
fn invalid_values_of_an_environment_are_refused_with_their_place() {
    let program = Program::default().unnamed(":t.Box#data");
    let entry = |own: &str| with(&format!("\"t.Box.data\":{{\"type\":\"t.Box\",\n\"environments\":{own}}}"));
    let refused = program.apply_pinfile(Some(&entry(r#"{"prod":{"pth":"x"}}"#))).unwrap_err();
    insta::assert_snapshot!(full_text(&refused), @"
    ST0410 main.ts.pin.json:2:25: `pth` of t.Box cannot be set
      at main.ts.pin.json:2:25: here
      help: did you mean `path`?
    ");
    for (own, problem) in [
        (r#"{"a:b:c":{}}"#, "\"a:b:c\" is neither an environment nor `environment:namespace`"),
        (r#"{"dev":[]}"#, "the values of an environment"),
        (r#"[]"#, "`environments`"),
    ] {
        let read = super::super::Pinfile::read("p", Some(entry(own).as_bytes())).unwrap_err();
        assert!(read.message.contains(problem) && read.message.starts_with("p:2:"), "{}", read.message);
    }
}

#[test]
fn generated_name_stays_when_the_resource_moves() {
    let without_path = |name: &str| Program::default().unnamed(name);
    let base = state(vec![recorded(":t.Box#data", "data-7f", true)]);
    let file = with(r#""t.Box.store":{"type":"t.Box","originalPath":"t.Box.data","attributes":{}}"#);
    let moved = without_path(":t.Box#store").apply_pinfile_on(Some(&file), Some(&base)).unwrap();
    assert_eq!(moved.graph.nodes[0].inputs["path"], Input::Known(Value::from("data-7f")));
    assert!(
        moved.overrides.is_empty() && moved.pins.update(EmptySection::Remove) == PinfileUpdate::Unchanged
    );
    let stayed = without_path(":t.Box#data").apply_pinfile_on(None, Some(&base)).unwrap();
    assert_eq!(stayed.graph.nodes[0].inputs["path"], Input::Known(Value::from("data-7f")));
    let created = without_path(":t.Box#data").apply_pinfile_on(None, Some(&state(Vec::new()))).unwrap();
    assert!(!created.graph.nodes[0].inputs.contains_key("path"), "there is no recorded value yet");
}
