//! `local.Command`.

use stead_model::{Map, Operation, OperationToken, Resource, TypeToken, Value};
use stead_provider::{CallOutcome, Provider as _, Reads, Receipt, Recovery, Statement};
use stead_schema::ReplaceOrder;
use stead_world::{GatedProcess, GroupStatus, ProcessGroup, Processes, RealProcesses, ShellCommand, World};

use crate::bench::{Attempts, Bench, done, map, refused};

const COMMAND: &str = "local.Command";

fn command(create: &str) -> Map {
    map([("create", create.into())])
}

fn with(mut inputs: Map, name: &str, value: impl Into<Value>) -> Map {
    inputs.insert(name.to_owned(), value.into());
    inputs
}

fn output(resource: &Resource, name: &str) -> String {
    resource.outputs[name].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn command_runs_in_its_folder_with_its_environment_and_its_output_is_recorded() {
    let bench = Bench::new();
    std::fs::create_dir(bench.path("sub")).unwrap();
    let inputs = with(command("pwd; echo \"$WHO\"; printf oops >&2"), "directory", "sub");
    let made =
        bench.created(COMMAND, with(inputs, "environment", Value::Map(map([("WHO", "me".into())])))).await;
    let printed = output(&made, "stdout");
    assert!(printed.ends_with("/sub\nme\n"), "{printed:?}");
    assert_eq!(output(&made, "stderr"), "oops");
    assert_eq!(made.outputs["exitCode"], Value::from(0));
    assert_eq!(bench.provider.reads(&made.ty), Reads::Nothing);
    assert!(!bench.path(".stead").exists(), "the process group is in the journal only");
}

#[tokio::test]
async fn update_and_delete_commands_get_the_id_and_the_previous_output() {
    let bench = Bench::new();
    let print = "echo \"$STEAD_ID|$STEAD_STDOUT|$STEAD_IDEMPOTENCY_KEY\"";
    let inputs = with(
        with(command("echo made; echo $STEAD_IDEMPOTENCY_KEY > key"), "update", print),
        "delete",
        format!("{print} > gone"),
    );
    let made = bench.created(COMMAND, inputs.clone()).await;
    let id = made.id.as_ref().unwrap().as_str();
    assert_eq!(bench.read("key").trim(), id, "the id is the operation's key");
    let changed = bench.updated(&made, with(inputs, "triggers", 1)).await;
    let printed = output(&changed, "stdout");
    let key = printed.strip_prefix(&format!("{id}|made\n|")).unwrap().trim();
    assert!(!key.is_empty() && key != id, "an update has a key of its own: {printed:?}");
    done(bench.delete(&changed).await);
    assert!(bench.read("gone").starts_with(&format!("{id}|{id}|made\n|")), "{}", bench.read("gone"));
}

#[tokio::test]
async fn delete_command_starts_also_after_a_long_output() {
    let bench = Bench::new();
    let create = "head -c 300000 /dev/zero | tr '\\0' x; printf '\\0'";
    let made = bench.created(COMMAND, with(command(create), "delete", "echo ${#STEAD_STDOUT} > n")).await;
    assert_eq!(output(&made, "stdout").len(), 300_001);
    done(bench.delete(&made).await);
    assert_eq!(bench.read("n"), "65536\n");
}

#[tokio::test]
async fn failing_command_is_refused_with_its_output() {
    let bench = Bench::new();
    let create = "for i in $(seq 1 30); do echo \"line $i\" >&2; done; exit 3";
    let refusal = refused(bench.create(COMMAND, command(create)).await);
    assert!(refusal.message.starts_with("`create` ended with exit code 3:\nline 1\n"), "{}", refusal.message);
    assert!(refusal.message.ends_with("\nline 30"), "{}", refusal.message);
    let refusal = refused(bench.create(COMMAND, command("exit 1")).await);
    assert_eq!(refusal.message, "`create` ended with exit code 1");
    let made = bench.created(COMMAND, with(command("true"), "delete", "echo no >&2; false")).await;
    assert_eq!(refused(bench.delete(&made).await).message, "`delete` ended with exit code 1:\nno");
}

#[tokio::test]
async fn command_that_cannot_start_is_refused_with_its_folder() {
    let bench = Bench::new();
    let refusal = refused(bench.create(COMMAND, with(command("true"), "directory", "missing")).await);
    assert!(refusal.message.starts_with("cannot start `create` in the folder /"), "{}", refusal.message);
    assert!(refusal.message.ends_with("/missing: no such file or directory"), "{}", refusal.message);
    assert_eq!(refusal.path.unwrap().to_string(), "directory");
}

#[tokio::test]
async fn command_ended_by_a_signal_is_in_doubt() {
    let bench = Bench::new();
    match bench.create(COMMAND, command("echo half >&2; kill -9 $$")).await {
        CallOutcome::InDoubt(doubt) => {
            assert!(doubt.message.contains("signal") && doubt.message.ends_with("half"))
        }
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn retry_gets_the_same_idempotency_key() {
    let bench = Bench::new();
    let (attempts, first) = Attempts::first().await;
    let create = command("echo $STEAD_IDEMPOTENCY_KEY >> keys");
    let one = done(bench.create_with(first, COMMAND, create.clone()).await);
    let (_attempts, second) = attempts.again().await;
    let two = done(bench.create_with(second, COMMAND, create).await);
    assert_eq!(one.id, two.id);
    let keys = bench.read("keys");
    let keys: Vec<&str> = keys.lines().collect();
    assert_eq!((keys.len(), keys[0]), (2, keys[1]));
}

#[tokio::test]
async fn change_without_an_update_line_is_a_delete_first_replacement() {
    let bench = Bench::new();
    let made = bench.created(COMMAND, command("echo 1")).await;
    assert_eq!(bench.changes(&made, command("echo 1")).await, [""; 0]);
    assert_eq!(bench.changes(&made, command("echo 2")).await, ["create!"]);
    let triggered = with(with(command("echo 1"), "triggers", 1), "delete", "true");
    assert_eq!(bench.changes(&made, triggered).await, ["delete", "triggers!"]);
    assert_eq!(bench.diff(&made, command("echo 2")).await.order, ReplaceOrder::DeleteFirst);
}

#[tokio::test]
async fn change_with_an_update_line_is_made_in_place() {
    let bench = Bench::new();
    let made = bench.created(COMMAND, with(command("echo 1"), "update", "echo updated")).await;
    let wanted = with(command("echo 2"), "update", "echo updated");
    assert_eq!(bench.changes(&made, wanted.clone()).await, ["create"]);
    assert_eq!(output(&bench.updated(&made, wanted).await, "stdout"), "updated\n");
    assert_eq!(
        bench.changes(&made, command("echo 2")).await,
        ["create!", "update"],
        "the update line was removed"
    );
}

#[tokio::test]
async fn change_that_only_affects_later_operations_runs_no_command() {
    let bench = Bench::new();
    let made = bench.created(COMMAND, command("echo 1")).await;
    let later = with(with(command("echo 1"), "update", "touch ran"), "delete", "touch ran");
    let later = with(later, "idempotent", true);
    assert_eq!(bench.changes(&made, later.clone()).await, ["delete", "idempotent", "update"]);
    let changed = bench.updated(&made, later).await;
    assert_eq!(changed.outputs, made.outputs);
    assert_eq!(bench.names("."), [""; 0]);
    done(bench.delete(&made).await);
    assert_eq!(bench.names("."), [""; 0], "without a delete line no command runs");
}

#[tokio::test]
async fn only_an_idempotent_or_missing_command_is_repeated() {
    let bench = Bench::new();
    let recovery =
        |operation, inputs: &Map| bench.provider.recovery(operation, &TypeToken(COMMAND.into()), inputs);
    let bare = command("x");
    assert_eq!(recovery(Operation::Create, &bare), Recovery::Ask);
    assert_eq!(recovery(Operation::Update, &bare), Recovery::Repeat);
    assert_eq!(recovery(Operation::Delete, &bare), Recovery::Repeat);
    let full = with(with(bare, "update", "y"), "delete", "z");
    for operation in [Operation::Create, Operation::Update, Operation::Delete] {
        assert_eq!(recovery(operation, &full), Recovery::Ask);
        assert_eq!(recovery(operation, &with(full.clone(), "idempotent", true)), Recovery::Repeat);
        assert_eq!(recovery(operation, &with(full.clone(), "idempotent", false)), Recovery::Ask);
    }
}

#[tokio::test]
async fn invalid_command_lines_and_variables_are_problems() {
    let bench = Bench::new();
    let bad = map([("A=B", "x".into()), ("C", "\0".into()), ("", "x".into()), ("fine", "x".into())]);
    let inputs = with(with(command(" "), "delete", "a\0b"), "environment", Value::Map(bad));
    let problems = bench.problems(COMMAND, inputs).await;
    assert_eq!(problems.len(), 5, "{problems:?}");
}

#[tokio::test]
async fn output_above_the_limit_fails_the_step_and_is_not_a_value() {
    let bench = Bench::new();
    match bench.create(COMMAND, command("head -c 2000000 /dev/zero | tr '\\0' x; echo done >&2")).await {
        CallOutcome::Partial(part) => {
            assert_eq!(part.done.outputs, map([("stderr", "done\n".into()), ("exitCode", 0.into())]));
            assert!(part.refusal.message.contains("printed 2000000 bytes"), "{}", part.refusal.message);
        }
        other => panic!("{other:?}"),
    }
}

/// Processes that cannot be ended.
struct Unstoppable;

#[async_trait::async_trait]
impl Processes for Unstoppable {
    async fn start(&self, command: ShellCommand) -> std::io::Result<Box<dyn GatedProcess>> {
        RealProcesses.start(command).await
    }

    fn status(&self, _: &ProcessGroup) -> GroupStatus {
        GroupStatus::Running
    }

    async fn end(&self, _: &ProcessGroup) -> std::io::Result<GroupStatus> {
        Ok(GroupStatus::Running)
    }
}

#[tokio::test]
async fn failed_command_whose_processes_still_run_is_in_doubt_and_is_not_repeated_beside_them() {
    let bench = Bench::with(World { processes: std::sync::Arc::new(Unstoppable), ..World::real() });
    let line = command("echo started >> log; exit 1");
    let (attempts, first) = Attempts::first().await;
    let doubt = in_doubt(bench.create_with(first, COMMAND, line.clone()).await);
    assert!(doubt.contains("still run on this machine"), "{doubt}");
    let (_attempts, second) = attempts.again().await;
    let token = second.token().cloned().unwrap();
    let doubt = in_doubt(bench.create_with(second, COMMAND, line).await);
    assert!(doubt.contains("an earlier attempt may still run"), "{doubt}");
    let settled =
        bench.provider.settle_work(&TypeToken(COMMAND.into()), &token, Statement::DidNotHappen).await;
    assert!(settled.unwrap_err().message.starts_with("its command may still run on "));
    assert_eq!(bench.read("log"), "started\n");
}

#[tokio::test]
async fn failed_command_ends_its_background_processes() {
    let bench = Bench::new();
    let line = "(while :; do sleep 0.01; done) >/dev/null 2>&1 & echo $! > pid; exit 1";
    refused(bench.create(COMMAND, command(line)).await);
    let left = std::fs::read_to_string(format!("/proc/{}/stat", bench.read("pid").trim()));
    assert!(left.is_err() || left.is_ok_and(|stat| stat.contains(") Z ")), "a process goes on");
}

/// Begins a command, and abandons it once the file `began` exists, as if its run had been killed.
async fn abandon(bench: &Bench, receipt: Receipt, inputs: Map) {
    let running = bench.create_with(receipt, COMMAND, inputs);
    let began = async {
        while !bench.path("began").exists() {
            tokio::time::sleep(std::time::Duration::from_millis(5)).await;
        }
    };
    tokio::select! {
        _ = running => panic!("the command waits for a file"),
        () = began => {}
    }
}

#[tokio::test]
async fn second_attempt_begins_after_the_processes_of_the_first_have_ended() {
    // The second attempt is made from another copy of the project.
    let (bench, copy) = (Bench::new(), Bench::new());
    let (attempts, first) = Attempts::first().await;
    // The first attempt ignores the request to terminate, and would go on until `go` exists.
    let line = "if [ -e pid ] && kill -0 $(cat pid) 2>/dev/null; then exit 7; fi; trap '' TERM; echo $$ > pid; \
                touch began; while [ ! -e go ]; do sleep 0.05; done";
    let folder = bench.path("").display().to_string();
    let inputs = with(command(line), "directory", folder.as_str());
    abandon(&bench, first, inputs.clone()).await;
    let (_attempts, second) = attempts.again().await;
    let sentence = copy.provider.may_still_run(&TypeToken(COMMAND.into()), second.token().unwrap()).await;
    assert!(sentence.unwrap().starts_with("Its command still runs on this machine"));
    let again = copy.create_with(second, COMMAND, inputs);
    let let_go = async {
        let before = bench.read("pid");
        while bench.read("pid") == before {
            tokio::time::sleep(std::time::Duration::from_millis(5)).await;
        }
        std::fs::write(bench.path("go"), "").unwrap();
    };
    done(tokio::join!(again, let_go).0);
}

#[tokio::test]
async fn repeat_of_a_command_that_may_run_on_another_machine_is_in_doubt() {
    let bench = Bench::new();
    let (attempts, first) = Attempts::first().await;
    let elsewhere = OperationToken::try_from("group/elsewhere/cafe/00ff.1/77/1d".to_owned()).unwrap();
    first.record_token(elsewhere.clone()).durable().await.unwrap();
    let (_attempts, second) = attempts.again().await;
    let doubt = in_doubt(bench.create_with(second, COMMAND, command("touch ran")).await);
    assert_eq!(doubt, "an earlier attempt may still run on elsewhere as process group 77");
    assert!(!bench.path("ran").exists());
    let ty = TypeToken(COMMAND.into());
    bench.provider.settle_work(&ty, &elsewhere, Statement::DidNotHappen).await.unwrap();
}

#[tokio::test]
async fn command_that_a_person_settles_does_not_run_any_more() {
    let bench = Bench::new();
    let (attempts, first) = Attempts::first().await;
    let line = "trap '' TERM; touch began; while [ ! -e go ]; do sleep 0.05; done";
    abandon(&bench, first, command(line)).await;
    let (_attempts, second) = attempts.again().await;
    let (ty, token) = (TypeToken(COMMAND.into()), second.token().unwrap());
    let happened = bench.provider.settle_work(&ty, token, Statement::Happened).await.unwrap_err();
    assert!(happened.message.starts_with("its command still runs on this machine"), "{happened:?}");
    bench.provider.settle_work(&ty, token, Statement::DidNotHappen).await.unwrap();
    assert_eq!(bench.provider.may_still_run(&ty, token).await, None);
    bench.provider.settle_work(&ty, token, Statement::Happened).await.unwrap();
}

#[tokio::test]
async fn command_does_not_begin_if_its_process_group_cannot_be_recorded() {
    let bench = Bench::new();
    let (attempts, first) = Attempts::first().await;
    drop(attempts);
    let refusal = refused(bench.create_with(first, COMMAND, command("touch ran")).await);
    assert!(refusal.message.starts_with("cannot record the process group of `create`"), "{refusal:?}");
    assert!(!bench.path("ran").exists());
}

#[tokio::test]
async fn processes_that_a_command_left_running_are_a_warning() {
    let bench = Bench::new();
    for (line, warned) in [("sleep 600 >/dev/null 2>&1 & echo $! > pid", true), ("true", false)] {
        let (_attempts, receipt) = Attempts::first().await;
        let warnings = receipt.warnings();
        done(bench.create_with(receipt, COMMAND, command(line)).await);
        let warnings = warnings.take();
        assert_eq!(warnings.len(), usize::from(warned), "{warnings:?}");
        assert!(
            warnings.iter().all(|warning| warning.contains("still run in the background")),
            "{warnings:?}"
        );
    }
    let kill = ["-s", "KILL", bench.read("pid").trim()].map(str::to_owned);
    assert!(std::process::Command::new("kill").args(kill).status().unwrap().success());
}

fn in_doubt<T: std::fmt::Debug>(outcome: CallOutcome<T>) -> String {
    match outcome {
        CallOutcome::InDoubt(doubt) => doubt.message,
        other => panic!("{other:?}"),
    }
}
