//! Finds the other stacks of a project that still record the old names of a rename. Reads only.

use stead_engine::ops::{OpError, Workspace};
use stead_journal::{StackKeys, load};
use stead_model::{Environment, Name};

use crate::{Project, StackEntry, stacks};

/// A stack that has old names of a rename.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OldNames {
    pub stack: StackEntry,
    pub environment: Environment,
    /// Number of resources with an old name whose new name is free.
    pub resources: usize,
}

/// Returns the other stacks of the project that record old names of these renames, in the order of the store.
///
/// A stack that cannot be read is left out: the commands that open it say why.
pub async fn old_names_elsewhere(
    project: &Project,
    workspace: &Workspace,
    renames: &[(Name, Name)],
) -> Result<Vec<OldNames>, OpError> {
    let store = &workspace.stack.store;
    let own = (workspace.environment().to_string(), workspace.target());
    let mut found = Vec::new();
    for stack in stacks(workspace).await? {
        let is_other = (&stack.environment, stack.target.as_str()) != (&own.0, own.1);
        let environment = stack.environment.parse::<Environment>();
        let (true, true, Ok(environment)) = (is_other, stack.project == project.name, environment) else {
            continue;
        };
        let keys = StackKeys::new(&stack.project, &stack.environment, &stack.target);
        let Ok(loaded) = load(store, &keys).await else { continue };
        let has = |name: &Name| loaded.state.by_name(&name.in_environment(&environment)).is_some();
        let resources = renames.iter().filter(|(from, to)| has(from) && !has(to)).count();
        if resources > 0 {
            found.push(OldNames { stack, environment, resources });
        }
    }
    Ok(found)
}
