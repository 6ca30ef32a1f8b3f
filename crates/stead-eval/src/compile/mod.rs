//! Compiles one TypeScript file to one instrumented JavaScript module: parse, check, strip types, instrument, print.
//!
//! **Invariant:** the same text and first site number give the same code. A source map is created by compiling again, only
//! when an error needs it.

mod assign;
mod branches;
mod build;
mod calls;
mod commonjs;
mod corrected;
mod corrections;
mod implicit_calls;
mod imports;
mod instrument;
mod namespaces;
mod nesting;
mod operators;
mod scope;
mod unsupported;
mod visit;

use std::path::{Path, PathBuf};

use oxc_allocator::Allocator;
use oxc_codegen::{Codegen, CodegenOptions, CommentOptions};
use oxc_diagnostics::{Diagnostics, Severity};
use oxc_parser::{ParseOptions, Parser};
use oxc_semantic::SemanticBuilder;
use oxc_span::{SourceType, Span};
use oxc_transformer::{
    DecoratorOptions, HelperLoaderMode, HelperLoaderOptions, TransformOptions, Transformer,
};
use stead_model::{Code, Diagnostic};

use crate::UnknownBranches;
use crate::program::site::Site;
use crate::program::source_text::SourceText;

pub(crate) use calls::Calls;
pub(crate) use corrected::{ArgumentMistake, corrected_new};
pub(crate) use imports::{Exports, Import, Needs};

/// Compiled module.
#[derive(Debug)]
pub(crate) struct Compiled {
    pub(crate) code: String,
    pub(crate) sites: Vec<Site>,
    pub(crate) imports: Vec<Import>,
    pub(crate) exports: Exports,
    /// Each `await` at the top level.
    pub(crate) awaits: Vec<Span>,
    /// First use of CommonJS, if the file is a CommonJS module.
    pub(crate) commonjs: Option<Span>,
    /// Errors that prevent the module from running.
    pub(crate) problems: Vec<Diagnostic>,
}

/// Sorted map from generated to source positions: (line, column) → (line, column), all from 0, columns in UTF-16 units.
pub(crate) struct SourceMap {
    tokens: Vec<((u32, u32), (u32, u32))>,
    /// Generated code, needed because the engine counts columns in bytes.
    code: String,
}

/// Number of lines before the program's own code in a generated module.
const HEADER_LINES: u32 = 1;

/// Imports of every generated module. One line, see `HEADER_LINES`.
const HEADER: &str = "import { known as __stead_known, add as __stead_add, text as __stead_text, \
    make as __stead_make, reference as __stead_reference, operateOn as __stead_operate_on, minus as __stead_minus, \
    times as __stead_times, over as __stead_over, modulo as __stead_modulo, power as __stead_power, \
    shl as __stead_shl, shr as __stead_shr, ushr as __stead_ushr, and as __stead_and, or as __stead_or, \
    xor as __stead_xor, negative as __stead_negative, positive as __stead_positive, flip as __stead_flip, \
    thrown as __stead_thrown, step as __stead_step, spread as __stead_spread, own as __stead_own, \
    current as __stead_current, resume as __stead_resume } from \"stead:runtime\"; let __stead_ref, __stead_result;\n";

/// Module prefix of helper functions in generated code, such as for decorators. No import of a program starts with it.
pub(crate) const HELPERS: &str = "stead:decorate";

/// Additional imports if branches on unknown values are allowed.
const BRANCHES_HEADER: &str = "import { choose as __stead_choose, both as __stead_both, either as __stead_either, \
    orDefault as __stead_default, not as __stead_not, compare as __stead_compare } from \"stead:branches\"; ";

fn header(branches: UnknownBranches) -> String {
    match branches {
        UnknownBranches::Refuse => HEADER.to_owned(),
        UnknownBranches::Allow => format!("{BRANCHES_HEADER}{HEADER}"),
    }
}

