//! `stead logs` and `stead stats`, on the target `sim` and for commands on this machine.

use std::io::{BufRead as _, BufReader};
use std::process::Command;
use std::time::{SystemTime, UNIX_EPOCH};

use stead_cloud::{Cloud, DEFAULT_ACCOUNT, MetricName, NewLogEvent, NewPoint, Place, Settings};
use stead_world::World;

use crate::project::Project;

const PROGRAM: &str = r#"
import { iam, lambda, logs, sqs } from "stead/aws";
const role = new iam.Role({ AssumeRolePolicyDocument: {} }, { id: "role" });
new logs.LogGroup({ LogGroupName: "/aws/lambda/orders" }, { id: "ordersLog" });
new lambda.Function({ FunctionName: "orders", Role: role.Arn, Code: { ZipFile: "x" } }, { id: "orders" });
new lambda.Function({ FunctionName: "mail", Role: role.Arn, Code: { ZipFile: "x" } }, { id: "mail" });
new sqs.Queue({ QueueName: "jobs" }, { id: "jobs" });
"#;

fn place() -> Place {
    Place::new(DEFAULT_ACCOUNT, "us-east-1")
}

/// The code of a function is a secret, which needs a key.
const KEY: [(&str, &str); 1] = [("STEAD_PASSPHRASE", "correct horse battery staple")];

fn cloud(project: &Project) -> Cloud {
    Cloud::open(&World::real(), &project.path(".stead/sim"), Settings::default()).unwrap()
}

fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis() as u64
}

fn event(ago: u64, message: &str) -> NewLogEvent {
    NewLogEvent { timestamp: Some(now() - ago), message: message.to_owned() }
}

fn put(project: &Project, events: Vec<NewLogEvent>) {
    cloud(project).put_log_events(&place(), ("/aws/lambda/orders", "2026/11/18/[$LATEST]1"), events).unwrap();
}

/// Returns lines without the time at their start.
fn without_times(text: &str) -> String {
    let rest = |line: &str| line.split_once("Z ").map_or(line, |(_, rest)| rest).to_owned() + "\n";
    text.lines().map(rest).collect()
}

#[test]
fn logs_of_the_stack_are_merged_by_time_under_the_names_of_their_resources() {
    let project = Project::with(PROGRAM);
    project.stead_with(&KEY, &["up", "--yes", "-t", "sim"]).ok();
    put(&project, vec![event(7_200_000, "long ago"), event(2000, "START\n"), event(1000, "\u{1b}[31mEND")]);
    // The program is not needed.
    project.write("main.ts", "this is no program");
    let one = project.stead(&["logs", "orders", "-t", "sim"]).ends(0);
    assert_eq!(without_times(&one.stdout), "START\n\\u001b[31mEND\n", "{}", one.stderr);
    let all = project.stead(&["logs", "-t", "sim"]).ends(0);
    // The log group is a resource of its own with the same lines, which are shown once.
    assert_eq!(without_times(&all.stdout), "orders  START\norders  \\u001b[31mEND\n");
    let group = project.stead(&["logs", "ordersLog", "-t", "sim"]).ok();
    assert_eq!(group, one.stdout);
    let note = "mail has no log yet: nothing has written to its log group /aws/lambda/mail.";
    assert!(all.stderr.contains(note), "{}", all.stderr);
    let since = project.stead(&["logs", "orders", "-t", "sim", "--since", "3h"]).ok();
    assert!(since.contains("long ago"), "{since}");

    let json = project.stead(&["logs", "orders", "-t", "sim", "--json"]).ok();
    let first: serde_json::Value = serde_json::from_str(json.lines().next().unwrap()).unwrap();
    assert_eq!((&first["kind"], &first["text"], &first["v"]), (&"log".into(), &"START".into(), &1.into()));
    assert_eq!(first["name"], "dev:main:aws.lambda.Function#orders");
    assert_eq!(first["stream"], "2026/11/18/[$LATEST]1");
    assert!(first["at"].as_str().unwrap().ends_with('Z'));
}

#[test]
fn of_several_resources_with_one_id_the_one_with_logs_or_metrics_is_meant() {
    let project = Project::with(
        r#"
import { iam, lambda, logs, sns } from "stead/aws";
const role = new iam.Role({ AssumeRolePolicyDocument: {} }, { id: "orders" });
new lambda.Function({ FunctionName: "orders", Role: role.Arn, Code: { ZipFile: "x" } }, { id: "orders" });
new logs.LogGroup({ LogGroupName: "/aws/lambda/orders" }, { id: "ordersLog" });
new iam.Role({ AssumeRolePolicyDocument: {} }, { id: "shipping" });
new sns.Topic({ TopicName: "shipping" }, { id: "shipping" });
"#,
    );
    project.stead_with(&KEY, &["up", "--yes", "-t", "sim"]).ok();
    put(&project, vec![event(1000, "START")]);
    assert_eq!(without_times(&project.stead(&["logs", "orders", "-t", "sim"]).ok()), "START\n");
    let stats = project.stead(&["stats", "shipping", "-t", "sim"]).ends(0);
    assert!(!stats.stderr.contains("ST0207"), "{}", stats.stderr);
    let ambiguous = project.stead(&["state", "show", "shipping", "-t", "sim"]);
    assert!(ambiguous.ends(1).stderr.contains("ST0207"));
}

