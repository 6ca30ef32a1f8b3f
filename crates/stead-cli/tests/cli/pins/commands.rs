//! `stead pin`, `--update-pins`, and pinfiles that are invalid or change during a run.

use super::{FILE, LOCAL, pin_lines};
use crate::project::Project;

fn applied() -> Project {
    let project = Project::with(&LOCAL.at_the_top());
    project.stead(&["up", "--yes"]).ok();
    project
}

#[test]
fn pins_are_listed_for_people_and_programs() {
    let project = applied();
    insta::assert_snapshot!(project.stead(&["pin", "ls"]).ok(), @r#"
    local
      local.Directory.cool-data
        path: "cool-data"
      local.File.cool-note
        path: "cool-note"
      local.KeyPair.cool-key
        path: "cool-key"
    "#);
    let json = project.stead(&["pin", "ls", "--json"]).ok();
    let first: serde_json::Value = serde_json::from_str(json.lines().next().unwrap()).unwrap();
    assert_eq!(first["path"], "local.Directory.cool-data", "{json}");
    assert_eq!(first["section"], "local");
    assert_eq!(first["attributes"]["path"], "cool-data");
    let nothing = Project::with("").stead(&["pin", "ls"]).ends(0);
    assert!(nothing.stderr.contains("Nothing is pinned"), "{}", nothing.stderr);
}

#[test]
fn pin_is_moved_by_the_command_that_the_error_prints() {
    let project = applied();
    project.write("main.ts", &LOCAL.in_a_class("Store", ""));
    let refused = project.stead(&["up", "--yes"]).ends(13);
    let commands: Vec<Vec<&str>> = refused
        .stderr
        .lines()
        .filter_map(|line| line.split_once("to record the move: stead "))
        .map(|(_, command)| command.split_whitespace().collect())
        .collect();
    assert_eq!(commands.len(), 3, "{}", refused.stderr);
    for command in &commands {
        project.stead(command).ok();
    }
    assert!(project.stead(&["up", "--yes"]).ok().contains("3 to rename, 1 unchanged"));
    let wrong = project.stead(&["pin", "mv", "local.KeyPair.cool-kee", "local.KeyPair.x"]).ends(1);
    assert!(wrong.stderr.contains("ST0417"), "{}", wrong.stderr);
}

#[test]
fn removing_the_last_pin_allows_the_deletion() {
    let project = applied();
    for path in ["local.KeyPair.cool-key", "local.Directory.cool-data", "local.File.cool-note"] {
        let removed = project.stead(&["pin", "rm", path]).ok();
        assert_eq!(removed, format!("[-pin] {path}\n"));
    }
    let released = project.read(FILE);
    assert_eq!(released.matches("\"released\": true").count(), 3, "{released}");
    assert!(project.stead(&["pin", "ls"]).ok().contains("released"));
    let again = project.stead(&["pin", "rm", "local.KeyPair.cool-key"]).ends(1);
    assert!(again.stderr.contains("already"), "{}", again.stderr);
    project.write("main.ts", "");
    LOCAL.run(&project, &["compile"]).ok();
    let done = project.stead(&["up", "--yes"]).ends(0);
    assert!(done.stderr.contains("its pin is released, so it may be deleted"), "{}", done.stderr);
    assert!(!project.has("cool-key"));
    assert_eq!(project.read(FILE), released, "a release stays until every environment has applied it");
    std::fs::remove_file(project.path(FILE)).unwrap();
    assert_eq!(project.stead(&["plan", "--exit-code"]).code, 0);
}

#[test]
fn stack_whose_pins_were_removed_can_be_destroyed() {
    let project = applied();
    std::fs::remove_file(project.path(FILE)).unwrap();
    assert_eq!(project.stead(&["destroy", "--yes"]).code, 13);
    for path in ["local.KeyPair.cool-key", "local.Directory.cool-data", "local.File.cool-note"] {
        assert_eq!(project.stead(&["destroy", "--yes"]).code, 13, "one release releases one pin");
        project.stead(&["pin", "rm", path]).ok();
    }
    // The program itself still pins two of them. Without it, the releases decide.
    let refused = project.stead(&["destroy", "--yes"]).ends(13);
    assert!(!refused.stderr.contains("cannot delete dev:main:local.KeyPair#cool-key"), "{}", refused.stderr);
    project.stead(&["destroy", "--yes", "--without-program"]).ok();
    assert!(!project.has("cool-key"));
}

#[test]
fn update_pins_releases_orphaned_pins() {
    let project = applied();
    project.write("main.ts", "");
    let planned = project.stead(&["plan", "--update-pins"]).ok();
    assert_eq!(pin_lines(&planned, "[-pin]").len(), 3, "{planned}");
    assert!(project.has(FILE) && planned.contains("3 to delete"), "{planned}");
    project.stead(&["up", "--yes", "--update-pins"]).ok();
    assert!(!project.has("cool-key"));
    assert_eq!(project.read(FILE).matches("\"released\": true").count(), 3);
}

#[test]
fn saved_plan_contains_its_pins() {
    let project = applied();
    project.write("main.ts", &LOCAL.in_a_class("Store", ""));
    super::edit_keys(&project, &project.stead(&["plan"]).ends(13).stdout);
    let plan = project.path("p.plan");
    project.stead(&["plan", "--out", plan.to_str().unwrap()]).ok();
    let pins = project.read(FILE);
    std::fs::remove_file(project.path(FILE)).unwrap();
    std::fs::remove_file(project.path("main.ts")).unwrap();
    let done = project.stead(&["up", plan.to_str().unwrap(), "--yes"]).ok();
    assert!(done.contains("3 to rename, 1 unchanged"), "{done}");
    assert!(!project.has(FILE), "no program, no pinfile");
    project.write(FILE, &pins);
    project.write("main.ts", &LOCAL.in_a_class("Store", ""));
    assert_eq!(project.stead(&["plan", "--exit-code"]).code, 0);
}

#[test]
fn saved_plan_is_refused_if_the_pinfile_changed() {
    let project = applied();
    let plan = project.path("p.plan");
    project.stead(&["plan", "--out", plan.to_str().unwrap()]).ok();
    let type_line = "\"type\": \"local.File\",";
    let released =
        project.read(FILE).replace(type_line, &format!("{type_line}\n        \"released\": true,"));
    project.write(FILE, &released);
    let files = project.all_files();
    let refused = project.stead(&["up", plan.to_str().unwrap(), "--yes"]).ends(1);
    assert!(refused.stderr.contains("ST0415") && refused.stderr.contains("plan again"), "{}", refused.stderr);
    assert_eq!(project.all_files(), files);
}

#[test]
fn edited_frozen_values_apply_and_are_shown_with_their_file() {
    let project = Project::only(&LOCAL.at_the_top());
    project.stead(&["up", "--yes"]).ok();
    let edited = project
        .read(FILE)
        .replace("\"path\": \"cool-note\"", "\"content\": \"edited\",\n          \"path\": \"cool-note\"");
    project.write(FILE, &edited);
    let planned = project.stead(&["plan"]).ok();
    insta::assert_snapshot!(planned, @r#"
    local.File.cool-note: `content` is "edited", from main.ts.pin.json; the program sets "kept"

    shop · environment dev · target local

    ~ update main:local.File#cool-note  main.ts:5:14
        because `content` changed
        content: "kept" → "edited"  from the pinfile

    1 to update, 2 unchanged
    "#);
    project.stead(&["up", "--yes"]).ok();
    assert_eq!(project.read("cool-note"), "edited");
    assert_eq!(project.read(FILE), edited);
}

#[test]
fn invalid_pinfile_is_refused_with_its_position() {
    let project = applied();
    let good = project.read(FILE);
    let broken = [
        (good.replacen("\"1\"", "\"7\"", 1), "ST0410", "main.ts.pin.json:2:14: unknown version"),
        (good.replacen("\"type\"", "\"tpye\"", 1), "ST0410", "main.ts.pin.json:6:9: unknown key \"tpye\""),
        (good.replace("local.KeyPair", "local.KeyPear"), "ST0410", "there is no type local.KeyPear"),
        (good.replace("\"path\": \"cool-note\"", "\"pth\": \"x\""), "ST0410", "cannot be set"),
        (format!("{}\n<<<<<<< HEAD\n", good.trim_end()), "ST0411", "merge conflict markers at line 26"),
    ];
    project.write("main.ts", "throw new Error(\"not looked at\");\n");
    for (text, code, message) in broken {
        project.write(FILE, &text);
        let needs_program = message.starts_with("there is no") || message == "cannot be set";
        if needs_program {
            project.write("main.ts", &LOCAL.at_the_top());
        }
        for command in [&["up", "--yes"][..], &["plan"], &["compile"]] {
            let failed = project.stead(command).ends(1);
            assert!(failed.stderr.contains(code) && failed.stderr.contains(message), "{}", failed.stderr);
            assert!(!failed.stderr.contains("not looked at"), "{}", failed.stderr);
        }
        assert_eq!(project.read(FILE), text);
    }
}

#[test]
fn pinfile_that_changed_during_a_run_is_not_overwritten() {
    // A command of the program changes the pinfile during the run, as an editor might.
    let touch = format!(
        "{}new local.Command({{ create: \"printf '{{\\\"version\\\":\\\"1\\\",\\\"pinned\\\":{{}}}}' > {FILE}\", idempotent: true }}, {{ id: \"c\" }});\n",
        LOCAL.at_the_top()
    );
    let project = Project::with(&touch);
    let ran = project.stead(&["up", "--yes"]).ends(1);
    assert!(ran.stderr.contains("ST0415"), "{}", ran.stderr);
    assert_eq!(project.read(FILE), "{\"version\":\"1\",\"pinned\":{}}");
    let done = project.stead(&["up", "--yes"]).ok();
    assert_eq!(pin_lines(&done, "[+pin]").len(), 3, "{done}");
}

#[test]
fn failed_run_writes_no_pinfile() {
    let failing = format!(
        "{}new local.Command({{ create: \"false\", idempotent: true }}, {{ id: \"c\" }});\n",
        LOCAL.at_the_top()
    );
    let project = Project::with(&failing);
    assert_eq!(project.stead(&["up", "--yes"]).code, 1);
    assert!(!project.has(FILE));
    // The resources that it created are protected all the same.
    project.write("main.ts", "");
    let refused = project.stead(&["up", "--yes"]).ends(13);
    assert!(refused.stderr.contains("ST0418"), "{}", refused.stderr);
}

#[test]
fn run_that_dies_before_writing_the_pinfile_leaves_the_pins_in_state() {
    let project = Project::only(&LOCAL.at_the_top());
    project.crash(&["up", "--yes"], "pins.write.before");
    assert!(!project.has(FILE) && project.has("cool-key"));
    assert_eq!(project.stead(&["destroy", "--yes"]).code, 13);
    let done = project.stead(&["up", "--yes"]).ok();
    assert!(done.contains("Nothing to do") && pin_lines(&done, "[+pin]").len() == 3, "{done}");
    assert!(project.has(FILE));
}

#[test]
fn stateful_aws_types_are_pinned_with_their_names() {
    let project = Project::with(
        "import { Resource, nodeOf } from \"stead\";\nimport { s3, sqs, rds, ec2, kms, iam } from \"stead/aws\";\n\
         new s3.Bucket({ BucketName: \"cool-bucket\", ObjectLockEnabled: false }, { id: \"CoolBucket\" });\n\
         class Store extends Resource {\n  jobs = new sqs.Queue({ QueueName: \"jobs\", FifoQueue: true });\n\
           db = new rds.DBInstance({ DBInstanceIdentifier: \"orders\", Engine: \"postgres\", AvailabilityZone: \"a\" });\n\
           key = new kms.Key({ Description: \"nothing to freeze\" });\n\
           bucket = new s3.Bucket({ BucketNamePrefix: \"logs-\" });\n}\n\
         new Store();\n\
         const scratch = new s3.Bucket({ BucketName: \"scratch\" }, { id: \"Scratch\" });\n\
         nodeOf(scratch).pinned = false;\n\
         new iam.User({ UserName: \"robot\" }, { id: \"Robot\" });\n",
    );
    LOCAL.run(&project, &["compile"]).ok();
    insta::assert_snapshot!(project.read(FILE), @r#"
    {
      "version": "1",
      "pinned": {
        "local": {
          "aws.kms.Key.Store_Key_F8998779": {
            "type": "aws.kms.Key",
            "attributes": {}
          },
          "aws.rds.DBInstance.Store_DBInstance_3D973174": {
            "type": "aws.rds.DBInstance",
            "attributes": {
              "DBInstanceIdentifier": "orders"
            }
          },
          "aws.s3.Bucket.CoolBucket": {
            "type": "aws.s3.Bucket",
            "attributes": {
              "BucketName": "cool-bucket"
            }
          },
          "aws.s3.Bucket.Store_Bucket_1262CE7D": {
            "type": "aws.s3.Bucket",
            "attributes": {
              "BucketNamePrefix": "logs-"
            }
          },
          "aws.sqs.Queue.Store_Queue_F6CC61EC": {
            "type": "aws.sqs.Queue",
            "attributes": {
              "QueueName": "jobs"
            }
          }
        }
      }
    }
    "#);
}
