//! One real resource has one owner: between stacks by marks, within a stack by its place.

use crate::project::{Project, Ran};

fn file(path: &str) -> String {
    format!(
        "import * as local from \"stead/local\";\nnew local.File({{ path: {path:?}, content: \"v\" }}, {{ id: \"f\" }});\n"
    )
}

const NOTHING: &str = "export {};\n";

/// Asserts that another stack owns the resource, by the code and the exit code of a guard.
fn owned(ran: Ran) {
    let Ran { stderr, .. } = ran.ends(13);
    assert!(stderr.contains("ST0430") && stderr.contains("of another stack"), "{stderr}");
    assert!(stderr.contains("--take-over"), "{stderr}");
}

fn without_owners(project: &Project, arguments: &[&str]) -> Ran {
    project.ran(project.command(arguments).env_remove("STEAD_OWNERS").output().unwrap())
}

#[test]
fn file_of_one_environment_is_not_imported_and_deleted_by_another() {
    let project = Project::with(&file("f"));
    project.stead(&["up", "--yes"]).ok();
    owned(project.stead(&["import", "local.File", "f", "f", "-e", "prod", "--yes"]));
    owned(project.stead(&["import", "local.File", "f", "./f", "-e", "prod", "--yes"]));
    owned(project.stead(&["up", "-e", "prod", "--yes"]));
    owned(project.stead(&["plan", "-e", "prod"]));
    let other = project.of_same_user(NOTHING);
    let path = project.path("f").display().to_string();
    owned(other.stead(&["import", "local.File", "x", &path, "--yes"]));
    assert!(project.has("f"));
    other.stead(&["import", "local.File", "x", &path, "--yes", "--take-over", "x"]).ok();
    owned(project.stead(&["destroy", "--yes"]));
    assert!(project.has("f"));
}

#[test]
fn record_that_came_without_a_mark_cannot_delete_what_another_stack_owns() {
    let project = Project::only(&file("f"));
    project.stead(&["up", "--yes"]).ok();
    let import = ["import", "local.File", "f", "f", "-e", "prod", "--yes"];
    without_owners(&project, &import).ok();
    owned(project.stead(&["destroy", "-e", "prod", "--yes"]));
    project.write("dev.json", &project.stead(&["stack", "export"]).ok());
    let export = project.path("dev.json").display().to_string();
    project.stead(&["env", "new", "qa"]).ok();
    project.stead(&["stack", "import", &export, "-e", "qa", "--yes", "--from-another-stack"]).ok();
    owned(project.stead(&["destroy", "-e", "qa", "--yes"]));
    assert!(project.has("f"));
    project.stead(&["destroy", "-e", "prod", "--yes", "--take-over", "f"]).ok();
    assert!(!project.has("f"));
}

#[cfg(unix)]
#[test]
fn another_spelling_of_a_path_is_the_same_file() {
    let program = |folder: &str| {
        format!(
            "import * as local from \"stead/local\";\n\
             new local.File({{ path: \"{folder}f.txt\", content: \"v\" }}, {{ id: \"f\" }});\n\
             new local.Directory({{ path: \"{folder}g\" }}, {{ id: \"g\" }});\n\
             new local.KeyPair({{ path: \"{folder}k\" }}, {{ id: \"k\" }});\n"
        )
    };
    let project = Project::with(&program(""));
    project.stead(&["up", "--yes"]).ok();
    std::fs::create_dir(project.path("d")).unwrap();
    std::os::unix::fs::symlink(project.path("."), project.path("link")).unwrap();
    let key = project.read("k");
    for folder in ["d/../", "link/", "./link/d/../", ""] {
        project.write("main.ts", &program(folder));
        assert_eq!(project.stead(&["plan", "--exit-code"]).code, 0, "{folder}");
        project.write("main.ts", &program(folder).replace("\"v\"", &format!("\"v {folder}\"")));
        project.stead(&["up", "--yes"]).ok();
        assert_eq!(project.read("f.txt"), format!("v {folder}"));
        assert_eq!(project.read("k"), key);
        project.write("main.ts", &program(folder));
        project.stead(&["up", "--yes"]).ok();
    }
    assert!(project.has("g"));
}