#[test]
fn resource_without_logs_or_metrics_is_an_answer_that_names_those_that_have_some() {
    let project = Project::with(PROGRAM);
    project.stead_with(&KEY, &["up", "--yes", "-t", "sim"]).ok();
    let none = project.stead(&["logs", "jobs", "-t", "sim"]).ends(1);
    insta::assert_snapshot!(none.stderr, @r"
    error[ST0511]: jobs has no logs that stead can read
     |
     = note: These resources of the stack have logs: mail, orders and ordersLog.

    For more on this, run `stead explain ST0511`.
    ");
    let none = project.stead(&["stats", "role", "-t", "sim"]).ends(1);
    assert!(none.stderr.contains("have metrics: mail, orders, ordersLog and jobs."), "{}", none.stderr);
    let wrong = project.stead(&["logs", "--since", "yesterday"]).ends(2);
    assert!(wrong.stderr.contains("write a duration such as 90s"), "{}", wrong.stderr);
}

#[test]
fn figures_are_a_table_with_a_sparkline_where_colours_are() {
    let project = Project::with(PROGRAM);
    project.stead_with(&KEY, &["up", "--yes", "-t", "sim"]).ok();
    let metric = |name: &str| MetricName {
        namespace: "AWS/Lambda".to_owned(),
        name: name.to_owned(),
        dimensions: [("FunctionName".to_owned(), "orders".to_owned())].into(),
    };
    let points = [4, 2, 1].map(|hours| NewPoint { timestamp: Some(now() - hours * 3_600_000), value: 5.0 });
    cloud(&project).put_metric(&place(), metric("Invocations"), &points).unwrap();
    cloud(&project).put_metric(&place(), metric("Duration"), &points[1..]).unwrap();
    let table = project.stead(&["stats", "orders", "-t", "sim"]).ok();
    insta::assert_snapshot!(table, @r"
    orders  aws.lambda.Function, last 3 h, 5 min each
      Invocations           sum           10
      Errors                sum      no data
      Throttles             sum      no data
      Duration              average     5 ms
      ConcurrentExecutions  maximum  no data
    ");
    let mut coloured =
        project.command(&["stats", "orders", "-t", "sim", "--color", "always", "--since", "5h"]);
    let coloured = project.ran(coloured.output().unwrap()).ok();
    assert!(coloured.contains('█') && coloured.contains("15"), "{coloured}");
    let json = project.stead(&["stats", "-t", "sim", "--json"]).ok();
    let lines: Vec<serde_json::Value> =
        json.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let invocations =
        lines.iter().find(|line| line["metric"] == "Invocations" && line["total"] == 10.0).unwrap();
    assert_eq!((&invocations["kind"], &invocations["period"]), (&"stats".into(), &300.into()));
    assert_eq!(invocations["points"].as_array().unwrap().len(), 2);
}

#[cfg(unix)]
#[test]
fn followed_log_shows_new_lines_once_and_ends_with_130() {
    let project = Project::with(PROGRAM);
    project.stead_with(&KEY, &["up", "--yes", "-t", "sim"]).ok();
    put(&project, vec![event(1000, "before")]);
    let mut child = project.spawn(&["logs", "orders", "--follow", "-t", "sim"]);
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    let mut line = || {
        let mut text = String::new();
        stdout.read_line(&mut text).unwrap();
        without_times(&text)
    };
    assert_eq!(line(), "before\n");
    put(&project, vec![event(0, "while")]);
    assert_eq!(line(), "while\n", "the first line is not shown again");
    // An event that arrives late is shown, too.
    put(&project, vec![event(30_000, "late")]);
    assert_eq!(line(), "late\n");
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    assert_eq!(child.wait().unwrap().code(), Some(130));
}

#[test]
fn log_of_a_command_is_its_recorded_output_without_its_secrets() {
    let program = r#"
import * as local from "stead/local";
import { secret } from "stead";
new local.Command({ create: "echo one; echo two; echo warning >&2" }, { id: "build" });
new local.Command({ create: "echo $TOKEN", environment: { TOKEN: secret("canary-4711-canary") } }, { id: "deploy" });
new local.Data({ value: 1 }, { id: "data" });
"#;
    let project = Project::only(program);
    project.stead_with(&KEY, &["up", "--yes"]).ok();
    assert_eq!(project.stead_with(&KEY, &["logs", "build"]).ok(), "one\ntwo\nwarning\n");
    let all = project.stead_with(&KEY, &["logs"]).ok();
    assert!(
        all.contains("build  one\n") && all.contains("deploy  [secret]\n") && !all.contains("4711"),
        "{all}"
    );
    // Without the key, a secret could not be recognised.
    let locked = project.stead(&["logs", "deploy"]).ends(1);
    assert!(
        locked.stderr.contains("ST0510") && locked.stderr.contains("cannot be opened"),
        "{}",
        locked.stderr
    );
    let none = project.stead_with(&KEY, &["stats"]).ends(1);
    assert!(
        none.stderr.contains("no resource of this stack has metrics that stead can read"),
        "{}",
        none.stderr
    );
}

#[test]
fn command_that_printed_too_much_is_recorded_and_not_repeated() {
    let create = "echo ran >> log; head -c 2000000 /dev/zero | tr '\\\\0' x";
    let project = Project::only(&format!(
        "import * as local from \"stead/local\";\nnew local.Command({{ create: \"{create}\" }}, {{ id: \"c\" }});\n"
    ));
    let failed = project.stead(&["up", "--yes"]).ends(1).stderr;
    assert!(failed.contains("the next run does not repeat the create"), "{failed}");
    assert!(!failed.contains("does the rest"), "{failed}");
    let again = project.stead(&["up", "--yes"]).ok();
    assert!(again.contains("Nothing to do"), "{again}");
    assert_eq!(project.read("log"), "ran\n");
}
