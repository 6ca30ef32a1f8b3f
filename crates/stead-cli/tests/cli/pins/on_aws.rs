//! The journey of the pin proposal on the target `aws`, against a served cloud: output, bytes of the pinfile and existing
//! resources after each step.

use serde_json::{Value, json};

use super::FILE;
use crate::cloud::Serving;
use crate::project::{Project, Ran};

const AT_THE_TOP: &str = r#"import { s3 } from "stead/aws";

new s3.Bucket({}, { id: "CoolBucket" });
"#;

const IN_A_CLASS: &str = r#"import { Resource, nodeOf } from "stead";
import { s3 } from "stead/aws";

class MyBucket extends Resource {
  readonly bucket: s3.Bucket;
  constructor() {
    super();
    this.bucket = new s3.Bucket({});
  }
}

new MyBucket();
"#;

const OLD: &str = "aws.s3.Bucket.CoolBucket";
const NEW: &str = "aws.s3.Bucket.MyBucket_5318C1A9";

/// A project whose target `aws` is a served cloud.
struct Journey {
    project: Project,
    cloud: Serving,
}

impl Journey {
    fn start() -> Journey {
        let project = Project::only(AT_THE_TOP);
        let cloud = Serving::start(&project, &[]);
        let settings = format!(
            "project = \"shop\"\n\n[targets.aws]\nregion = \"eu-west-1\"\nendpoint = \"http://{}\"\n",
            cloud.address
        );
        project.write("stead.toml", &settings);
        Journey { project, cloud }
    }

    fn on(&self, target: &str, arguments: &[&str]) -> Ran {
        let credentials = [("AWS_ACCESS_KEY_ID", "111122223333"), ("AWS_SECRET_ACCESS_KEY", "any")];
        self.project.stead_with(&credentials, &[arguments, &["-t", target]].concat())
    }

    fn on_aws(&self, arguments: &[&str]) -> Ran {
        self.on("aws", arguments)
    }

    /// Returns the names of the buckets that really exist.
    fn buckets(&self) -> Vec<String> {
        let all = self.cloud.ask("resources");
        let bucket = |resource: &Value| {
            assert_eq!(resource["type_name"], "AWS::S3::Bucket", "{all}");
            assert_eq!(
                (&resource["account"], &resource["region"]),
                (&json!("111122223333"), &json!("eu-west-1"))
            );
            resource["identifier"].as_str().unwrap().to_owned()
        };
        all.as_array().unwrap().iter().map(bucket).collect()
    }

    fn creations(&self) -> Value {
        self.cloud.ask("calls")["CreateResource"].clone()
    }
}

/// Returns the pinfile with one entry, byte for byte.
fn pinfile(path: &str, original: Option<&str>, frozen: Option<&str>) -> String {
    let original = original.map(|path| format!("        \"originalPath\": \"{path}\",\n"));
    let environments = frozen.map(|name| {
        format!(
            ",\n        \"environments\": {{\n          \"dev\": {{\n            \"BucketName\": \"{name}\"\n          }}\n        }}"
        )
    });
    format!(
        "{{\n  \"version\": \"1\",\n  \"pinned\": {{\n    \"aws\": {{\n      \"{path}\": {{\n        \"type\": \"aws.s3.Bucket\",\n{}        \"attributes\": {{}}{}\n      }}\n    }}\n  }}\n}}\n",
        original.unwrap_or_default(),
        environments.unwrap_or_default(),
    )
}

