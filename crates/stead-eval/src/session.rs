//! What is known of the program while it runs: its files, what it has declared so far, what went wrong.
//!
//! **Invariant:** nothing here calls the engine. The prelude may call back at any time, so that a session that
//! is borrowed while JavaScript runs would be borrowed twice.

use std::cell::Cell;
use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

use stead_model::{
    Code, Diagnostic, Environment, Expr, ExprId, ExprTable, Input, Key, Limits, Map, NodeId, Options,
    SourceRef, TypeToken,
};
use stead_schema::TypeSchema;

use crate::assets::Answers;
use crate::load::{Loaded, LoadedFile};
use crate::place::Place;
use crate::port::Port;
use crate::site::SiteTable;
use crate::trace::{Frame, Tracer};
use crate::{ConsoleLine, UnknownBranches};

/// How far a resource's constructor has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Progress {
    /// `super` was not called yet.
    Begun,
    Declared,
    /// The constructor threw.
    Abandoned,
}

/// A resource that the program has allocated. It gets its name when the program is through: what is made
/// before `super` lies in a resource whose id is not known yet.
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
    pub(crate) inputs: BTreeMap<String, Input>,
    pub(crate) options: Options,
    /// Some of its inputs were not data, and are missing from `inputs`.
    pub(crate) broken: bool,
    /// What `nodeOf` said last.
    pub(crate) pinned: Option<bool>,
    /// What its class says of all its instances.
    pub(crate) pinned_by_class: Option<bool>,
}

impl Draft {
    /// What is said of this very resource: the last word first, its class last.
    pub(crate) fn pin_setting(&self) -> Option<bool> {
        self.pinned.or(self.options.pinned).or(self.pinned_by_class)
    }
}

/// The program's view of where it runs.
#[derive(Clone, Debug)]
pub(crate) struct Setting {
    pub(crate) entry: String,
    pub(crate) environment: Environment,
    pub(crate) project: String,
    pub(crate) target: String,
    pub(crate) config: Map,
    pub(crate) branches: UnknownBranches,
}

pub(crate) struct Session {
    pub(crate) setting: Setting,
    pub(crate) limits: Limits,
    pub(crate) port: Port,
    pub(crate) files: BTreeMap<String, LoadedFile>,
    pub(crate) sites: SiteTable,
    tracer: Tracer,
    schemas: HashMap<TypeToken, Rc<TypeSchema>>,
    pub(crate) exprs: ExprTable,
    /// How many functions the program gave to `stead.apply` that wait for their arguments.
    pub(crate) applied: u32,
    kept_bytes: usize,
    /// Nothing more fits: the engine stops the program as soon as it looks.
    pub(crate) exhausted: Rc<Cell<bool>>,
    properties: HashMap<(NodeId, String), ExprId>,
    pub(crate) drafts: Vec<Draft>,
    /// What the program has read of the project's files.
    pub(crate) answers: Answers,
    pub(crate) console: Vec<ConsoleLine>,
    pub(crate) diagnostics: Vec<Diagnostic>,
}

/// More problems than this help nobody.
const MAX_DIAGNOSTICS: usize = 50;

impl Session {
    pub(crate) fn new(setting: Setting, limits: Limits, port: Port, loaded: &mut Loaded) -> Session {
        let branches = setting.branches;
        Session {
            setting,
            limits,
            port,
            files: std::mem::take(&mut loaded.files),
            sites: std::mem::take(&mut loaded.sites),
            tracer: Tracer::new(branches),
            schemas: HashMap::new(),
            exprs: ExprTable::default(),
            applied: 0,
            kept_bytes: 0,
            exhausted: Rc::default(),
            properties: HashMap::new(),
            drafts: Vec::new(),
            answers: Answers::default(),
            console: Vec::new(),
            diagnostics: Vec::new(),
        }
    }

    /// Records a problem. The evaluation fails with it, whatever the program does next.
    pub(crate) fn report(&mut self, problem: Diagnostic) {
        if self.diagnostics.len() < MAX_DIAGNOSTICS && !self.diagnostics.contains(&problem) {
            self.diagnostics.push(problem);
        }
    }

    pub(crate) fn schema(&mut self, token: &TypeToken) -> Option<Rc<TypeSchema>> {
        if !self.schemas.contains_key(token) {
            let schema = self.port.schema(token)?;
            self.schemas.insert(token.clone(), Rc::new(schema));
        }
        self.schemas.get(token).cloned()
    }

    pub(crate) fn draft(&self, node: i32) -> Option<&Draft> {
        self.drafts.get(usize::try_from(node).ok()?)
    }

