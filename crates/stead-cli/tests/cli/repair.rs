//! Repair of state that is damaged or edited by hand, and answers that the journal did not record.

use std::path::PathBuf;

use crate::project::Project;

const STACK: &str = ".stead/state/shop/dev/local";

const ONE: &str = "import * as local from \"stead/local\";\nnew local.File({ path: \"a.txt\", content: \"a\" }, { id: \"a\" });\n";

const TWO: &str = "import * as local from \"stead/local\";\nnew local.File({ path: \"a.txt\", content: \"a\" }, { id: \"a\" });\nnew local.File({ path: \"b.txt\", content: \"b\" }, { id: \"b\" });\n";

/// Creates a stack with two runs: the first declares one file, the second two.
fn applied_twice() -> Project {
    apply_twice(Project::with(ONE))
}

fn apply_twice(project: Project) -> Project {
    project.stead(&["up", "--yes"]).ok();
    project.write("main.ts", TWO);
    project.stead(&["up", "--yes"]).ok();
    project
}

fn files(project: &Project, folder: &str) -> Vec<PathBuf> {
    let read = std::fs::read_dir(project.path(&format!("{STACK}/{folder}")));
    let mut found: Vec<PathBuf> =
        read.map(|entries| entries.map(|entry| entry.unwrap().path()).collect()).unwrap_or_default();
    found.sort();
    found
}

/// Returns the path of the snapshot that head refers to.
fn snapshot(project: &Project) -> PathBuf {
    let head = project.read(&format!("{STACK}/head"));
    let digest = head.split("\"snapshot\":\"").nth(1).unwrap().split('"').next().unwrap();
    project.path(&format!("{STACK}/snapshot/{digest}"))
}

fn flip_a_byte(path: &PathBuf) -> Vec<u8> {
    let mut bytes = std::fs::read(path).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 4;
    std::fs::write(path, &bytes).unwrap();
    bytes
}

/// Returns the ids of all resources besides the canary.
fn names(project: &Project) -> Vec<String> {
    let listed = project.stead(&["state", "ls"]).ok();
    let names = listed.lines().map(|line| line.rsplit('#').next().unwrap().to_owned());
    names.filter(|name| name != "canary").collect()
}

/// Asserts that `verify` refers to `repair`, that `repair` lists proposals, and that no file changes without `--yes`.
fn assert_repair_asks_first(project: &Project) -> String {
    let before = project.all_files();
    let found = project.stead(&["state", "verify"]).ends(16);
    assert!(found.stderr.contains("stead state repair"), "{}", found.stderr);
    let listed = project.stead(&["state", "repair"]).ends(16);
    assert!(listed.stderr.contains("--take"), "{}", listed.stderr);
    assert_eq!(project.stead(&["state", "repair", "--take", "1"]).code, 2);
    assert_eq!(project.stead(&["state", "repair", "--take", "9", "--yes"]).code, 2);
    assert_eq!(project.all_files(), before);
    listed.stdout
}

#[test]
fn damaged_snapshot_is_repaired_from_history_and_the_damaged_object_is_kept() {
    let project = applied_twice();
    let path = snapshot(&project);
    let damaged = flip_a_byte(&path);
    let proposals = assert_repair_asks_first(&project);
    assert!(proposals.starts_with("1. go back to the state at the end of run-1\n"), "{proposals}");
    project.stead(&["state", "repair", "--take", "1", "--yes"]).ok();
    assert_eq!(names(&project), ["a"]);
    assert_eq!(std::fs::read(&path).unwrap(), damaged, "the damaged object is kept");
    assert_eq!(files(&project, "kept").len(), 1, "and so is the head that referred to it");
    let history = project.stead(&["stack", "history"]).ok();
    assert!(history.contains("state repair"), "{history}");
    let verified = project.stead(&["state", "verify"]);
    assert!(
        verified.code == 0 && verified.stderr.contains("damaged before the last repair"),
        "{}",
        verified.stderr
    );
    std::fs::remove_file(project.path("b.txt")).unwrap(); // no longer recorded
    project.stead(&["up", "--yes"]).ok();
    assert_eq!(names(&project), ["a", "b"]);
    assert!(project.stead(&["state", "repair"]).ok().contains("nothing to repair"));
}

#[test]
fn damaged_or_missing_head_is_rebuilt_from_the_newest_snapshot() {
    for missing in [false, true] {
        let project = applied_twice();
        let head = project.path(&format!("{STACK}/head"));
        if missing {
            std::fs::remove_file(&head).unwrap();
            let listed = project.stead(&["state", "repair"]).ends(16);
            assert!(listed.stderr.contains("head is missing"), "{}", listed.stderr);
        } else {
            flip_a_byte(&head);
        }
        assert_repair_asks_first(&project);
        project.stead(&["state", "repair", "--take", "1", "--yes"]).ok();
        assert_eq!(names(&project), ["a", "b"], "nothing is lost: the newest snapshot is whole");
        assert_eq!(project.stead(&["plan", "--exit-code"]).code, 0);
    }
}

