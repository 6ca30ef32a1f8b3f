//! `stead compile`: writes the graph and the pinfile. State is neither read nor written, and no provider is called.

use std::path::PathBuf;

use serde::Serialize;
use stead::Notice;
use stead_model::{Code, Diagnostic, Graph};

use crate::args::{CompileArguments, orphans};
use crate::commands::types::Wrote;
use crate::failure::{Failure, Kind};
use crate::pins;
use crate::session::Session;
use crate::ui::Ui;

/// Default folder of compiled graphs, below the project.
const FOLDER: &str = ".stead/compiled";

/// File format of a compiled graph.
#[derive(Serialize)]
struct Compiled<'a> {
    format: u32,
    project: &'a str,
    environment: String,
    target: &'a str,
    graph: &'a Graph,
}

pub(crate) async fn compile(session: &Session, arguments: &CompileArguments, ui: &Ui) -> Result<u8, Failure> {
    let show_notice = |notice: Notice<'_>| ui.notice(&notice);
    let program = session.program(session.levels_without_flags(), &show_notice);
    let compiled = session.workspace.compile(&program, orphans(arguments.update_pins)).await?;
    pins::show(&compiled.pins, ui);
    let path = write_graph(session, &compiled.graph, arguments.out.clone())?;
    compiled.write_pins()?;
    let shown = path.strip_prefix(&session.project.root).unwrap_or(&path).display().to_string();
    ui.result(&format!("wrote {shown}\n"));
    ui.json("wrote", &Wrote { path: shown });
    Ok(0)
}

fn write_graph(session: &Session, graph: &Graph, out: Option<PathBuf>) -> Result<PathBuf, Failure> {
    let environment = session.environment().to_string();
    let path = out.unwrap_or_else(|| {
        session.project.root.join(FOLDER).join(&environment).join(format!("{}.json", session.target()))
    });
    let compiled =
        Compiled { format: 2, project: &session.project.name, environment, target: session.target(), graph };
    // These types always serialise.
    let mut text = serde_json::to_string_pretty(&compiled).unwrap_or_default();
    text.push('\n');
    let world = session.project.world();
    let files = &world.files;
    let write = || {
        if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
            files.ensure_folder(folder)?;
        }
        let unique = world.entropy.uuid()?;
        files.write_atomically(&path, text.as_bytes(), 0o644, &unique)
    };
    write().map_err(|error| {
        let message = format!("cannot write {}: {error}", path.display());
        Failure::new(Kind::Failed, Diagnostic::error(Code::STORE, message))
    })?;
    Ok(path)
}
