//! Files of a commit, read through the `git` program. Writes nothing to the repository.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use stead_eval::{Entry, EntryKind, Refused};
use stead_model::{Code, Diagnostic};
use stead_world::{Captured, FinishedProcess, ProcessEnd, ShellCommand, World};
use tokio::runtime::Handle;

use super::requests::refused;

/// The files below the folder of the project in one commit.
pub(super) struct GitTree {
    world: World,
    root: PathBuf,
    runtime: Handle,
    pub(super) commit: String,
    files: BTreeMap<String, TreeFile>,
    /// Targets of the symbolic links that were followed.
    targets: Mutex<BTreeMap<String, String>>,
}

/// A file in a commit.
struct TreeFile {
    object: String,
    /// The content is the target of a symbolic link.
    is_link: bool,
}

/// Most symbolic links on the way to one file, as in Linux.
const MOST_LINKS: usize = 40;
/// Most bytes of one answer of `git`.
const LONGEST_ANSWER: u64 = 256 << 20;

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
            targets: Mutex::default(),
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

    /// Returns the content of a file, behind symbolic links too; `None` if the commit does not have it.
    pub(super) fn read(&self, path: &str) -> Result<Option<Vec<u8>>, String> {
        let Some(file) = self.files.get(&self.real_path(path)?) else { return Ok(None) };
        self.git(&["cat-file", "blob", &file.object]).map(Some)
    }

    /// Returns the path behind the symbolic links of a path. A link that leads out of the project is an error.
    pub(super) fn real_path(&self, path: &str) -> Result<String, String> {
        let mut path = path.to_owned();
        for _ in 0..MOST_LINKS {
            let ends = path.match_indices('/').map(|(end, _)| end).chain(std::iter::once(path.len()));
            let mut starts = ends.map(|end| path.split_at(end));
            let is_link = |start: &str| self.files.get(start).is_some_and(|file| file.is_link);
            let Some((link, rest)) = starts.find(|(start, _)| is_link(start)) else { return Ok(path) };
            let target = self.target(link)?;
            let (folder, _) = link.rsplit_once('/').unwrap_or_default();
            let inside = beside(folder, &target);
            let inside = inside.ok_or("a symbolic link leads out of the project")?;
            path = format!("{inside}{rest}").trim_start_matches('/').to_owned();
        }
        Err("too many symbolic links lead to it".to_owned())
    }

    fn target(&self, link: &str) -> Result<String, String> {
        if let Some(known) = self.targets.lock().unwrap_or_else(PoisonError::into_inner).get(link) {
            return Ok(known.clone());
        }
        let object = self.files.get(link).map(|file| file.object.as_str()).unwrap_or_default();
        let target = self.git(&["cat-file", "blob", object])?;
        let target = String::from_utf8(target).map_err(|_| "the target of a link is not UTF-8".to_owned())?;
        let mut targets = self.targets.lock().unwrap_or_else(PoisonError::into_inner);
        targets.insert(link.to_owned(), target.clone());
        Ok(target)
    }

    /// Returns the entries of a folder; `None` if the commit does not have it. A symbolic link is neither a file nor a folder.
    pub(super) fn list(&self, folder: &str) -> Option<Vec<Entry>> {
        let prefix = if folder.is_empty() { String::new() } else { format!("{folder}/") };
        let inside = self.files.iter().filter_map(|(path, file)| Some((path.strip_prefix(&prefix)?, file)));
        let entries: BTreeMap<&str, EntryKind> = inside
            .map(|(path, file)| match path.split_once('/') {
                Some((folder, _)) => (folder, EntryKind::Folder),
                None if file.is_link => (path, EntryKind::Other),
                None => (path, EntryKind::File),
            })
            .collect();
        let entry = |(name, kind): (&str, EntryKind)| Entry { name: name.to_owned(), kind };
        (!entries.is_empty()).then(|| entries.into_iter().map(entry).collect())
    }

    fn git(&self, arguments: &[&str]) -> Result<Vec<u8>, String> {
        let words = arguments.iter().map(|word| ShellCommand::word(word)).collect::<Vec<_>>().join(" ");
        let line = format!("git {words}");
        let done = self.run(line.clone())?;
        if done.end != ProcessEnd::Exited(0) {
            let said = String::from_utf8_lossy(done.stderr.last()).trim().to_owned();
            return Err(if said.is_empty() { "git does not find it".to_owned() } else { said });
        }
        let (total, mut whole) = (done.stdout.total(), done.stdout.first().to_vec());
        let too_long = || format!("the answer of `git {}` is too long", arguments.join(" "));
        // A process keeps the first part of a long output: the next parts come from further processes.
        while (whole.len() as u64) < total {
            let part =
                self.run(format!("{line} | tail -c +{} | head -c {}", whole.len() + 1, Captured::HEAD))?;
            if total > LONGEST_ANSWER || part.stdout.total() == 0 {
                return Err(too_long());
            }
            whole.extend_from_slice(part.stdout.first());
        }
        Ok(whole)
    }

    fn run(&self, line: String) -> Result<FinishedProcess, String> {
        let command = ShellCommand { line, folder: self.root.clone(), environment: BTreeMap::new() };
        self.runtime.block_on(self.world.processes.run(command)).map_err(|error| error.to_string())
    }
}

/// Returns the path of the target of a link in a folder; `None` if it is outside of the project.
fn beside(folder: &str, target: &str) -> Option<String> {
    if target.starts_with('/') {
        return None;
    }
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in target.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()?),
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

/// Parses a line of `git ls-tree`: mode, kind, object, and the path after a tab.
fn entry(line: &str) -> Option<(String, TreeFile)> {
    let (about, path) = line.split_once('\t')?;
    let mut about = about.split(' ');
    let (mode, kind, object) = (about.next()?, about.next()?, about.next()?);
    let file = TreeFile { object: object.to_owned(), is_link: mode == "120000" };
    (kind == "blob").then(|| (path.to_owned(), file))
}
