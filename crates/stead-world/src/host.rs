//! Who and where we are; for people, in the record of who holds a stack.

/// This process, as others see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Host {
    pub name: String,
    pub user: String,
    pub pid: u32,
    /// The user's own folder.
    pub home: Option<std::path::PathBuf>,
}

/// Where no variable names the user (a container, a service), the number still tells whose process it is.
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
