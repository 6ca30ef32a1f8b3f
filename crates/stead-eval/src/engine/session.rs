//! State of one evaluation: files, declarations, expressions and errors so far.
//!
//! **Invariant:** no method calls the engine. JavaScript may call a host function, which borrows the session again.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;

use stead_model::{
    Code, Constant, Diagnostic, Environment, Expr, ExprId, ExprTable, Input, Inputs, Key, Limits,
    MAX_DEFERRED_BYTES, NodeId, Options, PropertyPath, SecretInput, Segment, SourceRef, TypeToken,
};
use stead_schema::{Shape, TypeSchema};

use crate::compile::CompiledFiles;
use crate::config::{Config, Resolution, Schema};
use crate::declare::conceal;
use crate::declare::moves::Move;
use crate::engine::code::CatchableError;
use crate::program::files::FileCache;
use crate::program::load::{LoadedFile, Loader};
use crate::program::requests::Requester;
use crate::program::site::SiteTable;
use crate::program::source_text::SourceSpan;
use crate::program::trace::{Frame, Tracer};
use crate::testing::TestSession;
use crate::unknown::facts::{self, Fact};
use crate::{ConsoleLine, ProcessorClock, UnknownBranches};

/// Progress of a resource's constructor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Progress {
    /// The constructor has not called `super`.
    Constructing,
    Declared,
    /// The constructor threw.
    Abandoned,
}

/// Resource that the program has allocated and that has no name yet.
///
/// Names are assigned after the program has run: a resource created before `super` belongs to a resource whose id is not known
/// at that time.
#[derive(Debug)]
pub(crate) struct Draft {
    pub(crate) class: String,
    /// `None` for a group.
    pub(crate) token: Option<TypeToken>,
    pub(crate) site: usize,
    pub(crate) parent: Option<NodeId>,
    pub(crate) progress: Progress,
    pub(crate) id: Option<String>,
    pub(crate) gid: Option<String>,
    pub(crate) inputs: Inputs,
    /// Inputs that are secret in `inputs`, as the program gave them. Only their form is checked.
    pub(crate) concealed: Inputs,
    pub(crate) options: Options,
    /// Some inputs were invalid and are missing from `inputs`.
    pub(crate) has_invalid_inputs: bool,
    /// Last assignment to `nodeOf(…).pinned`.
    pub(crate) pinned: Option<bool>,
    /// `static pinned` of the class.
    pub(crate) pinned_by_class: Option<bool>,
}

impl Draft {
    /// Returns the pin setting of this resource: `nodeOf` overrides the option, which overrides the class.
    pub(crate) fn pin_setting(&self) -> Option<bool> {
        self.pinned.or(self.options.pinned).or(self.pinned_by_class)
    }
}

/// Owned copy of [`crate::Program`] for the evaluation thread.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    pub(crate) entry: String,
    pub(crate) environment: Environment,
    pub(crate) project: String,
    pub(crate) target: String,
    pub(crate) config: Config,
    pub(crate) branches: UnknownBranches,
    pub(crate) purpose: Purpose,
    pub(crate) processor_clock: Option<ProcessorClock>,
    pub(crate) compiled: Option<CompiledFiles>,
}

/// Purpose of an evaluation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// Declares resources.
    Program,
    /// Runs the tests of a file, which declares no resource itself.
    Tests { pattern: Option<String> },
}

pub(crate) struct Session {
    pub(crate) settings: Settings,
    pub(crate) limits: Limits,
    pub(crate) requester: Requester,
    pub(crate) files: BTreeMap<String, LoadedFile>,
    pub(crate) sites: SiteTable,
    tracer: Tracer,
    /// Loads the files that code asks for while the program runs; `None` when it has run.
    pub(crate) loader: Option<Loader>,
    /// Errors that the program may catch, by the number that their exception carries.
    pub(crate) catchable: Vec<CatchableError>,
    schemas: HashMap<TypeToken, Rc<TypeSchema>>,
    pub(crate) exprs: ExprTable,
    /// Number of functions that the program made from text.
    pub(crate) functions_from_text: u32,
    /// Facts about each expression, by number.
    facts: Vec<Fact>,
    constants: Vec<(Constant, ExprId)>,
    /// Number of deferred functions that the program gave to `stead.apply` and `stead.ephemeral`.
    pub(crate) deferred_functions: u32,
    /// Numbers of the deferred functions that the program gave to `stead.ephemeral`.
    pub(crate) ephemeral_functions: BTreeSet<u32>,
    /// Config values that hold.
    pub(crate) config: Resolution,
    /// Keys that the program has declared itself.
    pub(crate) declared_config: Option<Schema>,
    reserved_bytes: usize,
    /// The memory limit is exceeded; the engine stops the program at its next interrupt.
    pub(crate) exhausted: Rc<Cell<bool>>,
    properties: HashMap<(NodeId, String), ExprId>,
    pub(crate) drafts: Vec<Draft>,
    /// Calls of `move`.
    pub(crate) moves: Vec<Move>,
    /// Project files that the program has read.
    pub(crate) file_cache: FileCache,
    pub(crate) console: Vec<ConsoleLine>,
    pub(crate) diagnostics: Vec<Diagnostic>,
    /// `None` for a program.
    pub(crate) tests: Option<TestSession>,
}

