//! Programs from outside: their cache, environments of Python, and servers that end with a run.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

/// Returns the cache of a suite: a folder in `STEAD_CONFORMANCE`, or in the user's cache.
pub(crate) fn cache_folder(suite: &str) -> Result<PathBuf, String> {
    let root = match (std::env::var_os("STEAD_CONFORMANCE"), std::env::var_os("HOME")) {
        (Some(folder), _) => PathBuf::from(folder),
        (None, Some(home)) => PathBuf::from(home).join(".cache/stead-conformance"),
        (None, None) => {
            return Err("neither STEAD_CONFORMANCE nor HOME names a folder for the cache".to_owned());
        }
    };
    let folder = root.join(suite);
    std::fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    Ok(folder)
}

/// Writes a script into the cache of a suite, and returns its path.
pub(crate) fn script(suite: &str, name: &str, text: &str) -> Result<PathBuf, String> {
    let path = cache_folder(suite)?.join(name);
    std::fs::write(&path, text).map_err(|error| format!("{}: {error}", path.display()))?;
    Ok(path)
}

/// Returns a Python that has a package. pip installs it unless the cache has the same version.
pub(crate) fn python(suite: &str, package: &str) -> Result<PathBuf, String> {
    let folder = cache_folder(suite)?;
    let (python, installed) = (folder.join("venv/bin/python"), folder.join("installed"));
    if std::fs::read_to_string(&installed).is_ok_and(|version| version == package) {
        return Ok(python);
    }
    output(Command::new("python3").args(["-m", "venv", "--clear"]).arg(folder.join("venv")), "")?;
    let flags = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", package];
    output(Command::new(&python).args(flags), "")?;
    std::fs::write(&installed, package).map_err(|error| error.to_string())?;
    Ok(python)
}

/// A server that ends with this value.
pub(crate) struct Server(Child);

impl Server {
    /// Starts a server and returns the first line that it prints.
    pub(crate) fn start(command: &mut Command) -> Result<(Server, String), String> {
        let child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn();
        let mut server = Server(child.map_err(|error| format!("{command:?}: {error}"))?);
        let mut line = String::new();
        let stdout = server.0.stdout.take().ok_or("no stdout")?;
        BufReader::new(stdout).read_line(&mut line).map_err(|error| error.to_string())?;
        let line = line.trim().to_owned();
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

/// Runs a command with an input, and returns its stdout.
pub(crate) fn output(command: &mut Command, input: &str) -> Result<String, String> {
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

/// Returns the date, or nothing if the machine cannot tell it.
pub(crate) fn today() -> String {
    output(Command::new("date").args(["-u", "+%Y-%m-%d"]), "").unwrap_or_default().trim().to_owned()
}