#[test]
fn two_resources_in_one_place_are_refused_with_both_declarations() {
    let two = |a: &str, b: &str| {
        format!(
            "import * as local from \"stead/local\";\n\
             new local.File({{ path: {a:?}, content: \"one\" }}, {{ id: \"a\" }});\n\
             new local.File({{ path: {b:?}, content: \"two\", overwrite: true }}, {{ id: \"b\" }});\n"
        )
    };
    for (a, b) in [("same.txt", "same.txt"), ("same.txt", "./same.txt"), ("d/../same.txt", "same.txt")] {
        let project = Project::with(&two(a, b));
        for command in [&["plan"][..], &["up", "--yes"]] {
            let Ran { stderr, .. } = project.stead(command).ends(1);
            assert!(stderr.contains("ST0320"), "{stderr}");
            assert!(stderr.contains("main.ts:2") && stderr.contains("main.ts:3"), "{stderr}");
        }
        assert!(!project.has("same.txt"));
    }
}

#[test]
fn place_that_is_known_only_during_the_run_is_never_written_twice() {
    let project = Project::with(
        r#"
import * as local from "stead/local";
const a = new local.File({ path: "same.txt", content: "one" }, { id: "a" });
const echo = new local.Command({ create: "printf ./same.txt", delete: "true" }, { id: "c", dependsOn: [a] });
new local.File({ path: echo.stdout, content: "two", overwrite: true }, { id: "b" });
"#,
    );
    let Ran { stderr, .. } = project.stead(&["up", "--yes"]).ends(1);
    assert!(stderr.contains("already belongs to"), "{stderr}");
    assert_eq!(project.read("same.txt"), "one");
}

#[test]
fn second_file_over_a_protected_one_or_over_a_key_is_refused() {
    let first = "import * as local from \"stead/local\";\n\
                 new local.File({ path: \"f\", content: \"precious\" }, { id: \"f\", preventDelete: true });\n\
                 new local.KeyPair({ path: \"k\" }, { id: \"k\", preventDelete: true });\n";
    let project = Project::with(first);
    project.stead(&["up", "--yes"]).ok();
    let key = project.read("k");
    for path in ["./f", "k", "d/../k.pub"] {
        project.write(
            "main.ts",
            &format!("{first}new local.File({{ path: {path:?}, content: \"x\", overwrite: true }}, {{ id: \"x\" }});\n"),
        );
        let Ran { stderr, .. } = project.stead(&["up", "--yes"]).ends(1);
        assert!(stderr.contains("ST0320"), "{path}: {stderr}");
    }
    assert_eq!((project.read("f").as_str(), project.read("k")), ("precious", key));
}

#[test]
fn file_that_was_changed_outside_is_not_deleted_unasked() {
    let project = Project::with(&file("f"));
    project.stead(&["up", "--yes"]).ok();
    project.write("f", "a day of work");
    let Ran { stderr, .. } = project.stead(&["destroy", "--yes"]).ends(1);
    assert!(
        stderr.contains("was changed outside of Stead") && stderr.contains("`stead refresh -e dev`"),
        "{stderr}"
    );
    assert_eq!(project.read("f"), "a day of work");
    project.stead(&["refresh", "--yes"]).ok();
    project.stead(&["destroy", "--yes"]).ok();
    assert!(!project.has("f"));
}

