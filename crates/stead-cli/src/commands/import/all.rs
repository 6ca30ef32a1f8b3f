//! `stead import --all`: imports what exists, and writes the TypeScript for it.
//!
//! The declarations are written before the run, so that it records the resources as declared. **Invariant:** a run that does more
//! than import is not started, and a run that is refused leaves no file behind.

use std::path::{Path, PathBuf};

use serde::Serialize;
use stead::ops::{Import, ListScope, OpError, OpEvent, Permitted};
use stead::plan::Action;
use stead::{Existing, ExistingRequest, ExistingSurvey, Notice, existing};
use stead_model::{Code, Diagnostic, Name, PhysicalId, TypeToken};
use stead_render::{Link, linked_declaration};

use crate::args::ImportArguments;
use crate::commands::run::apply_confirmed;
use crate::commands::types::Wrote;
use crate::confirm::confirm;
use crate::failure::Failure;
use crate::session::Session;
use crate::ui::Ui;

const HEADER: &str = "import * as aws from \"stead/aws\";\n";

/// Types that cannot be listed, up to which each is named.
const NAMED: usize = 5;

#[derive(Serialize)]
struct ImportableLine<'a> {
    name: &'a Name,
    #[serde(rename = "type")]
    ty: &'a TypeToken,
    id: &'a PhysicalId,
    /// Why it is imported without a declaration.
    incomplete: Option<&'a str>,
}

#[derive(Serialize)]
struct UnlistedLine<'a> {
    #[serde(rename = "type")]
    ty: &'a TypeToken,
    reason: &'a str,
}

#[derive(Serialize)]
struct Declarations<'a> {
    typescript: &'a str,
}

/// A file to write, and its text before.
struct Draft {
    path: PathBuf,
    before: Option<String>,
    text: String,
}

pub(super) async fn import_all(
    session: &Session,
    arguments: &ImportArguments,
    ui: &Ui,
) -> Result<u8, Failure> {
    let main = Path::new(&session.project.main);
    let file = match &arguments.out {
        Some(file) => PathBuf::from(file),
        None => main.with_file_name("imported.ts"),
    };
    let module = module_of(&file)?;
    let before = read(session, &file)?;
    let types = [&arguments.ty, &arguments.name, &arguments.id].into_iter().flatten().chain(&arguments.more);
    let request = ExistingRequest {
        types: types.cloned().collect(),
        scope: if arguments.unowned { ListScope::Unowned } else { ListScope::All },
        tag: arguments.tag.as_ref().map(|tag| match tag.split_once('=') {
            Some((key, value)) => (key.to_owned(), Some(value.to_owned())),
            None => (tag.clone(), None),
        }),
        module,
        written: before.clone().unwrap_or_default(),
    };
    let survey = existing(&session.workspace, &request).await?;
    show_gaps(&survey, &request, ui);
    if survey.found.is_empty() {
        ui.note(&format!("There is nothing to import; {} of these resources are recorded.", survey.recorded));
        return Ok(0);
    }
    show_found(session, &survey, ui);
    let typescript = declarations(&survey.found);
    if arguments.dry_run {
        ui.result(&format!("\n{HEADER}\n{typescript}"));
        ui.json("declaration", &Declarations { typescript: &typescript });
        return Ok(0);
    }
    let drafts = drafts(session, &file, before, &typescript)?;
    let files: Vec<String> = drafts.iter().map(|draft| draft.path.display().to_string()).collect();
    let question =
        format!("Import these {} resources, and write {}?", survey.found.len(), files.join(" and "));
    confirm(session, ui, &question)?;
    drafts.iter().try_for_each(|draft| draft.write(session))?;
    match run(session, arguments, &survey.found, ui).await {
        Ok(permitted) => {
            for path in files {
                ui.result(&format!("wrote {path}\n"));
                ui.json("wrote", &Wrote { path });
            }
            let result = apply_confirmed(session, permitted, ui).await;
            if result.is_err() && nothing_recorded(session, &survey.found).await {
                drafts.iter().try_for_each(|draft| draft.undo(session))?;
                ui.note("The files are as they were.");
            }
            result
        }
        Err(failure) => {
            drafts.iter().try_for_each(|draft| draft.undo(session))?;
            Err(failure)
        }
    }
}

