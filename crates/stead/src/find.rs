//! Finds resources in state by a physical id, an ARN or a path: records, unfinished operations and retained resources. Searches all
//! stacks of a store.

use std::path::{Component, Path, PathBuf};

use serde::Serialize;
use stead_engine::ops::{OpError, Workspace};
use stead_journal::{StackKeys, load};
use stead_model::{Lifecycle, Map, Name, PhysicalId, PropertyPath, Resource, SourceRef, TypeToken, Value};
use stead_state::{Intent, Retained, State};
use stead_world::Files;

use crate::{Project, StackEntry, stacks};

/// Standing of a found resource in the state of its stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum FoundAs {
    Recorded,
    /// A copy that was replaced and still has to be deleted.
    Condemned,
    /// A create or an update that is not finished has it.
    Pending,
    /// The stack no longer manages it.
    Retained,
}

/// A resource that a search found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FoundResource {
    #[serde(flatten)]
    pub stack: StackEntry,
    pub name: Name,
    #[serde(rename = "type")]
    pub ty: TypeToken,
    pub id: Option<PhysicalId>,
    pub standing: FoundAs,
    /// The declaration; `None` for a retained resource.
    pub source: Option<SourceRef>,
    /// The path of the property that has the text; `None` if the physical id or the name has it.
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

/// Searches all stacks of the store for a physical id, a value of a property at any depth, or a path.
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
    let files = project.world().files.as_ref();
    let (path, place) = (plain_path(&folder.join(wanted)), files.place_of(&folder.join(wanted)));
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
        let wanted = Wanted { text: wanted, path: &path, place: &place, root, files };
        search_in(&loaded.state, &stack, &wanted, &mut search.found);
    }
    Ok(search)
}

/// Adds the records, the pending operations and the retained resources of one stack that have the text.
fn search_in(state: &State, stack: &StackEntry, wanted: &Wanted<'_>, found: &mut Vec<FoundResource>) {
    let first = found.len();
    let recorded = state.copies().map(|resource| match resource.lifecycle {
        Lifecycle::Condemned => (resource, FoundAs::Condemned),
        _ => (resource, FoundAs::Recorded),
    });
    let pending = state.pending().filter_map(|pending| match &pending.intent {
        Intent::Create { resource, .. } | Intent::Update { resource, .. } => {
            Some((resource.as_ref(), FoundAs::Pending))
        }
        Intent::Delete { .. } => None,
    });
    for (resource, standing) in recorded.chain(pending) {
        let is_listed = |one: &FoundResource| one.name == resource.name && standing == FoundAs::Pending;
        if let Some(property) = wanted.in_resource(resource)
            && !found[first..].iter().any(is_listed)
        {
            found.push(FoundResource {
                stack: stack.clone(),
                name: resource.name.clone(),
                ty: resource.ty.clone(),
                id: resource.id.clone(),
                standing,
                source: Some(resource.source.clone()),
                property,
            });
        }
    }
    for Retained { name, resource, id, .. } in state.retained() {
        if wanted.is_name(name) || wanted.is_id(resource, id) {
            found.push(FoundResource {
                stack: stack.clone(),
                name: name.clone(),
                ty: resource.clone(),
                id: Some(id.clone()),
                standing: FoundAs::Retained,
                source: None,
                property: None,
            });
        }
    }
}

/// Text of a search, and the same text as a path.
struct Wanted<'a> {
    text: &'a str,
    path: &'a Path,
    /// The place that the path leads to; links are followed.
    place: &'a Path,
    /// The folder in which relative paths of the records start.
    root: Option<&'a Path>,
    files: &'a dyn Files,
}

impl Wanted<'_> {
    /// Returns the path of the property that has the text, or `None` inside if the id or the name has it.
    fn in_resource(&self, resource: &Resource) -> Option<Option<String>> {
        if self.is_name(&resource.name) || resource.id.as_ref().is_some_and(|id| self.is_id(&resource.ty, id))
        {
            return Some(None);
        }
        let in_map = |map: &Map| {
            let mut entries = map.iter();
            entries.find_map(|(key, value)| self.in_value(&PropertyPath::of(key.as_str()), value))
        };
        in_map(&resource.outputs).or_else(|| in_map(&resource.inputs)).map(|path| Some(path.to_string()))
    }

    /// Returns the path of the first text that is wanted, in a value and everything inside it.
    fn in_value(&self, path: &PropertyPath, value: &Value) -> Option<PropertyPath> {
        if let Some(text) = value.as_str() {
            let is_path = path.root() == Some("path");
            return (self.means(text) || is_path && self.is_place(text)).then(|| path.clone());
        }
        if let Some(list) = value.as_list() {
            return list.iter().enumerate().find_map(|(at, value)| self.in_value(&path.index(at), value));
        }
        value.as_map()?.iter().find_map(|(key, value)| self.in_value(&path.key(key.as_str()), value))
    }

    fn is_name(&self, name: &Name) -> bool {
        self.text.contains([':', '#'])
            && Name::readings_in(self.text, name.environment()).unwrap_or_default().contains(name)
    }

    fn is_id(&self, ty: &TypeToken, id: &PhysicalId) -> bool {
        self.means(id.as_str()) || ty.as_str().starts_with("local.") && self.is_place(id.as_str())
    }

    /// Returns true if a text is the wanted one, or a path with other words for it.
    fn means(&self, text: &str) -> bool {
        text == self.text
            || Path::new(text).is_absolute() && plain_path(Path::new(text)) == self.path
            || self.root.is_some_and(|root| plain_path(&root.join(text)) == self.path)
    }

    /// Returns true if a path leads to the wanted place. Links are followed.
    fn is_place(&self, text: &str) -> bool {
        let text = Path::new(text);
        let absolute = text.is_absolute().then(|| text.to_owned());
        let path = absolute.or_else(|| self.root.map(|root| root.join(text)));
        path.is_some_and(|path| self.files.place_of(&path) == self.place)
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
