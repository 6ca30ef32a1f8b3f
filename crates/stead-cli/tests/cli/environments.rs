//! Environments of a project: known ones, their spelling, and the commands that add and remove them.

use crate::project::Project;

const DATA: &str = "import * as local from \"stead/local\";\nnew local.Data({ value: 1 }, { id: \"a\" });\n";

#[test]
fn unknown_environment_is_refused_with_the_nearest_name() {
    let project = Project::with(DATA);
    project.write("stead.toml", "project = \"shop\"\n\n[env.prod]\n");
    let before = project.all_files();
    for command in
        [&["plan"][..], &["up", "--yes"], &["compile"], &["import", "local.File", "f", "f"], &["refresh"]]
    {
        let mut words = command.to_vec();
        words.extend(["-e", "prdo"]);
        let refused = project.stead(&words).ends(2);
        assert!(refused.stderr.contains("did you mean \"prod\"?"), "{}", refused.stderr);
        assert!(refused.stderr.contains("`stead env new prdo`"), "{}", refused.stderr);
    }
    assert_eq!(project.all_files(), before, "nothing was made");
    insta::assert_snapshot!(project.stead(&["plan", "-e", "prdo"]).ends(2).stderr);
    project.stead(&["up", "--yes"]).ok();
    project.stead(&["up", "--yes", "-e", "prod"]).ok();
}

#[test]
fn environment_with_a_stack_is_known_until_the_stack_is_removed() {
    let project = Project::only(DATA);
    project.stead(&["stack", "new", "-e", "qa", "--namespace", "one"]).ok();
    assert!(project.stead(&["plan", "-e", "qa"]).ok().contains("1 to create"));
    project.stead(&["up", "--yes", "-e", "qa:two"]).ok();
    project.stead(&["destroy", "--yes", "-e", "qa:two"]).ok();
    for namespace in ["one", "two"] {
        project.stead(&["stack", "rm", "--yes", "-e", "qa", "--namespace", namespace]).ok();
    }
    assert_eq!(project.stead(&["plan", "-e", "qa"]).code, 2);
    assert!(project.stead(&["stack", "history", "-e", "qa:two"]).ok().contains("destroy"));
}

#[test]
fn colon_separates_environment_and_namespace() {
    let project = Project::with(DATA);
    project.write("stead.toml", "project = \"shop\"\n\n[env.staging]\n");
    project.stead(&["up", "--yes", "-e", "staging:acme"]).ok();
    assert_eq!(project.stead(&["stack", "ls"]).ok(), "shop\tstaging:acme\tlocal\n");
    assert_eq!(project.stead(&["plan", "--exit-code", "-e", "staging", "--namespace", "acme"]).code, 0);
    let twice = project.stead(&["plan", "-e", "staging:acme", "--namespace", "other"]).ends(2);
    assert!(twice.stderr.contains("two namespaces are given"), "{}", twice.stderr);
    assert_eq!(project.stead(&["plan", "-e", "a:b:c"]).code, 2);
}

#[test]
fn stack_whose_name_contains_a_colon_still_opens() {
    let project = Project::with(DATA);
    project.write("stead.toml", "project = \"shop\"\n\n[env.staging]\n");
    // A version that took `-e staging:acme` for one name made this stack.
    project.stead(&["stack", "new", "-e", "staging%3Aacme"]).ok();
    project.stead(&["up", "--yes", "-e", "staging%3Aacme"]).ok();
    assert_eq!(project.stead(&["stack", "ls"]).ok(), "shop\tstaging%3Aacme\tlocal\n");
    let refused = project.stead(&["plan", "-e", "staging:acme"]).ends(2);
    assert!(refused.stderr.contains("`-e staging%3Aacme`"), "{}", refused.stderr);
    assert_eq!(project.stead(&["plan", "--exit-code", "-e", "staging%3Aacme"]).code, 0);
    project.stead(&["stack", "new", "-e", "staging:acme"]).ok();
    assert_eq!(project.stead(&["plan", "--exit-code", "-e", "staging:acme"]).code, 10);
}

