//! Answers the requests of one test file.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use stead_engine::ops::OpError;
use stead_eval::{Compared, Refused, TestHost};
use stead_model::{Code, Diagnostic, NodeId, Value, nearest};

use super::cloud::TestCloud;
use super::declare::{Declarations, Declared};
use super::live::{Change, LiveStack};
use super::requests::{
    AllRequest, CloudRequest, CloudSettings, DeclareOptions, FaultPlanRequest, FaultRequest, FindRequest,
    NewStack, Origin, PlanRequest, RecordRequest, RunRequest, misuse, read, refused,
};
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
    clouds: RefCell<Vec<Rc<TestCloud>>>,
    stacks: RefCell<Vec<Rc<LiveStack>>>,
}

impl TestHost for FileHost<'_> {
    fn answer(&self, request: &str, argument: &Value) -> Result<Value, Refused> {
        match request {
            "declare" => self.declare(&read("declare", argument)?),
            "find" => self.find(&read("find", argument)?),
            "all" => self.all(&read("all", argument)?),
            "plan" => self.plan(&read("plan", argument)?),
            "cloud" => self.new_cloud(&read("freshCloud", argument)?),
            "stack" => self.new_stack(&read("freshStack", argument)?),
            "cloud.calls" => self.cloud_of(argument).map(|cloud| cloud.calls()),
            "cloud.fail-next" => {
                let asked: FaultRequest = read("failNext", argument)?;
                self.cloud(asked.cloud)?.fail_next(asked, self.shared.declarations.catalog())
            }
            "cloud.faults" => {
                let asked: FaultPlanRequest = read("faults", argument)?;
                Ok(self.cloud(asked.cloud)?.set_faults(&asked))
            }
            "stack.plan" => self.plan_live(&read("plan", argument)?),
            "stack.apply" => self.apply_live(Change::Up, &read("apply", argument)?),
            "stack.destroy" => self.apply_live(Change::Destroy, &read("destroy", argument)?),
            request if request.starts_with("cloud.") => self.ask_cloud(request, argument),
            request if request.starts_with("stack.") => self.ask_stack(request, argument),
            other => Err(misuse(format!("there is no request `{other}`"))),
        }
    }

    fn snapshot(&self, test: &str, hint: &str, value: &Value) -> Compared {
        self.snapshots.borrow_mut().compare(test, hint, value)
    }
}

impl<'a> FileHost<'a> {
    pub(super) fn new(shared: &'a Shared, snapshots: Snapshots) -> FileHost<'a> {
        FileHost {
            shared,
            snapshots: RefCell::new(snapshots),
            declared: RefCell::default(),
            clouds: RefCell::default(),
            stacks: RefCell::default(),
        }
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
                return Ok(Value::Map(view::with_refusal(view::no_plan(), &problems(&error))));
            }
            Err(error) => return Err(refusal(&error)),
        };
        let plan = view::plan(proposal.plan(), proposal.graph());
        Ok(Value::Map(match proposal.permit() {
            Ok(_) => plan,
            Err(error) => view::with_refusal(plan, &problems(&error)),
        }))
    }

    fn new_cloud(&self, settings: &CloudSettings) -> Result<Value, Refused> {
        let project = &self.shared.declarations.current().project;
        let cloud = TestCloud::new(settings, project.embedded_region(&project.default_target));
        let mut clouds = self.clouds.borrow_mut();
        clouds.push(Rc::new(cloud));
        Ok(Value::from(clouds.len() as i64 - 1))
    }

    fn new_stack(&self, request: &NewStack) -> Result<Value, Refused> {
        let declarations = &self.shared.declarations;
        let (environment, target) = declarations.place(&request.options)?;
        let cloud = self.cloud(request.cloud)?;
        let stack = LiveStack::new(&cloud, &declarations.current().project, environment, target);
        let mut stacks = self.stacks.borrow_mut();
        stacks.push(Rc::new(stack));
        Ok(Value::from(stacks.len() as i64 - 1))
    }

    fn cloud(&self, number: usize) -> Result<Rc<TestCloud>, Refused> {
        self.clouds
            .borrow()
            .get(number)
            .cloned()
            .ok_or_else(|| misuse("this cloud was not made by `freshCloud`"))
    }

    fn cloud_of(&self, argument: &Value) -> Result<Rc<TestCloud>, Refused> {
        self.cloud(read::<CloudRequest>("calls", argument)?.cloud)
    }

    fn stack(&self, number: usize) -> Result<Rc<LiveStack>, Refused> {
        self.stacks
            .borrow()
            .get(number)
            .cloned()
            .ok_or_else(|| misuse("this stack was not made by `freshStack`"))
    }

    fn ask_cloud(&self, request: &str, argument: &Value) -> Result<Value, Refused> {
        let name = request.trim_start_matches("cloud.");
        let asked: CloudRequest = read(name, argument)?;
        self.cloud(asked.cloud)?.answer(name, &asked, self.shared.declarations.catalog())
    }

    fn ask_stack(&self, request: &str, argument: &Value) -> Result<Value, Refused> {
        let name = request.trim_start_matches("stack.");
        let asked: RecordRequest = read(name, argument)?;
        let stack = self.stack(asked.stack)?;
        match name {
            "refresh" => stack.refresh(self.shared.declarations.catalog()),
            "resources" => stack.resources(),
            "find" => stack.find(asked.name.as_deref().unwrap_or_default()),
            "pinfile" => Ok(stack.pinfile()),
            other => Err(misuse(format!("there is no request `stack.{other}`"))),
        }
    }

    fn plan_live(&self, request: &RunRequest) -> Result<Value, Refused> {
        let (stack, declared) = self.declared_on(request)?;
        stack.plan(&declared, &request.how, self.shared.declarations.catalog())
    }

    fn apply_live(&self, change: Change, request: &RunRequest) -> Result<Value, Refused> {
        let (stack, declared) = self.declared_on(request)?;
        stack.apply(change, &declared, &request.how, self.shared.declarations.catalog())
    }

    /// Returns the stack of a request, and the program that is applied to it.
    fn declared_on(&self, request: &RunRequest) -> Result<(Rc<LiveStack>, Arc<Declared>), Refused> {
        let stack = self.stack(request.stack)?;
        let declared = self.declared_at(&request.to, &request.options, "to")?;
        let (environment, target) = (&stack.environment, &stack.target);
        if (environment, target) != (&declared.environment, &declared.target) {
            let message = format!(
                "the stack is environment {environment} on target {target}, and the program is declared for environment {} on \
                 target {}",
                declared.environment, declared.target
            );
            return Err(misuse(message));
        }
        Ok((stack, declared))
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
