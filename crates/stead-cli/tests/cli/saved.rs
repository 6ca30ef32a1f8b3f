//! Saved plans, and values that are computed only after apply.

use crate::project::Project;

const FUNCTIONS: &str = r#"
import * as stead from "stead";
import * as local from "stead/local";
import { shout } from "./shout";

const pet = new local.RandomPet({ words: 3 }, { id: "pet" });
const captured = ["<", ">"];
const framed = stead.apply(pet.result, name => captured[0] + shout(name) + captured[1]);
new local.File({ path: "framed.txt", content: framed }, { id: "framed" });
new local.File({ path: "second.txt", content: pet.result.split("-")[1].toUpperCase() }, { id: "second" });
export const both = stead.all([pet.result, framed], (name, framed) => `${name} ${framed}`);
"#;

fn project() -> Project {
    let project = Project::with(FUNCTIONS);
    project.write("shout.ts", "export const shout = (text: string) => `${text.toUpperCase()}!`;\n");
    project
}

fn check(project: &Project, outputs: &str) {
    let framed = project.read("framed.txt");
    let name = framed.trim_start_matches('<').trim_end_matches("!>").to_lowercase();
    assert_eq!(project.read("second.txt"), name.split('-').nth(1).unwrap().to_uppercase());
    assert!(outputs.contains(&format!("both = {name} {framed}")), "{outputs}");
}

#[test]
fn deferred_functions_run_once_their_values_are_known() {
    let project = project();
    let up = project.stead(&["up", "--yes"]).ok();
    check(&project, &up);
    assert_eq!(project.stead(&["plan", "--exit-code"]).code, 0);
}

#[test]
fn saved_plan_with_functions_applies_without_the_sources() {
    let project = project();
    let plan = project.path("the plan");
    let plan = plan.to_str().unwrap();
    let saved = project.stead(&["plan", "--out", plan]).ok();
    std::fs::remove_file(project.path("main.ts")).unwrap();
    std::fs::remove_file(project.path("shout.ts")).unwrap();
    let up = project.stead(&["up", plan, "--yes"]).ok();
    assert!(up.starts_with(&saved), "the saved plan is shown:\n{saved}\n{up}");
    check(&project, &up);
    let again = project.stead(&["up", plan, "--yes"]).ends(1);
    assert!(again.stderr.contains("the state of the stack changed since"), "{}", again.stderr);
}

#[test]
fn saved_plan_for_another_environment_is_refused_with_the_difference() {
    let project = project();
    let plan = project.path("plan");
    let plan = plan.to_str().unwrap();
    project.stead(&["plan", "--out", plan]).ok();
    insta::assert_snapshot!(project.stead(&["up", plan, "--yes", "-e", "prod"]).ends(1).stderr);
    let whole = project.read("plan");
    for damaged in
        [whole.replacen("words: 3", "words: 4", 1), whole[..whole.len() / 2].to_owned(), String::new()]
    {
        project.write("plan", &damaged);
        let refused = project.stead(&["up", plan, "--yes"]).ends(1);
        assert!(refused.stderr.contains("ST0608"), "{}", refused.stderr);
    }
    assert!(!project.has(".stead"), "nothing was changed");
}

#[cfg(unix)]
#[test]
fn saved_plan_is_readable_by_its_owner_only() {
    use std::os::unix::fs::PermissionsExt as _;
    let project = project();
    let plan = project.path("plan");
    project.stead(&["plan", "--out", plan.to_str().unwrap()]).ok();
    assert_eq!(std::fs::metadata(plan).unwrap().permissions().mode() & 0o777, 0o600);
}

#[test]
fn exception_in_a_deferred_function_is_shown_at_its_line() {
    let project = Project::with(
        "import * as stead from \"stead\";\nimport * as local from \"stead/local\";\nconst pet = new local.RandomPet({ words: 1 }, { id: \"pet\" });\nnew local.File({\n  path: \"x\",\n  content: stead.apply(pet.result, () => {\n    throw new Error(\"no\");\n  }),\n}, { id: \"x\" });\n",
    );
    insta::assert_snapshot!(project.stead(&["up", "--yes"]).ends(1).stderr);
    assert_eq!(project.stead(&["state", "ls"]).ok(), "dev:main:local.RandomPet#pet\n");
}