#[test]
fn file_that_was_changed_outside_is_not_overwritten_unasked() {
    let declared = |content: &str| file("f").replace("\"v\"", &format!("{content:?}"));
    let project = Project::with(&declared("1"));
    project.stead(&["up", "--yes"]).ok();
    project.write("f", "a day of work");
    project.write("main.ts", &declared("2"));
    let Ran { stderr, .. } = project.stead(&["up", "--yes"]).ends(1);
    for part in [
        "its content is not the recorded one",
        "`stead plan --refresh -e dev`",
        "`stead up --refresh -e dev`",
    ] {
        assert!(stderr.contains(part), "{stderr}");
    }
    assert_eq!(project.read("f"), "a day of work");
    // One way out: the program takes the content over.
    project.write("main.ts", &declared("a day of work"));
    project.stead(&["up", "--yes"]).ok();
    // The other one: the plan shows the difference.
    project.write("f", "another day");
    project.write("main.ts", &declared("2"));
    let shown = project.stead(&["up", "--refresh", "--yes"]);
    assert!(shown.ok().contains("another day"));
    assert_eq!(project.read("f"), "2");
}

#[test]
fn key_that_was_replaced_outside_is_not_deleted_unasked() {
    let program = "import * as local from \"stead/local\";\nnew local.KeyPair({ path: \"k\" }, { id: \"k\", pinned: false });\n";
    let (project, other) = (Project::with(program), Project::with(program));
    project.stead(&["up", "--yes"]).ok();
    other.stead(&["up", "--yes"]).ok();
    project.write("k", &other.read("k"));
    let Ran { stderr, .. } = project.stead(&["destroy", "--yes"]).ends(1);
    assert!(stderr.contains("is another key than the one that this stack created"), "{stderr}");
    assert_eq!(project.read("k"), other.read("k"));
    project.stead(&["refresh", "--yes"]).ok();
    project.stead(&["destroy", "--yes"]).ok();
    assert!(!project.has("k"));
}

#[test]
fn fresh_runner_without_marks_changes_and_destroys() {
    let project = Project::with(&file("f"));
    project.stead(&["up", "--yes"]).ok();
    let home = tempfile::tempdir().unwrap();
    let fresh = |arguments: &[&str]| {
        let mut command = project.command(arguments);
        project.ran(command.env_remove("STEAD_OWNERS").env("HOME", home.path()).output().unwrap())
    };
    project.write("main.ts", &file("f").replace("\"v\"", "\"w\""));
    assert!(!fresh(&["up", "--yes"]).ends(0).stderr.contains("ST0"));
    assert!(home.path().join(".local/state/stead/owners").is_dir(), "the update marked the file");
    assert!(!fresh(&["destroy", "--yes"]).ends(0).stderr.contains("ST0"));
    assert!(!project.has("f"));
}

#[test]
fn missing_or_unusable_home_folder_is_a_warning() {
    let project = Project::with(&file("f"));
    let Ran { stderr, .. } = without_owners(&project, &["up", "--yes"]).ends(0);
    assert!(stderr.contains("warning[ST0431]") && stderr.contains("there is no home folder"), "{stderr}");
    project.write("blocked", "a file, not a folder");
    let blocked = |arguments: &[&str]| {
        let mut command = project.command(arguments);
        project.ran(command.env("STEAD_OWNERS", project.path("blocked/owners")).output().unwrap())
    };
    project.write("main.ts", &file("f").replace("\"v\"", "\"w\""));
    let Ran { stderr, .. } = blocked(&["up", "--yes"]).ends(0);
    assert!(stderr.contains("warning[ST0431]"), "{stderr}");
    assert_eq!(blocked(&["plan"]).ends(0).stderr, "");
    blocked(&["destroy", "--yes"]).ok();
    assert!(!project.has("f"));
}

#[test]
fn moved_project_and_project_cloned_again_are_not_refused() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("f").display().to_string();
    let project = Project::only(&file(&path));
    project.stead(&["up", "--yes"]).ok();
    let moved = project.of_same_user(&file(&path));
    std::fs::rename(project.path(".stead"), moved.path(".stead")).unwrap();
    moved.write("main.ts", &file(&path).replace("\"v\"", "\"w\""));
    moved.stead(&["up", "--yes"]).ok();
    // The project is cloned again at its place, without its state.
    std::fs::remove_dir_all(moved.path(".stead")).unwrap();
    moved.stead(&["import", "local.File", "f", &path, "--yes"]).ok();
    moved.stead(&["destroy", "--yes"]).ok();
    assert!(!std::path::Path::new(&path).exists());
}

