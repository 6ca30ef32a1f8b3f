//! Who and where we are; for people, in the record of who holds a stack.

/// This process, as others see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Host {
    pub name: String,
    pub user: String,
    pub pid: u32,
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
            user: user.unwrap_or_else(|| "unknown".to_owned()),
            pid: std::process::id(),
        }
    }
}
