//! Share of the accepted rate that `up` uses, for clouds that accept few, some and many requests per second.

use std::fmt::Write as _;
use std::path::Path;
use std::time::Duration;

use super::program::{Edit, Stage};
use super::served::{Calls, Served};
use super::sides::{Side as _, SteadSide};
use crate::bench::stead::Stead;
use crate::bench::watched::watch;

/// Requests per second that the clouds accept.
const RATES: [u32; 3] = [10, 30, 200];
/// Resources for each request per second: three requests each keep the limiter busy for half a minute.
const RESOURCES_PER_REQUEST: usize = 10;
/// Bar: share of the accepted requests.
const BAR: f64 = 0.85;

struct Row {
    rate: u32,
    wall: Duration,
    accepted: u64,
    refused: u64,
}

/// Rows for each rate.
#[derive(Default)]
pub(super) struct Rates {
    rows: Vec<Row>,
}

pub(super) fn measure(stead: &Stead, scratch: &Path) -> Result<Rates, String> {
    let mut rows = Vec::new();
    for rate in RATES {
        let resources = rate as usize * RESOURCES_PER_REQUEST;
        eprintln!("bench: up of {resources} on a cloud that accepts {rate} requests per second …");
        let served = Served::start(stead, &["--rate", &rate.to_string()])?;
        let side = SteadSide::new(stead, &scratch.join("rate"), Some(&served), resources)?;
        side.write(Edit::First)?;
        let wall = watch(&mut side.command(Stage::Up), 0)?.wall;
        let sum = |calls: Calls| calls.values().sum::<u64>();
        let (all, refused) = (sum(served.calls()?), sum(served.throttled()?));
        if served.resources()? != resources {
            return Err(format!("the cloud has not {resources} resources: the times mean nothing"));
        }
        rows.push(Row { rate, wall, accepted: all - refused, refused });
    }
    Ok(Rates { rows })
}

impl Row {
    /// Returns the share of the requests that the cloud would have accepted in this time: those of each second, and as many as
    /// one second has at the start.
    fn share(&self) -> f64 {
        self.accepted as f64 / (f64::from(self.rate) * (self.wall.as_secs_f64() + 1.0))
    }
}

impl Rates {
    pub(super) fn section(&self) -> String {
        let mut out = format!(
            "### Rate\n\n`up` of {RESOURCES_PER_REQUEST} resources for each request per second that the cloud accepts \
             (`stead cloud serve --rate`), from the first request\nto the last. The start is part of it: the rate is unknown \
             then.\n\n\
             | accepted per second | up | requests accepted | refused | used share | bar | |\n|---:|---:|---:|---:|---:|---:|---|\n"
        );
        for row in &self.rows {
            // Writing to a string cannot fail.
            let _ = writeln!(
                out,
                "| {} | {:.1} s | {} | {} | {:.0} % | {:.0} % | {} |",
                row.rate,
                row.wall.as_secs_f64(),
                row.accepted,
                row.refused,
                row.share() * 100.0,
                BAR * 100.0,
                if row.share() >= BAR { "PASS" } else { "MISS" }
            );
        }
        out
    }

    pub(super) fn missed(&self) -> usize {
        self.rows.iter().filter(|row| row.share() < BAR).count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_second_counts_twice() {
        let row = |accepted| Row { rate: 10, wall: Duration::from_secs(9), accepted, refused: 3 };
        let rates = Rates { rows: vec![row(100), row(84)] };
        assert_eq!(rates.missed(), 1);
        assert!(
            rates.section().contains("| 10 | 9.0 s | 100 | 3 | 100 % | 85 % | PASS |"),
            "{}",
            rates.section()
        );
    }
}
