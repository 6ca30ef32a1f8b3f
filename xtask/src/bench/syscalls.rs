//! Disk operations of one `up`: number of syncs, and bytes written into the state folder.
//!
//! Measured in a separate run under strace, which is never timed.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use super::driver::{Action, Program, Tool, fresh};
use super::stead::Stead;
use super::terraform::on_path;
use super::{CHAINS, LENGTH, process};

const STATE_FOLDER: &str = ".stead";
const CALLS: &str = "trace=fsync,fdatasync,write,pwrite64,writev,pwritev,pwritev2";

#[derive(Debug, Default, PartialEq, Eq)]
struct Count {
    syncs: usize,
    written: u64,
}

/// Returns the notes for the report.
pub(crate) fn of_an_up(stead: &Stead, scratch: &Path) -> Result<Vec<String>, String> {
    let folder = scratch.join("traced");
    let state = folder.join(STATE_FOLDER);
    let what = format!("One `up` of {} resources", CHAINS * LENGTH);
    let missing = match on_path("strace").map(|strace| traced(stead, &strace, scratch, &folder)) {
        Some(Ok(Count { syncs, written })) => {
            let left = size_of(&state)?;
            return Ok(vec![format!(
                "{what}: {syncs} syncs (fsync and fdatasync), {written} bytes written into the state folder, \
                 {left} bytes in it afterwards."
            )]);
        }
        // Containers often forbid strace.
        Some(Err(problem)) => format!("strace does not work here ({problem})"),
        None => "strace is missing".to_owned(),
    };
    fresh(stead, &folder, Program::Chains)?;
    process::run(&mut stead.command(&folder, Action::Up))?;
    let left = size_of(&state)?;
    Ok(vec![
        format!("{what} leaves {left} bytes in the state folder."),
        format!("{missing}: syncs and bytes written were not counted."),
    ])
}

fn traced(stead: &Stead, strace: &Path, scratch: &Path, folder: &Path) -> Result<Count, String> {
    fresh(stead, folder, Program::Chains)?;
    let up = stead.command(folder, Action::Up);
    let log = scratch.join("strace.log");
    let mut command = Command::new(strace);
    command.args(["-f", "-y", "-s", "0", "-e", CALLS, "-o"]).arg(&log);
    command.arg(up.get_program()).args(up.get_args());
    process::run(&mut command)?;
    let text = std::fs::read(&log).map_err(|error| format!("cannot read {}: {error}", log.display()))?;
    Ok(count(&String::from_utf8_lossy(&text), STATE_FOLDER))
}

/// Reads the log of `strace -f -y`: `PID call(FD<path>, …) = RESULT`. A call of another thread splits a line into
/// `<unfinished …>` and `<… call resumed>`.
fn count(log: &str, state_folder: &str) -> Count {
    let inside = format!("/{state_folder}/");
    let mut count = Count::default();
    let mut writing: BTreeSet<&str> = BTreeSet::new();
    for line in log.lines() {
        let Some((thread, call)) = line.split_once(' ') else { continue };
        let call = call.trim_start();
        if call.starts_with("fsync(") || call.starts_with("fdatasync(") {
            count.syncs += 1;
            continue;
        }
        let resumed = call.starts_with("<... ");
        let is_ours = if resumed {
            writing.remove(thread)
        } else {
            let target = call.split_once('<').and_then(|(_, rest)| rest.split_once('>'));
            target.is_some_and(|(path, _)| path.contains(&inside))
        };
        if !is_ours {
            continue;
        }
        if call.ends_with("<unfinished ...>") {
            writing.insert(thread);
        } else if let Some((_, result)) = call.rsplit_once(" = ") {
            // A failed call returns a negative number and wrote nothing.
            count.written += result.split_whitespace().next().and_then(|n| n.parse().ok()).unwrap_or(0);
        }
    }
    count
}

pub(crate) fn size_of(folder: &Path) -> Result<u64, String> {
    let problem = |error| format!("cannot look into {}: {error}", folder.display());
    let mut size = 0;
    for entry in std::fs::read_dir(folder).map_err(problem)? {
        let entry = entry.map_err(problem)?;
        let about = entry.metadata().map_err(problem)?;
        size += if about.is_dir() { size_of(&entry.path())? } else { about.len() };
    }
    Ok(size)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn syncs_and_bytes_are_counted_in_split_lines() {
        let log = "\
10  write(5</p/.stead/head>, \"\"..., 300) = 300
11  write(6</p/.stead/journal/1/1>, \"\"..., 50 <unfinished ...>
10  write(1</dev/pts/0>, \"\"..., 9) = 9
10  fsync(5</p/.stead/head> <unfinished ...>
11  <... write resumed>)                = 50
10  <... fsync resumed>)                = 0
12  fdatasync(7</p/.stead>)             = 0
12  write(7</p/.stead/x>, \"\"..., 10) = -1 ENOSPC (No space left on device)
10  write(9</p/.steady/x>, \"\"..., 7) = 7
10  +++ exited with 0 +++
";
        assert_eq!(count(log, ".stead"), Count { syncs: 2, written: 350 });
    }
}