#[test]
fn stack_without_its_head_is_not_taken_for_an_empty_one() {
    let project = applied_twice();
    std::fs::remove_file(project.path(&format!("{STACK}/head"))).unwrap();
    let before = project.all_files();
    let commands: [&[&str]; 7] = [
        &["up", "--yes"],
        &["plan"],
        &["destroy", "--yes"],
        &["state", "ls"],
        &["stack", "history"],
        &["stack", "new"],
        &["stack", "rm", "--yes"],
    ];
    for command in commands {
        let refused = project.stead(command).ends(16);
        assert!(refused.stderr.contains("stead state repair"), "{command:?}: {}", refused.stderr);
    }
    assert!(project.stead(&["stack", "ls"]).ok().contains("dev"), "it is listed");
    assert_eq!(project.all_files(), before);
}

const CHAIN: &str = r#"
import * as local from "stead/local";
const a = new local.RandomPet({ words: 1 }, { id: "a" });
const b = new local.File({ path: "b.txt", content: a.result }, { id: "b" });
const c = new local.File({ path: "c.txt", content: b.sha256 }, { id: "c" });
new local.File({ path: "d.txt", content: c.sha256 }, { id: "d" });
"#;

#[test]
fn missing_batch_in_the_journal_of_a_dead_run_is_damage() {
    let project = Project::with(CHAIN);
    project.crash(&["up", "--yes"], "run.close.before:1");
    let batches = files(&project, "journal/0000000001");
    assert!(batches.len() >= 4, "{batches:?}");
    let aside = project.path("aside");
    for batch in &batches[..batches.len() - 1] {
        std::fs::rename(batch, &aside).unwrap();
        let before = project.all_files();
        let verified = project.stead(&["state", "verify"]).ends(16);
        assert!(verified.stderr.contains("is missing, but later records"), "{}", verified.stderr);
        for command in [&["up", "--yes"][..], &["state", "repair"]] {
            assert_eq!(project.stead(command).code, 16, "{command:?}");
        }
        assert_eq!(project.all_files(), before);
        std::fs::rename(&aside, batch).unwrap();
    }
    project.stead(&["up", "--yes"]).ok();
    assert_eq!(names(&project), ["b", "c", "d", "a"]);
}

#[test]
fn verify_checks_the_history_and_old_snapshots() {
    let project = applied_twice();
    let current = snapshot(&project);
    let old = files(&project, "snapshot").into_iter().find(|path| *path != current).unwrap();
    let record = project.path(&format!("{STACK}/history/run-1"));
    for damaged in [old, record] {
        let whole = std::fs::read(&damaged).unwrap();
        std::fs::write(&damaged, &whole[..whole.len() / 2]).unwrap();
        let found = project.stead(&["state", "verify"]).ends(16);
        let name = damaged.file_name().unwrap().to_str().unwrap();
        assert!(found.stderr.contains(name), "{}", found.stderr);
        assert!(found.stderr.contains("The current state is sound"), "{}", found.stderr);
        assert_eq!(project.stead(&["plan", "--exit-code"]).code, 0);
        std::fs::write(&damaged, whole).unwrap();
    }
    project.stead(&["state", "verify"]).ok();
}

#[test]
fn killed_repair_can_be_repeated() {
    for point in ["repair.after_snapshot", "repair.after_head"] {
        let project = applied_twice();
        flip_a_byte(&project.path(&format!("{STACK}/head")));
        project.crash(&["state", "repair", "--take", "1", "--yes"], point);
        let again = project.stead(&["state", "repair", "--take", "1", "--yes"]).ok();
        let done = if point == "repair.after_head" { "nothing to repair" } else { "Repaired" };
        assert!(again.contains(done), "{again}");
        assert_eq!(names(&project), ["a", "b"], "{point}");
        assert_eq!(project.stead(&["plan", "--exit-code"]).code, 0, "{point}");
    }
}

#[test]
fn damaged_head_of_a_dead_run_is_rebuilt_from_snapshot_and_journal() {
    let project = Project::with(ONE);
    project.stead(&["up", "--yes"]).ok();
    project.write("main.ts", TWO);
    project.crash(&["up", "--yes"], "run.close.before:1");
    flip_a_byte(&project.path(&format!("{STACK}/head")));
    let listed = project.stead(&["state", "repair"]).ends(16).stdout;
    assert!(listed.starts_with("1. rebuild the state from the last snapshot and "), "{listed}");
    project.stead(&["state", "repair", "--take", "1", "--yes"]).ok();
    assert_eq!(names(&project), ["a", "b"]);
}

