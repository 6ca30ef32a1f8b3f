//! `stead find`: finds recorded resources by id, ARN, path or another value, in every stack of the store. Reads only.

use stead::{FoundAs, FoundResource, Search};
use stead_model::{Code, Diagnostic};
use stead_render::Paint;

use crate::args::{Common, FindArguments};
use crate::failure::{Failure, Kind};
use crate::session::Session;
use crate::ui::Ui;
use crate::wiring;

pub(crate) async fn find(
    common: &Common,
    session: &Session,
    arguments: &FindArguments,
    ui: &Ui,
) -> Result<u8, Failure> {
    let folder = common.directory.clone().unwrap_or_else(wiring::current_folder);
    let folder = session.project.world().files.absolute(&folder).unwrap_or(folder);
    let search = stead::search(&session.project, &session.workspace, &arguments.wanted, &folder).await?;
    let Search { found, unreadable, stacks } = &search;
    for (stack, reason) in unreadable {
        ui.note(&format!(
            "not searched: {} · environment {} · target {}: {reason}",
            stack.project, stack.environment, stack.target
        ));
    }
    for resource in found {
        ui.json("found", resource);
        ui.result(&describe(resource, ui));
    }
    if !found.is_empty() {
        return Ok(0);
    }
    let stacks = if *stacks == 1 { "1 stack was".to_owned() } else { format!("{stacks} stacks were") };
    let message = format!("no resource in state has {:?}", arguments.wanted);
    let problem = Diagnostic::error(Code::NOT_FOUND, message).note(format!("{stacks} searched."));
    let problem = problem.help("give the whole id, ARN or path, as `stead state show` prints it");
    Err(Failure::new(Kind::Failed, problem))
}

fn describe(resource: &FoundResource, ui: &Ui) -> String {
    let style = ui.out_style();
    let FoundResource { stack, name, ty, id, standing, source, property } = resource;
    let id = id.as_ref().map_or("(none)", |id| id.as_str());
    let by = property.as_ref().map(|property| format!("  found by {property}\n")).unwrap_or_default();
    let declared = source.as_ref().map(|source| format!("  declared  {source}\n")).unwrap_or_default();
    let standing = match standing {
        FoundAs::Recorded => "",
        FoundAs::Condemned => "  state     replaced, and still to be deleted\n",
        FoundAs::Pending => "  state     of an unfinished operation\n",
        FoundAs::Retained => "  state     retained: the stack no longer manages it\n",
    };
    format!(
        "{}\n  stack     {} · environment {} · target {}\n  type      {ty}\n  id        {id}\n{standing}{declared}{by}",
        style.paint(Paint::Strong, &name.to_string()),
        stack.project,
        stack.environment,
        stack.target,
    )
}
