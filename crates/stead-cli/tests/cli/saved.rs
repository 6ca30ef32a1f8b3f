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
    let project = Project::only(FUNCTIONS);
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
    assert!(again.stderr.contains("#framed changed since the plan was made"), "{}", again.stderr);
}

const THREE: &str = r#"
import * as local from "stead/local";
const base = new local.RandomPet({ words: 2 }, { id: "base" });
new local.File({ path: "a.txt", content: "A" }, { id: "a" });
new local.File({ path: "b.txt", content: `${base.result} B` }, { id: "b" });
new local.File({ path: "c.txt", content: `${base.result} C` }, { id: "c" });
"#;

/// Saves a plan for the resources with these ids.
fn save(project: &Project, ids: &[&str], name: &str) -> String {
    let file = project.path(name).to_str().unwrap().to_owned();
    let targets: Vec<String> = ids.iter().map(|id| format!("*#{id}")).collect();
    let mut arguments = vec!["plan", "--out", &file];
    targets.iter().for_each(|target| arguments.extend(["--target-resource", target]));
    project.stead(&arguments).ok();
    file
}

/// Changes the content of a file in the program.
fn change(project: &Project, letter: &str, content: &str) {
    let main = project.read("main.ts");
    let old = main.lines().find(|line| line.contains(&format!("\"{letter}.txt\""))).unwrap().to_owned();
    let new = old.replace(&format!("{}\" }}", letter.to_uppercase()), &format!("{content}\" }}"));
    let new = new.replace(&format!("{}` }}", letter.to_uppercase()), &format!("{content}` }}"));
    assert_ne!(old, new);
    project.write("main.ts", &main.replace(&old, &new));
}

#[test]
fn saved_plans_over_disjoint_parts_both_apply() {
    let project = Project::only(THREE);
    // Both are made before there is a stack.
    let (a, b) = (save(&project, &["a"], "plan-a"), save(&project, &["base", "b"], "plan-b"));
    project.stead(&["up", &a, "--yes"]).ok();
    project.stead(&["up", &b, "--yes"]).ok();
    assert!(project.has("a.txt") && project.has("b.txt") && !project.has("c.txt"));
    // Both read `base`, and neither changes it.
    change(&project, "a", "changed a");
    change(&project, "b", "changed b");
    let (a, b) = (save(&project, &["a"], "plan-a"), save(&project, &["b"], "plan-b"));
    let c = save(&project, &["c"], "plan-c");
    for plan in [&c, &b, &a] {
        project.stead(&["up", plan, "--yes"]).ok();
    }
    assert_eq!(project.read("a.txt"), "changed a");
    assert!(project.read("b.txt").ends_with(" changed b") && project.read("c.txt").ends_with(" C"));
    assert_eq!(project.stead(&["plan", "--exit-code"]).code, 0);
}

#[test]
fn overlapping_saved_plan_is_refused_with_the_resources_that_changed() {
    let project = Project::with(THREE);
    project.stead(&["up", "--yes"]).ok();
    change(&project, "b", "changed b");
    change(&project, "a", "changed a");
    let (one, two) = (save(&project, &["a", "b"], "plan-one"), save(&project, &["b"], "plan-two"));
    project.stead(&["up", &one, "--yes"]).ok();
    let before = project.all_files();
    insta::assert_snapshot!(project.stead(&["up", &two, "--yes"]).ends(1).stderr);
    assert_eq!(project.all_files(), before);
    // A plan that reads a resource is refused once that resource is replaced.
    change(&project, "c", "changed c");
    let c = save(&project, &["c"], "plan-c");
    project.write("main.ts", &project.read("main.ts").replace("words: 2", "words: 3"));
    project.stead(&["up", "--yes"]).ok();
    let refused = project.stead(&["up", &c, "--yes"]).ends(1);
    assert!(refused.stderr.contains("#base changed since the plan was made"), "{}", refused.stderr);
}

#[test]
fn saved_plan_is_refused_if_it_would_now_do_more() {
    let project = Project::with(THREE);
    project.stead(&["up", "--yes"]).ok();
    change(&project, "a", "changed a");
    let whole = project.path("plan").to_str().unwrap().to_owned();
    project.stead(&["plan", "--out", &whole]).ok();
    // The plan does not touch `c`. Another program changes it, so that the plan would change it back.
    let planned = project.read("main.ts");
    change(&project, "c", "changed c");
    project.stead(&["up", "--yes", "--target-resource", "*#c"]).ok();
    project.write("main.ts", &planned);
    let refused = project.stead(&["up", &whole, "--yes"]).ends(1);
    assert!(refused.stderr.contains("#c now has another step than the plan"), "{}", refused.stderr);
    assert!(project.read("c.txt").ends_with(" changed c") && project.read("a.txt") == "A");
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
    let project = Project::only(
        "import * as stead from \"stead\";\nimport * as local from \"stead/local\";\nconst pet = new local.RandomPet({ words: 1 }, { id: \"pet\" });\nnew local.File({\n  path: \"x\",\n  content: stead.apply(pet.result, () => {\n    throw new Error(\"no\");\n  }),\n}, { id: \"x\" });\n",
    );
    insta::assert_snapshot!(project.stead(&["up", "--yes"]).ends(1).untimed());
    assert_eq!(project.stead(&["state", "ls"]).ok(), "dev:main:local.RandomPet#pet\n");
}
