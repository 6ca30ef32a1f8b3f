//! Reading and printing of the pinfile, and the messages for an invalid one.

use stead_model::Environment;

use super::super::{
    EmptySection, Pinfile, PinfileUpdate, Pins, Section, missing_entries, move_pin, print, release_pin,
};
use super::{file, pins, text_of, with};

const MOVED: &str = r#"{
  "version": "1",
  "pinned": {
    "local": {
      "t.Box.MyBox_AD8CE4AC": {
        "type": "t.Box",
        "originalPath": "t.Box.CoolBox",
        "attributes": {
          "flags": [],
          "list": [
            1,
            {
              "a": null
            }
          ],
          "path": "cool\tbox-é"
        }
      },
      "t.Key.k": {
        "type": "t.Key",
        "attributes": {}
      }
    },
    "local:prod": {}
  }
}
"#;

#[test]
fn printed_file_equals_the_file_that_was_read() {
    assert_eq!(print(&file(Some(MOVED)).sections), MOVED);
}

#[test]
fn both_spellings_of_the_type_are_read_and_one_is_printed() {
    let read = file(Some(&with(r#""t.Box.a":{"fqn":"t.Box"}"#)));
    assert!(print(&read.sections).contains("\"type\": \"t.Box\""));
}

#[test]
fn errors_are_reported_with_line_and_column() {
    let entry = |text: &str| with(&format!("\n\"t.Box.a\": {text}"));
    let texts = [
        "{}".to_owned(),
        "[]".to_owned(),
        "{\"version\": \"2\", \"pinned\": {}}".to_owned(),
        "{\"version\": 1, \"pinned\": {}}".to_owned(),
        "{\"version\": \"1\"}".to_owned(),
        "{\"version\": \"1\", \"pinned\": {}, \"pins\": {}}".to_owned(),
        "{\"version\": \"1\", \"pinned\": {\"local:\": {}}}".to_owned(),
        "{\"version\": \"1\", \"pinned\": {\"local dev\": {}}}".to_owned(),
        "{\"version\": \"1\", \"pinned\": {\"local\\u0007\": {}}}".to_owned(),
        "{\"version\": \"1\", \"pinned\": {\"local\": {}, \"local\": {}}}".to_owned(),
        with(r#""nothing":{"type":"nothing"}"#),
        with(r#""t.Box.a":{"type":"t.Box"},"t.Box.a":{"type":"t.Box"}"#),
        entry("{}"),
        entry("{\"type\": \"t.Bag\"}"),
        entry("{\"type\": 7}"),
        entry("{\"type\": \"t.Box\", \"fqn\": \"t.Bag\"}"),
        entry("{\"type\": \"t.Box\", \"orignalPath\": \"t.Box.b\"}"),
        entry("{\"type\": \"t.Box\", \"originalPath\": \"b\"}"),
        entry("{\"type\": \"t.Box\", \"originalPath\": \"t.Box.a\"}"),
        entry("{\"type\": \"t.Box\", \"originalPath\": \"t.Bag.a\"}"),
        entry("{\"type\": \"t.Box\", \"attributes\": []}"),
        entry("{\"type\": \"t.Box\",\n  \"attributes\": {\"a\": 1,\n \"a\": 2}}"),
        with(
            "\"t.Box.a\":{\"type\":\"t.Box\",\"originalPath\":\"t.Box.o\"},\n\"t.Box.b\":{\"type\":\"t.Box\",\"originalPath\":\"t.Box.o\"}",
        ),
        "{\"version\": \"1\",\n  \"pinned\": {,\n}".to_owned(),
    ];
    let messages = texts.map(|text| {
        let problem = Pinfile::read("p.json", Some(text.as_bytes())).unwrap_err();
        assert_eq!(problem.labels.len(), 1, "{text}");
        format!("{} {}", problem.code, problem.message)
    });
    insta::assert_snapshot!(messages.join("\n"), @r#"
    ST0410 p.json:1:1: `version` is missing
    ST0410 p.json:1:1: a pinfile must be an object, not a list
    ST0410 p.json:1:13: unknown version "2"; this stead reads "1"
    ST0410 p.json:1:13: unknown version 1; this stead reads "1"
    ST0410 p.json:1:1: `pinned` is missing
    ST0410 p.json:1:32: unknown key "pins"; the keys are: version, pinned
    ST0410 p.json:1:29: "local:" is neither a target nor `target:environment`
    ST0410 p.json:1:29: "local dev" is neither a target nor `target:environment`
    ST0410 p.json:1:29: "local\u{7}" is neither a target nor `target:environment`
    ST0410 p.json:1:42: duplicate key "local"; the first is on line 1
    ST0410 p.json:1:35: "nothing" is not a path of the form `type.id`
    ST0410 p.json:1:62: duplicate key "t.Box.a"; the first is on line 1
    ST0410 p.json:2:1: `type` is missing; the type in the key is "t.Box"
    ST0410 p.json:2:21: `type` differs from the type in the key, "t.Box"
    ST0410 p.json:2:21: `type` must be a string, not a number
    ST0410 p.json:2:37: `fqn` differs from the type in the key, "t.Box"
    ST0410 p.json:2:30: unknown key "orignalPath"; did you mean `originalPath`?
    ST0410 p.json:2:46: "b" is not a path of the form `type.id`
    ST0410 p.json:2:46: `originalPath` equals the key
    ST0410 p.json:2:46: a t.Bag cannot be moved to a t.Box: the types differ
    ST0410 p.json:2:44: `attributes` must be an object, not a list
    ST0410 p.json:4:2: duplicate key "a"; the first is on line 3
    ST0410 p.json:2:42: "t.Box.a" was already moved from "t.Box.o"; one resource cannot have two paths
    ST0410 p.json:2:14: expected a key in double quotes
    "#);
    assert!(Pinfile::read("p.json", Some(b"\xff")).is_err());
}

#[test]
fn too_long_file_is_refused() {
    let message = |bytes: usize| Pinfile::read("p.json", Some(&vec![b'['; bytes])).unwrap_err().message;
    assert!(message(32 << 20).contains("nested"), "{}", message(32 << 20));
    assert_eq!(message((32 << 20) + 1), "p.json has 33554433 bytes; at most 33554432 are read");
}

#[test]
fn merge_conflict_is_reported_as_such() {
    let text = "{\n<<<<<<< HEAD\n  \"a\": 1\n=======\n  \"b\": 1\n>>>>>>> theirs\n}\n";
    insta::assert_snapshot!(text_of(&Pinfile::read("p.json", Some(text.as_bytes())).unwrap_err()), @"
    ST0411 p.json has merge conflict markers at lines 2, 4, 6
      at p.json:2:1: two branches changed the pins around here
      note: Nothing was evaluated, and nothing was changed.
      help: keep the entries of both sides, with a comma between them; the order does not matter
      help: to check the file afterwards: list the pins
    ");
}

#[test]
fn most_specific_section_is_used() {
    let text = r#"{"version":"1","pinned":{"local":{},"local:prod":{},"local:prod:acme":{},"aws":{}}}"#;
    let used = |target: &str, environment: &str| {
        let environment: Environment = environment.parse().unwrap();
        Pins::open(file(Some(text)), target, &environment).key
    };
    assert_eq!(used("local", "dev"), "local");
    assert_eq!(used("local", "prod"), "local:prod");
    assert_eq!(used("local", "prod:acme"), "local:prod:acme");
    assert_eq!(used("local", "prod:other"), "local:prod");
    assert_eq!(used("gcp", "prod"), "gcp");
}

#[test]
fn pin_is_found_in_the_most_specific_section_that_has_it() {
    let pin = |id: &str| format!(r#"{{"t.Box.{id}":{{"type":"t.Box"}},"t.Box.both":{{"type":"t.Box"}}}}"#);
    let (specific, general, other) = (pin("specific"), pin("general"), pin("other"));
    let text = format!(
        r#"{{"version":"1","pinned":{{"local":{general},"local:dev":{specific},"local:prod":{other}}}}}"#
    );
    let open = pins(Some(&text));
    assert_eq!(open.section_with("t.Box.specific"), Some("local:dev"));
    assert_eq!(open.section_with("t.Box.both"), Some("local:dev"));
    assert_eq!(open.section_with("t.Box.general"), Some("local"));
    assert_eq!(open.section_with("t.Box.other"), None, "it belongs to another environment");
}

#[test]
fn empty_section_is_kept_until_the_run_succeeds() {
    assert_eq!(pins(Some(&with(""))).update(EmptySection::Keep), PinfileUpdate::Unchanged);
    assert_eq!(pins(Some(&with(""))).update(EmptySection::Remove), PinfileUpdate::Remove);
    assert_eq!(pins(None).update(EmptySection::Keep), PinfileUpdate::Unchanged);
    let one = with(r#""t.Box.a":{"type":"t.Box"}"#);
    assert_eq!(pins(Some(&one)).update(EmptySection::Keep), PinfileUpdate::Remove, "it was not empty before");
}

#[test]
fn released_pin_keeps_its_entry_and_is_released_once() {
    let one = with(r#""t.Box.a":{"type":"t.Box","originalPath":"t.Box.o","attributes":{"path":"x"}}"#);
    let released = |text: &str, path: &str| match release_pin(&file(Some(text)), "local", path) {
        Ok(PinfileUpdate::Write(text)) => text,
        other => panic!("{other:?}"),
    };
    let text = released(&one, "t.Box.a");
    insta::assert_snapshot!(text, @r#"
    {
      "version": "1",
      "pinned": {
        "local": {
          "t.Box.a": {
            "type": "t.Box",
            "originalPath": "t.Box.o",
            "released": true,
            "attributes": {
              "path": "x"
            }
          }
        }
      }
    }
    "#);
    assert_eq!(print(&file(Some(&text)).sections), text);
    insta::assert_snapshot!(text_of(&release_pin(&file(Some(&text)), "local", "t.Box.a").unwrap_err()), @r#"
    ST0417 t.Box.a is released in section "local" of main.ts.pin.json already
      note: The entry stays until the release was applied in every environment that uses the section.
      help: prune the pinfile removes it then
    "#);
    let text = released(&with(""), "t.Box.b");
    assert_eq!(pins(Some(&text)).update(EmptySection::Remove), PinfileUpdate::Unchanged, "a release stays");
    let wrong = with(r#""t.Box.a":{"type":"t.Box","released":1}"#);
    let problem = Pinfile::read("p.json", Some(wrong.as_bytes())).unwrap_err();
    assert!(problem.message.contains("`released` must be true or false"), "{}", problem.message);
}

#[test]
fn pin_moves_there_and_back_beside_other_pins() {
    let two = with(r#""t.Box.a":{"type":"t.Box"},"t.Box.other":{"type":"t.Box"}"#);
    let (PinfileUpdate::Write(there), _) =
        move_pin(&file(Some(&two)), "local", "t.Box.a", "t.Box.b").unwrap()
    else {
        panic!()
    };
    let (PinfileUpdate::Write(back), _) =
        move_pin(&file(Some(&there)), "local", "t.Box.b", "t.Box.a").unwrap()
    else {
        panic!()
    };
    assert_eq!(file(Some(&back)).sections, file(Some(&two)).sections);
}

#[test]
fn pin_moves_in_all_sections_and_keeps_its_first_path() {
    let pin = r#"{"t.Box.a":{"type":"t.Box"}}"#;
    let text = format!(r#"{{"version":"1","pinned":{{"local":{pin},"local:prod":{pin},"aws":{pin}}}}}"#);
    let (content, sections) = move_pin(&file(Some(&text)), "local", "t.Box.a", "t.Box.b").unwrap();
    assert_eq!(sections, ["local", "local:prod"]);
    let PinfileUpdate::Write(once) = content else { panic!() };
    let (content, _) = move_pin(&file(Some(&once)), "local", "t.Box.b", "t.Box.c").unwrap();
    let PinfileUpdate::Write(twice) = content else { panic!() };
    let moved = file(Some(&twice));
    assert_eq!(moved.sections["local"]["t.Box.c"].original_path.as_deref(), Some("t.Box.a"));
    assert!(moved.sections["aws"].contains_key("t.Box.a"));
    let (content, _) = move_pin(&moved, "local", "t.Box.c", "t.Box.a").unwrap();
    let PinfileUpdate::Write(back) = content else { panic!() };
    assert_eq!(file(Some(&back)).sections["local"]["t.Box.a"].original_path, None, "it is back");
    for (from, to) in [("t.Box.x", "t.Box.y"), ("t.Box.a", "t.Bag.a"), ("a", "t.Box.b")] {
        assert!(move_pin(&file(Some(&text)), "local", from, to).is_err(), "{from} {to}");
    }
}

#[test]
fn moved_pin_is_neither_restored_under_its_old_path_nor_moved_twice() {
    let text = r#"{"version":"1","pinned":{"local":{
        "t.Box.a":{"type":"t.Box"},
        "t.Box.b":{"type":"t.Box","originalPath":"t.Box.a"}
    }}}"#;
    let twice = move_pin(&file(Some(text)), "local", "t.Box.a", "t.Box.c").unwrap_err();
    insta::assert_snapshot!(text_of(&twice), @r#"
    ST0417 t.Box.a was already moved to t.Box.b, and one resource cannot have two paths
      note: See `originalPath` of t.Box.b in section "local" of main.ts.pin.json.
      help: if t.Box.a is another resource, remove its entry and pin it again: remove the pin t.Box.a
    "#);
    let moved = r#"{"version":"1","pinned":{"local":{"t.Box.b":{"type":"t.Box","originalPath":"t.Box.a"}}}}"#;
    let pins = Pins::open(file(Some(moved)), "local", &Environment::new("dev"));
    let entry = &pins.saved()["t.Box.b"];
    let recorded: Section =
        ["t.Box.a", "t.Box.b", "t.Box.c"].map(|path| (path.to_owned(), entry.clone())).into();
    let missing: Vec<String> = missing_entries(&pins, recorded).into_keys().collect();
    assert_eq!(missing, ["t.Box.c"]);
}
