//! What is said of files that cannot be loaded, and how the program came to them.

use oxc_span::Span;
use stead_model::{Code, Diagnostic};

use super::Loader;
use crate::packages::COMMONJS_HELP;
use crate::place::SourceText;

/// How many imports are followed back from a file of a package to the program.
const MAX_WAY: usize = 1000;

impl Loader<'_> {
    /// For a file of a package: where the program imported the package.
    pub(super) fn with_way(&self, path: &str, problem: Diagnostic) -> Diagnostic {
        let Some((_, package)) = self.packages.package_of(path) else { return problem };
        let mut way = Vec::new();
        let (mut at, mut of) = (path, package.clone());
        for _ in 0..MAX_WAY {
            let Some((source, span)) = self.importers.get(at) else { break };
            let place = source.place(*span).at;
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
        let problem = problem.note(format!("this is in the package `{package}`"));
        way.into_iter().fold(problem, Diagnostic::note)
    }

    pub(super) fn commonjs(&self, source: &SourceText, span: Span) -> Diagnostic {
        let place = source.place(span);
        let problem = match self.packages.package_of(&source.path) {
            Some((_, package)) => {
                let message = format!("the package `{package}` is CommonJS, which stead does not run");
                Diagnostic::error(Code::UNSUPPORTED_IMPORT, message).help(COMMONJS_HELP)
            }
            None => {
                let message = format!("`{}` is CommonJS, which stead does not run", source.path);
                Diagnostic::error(Code::UNSUPPORTED_IMPORT, message)
                    .help("write `import` instead of `require`, and `export` instead of `module.exports`")
            }
        };
        self.with_way(&source.path, problem.at(place.at, place.length, "here"))
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
        "url" | "querystring" => "use `URL` and `URLSearchParams`, which are there without an import",
        "buffer" => "use `TextEncoder`, `TextDecoder` and `base64` of the module `stead`",
        "path" | "util" => "join strings with template literals",
        _ => "describe what you need as a resource; the provider does the work when the plan is applied",
    };
    Diagnostic::error(Code::UNSUPPORTED_IMPORT, format!("`{specifier}` is a module of Node.js"))
        .note("a program is evaluated by stead itself, without files, network, clock or processes")
        .help(help)
}
