//! Snapshots of a test file: recorded values that later runs are compared with, in `__snapshots__/<file>.snap.json`.
//!
//! **Invariant:** the file is sorted, the same on every machine, and written only after all tests of the file have run.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use stead_eval::{Compared, Difference};
use stead_model::{Code, Diagnostic, Value};
use stead_world::World;

/// Treatment of snapshots that are missing or differ.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SnapshotMode {
    /// A missing snapshot is recorded; a different value fails the test.
    #[default]
    Record,
    /// Every snapshot becomes the value of this run, and obsolete ones are removed.
    Update,
    /// A missing snapshot and a different value fail the test. Nothing is written.
    Verify,
}

/// Effects of one test file on its snapshots.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SnapshotReport {
    pub written: usize,
    pub updated: usize,
    pub removed: usize,
    /// Recorded snapshots that no test compared, although all tests of the file ran.
    pub obsolete: Vec<String>,
}

const FORMAT: u32 = 1;

#[derive(Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    format: u32,
    snapshots: BTreeMap<String, Value>,
}

/// The snapshots of one test file during its run.
pub(super) struct Snapshots {
    path: PathBuf,
    mode: SnapshotMode,
    recorded: BTreeMap<String, Value>,
    used: BTreeSet<String>,
    /// Number of snapshots so far, by test.
    counts: BTreeMap<String, usize>,
    report: SnapshotReport,
}

impl Snapshots {
    /// Reads the snapshots of a test file. A file that cannot be understood is a problem.
    pub(super) fn open(
        world: &World,
        root: &Path,
        test_file: &str,
        mode: SnapshotMode,
    ) -> Result<Snapshots, Diagnostic> {
        let (folder, name) = test_file.rsplit_once('/').unwrap_or(("", test_file));
        let path = root.join(folder).join("__snapshots__").join(format!("{name}.snap.json"));
        let unusable = |why: String| {
            let message = format!("cannot use the snapshots in {}: {why}", path.display());
            let help = "resolve a merge conflict in the file by hand, or remove the file and record it again";
            Diagnostic::error(Code::BAD_SNAPSHOT, message).help(help)
        };
        let recorded = match world.files.metadata(&path) {
            Ok(Some(_)) => {
                let bytes = world.files.read(&path).map_err(|error| unusable(error.to_string()))?;
                let file: File =
                    serde_json::from_slice(&bytes).map_err(|error| unusable(error.to_string()))?;
                if file.format != FORMAT {
                    return Err(unusable(format!(
                        "it has format {}; this stead reads {FORMAT}",
                        file.format
                    )));
                }
                file.snapshots
            }
            _ => BTreeMap::new(),
        };
        let (used, counts, report) = (BTreeSet::new(), BTreeMap::new(), SnapshotReport::default());
        Ok(Snapshots { path, mode, recorded, used, counts, report })
    }

    /// Compares a value with the snapshot of a test, or records it.
    pub(super) fn compare(&mut self, test: &str, hint: &str, value: &Value) -> Compared {
        let name = if hint.is_empty() { test.to_owned() } else { format!("{test}: {hint}") };
        let count = self.counts.entry(name.clone()).or_default();
        *count += 1;
        let key = format!("{name} {count}");
        self.used.insert(key.clone());
        match (self.recorded.get(&key), self.mode) {
            (Some(recorded), _) if recorded == value => Compared::Same,
            (Some(_), SnapshotMode::Update) => {
                self.report.updated += 1;
                self.recorded.insert(key, value.clone());
                Compared::Same
            }
            (Some(recorded), _) => Compared::Differs {
                message: format!("the value differs from the snapshot `{key}`"),
                difference: Some(Difference { expected: pretty(recorded), received: pretty(value) }),
            },
            (None, SnapshotMode::Verify) => Compared::Differs {
                message: format!("there is no snapshot `{key}`, and this run records none"),
                difference: Some(Difference { expected: String::new(), received: pretty(value) }),
            },
            (None, SnapshotMode::Record | SnapshotMode::Update) => {
                self.report.written += 1;
                self.recorded.insert(key, value.clone());
                Compared::Same
            }
        }
    }

