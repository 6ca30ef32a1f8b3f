//! Errors of files that cannot be loaded, with the chain of imports that leads to them.

use oxc_span::Span;
use stead_model::{Code, Diagnostic};

use super::Loader;
use crate::program::packages::COMMONJS_HELP;
use crate::program::source_text::SourceText;

/// Maximum number of imports that are followed back from a package file to the program.
const MAX_IMPORT_CHAIN: usize = 1000;

impl Loader<'_> {
    /// Adds notes about the import chain to an error in a package file.
    pub(super) fn with_import_chain(&self, path: &str, problem: Diagnostic) -> Diagnostic {
        let Some((_, package)) = self.packages.package_of(path) else { return problem };
        let mut way = Vec::new();
        let (mut at, mut of) = (path, package.clone());
        for _ in 0..MAX_IMPORT_CHAIN {
            let Some((source, span)) = self.importers.get(at) else { break };
            let place = source.locate(*span).at;
            match self.packages.package_of(&source.path) {
                Some((_, by)) if by == of => {}
                Some((_, by)) => {
                    way.push(format!("`{by}` imports `{of}` at {place}"));
                    of = by;
                }
                None => {
                    way.push(format!("the program imports `{of}` at {place}"));
                    break;
                }
            }
            at = &source.path;
        }
        let problem = problem.note(format!("the file belongs to the package `{package}`"));
        way.into_iter().fold(problem, Diagnostic::note)
    }

    pub(super) fn commonjs(&self, source: &SourceText, span: Span) -> Diagnostic {
        let place = source.locate(span);
        let problem = match self.packages.package_of(&source.path) {
            Some((_, package)) => {
                let message = format!("the package `{package}` is CommonJS, which is not supported");
                Diagnostic::error(Code::UNSUPPORTED_IMPORT, message).help(COMMONJS_HELP)
            }
            None => {
                let message = format!("`{}` is CommonJS, which is not supported", source.path);
                Diagnostic::error(Code::UNSUPPORTED_IMPORT, message)
                    .help("write `import` instead of `require`, and `export` instead of `module.exports`")
            }
        };
        self.with_import_chain(&source.path, problem.at(place.at, place.length, "here"))
    }
}

pub(super) fn node_module(specifier: &str, module: &str) -> Diagnostic {
    let help = match module {
        "fs" => "use `readText`, `file` or `archive` of the module `stead`, or import a `.json` file",
        "process" | "os" => "use `config`, `env`, `project` and `target` of the module `stead`",
        "crypto" => {
            "for digests, use `hash` of the module `stead`; for keys, use `new local.RandomString(…)` or `new local.KeyPair(…)`, which keep their value"
        }
        "child_process" => "use `new local.Command(…)`",
        "url" | "querystring" => "use `URL` and `URLSearchParams`, which need no import",
        "buffer" => "use `TextEncoder`, `TextDecoder` and `base64` of the module `stead`",
        "path" | "util" => "join strings with template literals",
        _ => "describe what you need as a resource; the provider does the work when the plan is applied",
    };
    Diagnostic::error(
        Code::UNSUPPORTED_IMPORT,
        format!("`{specifier}` is a Node.js module, which is not available"),
    )
    .note("a program runs inside stead, without access to files, network, clock or processes")
    .help(help)
}
