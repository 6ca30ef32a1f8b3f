//! Compiles the prelude to bytecode of the engine. Parsing it as text would dominate the run time of short programs.
//!
//! **Invariant:** the engine that compiles the bytecode is the one that runs it: same version, features and byte order.

#![allow(clippy::disallowed_methods, clippy::disallowed_types, reason = "a build script does not ship")]

use std::path::{Path, PathBuf};
use std::{env, fmt::Write, fs};

use rquickjs::loader::{BuiltinLoader, BuiltinResolver};
use rquickjs::{Context, Module, Runtime, WriteOptions};

/// Modules of the prelude with their files in `src/prelude`.
const MODULES: &[(&str, &str)] = &[
    ("stead:host", "host.js"),
    ("stead:unknown", "unknown.js"),
    ("stead:scope", "scope.js"),
    ("stead:resource", "resource.js"),
    ("stead:node-of", "node-of.js"),
    ("stead:runtime", "runtime.js"),
    ("stead:iterate", "iterate.js"),
    ("stead:defer", "defer.js"),
    ("stead:apply", "apply.js"),
    ("stead:branches", "branches.js"),
    ("stead:code", "code.js"),
    ("stead:commonjs", "commonjs.js"),
    ("stead:proxy", "proxy.js"),
    ("stead:text", "text.js"),
    ("stead:builtins", "builtins.js"),
    ("stead:guards", "guards.js"),
    ("stead:console", "console.js"),
    ("stead:encoding", "encoding.js"),
    ("stead:text-encoding", "text-encoding.js"),
    ("stead:files", "files.js"),
    ("stead:external", "external.js"),
    ("stead:config", "config.js"),
    ("stead:config-schema", "config-schema.js"),
    ("stead:library", "library.js"),
    ("stead:template", "template.js"),
    ("stead:limits", "limits.js"),
    ("stead:sort", "sort.js"),
    ("stead:clone", "clone.js"),
    ("stead:date", "date.js"),
    ("stead:date-parse", "date-parse.js"),
    ("stead:number", "number.js"),
    ("stead:locale", "locale.js"),
    ("stead:intl", "intl.js"),
    ("stead:intl-locale", "intl-locale.js"),
    ("stead:intl-number", "intl-number.js"),
    ("stead:intl-date", "intl-date.js"),
    ("stead:intl-collate", "intl-collate.js"),
    ("stead:intl-segment", "intl-segment.js"),
    ("stead:url-parse", "url-parse.js"),
    ("stead:url", "url.js"),
    ("stead:decorate/helpers/decorate", "decorate.js"),
    ("stead:decorate/helpers/decorateParam", "decorate-param.js"),
    ("stead:sandbox", "sandbox.js"),
    ("stead:names", "names.js"),
    ("stead", "stead.js"),
    ("stead:test-values", "test-values.js"),
    ("stead:expect", "expect.js"),
    ("stead:test-program", "test-program.js"),
    ("stead:test-stack", "test-stack.js"),
    ("stead/test", "test.js"),
];

type Failure = Box<dyn std::error::Error>;

fn main() -> Result<(), Failure> {
    let target = env::var("CARGO_CFG_TARGET_ENDIAN")?;
    let here = if cfg!(target_endian = "little") { "little" } else { "big" };
    if target != here {
        return Err(format!(
            "cannot compile the prelude on a {here}-endian machine for a {target}-endian target"
        )
        .into());
    }
    let out = PathBuf::from(env::var("OUT_DIR")?);
    let mut sources = Vec::new();
    for (module, file) in MODULES {
        let path = Path::new("src/prelude").join(file);
        println!("cargo::rerun-if-changed={}", path.display());
        sources.push((*module, fs::read_to_string(&path).map_err(|error| format!("{file}: {error}"))?));
    }
    let mut table = "pub(crate) const MODULES: &[(&str, &[u8])] = &[\n".to_owned();
    for (module, file) in MODULES {
        let code = compile(module, &sources).map_err(|error| format!("{file}: {error}"))?;
        let name = file.trim_end_matches(".js");
        fs::write(out.join(format!("{name}.bin")), code)?;
        writeln!(table, "    ({module:?}, include_bytes!(concat!(env!(\"OUT_DIR\"), \"/{name}.bin\"))),")?;
    }
    table.push_str("];\n");
    fs::write(out.join("prelude.rs"), table)?;
    Ok(())
}

/// Returns one module as bytecode. Its imports are resolved from the same sources.
fn compile(name: &str, sources: &[(&str, String)]) -> Result<Vec<u8>, Failure> {
    let runtime = Runtime::new()?;
    let (mut resolver, mut loader) = (BuiltinResolver::default(), BuiltinLoader::default());
    for (module, source) in sources.iter().filter(|(module, _)| *module != name) {
        resolver.add_module(*module);
        loader.add_module(*module, source.as_str());
    }
    resolver.add_module(name);
    runtime.set_loader(resolver, loader);
    let source = sources.iter().find(|(module, _)| *module == name).map(|(_, source)| source.as_str());
    Context::full(&runtime)?.with(|ctx| {
        let compiled = Module::declare(ctx.clone(), name, source.unwrap_or_default())
            .and_then(|module| module.write(WriteOptions { strip_source: true, ..Default::default() }));
        compiled.map_err(|error| match error {
            rquickjs::Error::Exception => format!("{:?}", ctx.catch()).into(),
            error => error.into(),
        })
    })
}
