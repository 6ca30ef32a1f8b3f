//! Physical paths: the names of leaves in the pinfile, which are the same in every environment.
//!
//! A path is `<type>.<unique id>`. The unique id of a leaf at the top of a module is its id. Any other unique id is the
//! parts of the name, joined by `_`, with eight digits of a digest, because the joined parts of two names can be equal.

use crate::{Digest, Environment, Name, NameParts, Resource, ScopePart, Spelling, TypeToken};

/// The maximum length of the readable part.
const MAX_READABLE: usize = 240;

/// Returns the physical path of a resource. It does not depend on the environment.
pub fn physical_path(name: &Name, resource: &TypeToken) -> String {
    format!("{resource}.{}", unique_id(name, resource))
}

/// Splits a physical path into type and unique id. Returns `None` if the text is not a path.
pub fn split_path(path: &str) -> Option<(&str, &str)> {
    let (resource, id) = path.rsplit_once('.')?;
    let fits = !resource.is_empty() && !id.is_empty() && clean(id) == id;
    (fits && !resource.contains(|c: char| c.is_control() || c.is_whitespace())).then_some((resource, id))
}

/// Returns the path of a recorded resource, then the paths of its former names.
pub fn paths_of(resource: &Resource) -> impl Iterator<Item = String> {
    let names = std::iter::once(&resource.name).chain(&resource.ties.aliases);
    names.map(|name| physical_path(name, &resource.ty))
}

fn unique_id(name: &Name, resource: &TypeToken) -> String {
    let parts = match &**name {
        NameParts::Global { gid, .. } => vec![gid.clone()],
        NameParts::Placed { scope, id, .. } => {
            let class = resource.as_str().rsplit('.').next().unwrap_or_default();
            scope.iter().map(scope_part).chain([part(class, id.as_deref())]).collect()
        }
    };
    let named = match &**name {
        NameParts::Global { .. } => true,
        NameParts::Placed { id, .. } => id.as_deref().is_some_and(|id| !is_counter(id)),
    };
    match parts.as_slice() {
        [only] if named && clean(only) == *only && only.len() <= MAX_READABLE => only.clone(),
        parts => {
            let mut readable = readable(parts);
            readable.truncate(MAX_READABLE);
            format!("{readable}_{}", digits(name))
        }
    }
}

/// Returns eight digits of a digest of the name without its environment.
///
/// The digest is of the encoded spelling, because existing pinfiles have it.
fn digits(name: &Name) -> String {
    let anywhere = name.in_environment(&Environment::new("any")).spelled(Spelling::Encoded).to_string();
    Digest::of(anywhere.as_bytes()).to_string().chars().take(8).collect::<String>().to_uppercase()
}

fn scope_part(scope: &ScopePart) -> String {
    part(&scope.class, scope.id.as_deref())
}

fn part(class: &str, id: Option<&str>) -> String {
    match id {
        Some(id) if !is_counter(id) => id.to_owned(),
        counter => format!("{class}{}", counter.unwrap_or_default()),
    }
}

/// Joins the parts. A part that the previous one ends with is left out.
fn readable(parts: &[String]) -> String {
    let mut kept: Vec<String> = Vec::new();
    for part in parts {
        let part = clean(part);
        if !part.is_empty() && !kept.last().is_some_and(|last| last.ends_with(&part)) {
            kept.push(part);
        }
    }
    kept.join("_")
}

