//! Note of the process group of a command, beside the claims of the runs.
//!
//! **Invariant:** a command begins only after its note is durable, and a second attempt begins only after the group of the first
//! is gone. The note is removed when the command has ended.

use std::path::PathBuf;

use stead_world::{Files, GroupStatus, ProcessGroup};

use crate::failure::{Attempt, Failure, reason};
use crate::machine::Machine;

/// Place of the note of one operation.
#[derive(Clone)]
pub(super) struct GroupNote {
    path: PathBuf,
    name: String,
}

impl GroupNote {
    pub(super) fn of(machine: &Machine, key: &str) -> GroupNote {
        let plain = |c: char| if c.is_ascii_alphanumeric() || "-_.".contains(c) { c } else { '_' };
        let name: String = key.chars().map(plain).collect();
        GroupNote { path: machine.project.join(".stead").join("commands").join(&name), name }
    }

    /// Makes sure that no process of an earlier attempt runs.
    pub(super) async fn end_earlier(&self, machine: &Machine) -> Attempt<()> {
        let Some(group) = self.read(machine).await else { return Ok(()) };
        let ended = machine.world.processes.end(&group).await;
        match ended {
            Ok(GroupStatus::Gone) => Ok(()),
            Ok(GroupStatus::Running | GroupStatus::Unknown) => {
                Err(Failure::in_doubt(format!("an earlier attempt {}", still_runs(&group))))
            }
            Err(error) => Err(Failure::in_doubt(format!(
                "an earlier attempt {}, and cannot be ended: {}",
                still_runs(&group),
                reason(&error)
            ))),
        }
    }

    /// Writes the note durably. An error means that the command must not begin.
    pub(super) async fn write(&self, machine: &Machine, group: &ProcessGroup) -> std::io::Result<()> {
        let (GroupNote { path, name }, text) = (self.clone(), group.encode());
        let write = move |files: &dyn Files| {
            if let Some(folder) = path.parent() {
                files.ensure_private_folder(folder)?;
            }
            // An attempt that was killed may have left its temporary file.
            let _ = files.remove_file(&<dyn Files>::temporary(&path, &name));
            files.write_atomically(&path, text.as_bytes(), 0o600, &name)
        };
        machine.world.with_files(write).await
    }

    /// Removes the note. A note that stays is of a group that is gone.
    pub(super) async fn remove(&self, machine: &Machine) {
        let path = self.path.clone();
        let _ = machine.world.with_files(move |files| files.remove_file(&path)).await;
    }

    /// Returns a sentence about the command of an operation in doubt; `None` if it certainly runs no more.
    pub(super) async fn may_still_run(&self, machine: &Machine) -> Option<String> {
        let Some(group) = self.read(machine).await else {
            return Some(
                "If that run was on another machine or in another copy of the project, its command may still run there."
                    .to_owned(),
            );
        };
        match machine.world.processes.status(&group) {
            GroupStatus::Gone => None,
            GroupStatus::Running => {
                Some(format!("Its command still runs on this machine, as process group {}.", group.id))
            }
            GroupStatus::Unknown => Some(format!("Its command {}.", still_runs(&group))),
        }
    }

    async fn read(&self, machine: &Machine) -> Option<ProcessGroup> {
        let path = self.path.clone();
        let text = machine.world.with_files(move |files| files.read(&path)).await.ok()?;
        ProcessGroup::parse(&String::from_utf8_lossy(&text))
    }
}

fn still_runs(group: &ProcessGroup) -> String {
    format!("may still run on {} as process group {}", group.host, group.id)
}

#[cfg(test)]
mod tests {
    use stead_world::World;

    use super::*;

    #[tokio::test]
    async fn temporary_file_of_a_killed_attempt_is_no_obstacle() {
        let folder = tempfile::tempdir().unwrap();
        let machine = Machine { world: World::real(), project: folder.path().to_owned() };
        let note = GroupNote::of(&machine, "key-1-2");
        let group = ProcessGroup { host: "h".into(), boot: String::new(), id: 7, started: None };
        machine.world.files.ensure_private_folder(note.path.parent().unwrap()).unwrap();
        let left = <dyn Files>::temporary(&note.path, &note.name);
        machine.world.files.create_synced(&left, b"", 0o600).unwrap();
        note.write(&machine, &group).await.unwrap();
        assert_eq!(note.read(&machine).await, Some(group));
    }
}
