//! Full disk: the run reports a clear error, state stays sound, and the next run with space finishes.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::random_program::Program;
use crate::project::{Project, Ran};
use crate::random::Random;

/// Small file system, if this machine allows the test to mount one.
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

    /// Fills the disk, except for this number of kilobytes.
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

    fn free_space(&self) {
        std::fs::remove_file(self.place.join("ballast")).unwrap();
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("--lazy").arg(&self.place).status();
    }
}

/// Returns two programs; applying the second after the first has every kind of step.
fn programs(seed: u64) -> [Program; 2] {
    let make = |edits: u64| {
        let (mut random, mut program) = (Random(seed), Program::default());
        (0..edits).for_each(|_| program.edit(&mut random));
        program
    };
    [make(3), make(6)]
}

/// Asserts that a command succeeded, or failed with an error that contains one of the texts.
fn assert_clear_error(ran: &Ran, texts: &[&str], when: &str) {
    assert!([0, 1, 15].contains(&ran.code), "{when}: exit {}\n{}", ran.code, ran.stderr);
    if ran.code != 0 {
        assert!(ran.stderr.contains("error[ST"), "{when}: {}", ran.stderr);
        assert!(texts.iter().any(|text| ran.stderr.contains(text)), "{when}: {}", ran.stderr);
        assert!(!ran.stderr.contains("panicked"), "{when}: {}", ran.stderr);
    }
}

#[test]
fn full_disk_is_reported_and_the_next_run_with_space_finishes() {
    let spaces: Vec<u64> = (0..=40).step_by(4).collect();
    let attempts = spaces.iter().map(|&left| std::thread::spawn(move || with_space(left)));
    let attempts: Vec<_> = attempts.collect();
    let failed: Vec<_> = attempts.into_iter().map(|attempt| attempt.join().unwrap()).collect();
    // Where mounting is not allowed, the test of the file size limit below replaces this one.
    if failed.iter().all(Option::is_some) {
        assert!(failed.contains(&Some(true)), "a run without any space must fail");
    }
}

/// Returns true if the run failed; `None` if no file system can be mounted here.
fn with_space(left: u64) -> Option<bool> {
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
    // A script whose own write fails has the words of its shell.
    assert_clear_error(&ran, &["o space left", "I/O error"], &when);
    assert_eq!(project.stead(&["state", "verify"]).code, 0, "{when}");
    disk.free_space();
    project.stead(&["up", "--yes", "--no-moves"]).ok();
    after.assert_applied(&project, &when);
    assert_eq!(project.stead(&["plan", "--exit-code"]).code, 0, "{when}");
    Some(ran.code != 0)
}

/// A file size limit needs no privileges: every write beyond it fails, as on a full disk.
#[test]
fn file_size_limit_is_reported_and_the_next_run_without_it_finishes() {
    let attempts: Vec<_> = [0, 1, 2, 4].map(|limit| std::thread::spawn(move || with_limit(limit))).into();
    let failed: Vec<bool> = attempts.into_iter().map(|attempt| attempt.join().unwrap()).collect();
    assert!(failed[0], "nothing can be written at all");
}

/// Returns true if the run failed.
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
    assert_clear_error(&ran, &["too large"], &when);
    assert_eq!(project.stead(&["state", "verify"]).code, 0, "{when}");
    project.stead(&["up", "--yes", "--no-moves"]).ok();
    after.assert_applied(&project, &when);
    ran.code != 0
}
