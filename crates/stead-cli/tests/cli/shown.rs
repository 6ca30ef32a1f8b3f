//! What a person sees of a plan and of a run: the change, the id of what goes, true counts, colour and width.

use crate::project::Project;

const HEAD: &str = "import * as local from \"stead/local\";\n";

/// A program with a file of 30 lines, a list and a JSON text.
fn program(line: &str, ports: &str, action: &str) -> String {
    format!(
        r#"{HEAD}
const lines = Array.from({{ length: 30 }}, (_, n) => n === 14 ? "{line}" : `line ${{n + 1}}`);
new local.File({{ path: "long.txt", content: lines.join("\n") + "\n" }}, {{ id: "long" }});
new local.Data({{ value: {{ ports: {ports}, owner: "ada" }} }}, {{ id: "ports" }});
const policy = JSON.stringify({{ Version: "2012", Statement: [{{ Effect: "Allow", Action: "{action}" }}] }});
new local.File({{ path: "policy.json", content: policy }}, {{ id: "policy" }});
export const url = "https://example.org/" + "{line}/".repeat(60);
"#
    )
}

#[test]
fn plan_shows_the_changed_line_element_and_key() {
    let project = Project::only(&program("line 15", r#"["http", "https", "ssh", "dns", "ldap"]"#, "s3:*"));
    project.stead(&["up", "--yes"]).ok();
    let ports = r#"["ldap", "http", "https", "ssh", "git"]"#;
    project.write("main.ts", &program("line fifteen", ports, "s3:Get"));
    let plan = project.stead(&["plan"]).ok();
    for part in [
        "      … 12 unchanged lines\n        line 13\n        line 14\n      - line 15\n      + line fifteen\n        line 16\n",
        "      > [4] → [0] \"ldap\"\n",
        "    content: JSON\n      Statement:\n        [0].Action: \"s3:*\" → \"s3:Get\"\n",
        &"line fifteen/".repeat(60),
    ] {
        assert!(plan.contains(part), "{part}\nis not in\n{plan}");
    }
    let full = project.stead(&["plan", "--full"]).ok();
    assert!(full.contains("line 1\n") && !full.contains("unchanged lines"), "{full}");
    let concise = project.stead(&["plan", "--concise"]).ok();
    assert!(concise.contains("~ update main:local.File#long  `content`\n"), "{concise}");
    assert!(concise.lines().count() < 10, "{concise}");
    let up = project.stead(&["up", "--yes"]).ok();
    assert!(up.ends_with(&format!("url = https://example.org/{}\n", "line fifteen/".repeat(60))), "{up}");
}

#[test]
fn deletion_and_replacement_show_the_id_and_a_replacement_counts_once() {
    let files = |main: &str| format!("{HEAD}{main}");
    let before = r#"new local.File({ path: "old.txt", content: "x" }, { id: "old" });
new local.File({ path: "here.txt", content: "y" }, { id: "moved" });"#;
    let after = r#"new local.File({ path: "there.txt", content: "y" }, { id: "moved" });
new local.File({ path: "new.txt", content: "new" }, { id: "new" });"#;
    let project = Project::with(&files(before));
    project.stead(&["up", "--yes"]).ok();
    project.write("main.ts", &files(after));
    let plan = project.stead(&["plan", "--no-moves"]).ok();
    let (replace, delete) = (plan.find("± replace").unwrap(), plan.find("- delete").unwrap());
    assert!(plan.find("+ create").unwrap() < replace && replace < delete, "{plan}");
    assert!(plan.contains("- delete main:local.File#old  id \""), "{plan}");
    assert!(
        plan[replace..].contains("    old: id \"") && plan[replace..].contains("here.txt\", deleted\n"),
        "{plan}"
    );
    assert!(plan.contains("    new: id (known after apply)\n"), "{plan}");
    let found = project.stead(&["state", "show", "main:local.File#old"]).ok();
    assert!(found.contains("old.txt"), "a shown name is found: {found}");
    let json = project.stead(&["plan", "--no-moves", "--json"]).ok();
    assert!(json.contains("\"recorded\":[{\"name\":\"dev:main:local.File#"), "{json}");
    let up = project.stead(&["up", "--yes", "--no-moves"]).ok();
    assert!(up.contains("\nDone: 1 created, 1 replaced, 1 deleted.\n"), "{up}");
}

#[test]
fn empty_plan_says_that_real_resources_were_not_checked() {
    let project = Project::only(&format!(
        "{HEAD}new local.File({{ path: \"a.txt\", content: \"a\" }}, {{ id: \"a\" }});"
    ));
    project.stead(&["up", "--yes"]).ok();
    project.write("a.txt", "by hand");
    let plan = project.stead(&["plan"]).ok();
    assert_eq!(
        plan,
        "Nothing to do: the recorded state of 1 resource matches the program.\n\
         The real resources were not checked; `--refresh` checks them.\n"
    );
    let plan = project.stead(&["plan", "--refresh"]).ok();
    assert!(plan.contains("changed outside of stead"), "{plan}");
    project.stead(&["up", "--yes", "--refresh"]).ok();
    assert_eq!(project.stead(&["plan", "--refresh"]).ok(), "Nothing to do: 1 resource is as declared.\n");
}

#[test]
fn colour_follows_the_flag_then_the_environment() {
    let project = Project::with(&format!("{HEAD}new local.Data({{ value: 1 }}, {{ id: \"a\" }});"));
    let coloured = |arguments: &[&str], variables: &[(&str, &str)]| {
        let mut command = project.command(arguments);
        command.env_remove("NO_COLOR").envs(variables.iter().copied());
        project.ran(command.output().unwrap()).ok().contains('\u{1b}')
    };
    assert!(!coloured(&["plan"], &[]));
    assert!(coloured(&["plan"], &[("CLICOLOR_FORCE", "1")]));
    assert!(!coloured(&["plan"], &[("CLICOLOR_FORCE", "0")]));
    assert!(!coloured(&["plan"], &[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")]));
    assert!(coloured(&["plan", "--color", "always"], &[("NO_COLOR", "1")]));
    assert!(!coloured(&["plan", "--color=never"], &[("CLICOLOR_FORCE", "1")]));
}

#[test]
fn sentences_fit_the_columns_and_are_broken_between_words() {
    let file = |path: &str| {
        format!("{HEAD}new local.File({{ path: \"{path}\", content: \"a\" }}, {{ id: \"a\" }});")
    };
    let project = Project::with(&file("a.txt"));
    project.stead(&["up", "--yes"]).ok();
    project.write("main.ts", &file("b.txt"));
    let plan = project.ran(project.command(&["plan"]).env("COLUMNS", "50").output().unwrap()).ok();
    assert!(
        plan.contains("    because `path` cannot be changed in place; the\n    new one is created first\n"),
        "{plan}"
    );
    assert!(
        plan.lines().filter(|line| line.contains("because")).all(|line| line.chars().count() <= 50),
        "{plan}"
    );
}

#[test]
fn printed_commands_carry_the_environment() {
    let file = |id: &str| {
        format!("{HEAD}new local.File({{ path: \"a.txt\", content: \"a\" }}, {{ id: \"{id}\" }});")
    };
    let project = Project::with(&file("a"));
    project.stead(&["up", "--yes", "-e", "prod"]).ok();
    project.write("main.ts", &file("b"));
    let refused = project.stead(&["up", "--yes", "-e", "prod"]).ends(1).stderr;
    let command = "stead rename 'prod:main:local.File#a' 'prod:main:local.File#b' -e prod";
    assert!(refused.contains(command), "{refused}");
    let plan = project.stead(&["plan", "-e", "prod"]).ends(0);
    assert!(plan.stderr.contains("`stead up -e prod` refuses them"), "{}", plan.stderr);
    assert!(plan.stdout.contains("+ create main:local.File#b "), "{}", plan.stdout);
}
