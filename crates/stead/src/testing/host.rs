//! Answers the requests of one test file.

use std::cell::RefCell;
use std::sync::Arc;

use stead_engine::ops::OpError;
use stead_eval::{Compared, Refused, TestHost};
use stead_model::{Code, Diagnostic, Map, NodeId, Value, nearest};

use super::declare::{Declarations, Declared};
use super::requests::{AllRequest, DeclareOptions, FindRequest, Origin, PlanRequest, misuse, read, refused};
use super::snapshots::Snapshots;
use super::stack::{Base, Stacks, problems, refusal};
use super::view;
use crate::read_export;

/// State that the test files of a run share.
pub(super) struct Shared {
    pub(super) declarations: Declarations,
    pub(super) stacks: Stacks,
}

/// Answers for one test file.
pub(super) struct FileHost<'a> {
    pub(super) shared: &'a Shared,
    pub(super) snapshots: RefCell<Snapshots>,
    /// Programs that the file has declared, by their numbers.
    declared: RefCell<Vec<Arc<Declared>>>,
}

impl TestHost for FileHost<'_> {
    fn answer(&self, request: &str, argument: &Value) -> Result<Value, Refused> {
        match request {
            "declare" => self.declare(&read("declare", argument)?),
            "find" => self.find(&read("find", argument)?),
            "all" => self.all(&read("all", argument)?),
            "plan" => self.plan(&read("plan", argument)?),
            other => Err(misuse(format!("there is no request `{other}`"))),
        }
    }

    fn snapshot(&self, test: &str, hint: &str, value: &Value) -> Compared {
        self.snapshots.borrow_mut().compare(test, hint, value)
    }
}

impl<'a> FileHost<'a> {
    pub(super) fn new(shared: &'a Shared, snapshots: Snapshots) -> FileHost<'a> {
        FileHost { shared, snapshots: RefCell::new(snapshots), declared: RefCell::default() }
    }

    fn declare(&self, options: &DeclareOptions) -> Result<Value, Refused> {
        let declarations = &self.shared.declarations;
        let declared = declarations.declare(&declarations.current(), options)?;
        Ok(view::declared(self.number(&declared), &declared))
    }

    /// Returns the number of a declared program. A program that is declared again keeps its number.
    fn number(&self, declared: &Arc<Declared>) -> usize {
        let mut all = self.declared.borrow_mut();
        if let Some(at) = all.iter().position(|known| Arc::ptr_eq(known, declared)) {
            return at;
        }
        all.push(declared.clone());
        all.len() - 1
    }

    fn app(&self, number: usize) -> Result<Arc<Declared>, Refused> {
        let declared = self.declared.borrow().get(number).cloned();
        declared.ok_or_else(|| misuse("this program was not declared by `declare`"))
    }

    /// Finds a resource by its name, with or without the environment.
    fn find(&self, request: &FindRequest) -> Result<Value, Refused> {
        let declared = self.app(request.graph)?;
        let nodes = || declared.graph.nodes.iter().zip((0..).map(NodeId));
        let is =
            |name: &stead_model::Name| view::shown(name) == request.name || name.to_string() == request.name;
        if let Some((_, id)) = nodes().find(|(node, _)| is(&node.name)) {
            return Ok(view::resource(&declared, id));
        }
        let names: Vec<String> = nodes().map(|(node, _)| view::shown(&node.name)).collect();
        let problem =
            Diagnostic::error(Code::NOT_FOUND, format!("the program declares no `{}`", request.name));
        let few = |names: &[String]| names.iter().take(10).cloned().collect::<Vec<_>>().join(", ");
        Err(refused(match nearest(&request.name, names.iter().map(String::as_str)) {
            Some(meant) => problem.help(format!("did you mean `{meant}`?")),
            None if names.is_empty() => problem.note("The program declares no resource at all."),
            None => problem.note(format!("It declares {} resources: {}", names.len(), few(&names))),
        }))
    }

    fn all(&self, request: &AllRequest) -> Result<Value, Refused> {
        let declared = self.app(request.graph)?;
        let matching = declared.graph.ids().filter(|id| view::matches(&declared, *id, &request.filter));
        Ok(matching.map(|id| view::resource(&declared, id)).collect())
    }

    fn plan(&self, request: &PlanRequest) -> Result<Value, Refused> {
        let PlanRequest { from, to, options } = request;
        let to = self.declared_at(to, options, "to")?;
        let base = match from {
            Origin::Nothing => Base::Nothing,
            Origin::State { path } => Base::Snapshot(Box::new(self.state(path)?)),
            from => Base::Applied(self.declared_at(from, options, "from")?),
        };
        if let Base::Applied(from) = &base
            && (&from.environment, &from.target) != (&to.environment, &to.target)
        {
            let message = format!(
                "the plan starts from environment {} on target {} and leads to environment {} on target {}",
                from.environment, from.target, to.environment, to.target
            );
            return Err(misuse(message));
        }
        let proposal = match self.shared.stacks.plan(base, &to, self.shared.declarations.catalog()) {
            Ok(proposal) => proposal,
            // The guards of the pinfile object before there is a plan.
            Err(error @ OpError::Pins(_)) => {
                let empty = [("complete", Value::Bool(false)), ("steps", Value::from(Vec::<Value>::new()))];
                return Ok(with_refusal(empty.into(), &error));
            }
            Err(error) => return Err(refusal(&error)),
        };
        let plan = view::plan(proposal.plan(), proposal.graph());
        Ok(match proposal.permit() {
            Ok(_) => Value::Map(plan),
            Err(error) => with_refusal(plan, &error),
        })
    }

    /// Returns the program of a version, evaluated with the options of the request.
    fn declared_at(
        &self,
        origin: &Origin,
        options: &DeclareOptions,
        name: &str,
    ) -> Result<Arc<Declared>, Refused> {
        match origin {
            Origin::App { graph } => self.app(*graph),
            Origin::State { .. } | Origin::Nothing => {
                Err(misuse(format!("`{name}` is a program: `declare(…)`, `gitRef(…)` or `folder(…)`")))
            }
            origin => {
                let version = self.shared.declarations.version(origin)?;
                self.shared.declarations.declare(&version, options)
            }
        }
    }

    fn state(&self, path: &str) -> Result<stead_state::Snapshot, Refused> {
        let project = &self.shared.declarations.current().project;
        let export =
            read_export(project.world(), &project.root.join(path)).map_err(|error| refusal(&error))?;
        Ok(export.into_snapshot())
    }
}

/// Adds the reasons of the guards to a plan.
fn with_refusal(mut plan: Map, error: &OpError) -> Value {
    let problems = problems(error);
    let message = problems.first().map(|problem| problem.message.clone()).unwrap_or_default();
    let one = |problem: &Diagnostic| {
        let members = [("code", problem.code.as_str()), ("message", problem.message.as_str())];
        Value::Map(members.into_iter().map(|(key, text)| (key, Value::from(text))).collect())
    };
    let refusal = [("message", Value::from(message)), ("problems", problems.iter().map(one).collect())];
    plan.insert("refusal", Value::Map(refusal.into()));
    Value::Map(plan)
}
