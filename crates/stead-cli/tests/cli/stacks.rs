//! Stacks are created, removed, renamed and compared; resources move between stacks.

use crate::project::Project;

const TWO: &str = r#"
import * as local from "stead/local";
const a = new local.Data({ value: 1 }, { id: "a" });
new local.Data({ value: a.output }, { id: "b" });
export const one = 1;
"#;

const ONE: &str = r#"
import * as local from "stead/local";
new local.Data({ value: 1 }, { id: "a" });
"#;

#[test]
fn new_stack_is_empty_and_is_created_once() {
    let project = Project::only(ONE);
    assert!(project.stead(&["stack", "new", "-e", "qa"]).ok().contains("empty stack for environment qa"));
    assert_eq!(project.stead(&["stack", "ls"]).ok(), "shop\tqa\tlocal\n");
    let again = project.stead(&["stack", "new", "-e", "qa"]).ends(1);
    assert!(again.stderr.contains("ST0218"), "{}", again.stderr);
    project.stead(&["up", "--yes", "-e", "qa"]).ok();
    assert_eq!(project.stead(&["state", "ls", "-e", "qa"]).ok(), "qa:main:local.Data#a\n");
}

#[test]
fn only_an_empty_stack_is_removed_and_its_history_stays() {
    let project = Project::with(ONE);
    project.stead(&["up", "--yes"]).ok();
    let refused = project.stead(&["stack", "rm", "--yes"]).ends(1);
    assert!(refused.stderr.contains("dev:main:local.Data#a") && refused.stderr.contains("stead destroy"));
    project.stead(&["destroy", "--yes"]).ok();
    project.stead(&["stack", "rm", "--yes"]).ok();
    assert_eq!(project.stead(&["stack", "ls"]).ok(), "");
    assert_eq!(project.stead(&["state", "ls"]).code, 1);
    assert_eq!(project.stead(&["stack", "history"]).ok().lines().count(), 3);
    // A new stack in the same environment continues the history with later epochs.
    project.stead(&["up", "--yes"]).ok();
    assert_eq!(project.stead(&["stack", "history"]).ok().lines().count(), 4);
    project.stead(&["destroy", "--yes"]).ok();
    project.stead(&["stack", "rm", "--yes", "--purge"]).ok();
    assert_eq!(project.stead(&["plan", "--exit-code"]).code, 10);
    let left: Vec<_> = project.all_files().into_iter().map(|(path, _)| path).collect();
    let past = left.iter().filter(|path| path.components().any(|part| part.as_os_str() == "history"));
    assert_eq!(past.count(), 0, "{left:?}");
}

#[test]
fn stack_with_a_protected_resource_is_not_removed() {
    let project = Project::with(&ONE.replace("{ id: \"a\" }", "{ id: \"a\", preventDelete: true }"));
    project.stead(&["up", "--yes"]).ok();
    let refused = project.stead(&["stack", "rm", "--yes", "--forget-resources"]).ends(13);
    assert!(refused.stderr.contains("ST0401"), "{}", refused.stderr);
    project.write("main.ts", ONE);
    project.stead(&["up", "--yes"]).ok();
    let removed = project.stead(&["stack", "rm", "--yes", "--forget-resources"]).ends(0);
    assert!(removed.stderr.contains("dev:main:local.Data#a stays"), "{}", removed.stderr);
}

#[test]
fn renamed_stack_is_unchanged_and_the_old_name_refers_to_the_new_one() {
    let project = Project::only(TWO);
    project.stead(&["up", "--yes"]).ok();
    let uid = |environment: &str| {
        let shown = project.stead(&["state", "show", "a", "-e", environment]).ok();
        shown.lines().find(|line| line.contains("uid")).unwrap().to_owned()
    };
    let before = uid("dev");
    project.stead(&["stack", "rename", "prod:acme", "--yes"]).ok();
    assert_eq!(project.stead(&["stack", "ls"]).ok(), "shop\tprod:acme\tlocal\n");
    let plan = ["plan", "--exit-code", "-e", "prod", "--namespace", "acme"];
    assert!(project.stead(&plan).ok().contains("recorded state of 2 resources matches the program"));
    let refused = project.stead(&["up", "--yes"]).ends(1);
    assert!(
        refused.stderr.contains("ST0214") && refused.stderr.contains("-e prod --namespace acme"),
        "{}",
        refused.stderr
    );
    // The stack can be renamed back to its old environment.
    project.stead(&["stack", "rename", "dev", "--yes", "-e", "prod", "--namespace", "acme"]).ok();
    assert_eq!(uid("dev"), before);
    assert_eq!(project.stead(&["plan", "--exit-code"]).code, 0);
    assert_eq!(project.stead(&["stack", "history"]).ok().lines().count(), 3);
    project.stead(&["stack", "new", "-e", "prod", "--namespace", "acme"]).ok();
    let taken = project.stead(&["stack", "rename", "prod:acme", "--yes"]).ends(1);
    assert!(taken.stderr.contains("ST0218"), "{}", taken.stderr);
}

