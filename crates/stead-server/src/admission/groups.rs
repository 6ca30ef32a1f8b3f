//! API groups whose resources represent real resources outside the cluster.

/// Suffix of the API groups of the AWS controllers for Kubernetes.
pub const ACK_SUFFIX: &str = ".services.k8s.aws";

/// Guarded API groups: the groups of the AWS controllers, and further ones by name.
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

/// Returns the service of a group: `s3` of `s3.services.k8s.aws`.
pub(crate) fn service_of_group(group: &str) -> &str {
    group.split('.').next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_match_by_suffix_or_name_and_give_their_service() {
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
