//! moto, the services of AWS in Python, on a free port. pip installs it into the cache.

use std::io::{BufRead as _, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use crate::bench::process;

/// Package of Python, with what the services of the graph need.
const PYTHON: &str = "moto[server,sns,ssm]==5.2.5";

/// A server that ends with this value.
pub(super) struct Moto {
    child: Child,
    pub(super) url: String,
}

impl Moto {
    pub(super) fn start() -> Result<Moto, String> {
        let python = install()?;
        let script = crate::packages::cache_folder("moto")?.join("serve.py");
        std::fs::write(&script, include_str!("moto/serve.py")).map_err(|error| error.to_string())?;
        let mut command = Command::new(python);
        command.arg(script).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().map_err(|error| format!("{command:?}: {error}"))?;
        let stdout = child.stdout.take();
        let mut moto = Moto { child, url: String::new() };
        let stdout = stdout.ok_or("moto has no stdout")?;
        BufReader::new(stdout).read_line(&mut moto.url).map_err(|error| error.to_string())?;
        moto.url = moto.url.trim().to_owned();
        if moto.url.is_empty() { Err("moto did not start".to_owned()) } else { Ok(moto) }
    }
}

impl Drop for Moto {
    fn drop(&mut self) {
        // The server may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Installs moto, unless the cache has it, and returns its Python.
fn install() -> Result<PathBuf, String> {
    let folder = crate::packages::cache_folder("moto")?;
    let (python, installed) = (folder.join("venv/bin/python"), folder.join("installed"));
    if std::fs::read_to_string(&installed).is_ok_and(|version| version == PYTHON) {
        return Ok(python);
    }
    std::fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    process::run(Command::new("python3").args(["-m", "venv", "--clear"]).arg(folder.join("venv")))?;
    let flags = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", PYTHON];
    process::run(Command::new(&python).args(flags))?;
    std::fs::write(&installed, PYTHON).map_err(|error| error.to_string())?;
    Ok(python)
}
