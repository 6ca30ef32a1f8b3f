//! Cost of evaluating a program, beside `node` building the same objects and texts.
//!
//! The measured command is `stead graph --json`: it starts, evaluates, prints the graph and exits. Node runs a plain script
//! without types, packages or unknowns that makes as many objects with the same texts and prints them as JSON: a lower
//! bound for a JavaScript program.

use std::fmt::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::driver::write;
use super::process::median;
use super::renew;
use super::stead::Stead;

const SMALL: usize = 2;
const MANY: usize = 10_000;
const MOST: usize = 100_000;
const RUNS: usize = 7;
const MEMORY_BAR: u64 = 500 << 20;

#[derive(Clone, Copy, Debug, PartialEq)]
struct Measured {
    wall: Duration,
    /// Bytes; `None` if the system does not report them.
    peak: Option<u64>,
}

/// One size of program, with the figures of both sides.
#[derive(Debug)]
struct Row {
    resources: usize,
    stead: Measured,
    node: Option<Measured>,
}

pub(crate) struct Figures {
    node: Option<String>,
    rows: Vec<Row>,
}

pub(crate) fn measure(stead: &Stead, scratch: &Path) -> Result<Figures, String> {
    let node = version_of_node();
    let mut rows = Vec::new();
    for resources in [SMALL, MANY, MOST] {
        eprintln!("bench: evaluate {resources} resources …");
        let folder = scratch.join("evaluator");
        renew(&folder)?;
        write(&folder, "stead.toml", "project = \"bench\"\nmain = \"main.ts\"\n")?;
        write(&folder, "main.ts", &program(resources))?;
        write(&folder, "same.js", &script(resources))?;
        let mut declared = Command::new(&stead.binary);
        declared.arg("-C").arg(&folder).arg("graph");
        let declared = super::process::run(&mut declared)?.stdout;
        let count =
            declared.lines().filter(|line| line.contains("local.Data#") && !line.starts_with(' ')).count();
        if count != resources {
            return Err(format!("stead declares {count} resources, and should declare {resources}"));
        }
        rows.push(Row {
            resources,
            stead: repeated(|| {
                let mut command = Command::new(&stead.binary);
                command.arg("-C").arg(&folder).args(["graph", "--json"]);
                command
            })?,
            node: match &node {
                Some(_) => Some(repeated(|| {
                    let mut command = Command::new("node");
                    command.arg(folder.join("same.js"));
                    command
                })?),
                None => None,
            },
        });
    }
    Ok(Figures { node, rows })
}

fn version_of_node() -> Option<String> {
    let output = Command::new("node").arg("--version").output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// Returns a program in which each resource has a text made of its number and of an unknown value of the one before.
fn program(resources: usize) -> String {
    format!(
        r#"import * as local from "stead/local";

const first = new local.Data({{ value: "start" }}, {{ id: "data-0" }});
let before = first;
for (let i = 1; i < {resources}; i++) {{
  if (i % 1000 === 0) before = first;
  before = new local.Data({{ value: `${{i}} after ${{before.output}}` }}, {{ id: `data-${{i}}` }});
}}
export const last = before.output;
"#
    )
}

/// Returns the same objects in plain JavaScript, with a placeholder for unknown values.
fn script(resources: usize) -> String {
    format!(
        r#"class Data {{
  constructor(inputs, options) {{
    this.name = `dev:main:local.Data#${{options.id}}`;
    this.type = "local.Data";
    this.inputs = inputs;
    this.options = options;
    this.output = `<output of ${{this.name}}>`;
    nodes.push(this);
  }}
}}
const nodes = [];
const first = new Data({{ value: "start" }}, {{ id: "data-0" }});
let before = first;
for (let i = 1; i < {resources}; i++) {{
  if (i % 1000 === 0) before = first;
  before = new Data({{ value: `${{i}} after ${{before.output}}` }}, {{ id: `data-${{i}}` }});
}}
process.stdout.write(JSON.stringify({{ nodes, outputs: {{ last: before.output }} }}));
"#
    )
}

fn repeated(command: impl Fn() -> Command) -> Result<Measured, String> {
    let mut walls = Vec::new();
    for _ in 0..RUNS {
        walls.push(timed(&mut command())?);
    }
    let wall = median(&walls).ok_or("nothing was measured")?;
    Ok(Measured { wall, peak: peak(&mut command())? })
}

fn timed(command: &mut Command) -> Result<Duration, String> {
    let started = Instant::now();
    let status = command.stdin(Stdio::null()).stdout(Stdio::null()).status();
    let wall = started.elapsed();
    ended_well(command, status).map(|()| wall)
}

fn ended_well(command: &Command, status: std::io::Result<std::process::ExitStatus>) -> Result<(), String> {
    match status {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("{command:?} ended with {status}")),
        Err(error) => Err(format!("cannot run {}: {error}", command.get_program().display())),
    }
}

