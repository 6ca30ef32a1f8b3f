//! Loads and compiles every file of a program before any of it runs, following all imports from the entry point.
//!
//! All errors of imports and syntax, in all files, are reported together.

mod declarations;
mod errors;

pub(crate) mod facade;

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::rc::Rc;

use oxc_span::Span;
use oxc_syntax::identifier::is_identifier_name;
use stead_model::{Code, Diagnostic, nearest};

use crate::UnknownBranches;
use crate::compile::{
    self, Compiled, CompiledFiles, ExportedNames, Exports, Form, Format, Import, Needs, Unit,
};
use crate::engine::session::Settings;
use crate::program::requests::Requester;
use crate::program::resolve::{Resolved, Resolver, Unresolved, unreadable};
use crate::program::site::SiteTable;
use crate::program::source_text::SourceText;
use crate::program::specifier::Mode;
use crate::testing::TEST_FILE;
use declarations::EMPTY_MODULE;

/// Compiled file of the program.
pub(crate) struct LoadedFile {
    pub(crate) source: Rc<SourceText>,
    pub(crate) first_site: usize,
    pub(crate) awaits: Vec<Span>,
    /// Module part in the names of the resources that this file declares.
    pub(crate) module: String,
    pub(crate) exports: Exports,
    /// Form that the file was compiled in.
    pub(crate) format: Format,
}

/// Compiled program, ready for the engine.
#[derive(Default)]
pub(crate) struct Loaded {
    pub(crate) files: BTreeMap<String, LoadedFile>,
    pub(crate) sites: SiteTable,
    /// Generated code by module name.
    pub(crate) code: HashMap<String, String>,
    /// Resolved imports: (importing module, specifier) to module name.
    pub(crate) links: HashMap<(String, String), String>,
    /// Generated code of CommonJS files by path.
    pub(crate) commonjs: HashMap<String, String>,
}

/// Exports of the module `"stead"`.
const STEAD_EXPORTS: &[&str] = &[
    "Resource",
    "all",
    "apply",
    "archive",
    "base64",
    "file",
    "hash",
    "inlineCode",
    "nodeOf",
    "readText",
    "secret",
    "stack",
    "config",
    "env",
    "ephemeral",
    "move",
    "namespace",
    "project",
    "t",
    "target",
    "cidr",
    "json",
    "listFiles",
    "readBytes",
    "readJson",
    "readToml",
    "readYaml",
    "render",
    "semver",
    "template",
    "text",
    "toml",
    "yaml",
];

/// Name of the module that only test files import.
const TEST_MODULE: &str = "stead/test";

/// Exports of the module `"stead/test"`.
const TEST_EXPORTS: &[&str] = &[
    "AssertionError",
    "Refused",
    "Secret",
    "Unknown",
    "afterAll",
    "afterEach",
    "beforeAll",
    "beforeEach",
    "declare",
    "describe",
    "expect",
    "folder",
    "freshCloud",
    "freshStack",
    "gitRef",
    "it",
    "nothing",
    "plan",
    "state",
    "test",
    "unknownOf",
    "upgrade",
];

/// The kind of an entry point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Entry {
    Program,
    TestFile,
}

/// Loads the program. The loader serves it while it runs: code may ask for more files then.
pub(crate) fn load(settings: &Settings, requester: &Requester) -> Result<Loader, Vec<Diagnostic>> {
    load_entry(settings, Entry::Program, requester)
}

/// Loads a test file, which may import the module `stead/test`.
pub(crate) fn load_tests(settings: &Settings, requester: &Requester) -> Result<Loader, Vec<Diagnostic>> {
    load_entry(settings, Entry::TestFile, requester)
}

