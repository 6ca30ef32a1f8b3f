//! The table of what happens, row by row, and what is said.

use stead_model::{Input, Value};

use super::super::{Content, Emptied, Orphans, settle, without_pins};
use super::{FewTypes, Program, all_told, lines, pins, recorded, state, told, with};

const DATA: &str = r#""t.Box.data":{"type":"t.Box","attributes":{"path":"data"}}"#;

fn moved() -> String {
    with(r#""t.Box.store":{"type":"t.Box","originalPath":"t.Box.data","attributes":{"path":"data"}}"#)
}

#[test]
fn a_new_pinned_leaf_gets_an_entry_with_what_it_is_known_by() {
    let program = Program::default().pinned(":t.Box#data", "data").leaf(":t.Box#other", "other");
    let settled = program.settle(None).unwrap();
    assert_eq!(lines(&settled), ["[+pin] t.Box.data"]);
    let Content::Write(text) = settled.pins.write(Emptied::Kept) else { panic!() };
    insta::assert_snapshot!(text, @r#"
    {
      "version": "1",
      "pinned": {
        "local": {
          "t.Box.data": {
            "type": "t.Box",
            "attributes": {
              "path": "data"
            }
          }
        }
      }
    }
    "#);
    assert_eq!(settled.graph.nodes[0].options.pinned, Some(true));
    assert_eq!(settled.graph.nodes[1].options.pinned, None);
}

#[test]
fn pinning_is_deep_and_the_nearest_setting_counts() {
    let program = Program::default()
        .group(":Shop", Some(true))
        .leaf("/Shop:t.Box#a", "a")
        .group("/Shop:Inner", Some(false))
        .leaf("/Shop/Inner:t.Box#b", "b")
        .pinned("/Shop/Inner:t.Box#c", "c")
        .leaf("/Shop/Inner:local.KeyPair#d", "d")
        .leaf(":local.KeyPair#e", "e")
        .unpinned(":local.KeyPair#f", "f")
        .leaf(":t.Box#g", "g")
        .leaf("/Shop:t.Provider#h", "h");
    let settled = program.settle(None).unwrap();
    let pinned = |id: &str| {
        let named = |node: &&stead_model::Node| node.name.short() == id;
        settled.graph.nodes.iter().find(named).unwrap().options.pinned == Some(true)
    };
    let which: Vec<&str> =
        ["a", "b", "c", "d", "e", "f", "g", "h"].into_iter().filter(|id| pinned(id)).collect();
    assert_eq!(which, ["a", "c", "e"]);
    assert_eq!(settled.lines.len(), 3, "neither a group nor a provider can be lost");
}

#[test]
fn what_is_gone_or_moved_is_refused_and_named() {
    let program =
        Program::default().group(":Store", None).pinned("/Store:t.Box#data", "store").pinned(":t.Key#k", "k");
    let file = with(&format!("{DATA},\n\"t.Key.gone\":{{\"type\":\"t.Key\"}}"));
    insta::assert_snapshot!(all_told(&program.settle(Some(&file)).unwrap_err()), @r#"
    [-pin] t.Box.data
    [-pin] t.Key.gone
    [+pin] t.Box.Store_data_83E994B0
    [+pin] t.Key.k
    ST0412 the following pinned resources have been moved or deleted:
      - t.Box.data
      - t.Key.gone
      at main.ts.pin.json:1:35: pinned here
      at main.ts.pin.json:2:1: pinned here
      note: Nothing was written, and no provider was asked anything.
      help: if moved, update the key in main.ts.pin.json to reflect the new path, with the old one as "originalPath"
      help: this does it: stead pin mv t.Box.data t.Box.Store_data_83E994B0
      help: this does it: stead pin mv t.Key.gone t.Key.k
      help: if deleted, remove the entry from main.ts.pin.json: stead pin rm PATH
    "#);
    let deleted = Program::default().settle(Some(&with(DATA))).unwrap_err();
    insta::assert_snapshot!(all_told(&deleted), @r#"
    [-pin] t.Box.data
    ST0412 the following pinned resource has been moved or deleted:
      - t.Box.data
      at main.ts.pin.json:1:35: pinned here
      note: Nothing was written, and no provider was asked anything.
      help: if moved, update the key in main.ts.pin.json to reflect the new path, with the old one as "originalPath"
      help: if deleted, remove the entry from main.ts.pin.json: stead pin rm t.Box.data
    "#);
}

#[test]
fn a_move_is_guessed_only_where_a_type_has_one_old_and_one_new_path() {
    let program = Program::default().pinned(":t.Box#c", "c").pinned(":t.Key#l", "l");
    let gone = ["t.Box.a", "t.Box.b", "t.Key.k"].map(|path| {
        let (resource, _) = path.rsplit_once('.').unwrap();
        format!("\"{path}\":{{\"type\":\"{resource}\"}}")
    });
    let refused = program.settle(Some(&with(&gone.join(",")))).unwrap_err();
    let hints: Vec<String> = refused.problems[0].help.iter().map(ToString::to_string).collect();
    let guessed: Vec<&String> = hints.iter().filter(|help| help.contains("pin mv")).collect();
    assert_eq!(guessed, ["this does it: stead pin mv t.Key.k t.Key.l"]);
}

#[test]
fn a_key_that_says_where_it_came_from_is_the_old_one_with_its_values() {
    let program = Program::default().pinned(":t.Box#store", "new-path");
    for base in [None, Some(state(vec![recorded(":t.Box#data", "data", true)]))] {
        let settled = program.settle_on(Some(&moved()), base.as_ref()).unwrap();
        assert!(settled.lines.is_empty() && settled.warnings.is_empty());
        let node = &settled.graph.nodes[0];
        assert_eq!(node.options.original_path.as_deref(), Some("t.Box.data"));
        assert_eq!(node.inputs["path"], Input::Known(Value::from("data")));
        assert_eq!(node.options.frozen, ["path"]);
        assert_eq!(settled.overrides[0].program, Some(Input::Known(Value::from("new-path"))));
        assert_eq!(
            settled.pins.write(Emptied::Removed),
            Content::Unchanged,
            "it stays for other environments"
        );
    }
}

#[test]
fn the_old_entry_may_stand_beside_the_one_that_came_from_it() {
    let program = Program::default().pinned(":t.Box#store", "data");
    let both =
        with(&format!("{DATA},\"t.Box.store\":{{\"type\":\"t.Box\",\"originalPath\":\"t.Box.data\"}}"));
    let settled = program.settle(Some(&both)).unwrap();
    assert!(lines(&settled).is_empty());
    let Content::Write(text) = settled.pins.write(Emptied::Kept) else { panic!() };
    assert!(!text.contains("\"t.Box.data\": {"), "{text}");
    assert_eq!(settled.pins.paths(), ["t.Box.store".to_owned()].into(), "what the file has then");
}

#[test]
fn no_longer_pinned_and_otherwise_unchanged_leaves_the_file() {
    let settled = Program::default().unpinned(":t.Box#data", "data").settle(Some(&with(DATA))).unwrap();
    assert_eq!(lines(&settled), ["[-pin] t.Box.data"]);
    assert_eq!(settled.pins.write(Emptied::Kept), Content::Remove);
    assert_eq!(settled.graph.nodes[0].options.pinned, None);
    let nothing = state(Vec::new());
    let never_made =
        Program::default().unpinned(":t.Box#data", "data").settle_on(Some(&with(DATA)), Some(&nothing));
    assert_eq!(lines(&never_made.unwrap()), ["[-pin] t.Box.data"]);
    // What moved keeps its values for this one run; what the program says comes with the next.
    let base = state(vec![recorded(":t.Box#store", "data", true)]);
    let after = Program::default().unpinned(":t.Box#store", "new").settle_on(Some(&moved()), Some(&base));
    let after = after.unwrap();
    assert_eq!(lines(&after), ["[-pin] t.Box.store"]);
    assert_eq!(after.graph.nodes[0].inputs["path"], Input::Known(Value::from("data")));
    insta::assert_snapshot!(after.warnings.iter().map(told).collect::<String>(), @r#"
    ST0413 dev:main:t.Box#store is what main.ts.pin.json made of it for the last time
      at main.ts:2:1: unpinned
      note: `path` is "data" in main.ts.pin.json, and the program says "new"
      note: It is unpinned now. The next run follows the program, which may replace it.
      help: to keep it as it is, let the program say what the file said
    "#);
}

#[test]
fn to_unpin_and_to_change_are_two_runs() {
    let changed = Program::default().unpinned(":t.Box#data", "elsewhere").settle(Some(&with(DATA)));
    insta::assert_snapshot!(all_told(&changed.unwrap_err()), @r#"
    [-pin] t.Box.data
    ST0413 dev:main:t.Box#data is no longer pinned, and `path` changed with it
      at main.ts:2:1: declared here
      note: `path` is "data" in main.ts.pin.json, and the program says "elsewhere"
      note: Nothing was changed: to unpin and to change what it is are two runs.
      help: undo the change, run `stead up` to unpin it, then change it
    "#);
    let base = state(vec![recorded(":t.Box#data", "data", true)]);
    let moves = Program::default().unpinned(":t.Box#store", "data").settle_on(Some(&moved()), Some(&base));
    insta::assert_snapshot!(all_told(&moves.unwrap_err()), @"
    [-pin] t.Box.store
    ST0413 dev:main:t.Box#store is no longer pinned, and this very run would move it from t.Box.data
      at main.ts:2:1: declared here
      note: t.Box.store is in main.ts.pin.json. Nothing was changed.
      help: leave it pinned, run `stead up`, then unpin it
    ");
}

#[test]
fn update_pins_takes_orphans_out_and_lets_them_go() {
    let (graph, base) = (Program::default().0, state(vec![recorded(":t.Box#data", "data", true)]));
    let settled = settle(graph, pins(Some(&with(DATA))), &FewTypes, Some(&base), Orphans::Remove).unwrap();
    assert_eq!(lines(&settled), ["[-pin] t.Box.data"]);
    assert_eq!(settled.pins.write(Emptied::Removed), Content::Remove);
    let (paths, unlisted) = (Default::default(), super::super::Unlisted::Released);
    assert_eq!(settled.standing, super::super::Standing::Listed { paths, unlisted });
}

#[test]
fn edited_values_hold_and_values_that_nobody_can_set_are_refused() {
    let edited = with(r#""t.Box.data":{"type":"t.Box","attributes":{"mode":"0700","path":"data"}}"#);
    let settled = Program::default().pinned(":t.Box#data", "data").settle(Some(&edited)).unwrap();
    assert_eq!(settled.graph.nodes[0].options.frozen, ["mode"]);
    let wrong = with(
        "\n\"t.Box.data\":{\"type\":\"t.Box\",\"attributes\":{\"moed\":1}},\n\"t.Bax.b\":{\"type\":\"t.Bax\"}",
    );
    let refused = Program::default().pinned(":t.Box#data", "data").settle(Some(&wrong)).unwrap_err();
    insta::assert_snapshot!(all_told(&refused), @"
    ST0410 main.ts.pin.json:3:1: there is no type t.Bax
      at main.ts.pin.json:3:1: pinned here
      help: correct the type in the key and in `type`; or remove the entry: stead pin rm t.Bax.b
    ST0410 main.ts.pin.json:2:44: nobody can set `moed` of a t.Box
      at main.ts.pin.json:2:44: here
      help: did you mean `mode`?
    ");
}

#[test]
fn values_of_what_is_not_there_yet_are_pointed_at() {
    let edited = with(r#""t.Box.data":{"type":"t.Box","attributes":{"path":"dev-data"}}"#);
    let program = Program::default().pinned(":t.Box#data", "prod-data");
    let settled = program.settle_on(Some(&edited), Some(&state(Vec::new()))).unwrap();
    insta::assert_snapshot!(told(&settled.warnings[0]), @r#"
    ST0419 dev:main:t.Box#data is not there yet, and main.ts.pin.json says what it is called
      at main.ts.pin.json:1:35: frozen here
      note: That is right for something that moved; it is wrong if the values are another environment's.
      help: if environments differ, add a section of its own to "pinned": "local:dev": {}
    "#);
    assert!(
        program.settle(Some(&edited)).unwrap().warnings.is_empty(),
        "compile does not know what is there"
    );
}

#[test]
fn a_path_that_is_used_again_is_refused_while_something_came_from_it() {
    let program = Program::default().pinned(":t.Box#store", "data").pinned(":t.Box#data", "new");
    insta::assert_snapshot!(all_told(&program.settle(Some(&moved())).unwrap_err()), @"
    ST0410 main.ts.pin.json:1:80: t.Box.store came from t.Box.data, which the program declares too
      at main.ts.pin.json:1:80: its `originalPath` is in use
      note: In an environment that has not moved yet, nobody could tell which of the two is the old one.
      help: give the new resource another id
      help: if every environment has moved, remove `originalPath` from the entry
    ");
}

#[test]
fn pinned_leaves_must_be_told_apart_for_good() {
    let program = Program::default()
        .pinned(":t.Box", "a")
        .leaf(":t.Box#2", "b")
        .group(":Store", None)
        .group(":Store#2", None)
        .pinned("/Store#2:t.Key#k", "k");
    insta::assert_snapshot!(all_told(&program.settle(None).unwrap_err()), @"
    [+pin] t.Box.Box_7FA0F29C
    [+pin] t.Key.Store2_k_56B9425D
    ST0416 dev:main:t.Box is pinned, and it is one of several without an id
      at main.ts:2:1: this one needs an id
      note: They are told apart by their number, which changes when one before it comes or goes.
      help: give each of them an `id`; or, if it need not be pinned, say `pinned: false`
    ST0416 dev:main/Store#2:t.Key#k is pinned, and what it is in is one of several without an id
      at main.ts:5:1: this one needs an id
      note: They are told apart by their number, which changes when one before it comes or goes.
      help: give each of them an `id`; or, if it need not be pinned, say `pinned: false`
    ");
    let alone = Program::default().pinned(":t.Box", "a").leaf(":t.Key", "b").leaf(":t.Key#2", "c");
    assert!(alone.settle(None).is_ok(), "only what is pinned matters");
    let mut twice = Program::default().pinned(":t.Box#a", "a").leaf(":t.Box#a", "b");
    twice.0.nodes[1].name = "dev:lib:t.Box#a".parse().unwrap();
    insta::assert_snapshot!(all_told(&twice.settle(None).unwrap_err()), @"
    [+pin] t.Box.a
    ST0416 2 resources would be pinned under one path, t.Box.a
      at main.ts:2:1: dev:main:t.Box#a
      at main.ts:3:1: dev:lib:t.Box#a
      help: give one of them another `id`
    ");
}

#[test]
fn what_was_generated_for_one_environment_is_frozen_in_its_own_section() {
    let program =
        |()| Program::default().add(":t.Box#data", stead_model::NodeKind::Provisioned, Some(true), None);
    let base = state(vec![recorded(":t.Box#data", "generated-7f", true)]);
    for (file, frozen) in [(None, false), (Some(r#"{"version":"1","pinned":{"local:dev":{}}}"#), true)] {
        let mut settled = program(()).settle_on(file, Some(&base)).unwrap();
        assert_eq!(settled.wants_completion(), frozen);
        settled.complete(&base, &FewTypes);
        let Content::Write(text) = settled.pins.write(Emptied::Removed) else { panic!() };
        assert_eq!(text.contains("generated-7f"), frozen, "{text}");
        let again = program(()).settle_on(Some(&text), Some(&base)).unwrap();
        assert!(!again.wants_completion(), "nothing is new");
    }
}

#[test]
fn a_target_that_keeps_no_pins_pins_nothing() {
    assert!(!super::super::keeps_pins("sim"));
    assert!(["local", "aws", "staging"].into_iter().all(super::super::keeps_pins));
    let program = Program::default().group(":Shop", Some(true)).pinned("/Shop:t.Box#a", "a");
    assert!(without_pins(program.0).nodes.iter().all(|node| node.options.pinned.is_none()));
}

#[test]
fn a_name_that_was_generated_stays_when_the_thing_moves() {
    let nameless =
        |name: &str| Program::default().add(name, stead_model::NodeKind::Provisioned, Some(true), None);
    let base = state(vec![recorded(":t.Box#data", "data-7f", true)]);
    let file = with(r#""t.Box.store":{"type":"t.Box","originalPath":"t.Box.data","attributes":{}}"#);
    let moved = nameless(":t.Box#store").settle_on(Some(&file), Some(&base)).unwrap();
    assert_eq!(moved.graph.nodes[0].inputs["path"], Input::Known(Value::from("data-7f")));
    assert!(moved.overrides.is_empty() && moved.pins.write(Emptied::Removed) == Content::Unchanged);
    let stayed = nameless(":t.Box#data").settle_on(None, Some(&base)).unwrap();
    assert_eq!(stayed.graph.nodes[0].inputs["path"], Input::Known(Value::from("data-7f")));
    let made = nameless(":t.Box#data").settle_on(None, Some(&state(Vec::new()))).unwrap();
    assert!(!made.graph.nodes[0].inputs.contains_key("path"), "there is nothing to keep yet");
}
