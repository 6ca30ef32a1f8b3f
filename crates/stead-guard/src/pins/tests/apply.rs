//! The cases of applying a pinfile, and their messages.

use stead_model::{Input, Value};

use super::super::{EmptySection, Orphans, PinfileUpdate, SettledGraph, apply_pinfile};
use super::{FewTypes, Program, changes, full_text, pins, recorded, state, text_of, with};

const DATA: &str = r#""t.Box.data":{"type":"t.Box","attributes":{"path":"data"}}"#;

fn moved() -> String {
    with(r#""t.Box.store":{"type":"t.Box","originalPath":"t.Box.data","attributes":{"path":"data"}}"#)
}

#[test]
fn new_pinned_leaf_gets_an_entry_with_its_identity() {
    let program = Program::default().pinned(":t.Box#data", "data").leaf(":t.Box#other", "other");
    let settled = program.apply_pinfile(None).unwrap();
    assert_eq!(changes(&settled), ["[+pin] t.Box.data"]);
    let PinfileUpdate::Write(text) = settled.pins.update(EmptySection::Keep) else { panic!() };
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
fn nearest_pin_setting_applies_to_all_leaves_inside() {
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
    let settled = program.apply_pinfile(None).unwrap();
    let pinned = |id: &str| {
        let named = |node: &&stead_model::Node| node.name.short() == id;
        settled.graph.nodes.iter().find(named).unwrap().options.pinned == Some(true)
    };
    let which: Vec<&str> =
        ["a", "b", "c", "d", "e", "f", "g", "h"].into_iter().filter(|id| pinned(id)).collect();
    assert_eq!(which, ["a", "c", "e"]);
    assert_eq!(settled.changes.len(), 3, "groups and providers are never pinned");
}

#[test]
fn orphaned_pins_are_refused_and_listed() {
    let program =
        Program::default().group(":Store", None).pinned("/Store:t.Box#data", "store").pinned(":t.Key#k", "k");
    let file = with(&format!("{DATA},\n\"t.Key.gone\":{{\"type\":\"t.Key\"}}"));
    insta::assert_snapshot!(full_text(&program.apply_pinfile(Some(&file)).unwrap_err()), @r#"
    [-pin] t.Box.data
    [-pin] t.Key.gone
    [+pin] t.Box.Store_data_83E994B0
    [+pin] t.Key.k
    ST0412 the following pinned resources have been moved or deleted:
      - t.Box.data
      - t.Key.gone
      at main.ts.pin.json:1:35: pinned here
      at main.ts.pin.json:2:1: pinned here
      note: Nothing was written, and no provider was called.
      help: if moved, update the key in main.ts.pin.json to reflect the new path, with the old one as "originalPath"
      help: to record the move: move the pin t.Box.data to t.Box.Store_data_83E994B0
      help: to record the move: move the pin t.Key.gone to t.Key.k
      help: if deleted, release the pin in main.ts.pin.json: remove the pin PATH
    "#);
    let deleted = Program::default().apply_pinfile(Some(&with(DATA))).unwrap_err();
    insta::assert_snapshot!(full_text(&deleted), @r#"
    [-pin] t.Box.data
    ST0412 the following pinned resource has been moved or deleted:
      - t.Box.data
      at main.ts.pin.json:1:35: pinned here
      note: Nothing was written, and no provider was called.
      help: if moved, update the key in main.ts.pin.json to reflect the new path, with the old one as "originalPath"
      help: if deleted, release the pin in main.ts.pin.json: remove the pin t.Box.data
    "#);
}

#[test]
fn move_is_suggested_only_if_a_type_has_one_old_and_one_new_path() {
    let program = Program::default().pinned(":t.Box#c", "c").pinned(":t.Key#l", "l");
    let gone = ["t.Box.a", "t.Box.b", "t.Key.k"].map(|path| {
        let (resource, _) = path.rsplit_once('.').unwrap();
        format!("\"{path}\":{{\"type\":\"{resource}\"}}")
    });
    let refused = program.apply_pinfile(Some(&with(&gone.join(",")))).unwrap_err();
    let hints: Vec<String> = refused.problems[0].help.iter().map(ToString::to_string).collect();
    let suggested: Vec<&String> =
        hints.iter().filter(|help| help.starts_with("to record the move")).collect();
    assert_eq!(suggested, ["to record the move: move the pin t.Key.k to t.Key.l"]);
}

#[test]
fn moved_pin_keeps_its_frozen_values() {
    let program = Program::default().pinned(":t.Box#store", "new-path");
    for base in [None, Some(state(vec![recorded(":t.Box#data", "data", true)]))] {
        let settled = program.apply_pinfile_on(Some(&moved()), base.as_ref()).unwrap();
        assert!(settled.changes.is_empty() && settled.warnings.is_empty());
        let node = &settled.graph.nodes[0];
        assert_eq!(node.options.original_path.as_deref(), Some("t.Box.data"));
        assert_eq!(node.inputs["path"], Input::Known(Value::from("data")));
        assert_eq!(node.options.frozen, ["path"]);
        assert_eq!(settled.overrides[0].program, Some(Input::Known(Value::from("new-path"))));
        assert_eq!(
            settled.pins.update(EmptySection::Remove),
            PinfileUpdate::Unchanged,
            "the entry stays for other environments"
        );
    }
}

#[test]
fn old_entry_beside_a_moved_one_is_removed() {
    let program = Program::default().pinned(":t.Box#store", "data");
    let both =
        with(&format!("{DATA},\"t.Box.store\":{{\"type\":\"t.Box\",\"originalPath\":\"t.Box.data\"}}"));
    let settled = program.apply_pinfile(Some(&both)).unwrap();
    assert!(changes(&settled).is_empty());
    let PinfileUpdate::Write(text) = settled.pins.update(EmptySection::Keep) else { panic!() };
    assert!(!text.contains("\"t.Box.data\": {"), "{text}");
    assert_eq!(settled.pins.paths(), ["t.Box.store".to_owned()].into(), "the paths after the update");
}

#[test]
fn unpinned_and_unchanged_leaf_is_removed_from_the_file() {
    let settled =
        Program::default().unpinned(":t.Box#data", "data").apply_pinfile(Some(&with(DATA))).unwrap();
    assert_eq!(changes(&settled), ["[-pin] t.Box.data"]);
    assert_eq!(settled.pins.update(EmptySection::Keep), PinfileUpdate::Remove);
    assert_eq!(settled.graph.nodes[0].options.pinned, None);
    let nothing = state(Vec::new());
    let never_created = Program::default()
        .unpinned(":t.Box#data", "data")
        .apply_pinfile_on(Some(&with(DATA)), Some(&nothing));
    assert_eq!(changes(&never_created.unwrap()), ["[-pin] t.Box.data"]);
    // A moved resource keeps its frozen values in this run; the program's values apply in the next.
    let base = state(vec![recorded(":t.Box#store", "data", true)]);
    let after =
        Program::default().unpinned(":t.Box#store", "new").apply_pinfile_on(Some(&moved()), Some(&base));
    let after = after.unwrap();
    assert_eq!(changes(&after), ["[-pin] t.Box.data (now t.Box.store)"]);
    assert_eq!(after.graph.nodes[0].inputs["path"], Input::Known(Value::from("data")));
    insta::assert_snapshot!(after.warnings.iter().map(text_of).collect::<String>(), @r#"
    ST0413 dev:main:t.Box#store keeps the values of main.ts.pin.json for the last time
      at main.ts:2:1: unpinned
      note: `path` is "data" in main.ts.pin.json, and the program sets "new"
      note: It is unpinned now. The next run follows the program, which may replace it.
      help: to keep it as it is, set the values of the file in the program
    "#);
}

#[test]
fn unpinning_and_changing_in_one_run_is_refused() {
    let changed = Program::default().unpinned(":t.Box#data", "elsewhere").apply_pinfile(Some(&with(DATA)));
    insta::assert_snapshot!(full_text(&changed.unwrap_err()), @r#"
    [-pin] t.Box.data
    ST0413 dev:main:t.Box#data is no longer pinned, and `path` changed in the same run
      at main.ts:2:1: declared here
      note: `path` is "data" in main.ts.pin.json, and the program sets "elsewhere"
      note: Nothing was changed: unpinning a resource and changing its identity take two runs.
      help: undo the change, apply the program to unpin it, then change it
    "#);
    let base = state(vec![recorded(":t.Box#data", "data", true)]);
    let moves =
        Program::default().unpinned(":t.Box#store", "data").apply_pinfile_on(Some(&moved()), Some(&base));
    insta::assert_snapshot!(full_text(&moves.unwrap_err()), @"
    [-pin] t.Box.data (now t.Box.store)
    ST0413 dev:main:t.Box#store is no longer pinned, and the same run would move it from t.Box.data
      at main.ts:2:1: declared here
      note: t.Box.store is in main.ts.pin.json. Nothing was changed.
      help: leave it pinned, apply the program, then unpin it
    ");
}

#[test]
fn removed_orphans_are_released() {
    let (graph, base) = (Program::default().0, state(vec![recorded(":t.Box#data", "data", true)]));
    let settled =
        apply_pinfile(graph, pins(Some(&with(DATA))), &FewTypes, Some(&base), Orphans::Release).unwrap();
    assert_eq!(changes(&settled), ["[-pin] t.Box.data"]);
    let PinfileUpdate::Write(text) = settled.pins.update(EmptySection::Remove) else { panic!() };
    assert!(text.contains("\"released\": true"), "{text}");
    let verdict = super::super::pin_verdict(
        &recorded(":t.Box#data", "data", true),
        super::super::Declared::NotPinned,
        &settled.status,
    );
    assert_eq!(verdict, super::super::PinVerdict::Free);
}

#[test]
fn edited_values_apply_and_unsettable_ones_are_refused() {
    let edited = with(r#""t.Box.data":{"type":"t.Box","attributes":{"mode":"0700","path":"data"}}"#);
    let settled = Program::default().pinned(":t.Box#data", "data").apply_pinfile(Some(&edited)).unwrap();
    assert_eq!(settled.graph.nodes[0].options.frozen, ["mode"]);
    let wrong = with(
        "\n\"t.Box.data\":{\"type\":\"t.Box\",\"attributes\":{\"moed\":1}},\n\"t.Bax.b\":{\"type\":\"t.Bax\"}",
    );
    let refused = Program::default().pinned(":t.Box#data", "data").apply_pinfile(Some(&wrong)).unwrap_err();
    insta::assert_snapshot!(full_text(&refused), @"
    ST0410 main.ts.pin.json:3:1: there is no type t.Bax
      at main.ts.pin.json:3:1: pinned here
      help: correct the type in the key and in `type`; or remove the entry: remove the pin t.Bax.b
    ST0410 main.ts.pin.json:2:44: `moed` of t.Box cannot be set
      at main.ts.pin.json:2:44: here
      help: did you mean `mode`?
    ");
}

#[test]
fn frozen_values_of_a_missing_resource_cause_a_warning() {
    let edited = with(r#""t.Box.data":{"type":"t.Box","attributes":{"path":"dev-data"}}"#);
    let program = Program::default().pinned(":t.Box#data", "prod-data");
    let settled = program.apply_pinfile_on(Some(&edited), Some(&state(Vec::new()))).unwrap();
    insta::assert_snapshot!(text_of(&settled.warnings[0]), @r#"
    ST0419 dev:main:t.Box#data does not exist yet, but main.ts.pin.json has values for it
      at main.ts.pin.json:1:35: frozen here
      note: That is right for a moved resource, and wrong if the values belong to another environment.
      help: if the values differ between environments, add a section to "pinned": "local:dev": {}
    "#);
    assert!(
        program.apply_pinfile(Some(&edited)).unwrap().warnings.is_empty(),
        "without state it is unknown whether the resource exists"
    );
}

#[test]
fn reused_path_is_refused_while_it_is_an_original_path() {
    let program = Program::default().pinned(":t.Box#store", "data").pinned(":t.Box#data", "new");
    insta::assert_snapshot!(full_text(&program.apply_pinfile(Some(&moved())).unwrap_err()), @"
    ST0410 main.ts.pin.json:1:80: t.Box.store was moved from t.Box.data, which the program also declares
      at main.ts.pin.json:1:80: its `originalPath` is in use
      note: In an environment where the move is not applied yet, it is ambiguous which of the two is the old one.
      help: give the new resource another id
      help: if the move is applied in every environment, remove `originalPath` from the entry
    ");
}

#[test]
fn pinned_leaf_without_a_stable_path_is_refused() {
    let program = Program::default()
        .pinned(":t.Box", "a")
        .leaf(":t.Box#2", "b")
        .group(":Store", None)
        .group(":Store#2", None)
        .pinned("/Store#2:t.Key#k", "k");
    insta::assert_snapshot!(full_text(&program.apply_pinfile(None).unwrap_err()), @"
    [+pin] t.Box.Box_7FA0F29C
    [+pin] t.Key.Store2_k_56B9425D
    ST0416 dev:main:t.Box is pinned, but it is one of several without an id
      at main.ts:2:1: this one needs an id
      note: They are distinguished by a number, which changes when an earlier one is added or removed.
      help: give each of them an `id`; or, if it need not be pinned, set `pinned: false`
    ST0416 dev:main/Store#2:t.Key#k is pinned, but its parent dev:main:Store#2 is one of several without an id
      at main.ts:5:1: this one needs an id
      note: They are distinguished by a number, which changes when an earlier one is added or removed.
      help: give each of them an `id`; or, if it need not be pinned, set `pinned: false`
    ");
    let alone = Program::default().pinned(":t.Box", "a").leaf(":t.Key", "b").leaf(":t.Key#2", "c");
    assert!(alone.apply_pinfile(None).is_ok(), "only pinned leaves need an id");
    let mut twice = Program::default().pinned(":t.Box#a", "a").leaf(":t.Box#a", "b");
    twice.0.nodes[1].name = "dev:lib:t.Box#a".parse().unwrap();
    insta::assert_snapshot!(full_text(&twice.apply_pinfile(None).unwrap_err()), @"
    [+pin] t.Box.a
    ST0416 2 resources would be pinned under one path, t.Box.a
      at main.ts:2:1: dev:main:t.Box#a
      at main.ts:3:1: dev:lib:t.Box#a
      help: give one of them another `id`
    ");
}

#[test]
fn graph_of_a_target_without_pins_has_none() {
    assert!(!super::super::keeps_pins("sim"));
    assert!(["local", "aws", "staging"].into_iter().all(super::super::keeps_pins));
    let program = Program::default().group(":Shop", Some(true)).pinned("/Shop:t.Box#a", "a");
    assert!(SettledGraph::without_pins(program.0).nodes.iter().all(|node| node.options.pinned.is_none()));
}
