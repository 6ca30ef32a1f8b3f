//! File system that the benchmark writes to. A run on a file system in memory would prove nothing about durability.

use std::path::Path;

/// Returns the file system of a folder for the report, with a warning if it is not a disk.
pub(crate) fn describe(folder: &Path) -> String {
    let mounts = std::fs::read_to_string("/proc/mounts").unwrap_or_default();
    match kind(&mounts, folder) {
        None => "unknown file system".to_owned(),
        Some(kind @ ("tmpfs" | "ramfs")) => format!("{kind} (NOT A DISK: syncing costs nothing here)"),
        Some(kind) => kind.to_owned(),
    }
}

/// Returns the type of the mount that contains the folder: the one with the longest path, and of several the last, which
/// hides the others.
fn kind<'a>(mounts: &'a str, folder: &Path) -> Option<&'a str> {
    let mut fields = mounts.lines().map(str::split_whitespace).filter_map(|mut fields| {
        fields.next()?;
        Some((fields.next()?, fields.next()?))
    });
    let mut best: Option<(usize, &str)> = None;
    for (point, kind) in fields.by_ref().filter(|(point, _)| folder.starts_with(point)) {
        if best.is_none_or(|(length, _)| point.len() >= length) {
            best = Some((point.len(), kind));
        }
    }
    best.map(|(_, kind)| kind)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOUNTS: &str = "none / overlay rw 0 0\n/dev/a / ext4 rw 0 0\nshm /dev/shm tmpfs rw 0 0\n";

    #[test]
    fn the_innermost_mount_counts() {
        assert_eq!(kind(MOUNTS, Path::new("/dev/shm/x")), Some("tmpfs"));
        assert_eq!(kind(MOUNTS, Path::new("/dev/shmx")), Some("ext4"));
        assert_eq!(kind("", Path::new("/x")), None);
    }
}
