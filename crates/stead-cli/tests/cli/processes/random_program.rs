//! Random programs of files and scripts, and the files that must exist after they were applied.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use crate::project::Project;
use crate::random::Random;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    File,
    /// Script that updates its object in place.
    Script,
    /// Script without an `update`: a change replaces its object.
    ReplacedScript,
}

#[derive(Clone, Debug)]
struct Declared {
    kind: Kind,
    size: u64,
    place: u64,
    /// Script whose output this resource uses.
    from: Option<String>,
}

/// Program with its declared resources, by name.
#[derive(Default)]
pub(super) struct Program {
    resources: BTreeMap<String, Declared>,
}

// Each script fails if one of its commands fails, and then leaves no new object, so that a full disk is noticed.
const MAKE: &str = "object=cloud/$STEAD_IDEMPOTENCY_KEY; \
                    mkdir -p cloud && echo $NAME > $object && echo $NAME $SIZE > $object && echo $NAME $SIZE \
                    || { rm -f $object; exit 1; }";
const CHANGE: &str = "new=cloud/.new-$STEAD_ID; \
                      echo $NAME $SIZE > $new && mv $new cloud/$STEAD_ID && echo $NAME $SIZE \
                      || { rm -f $new; exit 1; }";
const REMOVE: &str = "rm -f cloud/$STEAD_ID";

impl Program {
    /// Makes one to four edits. A resource uses only alphabetically earlier ones, so that there is no cycle.
    pub(super) fn edit(&mut self, random: &mut Random) {
        for _ in 0..1 + random.below(4) {
            let name = format!("t{}", random.below(8));
            if random.one_in(4) && self.resources.remove(&name).is_some() {
                for resource in self.resources.values_mut() {
                    resource.from.take_if(|from| *from == name);
                }
                continue;
            }
            let scripts = self.resources.iter().filter(|(earlier, resource)| {
                **earlier < name && matches!(resource.kind, Kind::Script | Kind::ReplacedScript)
            });
            let scripts: Vec<String> = scripts.map(|(name, _)| name.clone()).collect();
            let from = match scripts.len() as u64 {
                0 => None,
                count => random.one_in(2).then(|| scripts[random.below(count) as usize].clone()),
            };
            let drawn = [Kind::File, Kind::Script, Kind::ReplacedScript][random.below(3) as usize];
            let kind = self.resources.get(&name).map_or(drawn, |resource| resource.kind);
            let resource = Declared { kind, size: random.below(5), place: random.below(3), from };
            self.resources.insert(name, resource);
        }
    }

    pub(super) fn len(&self) -> usize {
        self.resources.len()
    }

    pub(super) fn text(&self) -> String {
        let mut text = String::from("import * as local from \"stead/local\";\n");
        for (name, Declared { kind, size, place, from }) in &self.resources {
            let used = from.as_ref().map(|from| format!("${{{from}.stdout}}")).unwrap_or_default();
            let _ = match kind {
                Kind::File => writeln!(
                    text,
                    "const {name} = new local.File({{ path: \"file-{name}-{place}\", content: `{size} {used}` }}, \
                     {{ id: \"{name}\" }});"
                ),
                Kind::Script | Kind::ReplacedScript => {
                    let update =
                        if *kind == Kind::Script { format!("update: {CHANGE:?}, ") } else { String::new() };
                    writeln!(
                        text,
                        "const {name} = new local.Command({{ create: {MAKE:?}, {update}delete: {REMOVE:?}, \
                         environment: {{ NAME: \"{name}\", SIZE: \"{size}\" }}, triggers: [{place}, `{used}`], \
                         idempotent: true }}, {{ id: \"{name}\" }});"
                    )
                }
            };
        }
        text
    }

    /// Returns the output of a script, which is the content of its object too.
    fn output(&self, name: &str) -> String {
        self.resources.get(name).map(|resource| format!("{name} {}\n", resource.size)).unwrap_or_default()
    }

    /// Returns the files and objects that must exist: exactly these, each once.
    fn expected(&self) -> Vec<(String, String)> {
        let mut expected = Vec::new();
        for (name, Declared { kind, size, place, from }) in &self.resources {
            expected.push(match kind {
                Kind::File => {
                    let used = from.as_ref().map(|from| self.output(from)).unwrap_or_default();
                    (format!("file-{name}-{place}"), format!("{size} {used}"))
                }
                Kind::Script | Kind::ReplacedScript => ("an object".to_owned(), self.output(name)),
            });
        }
        expected.sort();
        expected
    }

    /// Asserts that no file or object is missing, duplicate or left over.
    pub(super) fn assert_applied(&self, project: &Project, when: &str) {
        let mut found = Vec::new();
        for (name, content) in files_in(&project.path("")) {
            match name.as_str() {
                "main.ts" | "stead.toml" => {}
                _ => found.push((name, content)),
            }
        }
        found.extend(
            files_in(&project.path("cloud"))
                .into_iter()
                .map(|(_, content)| ("an object".to_owned(), content)),
        );
        found.sort();
        assert_eq!(found, self.expected(), "{when}");
    }
}

fn files_in(folder: &Path) -> Vec<(String, String)> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    entries
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.is_file())
        .map(|path| {
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            (name, std::fs::read_to_string(path).unwrap())
        })
        .collect()
}

/// Waits until no process runs in the project's folder: scripts outlive a killed run.
pub(super) fn wait_for_orphans(project: &Project) {
    let folder = project.path("").canonicalize().unwrap();
    let works_there = |process: std::io::Result<std::fs::DirEntry>| {
        let Ok(process) = process else { return false };
        std::fs::read_link(process.path().join("cwd")).is_ok_and(|cwd| cwd.starts_with(&folder))
    };
    while std::fs::read_dir("/proc").unwrap().any(works_there) {
        std::thread::yield_now();
    }
}
