//! No file names the host of a package registry: each machine configures where packages come from.

use super::source::{Finding, SourceFile};

/// Hosts, each in two parts, so that this file does not match.
const HOSTS: &[(&str, &str)] =
    &[("crates", ".io"), ("pypi", ".org"), ("npmjs", ".org"), ("registry", ".npmjs"), ("deb", ".debian.org")];

pub(crate) fn check(files: &[SourceFile]) -> Vec<Finding> {
    let hosts: Vec<String> = HOSTS.iter().map(|(name, domain)| format!("{name}{domain}")).collect();
    let mut findings = Vec::new();
    // Cargo writes the lock file, which names its registry.
    for file in files.iter().filter(|file| !is_lock_file(&file.path)) {
        for (number, line) in file.text.lines().enumerate() {
            let line = line.to_ascii_lowercase();
            for host in hosts.iter().filter(|host| line.contains(host.as_str())) {
                findings.push(file.finding(number + 1, format!("names the registry host {host}")));
            }
        }
    }
    findings
}

fn is_lock_file(path: &str) -> bool {
    path == "Cargo.lock" || path.ends_with("/Cargo.lock")
}

#[cfg(test)]
mod tests {
    use super::super::source::files;
    use super::*;

    #[test]
    fn each_host_is_found_in_any_file_but_the_lock_file() {
        for (name, domain) in HOSTS {
            let text = format!("see\nHTTPS://{}{domain}/x", name.to_uppercase());
            let findings =
                check(&files([("README.md", &text), ("Cargo.lock", &text), ("a/Cargo.lock", &text)]));
            assert_eq!(findings.len(), 1, "{text}");
            assert!(findings[0].to_string().starts_with("README.md:2: "), "{}", findings[0]);
        }
    }

    #[test]
    fn this_file_does_not_find_itself() {
        assert!(check(&files([("xtask/src/tidy/registries.rs", include_str!("registries.rs"))])).is_empty());
    }
}
