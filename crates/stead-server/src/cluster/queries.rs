//! Queries to the API server: a namespace, its resource types, objects of a type. Never cached.

use serde::Deserialize;

use super::client::{ApiServer, LookUpError};
use crate::admission::object::Object;
use crate::json_error;

/// Requests metadata only: names and annotations.
const METADATA: &str = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json";
const METADATA_LIST: &str =
    "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json";

/// Requests all groups, versions and types in one response.
const DISCOVERY: &str = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,\
                         application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList";

/// Number of objects per page.
const PAGE: usize = 250;

/// Resource type in the version used for requests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ResourceType {
    pub(crate) group: String,
    pub(crate) version: String,
    pub(crate) plural: String,
    pub(crate) kind: String,
    pub(crate) namespaced: bool,
}

impl ResourceType {
    pub(crate) fn qualified(&self) -> String {
        format!("{}.{}", self.plural, self.group)
    }
}

#[derive(Deserialize)]
struct Page {
    #[serde(default)]
    metadata: PageMetadata,
    items: Vec<Object>,
}

#[derive(Default, Deserialize)]
struct PageMetadata {
    #[serde(rename = "continue", default)]
    next: Option<String>,
}

#[derive(Deserialize)]
struct Discovery {
    kind: String,
    items: Vec<DiscoveredGroup>,
}

#[derive(Deserialize)]
struct DiscoveredGroup {
    metadata: DiscoveredName,
    versions: Vec<DiscoveredVersion>,
}

#[derive(Deserialize)]
struct DiscoveredName {
    #[serde(default)]
    name: String,
}

#[derive(Deserialize)]
struct DiscoveredVersion {
    version: String,
    #[serde(default)]
    resources: Vec<Discovered>,
    #[serde(default)]
    freshness: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Discovered {
    resource: String,
    #[serde(default)]
    response_kind: DiscoveredKind,
    scope: String,
    #[serde(default)]
    verbs: Vec<String>,
}

#[derive(Default, Deserialize)]
struct DiscoveredKind {
    #[serde(default)]
    kind: String,
}

impl ApiServer {
    pub(crate) async fn namespace(&self, name: &str) -> Result<Object, LookUpError> {
        let path = format!("/api/v1/namespaces/{}", segment(name)?);
        let object: Object = parsed(&path, &self.get(&path, METADATA).await?)?;
        let kind = object.kind.as_deref();
        if !matches!(kind, Some("Namespace" | "PartialObjectMetadata")) || object.metadata.name != name {
            let reason = format!("it is not the Namespace {name:?}");
            return Err(LookUpError::Malformed { path, reason });
        }
        Ok(object)
    }

    pub(crate) async fn namespaces(&self) -> Result<Vec<Object>, LookUpError> {
        self.pages("/api/v1/namespaces").await
    }

    /// Returns each listable type of the wanted groups once, in the version that the API server prefers.
    pub(crate) async fn resource_types(
        &self,
        wanted: impl Fn(&str) -> bool,
    ) -> Result<Vec<ResourceType>, LookUpError> {
        let path = "/apis";
        let found: Discovery = parsed(path, &self.get(path, DISCOVERY).await?)?;
        if found.kind != "APIGroupDiscoveryList" {
            let reason = "the API server is too old for aggregated discovery, which needs 1.27";
            return Err(LookUpError::Malformed { path: path.to_owned(), reason: reason.to_owned() });
        }
        let groups: Vec<DiscoveredGroup> =
            found.items.into_iter().filter(|group| wanted(&group.metadata.name)).collect();
        let is_stale =
            |group: &&DiscoveredGroup| group.versions.iter().any(|known| known.freshness == "Stale");
        if let Some(group) = groups.iter().find(is_stale) {
            let reason = format!("it does not know all types of {} now", group.metadata.name);
            return Err(LookUpError::Malformed { path: path.to_owned(), reason });
        }
        Ok(groups.into_iter().flat_map(types_of).collect())
    }

    /// Returns the objects of a type, in one namespace or in all.
    pub(crate) async fn list(
        &self,
        of: &ResourceType,
        namespace: Option<&str>,
    ) -> Result<Vec<Object>, LookUpError> {
        let ResourceType { group, version, plural, .. } = of;
        let (group, version, plural) = (segment(group)?, segment(version)?, segment(plural)?);
        let within = match namespace {
            Some(name) => format!("namespaces/{}/", segment(name)?),
            None => String::new(),
        };
        self.pages(&format!("/apis/{group}/{version}/{within}{plural}")).await
    }

    async fn pages(&self, path: &str) -> Result<Vec<Object>, LookUpError> {
        let mut objects = Vec::new();
        let mut next: Option<String> = None;
        loop {
            let go_on =
                next.as_deref().map(|next| format!("&continue={}", escaped(next))).unwrap_or_default();
            let page = format!("{path}?limit={PAGE}{go_on}");
            let Page { metadata, items } = parsed(path, &self.get(&page, METADATA_LIST).await?)?;
            objects.extend(items);
            next = metadata.next.filter(|next| !next.is_empty());
            if next.is_none() {
                return Ok(objects);
            }
        }
    }
}

fn types_of(group: DiscoveredGroup) -> Vec<ResourceType> {
    let mut types: Vec<ResourceType> = Vec::new();
    for DiscoveredVersion { version, resources, .. } in group.versions {
        for known in resources.into_iter().filter(|known| known.verbs.iter().any(|verb| verb == "list")) {
            if types.iter().any(|earlier| earlier.plural == known.resource) {
                continue;
            }
            types.push(ResourceType {
                group: group.metadata.name.clone(),
                version: version.clone(),
                plural: known.resource,
                kind: known.response_kind.kind,
                namespaced: known.scope == "Namespaced",
            });
        }
    }
    types
}

fn parsed<T: serde::de::DeserializeOwned>(path: &str, body: &[u8]) -> Result<T, LookUpError> {
    serde_json::from_slice(body).map_err(|error| LookUpError::Malformed {
        path: path.to_owned(),
        reason: json_error::describe(&error),
    })
}

/// Checks that a name can be a path segment.
fn segment(name: &str) -> Result<&str, LookUpError> {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'.';
    if !name.is_empty() && name != "." && name != ".." && name.bytes().all(plain) {
        return Ok(name);
    }
    Err(LookUpError::Malformed { path: format!("{name:?}"), reason: "it is not a valid name".to_owned() })
}

fn escaped(text: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
    text.bytes()
        .map(|byte| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") })
        .collect()
}
