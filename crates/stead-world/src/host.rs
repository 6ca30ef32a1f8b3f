//! Host, user and process id, for the record of the run that holds a stack.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

/// Variables of the environment. Their values may be secrets, so debug output has only the names.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Variables(BTreeMap<String, String>);

impl Variables {
    /// Returns the variables of this process. A variable that is not text is left out.
    fn of_this_process() -> Variables {
        let text = |(name, value): (std::ffi::OsString, std::ffi::OsString)| {
            Some((name.into_string().ok()?, value.into_string().ok()?))
        };
        std::env::vars_os().filter_map(text).collect()
    }

    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }
}

impl FromIterator<(String, String)> for Variables {
    fn from_iter<I: IntoIterator<Item = (String, String)>>(all: I) -> Variables {
        Variables(all.into_iter().collect())
    }
}

impl fmt::Debug for Variables {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}

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
    pub variables: Variables,
}

/// Returns the user of this process, for a container or a service where no variable names the user.
#[cfg(unix)]
fn own_user() -> String {
    // Not the owner of `/proc/self`, which is root for a process that must not be dumped.
    let uid = rustix::process::geteuid().as_raw();
    let users = std::fs::read_to_string("/etc/passwd").unwrap_or_default();
    user_name(&users, uid).map_or_else(|| format!("uid {uid}"), str::to_owned)
}

/// Returns the name of a user id in the text of `/etc/passwd`: `name:password:uid:…` on each line.
#[cfg(unix)]
fn user_name(users: &str, uid: u32) -> Option<&str> {
    let uid = uid.to_string();
    let name = users.lines().find_map(|line| {
        let mut fields = line.split(':');
        let (name, _, id) = (fields.next()?, fields.next()?, fields.next()?);
        (id == uid).then_some(name)
    });
    name.filter(|name| !name.is_empty() && !name.contains(char::is_control))
}

#[cfg(not(unix))]
fn own_user() -> String {
    "unknown".to_owned()
}

/// Turns core dumps of this process off, and of the processes that it starts: its memory may hold keys and secrets. The limit cannot be
/// raised again. On Linux, no other process of the user reads the memory of this one, and no service that collects dumps gets one,
/// which a limit does not prevent.
///
/// Best effort: a system that refuses keeps its limit.
pub fn forbid_core_dumps() {
    #[cfg(unix)]
    {
        use rustix::process::{Resource, Rlimit, setrlimit};
        let _ = setrlimit(Resource::Core, Rlimit { current: Some(0), maximum: Some(0) });
        #[cfg(target_os = "linux")]
        {
            use rustix::process::{DumpableBehavior, set_dumpable_behavior};
            let _ = set_dumpable_behavior(DumpableBehavior::NotDumpable);
        }
    }
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
            user: user.unwrap_or_else(own_user),
            pid: std::process::id(),
            owners: owners.or_else(|| Some(state_folder?.join("stead").join("owners"))),
            home,
            variables: Variables::of_this_process(),
        }
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[cfg(target_os = "linux")]
    #[test]
    fn process_without_core_dumps_still_knows_its_user_and_its_group() {
        use rustix::process::{DumpableBehavior, Resource, Rlimit, dumpable_behavior, getrlimit};
        let before = (own_user(), std::fs::read_link("/proc/self/ns/pid").ok());
        forbid_core_dumps();
        assert_eq!(getrlimit(Resource::Core), Rlimit { current: Some(0), maximum: Some(0) });
        assert_eq!(dumpable_behavior().unwrap(), DumpableBehavior::NotDumpable);
        assert_eq!((own_user(), std::fs::read_link("/proc/self/ns/pid").ok()), before);
        assert!(std::fs::read_to_string(format!("/proc/{}/stat", std::process::id())).is_ok());
    }

    #[test]
    fn user_without_a_variable_is_named_by_the_system() {
        let users = "root:x:0:0:root:/root:/bin/sh\nbroken\n:x:5:5::/:\nci:x:1000:1000::/home/ci:/bin/sh\n";
        assert_eq!(user_name(users, 0), Some("root"));
        assert_eq!(user_name(users, 1000), Some("ci"));
        assert_eq!(user_name(users, 5), None);
        assert_eq!(user_name(users, 7), None);
    }
}
