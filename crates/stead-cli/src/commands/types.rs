//! `stead types`: writes type declarations for the editor, of `stead` and of every provider of the project.

use std::path::{Path, PathBuf};

use serde::Serialize;
use stead_model::{Code, Diagnostic};
use stead_schema::{Catalog, declarations};
use stead_world::{FileKind, World};

use crate::failure::{Failure, Kind};
use crate::session::Session;
use crate::ui::Ui;

/// Line of JSON for a written file.
#[derive(Serialize)]
pub(crate) struct Wrote {
    pub path: String,
}

/// Folder of the declarations, below the project; `tsconfig.json` refers to it.
pub(crate) const FOLDER: &str = ".stead/types";

/// Provider whose many types are declared only if the program imports it.
pub(crate) const PUBLISHED: &str = "aws";

pub(crate) fn types(session: &Session, ui: &Ui) -> Result<u8, Failure> {
    let mut providers: Vec<&str> = session.workspace.engine.providers.names().collect();
    if !providers.contains(&PUBLISHED)
        && mentions(session.project.world(), &session.project.root, "stead/aws")
    {
        providers.push(PUBLISHED);
    }
    let written =
        write(session.project.world(), &session.project.root, &providers, &session.workspace.engine.catalog)?;
    for path in written {
        ui.result(&format!("wrote {}\n", path.display()));
        ui.json("wrote", &Wrote { path: path.display().to_string() });
    }
    Ok(0)
}

/// Returns true if a source file below the folder contains the text.
fn mentions(world: &World, folder: &Path, text: &str) -> bool {
    let names = world.files.list(folder).unwrap_or_default();
    names.iter().filter(|name| !name.starts_with('.') && *name != "node_modules").any(|name| {
        let path = folder.join(name);
        match world.files.metadata(&path) {
            Ok(Some(found)) if found.kind == FileKind::Directory => mentions(world, &path, text),
            Ok(Some(_)) if name.ends_with(".ts") || name.ends_with(".js") => {
                world.files.read(&path).is_ok_and(|bytes| String::from_utf8_lossy(&bytes).contains(text))
            }
            _ => false,
        }
    })
}

pub(crate) fn write(
    world: &World,
    root: &Path,
    providers: &[&str],
    catalog: &Catalog,
) -> Result<Vec<PathBuf>, Failure> {
    let folder = root.join(FOLDER);
    let mut files = vec![
        (folder.join("stead.d.ts"), stead::DECLARATIONS.to_owned()),
        (folder.join("stead").join("test.d.ts"), stead::testing::TEST_DECLARATIONS.to_owned()),
    ];
    for provider in providers {
        let text = declarations(catalog.of_provider(provider));
        files.push((folder.join("stead").join(format!("{provider}.d.ts")), text));
    }
    let mut written = Vec::new();
    for (path, text) in files {
        write_file(world, &path, &text)?;
        written.push(path);
    }
    Ok(written)
}

pub(crate) fn write_file(world: &World, path: &Path, text: &str) -> Result<(), Failure> {
    let write = || {
        let unique = world.entropy.uuid()?;
        if let Some(folder) = path.parent() {
            world.files.ensure_folder(folder)?;
        }
        world.files.write_atomically(path, text.as_bytes(), 0o644, &unique)
    };
    write().map_err(|error| {
        let message = format!("cannot write {}: {error}", path.display());
        Failure::new(Kind::Failed, Diagnostic::error(Code::STORE, message))
    })
}
