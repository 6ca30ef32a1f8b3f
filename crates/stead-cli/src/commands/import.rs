//! `stead import`: imports an existing resource into the stack, and prints its declaration.

mod all;

use serde::Serialize;
use stead::Notice;
use stead::ops::{Import, ListScope, ListedResource, OpError, OpEvent, Undeclared};

use stead_model::{Code, Diagnostic, Map, Text, Value};

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
    if let Some(ty) = &arguments.list {
        return list(session, ty, arguments, ui).await;
    }
    if arguments.all {
        return all::import_all(session, arguments, ui).await;
    }
    if arguments.unowned {
        let problem = Diagnostic::error(Code::USAGE, "`--unowned` belongs to `--list` and `--all`");
        return Err(OpError::invalid(problem).into());
    }
    let (Some(ty), Some(name), Some(id)) = (&arguments.ty, &arguments.name, &arguments.id) else {
        let problem = Diagnostic::error(Code::USAGE, "an import needs a type, a name and an id");
        return Err(OpError::invalid(problem).into());
    };
    let workspace = &session.workspace;
    let show_notice = |notice: Notice<'_>| ui.notice(&notice);
    let program = session.program(session.levels_without_flags(), &show_notice);
    let import = Import::new(workspace, ty, name, id)?.served_by(arguments.provider.clone());
    let settings = (session.wait, arguments.owners.globs());
    let preview = async |events: &mut dyn FnMut(OpEvent)| {
        workspace.preview_import(&program, &import, settings, events).await
    };
    let proposal = ui.shown(preview).await?;
    let typescript = proposal.undeclared().first().map(|Undeclared { name, ty, inputs }| {
        stead_render::declaration(name, ty, workspace.engine.catalog.get(ty), inputs)
    });
    show_plan(session, &proposal, ui);
    let code = apply_plan(session, proposal, "Import this resource into the stack?", ui).await?;
    if let Some(typescript) = typescript {
        ui.note("The program does not declare the resource yet. Add this declaration:");
        if let Some(provider) = &arguments.provider {
            ui.note(&format!("Its provider is {provider}: declare it with the option `provider`."));
        }
        ui.result(&format!("\n{typescript}"));
        ui.json("declaration", &Declaration { typescript });
    }
    Ok(code)
}

#[derive(Serialize)]
struct ListLine<'a> {
    id: &'a str,
    recorded_as: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    unread: Option<&'a str>,
}

/// Lists the resources of a type that exist.
async fn list(session: &Session, ty: &str, arguments: &ImportArguments, ui: &Ui) -> Result<u8, Failure> {
    let scope = if arguments.unowned { ListScope::Unowned } else { ListScope::All };
    let parent = parent(&arguments.parent)?;
    let provider = arguments.provider.as_deref();
    let listed = session.workspace.list_resources(ty, scope, &parent, provider).await?;
    for ListedResource { id, recorded_as, unread } in &listed {
        let name = recorded_as.as_ref().map(|name| name.short().to_owned());
        let remark = name.as_ref().map(|name| format!("  {name}")).unwrap_or_default();
        ui.result(&format!("{id}{remark}\n"));
        let unread = unread.as_deref();
        ui.json("existing", &ListLine { id: id.as_str(), recorded_as: name, unread });
        if let Some(reason) = unread {
            ui.note(&format!("{id} may have an owner, because it cannot be read: {reason}"));
        }
    }
    if listed.is_empty() {
        ui.note("There is none.");
    }
    Ok(0)
}

/// Reads the properties of a parent, each as KEY=VALUE.
fn parent(given: &[String]) -> Result<Map, OpError> {
    let property = |text: &String| match text.split_once('=').filter(|(key, _)| !key.is_empty()) {
        Some((key, value)) => Ok((Text::from(key), Value::from(value))),
        None => {
            let problem = Diagnostic::error(Code::USAGE, format!("{text:?} is no property with a value"));
            Err(OpError::invalid(problem.help("write it as `--parent ClusterName=main`")))
        }
    };
    given.iter().map(property).collect()
}