fn load_entry(settings: &Settings, kind: Entry, requester: &Requester) -> Result<Loader, Vec<Diagnostic>> {
    let entry = settings.entry.as_str();
    let mut loader = Loader {
        entry: kind,
        requester: requester.clone(),
        out: Loaded::default(),
        todo: VecDeque::new(),
        resolver: Resolver::new(requester, entry),
        importers: HashMap::new(),
        imports: Vec::new(),
        problems: Vec::new(),
        exported: HashMap::new(),
        branches: settings.branches,
        compiled: settings.compiled.clone(),
    };
    match requester.read(entry) {
        Ok(Some(text)) => loader.file(entry, text),
        Ok(None) => loader.problems.push(
            Diagnostic::error(Code::MODULE_NOT_FOUND, format!("there is no entry point `{entry}`"))
                .help("`main` in stead.toml names the file that the program starts with; without it, that is `main.ts`"),
        ),
        Err(error) => loader.problems.push(unreadable(entry, &error)),
    }
    loader.finish();
    if loader.out.commonjs.contains_key(entry) && loader.problems.is_empty() {
        // The engine starts with a module.
        loader.out.code.insert(entry.to_owned(), facade::entry(entry));
    }
    if loader.problems.is_empty() { Ok(loader) } else { Err(loader.problems) }
}

pub(crate) struct Loader {
    entry: Entry,
    branches: UnknownBranches,
    /// Files that earlier evaluations compiled.
    compiled: Option<CompiledFiles>,
    requester: Requester,
    pub(crate) out: Loaded,
    todo: VecDeque<(String, String)>,
    pub(crate) resolver: Resolver,
    /// First import of each file.
    importers: HashMap<String, Importer>,
    /// Imports to check: importing file, import, resolved module.
    imports: Vec<(Rc<SourceText>, Import, String)>,
    problems: Vec<Diagnostic>,
    /// Names that each compiled CommonJS file exports.
    exported: HashMap<String, ExportedNames>,
}

/// Place of an import.
struct Importer {
    source: Rc<SourceText>,
    span: Span,
    needs: Needs,
}

impl Loader {
    /// Loads the files that are waiting, and completes the modules that need all of them.
    fn finish(&mut self) {
        while let Some((path, text)) = self.todo.pop_front() {
            self.file(&path, text);
        }
        self.check_names();
        self.link_commonjs();
    }

