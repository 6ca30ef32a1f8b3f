//! Imports existing resources into the stack.

use stead_guard::{OuterLevels, mark_graph};
use stead_model::{
    Code, DeletionPolicy, Diagnostic, Graph, Input, Map, Module, Name, NameParts, Node, NodeId, NodeKind,
    Options, PhysicalId, SourceRef, Text, TypeToken, Value, check_id,
};
use stead_plan::{Glob, Request, Selection, ServedBy};
use stead_provider::{Completeness, Refusal};
use stead_state::State;

use crate::ops::error::reserved_key;
use crate::ops::{OpError, Workspace};

/// The resource to import, and the name that it gets.
#[derive(Clone, Debug)]
pub struct Import {
    pub name: Name,
    pub ty: TypeToken,
    pub id: PhysicalId,
    /// Name of the declared provider resource that serves it; `None` for the default provider of the target.
    pub provider: Option<String>,
}

/// An imported resource that the program does not declare, with its properties as the provider has them.
#[derive(Clone, Debug)]
pub struct Undeclared {
    pub name: Name,
    pub ty: TypeToken,
    pub inputs: Map,
}

impl Import {
    /// `name` is a whole name, or an id in the module of the entry point.
    pub fn new(workspace: &Workspace, ty: &str, name: &str, id: &str) -> Result<Import, OpError> {
        let main = &workspace.pinfile.main;
        let module = main.rsplit_once('.').map_or(main.as_str(), |(module, _)| module);
        Import::in_module(workspace, module, ty, name, id)
    }

    /// `name` is a whole name, or an id in a module such as `lib/net`.
    pub fn in_module(
        workspace: &Workspace,
        module: &str,
        ty: &str,
        name: &str,
        id: &str,
    ) -> Result<Import, OpError> {
        let invalid = |problem: stead_model::NameError| {
            OpError::invalid(Diagnostic::error(Code::CANNOT_IMPORT, problem.to_string()))
        };
        let (ty, id) = (TypeToken(ty.to_owned()), PhysicalId(id.to_owned()));
        if name.contains([':', '#']) {
            let mut readings = Name::readings_in(name, workspace.environment()).map_err(invalid)?;
            return Ok(Import { name: readings.swap_remove(0), ty, id, provider: None });
        }
        check_id(name).map_err(invalid)?;
        let name = NameParts::Placed {
            environment: workspace.environment().clone(),
            module: Module(module.to_owned()),
            scope: Vec::new(),
            ty: ty.clone(),
            id: Some(name.to_owned()),
        };
        Ok(Import { name: name.into(), ty, id, provider: None })
    }

    /// Returns the import of a resource that a declared provider resource serves.
    #[must_use]
    pub fn served_by(self, provider: Option<String>) -> Import {
        Import { provider, ..self }
    }

    /// Returns the request that imports these resources, and touches no other.
    pub(super) fn request(all: &[Import], levels: OuterLevels) -> Request {
        let targets = all.iter().map(|import| Glob::new(import.name.to_string())).collect();
        let selection = Selection { targets, ..Selection::default() };
        Request { selection, outer: levels, ..Request::default() }
    }

    /// Puts the imports into the graph, and returns those that the program does not declare.
    pub(super) async fn declare_all(
        imports: &[Import],
        workspace: &Workspace,
        graph: &mut Graph,
        state: &State,
    ) -> Result<Vec<Undeclared>, OpError> {
        let mut undeclared = Vec::new();
        for import in imports {
            undeclared.extend(import.declare(workspace, graph, state).await?);
        }
        Ok(undeclared)
    }

    /// Puts the import into the graph: as an option of the declared resource, or as a resource of its own.
    async fn declare(
        &self,
        workspace: &Workspace,
        graph: &mut Graph,
        state: &State,
    ) -> Result<Option<Undeclared>, OpError> {
        if state.by_name(&self.name).is_some() {
            let message = format!("{} is recorded already", self.name);
            let problem = Diagnostic::error(Code::CANNOT_IMPORT, message).help("give it another name");
            return Err(OpError::refused(problem));
        }
        let served_by = self.provider_in(workspace, graph)?;
        let id = self.retained_id(workspace, served_by, state).await.unwrap_or_else(|| self.id.clone());
        let import = Import { id, ..self.clone() };
        import.declare_as(served_by, workspace, graph, state).await
    }

    async fn declare_as(
        &self,
        served_by: Option<NodeId>,
        workspace: &Workspace,
        graph: &mut Graph,
        state: &State,
    ) -> Result<Option<Undeclared>, OpError> {
        if let Some(node) = graph.nodes.iter_mut().find(|node| node.name == self.name) {
            if served_by.is_some() && node.options.provider != served_by {
                let message = format!("the program declares {} with another provider", self.name);
                let problem = Diagnostic::error(Code::CANNOT_IMPORT, message);
                return Err(OpError::invalid(problem.help("change its option `provider`")));
            }
            node.options.import = Some(self.id.clone());
            return Ok(None);
        }
        let inputs = self.read(workspace, served_by.and_then(|id| graph.node(id)), state).await?;
        let known = |(key, value): (&Text, &Value)| (key.clone(), Input::Known(value.clone()));
        let mut node = self.node(workspace, &inputs);
        node.options.provider = served_by;
        // A resource that was retained comes back with its deletion policy.
        if state.retained().any(|retained| retained.resource == self.ty && retained.id == self.id) {
            node.options.deletion_policy = Some(DeletionPolicy::Retain);
        }
        let mut alone = Graph { nodes: vec![node], ..Graph::default() };
        mark_graph(&mut alone, &workspace.levels).map_err(OpError::Refused)?;
        graph.nodes.append(&mut alone.nodes);
        // The program did not change: neither do the outputs.
        graph.outputs = state.outputs().iter().map(known).collect();
        Ok(Some(Undeclared { name: self.name.clone(), ty: self.ty.clone(), inputs }))
    }

