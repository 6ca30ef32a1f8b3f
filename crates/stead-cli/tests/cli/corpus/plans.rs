//! Saved plans of earlier versions: each is refused, says so, and changes nothing.

use super::{case, on};

/// The saved plans of the corpus: case, environment, name of the file.
const PLANS: &[(&str, &str, &str)] = &[
    ("pins", "dev", "nothing"),
    ("pins-moved", "prod", "prod-moves"),
    ("plans", "dev", "everything"),
    ("plans", "dev", "nothing"),
    ("plans", "dev", "part"),
    ("plans", "dev", "retained"),
    ("plans", "fresh", "fresh"),
    ("plans", "prod", "everything"),
    ("stale-plan", "dev", "late"),
];

#[test]
fn saved_plans_of_another_format_are_refused() {
    for (name, environment, plan) in PLANS {
        let project = case(name);
        let before = project.all_files();
        let file = project.path(&format!("plans/{plan}.plan"));
        let refused = on(&project, environment, &["up", file.to_str().unwrap(), "--yes"]).ends(1);
        let said = ["ST0608", "it was made by another version of stead"];
        assert!(said.iter().all(|said| refused.stderr.contains(said)), "{name} {plan}: {}", refused.stderr);
        assert_eq!(project.all_files(), before, "{name} {plan}");
    }
}