/// Reason why an expression is not in the graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NotAdded {
    OutOfMemory,
    /// Its value would exceed the size limit, whatever the providers return.
    TooLarge,
}

/// Maximum number of reported errors.
const MAX_DIAGNOSTICS: usize = 50;

impl Session {
    pub(crate) fn new(
        settings: Settings,
        limits: Limits,
        requester: Requester,
        mut loader: Loader,
    ) -> Session {
        let branches = settings.branches;
        let config = settings.config.resolve();
        let diagnostics = config.problems.clone();
        let tests = match &settings.purpose {
            Purpose::Program => None,
            Purpose::Tests { pattern } => {
                Some(TestSession { pattern: pattern.clone(), ..TestSession::default() })
            }
        };
        Session {
            tests,
            settings,
            limits,
            requester,
            files: std::mem::take(&mut loader.out.files),
            sites: std::mem::take(&mut loader.out.sites),
            tracer: Tracer::new(branches),
            loader: Some(loader),
            catchable: Vec::new(),
            schemas: HashMap::new(),
            exprs: ExprTable::default(),
            functions_from_text: 0,
            facts: Vec::new(),
            constants: Vec::new(),
            deferred_functions: 0,
            ephemeral_functions: BTreeSet::new(),
            config,
            declared_config: None,
            reserved_bytes: 0,
            exhausted: Rc::default(),
            properties: HashMap::new(),
            drafts: Vec::new(),
            moves: Vec::new(),
            file_cache: FileCache::default(),
            console: Vec::new(),
            diagnostics,
        }
    }

    /// Records an error. The evaluation fails, even if the program catches the exception.
    pub(crate) fn report(&mut self, problem: Diagnostic) {
        if self.diagnostics.len() < MAX_DIAGNOSTICS && !self.diagnostics.contains(&problem) {
            self.diagnostics.push(problem);
        }
    }

    pub(crate) fn schema(&mut self, token: &TypeToken) -> Option<Rc<TypeSchema>> {
        if !self.schemas.contains_key(token) {
            let schema = self.requester.schema(token)?;
            self.schemas.insert(token.clone(), Rc::new(schema));
        }
        self.schemas.get(token).cloned()
    }

    pub(crate) fn draft(&self, node: i32) -> Option<&Draft> {
        self.drafts.get(usize::try_from(node).ok()?)
    }

    /// Allocates the node of a resource before its constructor runs. Returns the message of an error.
    pub(crate) fn begin(
        &mut self,
        site: usize,
        parent: i32,
        class: String,
        token: String,
    ) -> Result<u32, String> {
        let problem = if self.tests.is_some() {
            Diagnostic::error(Code::TEST_REQUEST, "a test file cannot declare a resource").help(
                "put the resource into a program file, and evaluate that file with `declare({ main: \"…\" })`",
            )
        } else if self.drafts.len() >= self.limits.resources {
            let message = format!("the program declares more than {} resources", self.limits.resources);
            Diagnostic::error(Code::EVALUATION_LIMIT, message)
        } else if class.is_empty() {
            Diagnostic::error(Code::PROGRAM_THREW, "a resource class needs a name")
                .help("the class name is part of the resource names: write `class Name extends …`")
        } else {
            self.drafts.push(Draft {
                class,
                token: (!token.is_empty()).then_some(TypeToken(token)),
                site,
                parent: u32::try_from(parent).ok().map(NodeId),
                progress: Progress::Constructing,
                id: None,
                gid: None,
                inputs: Inputs::new(),
                concealed: Inputs::new(),
                options: Options::default(),
                has_invalid_inputs: false,
                pinned: None,
                pinned_by_class: None,
            });
            return Ok(self.drafts.len() as u32 - 1);
        };
        let message = problem.message.clone();
        let place = self.locate_site(site);
        self.report(problem.at(place.at, place.length, "declared here"));
        Err(message)
    }

