//! Annotations that resemble a mark and are none: another spelling, another word for the same wish.
//!
//! Pure. A near miss has no effect, so the webhook warns of it; `kubectl` shows the warning.

use stead_guard::MarkKey;
use stead_model::nearest;

/// Words for the end of an object.
const ENDING: &[&str] = &[
    "delete",
    "deletes",
    "deleted",
    "deletion",
    "deletions",
    "destroy",
    "destruction",
    "remove",
    "removal",
    "terminate",
    "termination",
    "prune",
];

/// Words for preventing something.
const PREVENTING: &[&str] = &[
    "prevent",
    "prevents",
    "prevention",
    "protect",
    "protects",
    "protected",
    "protection",
    "no",
    "not",
    "never",
    "dont",
    "forbid",
    "deny",
    "block",
    "disable",
    "disallow",
    "allow",
    "guard",
    "safe",
    "lock",
    "locked",
];

/// Words for keeping an object in the cloud.
const KEEPING: &[&str] = &["policy", "retain", "keep", "orphan", "skip"];

/// Returns the mark that an annotation key probably means, by the part after its last `/`.
pub(super) fn probable_mark(key: &str) -> Option<MarkKey> {
    let name = key.rsplit('/').next().unwrap_or(key);
    let words = words(name);
    let has = |known: &[&str]| words.iter().any(|word| known.contains(&word.as_str()));
    let joined = words.concat();
    let spelled = MarkKey::ALL.map(|mark| (mark.as_str().replace('-', ""), mark));
    if let Some(meant) = nearest(&joined, spelled.iter().map(|(spelled, _)| spelled.as_str())) {
        return spelled.iter().find(|(spelled, _)| spelled == meant).map(|(_, mark)| *mark);
    }
    let preventing = has(ENDING) && has(PREVENTING) || matches!(joined.as_str(), "protect" | "protected");
    if has(ENDING) && has(KEEPING) {
        Some(MarkKey::DeletionPolicy)
    } else if preventing || run_together(&joined) {
        Some(MarkKey::PreventDelete)
    } else {
        None
    }
}

/// Splits a name at punctuation and where a capital letter begins a word.
fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut before_is_lower = false;
    for c in name.chars() {
        if !c.is_alphanumeric() || (c.is_uppercase() && before_is_lower) {
            words.push(String::new());
        }
        words.iter_mut().last().into_iter().for_each(|word| {
            word.extend(c.to_lowercase().filter(|c| c.is_alphanumeric()));
        });
        before_is_lower = c.is_lowercase();
    }
    words.retain(|word| !word.is_empty());
    words
}

/// Returns true for a name such as `nodelete`, whose words are not separated.
fn run_together(name: &str) -> bool {
    PREVENTING.iter().any(|first| name.strip_prefix(first).is_some_and(|rest| ENDING.contains(&rest)))
        || ENDING.iter().any(|first| name.strip_prefix(first).is_some_and(|rest| PREVENTING.contains(&rest)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_spellings_and_words_are_near_misses() {
        for key in [
            "services.k8s.aws/preventDelete",
            "prevent-deletion",
            "services.k8s.aws/prevent_delete",
            "no-delete",
            "nodelete",
            "noDelete",
            "PREVENT_DELETE",
            "prevent.delete",
            "s3.services.k8s.aws/prevent-deletes",
            "prevnt-delete",
            "services.k8s.aws/deletion-protection",
            "do-not-delete",
            "delete-protection",
            "stead.dev/protect",
            "allow-deletion",
            "protected-from-deletion",
            "a.b.c/prevent-delete",
        ] {
            assert_eq!(probable_mark(key), Some(MarkKey::PreventDelete), "{key}");
        }
        for key in ["deletionPolicy", "services.k8s.aws/deletion_policy", "delete-policy", "retain-on-delete"]
        {
            assert_eq!(probable_mark(key), Some(MarkKey::DeletionPolicy), "{key}");
        }
        assert_eq!(probable_mark("preventDeleteLock"), Some(MarkKey::PreventDeleteLock));
    }

    #[test]
    fn unrelated_annotations_are_no_near_misses() {
        for key in [
            "team",
            "kubectl.kubernetes.io/last-applied-configuration",
            "controller.kubernetes.io/pod-deletion-cost",
            "controller-gen.kubebuilder.io/version",
            "meta.helm.sh/release-name",
            "services.k8s.aws/region",
            "services.k8s.aws/adopted",
            "services.k8s.aws/read-only",
            "description",
            "",
        ] {
            assert_eq!(probable_mark(key), None, "{key}");
        }
    }
}
