//! Fixtures: packages as cargo describes them, and a page with a table.

use std::path::PathBuf;

use super::super::source::{files, shown};
use super::*;

const TABLE: &str = "\
# Architecture

| crate | one responsibility | may use |
|---|---|---|
| `stead-model` | values | – |
| `stead-world` | the door | – |
| `stead-plan` | plans | model |
| `stead-engine` | runs | model, plan, world (the clock) |

| `not-a-row` | text | model |
";

fn package(name: &str, uses: &[(&str, Option<&str>)]) -> Package {
    let dependency = |(name, kind): &(&str, Option<&str>)| Dependency {
        name: (*name).to_owned(),
        kind: kind.map(str::to_owned),
    };
    Package {
        name: name.to_owned(),
        manifest_path: PathBuf::from(format!("/repo/crates/{name}/Cargo.toml")),
        dependencies: uses.iter().map(dependency).collect(),
    }
}

fn sound() -> Vec<Package> {
    vec![
        package("stead-model", &[]),
        package("stead-world", &[]),
        package("stead-plan", &[("stead-model", None), ("serde", None)]),
        package("stead-engine", &[("stead-model", None), ("stead-plan", None), ("stead-world", None)]),
    ]
}

const CODE: &str = "use stead_model::A; use stead_plan::B; use stead_world::C; use stead_engine::D;";

fn found_in(packages: Vec<Package>, code: &str) -> Vec<String> {
    let workspace = Workspace { root: "/repo".into(), target: "/repo/target".into(), packages };
    let files = files([
        (PAGE, TABLE),
        ("crates/stead-plan/src/lib.rs", code),
        ("crates/stead-engine/src/lib.rs", code),
        ("crates/stead-world/tests/a.rs", code),
    ]);
    shown(&check(&workspace, &files))
}

fn found(packages: Vec<Package>) -> Vec<String> {
    found_in(packages, CODE)
}

#[test]
fn edges_that_match_the_table_are_fine() {
    assert_eq!(found(sound()), [""; 0]);
}

#[test]
fn an_edge_outside_the_table_names_both_crates() {
    for (kind, how) in [(None, ""), (Some("dev"), " in its tests"), (Some("build"), " in its build script")] {
        let mut packages = sound();
        packages[2]
            .dependencies
            .push(Dependency { name: "stead-world".into(), kind: kind.map(str::to_owned) });
        assert_eq!(
            found(packages),
            [format!(
                "crates/stead-plan/Cargo.toml: `stead-plan` may not use `stead-world`{how}: the edge is not in the \
                 table of ARCHITECTURE.md"
            )]
        );
    }
}

#[test]
fn an_unused_permission_is_found_in_the_table() {
    let mut packages = sound();
    packages[3].dependencies.pop();
    assert_eq!(
        found(packages),
        ["ARCHITECTURE.md:8: `stead-engine` does not use `stead-world`: remove the permission"]
    );
}

#[test]
fn a_dependency_for_tests_does_not_use_up_the_permission() {
    let mut packages = sound();
    packages[2].dependencies[0].kind = Some("dev".into());
    assert_eq!(found(packages).len(), 1);
}

#[test]
fn a_dependency_that_the_code_does_not_mention_is_found() {
    assert_eq!(
        found_in(sound(), "use stead_model::A; use stead_plan::B; // stead_world"),
        ["crates/stead-engine/Cargo.toml: `stead-engine` depends on `stead-world` and does not use it"]
    );
}

#[test]
fn tests_may_use_real_components_but_code_may_not() {
    for (kind, count) in [(Some("dev"), 0), (None, 1)] {
        let mut packages = sound();
        packages[1]
            .dependencies
            .push(Dependency { name: "stead-store".into(), kind: kind.map(str::to_owned) });
        packages.push(package("stead-store", &[]));
        let text = format!("{TABLE}\n").replace("\n\n| `not", "\n| `stead-store` | blobs | – |\n\n| `not");
        let workspace = Workspace { root: "/repo".into(), target: "/repo/target".into(), packages };
        let code = "use stead_model::A; use stead_plan::B; use stead_world::C; use stead_store::D;";
        let files = files([
            (PAGE, text.as_str()),
            ("crates/stead-plan/src/lib.rs", code),
            ("crates/stead-engine/src/lib.rs", code),
            ("crates/stead-world/tests/a.rs", code),
        ]);
        let found = shown(&check(&workspace, &files));
        let forbidden = found.iter().filter(|finding| finding.contains("may not use")).count();
        assert_eq!(forbidden, count, "{found:?}");
    }
}

#[test]
fn a_component_for_tests_that_no_test_uses_is_found() {
    let mut packages = sound();
    packages.push(package("stead-guard", &[]));
    let found = found(packages);
    assert!(found.iter().any(|finding| finding.contains("no test uses `stead-guard`")), "{found:?}");
}

#[test]
fn a_crate_must_be_in_the_table_and_in_its_folder() {
    let mut packages = sound();
    packages.push(package("stead-extra", &[]));
    packages[0].manifest_path = "/repo/crates/model/Cargo.toml".into();
    let found = found(packages);
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(found[0].contains("belongs in crates/stead-model"), "{found:?}");
    assert!(found[1].contains("`stead-extra` is not in the table"), "{found:?}");
}

#[test]
fn a_row_without_a_crate_is_found() {
    let mut packages = sound();
    packages.remove(1);
    packages[2].dependencies.pop();
    assert_eq!(
        found(packages),
        [
            "ARCHITECTURE.md:8: `stead-engine` does not use `stead-world`: remove the permission",
            "ARCHITECTURE.md:6: there is no crate `stead-world`"
        ]
    );
}

#[test]
fn names_in_the_table_lack_the_prefix_but_for_the_library_itself() {
    let table = "| crate | x | y |\n|---|---|---|\n| `stead-cli` (dev) | the binary | model, stead (all) |\n";
    let rows = rows_of(table);
    assert_eq!((rows[0].name, rows[0].line), ("stead-cli", 3));
    assert_eq!(rows[0].uses, ["stead-model", "stead"]);
}

#[test]
fn a_missing_page_is_a_finding() {
    let workspace = Workspace { root: "/repo".into(), target: "/repo/target".into(), packages: sound() };
    assert_eq!(check(&workspace, &[]).len(), 1);
}
