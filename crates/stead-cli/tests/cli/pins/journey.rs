//! Journey of a pinned resource: it is pinned, refactored, moved in the pinfile, and unpinned.

use super::{FILE, Fixture, LOCAL, edit_keys, pin_lines};
use crate::project::Project;

#[test]
fn pinned_resource_survives_a_refactoring_until_it_is_unpinned() {
    journey(&LOCAL);
}

fn journey(fixture: &Fixture) {
    // The three resources are pinned.
    let project = Project::with(&fixture.at_the_top());
    let compiled = fixture.run(&project, &["compile"]).ok();
    let added = pin_lines(&compiled, "[+pin]");
    let mut expected: Vec<String> = ["key", "data", "note"]
        .iter()
        .zip(fixture.types)
        .map(|(id, kind)| format!("{kind}.cool-{id}"))
        .collect();
    expected.sort();
    assert_eq!(added, expected, "{compiled}");
    let first = project.read(FILE);
    let planned = fixture.run(&project, &["plan"]).ok();
    assert!(!planned.contains("pin]"), "the pinfile has the pins already: {planned}");
    fixture.run(&project, &["up", "--yes"]).ok();
    assert_eq!(project.read(FILE), first);

    // They move into a class, and the pinfile is not edited.
    project.write("main.ts", &fixture.in_a_class("Store", ""));
    let before = project.all_files();
    for command in [&["compile"][..], &["plan"], &["up", "--yes"]] {
        let refused = fixture.run(&project, command).ends(13);
        assert_eq!(pin_lines(&refused.stdout, "[-pin]").len(), 3, "{}", refused.stdout);
        assert_eq!(pin_lines(&refused.stdout, "[+pin]").len(), 3, "{}", refused.stdout);
        assert!(!refused.stdout.contains("create"), "nothing is planned: {}", refused.stdout);
        for old in &added {
            assert!(refused.stderr.contains(&format!("- {old}")), "{}", refused.stderr);
            assert!(refused.stderr.contains(&format!("stead pin mv {old} ")), "{}", refused.stderr);
        }
        assert!(refused.stderr.contains("if moved, update the key"), "{}", refused.stderr);
        assert!(refused.stderr.contains("if deleted, release the pin"), "{}", refused.stderr);
    }
    assert_eq!(project.all_files(), before, "nothing was written");

    // The paths in the pinfile are edited, with their original paths.
    edit_keys(&project, &fixture.run(&project, &["plan"]).ends(13).stdout);
    let edited = project.read(FILE);
    let compiled = fixture.run(&project, &["compile"]).ok();
    assert!(!compiled.contains("pin]"), "{compiled}");
    let graph = project.read(&format!(".stead/compiled/dev/{}.json", fixture.target));
    assert!(graph.contains("cool-data") && !graph.contains("store-data"), "frozen values are in the result");
    let planned = fixture.run(&project, &["plan"]).ok();
    assert!(planned.contains("3 to rename, 1 unchanged"), "{planned}");
    assert!(planned.contains(&format!("from {FILE}; the program sets")), "{planned}");
    fixture.run(&project, &["up", "--yes"]).ok();
    assert_eq!(project.read(FILE), edited, "original paths stay until every environment has moved");
    assert_eq!(fixture.run(&project, &["plan", "--exit-code"]).code, 0);
    let recorded = project.stead(&["state", "ls"]).ok();
    assert_eq!(recorded.matches("main/Store:").count(), 3, "{recorded}");

    // The three resources are unpinned.
    let unpin = "for (const it of [key, data, note]) nodeOf(it).pinned = false;\n";
    project.write("main.ts", &fixture.in_a_class("Store", unpin));
    let planned = fixture.run(&project, &["plan"]).ok();
    assert_eq!(pin_lines(&planned, "[-pin]").len(), 3, "{planned}");
    assert_eq!(project.read(FILE), edited, "a plan writes nothing");
    let done = fixture.run(&project, &["up", "--yes"]).ok();
    assert_eq!(pin_lines(&done, "[-pin]").len(), 3, "{done}");
    assert!(!project.has(FILE), "an empty pinfile is deleted");
    assert!(!done.contains("replace") && !done.contains("delete"), "{done}");
}

