//! Code that is compiled while the program runs: CommonJS files that it requires, and functions that it makes from text.
//!
//! **Invariant:** all of it is instrumented like the files that are loaded before the program runs.

use std::rc::Rc;

use stead_model::{Code, Diagnostic};

use crate::compile::{self, Compiled, Format, Unit};
use crate::engine::session::Session;
use crate::program::load::facade::Required;
use crate::program::source_text::SourceText;
use crate::program::specifier::is_foreign;

/// Error that is reported unless the program catches its exception.
#[derive(Clone, Debug)]
pub(crate) enum CatchableError {
    Problem(Diagnostic),
    /// Use of a built-in that a program cannot use.
    Builtin {
        name: String,
        help: String,
        stack: String,
    },
}

/// Maximum number of catchable errors that are kept. Later ones are reported by their message alone.
const MAX_CATCHABLE: usize = 10_000;

/// Memory that one byte of generated code needs: its text, its bytecode and its sites.
const BYTES_PER_CODE: usize = 8;

impl Session {
    /// Keeps an error that the program may catch, and returns its number.
    pub(crate) fn keep(&mut self, error: CatchableError) -> usize {
        if self.catchable.len() < MAX_CATCHABLE {
            self.catchable.push(error);
        }
        self.catchable.len() - 1
    }

    /// Returns the diagnostic of an error that the program did not catch.
    pub(crate) fn uncaught(&mut self, number: usize) -> Option<Diagnostic> {
        match self.catchable.get(number)?.clone() {
            CatchableError::Problem(problem) => Some(problem),
            CatchableError::Builtin { name, help, stack } => {
                let problem = Diagnostic::error(Code::PROGRAM_THREW, format!("a program cannot use {name}"));
                let problem = self.label_stack(problem, &stack);
                Some(self.caller_first(problem, &stack).help(help))
            }
        }
    }

    /// Runs a function of the loader with the files and sites of the session.
    fn with_loader<T>(&mut self, run: impl FnOnce(&mut crate::program::load::Loader) -> T) -> Option<T> {
        let mut loader = self.loader.take()?;
        std::mem::swap(&mut loader.out.files, &mut self.files);
        std::mem::swap(&mut loader.out.sites, &mut self.sites);
        let result = run(&mut loader);
        std::mem::swap(&mut loader.out.files, &mut self.files);
        std::mem::swap(&mut loader.out.sites, &mut self.sites);
        self.loader = Some(loader);
        Some(result)
    }

    /// Resolves `require(specifier)` in the file at `base`.
    pub(crate) fn require(&mut self, base: &str, specifier: &str) -> Result<Required, Diagnostic> {
        let ended = || {
            let message = format!("`{specifier}` cannot be loaded: the program has run");
            Diagnostic::error(Code::MODULE_NOT_FOUND, message)
        };
        self.with_loader(|loader| loader.require(base, specifier)).ok_or_else(ended)?
    }

    /// Takes the generated code of a CommonJS file.
    pub(crate) fn take_commonjs(&mut self, path: &str) -> Option<String> {
        let code = self.loader.as_mut()?.out.commonjs.remove(path)?;
        self.reserve(code.len().saturating_mul(BYTES_PER_CODE)).then_some(code)
    }

    /// Returns name and code of a module that gives the namespace of an ES module to `require`.
    pub(crate) fn required_module(&mut self, path: &str) -> (String, String) {
        let name = format!("stead:require {path}");
        if let Some(loader) = &mut self.loader {
            loader.out.links.insert((name.clone(), path.to_owned()), path.to_owned());
        }
        let code = format!(
            "import * as all from {path:?}; import {{ provideModule }} from \"stead:commonjs\"; provideModule({path:?}, all);"
        );
        (name, code)
    }

    /// Compiles a function that the program makes from text, and returns its name and its generated code.
    pub(crate) fn function(&mut self, text: String, stack: &str) -> Result<(String, String), String> {
        if !self.reserve(text.len().saturating_mul(BYTES_PER_CODE)) {
            return Err("out of memory".to_owned());
        }
        let place = self.locate_stack(stack);
        let name = format!("function from text {}", self.functions_from_text);
        self.functions_from_text += 1;
        let source = Rc::new(SourceText::new(&name, text));
        let unit = Unit {
            source: &source,
            first_site: self.sites.len(),
            branches: self.settings.branches,
            format: Format::Function,
        };
        let message = |problem: Diagnostic| problem.message;
        let Compiled { code, sites, problems, imports, .. } = compile::compile(unit)
            .map_err(|problems| problems.into_iter().next().map(message).unwrap_or_default())?;
        if let Some(problem) = problems.into_iter().next() {
            return Err(problem.message);
        }
        if !imports.is_empty() {
            return Err("a function from text cannot use `import(…)`".to_owned());
        }
        match place {
            Some(place) => self.sites.add_generated(place, sites),
            None => self.sites.add(source, sites),
        }
        Ok((name, code))
    }

    /// Puts the caller's place in the program first, for an error in a package or in a module of Node.js.
    pub(crate) fn caller_first(&mut self, problem: Diagnostic, stack: &str) -> Diagnostic {
        let own = |file: &str| !is_foreign(file);
        if let Some(file) = problem.labels.first().map(|label| &label.place.file).filter(|file| own(file)) {
            let outermost = self.frames(stack).into_iter().rfind(|frame| own(&frame.place.at.file));
            return match outermost.filter(|frame| frame.place.at.file != *file) {
                Some(frame) => problem.note(format!("called by the program at {}", frame.place.at)),
                None => problem,
            };
        }
        let Some(frame) = self.frames(stack).into_iter().find(|frame| own(&frame.place.at.file)) else {
            return problem;
        };
        let mut problem = problem;
        problem.labels.retain(|label| !label.place.file.starts_with("node:"));
        let label = stead_model::Label {
            place: frame.place.at,
            length: frame.place.length,
            text: "called here by the program".into(),
        };
        problem.labels.insert(0, label);
        problem
    }
}

/// Returns the text of a function declaration, as the constructor of functions reads it.
pub(crate) fn declaration(kind: &str, parameters: &str, body: &str) -> String {
    format!("{kind} anonymous({parameters}\n) {{\n{body}\n}}")
}
