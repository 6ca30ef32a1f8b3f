//! `cargo xtask bench --scale`: growth of time, memory and bytes with the number of resources.

use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

use super::stead::Stead;
use super::watched::{Taken, watch};
use super::{driver, renew};

/// Bar: factor in time for ten times as many resources.
const GROWTH: f64 = 12.0;
/// Bar: peak memory of any stage, in KiB.
const MEMORY: u64 = 1 << 20;

/// Runs of each stage.
const ROUNDS: usize = 3;

/// Dependencies between the resources.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    Wide,
    Chains,
    Tree,
    /// Independent resources with several properties; each value is shared by as many resources as matching can still use.
    Alike,
}

impl Shape {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Shape::Wide => "wide",
            Shape::Chains => "chains of 100",
            Shape::Tree => "binary tree",
            Shape::Alike => "alike",
        }
    }
}

/// Commands to run, in this order, in one project.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Up,
    PlanNothing,
    /// One resource in a hundred gets another value.
    PlanOnePercent,
    /// Every resource gets another name, so that as many are removed as are added.
    PlanAllMoved,
    Destroy,
}

/// Variant of the program of a stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Edit {
    None,
    OnePercent,
    AllMoved,
}

impl Stage {
    const ALL: [Stage; 5] =
        [Stage::Up, Stage::PlanNothing, Stage::PlanOnePercent, Stage::PlanAllMoved, Stage::Destroy];

    fn label(self) -> &'static str {
        match self {
            Stage::Up => "up",
            Stage::PlanNothing => "plan, nothing to do",
            Stage::PlanOnePercent => "plan, 1 % changed",
            Stage::PlanAllMoved => "plan, all moved",
            Stage::Destroy => "destroy",
        }
    }

    fn edit(self) -> Edit {
        match self {
            Stage::PlanOnePercent => Edit::OnePercent,
            Stage::PlanAllMoved => Edit::AllMoved,
            _ => Edit::None,
        }
    }

    /// Returns the command and its exit code on success.
    fn command(self, shape: Shape) -> (&'static [&'static str], i32) {
        match self {
            Stage::Up => (&["up", "--yes"], 0),
            Stage::PlanNothing => (&["plan", "--exit-code"], 0),
            // Another value replaces the resource.
            Stage::PlanOnePercent if shape == Shape::Alike => (&["plan", "--exit-code"], 11),
            Stage::PlanOnePercent => (&["plan", "--exit-code"], 10),
            Stage::PlanAllMoved => (&["plan", "--exit-code"], 11),
            Stage::Destroy => (&["destroy", "--yes"], 0),
        }
    }
}

struct Row {
    size: usize,
    shape: Shape,
    taken: Vec<Taken>,
}

/// Factor in time for ten times as many resources.
struct Check {
    what: String,
    shape: Shape,
    wall: f64,
    busy: Option<f64>,
}

/// Measurements for every size and shape.
pub(crate) struct Growth {
    rows: Vec<Row>,
}

pub(crate) fn measure(stead: &Stead, scratch: &Path, sizes: &[usize]) -> Result<Growth, String> {
    let mut rows = Vec::new();
    for shape in [Shape::Wide, Shape::Chains, Shape::Tree, Shape::Alike] {
        let mut rounds: Vec<Vec<Vec<Taken>>> = vec![Vec::new(); sizes.len()];
        // Interleaved: a slow minute of the machine affects every size.
        for _ in 0..ROUNDS {
            for (at, &size) in sizes.iter().enumerate() {
                rounds[at].push(round(stead, &scratch.join("scale"), size, shape)?);
            }
        }
        for (&size, rounds) in sizes.iter().zip(&rounds) {
            let row = Row { size, shape, taken: medians(rounds) };
            eprint!("bench: {}", row.line());
            rows.push(row);
        }
    }
    Ok(Growth { rows })
}

