//! Finds recorded resources by a physical id, an ARN or a path. Searches all stacks of a store.

use std::path::{Component, Path, PathBuf};

use serde::Serialize;
use stead_engine::ops::{OpError, Workspace};
use stead_journal::{StackKeys, load};
use stead_model::{Lifecycle, Map, Name, PhysicalId, Resource, SourceRef, TypeToken};

use crate::{Project, StackEntry, stacks};

/// A recorded resource that a search found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FoundResource {
    #[serde(flatten)]
    pub stack: StackEntry,
    pub name: Name,
    #[serde(rename = "type")]
    pub ty: TypeToken,
    pub id: Option<PhysicalId>,
    pub source: SourceRef,
    /// The property that has the text; `None` if the physical id or the name has it.
    pub property: Option<String>,
}

/// Result of a search.
#[derive(Clone, Debug, Default)]
pub struct Search {
    pub found: Vec<FoundResource>,
    /// Stacks that could not be read, with the reason.
    pub unreadable: Vec<(StackEntry, String)>,
    /// Number of stacks that were read.
    pub stacks: usize,
}

/// Searches all stacks of the store for a physical id, a value of a property, or a path.
///
/// A relative path starts in `folder`, the folder of the caller.
pub async fn search(
    project: &Project,
    workspace: &Workspace,
    wanted: &str,
    folder: &Path,
) -> Result<Search, OpError> {
    let mut search = Search::default();
    let store = &workspace.stack.store;
    let path = plain_path(&folder.join(wanted));
    for stack in stacks(workspace).await? {
        let keys = StackKeys::new(&stack.project, &stack.environment, &stack.target);
        let loaded = match load(store, &keys).await {
            Ok(loaded) => loaded,
            Err(error) => {
                search.unreadable.push((stack, error.to_string()));
                continue;
            }
        };
        search.stacks += 1;
        // Relative paths in the records of another project start in a folder that is not known here.
        let root = (stack.project == project.name).then_some(project.root.as_path());
        let means = |text: &str| {
            text == wanted
                || Path::new(text).is_absolute() && plain_path(Path::new(text)) == path
                || root.is_some_and(|root| plain_path(&root.join(text)) == path)
        };
        let current = loaded.state.resources().into_iter();
        for resource in current.filter(|resource| resource.lifecycle != Lifecycle::Condemned) {
            if let Some(property) = matching(resource, wanted, &means) {
                search.found.push(found(&stack, resource, property));
            }
        }
    }
    Ok(search)
}

/// Returns the property that has the text, or `None` inside if the id or the name has it.
fn matching(resource: &Resource, wanted: &str, means: &dyn Fn(&str) -> bool) -> Option<Option<String>> {
    let is_name = || {
        let readings = Name::readings_in(wanted, resource.name.environment()).unwrap_or_default();
        readings.contains(&resource.name)
    };
    let looks_like_a_name = wanted.contains([':', '#']);
    if looks_like_a_name && is_name() || resource.id.as_ref().is_some_and(|id| means(id.as_str())) {
        return Some(None);
    }
    let in_map = |map: &Map| {
        map.iter().find(|(_, value)| value.as_str().is_some_and(means)).map(|(key, _)| Some(key.to_string()))
    };
    in_map(&resource.outputs).or_else(|| in_map(&resource.inputs))
}

fn found(stack: &StackEntry, resource: &Resource, property: Option<String>) -> FoundResource {
    FoundResource {
        stack: stack.clone(),
        name: resource.name.clone(),
        ty: resource.ty.clone(),
        id: resource.id.clone(),
        source: resource.source.clone(),
        property,
    }
}

/// Returns a path without `.` and `..`, as far as the text tells.
fn plain_path(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir if plain.file_name().is_some() => drop(plain.pop()),
            other => plain.push(other),
        }
    }
    plain
}
