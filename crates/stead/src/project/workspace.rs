//! The workspace of one environment on one target of a project.

use std::path::PathBuf;
use std::sync::Arc;

use stead_engine::ops::{OpError, Workspace};
use stead_engine::{Engine, Owners, PinfileLocation, Stack, Stores};
use stead_journal::StackKeys;
use stead_model::{Code, Diagnostic, Environment, NameError};
use stead_provider::StatePlace;
use stead_store::{FileStore, Store};
use stead_world::World;

use super::targets::check_target;
use super::{FlagMarks, Project};

impl Project {
    /// Returns the workspace of an environment on a target. Reads and writes nothing yet.
    ///
    /// `parallel` is the largest number of provider calls in flight.
    pub fn workspace(
        &self,
        environment: &Environment,
        target: &str,
        parallel: usize,
    ) -> Result<Workspace, OpError> {
        if environment.name.is_empty() || environment.namespace.as_deref() == Some("") {
            let message = "an environment and a namespace cannot be empty";
            return Err(OpError::invalid(Diagnostic::error(Code::USAGE, message)));
        }
        let (world, providers) = (self.world.clone(), self.providers(target)?);
        let store: Arc<dyn Store> = Arc::new(FileStore::new(world.clone(), self.state.clone()));
        let keys = StackKeys::new(&self.name, &environment.to_string(), target);
        let mut engine = Engine::new(world.clone(), providers, parallel);
        engine.catalog = engine.catalog.with_published();
        engine.owners = Some(Owners::new(
            StatePlace {
                store: world.files.place_of(&self.state).display().to_string(),
                project: self.name.clone(),
                environment: environment.to_string(),
                target: target.to_owned(),
            },
            Arc::new(StoresOfFiles { world: world.clone() }),
        ));
        let claims = self.root.join(".stead").join("claims");
        let pinfile = PinfileLocation {
            world: world.clone(),
            root: self.root.clone(),
            main: self.main.clone(),
            target: target.to_owned(),
            environment: environment.clone(),
        };
        let levels = self.levels(environment, &FlagMarks::default());
        let stack = Stack { store, keys, world, claims, secrets: self.stack_secrets() };
        Ok(Workspace { engine, stack, pinfile, levels })
    }

    /// Returns another stack of the project, written `environment[:namespace][@target]`.
    pub fn sibling(&self, of: &Workspace, text: &str) -> Result<Workspace, OpError> {
        let (environment, target) = match text.rsplit_once('@') {
            Some((environment, target)) => (environment, target),
            None => (text, of.target()),
        };
        let environment: Environment = environment.parse().map_err(|error: NameError| {
            let problem = Diagnostic::error(Code::USAGE, format!("{text:?} is not a stack: {error}"));
            OpError::invalid(
                problem.help("write `environment`, `environment:namespace`, or either with `@target`"),
            )
        })?;
        check_target(target)?;
        let levels = self.levels(&environment, &FlagMarks::default());
        Ok(of.sibling(&environment, target, levels))
    }
}

/// Opens the stores that owner marks name: folders on this machine.
struct StoresOfFiles {
    world: World,
}

impl Stores for StoresOfFiles {
    fn open(&self, store: &str) -> Option<Arc<dyn Store>> {
        Some(Arc::new(FileStore::new(self.world.clone(), PathBuf::from(store))))
    }
}
