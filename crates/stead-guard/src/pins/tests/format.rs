//! The file: what is read, what is written, what is said about a mistake.

use stead_model::Environment;

use super::super::{Content, Emptied, Pinfile, Pins, Section, missing_entries, move_pin, print, remove_pin};
use super::{file, pins, told, with};

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
fn a_file_is_written_as_it_was_read() {
    assert_eq!(print(&file(Some(MOVED)).sections), MOVED);
}

#[test]
fn both_spellings_of_the_type_are_read_and_one_is_written() {
    let read = file(Some(&with(r#""t.Box.a":{"fqn":"t.Box"}"#)));
    assert!(print(&read.sections).contains("\"type\": \"t.Box\""));
}

#[test]
fn every_mistake_is_named_with_its_line_and_column() {
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
    let wrong = texts.map(|text| {
        let problem = Pinfile::read("p.json", Some(text.as_bytes())).unwrap_err();
        assert_eq!(problem.labels.len(), 1, "{text}");
        format!("{} {}", problem.code, problem.message)
    });
    insta::assert_snapshot!(wrong.join("\n"), @r#"
    ST0410 p.json:1:1: `version` is missing
    ST0410 p.json:1:1: a pinfile is an object, and this is a list
    ST0410 p.json:1:13: version "2" is not known here; this stead reads "1"
    ST0410 p.json:1:13: version 1 is not known here; this stead reads "1"
    ST0410 p.json:1:1: `pinned` is missing
    ST0410 p.json:1:32: "pins" says nothing here; there are: version, pinned
    ST0410 p.json:1:29: "local:" is neither a target nor `target:environment`
    ST0410 p.json:1:29: "local dev" is neither a target nor `target:environment`
    ST0410 p.json:1:29: "local\u{7}" is neither a target nor `target:environment`
    ST0410 p.json:1:42: "local" is there twice; the first is on line 1
    ST0410 p.json:1:35: "nothing" is no path of a leaf, which is `type.id`
    ST0410 p.json:1:62: "t.Box.a" is there twice; the first is on line 1
    ST0410 p.json:2:1: `type` is missing; it is "t.Box" here
    ST0410 p.json:2:21: `type` is another type than the key's, which is "t.Box"
    ST0410 p.json:2:21: `type` is a string, and this is a number
    ST0410 p.json:2:37: `fqn` is another type than the key's, which is "t.Box"
    ST0410 p.json:2:30: "orignalPath" says nothing here; did you mean `originalPath`?
    ST0410 p.json:2:46: "b" is no path of a leaf, which is `type.id`
    ST0410 p.json:2:46: it is where it was: `originalPath` is the key itself
    ST0410 p.json:2:46: what was a t.Bag cannot become a t.Box: that is another thing
    ST0410 p.json:2:44: `attributes` is an object, and this is a list
    ST0410 p.json:4:2: "a" is there twice; the first is on line 3
    ST0410 p.json:2:42: "t.Box.a" came from "t.Box.o" already; one leaf cannot become two
    ST0410 p.json:2:14: a key in double quotes is expected here
    "#);
    assert!(Pinfile::read("p.json", Some(b"\xff")).is_err());
}

#[test]
fn a_file_that_is_too_long_is_not_read() {
    let said = |bytes: usize| Pinfile::read("p.json", Some(&vec![b'['; bytes])).unwrap_err().message;
    assert!(said(32 << 20).contains("nested"), "{}", said(32 << 20));
    assert_eq!(said((32 << 20) + 1), "p.json has 33554433 bytes; at most 33554432 are read");
}

#[test]
fn a_merge_conflict_is_called_one() {
    let text = "{\n<<<<<<< HEAD\n  \"a\": 1\n=======\n  \"b\": 1\n>>>>>>> theirs\n}\n";
    insta::assert_snapshot!(told(&Pinfile::read("p.json", Some(text.as_bytes())).unwrap_err()), @"
    ST0411 p.json has merge conflict markers at lines 2, 4, 6
      at p.json:2:1: two branches changed the pins around here
      note: Nothing was evaluated, and nothing was changed.
      help: keep the entries of both sides, with a comma between them; the order does not matter
      help: `stead pin ls` shows whether the file can be read
    ");
}

#[test]
fn the_most_special_section_is_used() {
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
fn a_pin_is_found_in_the_most_special_section_that_has_it() {
    let pin = |id: &str| format!(r#"{{"t.Box.{id}":{{"type":"t.Box"}},"t.Box.both":{{"type":"t.Box"}}}}"#);
    let (special, general, other) = (pin("special"), pin("general"), pin("other"));
    let text = format!(
        r#"{{"version":"1","pinned":{{"local":{general},"local:dev":{special},"local:prod":{other}}}}}"#
    );
    let open = pins(Some(&text));
    assert_eq!(open.section_with("t.Box.special"), Some("local:dev"));
    assert_eq!(open.section_with("t.Box.both"), Some("local:dev"));
    assert_eq!(open.section_with("t.Box.general"), Some("local"));
    assert_eq!(open.section_with("t.Box.other"), None, "another environment's");
}

#[test]
fn an_empty_section_stays_until_everything_is_applied() {
    assert_eq!(pins(Some(&with(""))).write(Emptied::Kept), Content::Unchanged);
    assert_eq!(pins(Some(&with(""))).write(Emptied::Removed), Content::Remove);
    assert_eq!(pins(None).write(Emptied::Kept), Content::Unchanged);
    let one = with(r#""t.Box.a":{"type":"t.Box"}"#);
    assert_eq!(pins(Some(&one)).write(Emptied::Kept), Content::Remove, "it is emptied now");
    let Content::Write(text) = remove_pin(&file(Some(&one)), "local", "t.Box.a").unwrap() else { panic!() };
    insta::assert_snapshot!(text, @r#"
    {
      "version": "1",
      "pinned": {
        "local": {}
      }
    }
    "#);
    insta::assert_snapshot!(told(&remove_pin(&file(Some(&one)), "local", "t.Box.b").unwrap_err()), @"
    ST0417 t.Box.b is not pinned in main.ts.pin.json
      help: did you mean t.Box.a?
    ");
}

#[test]
fn a_pin_moves_there_and_back_whatever_stands_beside_it() {
    let two = with(r#""t.Box.a":{"type":"t.Box"},"t.Box.other":{"type":"t.Box"}"#);
    let (Content::Write(there), _) = move_pin(&file(Some(&two)), "local", "t.Box.a", "t.Box.b").unwrap()
    else {
        panic!()
    };
    let (Content::Write(back), _) = move_pin(&file(Some(&there)), "local", "t.Box.b", "t.Box.a").unwrap()
    else {
        panic!()
    };
    assert_eq!(file(Some(&back)).sections, file(Some(&two)).sections);
}

#[test]
fn a_pin_moves_in_all_sections_and_remembers_its_first_path() {
    let pin = r#"{"t.Box.a":{"type":"t.Box"}}"#;
    let text = format!(r#"{{"version":"1","pinned":{{"local":{pin},"local:prod":{pin},"aws":{pin}}}}}"#);
    let (content, sections) = move_pin(&file(Some(&text)), "local", "t.Box.a", "t.Box.b").unwrap();
    assert_eq!(sections, ["local", "local:prod"]);
    let Content::Write(once) = content else { panic!() };
    let (content, _) = move_pin(&file(Some(&once)), "local", "t.Box.b", "t.Box.c").unwrap();
    let Content::Write(twice) = content else { panic!() };
    let moved = file(Some(&twice));
    assert_eq!(moved.sections["local"]["t.Box.c"].original_path.as_deref(), Some("t.Box.a"));
    assert!(moved.sections["aws"].contains_key("t.Box.a"));
    let (content, _) = move_pin(&moved, "local", "t.Box.c", "t.Box.a").unwrap();
    let Content::Write(back) = content else { panic!() };
    assert_eq!(file(Some(&back)).sections["local"]["t.Box.a"].original_path, None, "it is back");
    for (from, to) in [("t.Box.x", "t.Box.y"), ("t.Box.a", "t.Bag.a"), ("a", "t.Box.b")] {
        assert!(move_pin(&file(Some(&text)), "local", from, to).is_err(), "{from} {to}");
    }
}

#[test]
fn what_moved_is_neither_restored_under_its_old_path_nor_moved_a_second_time() {
    let text = r#"{"version":"1","pinned":{"local":{
        "t.Box.a":{"type":"t.Box"},
        "t.Box.b":{"type":"t.Box","originalPath":"t.Box.a"}
    }}}"#;
    let twice = move_pin(&file(Some(text)), "local", "t.Box.a", "t.Box.c").unwrap_err();
    insta::assert_snapshot!(told(&twice), @r#"
    ST0417 t.Box.a is t.Box.b by now, and one leaf cannot become two
      note: The originalPath of t.Box.b in section "local" of main.ts.pin.json says so.
      help: if t.Box.a is something else, remove its entry and pin it anew: stead pin rm t.Box.a
    "#);
    let moved = r#"{"version":"1","pinned":{"local":{"t.Box.b":{"type":"t.Box","originalPath":"t.Box.a"}}}}"#;
    let pins = Pins::open(file(Some(moved)), "local", &Environment::new("dev"));
    let entry = &pins.saved()["t.Box.b"];
    let recorded: Section =
        ["t.Box.a", "t.Box.b", "t.Box.c"].map(|path| (path.to_owned(), entry.clone())).into();
    let missing: Vec<String> = missing_entries(&pins, recorded).into_keys().collect();
    assert_eq!(missing, ["t.Box.c"]);
}
