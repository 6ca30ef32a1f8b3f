//! The embedded cloud against boto3, a client that shares no code with it: all eight calls over thirty types, and errors.

use std::io::{BufRead as _, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use crate::workspace::{Workspace, cargo};

const BOTO3: &str = "boto3==1.44.3";

/// Serves a cloud, and lets boto3 drive it.
pub(crate) fn conforms(workspace: &Workspace) -> Result<(), String> {
    let python = install()?;
    run(Command::new(cargo()).args(["build", "--quiet", "-p", "stead-cli"]).current_dir(&workspace.root))?;
    let script = crate::packages::cache_folder("cloud")?.join("drive.py");
    std::fs::write(&script, include_str!("cloud/drive.py")).map_err(|error| error.to_string())?;
    let server = Server::start(workspace)?;
    let mut command = Command::new(python);
    // Credentials of the machine have no part in the run.
    run(command.env_clear().arg(script).arg(&server.url))
}

/// A served cloud that ends with this value.
struct Server {
    child: Child,
    url: String,
}

impl Server {
    fn start(workspace: &Workspace) -> Result<Server, String> {
        let mut command = Command::new(workspace.target.join("debug/stead"));
        command.args(["cloud", "serve", "--port", "0"]).stdout(Stdio::piped());
        let mut child = command.spawn().map_err(|error| format!("{command:?}: {error}"))?;
        let mut line = String::new();
        let stdout = child.stdout.take().ok_or("no stdout")?;
        BufReader::new(stdout).read_line(&mut line).map_err(|error| error.to_string())?;
        let url = line.trim().strip_prefix("listening on ").unwrap_or_default().to_owned();
        let server = Server { child, url };
        if server.url.is_empty() { Err(format!("{command:?} printed {line:?}")) } else { Ok(server) }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // The server may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Installs boto3, unless the cache has it, and returns its Python.
fn install() -> Result<PathBuf, String> {
    let folder = crate::packages::cache_folder("cloud")?;
    let (python, installed) = (folder.join("venv/bin/python"), folder.join("installed"));
    if std::fs::read_to_string(&installed).is_ok_and(|version| version == BOTO3) {
        return Ok(python);
    }
    std::fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    run(Command::new("python3").args(["-m", "venv", "--clear"]).arg(folder.join("venv")))?;
    let flags = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", BOTO3];
    run(Command::new(&python).args(flags))?;
    std::fs::write(&installed, BOTO3).map_err(|error| error.to_string())?;
    Ok(python)
}

fn run(command: &mut Command) -> Result<(), String> {
    let status = command.status().map_err(|error| format!("{command:?}: {error}"))?;
    if status.success() { Ok(()) } else { Err(format!("{:?}: {status}", command.get_program())) }
}