    /// Reserves the node of a resource whose constructor is about to run.
    pub(crate) fn begin(
        &mut self,
        site: usize,
        parent: i32,
        class: String,
        token: String,
    ) -> Result<u32, String> {
        let problem = if self.drafts.len() >= self.limits.resources {
            let message = format!("the program declares more than {} resources", self.limits.resources);
            Diagnostic::error(Code::EVALUATION_LIMIT, message)
        } else if class.is_empty() {
            Diagnostic::error(Code::PROGRAM_THREW, "a resource class needs a name")
                .help("the class is part of the names of its resources: write `class Name extends …`")
        } else {
            self.drafts.push(Draft {
                class,
                token: (!token.is_empty()).then_some(TypeToken(token)),
                site,
                parent: u32::try_from(parent).ok().map(NodeId),
                progress: Progress::Begun,
                id: None,
                gid: None,
                inputs: BTreeMap::new(),
                options: Options::default(),
                broken: false,
                pinned: None,
                pinned_by_class: None,
            });
            return Ok(self.drafts.len() as u32 - 1);
        };
        let message = problem.message.clone();
        let place = self.site_place(site);
        self.report(problem.at(place.at, place.length, "made here"));
        Err(message)
    }

    /// Counts what the session keeps for the program: it is as large as the program makes it, and the engine's
    /// own limit does not see it. False if it is too much, which ends the evaluation.
    pub(crate) fn keep(&mut self, bytes: usize) -> bool {
        self.kept_bytes = self.kept_bytes.saturating_add(bytes);
        let fits = self.kept_bytes <= self.limits.evaluation_heap;
        if !fits {
            self.exhausted.set(true);
            let message = "the program declares or prints more than fits into memory";
            let limit = format!("it may take {} MiB", self.limits.evaluation_heap >> 20);
            self.report(Diagnostic::error(Code::EVALUATION_LIMIT, message).note(limit));
        }
        fits
    }

    /// Adds an expression; `None` if there are too many.
    pub(crate) fn expression(&mut self, expr: Expr, text_bytes: usize) -> Option<ExprId> {
        let fits = self.keep(size_of::<Expr>() + text_bytes);
        fits.then(|| self.exprs.push(expr))
    }

    /// The expression for a property of a resource; one for each, however often it is read.
    pub(crate) fn property(&mut self, node: u32, property: &str) -> Option<ExprId> {
        let key = (NodeId(node), property.to_owned());
        if let Some(known) = self.properties.get(&key) {
            return Some(*known);
        }
        let expr = Expr::Property { node: key.0, property: property.to_owned() };
        let id = self.expression(expr, 2 * property.len())?;
        self.properties.insert(key, id);
        Some(id)
    }

    pub(crate) fn get(&mut self, of: u32, key: &str) -> Option<ExprId> {
        let canonical = |index: &usize| index.to_string() == key;
        let key = match key.parse::<usize>().ok().filter(canonical) {
            Some(index) => Key::Index(index),
            None => Key::Name(key.to_owned()),
        };
        self.expression(Expr::Get { of: ExprId(of), key }, 32)
    }

    /// Where a site is; the entry's start for one that does not exist.
    pub(crate) fn site_place(&self, site: usize) -> Place {
        self.sites.place(site).unwrap_or_else(|| Place {
            at: SourceRef { file: self.setting.entry.clone(), line: 1, column: 1 },
            length: 0,
        })
    }

    /// Where a resource was declared. The keyword and the class are underlined, not the whole call.
    pub(crate) fn declared_at(&self, node: i32) -> Option<Place> {
        let place = self.site_place(self.draft(node)?.site);
        Some(Place { length: place.length.min("new".len()), ..place })
    }

    pub(crate) fn frames(&mut self, stack: &str) -> Vec<Frame> {
        self.tracer.frames(stack, &self.files)
    }

    /// The loop that runs where the program was last seen.
    pub(crate) fn loop_at(&self, place: &Place) -> Option<Place> {
        self.tracer.loop_at(place, &self.files)
    }

    /// Where the program was when a stack was taken.
    pub(crate) fn stack_place(&mut self, stack: &str) -> Option<Place> {
        self.frames(stack).into_iter().next().map(|frame| frame.place)
    }

    /// `local.File#readme`: enough to recognise a resource while names are not given yet.
    pub(crate) fn describe_node(&self, node: i32) -> String {
        let Some(draft) = self.draft(node) else { return "a resource".to_owned() };
        let kind = draft.token.as_ref().map_or(draft.class.as_str(), TypeToken::as_str);
        match draft.id.as_ref().or(draft.gid.as_ref()) {
            Some(id) => format!("{kind}#{id}"),
            None => kind.to_owned(),
        }
    }
}