#[test]
fn stack_from_before_gets_its_mark_with_the_next_update() {
    let project = Project::with(&file("f"));
    without_owners(&project, &["up", "--yes"]).ok();
    assert_eq!(project.stead(&["plan", "--exit-code"]).code, 0);
    project.stead(&["import", "local.File", "f", "f", "-e", "prod", "--yes"]).ok();
    project.stead(&["state", "rm", "f", "-e", "prod", "--yes"]).ok();
    project.write("main.ts", &file("f").replace("\"v\"", "\"w\""));
    project.stead(&["up", "--yes"]).ok();
    owned(project.stead(&["import", "local.File", "f", "f", "-e", "prod", "--yes"]));
}

#[test]
fn mark_moves_with_its_record_and_ends_with_it() {
    let project = Project::with(&file("f"));
    let import =
        |environment: &str| project.stead(&["import", "local.File", "f", "f", "-e", environment, "--yes"]);
    project.stead(&["up", "--yes"]).ok();
    project.stead(&["stack", "new", "-e", "prod"]).ok();
    project.stead(&["state", "mv", "f", "--to-stack", "prod", "--yes"]).ok();
    owned(import("dev"));
    project.stead(&["env", "new", "live"]).ok();
    project.stead(&["stack", "rename", "live", "-e", "prod", "--yes"]).ok();
    owned(import("dev"));
    let listed = project.stead(&["state", "owners"]).ok();
    assert!(listed.contains("live:main:local.File#f") && listed.contains("environment live"), "{listed}");
    project.stead(&["state", "rm", "f", "-e", "live", "--yes"]).ok();
    assert_eq!(project.stead(&["state", "owners"]).ok(), "");
    import("dev").ok();
    project.write("main.ts", NOTHING);
    project.stead(&["up", "--yes", "--deletion-policy", "retain"]).ok();
    assert_eq!(project.stead(&["state", "owners"]).ok(), "", "retaining released it");
    project.stead(&["env", "new", "qa"]).ok();
    import("qa").ok();
}

#[test]
fn owners_are_listed_by_project_and_stale_marks_are_told() {
    let project = Project::with(&file("f"));
    project.stead(&["up", "--yes"]).ok();
    let other = project.of_same_user(&file("g"));
    other.stead(&["up", "--yes"]).ok();
    let listed = project.stead(&["state", "owners"]).ok();
    let own = project.path("f").canonicalize().unwrap();
    assert!(listed.contains(&own.file_name().unwrap().to_string_lossy().into_owned()), "{listed}");
    assert!(!listed.contains("/g\n") && !listed.contains("stale"), "{listed}");
    assert!(project.stead(&["state", "owners", "--all"]).ok().contains("/g\n"));
    std::fs::remove_dir_all(other.path(".stead")).unwrap();
    let listed = project.stead(&["state", "owners", "--all"]).ok();
    assert!(listed.contains("stale: no stack records it any more"), "{listed}");
    let json = project.stead(&["state", "owners", "--all", "--json"]).ok();
    assert!(json.contains("\"standing\":\"stale\"") && json.contains("\"standing\":\"current\""), "{json}");
}