/// Returns true if the stack is known to record none of the resources.
async fn nothing_recorded(session: &Session, found: &[Existing]) -> bool {
    let loaded = session.workspace.load().await;
    loaded.is_ok_and(|loaded| found.iter().all(|one| loaded.state.by_name(&one.import.name).is_none()))
}

/// Plans the imports with the declarations in place, and asks the guards.
async fn run(
    session: &Session,
    arguments: &ImportArguments,
    found: &[Existing],
    ui: &Ui,
) -> Result<Permitted, Failure> {
    let imports: Vec<Import> = found.iter().map(|existing| existing.import.clone()).collect();
    let show_notice = |notice: Notice<'_>| ui.notice(&notice);
    let program = session.program(session.levels_without_flags(), &show_notice);
    let settings = (session.wait, arguments.owners.globs());
    let preview = async |events: &mut dyn FnMut(OpEvent)| {
        session.workspace.preview_imports(&program, &imports, settings, events).await
    };
    let proposal = ui.shown(preview).await?;
    let is_import =
        |action: &Action| matches!(action, Action::Import { .. } | Action::Record { .. } | Action::Barrier);
    let others = proposal.plan().steps.iter().filter(|step| !is_import(&step.action));
    let others: Vec<String> = others.map(|step| step.name.short().to_owned()).collect();
    if !others.is_empty() {
        let message = "the declarations that were read would change resources";
        let problem = Diagnostic::error(Code::CANNOT_IMPORT, message)
            .note(format!(
                "These would change, because the target adds tags to them or because a service describes them in another way than \
                 it accepts: {}.",
                others.join(", ")
            ))
            .note("Nothing was recorded or written.")
            .help("import the other types, or import each of these alone");
        return Err(OpError::refused(problem).into());
    }
    Ok(proposal.permit()?)
}

/// Names the types and resources that are left out.
fn show_gaps(survey: &ExistingSurvey, request: &ExistingRequest, ui: &Ui) {
    let ExistingSurvey { unlisted, unread, .. } = survey;
    unlisted.iter().for_each(|(ty, reason)| ui.json("unlisted", &UnlistedLine { ty, reason }));
    if request.types.is_empty() && unlisted.len() > NAMED {
        ui.note(&format!(
            "{} types cannot be listed, most of them because their parent is not known; name one of them to see why.",
            unlisted.len()
        ));
    } else {
        for (ty, reason) in unlisted {
            ui.note(&format!("{ty} cannot be listed: {reason}"));
        }
    }
    for (ty, id, reason) in unread {
        ui.note(&format!("{ty} {id} cannot be read: {reason}"));
    }
}

fn show_found(session: &Session, survey: &ExistingSurvey, ui: &Ui) {
    for Existing { import: Import { name, ty, id, .. }, incomplete, .. } in &survey.found {
        ui.result(&format!("{}  {id}\n", name.shown_in(session.environment())));
        ui.json("importable", &ImportableLine { name, ty, id, incomplete: incomplete.as_deref() });
        if let Some(reason) = incomplete {
            ui.note(&format!(
                "{} gets no declaration, because it would be incomplete: {reason}",
                name.short()
            ));
        }
    }
}

