//! `stead init`: creates a project that is ready to plan, with types for the editor.

use std::path::Path;

use stead::{FILE, local_catalog};
use stead_model::{Code, Diagnostic};
use stead_world::World;

use crate::args::Common;
use crate::commands::types;
use crate::failure::{Failure, Kind};
use crate::ui::Ui;
use crate::wiring;

const MAIN: &str = include_str!("init/main.ts");
const TSCONFIG: &str = include_str!("init/tsconfig.json");
const GITIGNORE: &str = "# state, the embedded cloud, claims and generated types\n.stead/\n";
const TARGET: &str = "\
# Where the program is applied: an embedded cloud in .stead/, which needs no account. `-t aws` applies it to AWS.
target = \"sim\"
";
const CONFIG: &str = "\
# Values that the program reads with `config`. [env.prod.config] overrides them in prod.
[config]
timeout = 30
";

pub(crate) fn init(common: &Common, name: Option<String>, ui: &Ui) -> Result<u8, Failure> {
    let world = wiring::world();
    let folder = common.directory.clone().unwrap_or_else(wiring::current_folder);
    let root = world.files.absolute(&folder).unwrap_or(folder);
    let name = name
        .or_else(|| root.file_name().map(|name| name.to_string_lossy().into_owned()))
        .filter(|name| !name.is_empty())
        .unwrap_or_else(|| "project".to_owned());
    if let Ok(Some(_)) = world.files.metadata(&root.join(FILE)) {
        let message = format!("{} already exists", root.join(FILE).display());
        let problem = Diagnostic::error(Code::WOULD_OVERWRITE, message).note("Nothing was written.");
        return Err(Failure::new(
            Kind::Usage,
            problem.help("`stead types` writes only the type declarations again"),
        ));
    }
    let settings = format!(
        "# Name of the project, and part of the path of its state.\nproject = {}\nmain = \"main.ts\"\n\n{TARGET}\n{CONFIG}",
        toml_string(&name)
    );
    let files = [
        ("main.ts", MAIN.to_owned()),
        ("tsconfig.json", TSCONFIG.to_owned()),
        (".gitignore", GITIGNORE.to_owned()),
        // Last, because this file makes the folder a project.
        (FILE, settings),
    ];
    for (file, text) in files {
        let path = root.join(file);
        match world.files.metadata(&path) {
            Ok(None) => {
                types::write_file(&world, &path, &text)?;
                ui.result(&format!("wrote {file}\n"));
                ui.json("wrote", &types::Wrote { path: file.to_owned() });
            }
            _ => {
                ui.result(&format!("kept {file}\n"));
                if file == "tsconfig.json" {
                    advise_on_tsconfig(&world, &path, ui);
                }
            }
        }
    }
    let catalog = local_catalog(&world, &root).with_published();
    types::write(&world, &root, &["local", types::PUBLISHED], &catalog)?;
    ui.result(&format!("wrote {}/\n\nNext: stead plan, then stead up.\n", types::FOLDER));
    Ok(0)
}

/// Says what an existing `tsconfig.json` needs, so that the editor finds the types of `stead`.
fn advise_on_tsconfig(world: &World, path: &Path, ui: &Ui) {
    let text = world.files.read(path).unwrap_or_default();
    if String::from_utf8_lossy(&text).contains(types::FOLDER) {
        return;
    }
    let lines = TSCONFIG.lines().skip_while(|line| !line.contains("\"paths\"")).take(4);
    let paths: Vec<String> = lines.map(|line| line.trim_end().to_owned()).collect();
    ui.note(&format!(
        "tsconfig.json is not changed. Add this to its \"compilerOptions\", so that the editor finds `stead`:\n\n{}\n",
        paths.join("\n")
    ));
}

/// Quotes a name for TOML, whose basic strings are JSON strings for all characters of a name.
fn toml_string(text: &str) -> String {
    serde_json::to_string(text).unwrap_or_default()
}
