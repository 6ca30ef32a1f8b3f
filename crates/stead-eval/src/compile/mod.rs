//! Compiles one file to instrumented JavaScript: parse, check, strip types, instrument, print.
//!
//! **Invariant:** the same text and first site number give the same code. A source map is created by compiling again, only
//! when an error needs it.

mod assign;
mod branches;
mod build;
mod cache;
mod calls;
mod captures;
mod commonjs;
mod corrected;
mod corrections;
mod defaults;
mod enum_powers;
mod header;
mod implicit_calls;
mod imports;
mod instrument;
mod keys;
mod names;
mod namespaces;
mod nesting;
mod operators;
mod scope;
mod unsupported;
mod visit;

use std::path::{Path, PathBuf};

use oxc_allocator::Allocator;
use oxc_ast::ast::Program;
use oxc_codegen::{Codegen, CodegenOptions, CommentOptions};
use oxc_diagnostics::{Diagnostics, Severity};
use oxc_parser::{ParseOptions, Parser};
use oxc_semantic::{Scoping, SemanticBuilder};
use oxc_span::{SourceType, Span};
use oxc_syntax::module_record::ModuleRecord;
use oxc_transformer::{
    DecoratorOptions, HelperLoaderMode, HelperLoaderOptions, TransformOptions, Transformer,
};
use stead_model::{Code, Diagnostic};

use crate::UnknownBranches;
use crate::program::site::Site;
use crate::program::source_text::SourceText;
use crate::program::specifier::is_foreign;

pub use cache::CompiledFiles;
pub(crate) use calls::Calls;
pub(crate) use commonjs::ExportedNames;
pub(crate) use corrected::{ArgumentMistake, corrected_new};
pub(crate) use header::wrapper_arguments;
pub(crate) use imports::{Exports, Import, Needs};

/// Compiled module.
#[derive(Clone, Debug)]
pub(crate) struct Compiled {
    pub(crate) code: String,
    pub(crate) sites: Vec<Site>,
    pub(crate) imports: Vec<Import>,
    pub(crate) exports: Exports,
    /// Each `await` at the top level.
    pub(crate) awaits: Vec<Span>,
    pub(crate) form: Form,
    /// Names that a CommonJS file exports, as far as its syntax shows.
    pub(crate) exported: ExportedNames,
    /// Errors that prevent the module from running.
    pub(crate) problems: Vec<Diagnostic>,
}

/// Form of a piece of code, as far as the name of its file and its package tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Format {
    Module,
    CommonJs,
    /// The syntax decides: `import`, `export` and a top-level `await` make a module.
    Detect,
    /// The declaration of a function from text.
    Function,
}

/// Form of a piece of generated code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    Module,
    /// A function that takes `exports`, `require`, `module`, `__filename` and `__dirname`.
    CommonJs,
    /// A function that the program made from text.
    Function,
}

/// Piece of code to compile.
#[derive(Clone, Copy)]
pub(crate) struct Unit<'a> {
    pub(crate) source: &'a SourceText,
    /// Number of its first site.
    pub(crate) first_site: usize,
    pub(crate) branches: UnknownBranches,
    pub(crate) format: Format,
}

/// Sorted map from generated to source positions: (line, column) → (line, column), all from 0, columns in UTF-16 units.
pub(crate) struct SourceMap {
    tokens: Vec<((u32, u32), (u32, u32))>,
    /// Generated code, needed because the engine counts columns in bytes.
    code: String,
}

/// Number of lines before the program's own code in a generated module.
const HEADER_LINES: u32 = 1;

/// Module prefix of helper functions in generated code, such as for decorators. No import of a program starts with it.
pub(crate) const HELPERS: &str = "stead:decorate";

/// Compiles a piece of code.
pub(crate) fn compile(unit: Unit<'_>) -> Result<Compiled, Vec<Diagnostic>> {
    run(unit, WithMap::No).map(|(compiled, _)| compiled)
}

