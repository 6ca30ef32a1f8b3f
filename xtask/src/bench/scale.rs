//! `cargo xtask bench --scale`: how time, memory and bytes grow with the number of resources, in three shapes.

use std::fmt::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::stead::Stead;
use super::syscalls::size_of;
use super::{driver, renew};

/// How the resources hang together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shape {
    Wide,
    Chains,
    Tree,
}

/// What is run, in this order, in one project.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Up,
    PlanNothing,
    /// One resource in a hundred has another value.
    PlanOnePercent,
    Destroy,
}

/// What one process took.
struct Taken {
    wall: Duration,
    /// The most memory it held, in KiB; `None`: the system does not tell.
    peak: Option<u64>,
}

/// The table for these numbers of resources.
pub(crate) fn table(stead: &Stead, scratch: &Path, sizes: &[usize]) -> Result<String, String> {
    let mut out = String::from(
        "## Growth\n\n`local.Data`, one process each: wall time, most memory held, bytes in the state folder after `up`.\n\n\
         | resources | shape | up | plan, nothing to do | plan, 1 % changed | destroy | memory | state |\n\
         |---|---|---|---|---|---|---|---|\n",
    );
    for &size in sizes {
        for shape in [Shape::Wide, Shape::Chains, Shape::Tree] {
            let row = row(stead, &scratch.join("scale"), size, shape)?;
            eprint!("bench: {row}");
            out.push_str(&row);
        }
    }
    Ok(out)
}

fn row(stead: &Stead, folder: &Path, size: usize, shape: Shape) -> Result<String, String> {
    renew(folder)?;
    driver::write(folder, "stead.toml", "project = \"bench\"\nmain = \"main.ts\"\n")?;
    let mut cells = String::new();
    let (mut peak, mut state) = (0, 0);
    for stage in [Stage::Up, Stage::PlanNothing, Stage::PlanOnePercent, Stage::Destroy] {
        let changed = if stage == Stage::PlanOnePercent { 100 } else { usize::MAX };
        driver::write(folder, "main.ts", &source(shape, size, changed))?;
        let Taken { wall, peak: held } = take(stead, folder, stage)?;
        let _ = write!(cells, " {:.2} s |", wall.as_secs_f64());
        peak = peak.max(held.unwrap_or(0));
        if stage == Stage::Up {
            state = size_of(&folder.join(".stead"))?;
        }
    }
    let name = match shape {
        Shape::Wide => "wide",
        Shape::Chains => "chains of 100",
        Shape::Tree => "binary tree",
    };
    Ok(format!("| {size} | {name} |{cells} {} MiB | {:.1} MB |\n", peak / 1024, state as f64 / 1e6))
}

fn take(stead: &Stead, folder: &Path, stage: Stage) -> Result<Taken, String> {
    let (words, expected): (&[&str], i32) = match stage {
        Stage::Up => (&["up", "--yes"], 0),
        Stage::PlanNothing => (&["plan", "--exit-code"], 0),
        Stage::PlanOnePercent => (&["plan", "--exit-code"], 10),
        Stage::Destroy => (&["destroy", "--yes"], 0),
    };
    let mut command = Command::new(&stead.binary);
    command.arg("-C").arg(folder).args(words);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let started = Instant::now();
    let mut child = command.spawn().map_err(|error| format!("cannot run stead: {error}"))?;
    let status = format!("/proc/{}/status", child.id());
    let mut peak = None;
    loop {
        if let Some(ended) = child.try_wait().map_err(|error| error.to_string())? {
            let wall = started.elapsed();
            if ended.code() != Some(expected) {
                return Err(format!("{stage:?} in {} ended with {ended}", folder.display()));
            }
            return Ok(Taken { wall, peak });
        }
        peak = std::fs::read_to_string(&status).ok().as_deref().and_then(high_water).or(peak);
        std::thread::sleep(Duration::from_millis(4));
    }
}

/// The most memory that a process ever held, as its status tells.
fn high_water(status: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.split_whitespace().next()?.parse().ok()
}

/// A program of so many resources, of which every `changed`-th has another value.
fn source(shape: Shape, size: usize, changed: usize) -> String {
    let from = match shape {
        Shape::Wide => "undefined",
        Shape::Chains => "i % 100 === 0 ? undefined : all[i - 1]",
        Shape::Tree => "i === 0 ? undefined : all[(i - 1) >> 1]",
    };
    format!(
        r#"import * as local from "stead/local";

const all: local.Data[] = [];
for (let i = 0; i < {size}; i++) {{
  const from = {from};
  const own = i % {changed} === 0 && i > 0 ? "y" : "x";
  all.push(new local.Data({{ value: [own, from ? from.output[0] : null] }}, {{ id: `c${{i}}` }}));
}}
"#
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_differ_in_what_comes_from_what() {
        assert!(source(Shape::Wide, 10, 100).contains("const from = undefined;"));
        assert!(source(Shape::Chains, 10, 100).contains("all[i - 1]"));
        assert!(source(Shape::Tree, 10, 100).contains("all[(i - 1) >> 1]"));
    }

    #[test]
    fn the_high_water_mark_is_read() {
        assert_eq!(high_water("Name:\tstead\nVmPeak:\t 9 kB\nVmHWM:\t  1234 kB\n"), Some(1234));
        assert_eq!(high_water("Name:\tstead\n"), None);
    }
}
