//! `stead cloud serve`.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};

use crate::journey::{SHOP, example};
use crate::project::Project;

/// A running `stead cloud serve`.
pub(crate) struct Serving {
    child: Child,
    stdout: BufReader<std::process::ChildStdout>,
    /// Host and port.
    pub(crate) address: String,
}

impl Serving {
    pub(crate) fn start(project: &Project, flags: &[&str]) -> Serving {
        Serving::start_on(project, "0", flags)
    }

    pub(crate) fn start_on(project: &Project, port: &str, flags: &[&str]) -> Serving {
        let mut child = project.spawn(&[&["cloud", "serve", "--port", port], flags].concat());
        let mut stdout = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        stdout.read_line(&mut line).unwrap();
        let at = line.find("http://127.0.0.1:").unwrap_or_else(|| panic!("{line:?}"));
        let address = line[at + 7..].trim_end_matches(['\n', '"', '}']).to_owned();
        Serving { child, stdout, address }
    }

    /// Sends a request, and returns the status and the body, or nothing if the connection was closed.
    pub(crate) fn send(&self, path: &str, headers: &str, body: &str) -> Option<(u16, Value)> {
        self.request("POST", path, headers, body)
    }

    /// Returns the answer to a question about the cloud, such as `resources`.
    pub(crate) fn ask(&self, about: &str) -> Value {
        self.request("GET", &format!("/_stead/{about}"), "", "").unwrap().1
    }

