//! AWS: a thousand resources through the embedded cloud, beside Terraform; requests; the used rate; programs without AWS types.

mod limiter;
mod moto;
mod program;
mod requests;
mod served;
mod sides;
mod unused;

use std::fmt::Write as _;
use std::path::Path;
use std::time::Duration;

use super::process::median;
use super::report::shown;
use super::stead::Stead;
use super::terraform::Terraform;
use super::watched::watch;
use limiter::Rates;
use moto::Moto;
use program::{RESOURCES, Stage};
use requests::{Requests, since};
use served::Served;
use sides::{AwsProvider, Side, SteadSide, TerraformSide};
use unused::Unused;

/// Runs of stead's columns. The peers run once: their times are minutes.
const RUNS: usize = 3;

/// Wall times of one tool for each command; `None` if the tool is not on the machine.
struct Column {
    name: String,
    walls: Option<Vec<Duration>>,
}

/// Figures of all parts.
pub(crate) struct Aws {
    columns: Vec<Column>,
    requests: Requests,
    rates: Rates,
    unused: Unused,
}

pub(crate) fn measure(stead: &Stead, scratch: &Path, with_peer: bool) -> Result<Aws, String> {
    let unused = unused::measure(stead, scratch)?;
    let mut columns = vec![in_process(stead, scratch)?];
    let (column, requests) = over_http(stead, scratch)?;
    columns.push(column);
    if with_peer {
        columns.extend(peers(scratch)?);
    }
    let rates = limiter::measure(stead, scratch)?;
    Ok(Aws { columns, requests, rates, unused })
}

fn in_process(stead: &Stead, scratch: &Path) -> Result<Column, String> {
    let mut rounds = Vec::new();
    for _ in 0..RUNS {
        let side = SteadSide::new(stead, &scratch.join("sim"), None, RESOURCES)?;
        rounds.push(course(&side, |_| Ok(()))?);
    }
    let side = SteadSide::new(stead, &scratch.join("sim"), None, RESOURCES)?;
    Ok(Column { name: side.name(), walls: Some(medians(&rounds)) })
}

fn over_http(stead: &Stead, scratch: &Path) -> Result<(Column, Requests), String> {
    let (mut rounds, mut of_stages, mut name) = (Vec::new(), Vec::new(), String::new());
    for _ in 0..RUNS {
        let served = Served::start(stead, &[])?;
        let side = SteadSide::new(stead, &scratch.join("served"), Some(&served), RESOURCES)?;
        let mut before = served.calls()?;
        of_stages.clear();
        let walls = course(&side, |stage| {
            let now = served.calls()?;
            of_stages.push((stage, since(&before, &now)));
            before = now;
            let expected = if stage == Stage::Destroy { 0 } else { RESOURCES };
            match served.resources()? {
                found if found == expected => Ok(()),
                found => Err(format!("the cloud has {found} resources where there should be {expected}")),
            }
        });
        rounds.push(walls?);
        name = side.name();
    }
    Ok((Column { name, walls: Some(medians(&rounds)) }, Requests { of_stages }))
}

fn peers(scratch: &Path) -> Result<Vec<Column>, String> {
    let absent = |name: &str| Column { name: name.to_owned(), walls: None };
    let Some(terraform) = Terraform::find() else {
        return Ok(vec![absent("terraform is not on the machine")]);
    };
    let side = TerraformSide::new(&terraform, &scratch.join("terraform-data"), None)?;
    let mut columns = vec![Column { name: side.name(), walls: Some(course(&side, |_| Ok(()))?) }];
    columns.push(match AwsProvider::find() {
        None => absent("the AWS provider of terraform is not on the machine"),
        Some(provider) => match Moto::start() {
            Err(_) => absent("moto is not on the machine"),
            Ok(moto) => {
                let folder = scratch.join("terraform-aws");
                let side = TerraformSide::new(&terraform, &folder, Some((&provider, &moto)))?;
                Column { name: side.name(), walls: Some(course(&side, |_| Ok(()))?) }
            }
        },
    });
    Ok(columns)
}

/// Runs all commands, and returns their wall times.
fn course(
    side: &dyn Side,
    mut after: impl FnMut(Stage) -> Result<(), String>,
) -> Result<Vec<Duration>, String> {
    let mut walls = Vec::new();
    for stage in Stage::ALL {
        eprintln!("bench: {}: {} …", side.name(), stage.label());
        side.write(stage.edit())?;
        walls.push(watch(&mut side.command(stage), 0)?.wall);
        after(stage)?;
    }
    Ok(walls)
}

fn medians(rounds: &[Vec<Duration>]) -> Vec<Duration> {
    let of_stage = |at: usize| median(&rounds.iter().map(|round| round[at]).collect::<Vec<_>>());
    (0..Stage::ALL.len()).filter_map(of_stage).collect()
}

impl Aws {
    pub(crate) fn section(&self) -> String {
        let mut out = format!(
            "## AWS\n\n{RESOURCES} resources: topics, and as many parameters, each with the ARN of a topic in its value. Wall time; \
             stead's is the median of {RUNS},\nthe others' a single run. The served cloud is `stead cloud serve` on loopback; stead learns its rate as it \
             goes. Terraform creates,\nupdates and deletes without a refresh, like stead.\n\n|"
        );
        // Writing to a string cannot fail, here and below.
        let _ = writeln!(
            out,
            " | {} |",
            self.columns.iter().map(|column| &*column.name).collect::<Vec<_>>().join(" | ")
        );
        let _ = writeln!(out, "|---|{}", "---:|".repeat(self.columns.len()));
        for (at, stage) in Stage::ALL.into_iter().enumerate() {
            let times = self
                .columns
                .iter()
                .map(|column| shown(column.walls.as_ref().and_then(|walls| walls.get(at).copied())));
            let _ = writeln!(out, "| {} | {} |", stage.label(), times.collect::<Vec<_>>().join(" | "));
        }
        for part in [self.requests.section(), self.rates.section(), self.unused.section()] {
            let _ = write!(out, "\n{part}");
        }
        out
    }

    /// Returns the number of figures that miss their bars.
    pub(crate) fn missed(&self) -> usize {
        self.rates.missed() + self.unused.missed()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn absent_tool_has_a_column_without_times() {
        let second = |count| vec![Duration::from_secs(count); Stage::ALL.len()];
        let aws = Aws {
            columns: vec![
                Column { name: "stead".to_owned(), walls: Some(medians(&[second(1), second(2), second(4)])) },
                Column { name: "moto is not on the machine".to_owned(), walls: None },
            ],
            requests: Requests { of_stages: vec![(Stage::Up, [("GetResource".to_owned(), 1_000)].into())] },
            rates: Rates::default(),
            unused: Unused::default(),
        };
        let section = aws.section();
        assert!(section.contains("| | stead | moto is not on the machine |"), "{section}");
        assert!(section.contains("| create | 2.00 s | – |"), "{section}");
        assert!(section.contains("| create | 0.00 | 0.00 | 0.00 | 1.00 | 0.00 | 0.00 | 1.00 |"), "{section}");
        assert_eq!(aws.missed(), 0);
    }
}