#[test]
fn renamed_stack_is_rolled_back_to_a_run_under_its_old_name() {
    let project = Project::only(TWO);
    project.stead(&["up", "--yes"]).ok();
    project.write("main.ts", &TWO.replace("value: 1", "value: 2"));
    project.stead(&["up", "--yes"]).ok();
    project.stead(&["stack", "rename", "prod", "--yes"]).ok();
    let before = project.stead(&["state", "ls", "-e", "prod"]).ok();
    let back = project.stead(&["stack", "rollback", "run-1", "--yes", "-e", "prod"]).ok();
    assert!(back.contains("2 to update") && !back.contains("to delete"), "{back}");
    assert_eq!(project.stead(&["state", "ls", "-e", "prod"]).ok(), before);
    project.write("main.ts", TWO);
    assert_eq!(project.stead(&["plan", "--exit-code", "-e", "prod"]).code, 0);
}

#[test]
fn killed_stack_rename_leaves_one_stack() {
    for (point, environment) in [("rename.after_arriving", "dev"), ("run.leave.after_head", "prod")] {
        let project = Project::with(TWO);
        project.stead(&["up", "--yes"]).ok();
        project.crash(&["stack", "rename", "prod", "--yes"], point);
        assert_eq!(project.stead(&["stack", "ls"]).ok(), format!("shop\t{environment}\tlocal\n"), "{point}");
        assert_eq!(project.stead(&["plan", "--exit-code", "-e", environment]).code, 0, "{point}");
    }
}