fn clean(text: &str) -> String {
    text.chars().filter(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-')).collect()
}

/// Returns true for the ids that stead generates for unnamed siblings.
pub fn is_counter(id: &str) -> bool {
    !id.is_empty() && id.bytes().all(|b| b.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;
    use crate::Module;

    fn path(name: &str) -> String {
        let name: Name = name.parse().unwrap();
        let resource = match &*name {
            NameParts::Placed { ty: resource, .. } => resource.clone(),
            NameParts::Global { .. } => TypeToken("aws.s3.Bucket".into()),
        };
        physical_path(&name, &resource)
    }

    #[test]
    fn paths_never_change() {
        // A changed path orphans every existing pin of this form.
        let names = [
            "dev:main:aws.s3.Bucket#CoolBucket",
            "dev:main:aws.s3.Bucket",
            "dev:main:aws.s3.Bucket#2",
            "dev:main/MyBucket:aws.s3.Bucket",
            "dev:main/MyBucket#2:aws.s3.Bucket#data",
            "dev:lib/MyBucket#2:aws.s3.Bucket#data",
            "dev:main/Shop#eu/Store:aws.s3.Bucket#cool.bucket",
            "dev#orders-db",
            "dev#orders db",
            "dev:lib.net:aws.s3.Bucket",
            "dev:lib.deep.zone%2Ev2/Site#home:aws.s3.Bucket#data",
            "dev:zone%2Ev2/Site#home:aws.s3.Bucket#data",
            "dev:@acme.net.src.index/Net:aws.s3.Bucket",
        ];
        let expected = [
            "aws.s3.Bucket.CoolBucket",
            "aws.s3.Bucket.Bucket_954E84E8",
            "aws.s3.Bucket.Bucket2_0A243E03",
            "aws.s3.Bucket.MyBucket_5318C1A9",
            "aws.s3.Bucket.MyBucket2_data_9EFF38A2",
            "aws.s3.Bucket.MyBucket2_data_FC572DB8",
            "aws.s3.Bucket.eu_Store_coolbucket_9907F31E",
            "aws.s3.Bucket.orders-db",
            "aws.s3.Bucket.ordersdb_9BDE9FEB",
            "aws.s3.Bucket.Bucket_2EC315B1",
            "aws.s3.Bucket.home_data_96CB5938",
            "aws.s3.Bucket.home_data_36EE6FE0",
            "aws.s3.Bucket.Net_Bucket_01FDDD95",
        ];
        assert_eq!(names.map(path), expected.map(str::to_owned));
    }

    #[test]
    fn text_is_a_path_only_if_it_has_a_type_and_a_valid_id() {
        assert_eq!(split_path("aws.s3.Bucket.Cool_1-b"), Some(("aws.s3.Bucket", "Cool_1-b")));
        for text in ["", "a", ".a", "a.", "a b.c", "a.b c", "a.é"] {
            assert_eq!(split_path(text), None, "{text}");
        }
    }

    fn names() -> impl Strategy<Value = Name> {
        let id = || proptest::option::of("[a-c]{1,2}|2|3|a b|é");
        let scope = proptest::collection::vec(("[A-B]{1,2}", id()), 0..3);
        let module = "main|lib|lib/net|lib.net";
        let parts = (module, scope, id()).prop_map(|(module, scope, id)| NameParts::Placed {
            environment: Environment::new("dev"),
            module: Module(module),
            scope: scope.into_iter().map(|(class, id)| ScopePart { class, id }).collect(),
            ty: TypeToken("t.B".into()),
            id,
        });
        parts.prop_map(Name::from)
    }

    proptest! {
        #[test]
        fn path_is_equal_in_all_environments_and_unique_in_a_module(
            names in proptest::collection::vec(names(), 1..40)
        ) {
            let mut seen: BTreeMap<String, Name> = BTreeMap::new();
            for name in names {
                let resource = TypeToken("t.B".into());
                let path = physical_path(&name, &resource);
                let elsewhere = name.in_environment(&"prod:acme".parse().unwrap());
                prop_assert_eq!(&path, &physical_path(&elsewhere, &resource));
                prop_assert!(split_path(&path).is_some(), "{}", path);
                let other = seen.insert(path.clone(), name.clone());
                // Leaves at the top of two modules can have the same path. Pinning both is an error.
                let top = |name: &Name| matches!(&**name, NameParts::Placed { scope, .. } if scope.is_empty());
                prop_assert!(other.is_none_or(|other| other == name || (top(&other) && top(&name))), "{}", path);
            }
        }
    }
}
