//! Entries that every environment has applied.

use stead_model::{Environment, Resource};
use stead_state::State;

use super::super::{PinfileUpdate, PrunedStack, prune};
use super::{file, recorded, state};

const TEXT: &str = r#"{"version":"1","pinned":{
    "aws": {"t.Box.x":{"type":"t.Box","released":true}},
    "local": {
        "t.Box.gone":{"type":"t.Box","released":true},
        "t.Box.kept":{"type":"t.Box"},
        "t.Box.new":{"type":"t.Box","originalPath":"t.Box.old","environments":{"dev":{"path":"old-7f"}}}
    },
    "local:prod": {"t.Box.gone":{"type":"t.Box"}}
}}"#;

fn in_environment(environment: &str, mut resource: Resource) -> Resource {
    let environment: Environment = environment.parse().unwrap();
    resource.ties.aliases.iter_mut().for_each(|alias| *alias = alias.in_environment(&environment));
    resource.name = resource.name.in_environment(&environment);
    resource
}

/// Returns a line per release and move, and the text of the file afterwards.
fn pruned(stacks: &[(&str, Option<State>)]) -> (Vec<String>, Option<String>) {
    let stack =
        |(environment, state): &'_ (&str, Option<State>)| (environment.parse().unwrap(), state.clone());
    let stacks: Vec<(Environment, Option<State>)> = stacks.iter().map(stack).collect();
    let stacks: Vec<PrunedStack<'_>> = stacks
        .iter()
        .map(|(environment, state)| PrunedStack { environment: environment.clone(), state: state.as_ref() })
        .collect();
    let (update, entries) = prune(&file(Some(TEXT)), "local", &stacks);
    let text = match update {
        PinfileUpdate::Write(text) => Some(text),
        PinfileUpdate::Unchanged => None,
        PinfileUpdate::Remove => panic!("pins are left"),
    };
    let line = |entry: &super::super::PrunedEntry| {
        let waiting: Vec<String> = entry.waiting.iter().map(ToString::to_string).collect();
        format!("{} {}: {}", entry.section, entry.path, waiting.join(", "))
    };
    (entries.iter().map(line).collect(), text)
}

#[test]
fn release_and_move_stay_until_every_environment_has_applied_them() {
    let waiting = |environment: &str| {
        let resources = [(":t.Box#gone", true), (":t.Box#old", true)];
        state(resources.map(|(name, pinned)| in_environment(environment, recorded(name, "p", pinned))).into())
    };
    let (lines, text) = pruned(&[
        ("dev", Some(waiting("dev"))),
        // Its own section decides on the release, and is the only one that it uses for the move.
        ("prod", Some(waiting("prod"))),
        ("test", None),
        ("empty", Some(state(Vec::new()))),
    ]);
    assert_eq!(lines, ["local t.Box.gone: dev, test", "local t.Box.new: dev, test"]);
    assert_eq!(text, None);
}

#[test]
fn applied_release_and_move_are_removed() {
    let mut moved = recorded(":t.Box#new", "p", true);
    moved.ties.aliases.push("dev:main:t.Box#old".parse().unwrap());
    let unpinned = recorded(":t.Box#gone", "p", false);
    let (lines, text) = pruned(&[("dev", Some(state(vec![moved, unpinned])))]);
    assert_eq!(lines, ["local t.Box.gone: ", "local t.Box.new: "]);
    insta::assert_snapshot!(text.unwrap(), @r#"
    {
      "version": "1",
      "pinned": {
        "aws": {
          "t.Box.x": {
            "type": "t.Box",
            "released": true,
            "attributes": {}
          }
        },
        "local": {
          "t.Box.kept": {
            "type": "t.Box",
            "attributes": {}
          },
          "t.Box.new": {
            "type": "t.Box",
            "attributes": {},
            "environments": {
              "dev": {
                "path": "old-7f"
              }
            }
          }
        },
        "local:prod": {
          "t.Box.gone": {
            "type": "t.Box",
            "attributes": {}
          }
        }
      }
    }
    "#);
}
