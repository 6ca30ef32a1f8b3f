//! Key managers against real servers, and signatures against botocore.
//!
//! pip installs moto and botocore into the cache. Keys are wrapped with moto's KMS, and the signatures of generated requests
//! are compared. The server ends with the run.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};

use crate::workspace::{Workspace, cargo};

const PYTHON: &str = "moto[server,kms]==5.2.5";
const REQUESTS: usize = 200;
const PLAIN: &str = "0123456789abcdef0123456789abcdef";

/// Compares signatures, and wraps keys with moto's KMS.
pub(crate) fn conforms(workspace: &Workspace) -> Result<(), String> {
    let python = install()?;
    build(workspace)?;
    signatures(workspace, &python)?;
    kms(workspace, &python)
}

fn signatures(workspace: &Workspace, python: &Path) -> Result<(), String> {
    let script = script("signatures.py", include_str!("secrets/signatures.py"))?;
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
    println!("conformance: secrets: {same} signatures are those of botocore");
    if same == REQUESTS { Ok(()) } else { Err(format!("{same} of {REQUESTS} requests were signed")) }
}

fn kms(workspace: &Workspace, python: &Path) -> Result<(), String> {
    let script = script("kms.py", include_str!("secrets/kms.py"))?;
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
    println!("conformance: secrets: keys are wrapped and unwrapped by moto");
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

/// A server that ends with this value.
struct Server(Child);

impl Server {
    /// Starts a server and returns its first line.
    fn start(command: &mut Command) -> Result<(Server, String), String> {
        let child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn();
        let mut server = Server(child.map_err(|error| format!("{command:?}: {error}"))?);
        let mut line = String::new();
        let stdout = server.0.stdout.take().ok_or("no stdout")?;
        BufReader::new(stdout).read_line(&mut line).map_err(|error| error.to_string())?;
        if line.is_empty() { Err(format!("{command:?} did not start")) } else { Ok((server, line)) }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // The server may have ended by itself.
        let _ = self.0.kill();
        let _ = self.0.wait();
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

/// Installs moto, unless the cache has it, and returns its Python.
fn install() -> Result<PathBuf, String> {
    let folder = crate::packages::cache_folder("secrets")?;
    let python = folder.join("venv/bin/python");
    let installed = folder.join("installed");
    if std::fs::read_to_string(&installed).is_ok_and(|version| version == PYTHON) {
        return Ok(python);
    }
    std::fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    output(Command::new("python3").args(["-m", "venv", "--clear"]).arg(folder.join("venv")), "")?;
    output(
        Command::new(&python).args([
            "-m",
            "pip",
            "install",
            "--quiet",
            "--disable-pip-version-check",
            PYTHON,
        ]),
        "",
    )?;
    std::fs::write(&installed, PYTHON).map_err(|error| error.to_string())?;
    Ok(python)
}

fn script(name: &str, text: &str) -> Result<PathBuf, String> {
    let path = crate::packages::cache_folder("secrets")?.join(name);
    std::fs::write(&path, text).map_err(|error| format!("{}: {error}", path.display()))?;
    Ok(path)
}

/// Runs a command with an input, and returns its stdout.
fn output(command: &mut Command, input: &str) -> Result<String, String> {
    let name = format!("{:?}", command.get_program());
    let failed = |error: std::io::Error| format!("{name}: {error}");
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(failed)?;
    let (stdin, input) = (child.stdin.take(), input.to_owned());
    let writer = std::thread::spawn(move || {
        // The reader may end early; its exit code tells.
        let _ = stdin.map(|mut stdin| stdin.write_all(input.as_bytes()));
    });
    let output = child.wait_with_output().map_err(failed)?;
    drop(writer.join());
    if !output.status.success() {
        return Err(format!("{name}: {}\n{}", output.status, String::from_utf8_lossy(&output.stderr)));
    }
    String::from_utf8(output.stdout).map_err(|error| format!("{name}: {error}"))
}
