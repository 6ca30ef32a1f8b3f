//! Imports existing resources into the stack.

use stead_guard::{OuterLevels, mark_graph};
use stead_model::{
    Code, DeletionPolicy, Diagnostic, Graph, Input, Map, Module, Name, NameParts, Node, NodeKind, Options,
    PhysicalId, SourceRef, Text, TypeToken, Value, check_id,
};
use stead_plan::{Glob, Request, Selection};
use stead_state::State;

use crate::ops::error::reserved_key;
use crate::ops::{OpError, Workspace};

/// The resource to import, and the name that it gets.
#[derive(Clone, Debug)]
pub struct Import {
    pub name: Name,
    pub ty: TypeToken,
    pub id: PhysicalId,
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
            return Ok(Import { name: readings.swap_remove(0), ty, id });
        }
        check_id(name).map_err(invalid)?;
        let name = NameParts::Placed {
            environment: workspace.environment().clone(),
            module: Module(module.to_owned()),
            scope: Vec::new(),
            ty: ty.clone(),
            id: Some(name.to_owned()),
        };
        Ok(Import { name: name.into(), ty, id })
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
        if let Some(node) = graph.nodes.iter_mut().find(|node| node.name == self.name) {
            node.options.import = Some(self.id.clone());
            return Ok(None);
        }
        let inputs = self.read(workspace).await?;
        let known = |(key, value): (&Text, &Value)| (key.clone(), Input::Known(value.clone()));
        let mut node = self.node(workspace, &inputs);
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

    async fn read(&self, workspace: &Workspace) -> Result<Map, OpError> {
        match workspace.engine.read_existing(&self.ty, &self.id).await {
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
