//! What must be true: after every event, and when everything has come to rest.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use stead_model::{Digest, Graph, Lifecycle, Value};
use stead_state::{Snapshot, State, verify};

use crate::Cloud;
use crate::disk::{Disk, Entry};

/// Looks at every snapshot that was stored since, and at what the cloud noted. `Err`: what was lost.
///
/// `seen` are the snapshots that were looked at before; they never change.
pub(crate) fn always(disk: &Disk, cloud: &Cloud, seen: &mut BTreeSet<PathBuf>) -> Result<(), String> {
    if let Some(violation) = cloud.contents().violations.first() {
        return Err(violation.clone());
    }
    for (path, entry) in &disk.content().now {
        let Entry::File { bytes, .. } = entry else { continue };
        if path.parent().and_then(Path::file_name).is_none_or(|folder| folder != "snapshot") {
            continue;
        }
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        if name.starts_with('.') || !seen.insert(path.clone()) {
            continue;
        }
        if Digest::of(bytes).as_str() != name {
            return Err(format!("snapshot {name} does not hold what its name says"));
        }
        let snapshot = Snapshot::decode(bytes, &Digest::of(bytes)).map_err(|error| error.to_string())?;
        if let Some(violation) = verify(&snapshot).first() {
            return Err(format!("a stored snapshot breaks a rule: {violation}"));
        }
    }
    Ok(())
}

/// State, cloud and program say the same.
pub(crate) fn at_rest(state: &State, cloud: &Cloud, graph: &Graph) -> Result<(), String> {
    if let Some(pending) = state.pending().next() {
        return Err(format!("operation {} never ended", pending.op));
    }
    let contents = cloud.contents();
    let resources = state.resources();
    if resources.len() != graph.nodes.len() || contents.objects.len() != graph.nodes.len() {
        return Err(format!(
            "declared {}, recorded {}, real {}",
            graph.nodes.len(),
            resources.len(),
            contents.objects.len()
        ));
    }
    for node in &graph.nodes {
        let Some(resource) = state.by_name(&node.name) else {
            return Err(format!("{} is declared and not recorded", node.name));
        };
        let id = resource.id.as_ref().map(|id| id.as_str()).unwrap_or_default();
        let Some(object) = contents.objects.get(id) else {
            return Err(format!("{} is recorded and not real", node.name));
        };
        if object.inputs != resource.inputs || resource.lifecycle != Lifecycle::Live {
            return Err(format!("{} is recorded otherwise than it is", node.name));
        }
        for (key, input) in &node.inputs {
            let recorded: Option<&Value> = resource.inputs.get(key);
            if input.as_known().is_some_and(|wanted| Some(wanted) != recorded) {
                return Err(format!("`{key}` of {} is not as declared", node.name));
            }
        }
    }
    Ok(())
}
