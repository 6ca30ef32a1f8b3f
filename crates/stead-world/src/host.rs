//! Host, user and process id, for the record of the run that holds a stack.

/// Identity of this process, as shown to other people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Host {
    pub name: String,
    pub user: String,
    pub pid: u32,
    /// The user's home folder.
    pub home: Option<std::path::PathBuf>,
}

/// Returns the numeric user id, for a container or a service where no variable names the user.
#[cfg(unix)]
fn user_id() -> String {
    use std::os::unix::fs::MetadataExt as _;
    std::fs::metadata("/proc/self").map_or_else(|_| "unknown".to_owned(), |own| format!("uid {}", own.uid()))
}

#[cfg(not(unix))]
fn user_id() -> String {
    "unknown".to_owned()
}

impl Host {
    /// Returns the identity of the current process.
    pub fn this() -> Host {
        let from_environment = |keys: &[&str]| {
            keys.iter().filter_map(|key| std::env::var(key).ok()).find(|value| !value.is_empty())
        };
        let name = std::fs::read_to_string("/proc/sys/kernel/hostname")
            .map(|name| name.trim().to_owned())
            .ok()
            .or_else(|| from_environment(&["HOSTNAME", "COMPUTERNAME"]));
        let user = from_environment(&["USER", "LOGNAME", "USERNAME"]);
        Host {
            name: name.unwrap_or_else(|| "unknown-host".to_owned()),
            user: user.unwrap_or_else(user_id),
            pid: std::process::id(),
            home: from_environment(&["HOME", "USERPROFILE"]).map(std::path::PathBuf::from),
        }
    }
}
