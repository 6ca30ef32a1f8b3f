//! Which file system the benchmark writes to: an `up` in memory would prove nothing about durability.

use std::path::Path;

/// The file system of a folder, in words; with a warning where it is not a disk.
pub(crate) fn describe(folder: &Path) -> String {
    let mounts = std::fs::read_to_string("/proc/mounts").unwrap_or_default();
    match kind(&mounts, folder) {
        None => "unknown file system".to_owned(),
        Some(kind @ ("tmpfs" | "ramfs")) => format!("{kind} (NOT A DISK: syncing costs nothing here)"),
        Some(kind) => kind.to_owned(),
    }
}

/// The type of the mount that the folder is in: the one with the longest path above it, the last if there
/// are several, since it hides the others.
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
    fn the_nearest_mount_decides() {
        assert_eq!(kind(MOUNTS, Path::new("/dev/shm/x")), Some("tmpfs"));
        assert_eq!(kind(MOUNTS, Path::new("/dev/shmx")), Some("ext4"));
        assert_eq!(kind("", Path::new("/x")), None);
    }
}