/// Returns the median of each stage, and the peak memory of any.
fn medians(rounds: &[Vec<Taken>]) -> Vec<Taken> {
    let median = |stage: usize| {
        let mut taken: Vec<Taken> = rounds.iter().map(|round| round[stage]).collect();
        taken.sort_by_key(|taken| taken.wall);
        let peak = taken.iter().filter_map(|taken| taken.peak).max();
        Taken { peak, ..taken[taken.len() / 2] }
    };
    (0..Stage::ALL.len()).map(median).collect()
}

fn round(stead: &Stead, folder: &Path, size: usize, shape: Shape) -> Result<Vec<Taken>, String> {
    renew(folder)?;
    let mut taken = Vec::new();
    for stage in Stage::ALL {
        write_project(folder, shape, size, stage.edit())?;
        let (words, expected) = stage.command(shape);
        let mut command = Command::new(&stead.binary);
        command.arg("-C").arg(folder).args(words);
        taken.push(watch(&mut command, expected)?);
    }
    Ok(taken)
}

pub(crate) fn write_project(folder: &Path, shape: Shape, size: usize, edit: Edit) -> Result<(), String> {
    driver::write(folder, "stead.toml", "project = \"bench\"\nmain = \"main.ts\"\n")?;
    driver::write(folder, "main.ts", &source(shape, size, edit))
}

impl Row {
    fn line(&self) -> String {
        let mut line = format!("| {} | {} |", self.size, self.shape.name());
        for taken in &self.taken {
            let _ = write!(line, " {:.2} s |", taken.wall.as_secs_f64());
        }
        let peak = self.peak().map_or_else(|| "–".to_owned(), |kib| format!("{} MiB", kib / 1024));
        let mega = |taken: Option<&Taken>| {
            let written = taken.and_then(|taken| taken.written);
            written.map_or_else(|| "–".to_owned(), |bytes| format!("{:.1} MB", bytes as f64 / 1e6))
        };
        let _ = writeln!(line, " {peak} | {} | {} |", mega(self.taken.first()), mega(self.taken.last()));
        line
    }

    fn peak(&self) -> Option<u64> {
        self.taken.iter().filter_map(|taken| taken.peak).max()
    }
}

impl Growth {
    pub(crate) fn section(&self) -> String {
        let stages: Vec<&str> = Stage::ALL.iter().map(|stage| stage.label()).collect();
        let mut out = format!(
            "## Growth\n\nOne process each, the median of three: wall time, the most memory that any of them held, bytes that `up` and \
             `destroy` had written to\nthe disk. `local.Data` in three shapes; `alike` is `local.RandomPet` in which \
             sixteen each share a value. *All moved*: every\nresource is declared under another name, so that as many \
             are removed as are new, and each is compared with what it\nmay have been.\n\n\
             | resources | shape | {} | memory | up writes | destroy writes |\n|---:|---|{}\n",
            stages.join(" | "),
            "---:|".repeat(stages.len() + 3),
        );
        self.rows.iter().for_each(|row| out.push_str(&row.line()));
        let checks = self.checks();
        if !checks.is_empty() {
            out.push_str(
                "\n| ten times as many | shape | wall time | processor time | bar | |\n|---|---|---:|---:|---:|---|\n",
            );
        }
        for Check { what, shape, wall, busy } in checks {
            let busy = busy.map_or_else(|| "–".to_owned(), |times| format!("{times:.1}×"));
            let verdict = if wall <= GROWTH { "PASS" } else { "MISS" };
            let _ = writeln!(
                out,
                "| {what} | {} | {wall:.1}× | {busy} | {GROWTH:.0}× | {verdict} |",
                shape.name()
            );
        }
        out
    }

