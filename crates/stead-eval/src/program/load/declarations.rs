//! Imports that only declare types: a `.d.ts` file, a package without code, or a package in `node_modules/@types`.
//!
//! TypeScript accepts such an import without the word `type`. It has no code to run, so the loader skips it if no binding of
//! it is used as a value.

use super::Loader;
use crate::compile::Needs;
use crate::program::specifier::{self, Specifier, is_declaration};

/// Module without code, in place of one that only declares types.
pub(super) const EMPTY_MODULE: &str = "stead:declarations";

impl Loader {
    /// Returns the declaration file of an import whose module does not exist; `None` if there is none.
    pub(super) fn declaration_of(&self, base: &str, written: &str) -> Option<String> {
        let files = match specifier::parse(base, written) {
            Specifier::Files(path) => {
                let own = is_declaration(&path).then(|| path.clone());
                own.into_iter().chain(specifier::declarations(&path)).collect()
            }
            Specifier::Node(module) => self.resolver.packages.declarations(base, "node", &module),
            Specifier::Package(package) => {
                let (name, subpath) = crate::program::manifest::split(&package)?;
                self.resolver.packages.declarations(base, name, subpath)
            }
            Specifier::Stead | Specifier::Provider(_) | Specifier::Outside => Vec::new(),
        };
        files.into_iter().find(|path| matches!(self.requester.read(path), Ok(Some(_))))
    }

    /// Returns the empty module for an import that needs no exports.
    pub(super) fn empty_module(&mut self, needs: Needs) -> Option<String> {
        if needs == Needs::Exports {
            return None;
        }
        self.out.code.entry(EMPTY_MODULE.to_owned()).or_insert_with(|| "export {};".to_owned());
        Some(EMPTY_MODULE.to_owned())
    }
}
