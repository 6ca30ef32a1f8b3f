//! A program of files and scripts that changes, and what must be on the disk when it was applied.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use crate::project::Project;

/// SplitMix64: the same seed gives the same ordeal.
pub(super) struct Chance(pub(super) u64);

impl Chance {
    pub(super) fn draw(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub(super) fn below(&mut self, bound: u64) -> u64 {
        self.draw() % bound
    }

    pub(super) fn one_in(&mut self, n: u64) -> bool {
        self.below(n) == 0
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    File,
    /// A script that changes its object in place.
    Script,
    /// A script without an `update`: a change deletes the object and makes another.
    Rigid,
}

#[derive(Clone, Debug)]
struct Thing {
    kind: Kind,
    size: u64,
    place: u64,
    /// The script whose output it uses.
    from: Option<String>,
}

/// What is declared, by name.
#[derive(Default)]
pub(super) struct Program {
    things: BTreeMap<String, Thing>,
}

// Each script fails as soon as one of its parts does, and then leaves nothing new: a full disk is seen, not printed over.
const MAKE: &str = "object=cloud/$STEAD_IDEMPOTENCY_KEY; \
                    mkdir -p cloud && echo $NAME > $object && echo $NAME $SIZE > $object && echo $NAME $SIZE \
                    || { rm -f $object; exit 1; }";
const CHANGE: &str = "new=cloud/.new-$STEAD_ID; \
                      echo $NAME $SIZE > $new && mv $new cloud/$STEAD_ID && echo $NAME $SIZE \
                      || { rm -f $new; exit 1; }";
const REMOVE: &str = "rm -f cloud/$STEAD_ID";

impl Program {
    /// One to four edits. Only what was declared earlier in the alphabet is used, so that there is no circle.
    pub(super) fn edit(&mut self, chance: &mut Chance) {
        for _ in 0..1 + chance.below(4) {
            let name = format!("t{}", chance.below(8));
            if chance.one_in(4) && self.things.remove(&name).is_some() {
                for thing in self.things.values_mut() {
                    thing.from.take_if(|from| *from == name);
                }
                continue;
            }
            let scripts = self.things.iter().filter(|(earlier, thing)| {
                **earlier < name && matches!(thing.kind, Kind::Script | Kind::Rigid)
            });
            let scripts: Vec<String> = scripts.map(|(name, _)| name.clone()).collect();
            let from = match scripts.len() as u64 {
                0 => None,
                count => chance.one_in(2).then(|| scripts[chance.below(count) as usize].clone()),
            };
            let drawn = [Kind::File, Kind::Script, Kind::Rigid][chance.below(3) as usize];
            let kind = self.things.get(&name).map_or(drawn, |thing| thing.kind);
            let thing = Thing { kind, size: chance.below(5), place: chance.below(3), from };
            self.things.insert(name, thing);
        }
    }

    pub(super) fn len(&self) -> usize {
        self.things.len()
    }

    pub(super) fn text(&self) -> String {
        let mut text = String::from("import * as local from \"stead/local\";\n");
        for (name, Thing { kind, size, place, from }) in &self.things {
            let used = from.as_ref().map(|from| format!("${{{from}.stdout}}")).unwrap_or_default();
            let _ = match kind {
                Kind::File => writeln!(
                    text,
                    "const {name} = new local.File({{ path: \"file-{name}-{place}\", content: `{size} {used}` }}, \
                     {{ id: \"{name}\" }});"
                ),
                Kind::Script | Kind::Rigid => {
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

    /// What a script prints, and its object says.
    fn said(&self, name: &str) -> String {
        self.things.get(name).map(|thing| format!("{name} {}\n", thing.size)).unwrap_or_default()
    }

    /// The files and objects there must be: exactly these, each once.
    fn expected(&self) -> Vec<(String, String)> {
        let mut expected = Vec::new();
        for (name, Thing { kind, size, place, from }) in &self.things {
            expected.push(match kind {
                Kind::File => {
                    let used = from.as_ref().map(|from| self.said(from)).unwrap_or_default();
                    (format!("file-{name}-{place}"), format!("{size} {used}"))
                }
                Kind::Script | Kind::Rigid => ("an object".to_owned(), self.said(name)),
            });
        }
        expected.sort();
        expected
    }

    /// Nothing lost, nothing doubled, nothing left over.
    pub(super) fn must_be_in(&self, project: &Project, when: &str) {
        let mut found = Vec::new();
        for (name, content) in files_in(&project.path("")) {
            match name.as_str() {
                "main.ts" | "stead.toml" => {}
                _ => found.push((name, content)),
            }
        }
        found.extend(
            files_in(&project.path("cloud")).into_iter().map(|(_, said)| ("an object".to_owned(), said)),
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

/// Waits until no process works in the project's folder any more: what a killed run has started goes on without it.
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