/// Renders the declarations. A resource whose declaration would be incomplete is a comment.
fn declarations(found: &[Existing]) -> String {
    let mut text = String::new();
    for existing in found {
        let Existing { import: Import { name, ty, .. }, variable, inputs, incomplete, references } = existing;
        let link = |key: &str, wanted: &str| {
            let found =
                references.iter().find(|reference| reference.key == key && reference.text == wanted)?;
            Some(Link { variable: &found.variable, property: &found.property, value: &found.value })
        };
        let written = linked_declaration(variable, name, ty, inputs, &link);
        match incomplete {
            None => text.push_str(&written),
            Some(reason) => {
                text.push_str(&format!(
                    "// Incomplete: {reason}. Add what is missing, and remove the slashes.\n"
                ));
                written.lines().for_each(|line| text.push_str(&format!("// {line}\n")));
            }
        }
        text.push('\n');
    }
    text
}

/// Returns the files to write: the declarations, and the entry point if it does not import them yet.
fn drafts(
    session: &Session,
    file: &Path,
    before: Option<String>,
    typescript: &str,
) -> Result<Vec<Draft>, Failure> {
    let old = before.clone().unwrap_or_else(|| HEADER.to_owned());
    let text = format!("{}\n\n{}\n", old.trim_end(), typescript.trim_end());
    let mut drafts = vec![Draft { path: file.to_owned(), before, text }];
    let main = PathBuf::from(&session.project.main);
    if main == file {
        return Ok(drafts);
    }
    let folder = main.parent().unwrap_or(Path::new(""));
    let module = file.strip_prefix(folder).unwrap_or(file).with_extension("");
    let import = format!("import \"./{}\";", module.display());
    let entry = read(session, &main)?.unwrap_or_default();
    if !entry.lines().any(|line| line.trim() == import) {
        let text = format!("{import}\n{entry}");
        drafts.push(Draft { path: main, before: Some(entry), text });
    }
    Ok(drafts)
}

/// Returns the module that a file is: `lib/net` for `lib/net.ts`.
fn module_of(file: &Path) -> Result<String, Failure> {
    let is_inside = file.is_relative() && !file.components().any(|part| part.as_os_str() == "..");
    match file.extension().filter(|_| is_inside).and_then(|extension| extension.to_str()) {
        Some("ts") => Ok(file.with_extension("").display().to_string()),
        _ => {
            let message = format!("{} is no file of TypeScript in the project", file.display());
            Err(Diagnostic::error(Code::USAGE, message)
                .help("give a path from the root of the project, such as imported.ts")
                .into())
        }
    }
}

fn read(session: &Session, file: &Path) -> Result<Option<String>, Failure> {
    let files = &session.workspace.stack.world.files;
    let path = session.project.root.join(file);
    let text = match files.metadata(&path) {
        Ok(None) => return Ok(None),
        Ok(Some(_)) => files.read(&path),
        Err(error) => Err(error),
    };
    let text = text.and_then(|bytes| String::from_utf8(bytes).map_err(std::io::Error::other));
    text.map(Some).map_err(|error| unusable(&path, &error))
}

impl Draft {
    fn write(&self, session: &Session) -> Result<(), Failure> {
        self.put(session, &self.text)
    }

    /// Restores the text before, or removes the file.
    fn undo(&self, session: &Session) -> Result<(), Failure> {
        match &self.before {
            Some(before) => self.put(session, before),
            None => {
                let path = session.project.root.join(&self.path);
                session
                    .workspace
                    .stack
                    .world
                    .files
                    .remove_file(&path)
                    .map_err(|error| unusable(&path, &error))
            }
        }
    }

    fn put(&self, session: &Session, text: &str) -> Result<(), Failure> {
        const MODE: u32 = 0o644;
        let path = session.project.root.join(&self.path);
        let files = &session.workspace.stack.world.files;
        files
            .write_atomically(&path, text.as_bytes(), MODE, "import")
            .map_err(|error| unusable(&path, &error))
    }
}

fn unusable(path: &Path, error: &std::io::Error) -> Failure {
    let message = format!("cannot use {}: {error}", path.display());
    OpError::refused(Diagnostic::error(Code::STORE, message)).into()
}
