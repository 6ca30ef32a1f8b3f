//! The embedded cloud against boto3, a client that shares no code with it: all eight calls over thirty types, and errors.

use std::process::Command;

use crate::conformance::Extent;
use crate::outside::{Server, output, python, script};
use crate::workspace::{Workspace, cargo};

pub(crate) const BOTO3: &str = "boto3==1.44.3";

/// Serves a cloud, and lets boto3 drive it.
pub(crate) fn conforms(workspace: &Workspace, _: Extent) -> Result<String, String> {
    let python = python("cloud", BOTO3)?;
    output(
        Command::new(cargo()).args(["build", "--quiet", "-p", "stead-cli"]).current_dir(&workspace.root),
        "",
    )?;
    let script = script("cloud", "drive.py", include_str!("cloud/drive.py"))?;
    let mut serve = Command::new(workspace.target.join("debug/stead"));
    let (_server, line) = Server::start(serve.args(["cloud", "serve", "--port", "0"]))?;
    let url = line.strip_prefix("listening on ").ok_or_else(|| format!("the cloud printed {line:?}"))?;
    // Credentials of the machine have no part in the run.
    let said = output(Command::new(python).env_clear().arg(script).arg(url), "")?;
    said.lines().last().map(str::to_owned).ok_or("boto3 reported nothing".to_owned())
}
