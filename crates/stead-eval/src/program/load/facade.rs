//! ES modules in front of CommonJS files, and the files that code asks for while the program runs.
//!
//! As in Node.js, the default export of a CommonJS file is `module.exports`; its other exports are the names that its syntax
//! shows. A name that the program imports is looked up in `module.exports` in any case.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;

use oxc_syntax::identifier::is_identifier_name;
use stead_model::{Code, Diagnostic, SourceRef};

use super::{Loaded, Loader};
use crate::compile::Format;
use crate::program::node;
use crate::program::resolve::{Resolved, unreadable};
use crate::program::source_text::SourceText;
use crate::program::specifier::Mode;

/// Prefix of the name of an ES module in front of a CommonJS file.
const PREFIX: &str = "commonjs:";

/// Result of `require`.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Required {
    CommonJs(String),
    /// Path of a JSON file, and its text.
    Json(String, String),
    /// An ES module.
    Module(String),
    Stead,
    Provider(String),
}

/// Returns the code of an entry point that is CommonJS.
pub(super) fn entry(path: &str) -> String {
    format!("import {{ load }} from \"stead:commonjs\"; load({path:?});\n")
}

impl Loaded {
    /// Returns true if an ES module imports a CommonJS file, directly or through other ES modules.
    pub(crate) fn reaches(&self, module: &str, file: &str) -> bool {
        let wanted = format!("{PREFIX}{file}");
        let mut targets: HashMap<&str, Vec<&str>> = HashMap::new();
        for ((base, _), target) in &self.links {
            targets.entry(base).or_default().push(target);
        }
        let (mut seen, mut todo) = (BTreeSet::from([module]), vec![module]);
        while let Some(at) = todo.pop() {
            if at == wanted {
                return true;
            }
            todo.extend(targets.get(at).into_iter().flatten().copied().filter(|next| seen.insert(*next)));
        }
        false
    }
}

impl Loader {
    /// Writes a module in front of each CommonJS file that a module imports, and links the imports to it.
    pub(super) fn link_commonjs(&mut self) {
        let mut asked: BTreeMap<String, BTreeMap<String, SourceRef>> = BTreeMap::new();
        for (source, import, module) in std::mem::take(&mut self.imports) {
            if !self.is_commonjs(&module) {
                continue;
            }
            let names = asked.entry(module).or_default();
            for (name, span) in import.names {
                names.entry(name).or_insert_with(|| source.locate(span).at);
            }
        }
        for (path, mut names) in asked {
            let known = self.names_of(&path, &mut BTreeSet::new());
            names.remove("default");
            let code = module(&path, &known, &names);
            self.out.code.insert(format!("{PREFIX}{path}"), code);
        }
        let files = &self.out.files;
        for target in self.out.links.values_mut() {
            if files.get(target).is_some_and(|file| file.format == Format::CommonJs) {
                *target = format!("{PREFIX}{target}");
            }
        }
    }

    fn is_commonjs(&self, path: &str) -> bool {
        self.out.files.get(path).is_some_and(|file| file.format == Format::CommonJs)
    }

    /// Returns the names that a CommonJS file exports, those of its re-exports included.
    fn names_of(&mut self, path: &str, seen: &mut BTreeSet<String>) -> BTreeSet<String> {
        if !seen.insert(path.to_owned()) {
            return BTreeSet::new();
        }
        let mut names = path.strip_prefix("node:").map(node::exported).unwrap_or_default();
        let Some(exported) = self.exported.get(path).cloned() else { return names };
        names.extend(exported.names);
        for specifier in exported.from {
            // An error shows when the file runs.
            if let Ok(Required::CommonJs(inner)) = self.require(path, &specifier)
                && self.compile_commonjs(&inner).is_ok()
            {
                names.extend(self.names_of(&inner, seen));
            }
        }
        names
    }

    /// Returns the module that `require(specifier)` in the file at `base` stands for.
    pub(crate) fn require(&mut self, base: &str, specifier: &str) -> Result<Required, Diagnostic> {
        let path = match self.resolver.resolve(base, specifier, Mode::Require).map_err(|it| *it.problem)? {
            Resolved::Stead => return Ok(Required::Stead),
            Resolved::Provider(provider) => return Ok(Required::Provider(provider)),
            Resolved::File(path) => path,
        };
        if path.ends_with(".json") {
            let text = match self.out.files.get(&path) {
                Some(file) => Some(file.source.text.clone()),
                None => self.resolver.take_text(&path).map_err(|error| unreadable(&path, &error))?,
            };
            return Ok(Required::Json(path, text.unwrap_or_default()));
        }
        self.compile_commonjs(&path)?;
        let format = self.out.files.get(&path).map(|file| file.format);
        Ok(if format == Some(Format::CommonJs) { Required::CommonJs(path) } else { Required::Module(path) })
    }

    /// Compiles a file that code asks for, unless it is compiled already.
    fn compile_commonjs(&mut self, path: &str) -> Result<(), Diagnostic> {
        if self.out.files.contains_key(path) {
            return Ok(());
        }
        let text = self.resolver.take_text(path).map_err(|error| unreadable(path, &error))?;
        let source = Rc::new(SourceText::new(path, text.unwrap_or_default()));
        let imports = self.compiled(&source).map_err(|problems| first(problems, path))?;
        // Problems of syntax belong to the file that asked for this one.
        if let Some(problem) = self.problems.pop() {
            return Err(problem);
        }
        if imports.is_empty() {
            return Ok(());
        }
        for import in imports {
            self.import(&source, import);
        }
        self.finish();
        // A module that cannot be loaded fails when the code imports it.
        self.problems.clear();
        Ok(())
    }
}

fn first(problems: Vec<Diagnostic>, path: &str) -> Diagnostic {
    let missing = || Diagnostic::error(Code::SYNTAX, format!("`{path}` cannot be compiled"));
    problems.into_iter().next().unwrap_or_else(missing)
}

/// Returns the code of the module in front of a CommonJS file.
fn module(path: &str, known: &BTreeSet<String>, asked: &BTreeMap<String, SourceRef>) -> String {
    let mut code = "import { load, member, imported } from \"stead:commonjs\";\n".to_owned();
    code.push_str(&format!("const exports = load({path:?});\nexport default exports;\n"));
    let known = known.iter().filter(|name| *name != "default" && !asked.contains_key(*name));
    let known = known.map(|name| (name, format!("member(exports, {name:?})")));
    let asked = asked.iter().map(|(name, at)| {
        (name, format!("imported(exports, {name:?}, {path:?}, {:?}, {}, {})", at.file, at.line, at.column))
    });
    for (index, (name, value)) in known.chain(asked).enumerate() {
        let exported = if is_identifier_name(name) { name.clone() } else { format!("{name:?}") };
        code.push_str(&format!("const name{index} = {value};\nexport {{ name{index} as {exported} }};\n"));
    }
    code
}