/// Returns the peak memory of a separate run: the system's high-water mark, read until the process ends.
fn peak(command: &mut Command) -> Result<Option<u64>, String> {
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .spawn()
        .map_err(|error| format!("cannot run {}: {error}", command.get_program().display()))?;
    let status = format!("/proc/{}/status", child.id());
    let mut peak = None;
    loop {
        let seen = std::fs::read_to_string(&status).ok().and_then(|text| high_water(&text));
        peak = peak.max(seen);
        match child.try_wait() {
            Ok(None) => std::thread::sleep(Duration::from_micros(200)),
            ended => return ended_well(command, ended.map(Option::unwrap_or_default)).map(|()| peak),
        }
    }
}

fn high_water(status: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(line.trim().strip_suffix(" kB")?.trim().parse::<u64>().ok()? << 10)
}

impl Figures {
    pub(crate) fn section(&self) -> String {
        let version = self.node.as_deref().unwrap_or("node is not on PATH");
        let mut section = String::from(
            "## Evaluation\n\n`stead graph --json`: start, evaluate, print the graph. Each resource has a text with a hole \
             for the output of the one before it, in chains of a thousand. Beside it `node` with a plain script that makes as many objects with the \
             same texts and prints them: no types, no unknowns, no names, no checks. Median of ",
        );
        // Writing to a string cannot fail, here and below.
        let _ = writeln!(section, "{RUNS}; peak memory of a run of its own. node: {version}.\n");
        section.push_str(
            "| resources | stead | peak | node | peak | bar | |\n|---:|---:|---:|---:|---:|---|---|\n",
        );
        for row in &self.rows {
            let (bar, verdict) = self.judged(row);
            let _ = writeln!(
                section,
                "| {} | {} | {} | {} | {} | {bar} | {verdict} |",
                row.resources,
                millis(Some(row.stead.wall)),
                megabytes(row.stead.peak),
                millis(row.node.map(|node| node.wall)),
                megabytes(row.node.and_then(|node| node.peak)),
            );
        }
        section
    }

    pub(crate) fn missed(&self) -> usize {
        self.rows.iter().filter(|row| self.judged(row).1 == "MISS").count()
    }

    /// Returns the bar of the row and whether the row reaches it.
    fn judged(&self, row: &Row) -> (String, &'static str) {
        let of = |resources: usize| self.rows.iter().find(|row| row.resources == resources);
        let start = of(SMALL).and_then(|small| small.node).map(|node| node.wall);
        let ours = row.stead.wall.as_secs_f64();
        let (bar, most) = match row.resources {
            SMALL => ("less than node".to_owned(), start.map(|start| start.as_secs_f64())),
            MANY => {
                ("less than 3× node's small program".to_owned(), start.map(|start| 3.0 * start.as_secs_f64()))
            }
            _ => (
                "12× as long as 10000, 500 MB".to_owned(),
                of(MANY).map(|many| 12.0 * many.stead.wall.as_secs_f64()),
            ),
        };
        let small_enough = row.stead.peak.is_none_or(|peak| peak < MEMORY_BAR);
        let verdict = match most {
            None => "",
            Some(most) if ours <= most && small_enough => "PASS",
            Some(_) => "MISS",
        };
        (bar, verdict)
    }
}

fn millis(time: Option<Duration>) -> String {
    time.map_or_else(|| "–".to_owned(), |time| format!("{:.1} ms", time.as_secs_f64() * 1000.0))
}

fn megabytes(bytes: Option<u64>) -> String {
    bytes.map_or_else(|| "–".to_owned(), |bytes| format!("{} MB", bytes >> 20))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(resources: usize, stead: u64, peak: u64, node: Option<u64>) -> Row {
        let measured =
            |millis, peak| Measured { wall: Duration::from_millis(millis), peak: Some(peak << 20) };
        Row { resources, stead: measured(stead, peak), node: node.map(|millis| measured(millis, 40)) }
    }

    #[test]
    fn each_size_has_its_own_bar() {
        let rows =
            vec![row(SMALL, 6, 10, Some(60)), row(MANY, 181, 40, Some(90)), row(MOST, 2000, 501, Some(300))];
        let figures = Figures { node: Some("v20".to_owned()), rows };
        let verdicts: Vec<_> = figures.rows.iter().map(|row| figures.judged(row).1).collect();
        assert_eq!(verdicts, ["PASS", "MISS", "MISS"]);
        assert_eq!(figures.missed(), 2);
        assert!(
            figures.section().contains("| 2 | 6.0 ms | 10 MB | 60.0 ms | 40 MB | less than node | PASS |")
        );
    }

    #[test]
    fn without_node_only_rows_without_node_are_judged() {
        let rows = vec![row(SMALL, 6, 10, None), row(MANY, 181, 40, None), row(MOST, 2000, 300, None)];
        let figures = Figures { node: None, rows };
        let verdicts: Vec<_> = figures.rows.iter().map(|row| figures.judged(row).1).collect();
        assert_eq!(verdicts, ["", "", "PASS"]);
    }

    #[test]
    fn the_high_water_mark_is_read_in_bytes() {
        assert_eq!(high_water("VmPeak:\t 9 kB\nVmHWM:\t    2048 kB\n"), Some(2 << 20));
        assert_eq!(high_water(""), None);
    }
}