const SETTINGS: &str = "# the shop\nproject = \"shop\" # its name\n\n[config]\nb = 1\na = 2 # two\n\n# production\n\
                        [env.prod.config]\na = 3\n\n[marks]\nprevent-delete = false\n";

#[test]
fn environment_is_added_and_removed_and_comments_stay() {
    let project = Project::only(DATA);
    project.write("stead.toml", SETTINGS);
    project.stead(&["env", "new", "qa"]).ok();
    let text = project.read("stead.toml");
    for line in SETTINGS.lines().chain(["[env.qa]"]) {
        assert!(text.lines().any(|found| found == line), "{line:?} is missing in:\n{text}");
    }
    assert!(project.stead(&["env", "new", "qa"]).ends(1).stderr.contains("already"));
    assert_eq!(project.stead(&["env", "new", "a:b"]).code, 2);
    project.stead(&["up", "--yes", "-e", "qa"]).ok();
    assert_eq!(
        project.stead(&["env", "ls"]).ok(),
        "dev\tdefault\nprod\tstead.toml\nqa\tstead.toml, stack qa on local\n"
    );
    let refused = project.stead(&["env", "rm", "qa", "--yes"]).ends(1);
    assert!(refused.stderr.contains("the stack still holds 1 resources"), "{}", refused.stderr);
    assert_eq!(project.read("stead.toml"), text, "nothing was changed");
    project.stead(&["destroy", "--yes", "-e", "qa"]).ok();
    assert_eq!(project.stead(&["env", "rm", "qa"]).code, 2);
    project.stead(&["env", "rm", "qa", "--yes"]).ok();
    assert_eq!(project.read("stead.toml"), SETTINGS);
    assert_eq!(project.stead(&["plan", "-e", "qa"]).code, 2);
    assert!(project.stead(&["env", "rm", "nowhere", "--yes"]).ends(2).stderr.contains("ST0611"));
}

#[test]
fn state_at_a_url_is_refused_and_no_folder_is_made() {
    let project = Project::with(DATA);
    for path in ["s3://bucket/prefix", "https://state.example", "gs://b", "file:///tmp/state"] {
        project.write("stead.toml", &format!("project = \"shop\"\n[state]\npath = \"{path}\"\n"));
        let refused = project.stead(&["up", "--yes"]).ends(2);
        assert!(refused.stderr.contains("this version has no store for"), "{}", refused.stderr);
        assert_eq!(project.all_files().len(), 2);
    }
    project.write("stead.toml", "project = \"shop\"\n[state]\npath = \"./odd:name\"\n");
    project.stead(&["up", "--yes"]).ok();
}

#[test]
fn quickstart_works_in_a_second_environment() {
    let project = Project::empty();
    project.stead(&["init", "hello"]).ok();
    project.stead(&["up", "--yes", "-e", "dev"]).ok();
    project.stead(&["env", "new", "prod"]).ok();
    project.stead(&["up", "--yes", "-e", "prod"]).ok();
    let buckets = |project: &Project| project.stead(&["import", "--list", "AWS::S3::Bucket"]).ok();
    assert_eq!(buckets(&project).lines().count(), 2, "each environment has its own");
    project.stead(&["destroy", "--yes", "-e", "prod"]).ok();
    assert_eq!(buckets(&project).lines().count(), 1);
}

#[test]
fn init_beside_a_tsconfig_says_what_to_add() {
    let project = Project::empty();
    project.write("tsconfig.json", "{}\n");
    let made = project.stead(&["init", "hello"]).ends(0);
    assert!(made.stdout.contains("kept tsconfig.json"), "{}", made.stdout);
    assert!(made.stderr.contains("\"stead/*\": [\"./.stead/types/stead/*.d.ts\"]"), "{}", made.stderr);
    assert_eq!(project.read("tsconfig.json"), "{}\n");
    let other = Project::empty();
    assert_eq!(other.stead(&["init", "hello"]).ends(0).stderr, "");
}
