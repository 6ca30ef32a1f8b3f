//! Runs and times one process.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Process that exited with 0.
pub(crate) struct Finished {
    pub(crate) wall: Duration,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

/// Waits for the process. Another exit code than 0 is an error with the end of its output.
pub(crate) fn run(command: &mut Command) -> Result<Finished, String> {
    let started = Instant::now();
    let output = command
        .stdin(Stdio::null())
        .output()
        .map_err(|error| format!("cannot run {}: {error}", command.get_program().display()))?;
    let wall = started.elapsed();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (stdout, stderr) = (text(&output.stdout), text(&output.stderr));
    if output.status.success() {
        return Ok(Finished { wall, stdout, stderr });
    }
    let said = format!("{stdout}\n{stderr}");
    Err(format!("{command:?} ended with {}:\n{}", output.status, last_lines(&said, 20)))
}

/// Returns the median.
pub(crate) fn median(times: &[Duration]) -> Option<Duration> {
    let mut sorted = times.to_vec();
    sorted.sort();
    let upper = *sorted.get(sorted.len() / 2)?;
    let lower = sorted[(sorted.len() - 1) / 2];
    Some((lower + upper) / 2)
}

fn last_lines(text: &str, count: usize) -> String {
    let lines: Vec<&str> = text.trim().lines().collect();
    lines[lines.len().saturating_sub(count)..].join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_in_the_middle() {
        let of = |millis: &[u64]| {
            let times: Vec<Duration> = millis.iter().copied().map(Duration::from_millis).collect();
            median(&times)
        };
        assert_eq!(of(&[]), None);
        assert_eq!(of(&[9, 1, 5]), Some(Duration::from_millis(5)));
        assert_eq!(of(&[1, 2, 4, 100]), Some(Duration::from_millis(3)));
    }

    #[test]
    fn a_long_failure_shows_its_end() {
        assert_eq!(last_lines("a\nb\nc\n", 2), "b\nc");
        assert_eq!(last_lines("a", 2), "a");
    }
}