/// Compiles a file whose sites are numbered from `first_site`.
pub(crate) fn compile(
    source: &SourceText,
    first_site: usize,
    branches: UnknownBranches,
) -> Result<Compiled, Vec<Diagnostic>> {
    run(source, first_site, branches, false).map(|(compiled, _)| compiled)
}

/// Compiles a file again and returns its source map.
pub(crate) fn source_map(
    source: &SourceText,
    first_site: usize,
    branches: UnknownBranches,
) -> Option<SourceMap> {
    run(source, first_site, branches, true).ok().and_then(|(_, map)| map)
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

fn run(
    source: &SourceText,
    first_site: usize,
    branches: UnknownBranches,
    with_map: bool,
) -> Result<(Compiled, Option<SourceMap>), Vec<Diagnostic>> {
    if let Some(problem) = nesting::check(source) {
        return Err(vec![problem]);
    }
    let allocator = Allocator::default();
    let script = [".js", ".mjs"].iter().any(|extension| source.path.ends_with(extension));
    let source_type = if script { SourceType::mjs() } else { SourceType::ts().with_module(true) };
    let options = ParseOptions { preserve_parens: false, ..ParseOptions::default() };
    let parsed = Parser::new(&allocator, &source.text, source_type).with_options(options).parse();
    fail_on_errors(source, &parsed.diagnostics)?;
    let mut program = parsed.program;
    let kept = imports::keep_modules(&allocator, &mut program);

    let semantic = SemanticBuilder::new().with_check_syntax_error(true).with_enum_eval(true).build(&program);
    fail_on_errors(source, &semantic.diagnostics)?;
    let mut scoping = semantic.semantic.into_scoping();
    if namespaces::join(&allocator, &mut program, &scoping) {
        let again = SemanticBuilder::new().with_enum_eval(true).build(&program);
        scoping = again.semantic.into_scoping();
    }
    if let Some(problem) = nesting::crowded_scope(source, &scoping) {
        return Err(vec![problem]);
    }
    let script = !parsed.module_record.has_module_syntax;
    let commonjs = script.then(|| commonjs::find(source, &program, &scoping)).flatten();
    let unsupported = unsupported::find(source, &program);
    if !unsupported.is_empty() {
        return Err(unsupported);
    }
    let transformer = Transformer::new(&allocator, Path::new(&source.path), &transform_options());
    let transformed = transformer.build_with_scoping(scoping, &mut program);
    fail_on_errors(source, &transformed.diagnostics)?;

    corrections::order_decorators(&mut program);
    let (imports, exports) = imports::collect(&mut program, &kept);
    let instrumented = instrument::instrument(&allocator, &mut program, first_site, branches);
    corrections::spread_text(&allocator, &mut program);
    let problem = |unsupported: instrument::UnsupportedSyntax| {
        let place = source.locate(unsupported.span);
        let problem = Diagnostic::error(unsupported.code, unsupported.message);
        problem.at(place.at, place.length, unsupported.label).help(unsupported.help)
    };
    let problems = instrumented.unsupported.into_iter().map(problem).collect();
    let options = CodegenOptions {
        comments: CommentOptions::disabled(),
        source_map_path: with_map.then(|| PathBuf::from(&source.path)),
        ..CodegenOptions::default()
    };
    let printed = Codegen::new().with_options(options).build(&program);
    let map = printed.map.map(|map| {
        let token = |token: oxc_sourcemap::Token| {
            let generated = (token.get_dst_line(), token.get_dst_col());
            (generated, (token.get_src_line(), token.get_src_col()))
        };
        SourceMap { tokens: map.get_tokens().map(token).collect(), code: printed.code.clone() }
    });
    let mut imports = imports;
    imports.extend(instrumented.imports);
    let compiled = Compiled {
        code: format!("{}{}", header(branches), printed.code),
        sites: instrumented.sites,
        imports,
        exports,
        awaits: instrumented.awaits,
        commonjs,
        problems,
    };
    Ok((compiled, map))
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