    /// Accounts for memory that the session holds on behalf of the program, which the engine's own limit does not cover.
    ///
    /// Returns false if the limit is exceeded, which ends the evaluation.
    pub(crate) fn reserve(&mut self, bytes: usize) -> bool {
        self.reserved_bytes = self.reserved_bytes.saturating_add(bytes);
        let fits = self.reserved_bytes <= self.limits.evaluation_heap;
        if !fits {
            self.exhausted.set(true);
            let message = "the program declares or prints more data than the memory limit allows";
            let limit = format!("the limit is {} MiB", self.limits.evaluation_heap >> 20);
            self.report(Diagnostic::error(Code::EVALUATION_LIMIT, message).note(limit));
        }
        fits
    }

    /// Adds an expression.
    pub(crate) fn expression(&mut self, expr: Expr, text_bytes: usize) -> Result<ExprId, NotAdded> {
        if !self.reserve(size_of::<Expr>() + size_of::<Fact>() + text_bytes) {
            return Err(NotAdded::OutOfMemory);
        }
        let shape = match &expr {
            Expr::Property { node, property } => self.property_shape(*node, property),
            _ => Shape::Any,
        };
        let fact = facts::about(&self.facts, &expr, || shape);
        self.add(expr, fact)
    }

    /// Adds an expression for a secret. `bytes` is the approximate size of its value.
    ///
    /// The graph prints and saves the expressions that the secret depends on, never its value.
    pub(crate) fn secret(
        &mut self,
        from: String,
        source: SourceRef,
        value: Input,
        bytes: usize,
    ) -> Result<ExprId, NotAdded> {
        self.secret_made_by(SecretInput::new, from, source, value, bytes)
    }

    /// Adds the expression of a secret that `made_by` makes of the value: a shared one, or a local one.
    pub(crate) fn secret_made_by(
        &mut self,
        made_by: fn(Input) -> SecretInput,
        from: String,
        source: SourceRef,
        value: Input,
        bytes: usize,
    ) -> Result<ExprId, NotAdded> {
        let mut needs = BTreeSet::new();
        expressions(&value, &mut needs);
        let held = bytes + from.len() + needs.len() * size_of::<ExprId>();
        if !self.reserve(size_of::<Expr>() + size_of::<Fact>() + held) {
            return Err(NotAdded::OutOfMemory);
        }
        let fact = facts::of_secret(&self.facts, &value);
        let needs = needs.into_iter().collect();
        self.add(Expr::Secret { from, source, needs, value: made_by(value) }, fact)
    }

    fn add(&mut self, expr: Expr, fact: Fact) -> Result<ExprId, NotAdded> {
        if fact.least > MAX_DEFERRED_BYTES as u64 {
            return Err(NotAdded::TooLarge);
        }
        self.facts.push(fact);
        Ok(self.exprs.push(expr))
    }

    /// Returns the expression for a value that data cannot hold. Equal values share one expression.
    pub(crate) fn constant(&mut self, constant: Constant) -> Result<ExprId, NotAdded> {
        if let Some((_, id)) = self.constants.iter().find(|(known, _)| *known == constant) {
            return Ok(*id);
        }
        let id = self.expression(Expr::Constant(constant), 0)?;
        self.constants.push((constant, id));
        Ok(id)
    }

    /// Returns the shape of the values of an expression.
    pub(crate) fn shape(&self, id: ExprId) -> Option<&Shape> {
        self.facts.get(id.0 as usize).map(|fact| &fact.shape)
    }

    pub(crate) fn may_be_undefined(&self, id: ExprId) -> bool {
        self.facts.get(id.0 as usize).is_none_or(|fact| fact.may_be_undefined)
    }

    fn property_shape(&mut self, node: NodeId, property: &str) -> Shape {
        let token = self.drafts.get(node.index()).and_then(|draft| draft.token.clone());
        let schema = token.and_then(|token| self.schema(&token));
        match schema.as_ref().and_then(|schema| schema.property(property)).map(|property| &property.shape) {
            Some(Shape::Choice(_)) => Shape::String,
            Some(shape) => shape.clone(),
            None => Shape::Any,
        }
    }

    /// Returns the expression for a property of a resource. Repeated reads share one expression.
    pub(crate) fn property(&mut self, node: u32, property: &str) -> Option<ExprId> {
        let key = (NodeId(node), property.to_owned());
        if let Some(known) = self.properties.get(&key) {
            return Some(*known);
        }
        let expr = Expr::Property { node: key.0, property: property.to_owned() };
        let id = self.expression(expr, 2 * property.len()).ok()?;
        let path = PropertyPath::of(property);
        let id = conceal::output(self, key.0, &path, id).ok()?;
        self.properties.insert(key, id);
        Some(id)
    }

