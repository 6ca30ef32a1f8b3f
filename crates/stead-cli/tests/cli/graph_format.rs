//! The page on the compiled graph, against real output of `stead compile`.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::project::Project;

const PAGE: &str = include_str!("../../../../docs/format/graph.md");

/// Returns the first block of the page in a language.
fn block(language: &str) -> &'static str {
    let (_, rest) = PAGE.split_once(&format!("```{language}\n")).unwrap();
    rest.split_once("```").unwrap().0
}

#[test]
fn example_on_the_page_is_what_compile_writes() {
    let project = Project::only(block("ts"));
    project.stead(&["compile"]).ok();
    assert_eq!(project.read(".stead/compiled/dev/local.json"), block("json"));
}

/// A program with as many fields of the format as one program can have.
const RICH: &str = r#"
import { Resource, apply, config, file, nodeOf, secret } from "stead";
import * as local from "stead/local";
class Group extends Resource {
  constructor() {
    super("g");
    new local.Data({ value: file("note.txt") }, { id: "inner", preventDelete: true, deletionPolicy: "retain" });
  }
}
new Group();
const pet = new local.RandomPet({ words: 2 }, { id: "pet", pinned: true, timeouts: { create: 60, read: 5 } });
const data = new local.Data({ value: { text: pet.result, list: [1, pet.result] } }, {
  id: "data", dependsOn: [pet], deleteBeforeReplace: true, ignoreChanges: ["value.text"], replaceOnChanges: ["value.list"],
  aliases: ["dev:main:local.Data#old"], annotations: { "local/prevent-delete": "false" }, deletedWith: pet, replaceWith: [pet],
});
new local.File({ path: "a.txt", content: `a ${pet.result} ` + pet.result }, { id: "a", protect: false, retainOnDelete: true });
new local.File({ path: "b.txt", content: JSON.stringify({ p: pet.result }) }, { id: "b" });
new local.File({ path: "c.txt", content: apply(pet.result, (p) => p + 1) }, { id: "c" });
new local.File({ path: "d.txt", content: pet.result.replace(/a/g, "b").toUpperCase() }, { id: "d" });
new local.File({ path: "e.txt", content: pet.result === "x" ? "1" : "2" }, { id: "e" });
new local.File({ path: "f.txt", content: pet.result.split("-")[0] }, { id: "f" });
secret("x");
export const out = data.value;
"#;

/// Collects the fields of the format: keys of objects that are not data of the program.
fn fields(value: &Value, found: &mut BTreeSet<String>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| fields(item, found)),
        Value::Object(map) => {
            for (key, member) in map {
                found.insert(key.clone());
                match key.as_str() {
                    "known" | "annotations" => {}
                    "inputs" | "outputs" | "map" => {
                        member.as_object().unwrap().values().for_each(|member| fields(member, found));
                    }
                    _ => fields(member, found),
                }
            }
        }
        _ => {}
    }
}

#[test]
fn every_field_of_a_compiled_graph_is_on_the_page() {
    let project = Project::with(RICH);
    project.write("note.txt", "text");
    project.stead(&["compile", "--allow-unknown-branches"]).ok();
    let graph: Value = serde_json::from_str(&project.read(".stead/compiled/dev/local.json")).unwrap();
    let mut found = BTreeSet::new();
    fields(&graph, &mut found);
    assert!(found.len() > 50, "the program uses most of the format: {found:?}");
    let named =
        |field: &&String| PAGE.contains(&format!("`{field}`")) || PAGE.contains(&format!("\"{field}\""));
    let missing: Vec<&String> = found.iter().filter(|field| !named(field)).collect();
    assert!(missing.is_empty(), "docs/format/graph.md does not name {missing:?}");
}
