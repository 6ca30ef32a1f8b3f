//! The place of a stack: account, region and endpoint of its default provider, compared before a provider is called.

use crate::cloud::Serving;
use crate::project::{Project, Ran};

const PROGRAM: &str = r#"
import { dynamodb, sqs } from "stead/aws";
new sqs.Queue({ QueueName: "jobs" }, { id: "jobs" });
new dynamodb.Table({ TableName: "orders", KeySchema: [{ AttributeName: "id", KeyType: "HASH" }], AttributeDefinitions: [{ AttributeName: "id", AttributeType: "S" }], BillingMode: "PAY_PER_REQUEST" }, { id: "orders" });
"#;

const OURS: &str = "111122223333";
const THEIRS: &str = "444455556666";

/// A person with credentials, a region and the address of a cloud.
#[derive(Clone, Copy)]
struct Person<'a> {
    project: &'a Project,
    account: &'a str,
    region: &'a str,
    address: &'a str,
}

impl Person<'_> {
    fn stead(&self, arguments: &[&str]) -> Ran {
        let mut command = self.project.command(&[arguments, &["-t", "aws"]].concat());
        self.project.ran(self.with_credentials(&mut command).output().unwrap())
    }

    fn crash(&self, arguments: &[&str], point: &str) {
        let mut command = self.project.command(&[arguments, &["-t", "aws"]].concat());
        let ran = self.with_credentials(&mut command).env("STEAD_CRASH_AT", point).output().unwrap();
        assert!(!ran.status.success(), "{point} is reached");
    }

    fn with_credentials<'c>(&self, command: &'c mut std::process::Command) -> &'c mut std::process::Command {
        command
            .env("AWS_ACCESS_KEY_ID", self.account)
            .env("AWS_SECRET_ACCESS_KEY", "any")
            .env("AWS_REGION", self.region)
            .env("AWS_ENDPOINT_URL", format!("http://{}", self.address))
    }

    fn is_refused(&self, arguments: &[&str], another: &str) {
        let refused = self.stead(arguments).ends(13);
        let said = format!("the provider `aws` leads to another {another} than the one");
        assert!(refused.stderr.contains("ST0222") && refused.stderr.contains(&said), "{}", refused.stderr);
        assert!(refused.stderr.contains("`stead stack place --accept"), "{}", refused.stderr);
    }
}

#[test]
fn credentials_of_another_account_are_refused_before_anything_is_read_or_changed() {
    let project = Project::with(PROGRAM);
    let serving = Serving::start(&project, &[]);
    let ours = Person { project: &project, account: OURS, region: "eu-west-1", address: &serving.address };
    ours.stead(&["up", "--yes"]).ok();
    let before = serving.ask("resources");
    let theirs = Person { account: THEIRS, ..ours };
    for command in [
        &["plan"][..],
        &["plan", "--refresh"],
        &["up", "--yes"],
        &["up", "--yes", "--refresh"],
        &["refresh", "--yes"],
        &["destroy", "--yes"],
        &["destroy", "--yes", "--without-program"],
        &["import", "aws.sqs.Queue", "more", "anything", "--yes"],
        &["import", "--list", "AWS::SQS::Queue"],
        &["stats"],
    ] {
        theirs.is_refused(command, "account");
    }
    assert_eq!(serving.ask("resources"), before);
    // A look-up in the other account finds nothing there, and the reason is the account.
    let looking = "import { s3 } from \"stead/aws\";\nexport const arn = s3.Bucket.get(\"logs\").Arn;\n";
    project.write("main.ts", looking);
    theirs.is_refused(&["plan"], "account");
    project.write("main.ts", PROGRAM);
    ours.stead(&["plan", "--refresh", "--exit-code"]).ok();
}

#[test]
fn interrupted_run_is_finished_in_its_own_account_only() {
    let project = Project::with(PROGRAM);
    let serving = Serving::start(&project, &[]);
    let ours = Person { project: &project, account: OURS, region: "eu-west-1", address: &serving.address };
    ours.crash(&["up", "--yes"], "step.call.after:1");
    let theirs = Person { account: THEIRS, ..ours };
    theirs.is_refused(&["up", "--yes"], "account");
    theirs.is_refused(&["state", "rm", "jobs", "--yes"], "account");
    ours.stead(&["up", "--yes"]).ok();
    assert_eq!(serving.ask("resources").as_array().unwrap().len(), 2);
}

#[test]
fn another_region_in_the_settings_is_refused() {
    let program = PROGRAM.replace("{ id: \"jobs\" }", "{ id: \"jobs\", pinned: false }");
    let project = Project::with(&program.replace("{ id: \"orders\" }", "{ id: \"orders\", pinned: false }"));
    let serving = Serving::start(&project, &[]);
    let ours = Person { project: &project, account: OURS, region: "eu-west-1", address: &serving.address };
    ours.stead(&["up", "--yes"]).ok();
    let elsewhere = Person { region: "us-east-1", ..ours };
    elsewhere.is_refused(&["up", "--yes"], "region");
    // A stack without resources is bound to no place.
    ours.stead(&["destroy", "--yes"]).ok();
    elsewhere.stead(&["up", "--yes"]).ok();
    ours.is_refused(&["plan"], "region");
}