    pub(crate) fn get(&mut self, of: u32, key: &str) -> Option<ExprId> {
        let id = self.expression(Expr::Get { of: ExprId(of), key: member_key(key) }, 32).ok()?;
        match self.property_path(id) {
            Some((node, path)) => conceal::output(self, node, &path, id).ok(),
            None => Some(id),
        }
    }

    /// Returns the path of an expression that reads a property of a resource or a member of one. Skips resources without the
    /// option `sensitive`.
    fn property_path(&self, id: ExprId) -> Option<(NodeId, PropertyPath)> {
        let mut steps = Vec::new();
        let mut at = id;
        loop {
            match self.exprs.get(at)? {
                Expr::Get { of, key } => {
                    steps.push(match key {
                        Key::Index(index) => Segment::Index(*index),
                        Key::Name(name) => Segment::Key(name.clone()),
                    });
                    at = *of;
                }
                Expr::Property { node, property } => {
                    if self.drafts.get(node.index())?.options.sensitive.is_empty() {
                        return None;
                    }
                    steps.push(Segment::Key(property.clone()));
                    steps.reverse();
                    return Some((*node, PropertyPath(steps)));
                }
                _ => return None,
            }
        }
    }

    /// Locates a site, or the start of the entry point for an unknown site.
    pub(crate) fn locate_site(&self, site: usize) -> SourceSpan {
        self.sites.locate(site).unwrap_or_else(|| SourceSpan {
            at: SourceRef { file: self.settings.entry.clone(), line: 1, column: 1 },
            length: 0,
        })
    }

    /// Locates the keyword `new` that declared a resource.
    pub(crate) fn declared_at(&self, node: i32) -> Option<SourceSpan> {
        let place = self.locate_site(self.draft(node)?.site);
        Some(SourceSpan { length: place.length.min("new".len()), ..place })
    }

    pub(crate) fn frames(&mut self, stack: &str) -> Vec<Frame> {
        self.tracer.frames(stack, &self.files)
    }

    /// Locates the loop that contains a span, or the next one.
    pub(crate) fn loop_at(&self, place: &SourceSpan) -> Option<SourceSpan> {
        self.tracer.loop_at(place, &self.files)
    }

    /// Returns true once the graph is delivered: only deferred functions still run.
    pub(crate) fn has_run(&self) -> bool {
        self.loader.is_none()
    }

    /// Returns the place of the innermost call of a stack trace, or the start of the entry point.
    pub(crate) fn place_of(&mut self, stack: &str) -> SourceRef {
        let start = SourceRef { file: self.settings.entry.clone(), line: 1, column: 1 };
        self.locate_stack(stack).map_or(start, |place| place.at)
    }

    /// Locates the innermost call of a stack trace in the program's files.
    pub(crate) fn locate_stack(&mut self, stack: &str) -> Option<SourceSpan> {
        self.frames(stack).into_iter().next().map(|frame| frame.place)
    }

    /// Adds the label "here" at the innermost call of a stack trace.
    pub(crate) fn label_stack(&mut self, problem: Diagnostic, stack: &str) -> Diagnostic {
        match self.locate_stack(stack) {
            Some(place) => problem.at(place.at, place.length, "here"),
            None => problem,
        }
    }

    /// Describes a resource by type and id, such as `local.File#readme`, before names are assigned.
    pub(crate) fn describe_node(&self, node: i32) -> String {
        let Some(draft) = self.draft(node) else { return "a resource".to_owned() };
        let kind = draft.token.as_ref().map_or(draft.class.as_str(), TypeToken::as_str);
        match draft.id.as_ref().or(draft.gid.as_ref()) {
            Some(id) => format!("{kind}#{id}"),
            None => kind.to_owned(),
        }
    }
}

/// Collects the expressions that an input refers to directly.
fn expressions(input: &Input, found: &mut BTreeSet<ExprId>) {
    match input {
        Input::Known(_) => {}
        Input::Deferred(id) => drop(found.insert(*id)),
        Input::List(items) => items.iter().for_each(|item| expressions(item, found)),
        Input::Map(map) => map.values().for_each(|item| expressions(item, found)),
    }
}

/// Returns the key of a member by its name. A canonical number is an index.
pub(crate) fn member_key(name: &str) -> Key {
    let canonical = |index: &usize| index.to_string() == name;
    match name.parse::<usize>().ok().filter(canonical) {
        Some(index) => Key::Index(index),
        None => Key::Name(name.to_owned()),
    }
}