    /// Returns the id by which state knows the resource, if it is a retained one with another spelling of its id.
    ///
    /// A retained resource that cannot be read is another one: the resource to import is read before its import.
    async fn retained_id(
        &self,
        workspace: &Workspace,
        served_by: Option<NodeId>,
        state: &State,
    ) -> Option<PhysicalId> {
        let of_type = || state.retained().filter(|retained| retained.resource == self.ty);
        if served_by.is_some() || of_type().next().is_none() || of_type().any(|one| one.id == self.id) {
            return None;
        }
        let engine = &workspace.engine;
        let own = engine.identities_of_existing(&self.ty, &self.id).await;
        if own.is_empty() {
            return None;
        }
        for retained in of_type() {
            if engine.identities_of_existing(&self.ty, &retained.id).await == own {
                return Some(retained.id.clone());
            }
        }
        None
    }

    fn node(&self, workspace: &Workspace, inputs: &Map) -> Node {
        let known = |(key, value): (&Text, &Value)| (key.clone(), Input::Known(value.clone()));
        Node {
            name: self.name.clone(),
            ty: self.ty.clone(),
            kind: NodeKind::Provisioned,
            parent: None,
            inputs: inputs.iter().map(known).collect(),
            // The program pins it once it declares it.
            options: Options {
                import: Some(self.id.clone()),
                pinned: Some(false),
                undeclared: true,
                ..Options::default()
            },
            source: SourceRef { file: workspace.pinfile.main.as_str().into(), line: 1, column: 1 },
            marks: Default::default(),
        }
    }

    /// Returns the declared provider resource that serves the import, if it names one.
    fn provider_in(&self, workspace: &Workspace, graph: &Graph) -> Result<Option<NodeId>, OpError> {
        let Some(wanted) = &self.provider else { return Ok(None) };
        let configurable =
            workspace.engine.providers.of(&self.ty).and_then(|provider| provider.configurable());
        let Some(settings) = configurable.map(|configurable| configurable.settings_type()) else {
            let message = format!("no provider resource serves a {}", self.ty);
            return Err(OpError::invalid(Diagnostic::error(Code::NO_PROVIDER, message)));
        };
        let declared =
            || graph.ids().filter_map(|id| Some((id, graph.node(id).filter(|node| node.ty == settings)?)));
        let is_meant = |name: &Name| name.to_string() == *wanted || name.short() == wanted;
        if let Some((id, _)) = declared().find(|(_, node)| is_meant(&node.name)) {
            return Ok(Some(id));
        }
        let names: Vec<String> = declared().map(|(_, node)| node.name.short().to_owned()).collect();
        let problem =
            Diagnostic::error(Code::NOT_FOUND, format!("the program declares no provider {wanted:?}"));
        Err(OpError::not_found(match names.is_empty() {
            true => problem.help(format!("declare one: `new {settings}({{ … }}, {{ id: {wanted:?} }})`")),
            false => problem.help(format!("it declares: {}", names.join(", "))),
        }))
    }

    /// Reads the resource, with the recorded settings of its provider resource, or with the declared ones before its first run.
    async fn read(&self, workspace: &Workspace, node: Option<&Node>, state: &State) -> Result<Map, OpError> {
        let engine = &workspace.engine;
        let found = match node {
            None => engine.read_existing(&self.ty, &self.id).await,
            Some(node) => {
                let record = state.by_name(&node.name);
                let settings = record.is_none().then(|| node.inputs.clone());
                let planned =
                    engine.planned(&self.ty, Some(&ServedBy { settings, record })).map_err(unread)?;
                if planned.completeness == Completeness::Partial {
                    return Err(unread(Refusal::new(format!(
                        "the settings of {} are not known before it is applied",
                        node.name
                    ))));
                }
                engine.read_existing_of(&planned.provider, &self.ty, &self.id).await
            }
        };
        match found {
            Ok(Some(live)) => {
                let mut properties = live.inputs.iter().chain(live.outputs.iter());
                let reserved = properties.find(|(_, value)| value.reserved_path().is_some());
                if let Some((property, _)) = reserved {
                    return Err(reserved_key(&format!("`{property}` of {} {}", self.ty, self.id)));
                }
                Ok(live.inputs)
            }
            Ok(None) => {
                let message = format!("there is no {} with the id {}", self.ty, self.id);
                let problem = Diagnostic::error(Code::CANNOT_IMPORT, message);
                Err(OpError::not_found(problem.help("look the id up at the provider")))
            }
            Err(problem) => Err(OpError::Read(vec![problem])),
        }
    }
}

fn unread(Refusal { message, help, .. }: Refusal) -> OpError {
    OpError::Read(vec![
        help.into_iter().fold(Diagnostic::error(Code::CANNOT_READ, message), Diagnostic::help),
    ])
}