#[test]
fn two_old_records_of_one_file_do_not_delete_it_until_the_last_goes() {
    let two = "import * as local from \"stead/local\";\n\
               new local.File({ path: \"f\", content: \"v\" }, { id: \"a\" });\n\
               new local.File({ path: \"g\", content: \"v\" }, { id: \"b\" });\n";
    let project = Project::with(two);
    project.stead(&["up", "--yes"]).ok();
    // A link makes two recorded places one.
    std::fs::create_dir(project.path("d")).unwrap();
    let moved = two.replace("\"f\"", "\"d/f\"").replace("\"g\"", "\"e/f\"");
    project.write("main.ts", &moved);
    project.stead(&["up", "--yes"]).ok();
    std::fs::remove_dir_all(project.path("e")).unwrap();
    #[cfg(unix)]
    std::os::unix::fs::symlink(project.path("d"), project.path("e")).unwrap();
    project.write("main.ts", &moved.lines().take(2).collect::<Vec<_>>().join("\n"));
    let ran = project.stead(&["up", "--yes"]).ends(0);
    assert!(project.has("d/f"), "{}", ran.stderr);
    project.stead(&["destroy", "--yes"]).ok();
    assert!(!project.has("d/f"));
}

#[cfg(unix)]
#[test]
fn linked_pinfile_stays_a_link_to_a_file_of_its_mode() {
    use std::os::unix::fs::PermissionsExt as _;
    let project = Project::with(
        "import * as local from \"stead/local\";\nnew local.KeyPair({ path: \"k\" }, { id: \"k\" });\n",
    );
    project.write("pins/main.json", "{\"version\":\"1\",\"pinned\":{}}\n");
    let target = project.path("pins/main.json");
    std::fs::set_permissions(&target, std::fs::Permissions::from_mode(0o640)).unwrap();
    std::os::unix::fs::symlink("pins/main.json", project.path("main.ts.pin.json")).unwrap();
    project.stead(&["up", "--yes"]).ok();
    assert!(project.path("main.ts.pin.json").symlink_metadata().unwrap().is_symlink());
    assert!(project.read("pins/main.json").contains("local.KeyPair"));
    assert_eq!(target.metadata().unwrap().permissions().mode() & 0o777, 0o640);
}

#[cfg(unix)]
#[test]
fn module_behind_a_link_out_of_the_project_is_refused() {
    let project = Project::with("import { v } from \"./x\";\nexport const out = v;\n");
    let outside = tempfile::tempdir().unwrap();
    std::fs::write(outside.path().join("x.ts"), "export const v = 1;\n").unwrap();
    std::os::unix::fs::symlink(outside.path().join("x.ts"), project.path("x.ts")).unwrap();
    let Ran { stderr, .. } = project.stead(&["plan"]).ends(1);
    assert!(stderr.contains("leads out of the project"), "{stderr}");
    std::fs::remove_file(project.path("x.ts")).unwrap();
    project.write("lib/x.ts", "export const v = 1;\n");
    std::os::unix::fs::symlink(project.path("lib/x.ts"), project.path("x.ts")).unwrap();
    project.stead(&["plan"]).ok();
}

#[cfg(unix)]
#[test]
fn state_is_for_its_owner_alone_and_folders_are_writable_for_nobody_else_whatever_the_umask() {
    use std::os::unix::fs::PermissionsExt as _;
    let project = Project::only(&file("d/f"));
    let command = format!("umask 000; exec \"$0\" up --yes -C '{}'", project.path(".").display());
    let mut shell = std::process::Command::new("sh");
    shell.args(["-c", &command, env!("CARGO_BIN_EXE_stead")]);
    project.ran(shell.env("STEAD_OWNERS", project.path("owners")).output().unwrap()).ok();
    let mode_of = |path: &std::path::Path| path.metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!(mode_of(&project.path("d")), 0o755, "a declared folder is for all to read");
    for private in [".stead", "owners"] {
        let mut folders = vec![project.path(private)];
        while let Some(folder) = folders.pop() {
            assert_eq!(mode_of(&folder), 0o700, "{}", folder.display());
            for entry in std::fs::read_dir(&folder).unwrap() {
                let path = entry.unwrap().path();
                match path.is_dir() {
                    true => folders.push(path),
                    false => assert_eq!(mode_of(&path), 0o600, "{}", path.display()),
                }
            }
        }
    }
}
