//! Identity of a process group, by which a later process of this machine recognises it.

use crate::Host;

/// First part of the text of a group.
const KIND: &str = "group";
/// Most characters of a host's name, so that the text of a group has 128 characters at most.
const HOST_CHARS: usize = 48;

/// A process group, with all that tells it from a later group with the same number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProcessGroup {
    /// The machine that runs the group, as [`ProcessGroup::this_host`] spells it.
    pub host: String,
    /// The beginning of the machine's id, which tells machines with one name apart; empty where the system has none.
    pub machine: String,
    /// The boot of the machine, a dot, and the process namespace in it; empty where the system has no such ids.
    pub boot: String,
    /// The number of the group, which is the process id of its first process.
    pub id: u32,
    /// Start of the first process, in ticks after the boot; `None` where the system does not tell.
    pub started: Option<u64>,
}

/// Whether a process group that was noted earlier still runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GroupStatus {
    Gone,
    Running,
    /// The group was started on another machine, or this system does not tell.
    Unknown,
}

impl ProcessGroup {
    /// Returns the name of this machine, with other characters than letters, digits, `-` and `.` replaced.
    pub fn this_host() -> String {
        let plain = |c: char| if c.is_ascii_alphanumeric() || "-.".contains(c) { c } else { '_' };
        Host::this().name.chars().take(HOST_CHARS).map(plain).collect()
    }

    /// Returns the group as a text of letters, digits and `-._/`, with 128 characters at most.
    pub fn encode(&self) -> String {
        let ProcessGroup { host, machine, boot, id, started } = self;
        let started = started.map(|started| format!("{started:x}")).unwrap_or_default();
        format!("{KIND}/{host}/{machine}/{boot}/{id}/{started}")
    }

    /// Parses the text of a group; `None` if it is none.
    pub fn parse(text: &str) -> Option<ProcessGroup> {
        let parts: Vec<&str> = text.split('/').collect();
        let [KIND, host, machine, boot, id, started] = parts[..] else { return None };
        let started = match started {
            "" => None,
            started => Some(u64::from_str_radix(started, 16).ok()?),
        };
        let [host, machine, boot] = [host, machine, boot].map(str::to_owned);
        Some(ProcessGroup { host, machine, boot, id: id.parse().ok()?, started })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_of_a_group_is_parsed_again() {
        let [host, machine, boot] = ["h", "m", "b.1"].map(str::to_owned);
        let group = ProcessGroup { host, machine, boot, id: 7, started: Some(29) };
        assert_eq!(group.encode(), "group/h/m/b.1/7/1d");
        assert_eq!(ProcessGroup::parse(&group.encode()), Some(group.clone()));
        let bare = ProcessGroup { boot: String::new(), started: None, ..group };
        assert_eq!(ProcessGroup::parse(&bare.encode()), Some(bare));
        assert_eq!(ProcessGroup::parse("half/h"), None);
        assert_eq!(ProcessGroup::parse("7c5e-a-request-token-of-a-service"), None);
    }

    #[test]
    fn longest_text_of_a_group_has_127_characters() {
        let host = "h".repeat(HOST_CHARS);
        let boot = format!("{}.{}", "f".repeat(16), u32::MAX);
        let machine = "f".repeat(16);
        let group = ProcessGroup { host, machine, boot, id: u32::MAX, started: Some(u64::MAX) };
        assert_eq!(group.encode().len(), 127);
    }
}
