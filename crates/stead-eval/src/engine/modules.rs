//! Gives the engine the modules of a program: the prelude's from bytecode, the program's from compiled code.

use std::collections::HashMap;

use rquickjs::loader::{ImportAttributes, Loader, Resolver};
use rquickjs::module::Declared;
use rquickjs::{Ctx, Error, Module};

use super::prelude;

/// Resolves imports from the links that loading recorded.
pub(super) struct ImportResolver(pub(super) HashMap<(String, String), String>);

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
        let link = self.0.get(&(base.to_owned(), name.to_owned()));
        link.cloned().ok_or_else(|| Error::new_resolving(base, name))
    }
}

/// Loads modules of the prelude and of the program.
pub(super) struct ModuleLoader(pub(super) HashMap<String, String>);

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
        let code = self.0.remove(name).ok_or_else(|| Error::new_loading(name))?;
        Module::declare(ctx.clone(), name, code)
    }
}
