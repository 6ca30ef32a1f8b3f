//! Host, user and process id, for the record of the run that holds a stack.

use std::path::PathBuf;

/// Identity of this process, as shown to other people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Host {
    pub name: String,
    pub user: String,
    pub pid: u32,
    /// The user's home folder.
    pub home: Option<PathBuf>,
    /// The folder with the marks that name the owners of files. `None`: there is no home folder for it.
    pub owners: Option<PathBuf>,
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
        let home = from_environment(&["HOME", "USERPROFILE"]).map(PathBuf::from);
        let state_folder = from_environment(&["XDG_STATE_HOME"]).map(PathBuf::from);
        let state_folder = state_folder.or_else(|| Some(home.as_ref()?.join(".local/state")));
        let owners = from_environment(&["STEAD_OWNERS"]).map(PathBuf::from);
        Host {
            name: name.unwrap_or_else(|| "unknown-host".to_owned()),
            user: user.unwrap_or_else(user_id),
            pid: std::process::id(),
            owners: owners.or_else(|| Some(state_folder?.join("stead").join("owners"))),
            home,
        }
    }
}
