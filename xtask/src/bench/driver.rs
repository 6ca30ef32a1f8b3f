//! Sequence of commands that every tool runs, so that rows of different tools are comparable.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use super::{CHAINS, LENGTH, process, renew};

/// Row of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Row {
    Start,
    EmptyPlan,
    Up,
    Plan,
    Destroy,
}

impl Row {
    pub(crate) const ALL: [Row; 5] = [Row::Start, Row::EmptyPlan, Row::Up, Row::Plan, Row::Destroy];

    /// Returns the factor by which the row must be faster than the peer.
    pub(crate) fn bar(self) -> f64 {
        match self {
            Row::Start | Row::EmptyPlan => 10.0,
            Row::Plan => 50.0,
            Row::Up | Row::Destroy => 100.0,
        }
    }

    pub(crate) fn label(self) -> String {
        let graph = format!("{} resources, chains of {LENGTH}", CHAINS * LENGTH);
        match self {
            Row::Start => "start: print the version".to_owned(),
            Row::EmptyPlan => "cold plan of an empty program".to_owned(),
            Row::Up => format!("up: {graph}"),
            Row::Plan => format!("plan with nothing to do: {graph}"),
            Row::Destroy => format!("destroy: {graph}"),
        }
    }
}

pub(crate) type Times = BTreeMap<Row, Vec<Duration>>;

/// Content of a project.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Program {
    Empty,
    Chains,
}

/// Command that is timed in a project's folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Action {
    /// Shows the changes to make.
    Plan,
    /// Shows the changes to make, and fails if there are any.
    PlanNothing,
    Up,
    Destroy,
}

/// Tool that can be measured.
pub(crate) trait Tool {
    fn name(&self) -> &'static str;

    /// Cheapest command: prints the version.
    fn start(&self) -> Command;

    /// Writes a project into an empty folder and prepares it. Not timed.
    fn prepare(&self, folder: &Path, program: Program) -> Result<(), String>;

    fn command(&self, folder: &Path, action: Action) -> Command;

    /// Returns the number of resources that the tool manages. Not timed.
    fn managed(&self, folder: &Path) -> Result<usize, String>;
}

/// Number of runs of the quick and the slow rows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Repeats {
    pub(crate) short: usize,
    pub(crate) long: usize,
}

pub(crate) fn run_course(tool: &dyn Tool, scratch: &Path, repeats: Repeats) -> Result<Times, String> {
    let mut times = Times::new();
    let mut record = |row: Row, command: &mut Command| -> Result<(), String> {
        eprintln!("bench: {}: {} …", tool.name(), row.label());
        times.entry(row).or_default().push(process::run(command)?.wall);
        Ok(())
    };
    let folder = scratch.join(tool.name());
    for _ in 0..repeats.short {
        record(Row::Start, &mut tool.start())?;
        fresh(tool, &folder, Program::Empty)?;
        record(Row::EmptyPlan, &mut tool.command(&folder, Action::Plan))?;
    }
    for _ in 0..repeats.long {
        fresh(tool, &folder, Program::Chains)?;
        record(Row::Up, &mut tool.command(&folder, Action::Up))?;
        expect_managed(tool, &folder, CHAINS * LENGTH)?;
        record(Row::Plan, &mut tool.command(&folder, Action::PlanNothing))?;
        record(Row::Destroy, &mut tool.command(&folder, Action::Destroy))?;
        expect_managed(tool, &folder, 0)?;
    }
    Ok(times)
}

/// Writes a project for a first run.
pub(crate) fn fresh(tool: &dyn Tool, folder: &Path, program: Program) -> Result<(), String> {
    renew(folder)?;
    tool.prepare(folder, program)
}

fn expect_managed(tool: &dyn Tool, folder: &Path, want: usize) -> Result<(), String> {
    let have = tool.managed(folder)?;
    if have == want {
        return Ok(());
    }
    Err(format!(
        "{} manages {have} resources where there should be {want}: the times mean nothing",
        tool.name()
    ))
}

pub(crate) fn write(folder: &Path, file: &str, text: &str) -> Result<(), String> {
    let path = folder.join(file);
    std::fs::write(&path, text).map_err(|error| format!("cannot write {}: {error}", path.display()))
}
