//! Changes of the files that tests depend on, found by comparing digests. A watcher asks again and again.

use stead_model::Digest;

use super::discover;
use crate::Project;

/// The state of all files of a project at one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fingerprint(Digest);

/// Returns the fingerprint of the files of a project. Snapshots and installed packages do not count.
pub fn fingerprint(project: &Project) -> Fingerprint {
    let world = project.world();
    let mut text = String::new();
    discover::search(world, &project.root, "", 0, &mut |path| {
        if path.split('/').any(|part| part == "__snapshots__") {
            return;
        }
        let bytes = world.files.read(&project.root.join(path)).unwrap_or_default();
        text.push_str(&format!("{path}\0{}\n", Digest::of(&bytes).as_str()));
    });
    Fingerprint(Digest::of(text.as_bytes()))
}