#[test]
fn pinned_bucket_survives_a_refactoring_until_it_is_unpinned() {
    let journey = Journey::start();
    let Journey { project, .. } = &journey;

    // On `sim` the bucket comes and goes, and no pin is kept.
    journey.on("sim", &["compile"]).ok();
    journey.on("sim", &["up", "--yes"]).ok();
    journey.on("sim", &["destroy", "--yes"]).ok();
    assert!(!project.has(FILE));

    // On `aws` the new leaf is pinned. `compile` cannot know the name that the service will give.
    let compiled = journey.on_aws(&["compile"]).ok();
    assert_eq!(compiled, format!("[+pin] {OLD}\n\nwrote .stead/compiled/dev/aws.json\n"));
    assert_eq!(project.read(FILE), pinfile(OLD, None, None));
    assert_eq!(journey.buckets(), [""; 0]);
    let up = journey.on_aws(&["up", "--yes"]).ok();
    assert!(up.contains("+ create main:aws.s3.Bucket#CoolBucket") && up.contains("Done: 1 created."), "{up}");
    let [bucket] = &journey.buckets()[..] else { panic!("{:?}", journey.buckets()) };
    assert_eq!(project.read(FILE), pinfile(OLD, None, Some(bucket)), "the generated name is frozen");

    // The bucket moves into an abstraction. Nothing is planned, written or called.
    project.write("main.ts", IN_A_CLASS);
    journey.on("sim", &["plan"]).ok();
    for command in [&["compile"][..], &["plan"], &["up", "--yes"]] {
        let refused = journey.on_aws(command).ends(13);
        assert_eq!(refused.stdout, format!("[-pin] {OLD}\n[+pin] {NEW}\n"), "{command:?}");
        let stderr = &refused.stderr;
        assert!(stderr.contains("the following pinned resource has been moved or deleted:"), "{stderr}");
        assert!(stderr.contains(&format!("- {OLD}\n")), "{stderr}");
        assert!(
            stderr.contains("if moved, update the key in main.ts.pin.json to reflect the new path"),
            "{stderr}"
        );
        assert!(stderr.contains(&format!("stead pin mv {OLD} {NEW} -e dev -t aws")), "{stderr}");
        assert!(stderr.contains(&format!("stead pin rm {OLD} -e dev -t aws")), "{stderr}");
    }
    assert_eq!(project.read(FILE), pinfile(OLD, None, Some(bucket)));
    assert_eq!((journey.buckets(), journey.creations()), (vec![bucket.clone()], json!(1)));

    // The key is edited, with the original path: the new leaf is the old one.
    let moved = pinfile(NEW, Some(OLD), Some(bucket));
    project.write(FILE, &moved);
    let compiled = journey.on_aws(&["compile"]).ok();
    assert!(compiled.contains(&format!("{NEW}: `BucketName` is \"{bucket}\", from {FILE}")), "{compiled}");
    assert!(
        project.read(".stead/compiled/dev/aws.json").contains(&**bucket),
        "the frozen name is in the result"
    );
    let up = journey.on_aws(&["up", "--yes"]).ok();
    assert!(up.contains("> rename main:aws.s3.Bucket#CoolBucket → main/MyBucket:aws.s3.Bucket"), "{up}");
    assert!(up.contains("1 to rename, 0 unchanged") && up.contains("Done: 1 renamed."), "{up}");
    assert_eq!(project.read(FILE), moved, "the original path stays until every environment has moved");
    assert_eq!((journey.buckets(), journey.creations()), (vec![bucket.clone()], json!(1)));
    journey.on_aws(&["plan", "--refresh", "--exit-code"]).ok();

    // A frozen attribute overrides the program. Another name would be another bucket, which the pin forbids.
    project.write(FILE, &pinfile(NEW, Some(OLD), Some("another-name")));
    let refused = journey.on_aws(&["up", "--yes"]).ends(13);
    assert!(refused.stdout.contains("BucketName") && refused.stderr.contains("ST0414"), "{}", refused.stderr);
    project.write(FILE, &moved);

    // While it is pinned, it can be neither destroyed nor replaced.
    let refused = journey.on_aws(&["destroy", "--yes"]).ends(13);
    assert!(
        refused.stderr.contains("ST0414") && refused.stderr.contains("it is pinned"),
        "{}",
        refused.stderr
    );
    assert_eq!(journey.buckets(), std::slice::from_ref(bucket));

    // It needs no pin any more. The file is empty then, and is deleted.
    let unpin = "this.bucket = new s3.Bucket({});\n    nodeOf(this.bucket).pinned = false;";
    project.write("main.ts", &IN_A_CLASS.replace("this.bucket = new s3.Bucket({});", unpin));
    let line = format!("[-pin] {OLD} (now {NEW})\n");
    let planned = journey.on_aws(&["plan"]).ok();
    assert!(planned.starts_with(&line) && project.has(FILE), "a plan writes nothing: {planned}");
    let up = journey.on_aws(&["up", "--yes"]).ok();
    assert!(up.starts_with(&line) && up.contains("Done: no resource changed."), "{up}");
    assert!(!project.has(FILE));
    assert_eq!((journey.buckets(), journey.creations()), (vec![bucket.clone()], json!(1)));

    // Only now it may go, in a run of its own.
    assert!(journey.on_aws(&["destroy", "--yes"]).ok().contains("Done: 1 deleted."));
    assert_eq!(journey.buckets(), [""; 0]);
    assert_eq!(journey.cloud.stop("-TERM"), (Some(0), String::new()));
}

#[test]
fn removed_pinned_bucket_goes_only_after_its_pin_is_released() {
    let journey = Journey::start();
    let Journey { project, .. } = &journey;
    journey.on_aws(&["up", "--yes"]).ok();
    let bucket = journey.buckets();
    project.write("main.ts", "export {};\n");
    let refused = journey.on_aws(&["up", "--yes"]).ends(13);
    assert_eq!(refused.stdout, format!("[-pin] {OLD}\n"));

    // An entry that is removed by hand is no release: state remembers the pin.
    let text = project.read(FILE);
    std::fs::remove_file(project.path(FILE)).unwrap();
    journey.on_aws(&["compile"]).ok();
    let refused = journey.on_aws(&["up", "--yes"]).ends(13);
    assert!(refused.stderr.contains("pinned"), "{}", refused.stderr);
    assert_eq!(journey.buckets(), bucket);

    // The command that the error prints releases it.
    project.write(FILE, &text);
    let refused = journey.on_aws(&["up", "--yes"]).ends(13).stderr;
    let command = refused.lines().find_map(|line| line.split_once("stead pin rm ")).unwrap().1;
    let credentials = [("AWS_ACCESS_KEY_ID", "111122223333"), ("AWS_SECRET_ACCESS_KEY", "any")];
    let arguments: Vec<&str> = ["pin", "rm"].into_iter().chain(command.split_whitespace()).collect();
    assert_eq!(project.stead_with(&credentials, &arguments).ok(), format!("[-pin] {OLD}\n"));
    assert!(journey.on_aws(&["up", "--yes"]).ok().contains("Done: 1 deleted."));
    assert_eq!(journey.buckets(), [""; 0]);
    journey.cloud.stop("-TERM");
}

#[test]
fn commands_of_the_pinfile_say_that_sim_keeps_no_pins() {
    let project = Project::with(AT_THE_TOP);
    project.stead(&["up", "--yes", "-t", "sim"]).ok();
    assert!(!project.has(FILE));
    for command in [&["pin", "ls"][..], &["pin", "rm", OLD], &["pin", "mv", OLD, NEW], &["pin", "restore"]] {
        let refused = project.stead(&[command, &["-t", "sim"]].concat()).ends(2);
        assert!(refused.stderr.contains("target sim keeps no pins"), "{command:?}: {}", refused.stderr);
    }
}
