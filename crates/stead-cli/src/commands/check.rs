//! `stead check`: checks the program's types with the TypeScript compiler of the project or of the machine.

use std::path::PathBuf;

use stead_model::{Code, Diagnostic};
use stead_world::{FinishedProcess, ProcessEnd, ShellCommand};

use crate::commands::types;
use crate::failure::{Failure, Kind};
use crate::session::Session;
use crate::ui::Ui;

pub(crate) async fn check(session: &Session, ui: &Ui) -> Result<u8, Failure> {
    let root = &session.project.root;
    if let Ok(None) = session.project.world().files.metadata(&root.join(types::FOLDER).join("stead.d.ts")) {
        types::types(session, ui)?;
    }
    let Some(compiler) = compiler(session).await else {
        let problem = Diagnostic::error(Code::NO_COMPILER, "no TypeScript compiler found")
            .help("install one in the project: `npm install --save-dev typescript`")
            .help("or put `tsc` on the PATH; stead itself does not need a compiler");
        return Err(Failure::new(Kind::Failed, problem));
    };
    let done = run(
        session,
        &format!("{} --noEmit --pretty false -p .", ShellCommand::word(&compiler.display().to_string())),
    )
    .await?;
    ui.raw(&String::from_utf8_lossy(done.stdout.first()));
    ui.note(String::from_utf8_lossy(done.stderr.last()).trim_end());
    if done.end == ProcessEnd::Exited(0) {
        ui.result("No type errors.\n");
        return Ok(0);
    }
    let problem = Diagnostic::error(Code::TYPE_ERRORS, "the TypeScript compiler reported errors")
        .note(format!("The compiler is {}.", compiler.display()));
    Err(Failure::new(Kind::Failed, problem))
}

/// Returns the project's own compiler, the native one first, else the compiler on the PATH.
async fn compiler(session: &Session) -> Option<PathBuf> {
    let (os, architecture) = match (std::env::consts::OS, std::env::consts::ARCH) {
        (os, "x86_64") => (os, "x64"),
        (os, "aarch64") => (os, "arm64"),
        other => other,
    };
    let os = if os == "macos" { "darwin" } else { os };
    let native = format!("node_modules/@typescript/typescript-{os}-{architecture}/lib/tsc");
    for candidate in [native.as_str(), "node_modules/.bin/tsc"] {
        let path = session.project.root.join(candidate);
        if let Ok(Some(_)) = session.project.world().files.metadata(&path) {
            return Some(path);
        }
    }
    let found = run(session, "command -v tsc").await.ok().filter(|done| done.end == ProcessEnd::Exited(0))?;
    Some(PathBuf::from(String::from_utf8_lossy(found.stdout.first()).trim()))
}

async fn run(session: &Session, line: &str) -> Result<FinishedProcess, Failure> {
    let command = ShellCommand {
        line: line.to_owned(),
        folder: session.project.root.clone(),
        environment: Default::default(),
    };
    session.project.world().processes.run(command).await.map_err(|error| {
        let message = format!("cannot run {line}: {error}");
        Failure::new(Kind::Failed, Diagnostic::error(Code::NO_COMPILER, message))
    })
}
