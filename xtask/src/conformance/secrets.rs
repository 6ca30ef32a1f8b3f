//! Key managers against real servers, and signatures against botocore.
//!
//! pip installs moto and botocore into the cache. Keys are wrapped with moto's KMS, and the signatures of generated requests
//! are compared. The server ends with the run.

use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use crate::conformance::Extent;
use crate::outside::{Server, output, python, script};
use crate::workspace::{Workspace, cargo};

pub(crate) const PYTHON: &str = "moto[server,kms]==5.2.5";
const REQUESTS: usize = 200;
const PLAIN: &str = "0123456789abcdef0123456789abcdef";

/// Compares signatures, and wraps keys with moto's KMS.
pub(crate) fn conforms(workspace: &Workspace, _: Extent) -> Result<String, String> {
    let python = python("secrets", PYTHON)?;
    build(workspace)?;
    signatures(workspace, &python)?;
    kms(workspace, &python)?;
    Ok(format!(
        "{REQUESTS} signatures are those of botocore; keys are wrapped and unwrapped by KMS of moto, by id, ARN and alias"
    ))
}

fn signatures(workspace: &Workspace, python: &Path) -> Result<(), String> {
    let script = script("secrets", "signatures.py", include_str!("secrets/signatures.py"))?;
    let generated = output(Command::new(python).arg(script).arg(REQUESTS.to_string()), "")?;
    let ours = output(&mut Command::new(workspace.target.join("debug/examples/sign")), &generated)?;
    let mut same = 0;
    for (request, ours) in generated.lines().zip(ours.lines()) {
        let request: Value = serde_json::from_str(request).map_err(|error| error.to_string())?;
        if request["expected"] != ours {
            return Err(format!("the signatures of {request} differ: {ours}"));
        }
        same += 1;
    }
    if same == REQUESTS { Ok(()) } else { Err(format!("{same} of {REQUESTS} requests were signed")) }
}

fn kms(workspace: &Workspace, python: &Path) -> Result<(), String> {
    let script = script("secrets", "kms.py", include_str!("secrets/kms.py"))?;
    let (_server, line) = Server::start(Command::new(python).arg(script))?;
    let keys: Value = serde_json::from_str(&line).map_err(|error| format!("moto printed {line}: {error}"))?;
    let text = |name: &str| keys[name].as_str().unwrap_or_default();
    let url = text("url");
    let name = |key: &str| format!("awskms://{key}?region=eu-west-1&endpoint={url}");
    let mut command = wrapper(workspace);
    command.env("AWS_ACCESS_KEY_ID", "test").env("AWS_SECRET_ACCESS_KEY", "test");
    let mut stead = Stead { command };
    for key in [text("id"), text("arn"), "alias/prod"] {
        let wrapped = stead.round_trip(&name(key))?;
        stead.refused(&name(key), "stack:b", &wrapped, "WrongKey")?;
    }
    let wrapped = stead.wrap(&name(text("id")))?;
    // AWS answers IncorrectKeyException; moto answers as AWS does for a key of another account.
    stead.refused(&name(text("other")), "stack:a", &wrapped, "Denied")?;
    stead.refused_wrap(&name("alias/missing"), "NoSuchKey")?;
    Ok(())
}

/// The example that wraps keys.
struct Stead {
    command: Command,
}

impl Stead {
    fn ask(&mut self, request: &Value) -> Result<Value, String> {
        let answer = output(&mut self.command, &format!("{request}\n"))?;
        serde_json::from_str(&answer).map_err(|error| format!("{request}: {error}"))
    }

    fn wrap(&mut self, manager: &str) -> Result<String, String> {
        let answer =
            self.ask(&json!({ "manager": manager, "owner": "stack:a", "key": "k1", "wrap": PLAIN }))?;
        answer["ok"].as_str().map(str::to_owned).ok_or_else(|| format!("{manager} did not wrap: {answer}"))
    }

    /// Wraps and unwraps a key, and returns the wrapped one.
    fn round_trip(&mut self, manager: &str) -> Result<String, String> {
        let wrapped = self.wrap(manager)?;
        let request = json!({ "manager": manager, "owner": "stack:a", "key": "k1", "unwrap": wrapped });
        let answer = self.ask(&request)?;
        if answer["ok"] == PLAIN { Ok(wrapped) } else { Err(format!("{manager} did not unwrap: {answer}")) }
    }

    fn refused(&mut self, manager: &str, owner: &str, wrapped: &str, class: &str) -> Result<(), String> {
        let request = json!({ "manager": manager, "owner": owner, "key": "k1", "unwrap": wrapped });
        expect(manager, class, &self.ask(&request)?)
    }

    fn refused_wrap(&mut self, manager: &str, class: &str) -> Result<(), String> {
        let request = json!({ "manager": manager, "owner": "stack:a", "key": "k1", "wrap": PLAIN });
        expect(manager, class, &self.ask(&request)?)
    }
}

fn expect(manager: &str, class: &str, answer: &Value) -> Result<(), String> {
    if answer["class"] == class {
        Ok(())
    } else {
        Err(format!("{manager}: expected {class}, found {answer}"))
    }
}

fn wrapper(workspace: &Workspace) -> Command {
    let mut command = Command::new(workspace.target.join("debug/examples/wrap"));
    // Credentials of the machine have no part in the run.
    command.env_clear();
    command
}

fn build(workspace: &Workspace) -> Result<(), String> {
    for (package, example) in [("stead-secrets", "wrap"), ("stead-aws-auth", "sign")] {
        let mut command = Command::new(cargo());
        command.args(["build", "--quiet", "-p", package, "--example", example]);
        output(command.current_dir(&workspace.root), "")?;
    }
    Ok(())
}