#[test]
fn stacks_runs_and_files_are_compared_without_their_environment() {
    let project = Project::only(TWO);
    project.stead(&["up", "--yes"]).ok();
    project.stead(&["up", "--yes", "-e", "prod"]).ok();
    let same = project.stead(&["stack", "diff", "dev", "prod", "--exit-code"]).ok();
    assert_eq!(same, "No difference: 2 resources are the same.\n");
    project.write("main.ts", &ONE.replace("value: 1", "value: { size: 2 }"));
    project.stead(&["up", "--yes"]).ok();
    let exported = project.stead(&["stack", "export"]).ok();
    project.write("dev.json", &exported);
    let file = project.path("dev.json").display().to_string();
    assert_eq!(project.stead(&["stack", "diff", "dev", &file, "--exit-code"]).code, 0);
    let differ = project.stead(&["stack", "diff", "prod", "dev", "--exit-code"]).ends(10);
    insta::assert_snapshot!(differ.stdout, @r#"
    ~ main:local.Data#a
        value: 1 → {"size":2}

    - main:local.Data#b
        value: 1

    ~ outputs
        output.one: 1 → (removed)

    1 only in prod, 0 only in dev, 2 different, 0 the same
    "#);
    let run = project.stead(&["stack", "diff", "#1", "#2", "--json"]).ok();
    assert!(run.contains(r#""only_in":"a""#) && run.contains(r#""kind":"compared""#), "{run}");
    let missing = project.stead(&["stack", "diff", "#99", "dev"]).ends(1);
    assert!(missing.stderr.contains("has no run-99"), "{}", missing.stderr);
}

#[test]
fn state_mv_renames_a_resource_in_state() {
    let project = Project::with(TWO);
    project.stead(&["up", "--yes"]).ok();
    assert_eq!(project.stead(&["state", "mv", "a", "b", "--yes"]).code, 1);
    assert_eq!(project.stead(&["state", "mv", "a", "dev:main:local.File#x", "--yes"]).code, 2);
    assert_eq!(project.stead(&["state", "mv", "a", "qa:main:local.Data#x", "--yes"]).code, 2);
    project.stead(&["state", "mv", "a", "first", "--yes"]).ok();
    project.write("main.ts", &TWO.replace("id: \"a\"", "id: \"first\""));
    assert_eq!(project.stead(&["plan", "--exit-code"]).code, 0);
}

#[test]
fn resources_move_to_another_stack_with_their_dependencies() {
    let project = Project::only(TWO);
    project.stead(&["up", "--yes"]).ok();
    let missing = project.stead(&["state", "mv", "b", "--to-stack", "prod", "--yes"]).ends(1).stderr;
    assert!(missing.contains("`stead up -e prod -t local` makes one"), "{missing}");
    project.stead(&["stack", "new", "-e", "prod"]).ok();
    let split = project.stead(&["state", "mv", "b", "--to-stack", "prod", "--yes"]).ends(1);
    assert!(split.stderr.contains("ST0216") && split.stderr.contains("local.Data#a"), "{}", split.stderr);
    let split = project.stead(&["state", "mv", "a", "--to-stack", "prod", "--yes"]).ends(1);
    assert!(split.stderr.contains("local.Data#b"), "{}", split.stderr);
    let moved = project.stead(&["state", "mv", "b", "--to-stack", "prod", "--with-dependencies", "--yes"]);
    assert!(!moved.ends(0).stderr.contains("`stead up -e dev`"), "the program is applied in both");
    assert_eq!(project.stead(&["state", "ls"]).ok(), "");
    // Outputs are not moved: they belong to the stack.
    let plan = project.stead(&["plan", "-e", "prod"]).ok();
    assert!(plan.contains("2 unchanged") && !plan.contains("create"), "{plan}");
    project.stead(&["up", "--yes", "-e", "prod"]).ok();
    assert_eq!(project.stead(&["plan", "--exit-code", "-e", "prod"]).code, 0);
    project.stead(&["stack", "rm", "--yes"]).ok();
}

#[test]
fn killed_move_is_finished_or_undone_by_the_next_command() {
    for (point, left) in [("transfer.after_depart", 2), ("transfer.after_arrive", 0)] {
        let project = Project::only(TWO);
        project.stead(&["up", "--yes"]).ok();
        project.stead(&["stack", "new", "-e", "prod"]).ok();
        project.crash(&["state", "mv", "a", "b", "--to-stack", "prod", "--yes"], point);
        let plan = project.stead(&["plan"]).ends(0);
        assert!(plan.stderr.contains("was interrupted"), "{point}: {}", plan.stderr);
        if left == 0 {
            project.stead(&["env", "new", "live"]).ok();
            let refused = project.stead(&["stack", "rename", "live", "-e", "prod", "--yes"]).ends(1);
            assert!(refused.stderr.contains("ST0219"), "{}", refused.stderr);
        }
        project.stead(&["refresh"]).ok();
        let count = |environment| project.stead(&["state", "ls", "-e", environment]).ok().lines().count();
        assert_eq!((count("dev"), count("prod")), (left, 2 - left), "{point}");
    }
}

#[test]
fn history_has_the_limits_of_each_run_and_the_runs_that_were_killed() {
    let file = |name: &str, content: &str| {
        format!("new local.File({{ path: \"{name}.txt\", content: \"{content}\" }}, {{ id: \"{name}\" }});\n")
    };
    let program = |content: &str| {
        format!("import * as local from \"stead/local\";\n{}{}", file("a", content), file("b", content))
    };
    let project = Project::with(&program("1"));
    project.stead(&["up", "--yes", "--target-resource", "*#a"]).ok();
    project.write("main.ts", &program("2"));
    project.crash(&["up", "--yes", "--target-resource", "*#b"], "step.begin.durable:1");
    project.stead(&["up", "--yes"]).ok();
    let history = project.stead(&["stack", "history"]).ok();
    let lines: Vec<&str> = history.lines().collect();
    assert!(lines[0].starts_with("run-1\t") && lines[0].contains("\tup *#a\tSucceeded\t"), "{history}");
    assert!(lines[1].starts_with("run-2\t") && lines[1].contains("\tup *#b\tKilled\t"), "{history}");
    let record = |run: &str| -> serde_json::Value {
        serde_json::from_str(&project.read(&format!(".stead/state/shop/dev/local/history/{run}"))).unwrap()
    };
    let (first, killed, next) = (record("run-1"), record("run-2"), record("run-3"));
    assert_eq!((&first["base"], &killed["base"]), (&serde_json::Value::Null, &first["snapshot"]));
    assert_eq!(next["base"], killed["snapshot"], "the next run starts where the killed one ended");
    project.stead(&["state", "verify"]).ok();
}

/// Writes the export of a stack to a file, and returns its path.
fn exported(project: &Project, file: &str, environment: &str) -> String {
    project.write(file, &project.stead(&["stack", "export", "-e", environment]).ok());
    project.path(file).display().to_string()
}

/// Runs an import that the guards refuse, and checks that no file was changed.
fn refused_import(project: &Project, arguments: &[&str]) -> crate::project::Ran {
    let before = project.all_files();
    let refused = project.stead(&[&["stack", "import"], arguments].concat()).ends(13);
    assert!(project.all_files() == before, "a refused import changed a file");
    refused
}

fn file_with(id: &str, content: &str, options: &str) -> String {
    format!(
        "new local.File({{ path: \"{id}.txt\", content: \"{content}\" }}, {{ id: \"{id}\"{options} }});\n"
    )
}

fn program_of(declarations: &[String]) -> String {
    format!("import * as local from \"stead/local\";\n{}", declarations.concat())
}

#[test]
fn import_of_an_older_export_shows_its_changes_and_needs_force() {
    let project = Project::with(&program_of(&[file_with("a", "1", ""), file_with("gone", "1", "")]));
    project.stead(&["up", "--yes"]).ok();
    let old = exported(&project, "old.json", "dev");
    project.write("main.ts", &program_of(&[file_with("a", "2", ""), file_with("new", "1", "")]));
    project.stead(&["up", "--yes"]).ok();
    let refused = refused_import(&project, &[&old, "--yes"]);
    assert!(refused.stderr.contains("ST0221") && refused.stderr.contains("`--force`"), "{}", refused.stderr);
    insta::assert_snapshot!(refused.stdout, @r"
    - dev:main:local.File#new (id new.txt)
    ~ dev:main:local.File#a (id a.txt): inputs, outputs
    + dev:main:local.File#gone (id gone.txt)
    Records: 1 added, 1 changed, 1 removed.
    ");
    // Without `--yes`, the question is asked, and there is no terminal.
    assert_eq!(project.stead(&["stack", "import", &old, "--force"]).code, 2);
    let forced = project.stead(&["stack", "import", &old, "--force", "--yes"]).ends(0);
    assert!(forced.stderr.contains("the changes after the export"), "{}", forced.stderr);
    let retained = || project.stead(&["state", "retained"]).ok();
    assert!(retained().contains("dev:main:local.File#new (id new.txt)"), "{}", retained());
    assert!(project.has("new.txt"));
    // The records are those of the file now, and the list of retained resources stays.
    project.stead(&["stack", "import", &old, "--yes"]).ok();
    assert!(retained().contains("dev:main:local.File#new (id new.txt)"), "{}", retained());
    project.stead(&["state", "verify"]).ok();
}

#[test]
fn own_export_is_imported_again_without_ceremony() {
    let project = Project::with(&program_of(&[file_with("a", "1", ", preventDelete: true")]));
    project.stead(&["up", "--yes"]).ok();
    let file = exported(&project, "own.json", "dev");
    for _ in 0..2 {
        let imported = project.stead(&["stack", "import", &file, "--yes"]).ok();
        assert!(imported.contains("0 added, 0 changed, 0 removed"), "{imported}");
    }
    // A backup of the state that is older than the export: the export brings the stack up to date.
    project.write(
        "main.ts",
        &program_of(&[file_with("a", "1", ", preventDelete: true"), file_with("b", "1", "")]),
    );
    std::fs::rename(project.path(".stead/state"), project.path("backup")).unwrap();
    copy(&project.path("backup"), &project.path(".stead/state"));
    project.stead(&["up", "--yes"]).ok();
    let newer = exported(&project, "newer.json", "dev");
    std::fs::remove_dir_all(project.path(".stead/state")).unwrap();
    std::fs::rename(project.path("backup"), project.path(".stead/state")).unwrap();
    project.stead(&["stack", "import", &newer, "--yes"]).ok();
    assert_eq!(project.stead(&["plan", "--exit-code"]).code, 0);
}

fn copy(from: &std::path::Path, to: &std::path::Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let to = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &to)
        } else {
            std::fs::copy(entry.path(), to).unwrap();
        }
    }
}

#[test]
fn import_never_drops_a_guarded_record_or_its_guard_unforced() {
    for (options, code, guard) in [
        (", preventDelete: true", "ST0401", "prevent-delete"),
        (", pinned: true", "ST0414", "the pin"),
        (", deletionPolicy: \"retain\"", "ST0401", "the deletion policy retain"),
    ] {
        let project = Project::with(&program_of(&[file_with("a", "1", "")]));
        project.stead(&["up", "--yes", "-e", "prod"]).ok();
        let prod = exported(&project, "prod.json", "prod");
        project.stead(&["destroy", "--yes", "-e", "prod"]).ok();
        project.write("main.ts", &program_of(&[file_with("a", "1", ""), file_with("kept", "1", "")]));
        project.stead(&["up", "--yes"]).ok();
        let weak = exported(&project, "weak.json", "dev");
        project.write("main.ts", &program_of(&[file_with("a", "1", ""), file_with("kept", "1", options)]));
        project.stead(&["up", "--yes"]).ok();
        let before = project.stead(&["state", "show", "kept"]).ok();
        // Another stack's records lack the resource.
        let refused = refused_import(&project, &[&prod, "--yes", "--from-another-stack"]);
        assert!(
            refused.stderr.contains(code) && refused.stderr.contains("cannot forget"),
            "{}",
            refused.stderr
        );
        assert!(refused.stdout.contains("- dev:main:local.File#kept (id kept.txt)"), "{}", refused.stdout);
        // This stack's own records lack the protection.
        let stripped = refused_import(&project, &[&weak, "--yes"]);
        let message = format!("state would lose {guard} of dev:main:local.File#kept");
        assert!(stripped.stderr.contains(&message), "{}", stripped.stderr);
        assert_eq!(project.stead(&["state", "show", "kept"]).ok(), before);
        let forced = project.stead(&["stack", "import", &weak, "--yes", "--force"]).ends(0);
        let lost = format!("{guard} of dev:main:local.File#kept (local.File kept.txt)");
        assert!(forced.stderr.contains(&lost), "{}", forced.stderr);
    }
}

#[test]
fn import_never_drops_an_operation_in_doubt_unforced() {
    let command = "new local.Command({ create: \"echo ran >> ran.txt\" }, { id: \"job\" });\n".to_owned();
    let project = Project::with(&program_of(&[file_with("a", "1", "")]));
    project.stead(&["up", "--yes"]).ok();
    let file = exported(&project, "dev.json", "dev");
    project.write("main.ts", &program_of(&[file_with("a", "1", ""), command]));
    project.crash(&["up", "--yes"], "step.call.after:1");
    let refused = refused_import(&project, &[&file, "--yes"]);
    assert!(
        refused.stderr.contains("ST0206") && refused.stderr.contains("create of dev:main:local.Command#job"),
        "{}",
        refused.stderr
    );
    assert_eq!(project.stead(&["up", "--yes"]).code, 15);
    let forced = project.stead(&["stack", "import", &file, "--yes", "--force"]).ends(0);
    assert!(
        forced.stderr.contains("the create of dev:main:local.Command#job, which is in doubt"),
        "{}",
        forced.stderr
    );
}

#[test]
fn export_of_another_stack_needs_its_own_word() {
    let project = Project::only(&program_of(&[file_with("a", "1", "")]));
    project.stead(&["up", "--yes"]).ok();
    let dev = exported(&project, "dev.json", "dev");
    project.write("main.ts", &program_of(&[file_with("b", "1", "")]));
    project.stead(&["up", "--yes", "-e", "prod"]).ok();
    for flags in [&["--yes"][..], &["--yes", "--force"]] {
        let refused = refused_import(&project, &[&[dev.as_str(), "-e", "prod"], flags].concat());
        assert!(
            refused.stderr.contains("ST0220") && refused.stderr.contains("--from-another-stack"),
            "{}",
            refused.stderr
        );
        assert!(refused.stderr.contains("shop · dev · local"), "{}", refused.stderr);
    }
    project.stead(&["stack", "import", &dev, "-e", "prod", "--yes", "--from-another-stack"]).ok();
    let owned = project.stead(&["destroy", "-e", "prod", "--yes"]);
    assert!(owned.code != 0 && owned.stderr.contains("ST0430"), "{}", owned.stderr);
    assert!(project.has("a.txt") && project.has("b.txt"));
    // A stack without records could delete what it takes over.
    project.stead(&["stack", "new", "-e", "qa"]).ok();
    let import = ["stack", "import", &dev, "-e", "qa", "--yes"];
    let refused = refused_import(&project, &import[2..]);
    assert!(refused.stderr.contains("--from-another-stack"), "{}", refused.stderr);
    let note = project.stead(&[&import[..], &["--from-another-stack"]].concat()).ends(0).stderr;
    assert!(note.contains("both stacks record the same real resources"), "{note}");
    let changes = project.stead(&["stack", "import", &dev, "--json", "--yes"]).ok();
    assert!(!changes.contains("import_change"), "{changes}");
}
