//! `stead import`: imports an existing resource into the stack, and prints its declaration.

use serde::Serialize;
use stead::Notice;
use stead::ops::{Import, Undeclared};

use crate::args::ImportArguments;
use crate::commands::run::{apply_plan, show_plan};
use crate::failure::Failure;
use crate::session::Session;
use crate::ui::Ui;

#[derive(Serialize)]
struct Declaration {
    typescript: String,
}

pub(crate) async fn import(session: &Session, arguments: &ImportArguments, ui: &Ui) -> Result<u8, Failure> {
    let workspace = &session.workspace;
    let show_notice = |notice: Notice<'_>| ui.notice(&notice);
    let program = session.program(session.levels_without_flags(), &show_notice);
    let import = Import::new(workspace, &arguments.ty, &arguments.name, &arguments.id)?;
    let settings = (session.wait, arguments.owners.globs());
    let proposal = workspace.preview_import(&program, &import, settings, &mut ui.listener()).await?;
    let typescript = proposal.undeclared().map(|Undeclared { name, ty, inputs }| {
        stead_render::declaration(name, ty, workspace.engine.catalog.get(ty), inputs)
    });
    show_plan(session, &proposal, ui);
    let code = apply_plan(session, proposal, "Import this resource into the stack?", ui).await?;
    if let Some(typescript) = typescript {
        ui.note("The program does not declare the resource yet. Add this declaration:");
        ui.result(&format!("\n{typescript}"));
        ui.json("declaration", &Declaration { typescript });
    }
    Ok(code)
}