#[test]
fn refactoring_of_pinned_resources_changes_no_real_resource() {
    let project = Project::with(&LOCAL.at_the_top());
    LOCAL.run(&project, &["up", "--yes"]).ok();
    project.write("cool-data/ledger", "1");
    let key = project.read("cool-key");
    project.write("main.ts", &LOCAL.in_a_class("Store", ""));
    edit_keys(&project, &LOCAL.run(&project, &["plan"]).ends(13).stdout);
    LOCAL.run(&project, &["up", "--yes"]).ok();
    assert_eq!((project.read("cool-key"), project.read("cool-data/ledger")), (key.clone(), "1".to_owned()));
    assert!(!project.has("store-key") && !project.has("store-data"));
    let unpin = "for (const it of [key, data, note]) nodeOf(it).pinned = false;\n";
    project.write("main.ts", &LOCAL.in_a_class("Store", unpin));
    let unpinned = LOCAL.run(&project, &["up", "--yes"]).ends(0);
    assert!(unpinned.stderr.contains("The next run follows the program"), "{}", unpinned.stderr);
    assert_eq!(project.read("cool-key"), key);
}

#[test]
fn pinfile_is_small_sorted_and_the_same_on_every_machine() {
    let texts = [(); 2].map(|()| {
        let project = Project::with(&LOCAL.at_the_top());
        LOCAL.run(&project, &["compile"]).ok();
        project.read(FILE)
    });
    assert_eq!(texts[0], texts[1]);
    insta::assert_snapshot!(texts[0], @r#"
    {
      "version": "1",
      "pinned": {
        "local": {
          "local.Directory.cool-data": {
            "type": "local.Directory",
            "attributes": {
              "path": "cool-data"
            }
          },
          "local.File.cool-note": {
            "type": "local.File",
            "attributes": {
              "path": "cool-note"
            }
          },
          "local.KeyPair.cool-key": {
            "type": "local.KeyPair",
            "attributes": {
              "path": "cool-key"
            }
          }
        }
      }
    }
    "#);
}

#[test]
fn pinfile_changes_and_refusals_are_printed() {
    let project = Project::with(&LOCAL.at_the_top());
    insta::assert_snapshot!(LOCAL.run(&project, &["compile"]).ok(), @"
    [+pin] local.Directory.cool-data
    [+pin] local.File.cool-note
    [+pin] local.KeyPair.cool-key

    wrote .stead/compiled/dev/local.json
    ");
    project.write("main.ts", &LOCAL.in_a_class("Store", ""));
    let refused = LOCAL.run(&project, &["compile"]).ends(13);
    insta::assert_snapshot!(refused.stdout, @"
    [-pin] local.Directory.cool-data
    [-pin] local.File.cool-note
    [-pin] local.KeyPair.cool-key
    [+pin] local.Directory.Store_data_6D950BEA
    [+pin] local.File.Store_note_2DBCEFE3
    [+pin] local.KeyPair.Store_key_490D07AE
    ");
    insta::assert_snapshot!(refused.stderr, @r#"
    error[ST0412]: the following pinned resources have been moved or deleted:
                     - local.Directory.cool-data
                     - local.File.cool-note
                     - local.KeyPair.cool-key
      --> main.ts.pin.json:5:7
       |
     5 |       "local.Directory.cool-data": {
       |       ^^^^^^^^^^^^^^^^^^^^^^^^^^^ pinned here
       |
      ::: main.ts.pin.json:11:7
       |
    11 |       "local.File.cool-note": {
       |       ---------------------- pinned here
       |
      ::: main.ts.pin.json:17:7
       |
    17 |       "local.KeyPair.cool-key": {
       |       ------------------------ pinned here
       |
       = note: Nothing was written, and no provider was called.
       = help: if moved, update the key in main.ts.pin.json to reflect the new path, with the old one as "originalPath"
       = help: to record the move: stead pin mv local.Directory.cool-data local.Directory.Store_data_6D950BEA -e dev
       = help: to record the move: stead pin mv local.File.cool-note local.File.Store_note_2DBCEFE3 -e dev
       = help: to record the move: stead pin mv local.KeyPair.cool-key local.KeyPair.Store_key_490D07AE -e dev
       = help: if deleted, release the pin in main.ts.pin.json: stead pin rm PATH -e dev

    For more on this, run `stead explain ST0412`.
    "#);
}

#[test]
fn compile_writes_the_graph_to_the_given_file_and_no_state() {
    let project = Project::only(&LOCAL.at_the_top());
    let out = project.path("out/graph.json");
    let compiled = LOCAL.run(&project, &["compile", "--out", out.to_str().unwrap()]).ok();
    assert!(compiled.contains("wrote out/graph.json"), "{compiled}");
    let graph: serde_json::Value = serde_json::from_str(&project.read("out/graph.json")).unwrap();
    assert_eq!(graph["target"], "local");
    assert_eq!(graph["graph"]["nodes"].as_array().unwrap().len(), 3);
    assert!(!project.has(".stead/state"));
    let lines = LOCAL.run(&project, &["compile", "--json", "--update-pins"]).ok();
    assert!(lines.lines().all(|line| serde_json::from_str::<serde_json::Value>(line).is_ok()), "{lines}");
}