    /// Returns the factors in time of each stage, for each size that is ten times another.
    fn checks(&self) -> Vec<Check> {
        let mut checks = Vec::new();
        for large in &self.rows {
            let small = self.rows.iter().find(|row| row.shape == large.shape && row.size * 10 == large.size);
            // A stage of milliseconds measures the start of a process.
            let Some(small) = small.filter(|small| small.size >= 10_000) else { continue };
            for (stage, (small, large_taken)) in Stage::ALL.iter().zip(small.taken.iter().zip(&large.taken)) {
                let wall = large_taken.wall.as_secs_f64() / small.wall.as_secs_f64();
                let busy = large_taken.busy.zip(small.busy);
                let busy = busy.map(|(large, small)| large.as_secs_f64() / small.as_secs_f64());
                let what = format!("{}: {}", large.size, stage.label());
                checks.push(Check { what, shape: large.shape, wall, busy });
            }
        }
        checks
    }

    /// Returns the number of figures above their bars.
    pub(crate) fn missed(&self) -> usize {
        let slow = self.checks().iter().filter(|check| check.wall > GROWTH).count();
        slow + self.rows.iter().filter(|row| row.peak().is_some_and(|peak| peak > MEMORY)).count()
    }
}

/// Returns a program with this many resources.
pub(crate) fn source(shape: Shape, size: usize, edit: Edit) -> String {
    let from = match shape {
        Shape::Wide | Shape::Alike => "undefined",
        Shape::Chains => "i % 100 === 0 ? undefined : all[i - 1]",
        Shape::Tree => "i === 0 ? undefined : all[(i - 1) >> 1]",
    };
    let id = if edit == Edit::AllMoved { "d" } else { "c" };
    let changed = if edit == Edit::OnePercent { "i % 100 === 0 && i > 0" } else { "false" };
    let (class, inputs) = match (shape, edit) {
        // A value that sixteen resources share, and one that is unique.
        (Shape::Alike, Edit::AllMoved) => ("RandomPet", "prefix: `p${i >> 4}`, keepers: [i]"),
        (Shape::Alike, _) => ("RandomPet", "prefix: `p${i >> 4}`, keepers: [own, i, 0]"),
        _ => ("Data", "value: [own, from ? from.output[0] : null]"),
    };
    format!(
        r#"import * as local from "stead/local";

const all: any[] = [];
for (let i = 0; i < {size}; i++) {{
  const from = {from};
  const own = {changed} ? "y" : "x";
  all.push(new local.{class}({{ {inputs} }}, {{ id: `{id}${{i}}` }}));
}}
"#
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn shapes_differ_in_their_dependencies() {
        assert!(source(Shape::Wide, 10, Edit::None).contains("const from = undefined;"));
        assert!(source(Shape::Chains, 10, Edit::None).contains("all[i - 1]"));
        assert!(source(Shape::Tree, 10, Edit::None).contains("all[(i - 1) >> 1]"));
        assert!(source(Shape::Wide, 10, Edit::AllMoved).contains("`d${i}`"));
        assert!(source(Shape::Alike, 10, Edit::None).contains("local.RandomPet"));
    }

    #[test]
    fn growth_and_memory_have_bars() {
        let row = |size: usize, seconds: u64, peak: u64| {
            let wall = Duration::from_secs(seconds);
            let taken = Taken { wall, peak: Some(peak), written: Some(1_500_000), busy: Some(wall) };
            let taken = vec![taken; Stage::ALL.len()];
            Row { size, shape: Shape::Wide, taken }
        };
        let good = Growth { rows: vec![row(10_000, 1, 1), row(100_000, 12, MEMORY)] };
        assert_eq!(good.missed(), 0);
        let section = good.section();
        assert!(section.contains("| 100000: up | wide | 12.0× | 12.0× | 12× | PASS |"), "{section}");
        assert!(section.contains("| 1024 MiB | 1.5 MB | 1.5 MB |"), "{section}");
        let bad = Growth { rows: vec![row(10_000, 1, 1), row(100_000, 13, MEMORY + 1)] };
        assert_eq!(bad.missed(), Stage::ALL.len() + 1);
    }
}
