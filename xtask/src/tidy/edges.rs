//! Which crate may use which. An edge that is not in this table does not exist.
//!
//! The table is the architecture: a new edge is a decision, made here and explained in ARCHITECTURE.md.

use crate::workspace::{Dependency, Package, Workspace};

use super::source::Finding;

/// What a crate may use.
enum May {
    Use(&'static [&'static str]),
    /// Everything but these.
    AllBut(&'static [&'static str]),
}

use May::{AllBut, Use};

#[rustfmt::skip]
const EDGES: &[(&str, May)] = &[
    ("stead-model", Use(&[])),
    ("stead-schema", Use(&["stead-model"])),
    ("stead-state", Use(&["stead-model"])),
    ("stead-guard", Use(&["stead-model", "stead-state"])),
    ("stead-plan", Use(&["stead-model", "stead-schema", "stead-state", "stead-guard"])),
    ("stead-world", Use(&[])),
    ("stead-store", Use(&["stead-world"])),
    ("stead-journal", Use(&["stead-model", "stead-state", "stead-store", "stead-world"])),
    ("stead-secrets", Use(&["stead-model", "stead-world"])),
    ("stead-provider", Use(&["stead-model", "stead-schema", "stead-guard", "stead-journal"])),
    ("stead-plugin", Use(&["stead-model", "stead-schema", "stead-provider", "stead-world"])),
    ("stead-engine", Use(&[
        "stead-model", "stead-schema", "stead-state", "stead-guard", "stead-plan", "stead-world",
        "stead-store", "stead-journal", "stead-secrets", "stead-provider",
    ])),
    ("stead-eval", Use(&["stead-model", "stead-schema"])),
    ("stead-local", Use(&["stead-model", "stead-schema", "stead-provider", "stead-world"])),
    ("stead-aws", Use(&["stead-model", "stead-schema", "stead-provider", "stead-world"])),
    ("stead-cloud", Use(&["stead-model", "stead-schema", "stead-world"])),
    ("stead-render", Use(&["stead-model", "stead-schema", "stead-plan"])),
    ("stead-server", Use(&[
        "stead-model", "stead-state", "stead-guard", "stead-world", "stead-store", "stead-journal",
        "stead-secrets",
    ])),
    ("stead-cli", AllBut(&["stead-trial", "xtask"])),
    ("stead-trial", AllBut(&["stead-cli", "xtask"])),
    ("xtask", Use(&["stead-model", "stead-schema"])),
];

/// What the tests of any crate may use besides: real pieces are better than mocks of them.
const FOR_TESTS: &[&str] = &[
    "stead-guard",
    "stead-journal",
    "stead-local",
    "stead-provider",
    "stead-state",
    "stead-store",
    "stead-world",
];

const TABLE: &str = "the table in xtask/src/tidy/edges.rs";

pub(crate) fn check(workspace: &Workspace) -> Vec<Finding> {
    let names: Vec<&str> = workspace.packages.iter().map(|package| package.name.as_str()).collect();
    let mut findings = Vec::new();
    for package in &workspace.packages {
        let manifest = package.manifest_path.strip_prefix(&workspace.root).unwrap_or(&package.manifest_path);
        let manifest = manifest.to_string_lossy().replace('\\', "/");
        findings.extend(misplaced(package, &manifest));
        let Some((_, may)) = EDGES.iter().find(|(name, _)| *name == package.name) else {
            findings.push(Finding::whole(manifest, format!("`{}` is not in {TABLE}", package.name)));
            continue;
        };
        let inside = package.dependencies.iter().filter(|used| names.contains(&used.name.as_str()));
        for used in inside.filter(|used| !allowed(may, used)) {
            findings.push(Finding::whole(&*manifest, forbidden(package, used)));
        }
    }
    findings
}

/// Flat `crates/*`, and the folder is called what the crate is called.
fn misplaced(package: &Package, manifest: &str) -> Option<Finding> {
    let name = &package.name;
    let home =
        if name == "xtask" { "xtask/Cargo.toml".to_owned() } else { format!("crates/{name}/Cargo.toml") };
    (manifest != home).then(|| Finding::whole(manifest, format!("the crate `{name}` belongs in {home}")))
}