    fn file(&mut self, path: &str, text: String) {
        let text = text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text);
        let source = Rc::new(SourceText::new(path, text));
        if path.ends_with(".json") {
            return self.json(path, source);
        }
        match self.compiled(&source) {
            Err(problems) => {
                let problems = problems.into_iter().map(|problem| self.with_type_help(path, problem));
                let problems = problems.map(|problem| self.with_import_chain(path, problem));
                self.problems.extend(problems.collect::<Vec<_>>());
            }
            Ok(imports) => {
                for import in imports {
                    self.import(&source, import);
                }
            }
        }
    }

    /// Compiles a file and returns its imports.
    fn compiled(&mut self, source: &Rc<SourceText>) -> Result<Vec<Import>, Vec<Diagnostic>> {
        let path = &source.path;
        let first_site = self.out.sites.len();
        let format = self.resolver.packages.format_of(path);
        let unit = Unit { source, first_site, branches: self.branches, format };
        let compiled = match &self.compiled {
            Some(files) => files.compile(unit)?,
            None => compile::compile(unit)?,
        };
        let Compiled { code, sites, imports, exports, awaits, form, exported, problems } = compiled;
        let problems = problems.into_iter().map(|problem| self.with_import_chain(path, problem));
        let problems: Vec<Diagnostic> = problems.collect();
        self.problems.extend(problems);
        self.out.sites.add(source.clone(), sites);
        let format = match form {
            Form::CommonJs => {
                self.out.commonjs.insert(path.clone(), code);
                self.exported.insert(path.clone(), exported);
                Format::CommonJs
            }
            Form::Module | Form::Function => {
                self.out.code.insert(path.clone(), code);
                Format::Module
            }
        };
        let module = self.resolver.packages.module_of(path);
        let file = LoadedFile { source: source.clone(), first_site, awaits, module, exports, format };
        self.out.files.insert(path.clone(), file);
        Ok(imports)
    }

    fn json(&mut self, path: &str, source: Rc<SourceText>) {
        let value = match serde_json::from_str::<stead_model::Value>(&source.text) {
            Ok(value) => value,
            Err(error) => {
                let place = source.word_at(error.line(), error.column().saturating_sub(1));
                let problem = Diagnostic::error(Code::SYNTAX, format!("`{path}` is not valid JSON: {error}"));
                return self.problems.push(problem.at(place.at, place.length, "here"));
            }
        };
        let (code, exports) = json_module(&source.text, &value);
        self.out.code.insert(path.to_owned(), code);
        let first_site = self.out.sites.len();
        let module = self.resolver.packages.module_of(path);
        let format = Format::Module;
        let file = LoadedFile { source, first_site, awaits: Vec::new(), module, exports, format };
        self.out.files.insert(path.to_owned(), file);
    }

    fn import(&mut self, source: &Rc<SourceText>, import: Import) {
        if import.specifier.starts_with(compile::HELPERS) && import.span.is_empty() {
            return;
        }
        let link = (source.path.clone(), import.specifier.clone());
        let known = self.out.links.get(&link);
        if let Some(module) = known.filter(|module| *module != EMPTY_MODULE || import.needs != Needs::Exports)
        {
            return self.imports.push((source.clone(), import, module.clone()));
        }
        match self.resolve(source, &import) {
            Ok(module) => {
                self.out.links.insert(link, module.clone());
                let importer = Importer { source: source.clone(), span: import.span, needs: import.needs };
                self.importers.entry(module.clone()).or_insert(importer);
                self.imports.push((source.clone(), import, module));
            }
            Err(problem) => {
                let place = source.locate(import.span);
                let problem = errors::with_type_help(*problem, &import.specifier, import.needs);
                let mut problem = self.with_import_chain(&source.path, problem);
                problem.labels.insert(
                    0,
                    stead_model::Label {
                        place: place.at,
                        length: place.length,
                        text: "imported here".into(),
                    },
                );
                self.problems.push(problem);
            }
        }
    }

    /// Returns the module of an import. An import of declarations alone is an empty module.
    fn resolve(&mut self, source: &SourceText, import: &Import) -> Result<String, Box<Diagnostic>> {
        let problem = match self.resolve_code(source, import) {
            Ok(module) => return Ok(module),
            Err(problem) => problem,
        };
        let Some(declaration) = self.declaration_of(&source.path, &import.specifier) else {
            return Err(problem);
        };
        let note = format!("`{declaration}` declares its types, but there is no code to run");
        self.empty_module(import.needs).ok_or_else(|| Box::new(problem.note(note)))
    }

    fn resolve_code(&mut self, source: &SourceText, import: &Import) -> Result<String, Box<Diagnostic>> {
        match self.resolver.resolve(&source.path, &import.specifier, Mode::Import) {
            Ok(Resolved::Stead) => Ok("stead".to_owned()),
            Ok(Resolved::Provider(provider)) if provider == "test" => self.test_module(),
            Ok(Resolved::Provider(provider)) => self.provider(&provider),
            Ok(Resolved::File(path)) if path.ends_with(TEST_FILE) => {
                let message =
                    format!("`{}` is a test file, which no other file can import", import.specifier);
                Err(Box::new(
                    Diagnostic::error(Code::UNSUPPORTED_IMPORT, message)
                        .help("move the shared code to another file, and import that one from both"),
                ))
            }
            Ok(Resolved::File(path)) => self.wait_for(path),
            Err(Unresolved { problem, looked }) => {
                let near = looked.first().and_then(|path| self.nearest_file(&import.specifier, path));
                Err(Box::new(near.into_iter().fold(*problem, Diagnostic::help)))
            }
        }
    }

    /// Puts a file among those that are still to load.
    fn wait_for(&mut self, path: String) -> Result<String, Box<Diagnostic>> {
        if self.out.files.contains_key(&path) || self.todo.iter().any(|(waiting, _)| *waiting == path) {
            return Ok(path);
        }
        match self.resolver.take_text(&path) {
            Ok(text) => self.todo.push_back((path.clone(), text.unwrap_or_default())),
            Err(error) => return Err(Box::new(unreadable(&path, &error))),
        }
        Ok(path)
    }

    fn test_module(&self) -> Result<String, Box<Diagnostic>> {
        if self.entry == Entry::TestFile {
            return Ok(TEST_MODULE.to_owned());
        }
        let message = format!("only test files import `{TEST_MODULE}`");
        Err(Box::new(Diagnostic::error(Code::UNSUPPORTED_IMPORT, message).help(format!(
            "a test file has a name that ends in `{TEST_FILE}`, is never part of a program, and is run as a test"
        ))))
    }

    fn provider(&mut self, provider: &str) -> Result<String, Box<Diagnostic>> {
        let module = format!("stead/{provider}");
        if self.out.code.contains_key(&module) {
            return Ok(module);
        }
        let names = self.provider_exports(provider);
        if names.is_empty() {
            let message = format!("there is no provider `{provider}`");
            return Err(Box::new(Diagnostic::error(Code::MODULE_NOT_FOUND, message)));
        }
        let mut code =
            format!("import {{ provide }} from \"stead:resource\";\nconst all = provide({provider:?});\n");
        for name in names {
            code.push_str(&format!("export const {name} = all.{name};\n"));
        }
        self.out.code.insert(module.clone(), code);
        Ok(module)
    }

    /// Returns the top-level names of a provider module: the second part of each type token.
    fn provider_exports(&self, provider: &str) -> BTreeSet<String> {
        let tokens = self.requester.types(provider);
        let first = |token: &stead_model::TypeToken| token.as_str().split('.').nth(1).map(str::to_owned);
        tokens.iter().filter_map(first).collect()
    }

    /// Reports imported names that the imported module does not export.
    fn check_names(&mut self) {
        for (source, import, module) in &self.imports {
            let known: BTreeSet<String> = match self.out.files.get(module) {
                // The names of a CommonJS file are known when it has run.
                Some(file) if file.exports.open.is_some() || file.format == Format::CommonJs => continue,
                Some(file) => file.exports.names.keys().cloned().collect(),
                None if module == TEST_MODULE => TEST_EXPORTS.iter().map(|name| (*name).to_owned()).collect(),
                None if module == "stead" => STEAD_EXPORTS.iter().map(|name| (*name).to_owned()).collect(),
                None => match module.strip_prefix("stead/") {
                    Some(provider) => self.provider_exports(provider),
                    None => continue,
                },
            };
            for (name, span) in import.names.iter().filter(|(name, _)| !known.contains(name)) {
                let place = source.locate(*span);
                let message = format!("`{}` has no export `{name}`", import.specifier);
                let problem = Diagnostic::error(Code::MODULE_NOT_FOUND, message).at(
                    place.at,
                    place.length,
                    "imported here",
                );
                self.problems.push(match nearest(name, known.iter().map(String::as_str)) {
                    Some(meant) => problem.help(format!("did you mean `{meant}`?")),
                    None => problem.help(format!(
                        "it exports: {}",
                        known.iter().take(20).cloned().collect::<Vec<_>>().join(", ")
                    )),
                });
            }
        }
    }
}

/// Returns code and exports for a JSON file: the whole value as default, and each key that is an identifier.
fn json_module(text: &str, value: &stead_model::Value) -> (String, Exports) {
    let text = stead_model::Value::from(text).to_json();
    let mut code = format!("const whole = JSON.parse({text});\nexport default whole;\n");
    let mut exports = Exports::default();
    exports.names.insert("default".to_owned(), Span::default());
    if let stead_model::Value::Map(map) = value {
        let named = map.keys().filter(|key| is_identifier_name(key) && *key != "default");
        for (index, key) in named.enumerate() {
            code.push_str(&format!("const name{index} = whole.{key};\nexport {{ name{index} as {key} }};\n"));
            exports.names.insert(key.to_string(), Span::default());
        }
    }
    (code, exports)
}