#[test]
fn damaged_journal_is_replayed_up_to_the_damage_and_the_rest_is_in_doubt() {
    let project = Project::with(ONE);
    project.stead(&["up", "--yes"]).ok();
    project.write("main.ts", TWO);
    project.crash(&["up", "--yes"], "run.close.before:1");
    let batches = files(&project, "journal/0000000002");
    let last = batches.last().unwrap();
    let damaged = flip_a_byte(last);
    let proposals = assert_repair_asks_first(&project);
    assert!(proposals.contains("before the unreadable one"), "{proposals}");
    assert!(proposals.contains("in doubt: the create of"), "{proposals}");
    project.stead(&["state", "repair", "--take", "1", "--yes"]).ok();
    assert_eq!(std::fs::read(last).unwrap(), damaged);
    // The create is repeated with its key; the file already exists, with the same content.
    project.stead(&["up", "--yes"]).ok();
    assert_eq!(names(&project), ["a", "b"]);
}

#[test]
fn export_edited_by_hand_is_repaired_into_a_second_file() {
    let project = apply_twice(Project::only(ONE));
    let export = project.stead(&["stack", "export"]).ok();
    let dangling = "\"dependencies\": [{ \"uid\": \"nobody\", \"generation\": 1 }],\n      \"inputs\"";
    project.write("edited.json", &export.replacen("\"inputs\"", dangling, 1));
    let (edited, repaired) = (project.path("edited.json"), project.path("edited.json.repaired"));
    let (edited, repaired) = (edited.to_str().unwrap(), repaired.to_str().unwrap());
    assert_eq!(project.stead(&["stack", "import", edited, "--yes"]).code, 16);
    let refused = project.stead(&["state", "verify", edited]).ends(16);
    assert!(refused.stderr.contains("S06"), "{}", refused.stderr);
    let listed = project.stead(&["state", "repair", edited]).ends(16).stdout;
    assert!(listed.contains("leaves out  dev:main:local.File#a: its dependency on nobody@1"), "{listed}");
    project.stead(&["state", "repair", edited, "--take", "1", "--yes"]).ok();
    project.stead(&["state", "verify", repaired]).ok();
    project.stead(&["stack", "import", repaired, "--yes"]).ok();
    assert_eq!(names(&project), ["a", "b"]);
    assert!(project.read("edited.json").contains("nobody"), "the old file is unchanged");
}

#[test]
fn state_of_a_newer_version_is_not_repaired() {
    let project = applied_twice();
    project.write(&format!("{STACK}/head"), "{\"format\":7}\n\"x\"\n");
    let before = project.all_files();
    assert!(project.stead(&["state", "repair", "--take", "1", "--yes"]).ends(16).stderr.contains("ST0203"));
    assert_eq!(project.all_files(), before);
}

#[test]
fn unrecorded_answer_is_spooled_and_recorded_by_the_next_run() {
    // The command moves the journal away while it runs.
    let program = format!(
        "import * as local from \"stead/local\";\nnew local.Command({{ create: \"echo made >> log; cd {STACK} && mv journal away && touch journal\", delete: \"true\" }}, {{ id: \"run\" }});\n"
    );
    let project = Project::with(&program);
    let failed = project.stead(&["up", "--yes"]).ends(1);
    assert!(failed.stderr.contains("ST0210") && failed.stderr.contains("spool/"), "{}", failed.stderr);
    std::fs::remove_file(project.path(&format!("{STACK}/journal"))).unwrap();
    std::fs::rename(project.path(&format!("{STACK}/away")), project.path(&format!("{STACK}/journal")))
        .unwrap();
    project.stead(&["up", "--yes"]).ok();
    assert_eq!(project.read("log"), "made\n", "it did not run a second time");
    assert_eq!(names(&project), ["run"]);
    assert!(files(&project, "spool").is_empty());
}

#[test]
fn repair_that_loses_a_protected_record_is_refused_unless_forced() {
    let project = Project::with(ONE);
    project.stead(&["up", "--yes"]).ok();
    let protected = TWO.replace("{ id: \"b\" }", "{ id: \"b\", preventDelete: true }");
    project.write("main.ts", &protected);
    project.stead(&["up", "--yes"]).ok();
    project.write("main.ts", &protected.replace("content: \"a\"", "content: \"c\""));
    project.crash(&["up", "--yes"], "run.close.before:1");
    flip_a_byte(files(&project, "journal/0000000003").last().unwrap());
    let listed = project.stead(&["state", "repair"]).ends(16).stdout;
    let first_run = listed.lines().find(|line| line.contains("the end of run-1")).unwrap();
    let number = first_run.split('.').next().unwrap();
    let refused = project.stead(&["state", "repair", "--take", number, "--yes"]).ends(13);
    assert!(
        refused.stderr.contains("dev:main:local.File#b") && refused.stderr.contains("--force"),
        "{}",
        refused.stderr
    );
    let forced = project.stead(&["state", "repair", "--take", number, "--yes", "--force"]);
    assert!(forced.code == 0 && forced.stderr.contains("loses what the guards keep"), "{}", forced.stderr);
    assert_eq!(names(&project), ["a"]);
}