    fn request(&self, method: &str, path: &str, headers: &str, body: &str) -> Option<(u16, Value)> {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        let length = body.len();
        let head = format!(
            "{method} {path} HTTP/1.1\r\nhost: cloud\r\nconnection: close\r\n{headers}content-length: {length}\r\n\r\n"
        );
        stream.write_all(head.as_bytes()).unwrap();
        stream.write_all(body.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let status = answer.split(' ').nth(1)?.parse().unwrap();
        let body = answer.split("\r\n\r\n").nth(1)?;
        Some((status, serde_json::from_str(body).unwrap()))
    }

    fn call(&self, call: &str, body: &Value) -> Option<(u16, Value)> {
        let scope = "111122223333/20260101/eu-west-1/cloudcontrolapi/aws4_request";
        let headers = format!(
            "x-amz-target: CloudApiService.{call}\r\n\
             authorization: AWS4-HMAC-SHA256 Credential={scope}, SignedHeaders=host, Signature=0\r\n"
        );
        self.send("/", &headers, &body.to_string())
    }

    /// Kills the server and waits for its end.
    pub(crate) fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    pub(crate) fn stop(mut self, signal: &str) -> (Option<i32>, String) {
        let pid = self.child.id().to_string();
        assert!(Command::new("kill").args([signal, &pid]).status().unwrap().success());
        let mut rest = String::new();
        self.stdout.read_to_string(&mut rest).unwrap();
        let mut stderr = String::new();
        self.child.stderr.take().unwrap().read_to_string(&mut stderr).unwrap();
        (self.child.wait().unwrap().code(), stderr)
    }
}

/// A server ends with its test, also if an assertion fails.
impl Drop for Serving {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Returns the variables of the environment that lead to an account of a served cloud.
pub(crate) fn account(endpoint: &str) -> [(&str, &str); 4] {
    [
        ("AWS_ACCESS_KEY_ID", "111122223333"),
        ("AWS_SECRET_ACCESS_KEY", "any"),
        ("AWS_REGION", "eu-west-1"),
        ("AWS_ENDPOINT_URL", endpoint),
    ]
}

#[test]
fn served_cloud_answers_keeps_its_state_and_exits_0_when_terminated() {
    let project = Project::empty();
    let serving = Serving::start(&project, &["--state", "cloud"]);
    let bucket = json!({ "TypeName": "AWS::S3::Bucket", "DesiredState": r#"{"BucketName":"logs"}"# });
    let (status, event) = serving.call("CreateResource", &bucket).unwrap();
    assert_eq!((status, &event["ProgressEvent"]["OperationStatus"]), (200, &json!("IN_PROGRESS")));
    let name = json!({ "TypeName": "AWS::S3::Bucket", "Identifier": "logs" });
    let (status, found) = serving.call("GetResource", &name).unwrap();
    assert_eq!(status, 200, "{found}");
    let properties = found["ResourceDescription"]["Properties"].as_str().unwrap();
    assert!(properties.contains("arn:aws:s3:::logs"), "{properties}");
    assert_eq!(serving.stop("-TERM"), (Some(0), String::new()));

    let again = Serving::start(&project, &["--state", "cloud", "--json"]);
    assert_eq!(again.call("GetResource", &name).unwrap().0, 200);
    let lost = json!({ "fault": "lost-before" }).to_string();
    assert_eq!(again.send("/_stead/fail-next", "", &lost), Some((200, json!({}))));
    assert_eq!(again.call("GetResource", &name), None);
    assert_eq!(again.send("/_stead/reset", "", ""), Some((200, json!({}))));
    let (status, error) = again.call("GetResource", &name).unwrap();
    assert_eq!(
        (status, error["__type"].as_str()),
        (400, Some("com.amazon.cloudapiservice#ResourceNotFoundException"))
    );
    assert_eq!(again.stop("-INT"), (Some(130), String::new()));
}

#[test]
fn quickstart_is_applied_to_the_target_aws_by_the_same_program() {
    let project = example("quickstart", &SHOP);
    let serving = Serving::start(&project, &[]);
    let endpoint = format!("http://{}", serving.address);
    let account = account(&endpoint);
    let on_aws = |arguments: &[&str]| project.stead_with(&account, &[arguments, &["-t", "aws"]].concat());
    let up = on_aws(&["up", "--yes"]).ok();
    assert!(
        up.contains("Done: 14 created.") && up.contains(".execute-api.eu-west-1.amazonaws.com/orders"),
        "{up}"
    );
    assert_eq!(serving.ask("resources").as_array().unwrap().len(), 14);
    on_aws(&["plan", "--refresh", "--exit-code"]).ok();
    let pins: Value = serde_json::from_str(&project.read("main.ts.pin.json")).unwrap();
    let pinned: Vec<&String> = pins["pinned"]["aws"].as_object().unwrap().keys().collect();
    let data = ["aws.dynamodb.Table.orders", "aws.logs.LogGroup.orders", "aws.s3.Bucket.receipts"];
    assert!(data.iter().all(|path| pinned.iter().any(|pinned| pinned == path)), "{pinned:?}");
    assert!(on_aws(&["destroy", "--yes"]).ends(13).stderr.contains("it is pinned"));
    assert_eq!(serving.stop("-TERM"), (Some(0), String::new()));
}

/// Returns how often the served cloud was asked to read, update and delete a resource since the last call.
fn requests(serving: &Serving, before: &mut [u64; 3]) -> [u64; 3] {
    let calls = serving.ask("calls");
    let now =
        ["GetResource", "UpdateResource", "DeleteResource"].map(|call| calls[call].as_u64().unwrap_or(0));
    let since = std::array::from_fn(|at| now[at] - before[at]);
    *before = now;
    since
}

#[test]
fn each_operation_makes_the_requests_that_the_guide_lists() {
    let program = |delay: u32| {
        format!(
            "import {{ sqs, ssm }} from \"stead/aws\";\n\
             new sqs.Queue({{ DelaySeconds: {delay} }}, {{ id: \"unnamed\", pinned: false }});\n\
             new ssm.Parameter({{ Name: \"named\", Type: \"String\", Value: \"{delay}\" }}, {{ id: \"named\", pinned: false }});\n"
        )
    };
    let project = Project::only(&program(1));
    let serving = Serving::start(&project, &[]);
    let endpoint = format!("http://{}", serving.address);
    let account = account(&endpoint);
    let on_aws = |arguments: &[&str]| project.stead_with(&account, &[arguments, &["-t", "aws"]].concat());
    let mut before = [0; 3];
    on_aws(&["up", "--yes"]).ok();
    assert_eq!(requests(&serving, &mut before), [2, 0, 0]);
    on_aws(&["plan", "--exit-code"]).ok();
    assert_eq!(requests(&serving, &mut before), [0, 0, 0]);
    project.write("main.ts", &program(2));
    on_aws(&["plan"]).ok();
    assert_eq!(requests(&serving, &mut before), [2, 0, 0]);
    on_aws(&["up", "--yes"]).ok();
    assert_eq!(requests(&serving, &mut before), [2 + 2 * 3, 2, 0]);
    on_aws(&["destroy", "--yes"]).ok();
    assert_eq!(requests(&serving, &mut before), [2 + 2, 0, 2]);
}

#[test]
fn resource_whose_mark_cannot_be_read_is_listed_with_the_reason() {
    let project = Project::with("export {};\n");
    let serving = Serving::start(&project, &[]);
    let endpoint = format!("http://{}", serving.address);
    let account = account(&endpoint);
    let queue = json!({
        "account": "111122223333", "region": "eu-west-1", "type_name": "AWS::SQS::Queue",
        "properties": { "QueueName": "free" },
    });
    assert_eq!(serving.send("/_stead/insert", "", &queue.to_string()).unwrap().0, 200);
    // The client looks its credentials up again, once.
    let expired = json!({ "fault": "expired-token", "call": "GetResource", "times": 2 });
    assert_eq!(serving.send("/_stead/fail-next", "", &expired.to_string()).unwrap().0, 200);
    let list = ["import", "--list", "AWS::SQS::Queue", "--unowned", "-t", "aws"];
    let listed = project.stead_with(&account, &list).ends(0);
    assert!(listed.stdout.trim().ends_with("/free"), "{}", listed.stdout);
    assert!(
        listed.stderr.contains("may have an owner") && listed.stderr.contains("expired"),
        "{}",
        listed.stderr
    );
    let again = project.stead_with(&account, &list).ends(0);
    assert!(again.stdout == listed.stdout && !again.stderr.contains("may have an owner"), "{}", again.stderr);
}

#[test]
fn killed_create_with_a_value_that_is_not_kept_is_finished_by_its_token_without_a_question() {
    let project = Project::with(
        "import { ephemeral } from \"stead\";\nimport { secretsmanager } from \"stead/aws\";\n\
         new secretsmanager.Secret({ Name: \"key\", SecretString: ephemeral(() => \"never kept\") }, { id: \"key\" });\n",
    );
    let serving = Serving::start(&project, &["--operations", "6000"]);
    let endpoint = format!("http://{}", serving.address);
    let account = account(&endpoint);
    let up = ["up", "--yes", "-t", "aws"];
    let mut child =
        project.command(&up).envs(account).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let has_token = || {
        let list = |folder: PathBuf| {
            std::fs::read_dir(folder).into_iter().flatten().map(|entry| entry.unwrap().path())
        };
        let epochs = list(project.path(".stead/state/shop/dev/aws/journal"));
        epochs
            .flat_map(list)
            .filter(|file| !file.file_name().unwrap().to_string_lossy().starts_with(".tmp"))
            .any(|file| std::fs::read_to_string(file).is_ok_and(|text| text.contains("\"progress\"")))
    };
    for _ in 0..500 {
        if has_token() {
            break;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    assert!(has_token(), "the token of the create is recorded");
    child.kill().unwrap();
    child.wait().unwrap();
    let again = project.stead_with(&account, &up).ends(0);
    assert!(!again.stderr.contains("resolve"), "{}", again.stderr);
    assert_eq!(serving.ask("resources").as_array().unwrap().len(), 1);
    let unchanged = project.stead_with(&account, &["plan", "--refresh", "--exit-code", "-t", "aws"]);
    unchanged.ok();
    assert_eq!(serving.stop("-TERM"), (Some(0), String::new()));
}

#[test]
fn invalid_settings_of_a_cloud_are_refused() {
    let project = Project::empty();
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let failed = project.stead(&["cloud", "serve", "--port", &port]).ends(1);
    assert!(
        failed.stderr.contains("ST0805") && failed.stderr.contains("cannot listen on port"),
        "{}",
        failed.stderr
    );
    let failed = project.stead(&["cloud", "serve", "--faults", "7"]).ends(2);
    assert!(failed.stderr.contains("a seed and a rate between 0 and 1"), "{}", failed.stderr);
}
