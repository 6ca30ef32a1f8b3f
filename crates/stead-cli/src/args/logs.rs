//! Arguments of `stead logs` and `stead stats`.

use std::time::Duration;

use clap::Args;
use stead::ops::Moment;
use stead_world::Timestamp;

#[derive(Args)]
pub(crate) struct LogsArguments {
    /// Name of the resource, or its id if it is unique [default: all resources that have logs]
    pub name: Option<String>,
    /// Show new lines as they come, until an interrupt
    #[arg(short, long)]
    pub follow: bool,
    /// First time to show: a duration such as 90s, 15m, 2h30m or 3d, or a time such as 2026-11-18T14:00:00Z
    #[arg(long, value_name = "WHEN", default_value = "1h", value_parser = since)]
    pub since: Since,
}

#[derive(Args)]
pub(crate) struct StatsArguments {
    /// Name of the resource, or its id if it is unique [default: all resources that have metrics]
    pub name: Option<String>,
    /// First time to count: a duration such as 90s, 15m, 2h30m or 3d, or a time such as 2026-11-18T14:00:00Z
    #[arg(long, value_name = "WHEN", default_value = "3h", value_parser = since)]
    pub since: Since,
}

/// Start of a span of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Since {
    Ago(Duration),
    At(Moment),
}

impl Since {
    /// Returns the moment, seen from now.
    pub(crate) fn moment(self, now: Timestamp) -> Moment {
        match self {
            Since::Ago(duration) => Moment(now.0).before(duration),
            Since::At(moment) => moment,
        }
    }
}

fn since(text: &str) -> Result<Since, String> {
    let wrong = || {
        "write a duration such as 90s, 15m, 2h30m or 3d, or a time such as 2026-11-18 or 2026-11-18T14:00:00Z"
            .to_owned()
    };
    if let Some(duration) = duration(text) {
        return Ok(Since::Ago(duration));
    }
    let time = if text.contains(['T', ' ']) { text.to_owned() } else { format!("{text}T00:00:00Z") };
    Timestamp::of_rfc3339(&time).map(|time| Since::At(Moment(time.0))).ok_or_else(wrong)
}

/// Reads a duration: numbers, each with a unit.
fn duration(text: &str) -> Option<Duration> {
    let (mut seconds, mut rest) = (0u64, text);
    while !rest.is_empty() {
        let unit = rest.find(|c: char| !c.is_ascii_digit())?;
        let number: u64 = rest.get(..unit)?.parse().ok()?;
        let length = match rest.get(unit..=unit)? {
            "s" => 1,
            "m" => 60,
            "h" => 3600,
            "d" => 86_400,
            "w" => 7 * 86_400,
            _ => return None,
        };
        seconds = seconds.checked_add(number.checked_mul(length)?)?;
        rest = rest.get(unit + 1..)?;
    }
    (!text.is_empty()).then(|| Duration::from_secs(seconds))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_and_times_are_read() {
        let ago = |seconds| Ok(Since::Ago(Duration::from_secs(seconds)));
        assert_eq!(since("90s"), ago(90));
        assert_eq!(since("2h30m"), ago(9000));
        assert_eq!(since("1w"), ago(604_800));
        assert_eq!(since("2027-01-15T07:59:59Z"), Ok(Since::At(Moment(1_799_999_999_000))));
        assert_eq!(since("1970-01-02"), Ok(Since::At(Moment(86_400_000))));
        for wrong in ["", "5", "h", "-5m", "5y", "99999999999999999999d", "yesterday", "1.5h", "5é"] {
            assert!(since(wrong).is_err(), "{wrong}");
        }
        assert_eq!(Since::Ago(Duration::from_secs(1)).moment(Timestamp(5000)), Moment(4000));
    }
}