/// Compiles a piece of code again and returns its source map.
pub(crate) fn source_map(unit: Unit<'_>) -> Option<SourceMap> {
    run(unit, WithMap::Yes).ok().and_then(|(_, map)| map)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum WithMap {
    Yes,
    No,
}

impl SourceMap {
    /// Returns the source position (line and UTF-16 column, from 0) of a generated position (from 1, columns in bytes).
    pub(crate) fn lookup(&self, line: u32, column: u32) -> Option<(u32, u32)> {
        let line = line.checked_sub(1 + HEADER_LINES)?;
        let wanted = (line, self.utf16_column(line, column.saturating_sub(1) as usize));
        let after = self.tokens.partition_point(|(generated, _)| *generated <= wanted);
        let before = self.tokens.get(after.checked_sub(1)?)?;
        if before.0.0 == wanted.0 {
            return Some(before.1);
        }
        // The line has no earlier token: the next token is nearer than the previous line.
        self.tokens.get(after).map(|token| token.1)
    }

    fn utf16_column(&self, line: u32, bytes: usize) -> u32 {
        let text = self.code.lines().nth(line as usize).unwrap_or_default();
        let before = text.char_indices().take_while(|(at, _)| *at < bytes);
        before.map(|(_, c)| c.len_utf16() as u32).sum()
    }
}

/// Returns the source type for the parser.
fn source_type(source: &SourceText, format: Format) -> SourceType {
    let script = [".js", ".mjs", ".cjs"].iter().any(|extension| source.path.ends_with(extension));
    let script = script || format == Format::Function || source.path.starts_with("node:");
    match (format, script) {
        (Format::Module, true) => SourceType::mjs(),
        (Format::CommonJs | Format::Function, true) => SourceType::cjs(),
        (Format::Detect, true) => SourceType::unambiguous(),
        (Format::CommonJs, false) => SourceType::ts().with_commonjs(true),
        (Format::Module | Format::Detect | Format::Function, false) => SourceType::ts().with_module(true),
    }
}

fn run(unit: Unit<'_>, with_map: WithMap) -> Result<(Compiled, Option<SourceMap>), Vec<Diagnostic>> {
    let Unit { source, first_site, branches, format } = unit;
    if let Some(problem) = nesting::check(source) {
        return Err(vec![problem]);
    }
    let allocator = Allocator::default();
    let source_type = source_type(source, format);
    let options = ParseOptions {
        preserve_parens: false,
        allow_return_outside_function: format == Format::Detect && source_type.is_unambiguous(),
        ..ParseOptions::default()
    };
    let parsed = Parser::new(&allocator, &source.text, source_type).with_options(options).parse();
    fail_on_errors(source, &parsed.diagnostics)?;
    let mut program = parsed.program;
    program.hashbang = None;
    let kept = imports::keep_modules(&allocator, &mut program);
    enum_powers::correct(&allocator, source, &mut program)?;

    let semantic = SemanticBuilder::new().with_check_syntax_error(true).with_enum_eval(true).build(&program);
    fail_on_errors(source, &semantic.diagnostics)?;
    let mut scoping = semantic.semantic.into_scoping();
    if namespaces::join(&allocator, &mut program, &scoping) {
        let again = SemanticBuilder::new().with_enum_eval(true).build(&program);
        scoping = again.semantic.into_scoping();
    }
    let reassigned = defaults::reassigned_constants(&scoping);
    let captures = captures::find(&program, &scoping, owner(source));
    let undeclared = names::undeclared(&scoping);
    if let Some(problem) = nesting::crowded_scope(source, &scoping) {
        return Err(vec![problem]);
    }
    let Some(form) = form_of(format, source_type, &parsed.module_record, &program, &scoping) else {
        return run(Unit { format: Format::CommonJs, ..unit }, with_map);
    };
    let exported = match form {
        Form::CommonJs => commonjs::exported_names(&program),
        Form::Module | Form::Function => ExportedNames::default(),
    };
    let unsupported = unsupported::find(source, &program);
    if !unsupported.is_empty() {
        return Err(unsupported);
    }
    let transformer = Transformer::new(&allocator, Path::new(&source.path), &transform_options());
    let transformed = transformer.build_with_scoping(scoping, &mut program);
    fail_on_errors(source, &transformed.diagnostics)?;

    corrections::order_decorators(&mut program);
    let (imports, exports) = imports::collect(&mut program, &kept);
    let names = names::Names::of(&program, undeclared);
    let globals = names.globals();
    let facts = instrument::Facts { reassigned, captures, names };
    let instrumented = instrument::instrument(&allocator, &mut program, first_site, branches, facts);
    corrections::spread_text(&allocator, &mut program);
    let problem = |unsupported: instrument::UnsupportedSyntax| {
        let place = source.locate(unsupported.span);
        let problem = Diagnostic::error(unsupported.code, unsupported.message);
        problem.at(place.at, place.length, unsupported.label).help(unsupported.help)
    };
    // A package may have a computed import that the program never reaches; it fails when it is reached.
    let foreign = is_foreign(&source.path);
    let counts = |it: &instrument::UnsupportedSyntax| !foreign || it.code != Code::UNSUPPORTED_IMPORT;
    let problems = instrumented.unsupported.into_iter().filter(counts).map(problem).collect();
    let (printed, map) = print(source, &program, with_map);
    let (before, after) = header::around(form, branches, globals);
    let mut imports = imports;
    imports.extend(instrumented.imports);
    let compiled = Compiled {
        code: format!("{before}{printed}{after}"),
        sites: instrumented.sites,
        imports,
        exports,
        awaits: instrumented.awaits,
        form,
        exported,
        problems,
    };
    Ok((compiled, map))
}

fn owner(source: &SourceText) -> captures::Owner {
    if is_foreign(&source.path) { captures::Owner::Package } else { captures::Owner::Program }
}

/// Returns the form of a file, or `None` for a TypeScript file that uses the names of CommonJS, which is parsed again.
fn form_of(
    format: Format,
    source_type: SourceType,
    record: &ModuleRecord<'_>,
    program: &Program<'_>,
    scoping: &Scoping,
) -> Option<Form> {
    Some(match format {
        Format::Module => Form::Module,
        Format::CommonJs => Form::CommonJs,
        Format::Function => Form::Function,
        Format::Detect if record.has_module_syntax => Form::Module,
        Format::Detect if source_type.is_unambiguous() && program.source_type.is_module() => Form::Module,
        Format::Detect if source_type.is_unambiguous() => Form::CommonJs,
        Format::Detect if commonjs::is_used(scoping) => return None,
        Format::Detect => Form::Module,
    })
}

/// Returns the code of a program, with its source map if one is wanted.
fn print(source: &SourceText, program: &Program<'_>, with_map: WithMap) -> (String, Option<SourceMap>) {
    let options = CodegenOptions {
        comments: CommentOptions::disabled(),
        source_map_path: (with_map == WithMap::Yes).then(|| PathBuf::from(&source.path)),
        ..CodegenOptions::default()
    };
    let printed = Codegen::new().with_options(options).build(program);
    let map = printed.map.map(|map| {
        let token = |token: oxc_sourcemap::Token| {
            let generated = (token.get_dst_line(), token.get_dst_col());
            (generated, (token.get_src_line(), token.get_src_col()))
        };
        SourceMap { tokens: map.get_tokens().map(token).collect(), code: printed.code.clone() }
    });
    (printed.code, map)
}

/// Enables decorators with the semantics of `experimentalDecorators`; the transformer does not support standard decorators.
fn transform_options() -> TransformOptions {
    let decorator = DecoratorOptions { legacy: true, ..DecoratorOptions::default() };
    let helper_loader = HelperLoaderOptions { module_name: HELPERS.into(), mode: HelperLoaderMode::Runtime };
    TransformOptions { decorator, helper_loader, ..TransformOptions::default() }
}

fn fail_on_errors(source: &SourceText, found: &Diagnostics) -> Result<(), Vec<Diagnostic>> {
    let errors = found.iter().filter(|problem| problem.severity == Severity::Error);
    let errors: Vec<Diagnostic> = errors
        .map(|problem| {
            let mut diagnostic = Diagnostic::error(Code::SYNTAX, problem.message.to_string());
            if problem.labels.is_empty() {
                let start = source.locate(Span::new(0, 0));
                diagnostic = diagnostic.at(start.at, 0, "in this file");
            }
            for label in &problem.labels {
                let place = source.locate(label.span());
                diagnostic = diagnostic.at(place.at, place.length, label.label().unwrap_or_default());
            }
            if let Some(note) = &problem.note {
                diagnostic = diagnostic.note(note.to_string());
            }
            match &problem.help {
                Some(help) => diagnostic.help(help.to_string()),
                None => diagnostic,
            }
        })
        .collect();
    if errors.is_empty() { Ok(()) } else { Err(errors) }
}
