//! Which API groups hold resources that stand for something outside the cluster.

/// The API groups of the AWS controllers for Kubernetes end so.
pub const ACK_SUFFIX: &str = ".services.k8s.aws";

/// The groups whose resources are guarded: those of the AWS controllers, and further ones by name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Groups {
    further: Vec<String>,
}

impl Groups {
    pub fn with(further: impl IntoIterator<Item = String>) -> Groups {
        Groups { further: further.into_iter().collect() }
    }

    pub fn further(&self) -> &[String] {
        &self.further
    }

    pub(crate) fn contains(&self, group: &str) -> bool {
        group.ends_with(ACK_SUFFIX) || self.further.iter().any(|known| known == group)
    }
}

/// What comes before the first dot: `s3` of `s3.services.k8s.aws`.
pub(crate) fn service_of_group(group: &str) -> &str {
    group.split('.').next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_group_is_known_by_its_end_or_by_name_and_names_its_service() {
        let groups = Groups::with(["db.example.org".to_owned()]);
        for (group, known, service) in [
            ("s3.services.k8s.aws", true, "s3"),
            ("services.k8s.aws", false, "services"),
            ("db.example.org", true, "db"),
            ("example.org", false, "example"),
            ("", false, ""),
        ] {
            assert_eq!((groups.contains(group), service_of_group(group)), (known, service), "{group}");
        }
    }
}
