//! Runs one process and records its time, memory and bytes written.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Resources that one process used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Taken {
    pub(crate) wall: Duration,
    /// Peak memory in KiB, or `None` if the system does not report it.
    pub(crate) peak: Option<u64>,
    /// Bytes written to the disk, in whole pages, or `None` if the system does not report them.
    pub(crate) written: Option<u64>,
    /// CPU time, which other processes on the machine influence less than wall time.
    pub(crate) busy: Option<Duration>,
}

/// Runs the command to its end, without input and output.
pub(crate) fn watch(command: &mut Command, expected: i32) -> Result<Taken, String> {
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let started = Instant::now();
    let mut child = command.spawn().map_err(|error| format!("cannot run {command:?}: {error}"))?;
    let process = format!("/proc/{}", child.id());
    let look = |file: &str| std::fs::read_to_string(format!("{process}/{file}")).ok();
    let mut taken = Taken::default();
    loop {
        // An exited process that was not waited for still reports its totals.
        let stat = look("stat");
        let is_over = stat.as_deref().is_none_or(has_ended);
        taken.wall = started.elapsed();
        taken.busy = stat.as_deref().and_then(busy).or(taken.busy);
        taken.peak = look("status").as_deref().and_then(high_water).or(taken.peak);
        taken.written = look("io").as_deref().and_then(written).or(taken.written);
        let ended = if is_over { child.wait().map(Some) } else { child.try_wait() };
        if let Some(ended) = ended.map_err(|error| error.to_string())? {
            if ended.code() != Some(expected) {
                return Err(format!("{command:?} ended with {ended}"));
            }
            return Ok(taken);
        }
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// Returns true for a zombie: the letter after the name in `stat`, which ends with the last bracket.
fn has_ended(stat: &str) -> bool {
    stat.rsplit_once(") ").is_some_and(|(_, rest)| rest.starts_with(['Z', 'X']))
}

/// Returns user and system time, which Linux reports in hundredths of a second.
fn busy(stat: &str) -> Option<Duration> {
    let (_, rest) = stat.rsplit_once(") ")?;
    let mut ticks = rest.split_whitespace().skip(11).map_while(|field| field.parse::<u64>().ok());
    Some(Duration::from_millis((ticks.next()? + ticks.next()?) * 10))
}

/// Returns the peak memory in a process's status.
fn high_water(status: &str) -> Option<u64> {
    field(status, "VmHWM:")
}

fn written(io: &str) -> Option<u64> {
    field(io, "write_bytes:")
}

fn field(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    line.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn status_and_stat_of_a_process_are_parsed() {
        assert_eq!(high_water("Name:\tstead\nVmPeak:\t 9 kB\nVmHWM:\t  1234 kB\n"), Some(1234));
        assert_eq!(high_water("Name:\tstead\n"), None);
        assert_eq!(written("wchar: 7\nwrite_bytes: 4096\ncancelled_write_bytes: 1\n"), Some(4096));
        let stat = "12 (a) b) S 1 2 3 4 5 6 7 8 9 10 150 50 0 0";
        assert_eq!(busy(stat), Some(Duration::from_secs(2)));
        assert!(has_ended("12 (a) b) Z 1 1") && !has_ended("12 (Z) S 1 1"));
    }

    #[test]
    fn a_process_is_watched_to_its_end() {
        let taken = watch(Command::new("sh").args(["-c", "exit 3"]), 3).unwrap_or_default();
        assert!(taken.wall > Duration::ZERO);
        assert!(watch(Command::new("sh").args(["-c", "exit 3"]), 0).is_err());
    }
}
