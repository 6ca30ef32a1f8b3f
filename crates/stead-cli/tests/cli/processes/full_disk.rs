//! No room: a clear error, a whole state, and with room again the next run does the rest.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::cloud::{Chance, Program};
use crate::project::{Project, Ran};

/// A file system of its own, if this machine lets us make one.
struct SmallDisk {
    place: PathBuf,
}

impl SmallDisk {
    const KILOBYTES: u64 = 1024;

    fn mount(place: &Path) -> Option<SmallDisk> {
        let size = format!("size={}k", SmallDisk::KILOBYTES);
        let mut mount = Command::new("mount");
        let mount = mount.args(["-t", "tmpfs", "-o", &size, "tmpfs"]).arg(place).stderr(Stdio::null());
        let mounted = mount.status().is_ok_and(|status| status.success());
        mounted.then(|| SmallDisk { place: place.to_owned() })
    }

    /// Leaves room for so many kilobytes.
    fn fill(&self, left: u64) {
        let ballast = std::fs::File::create(self.place.join("ballast")).unwrap();
        let mut ballast = std::io::BufWriter::new(ballast);
        let page = [0u8; 4096];
        while std::io::Write::write_all(&mut ballast, &page).is_ok() {}
        drop(ballast);
        let ballast = std::fs::OpenOptions::new().write(true).open(self.place.join("ballast")).unwrap();
        let full = ballast.metadata().unwrap().len();
        ballast.set_len(full.saturating_sub(left * 1024)).unwrap();
    }

    fn make_room(&self) {
        std::fs::remove_file(self.place.join("ballast")).unwrap();
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("--lazy").arg(&self.place).status();
    }
}

/// A program with every kind of step: the second is applied over the first.
fn programs(seed: u64) -> [Program; 2] {
    let make = |edits: u64| {
        let (mut chance, mut program) = (Chance(seed), Program::default());
        (0..edits).for_each(|_| program.edit(&mut chance));
        program
    };
    [make(3), make(6)]
}

fn must_be_clear(ran: &Ran, words: &str, when: &str) {
    assert!([0, 1, 15].contains(&ran.code), "{when}: exit {}\n{}", ran.code, ran.stderr);
    if ran.code != 0 {
        assert!(ran.stderr.contains("error[ST"), "{when}: {}", ran.stderr);
        assert!(ran.stderr.contains(words), "{when}: {}", ran.stderr);
        assert!(!ran.stderr.contains("panicked"), "{when}: {}", ran.stderr);
    }
}

#[test]
fn a_full_disk_is_said_clearly_and_with_room_again_the_work_goes_on() {
    let rooms: Vec<u64> = (0..=40).step_by(4).collect();
    let attempts = rooms.iter().map(|&left| std::thread::spawn(move || with_room_for(left)));
    let attempts: Vec<_> = attempts.collect();
    let failed: Vec<_> = attempts.into_iter().map(|attempt| attempt.join().unwrap()).collect();
    // Where mounting is not allowed the limit on the size of a file below stands for it.
    if failed.iter().all(Option::is_some) {
        assert!(failed.contains(&Some(true)), "with no room at all it must fail");
    }
}

/// `None`: no file system can be made here. Otherwise whether the run had to give up.
fn with_room_for(left: u64) -> Option<bool> {
    let project = Project::in_memory("");
    let disk = SmallDisk::mount(&project.path(""))?;
    let [before, after] = programs(left);
    project.write("stead.toml", "project = \"shop\"\n");
    project.write("main.ts", &before.text());
    project.stead(&["up", "--yes", "--no-moves"]).ok();
    project.write("main.ts", &after.text());
    disk.fill(left);
    let ran = project.stead(&["up", "--yes", "--no-moves"]);
    let when = format!("with {left} kB");
    must_be_clear(&ran, "o space left", &when);
    assert_eq!(project.stead(&["state", "verify"]).code, 0, "{when}");
    disk.make_room();
    project.stead(&["up", "--yes", "--no-moves"]).ok();
    after.must_be_in(&project, &when);
    assert_eq!(project.stead(&["plan", "--exit-code"]).code, 0, "{when}");
    Some(ran.code != 0)
}

/// A limit on the size of files needs no rights: every write beyond it fails, as on a full disk.
#[test]
fn files_that_may_not_grow_are_said_clearly_and_without_the_limit_the_work_goes_on() {
    let attempts: Vec<_> = [0, 1, 2, 4].map(|limit| std::thread::spawn(move || with_limit(limit))).into();
    let failed: Vec<bool> = attempts.into_iter().map(|attempt| attempt.join().unwrap()).collect();
    assert!(failed[0], "nothing can be written at all");
}

fn with_limit(blocks: u64) -> bool {
    let [before, after] = programs(100 + blocks);
    let project = Project::in_memory(&before.text());
    project.stead(&["up", "--yes", "--no-moves"]).ok();
    project.write("main.ts", &after.text());
    let stead = project.command(&["up", "--yes", "--no-moves"]);
    let mut limited = Command::new("/bin/sh");
    limited.arg("-c").arg(format!("trap '' XFSZ; ulimit -f {blocks}; exec \"$@\"")).arg("sh");
    limited.arg(stead.get_program()).args(stead.get_args()).stdin(Stdio::null()).env_clear();
    limited.envs(stead.get_envs().filter_map(|(key, value)| Some((key, value?))));
    let ran = project.ran(limited.output().unwrap());
    let when = format!("with {blocks} blocks a file");
    must_be_clear(&ran, "too large", &when);
    assert_eq!(project.stead(&["state", "verify"]).code, 0, "{when}");
    project.stead(&["up", "--yes", "--no-moves"]).ok();
    after.must_be_in(&project, &when);
    ran.code != 0
}
