//! Calls of `move`.

use crate::common::program;

/// The program declares `main/Access:local.Data#inner` and, on line 5, `main:local.Data#top`.
const HEAD: &str = "import { Resource, move } from \"stead\";\nimport { Data } from \"stead/local\";\n\
    class Access extends Resource { data = new Data({}, { id: \"inner\" }); }\n\
    const access = new Access();\nconst top = new Data({}, { id: \"top\" });\n";

#[test]
fn move_gives_a_resource_its_former_name_and_path() {
    let moves = "move(\"local.Data.old\", access.data);\nmove(\"main:local.Data#former\", \"main:local.Data#top\");\n";
    let graph = program(&format!("{HEAD}{moves}")).graph();
    let options = |name: &str| {
        let node = graph.nodes.iter().find(|node| node.name.to_string() == name).unwrap();
        let aliases: Vec<String> = node.options.aliases.iter().map(ToString::to_string).collect();
        (node.options.moved_from.clone(), aliases)
    };
    assert_eq!(options("dev:main/Access:local.Data#inner"), (Some("local.Data.old".to_owned()), vec![]));
    let former = vec!["dev:main:local.Data#former".to_owned()];
    assert_eq!(options("dev:main:local.Data#top"), (Some("local.Data.former".to_owned()), former));
    let by_path = program(&format!("{HEAD}move(\"dev#g\", \"local.Data.top\");\n")).graph();
    let moved = by_path.nodes.iter().filter_map(|node| node.options.moved_from.as_deref());
    assert_eq!(moved.collect::<Vec<_>>(), ["local.Data.g"]);
}

#[test]
fn wrong_moves_are_refused_with_their_places() {
    let cases: [(&str, &[&str]); 9] = [
        (
            "move(\"local.Data.old\", \"local.Data.tip\");",
            &["main.ts:6:1", "did you mean \"local.Data.top\"?"],
        ),
        (
            "move(\"local.Data.old\", \"main:local.Data#topp\");",
            &["main.ts:6:1", "did you mean \"main:local.Data#top\"?"],
        ),
        (
            "move(\"local.Data.a\", top);\nmove(\"local.Data.b\", \"local.Data.top\");",
            &["two moves lead to dev:main:local.Data#top", "main.ts:7:1", "main.ts:6:1"],
        ),
        (
            "move(\"local.Data.a\", top);\nmove(\"main:local.Data#a\", access.data);",
            &["local.Data.a moves to two resources", "main.ts:7:1", "main.ts:6:1"],
        ),
        ("move(\"local.Data.top\", access.data);", &["still declares it", "main.ts:6:1", "main.ts:5:13"]),
        ("move(\"local.File.old\", top);", &["the types local.File and local.Data differ"]),
        ("move(\"main:local.File#old\", top);", &["the types local.File and local.Data differ"]),
        ("move(\"old\", top);", &["neither a name nor a path"]),
        ("move(\"local.Data.old\", access);", &["which is a group"]),
    ];
    for (call, told) in cases {
        let failure = program(&format!("{HEAD}{call}\n")).failure();
        assert!(failure.starts_with("ST0420"), "{call}: {failure}");
        assert!(told.iter().all(|part| failure.contains(part)), "{call}: {failure}");
    }
    for call in ["move(1 as any, top);", "move(\"local.Data.old\", 1 as any);"] {
        assert_eq!(program(&format!("{HEAD}{call}\n")).code(), "ST0103");
    }
}
