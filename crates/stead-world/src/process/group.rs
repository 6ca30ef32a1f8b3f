//! Identity of a process group, by which a later process of this machine recognises it.

/// A process group, with all that tells it from a later group with the same number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProcessGroup {
    /// The machine that runs the group.
    pub host: String,
    /// The boot of the machine and the process namespace in it; empty where the system has no such ids.
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
    /// Returns the group as text, one field a line.
    pub fn encode(&self) -> String {
        let started = self.started.map(|started| started.to_string()).unwrap_or_default();
        format!("{}\n{}\n{}\n{started}\n", self.host, self.boot, self.id)
    }

    /// Parses the text of a group; `None` if it is none.
    pub fn parse(text: &str) -> Option<ProcessGroup> {
        let mut lines = text.lines();
        let (host, boot) = (lines.next()?.to_owned(), lines.next()?.to_owned());
        let id = lines.next()?.parse().ok()?;
        let started = match lines.next()? {
            "" => None,
            started => Some(started.parse().ok()?),
        };
        Some(ProcessGroup { host, boot, id, started })
    }
}

#[cfg(test)]
mod tests {
    use super::ProcessGroup;

    #[test]
    fn text_of_a_group_is_parsed_again() {
        let group = ProcessGroup { host: "h".into(), boot: "b".into(), id: 7, started: Some(9) };
        assert_eq!(ProcessGroup::parse(&group.encode()), Some(group.clone()));
        let bare = ProcessGroup { boot: String::new(), started: None, ..group };
        assert_eq!(ProcessGroup::parse(&bare.encode()), Some(bare));
        assert_eq!(ProcessGroup::parse("half\n"), None);
    }
}