    /// Writes the snapshots that changed. Without `all_ran`, snapshots that were not compared may still be needed.
    pub(super) fn close(mut self, world: &World, all_ran: AllRan) -> Result<SnapshotReport, Diagnostic> {
        let unused = || self.recorded.keys().filter(|key| !self.used.contains(*key)).cloned();
        let obsolete: Vec<String> = if all_ran == AllRan::Yes { unused().collect() } else { Vec::new() };
        if self.mode == SnapshotMode::Update {
            self.report.removed = obsolete.len();
            obsolete.iter().for_each(|key| drop(self.recorded.remove(key)));
        } else {
            self.report.obsolete = obsolete;
        }
        let SnapshotReport { written, updated, removed, .. } = self.report;
        if written + updated + removed > 0 {
            self.write(world).map_err(|error| {
                let message = format!("cannot write the snapshots in {}: {error}", self.path.display());
                Diagnostic::error(Code::BAD_SNAPSHOT, message)
            })?;
        }
        Ok(self.report)
    }

    fn write(&self, world: &World) -> std::io::Result<()> {
        let files = &world.files;
        if self.recorded.is_empty() {
            return files.remove_file(&self.path);
        }
        if let Some(folder) = self.path.parent() {
            files.ensure_folder(folder)?;
        }
        let file = File { format: FORMAT, snapshots: self.recorded.clone() };
        let mut text = serde_json::to_string_pretty(&file).map_err(std::io::Error::other)?;
        text.push('\n');
        files.write_atomically(&self.path, text.as_bytes(), 0o644, &world.entropy.uuid()?)
    }
}

/// Whether every test of a file ran, so that unused snapshots are obsolete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AllRan {
    Yes,
    No,
}

fn pretty(value: &Value) -> String {
    serde_json::to_string_pretty(value).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn open(world: &World, mode: SnapshotMode) -> Snapshots {
        Snapshots::open(world, Path::new("/p"), "net/a.test.ts", mode)
            .unwrap_or_else(|error| panic!("{error:?}"))
    }

    #[test]
    fn snapshots_are_recorded_compared_updated_and_removed() {
        let world = World::in_memory([]);
        let (one, two) = (Value::from("one"), Value::from("two"));
        let mut first = open(&world, SnapshotMode::Record);
        assert_eq!(first.compare("t", "", &one), Compared::Same);
        assert_eq!(first.compare("t", "", &two), Compared::Same);
        assert_eq!(first.close(&world, AllRan::Yes).map(|report| report.written), Ok(2));
        let text = world.files.read(Path::new("/p/net/__snapshots__/a.test.ts.snap.json"));
        let text = String::from_utf8(text.unwrap_or_default()).unwrap_or_default();
        assert_eq!(
            text,
            "{\n  \"format\": 1,\n  \"snapshots\": {\n    \"t 1\": \"one\",\n    \"t 2\": \"two\"\n  }\n}\n"
        );

        let mut again = open(&world, SnapshotMode::Record);
        assert!(matches!(again.compare("t", "", &two), Compared::Differs { .. }));
        let report = again.close(&world, AllRan::Yes);
        assert_eq!(report.map(|report| report.obsolete), Ok(vec!["t 2".to_owned()]));

        let mut update = open(&world, SnapshotMode::Update);
        assert_eq!(update.compare("t", "", &two), Compared::Same);
        let report = update.close(&world, AllRan::Yes);
        assert_eq!(report.map(|report| (report.updated, report.removed)), Ok((1, 1)));
    }

    #[test]
    fn missing_snapshot_fails_where_none_is_recorded() {
        let world = World::in_memory([]);
        let mut verify = open(&world, SnapshotMode::Verify);
        assert!(matches!(verify.compare("t", "", &Value::Null), Compared::Differs { .. }));
        assert_eq!(verify.close(&world, AllRan::Yes), Ok(SnapshotReport::default()));
    }
}
