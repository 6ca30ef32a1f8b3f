//! Gives the engine the modules of a program: the prelude's from bytecode, the program's from compiled code.

use rquickjs::loader::{ImportAttributes, Loader, Resolver};
use rquickjs::module::Declared;
use rquickjs::{Ctx, Error, Module};

use super::prelude;
use crate::engine::values::define;
use crate::host::SharedSession;
use crate::program::specifier::PROJECT;

/// Resolves imports from the links that loading recorded.
pub(super) struct ImportResolver(pub(super) SharedSession);

impl Resolver for ImportResolver {
    fn resolve<'js>(
        &mut self,
        _: &Ctx<'js>,
        base: &str,
        name: &str,
        _: Option<ImportAttributes<'js>>,
    ) -> rquickjs::Result<String> {
        // The header of every module and the prelude itself import modules of the prelude.
        if prelude::has(name) {
            return Ok(name.to_owned());
        }
        let session = self.0.borrow();
        let loaded = session.loader.as_ref().map(|loader| &loader.out);
        let link = loaded.and_then(|loaded| loaded.links.get(&(base.to_owned(), name.to_owned())));
        link.cloned().ok_or_else(|| Error::new_resolving(base, name))
    }
}

/// Loads modules of the prelude and of the program.
pub(super) struct ModuleLoader(pub(super) SharedSession);

impl Loader for ModuleLoader {
    fn load<'js>(
        &mut self,
        ctx: &Ctx<'js>,
        name: &str,
        _: Option<ImportAttributes<'js>>,
    ) -> rquickjs::Result<Module<'js, Declared>> {
        if let Some(module) = prelude::load(ctx, name) {
            return module;
        }
        let code = self.0.borrow_mut().loader.as_mut().and_then(|loader| loader.out.code.remove(name));
        declare(ctx, name, code.ok_or_else(|| Error::new_loading(name))?)
    }
}

/// Declares a module of the program, with the members of `import.meta` that Node.js gives it.
pub(super) fn declare<'js>(
    ctx: &Ctx<'js>,
    path: &str,
    code: String,
) -> rquickjs::Result<Module<'js, Declared>> {
    let module = Module::declare(ctx.clone(), path, code)?;
    let (folder, _) = path.rsplit_once('/').unwrap_or(("", path));
    let meta = module.meta()?;
    define(&meta, "url", format!("file://{PROJECT}/{path}"))?;
    define(&meta, "filename", format!("{PROJECT}/{path}"))?;
    define(&meta, "dirname", format!("{PROJECT}/{folder}").trim_end_matches('/'))?;
    Ok(module)
}