fn allowed(may: &May, used: &Dependency) -> bool {
    let name = used.name.as_str();
    let in_table = match may {
        Use(names) => names.contains(&name),
        AllBut(names) => !names.contains(&name),
    };
    in_table || (used.kind.as_deref() == Some("dev") && FOR_TESTS.contains(&name))
}

fn forbidden(package: &Package, used: &Dependency) -> String {
    let how = match used.kind.as_deref() {
        Some("dev") => " in its tests",
        Some("build") => " in its build script",
        _ => "",
    };
    format!("`{}` may not use `{}`{how}: the edge is not in {TABLE}", package.name, used.name)
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::super::source::shown;
    use super::*;

    fn package(name: &str, folder: &str, uses: &[(&str, Option<&str>)]) -> Package {
        let dependency = |(name, kind): &(&str, Option<&str>)| Dependency {
            name: (*name).to_owned(),
            kind: kind.map(str::to_owned),
        };
        Package {
            name: name.to_owned(),
            manifest_path: PathBuf::from(format!("/repo/{folder}/Cargo.toml")),
            dependencies: uses.iter().map(dependency).collect(),
        }
    }

    fn found(packages: Vec<Package>) -> Vec<String> {
        shown(&check(&Workspace { root: "/repo".into(), target: "/repo/target".into(), packages }))
    }

    fn with_engine(user: Package) -> Vec<String> {
        found(vec![user, package("stead-engine", "crates/stead-engine", &[])])
    }

    #[test]
    fn an_edge_outside_the_table_names_both_crates() {
        let plan = package("stead-plan", "crates/stead-plan", &[("stead-engine", None), ("serde", None)]);
        assert_eq!(
            with_engine(plan),
            ["crates/stead-plan/Cargo.toml: `stead-plan` may not use `stead-engine`: \
              the edge is not in the table in xtask/src/tidy/edges.rs"]
        );
    }

    #[test]
    fn build_and_test_edges_are_edges_too() {
        for kind in ["build", "dev"] {
            let plan = package("stead-plan", "crates/stead-plan", &[("stead-engine", Some(kind))]);
            assert_eq!(with_engine(plan).len(), 1, "{kind}");
        }
    }

    #[test]
    fn tests_may_use_the_real_store_but_code_may_not() {
        let store = || package("stead-store", "crates/stead-store", &[]);
        let state = |kind| package("stead-state", "crates/stead-state", &[("stead-store", kind)]);
        assert!(found(vec![state(Some("dev")), store()]).is_empty());
        assert_eq!(found(vec![state(None), store()]).len(), 1);
    }

    #[test]
    fn the_command_line_may_use_everything_that_ships() {
        let cli = package("stead-cli", "crates/stead-cli", &[("stead-engine", None), ("stead-trial", None)]);
        let trial = package("stead-trial", "crates/stead-trial", &[("stead-engine", None)]);
        let findings = found(vec![cli, trial, package("stead-engine", "crates/stead-engine", &[])]);
        assert_eq!(findings.len(), 1);
        assert!(findings[0].contains("`stead-trial`"), "{findings:?}");
    }

    #[test]
    fn a_crate_must_be_in_the_table_and_in_its_folder() {
        let findings = found(vec![
            package("stead-extra", "crates/stead-extra", &[]),
            package("stead-model", "crates/model", &[]),
        ]);
        assert_eq!(findings.len(), 2);
        assert!(findings[0].contains("`stead-extra` is not in"), "{findings:?}");
        assert!(findings[1].contains("belongs in crates/stead-model"), "{findings:?}");
    }

    #[test]
    fn the_table_has_no_circle_and_no_unknown_crate() {
        for (at, (name, may)) in EDGES.iter().enumerate() {
            let Use(uses) = may else { continue };
            for used in *uses {
                let position = EDGES.iter().position(|(known, _)| known == used);
                assert!(position.is_some_and(|position| position < at), "{name} uses {used}");
            }
        }
    }
}
