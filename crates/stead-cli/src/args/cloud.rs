//! Flags of the embedded cloud.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand, ValueEnum};

#[derive(Subcommand)]
pub(crate) enum CloudCommand {
    /// Serve an embedded cloud on this machine, for every client of the Cloud Control API
    Serve(CloudArguments),
}

#[derive(Args)]
pub(crate) struct CloudArguments {
    /// Port on 127.0.0.1; port 0 takes any free port
    #[arg(long, value_name = "PORT", default_value_t = 4580)]
    pub port: u16,
    /// Folder that keeps the cloud [default: the cloud is gone when the server ends]
    #[arg(long, value_name = "DIR")]
    pub state: Option<PathBuf>,
    /// Let a share of the calls fail, drawn from a seed: 7,0.1 for every tenth
    #[arg(long, value_name = "SEED,RATE", value_parser = faults)]
    pub faults: Option<(u64, f64)>,
    /// Milliseconds that each call takes
    #[arg(long, value_name = "MS", default_value = "0", value_parser = millis)]
    pub latency: Duration,
    /// Milliseconds from the acceptance of an operation to its end
    #[arg(long, value_name = "MS", default_value = "0", value_parser = millis)]
    pub operations: Duration,
    /// Milliseconds for which reads return the state before a change
    #[arg(long, value_name = "MS", default_value = "0", value_parser = millis)]
    pub consistency: Duration,
    /// Calls per second in each account and region [default: no limit]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub rate: Option<u32>,
    /// Do not check quotas, or references between resources; may be repeated
    #[arg(long, value_name = "RULE")]
    pub ignore: Vec<IgnoredRule>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum IgnoredRule {
    Quotas,
    References,
}

fn millis(text: &str) -> Result<Duration, String> {
    text.parse().map(Duration::from_millis).map_err(|_| "it takes a number of milliseconds".to_owned())
}

fn faults(text: &str) -> Result<(u64, f64), String> {
    let parsed = text.split_once(',').and_then(|(seed, rate)| Some((seed.parse().ok()?, rate.parse().ok()?)));
    match parsed {
        Some((seed, rate)) if (0.0..=1.0).contains(&rate) => Ok((seed, rate)),
        _ => Err("it takes a seed and a rate between 0 and 1, such as 7,0.1".to_owned()),
    }
}