#[test]
fn new_address_of_the_same_cloud_is_accepted_on_request() {
    let project = Project::with(PROGRAM);
    let serving = Serving::start(&project, &["--state", "cloud"]);
    let first = serving.address.clone();
    Person { project: &project, account: OURS, region: "eu-west-1", address: &first }
        .stead(&["up", "--yes"])
        .ok();
    let empty = Serving::start(&project, &[]);
    let at = |address| Person { project: &project, account: OURS, region: "eu-west-1", address };
    at(&empty.address).is_refused(&["up", "--yes"], "endpoint");
    let none = at(&empty.address).stead(&["stack", "place", "--accept", "--yes"]).ends(13);
    assert!(none.stderr.contains("none of the 2 resources of this stack exists there"), "{}", none.stderr);
    serving.stop("-TERM");

    let moved = Serving::start(&project, &["--state", "cloud"]);
    at(&moved.address).is_refused(&["refresh", "--yes"], "endpoint");
    let shown = at(&moved.address).stead(&["stack", "place"]).ok();
    assert!(shown.contains(&first) && shown.contains(&moved.address), "{shown}");
    at(&moved.address).stead(&["stack", "place", "--accept", "--yes"]).ok();
    at(&moved.address).stead(&["plan", "--refresh", "--exit-code"]).ok();
    at(&moved.address).stead(&["stack", "place", "--accept"]).ok();
}

#[test]
fn protected_resource_that_is_missing_in_the_accepted_place_keeps_it_from_being_accepted() {
    let protected = PROGRAM.replace("{ id: \"jobs\" }", "{ id: \"jobs\", preventDelete: true }");
    let project = Project::with(&protected);
    let serving = Serving::start(&project, &[]);
    let first = serving.address.clone();
    let at = |address| Person { project: &project, account: OURS, region: "eu-west-1", address };
    at(&first).stead(&["up", "--yes"]).ok();
    let other = Serving::start(&project, &[]);
    let copy =
        Project::with(&PROGRAM.replace("new sqs.Queue({ QueueName: \"jobs\" }, { id: \"jobs\" });", ""));
    Person { project: &copy, account: OURS, region: "eu-west-1", address: &other.address }
        .stead(&["up", "--yes"])
        .ok();
    let refused = at(&other.address).stead(&["stack", "place", "--accept", "--yes"]).ends(13);
    assert!(refused.stderr.contains("jobs"), "{}", refused.stderr);
    at(&first).stead(&["plan", "--exit-code"]).ok();
}

#[test]
fn plan_without_a_network_says_that_it_did_not_compare_the_account() {
    let project = Project::with(PROGRAM);
    let serving = Serving::start(&project, &[]);
    let address = serving.address.clone();
    let ours = Person { project: &project, account: OURS, region: "eu-west-1", address: &address };
    ours.stead(&["up", "--yes"]).ok();
    serving.stop("-TERM");
    let planned = ours.stead(&["plan", "--exit-code"]).ends(0);
    assert!(planned.stderr.contains("does not tell where its settings"), "{}", planned.stderr);
    project.write("main.ts", &PROGRAM.replace("\"jobs\" },", "\"jobs\", DelaySeconds: 5 },"));
    let refused = ours.stead(&["up", "--yes"]).ends(1);
    assert!(refused.stderr.contains("ST0510"), "{}", refused.stderr);
}

#[test]
fn stack_of_an_earlier_version_adopts_its_place_with_the_next_run() {
    let project = Project::copy_of(&corpus("places-5"));
    project.stead(&["plan", "--refresh", "--exit-code"]).ok();
    assert!(project.stead(&["stack", "place"]).ok().contains("not recorded yet"));
    let main = project.read("main.ts");
    project.write("main.ts", &main.replace("QueueName: \"jobs\",", "QueueName: \"jobs\", DelaySeconds: 5,"));
    project.stead(&["up", "--yes"]).ok();
    assert!(project.stead(&["stack", "place"]).ok().contains("account 000000000000, region us-east-1"));
    let settings = project.read("stead.toml");
    project.write("stead.toml", &format!("{settings}\n[targets.sim]\nregion = \"eu-west-1\"\n"));
    let refused = project.stead(&["plan"]).ends(13);
    assert!(refused.stderr.contains("leads to another region"), "{}", refused.stderr);
}

#[test]
fn resources_of_an_earlier_version_move_only_to_a_stack_in_their_place() {
    let project = Project::copy_of(&corpus("places-5"));
    let (main, settings) = (project.read("main.ts"), project.read("stead.toml"));
    let elsewhere = format!("{settings}\n[targets.sim]\nregion = \"eu-west-1\"\n");
    let move_uploads = ["state", "mv", "uploads", "--to-stack", "prod", "--yes"];
    project.stead(&["stack", "new", "-e", "prod"]).ok();
    project.write("stead.toml", &elsewhere);
    project.write("main.ts", "import { sqs } from \"stead/aws\";\nnew sqs.Queue({}, { id: \"there\" });\n");
    project.stead(&["up", "--yes", "-e", "prod"]).ok();
    project.write("main.ts", &main);
    project.write("stead.toml", &settings);
    // Neither way do resources of another region get a record in the stack.
    let there = ["state", "mv", "there", "-e", "prod", "--to-stack", "dev", "--yes"];
    for arguments in [&move_uploads[..], &there] {
        let refused = project.stead(arguments).ends(13);
        assert!(refused.stderr.contains("ST0222"), "{}", refused.stderr);
    }
    // A stack without resources gets the place of the first ones.
    project.stead(&["stack", "new", "-e", "qa"]).ok();
    project.stead(&["state", "mv", "uploads", "--to-stack", "qa", "--yes"]).ok();
    let place = project.stead(&["stack", "place", "-e", "qa"]).ok();
    assert!(place.contains("recorded: account 000000000000, region us-east-1"), "{place}");
}

fn corpus(case: &str) -> std::path::PathBuf {
    std::path::PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/corpus").join(case)
}
