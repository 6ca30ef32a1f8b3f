//! Secrets on their way to another stack: both keys are needed, and a write-only value is sent again.

use crate::project::Ran;
use crate::team::{MAIN, PASSPHRASE, Team};

/// A resource whose secret is recorded encrypted.
const SEALED: &str = r#"
import * as stead from "stead";
import { sqs } from "stead/aws";
new sqs.Queue({ Tags: [{ Key: "token", Value: stead.secret("canary-4711") }] }, { id: "moved" });
"#;

/// A resource whose secret is write-only: state has a digest of it.
const WRITE_ONLY: &str = r#"
import * as stead from "stead";
import { secretsmanager } from "stead/aws";
new secretsmanager.Secret({ SecretString: stead.secret("canary-4711") }, { id: "moved" });
"#;

#[derive(Clone, Copy, Debug, PartialEq)]
enum Way {
    Move,
    Import,
}

/// The stack of `dev`, which a passphrase opens, and the stack of `prod`, which the identity in `keys/ada.txt` opens.
struct Two {
    team: Team,
    ada: String,
}

impl Two {
    fn with(program: &str) -> Two {
        let team = Team::with(program);
        let key = team.keygen("keys/ada.txt");
        let settings = format!(
            "project = \"shop\"\ntarget = \"sim\"\n\n[env.prod.secrets]\nrecipients = {{ ada = \"{key}\" }}\n"
        );
        team.project.write("stead.toml", &settings);
        team.stead(&["up", "--yes"]).ok();
        team.run(&["stack", "new", "-e", "prod"], &[]).ok();
        let export = team.run(&["stack", "export"], &[]).ok();
        team.project.write("dev.json", &export);
        let ada = team.project.path("keys/ada.txt").to_str().unwrap().to_owned();
        Two { team, ada }
    }

    fn with_key(self) -> Two {
        self.team.run(&["secrets", "init", "-e", "prod"], &[]).ok();
        self
    }

    fn both(&self) -> [(&str, &str); 2] {
        [PASSPHRASE[0], ("STEAD_AGE_KEY_FILE", self.ada.as_str())]
    }

    fn cross(&self, way: Way, variables: &[(&str, &str)]) -> Ran {
        let file = self.team.project.path("dev.json").to_str().unwrap().to_owned();
        match way {
            Way::Move => self.team.run(&["state", "mv", "moved", "--to-stack", "prod", "--yes"], variables),
            Way::Import => self.team.run(
                &["stack", "import", &file, "--from-another-stack", "--force", "--yes", "-e", "prod"],
                variables,
            ),
        }
    }

    fn assert_refused(&self, way: Way, variables: &[(&str, &str)], said: &[&str]) {
        let before = self.team.project.all_files();
        let refused = self.cross(way, variables).ends(1).stderr;
        for said in said.iter().chain(&["both keys are needed", "Nothing was changed"]) {
            assert!(refused.contains(said), "{way:?}: {said:?} is not in: {refused}");
        }
        assert_eq!(self.team.project.all_files(), before, "{way:?}");
    }
}

#[test]
fn encrypted_secret_crosses_with_both_keys_only() {
    for way in [Way::Move, Way::Import] {
        let two = Two::with(SEALED);
        let none = ["ST0701", "the stack of environment prod on target sim has no data key", "secrets init"];
        two.assert_refused(way, &two.both(), &none);
        let two = two.with_key();
        let (dev, prod) = match way {
            Way::Move => {
                ("the stack of environment dev on target sim", "the stack of environment prod on target sim")
            }
            Way::Import => ("the exported stack ", "the stack of environment prod on target sim"),
        };
        two.assert_refused(way, &two.both()[..1], &["ST0703", prod]);
        two.assert_refused(way, &two.both()[1..], &["ST0703", dev]);
        two.assert_refused(way, &[], &["ST0703", dev, prod]);
        let done = two.cross(way, &two.both()).ends(0);
        assert!(!done.stderr.contains("sends the value again"), "{}", done.stderr);
        // Only the key of the new stack opens the value there.
        two.team.run(&["plan", "--exit-code", "-e", "prod"], &two.both()[1..]).ok();
        let _ = two.team.run(&["plan", "-e", "prod"], PASSPHRASE).ends(1);
        two.team.assert_nothing_printed();
    }
}

#[test]
fn write_only_value_crosses_without_a_key_and_the_next_plan_sends_it_again() {
    for way in [Way::Move, Way::Import] {
        for (keys, has_key) in
            [("both", true), ("source", true), ("target", true), ("none", true), ("both", false)]
        {
            let two = Two::with(WRITE_ONLY);
            let two = if has_key { two.with_key() } else { two };
            let both = two.both();
            let variables = match keys {
                "both" => &both[..],
                "source" => &both[..1],
                "target" => &both[1..],
                _ => &[],
            };
            let done = two.cross(way, variables).ends(0);
            assert!(done.stderr.contains("`SecretString`"), "{way:?}, {keys}: {}", done.stderr);
            assert!(done.stderr.contains("sends the value again"), "{way:?}, {keys}: {}", done.stderr);
            two.team.run(&["state", "verify", "-e", "prod"], &[]).ok();
            // The stack of an export has the resource, too, until it is taken from it.
            let (code, takes) = match way {
                Way::Move => (0, &[][..]),
                Way::Import => (13, &["--take-over", "moved"][..]),
            };
            let plan = two.team.run(&["plan", "-e", "prod"], &both[1..]).ends(code).stdout;
            assert!(plan.contains("SecretString") && plan.contains("1 to update"), "{way:?}, {keys}: {plan}");
            two.team.run(&[&["up", "--yes", "-e", "prod"][..], takes].concat(), &both[1..]).ok();
            two.team.run(&["plan", "--exit-code", "-e", "prod"], &both[1..]).ok();
            two.team.assert_nothing_printed();
        }
    }
}

#[test]
fn rotation_after_a_killed_move_finishes_the_move_first() {
    for (point, left) in [("transfer.after_depart", 1), ("transfer.after_arrive", 0)] {
        let team = Team::with(MAIN);
        team.set_secret(PASSPHRASE).ok();
        team.stead(&["up", "--yes"]).ok();
        team.stead(&["stack", "new", "-e", "prod"]).ok();
        team.stead(&["secrets", "init", "-e", "prod"]).ok();
        let mut killed = team.project.command(&["state", "mv", "file", "--to-stack", "prod", "--yes"]);
        let killed = killed.envs(PASSPHRASE.iter().copied()).env("STEAD_CRASH_AT", point).output().unwrap();
        assert_eq!(killed.status.code(), None, "{point}");
        let rotated = team.stead(&["secrets", "rotate"]).ok();
        assert!(rotated.contains("the stack of dev"), "{point}: {rotated}");
        for environment in ["dev", "prod"] {
            team.stead(&["state", "verify", "-e", environment]).ok();
        }
        let count = team.stead(&["state", "ls"]).ok().lines().count();
        assert_eq!(count, left, "{point}");
        assert_eq!(team.stead(&["plan", "--exit-code"]).code, if left == 1 { 0 } else { 10 }, "{point}");
        team.assert_nothing_leaked();
    }
}
