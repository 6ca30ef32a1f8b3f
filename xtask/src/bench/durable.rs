//! Cost of `up` beside the cost of its durability alone.
//!
//! The benchmark keeps the slots of an `up`'s journal. A bare loop then writes the same bytes to the same disk as the file
//! store does: a new file, its bytes, a sync, its name, a sync of the folder.

use std::fmt::Write as _;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::process::median;
use super::renew;
use super::scale::{Edit, Shape, write_project};
use super::stead::Stead;
use super::watched::watch;

const RESOURCES: usize = 10_000;
const ROUNDS: usize = 5;
/// Bar: factor by which `up` may take longer than its journal alone.
const BAR: f64 = 5.0;

struct Row {
    shape: Shape,
    up: Duration,
    bare: Duration,
    slots: usize,
    bytes: usize,
}

impl Row {
    fn times(&self) -> f64 {
        self.up.as_secs_f64() / self.bare.as_secs_f64()
    }
}

/// Measured times.
pub(crate) struct Durability {
    rows: Vec<Row>,
}

pub(crate) fn measure(stead: &Stead, scratch: &Path) -> Result<Durability, String> {
    let folder = scratch.join("durable");
    let mut rows = Vec::new();
    for shape in [Shape::Wide, Shape::Chains] {
        eprintln!("bench: up of {RESOURCES}, {}, and its journal alone …", shape.name());
        let (mut ups, mut bares) = (Vec::new(), Vec::new());
        let slots = slots_of_an_up(stead, &folder, shape)?;
        // Alternating, so that both meet the same state of the disk.
        for _ in 0..ROUNDS {
            renew(&folder)?;
            write_project(&folder, shape, RESOURCES, Edit::None)?;
            let mut command = Command::new(&stead.binary);
            command.arg("-C").arg(&folder).args(["up", "--yes"]);
            ups.push(watch(&mut command, 0)?.wall);
            renew(&folder)?;
            let started = Instant::now();
            replay(&folder, &slots).map_err(|error| format!("cannot write the slots again: {error}"))?;
            bares.push(started.elapsed());
        }
        let (Some(up), Some(bare)) = (median(&ups), median(&bares)) else { continue };
        rows.push(Row { shape, up, bare, slots: slots.len(), bytes: slots.iter().map(Vec::len).sum() });
    }
    Ok(Durability { rows })
}

/// Returns the bytes of each slot of the journal, in the order of writing.
///
/// A run deletes its journal when it closes. Therefore each slot gets a second name during the run; closing takes much
/// longer than the pause between two passes.
fn slots_of_an_up(stead: &Stead, folder: &Path, shape: Shape) -> Result<Vec<Vec<u8>>, String> {
    renew(folder)?;
    write_project(folder, shape, RESOURCES, Edit::None)?;
    let (journal, kept) = (folder.join(".stead/state/bench/dev/local/journal"), folder.join("kept"));
    renew(&kept)?;
    let mut command = Command::new(&stead.binary);
    command.arg("-C").arg(folder).args(["up", "--yes"]);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = command.spawn().map_err(|error| format!("cannot run stead: {error}"))?;
    while child.try_wait().map_err(|error| error.to_string())?.is_none() {
        keep(&journal, &kept);
        std::thread::sleep(Duration::from_millis(1));
    }
    let mut names: Vec<PathBuf> = entries(&kept);
    names.sort();
    let slots: io::Result<Vec<Vec<u8>>> = names.iter().map(fs::read).collect();
    let slots = slots.map_err(|error| format!("cannot read the journal: {error}"))?;
    for part in ["\"record\":\"begin\"", "\"record\":\"end\""] {
        let found = slots.iter().map(|slot| count(slot, part.as_bytes())).sum::<usize>();
        if found != RESOURCES {
            return Err(format!("the journal holds {found} times {part} where there should be {RESOURCES}"));
        }
    }
    Ok(slots)
}

/// Gives every existing slot a second name. A slot that disappears meanwhile is noticed by the count later.
fn keep(journal: &Path, kept: &Path) {
    for epoch in entries(journal) {
        for slot in entries(&epoch) {
            if let Some(name) = slot.file_name() {
                let _ = fs::hard_link(&slot, kept.join(name));
            }
        }
    }
}

/// Returns the entries of a folder without temporary files; empty if the folder does not exist.
fn entries(folder: &Path) -> Vec<PathBuf> {
    let found = fs::read_dir(folder).into_iter().flatten().flatten();
    let named = found.filter(|entry| !entry.file_name().to_string_lossy().starts_with('.'));
    named.map(|entry| entry.path()).collect()
}

fn count(bytes: &[u8], part: &[u8]) -> usize {
    bytes.windows(part.len()).filter(|window| *window == part).count()
}

/// Appends and syncs only.
fn replay(folder: &Path, slots: &[Vec<u8>]) -> io::Result<()> {
    for (index, slot) in slots.iter().enumerate() {
        let (temporary, path) = (folder.join(format!(".tmp-{index}")), folder.join(format!("{index:08}")));
        let mut file = OpenOptions::new().write(true).create_new(true).open(&temporary)?;
        file.write_all(slot)?;
        file.sync_all()?;
        fs::hard_link(&temporary, &path)?;
        fs::remove_file(&temporary)?;
        File::open(folder)?.sync_all()?;
    }
    Ok(())
}

impl Durability {
    pub(crate) fn section(&self) -> String {
        let mut out = format!(
            "## What durability costs\n\n`up` of {RESOURCES} resources that cost nothing, every intent durable before \
             its call, beside a bare loop that writes and syncs\nthe same journal: the same bytes in the same slots on \
             the same disk. Medians of {ROUNDS}.\n\n\
             | shape | up | journal alone | slots | bytes | ratio | bar | |\n|---|---:|---:|---:|---:|---:|---:|---|\n"
        );
        for row in &self.rows {
            let _ = writeln!(
                out,
                "| {} | {:.2} s | {:.2} s | {} | {:.1} MB | {:.1}× | {BAR:.0}× | {} |",
                row.shape.name(),
                row.up.as_secs_f64(),
                row.bare.as_secs_f64(),
                row.slots,
                row.bytes as f64 / 1e6,
                row.times(),
                if row.times() <= BAR { "PASS" } else { "MISS" }
            );
        }
        out
    }

    /// Returns the number of rows above the bar.
    pub(crate) fn missed(&self) -> usize {
        self.rows.iter().filter(|row| row.times() > BAR).count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intents_are_counted_and_the_ratio_has_a_bar() {
        assert_eq!(count(b"{\"record\":\"begin\"}\n{\"record\":\"end\"}", b"\"record\":\"begin\""), 1);
        let row = |up: u64| Row {
            shape: Shape::Wide,
            up: Duration::from_secs(up),
            bare: Duration::from_secs(1),
            slots: 20,
            bytes: 1_000_000,
        };
        let figures = Durability { rows: vec![row(5), row(6)] };
        assert_eq!(figures.missed(), 1);
        let section = figures.section();
        assert!(section.contains("| wide | 5.00 s | 1.00 s | 20 | 1.0 MB | 5.0× | 5× | PASS |"), "{section}");
    }
}
