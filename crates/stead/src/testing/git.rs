//! Files of a commit, read through the `git` program. Writes nothing to the repository.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use stead_eval::{Entry, EntryKind, Refused};
use stead_model::{Code, Diagnostic};
use stead_world::{ProcessEnd, ShellCommand, World};
use tokio::runtime::Handle;

use super::requests::refused;

/// The files below the folder of the project in one commit.
pub(super) struct GitTree {
    world: World,
    root: PathBuf,
    runtime: Handle,
    pub(super) commit: String,
    /// Object of each file.
    files: BTreeMap<String, String>,
}

impl GitTree {
    pub(super) fn open(
        world: &World,
        root: &Path,
        reference: &str,
        runtime: &Handle,
    ) -> Result<GitTree, Refused> {
        let unusable = |why: String| {
            let message = format!("the Git repository has no version `{reference}`: {why}");
            let problem = Diagnostic::error(Code::NO_SUCH_VERSION, message);
            refused(problem.help("a shallow clone has neither tags nor older commits: fetch them first"))
        };
        let mut tree = GitTree {
            world: world.clone(),
            root: root.to_owned(),
            runtime: runtime.clone(),
            commit: String::new(),
            files: BTreeMap::new(),
        };
        let commit = format!("{reference}^{{commit}}");
        let commit = tree.git(&["rev-parse", "--verify", "--quiet", "--end-of-options", &commit]);
        let commit = commit.map_err(&unusable)?;
        tree.commit = String::from_utf8_lossy(&commit).trim().to_owned();
        let listed = tree.git(&["ls-tree", "-r", "-z", &tree.commit]).map_err(&unusable)?;
        let listed = String::from_utf8_lossy(&listed).into_owned();
        tree.files = listed.split('\0').filter_map(entry).collect();
        Ok(tree)
    }

    /// Returns the content of a file; `None` if the commit does not have it.
    pub(super) fn read(&self, path: &str) -> Result<Option<Vec<u8>>, String> {
        let Some(object) = self.files.get(path) else { return Ok(None) };
        self.git(&["cat-file", "blob", object]).map(Some)
    }

    /// Returns the entries of a folder; `None` if the commit does not have it.
    pub(super) fn list(&self, folder: &str) -> Option<Vec<Entry>> {
        let prefix = if folder.is_empty() { String::new() } else { format!("{folder}/") };
        let inside = self.files.keys().filter_map(|path| path.strip_prefix(&prefix));
        let entries: BTreeSet<(&str, bool)> = inside
            .map(|path| path.split_once('/').map_or((path, false), |(folder, _)| (folder, true)))
            .collect();
        let entry = |(name, is_folder): (&str, bool)| {
            let kind = if is_folder { EntryKind::Folder } else { EntryKind::File };
            Entry { name: name.to_owned(), kind }
        };
        (!entries.is_empty()).then(|| entries.into_iter().map(entry).collect())
    }

    fn git(&self, arguments: &[&str]) -> Result<Vec<u8>, String> {
        let words = arguments.iter().map(|word| ShellCommand::word(word)).collect::<Vec<_>>().join(" ");
        let command = ShellCommand {
            line: format!("git {words}"),
            folder: self.root.clone(),
            environment: BTreeMap::new(),
        };
        let done =
            self.runtime.block_on(self.world.processes.run(command)).map_err(|error| error.to_string())?;
        if done.end != ProcessEnd::Exited(0) {
            let said = String::from_utf8_lossy(done.stderr.last()).trim().to_owned();
            return Err(if said.is_empty() { "git does not find it".to_owned() } else { said });
        }
        let whole = done.stdout.whole().map(<[u8]>::to_vec);
        whole.ok_or_else(|| format!("the answer of `git {}` is too long", arguments.join(" ")))
    }
}

/// Parses a line of `git ls-tree`: mode, kind, object, and the path after a tab.
fn entry(line: &str) -> Option<(String, String)> {
    let (about, path) = line.split_once('\t')?;
    let mut about = about.split(' ');
    let (_, kind, object) = (about.next()?, about.next()?, about.next()?);
    (kind == "blob").then(|| (path.to_owned(), object.to_owned()))
}
