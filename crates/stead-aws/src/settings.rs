//! Settings of the provider: where requests go, as whom, and which tags every resource gets.

use std::collections::BTreeMap;

use serde::Deserialize;
use stead_aws_auth::{AssumedRole, Options};
use stead_model::{Map, Value};
use stead_provider::Refusal;

/// Settings of a target, or of a provider in a program. Everything that is left out comes from the environment.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Settings {
    pub region: Option<String>,
    /// URL of Cloud Control and STS.
    pub endpoint: Option<String>,
    /// Profile of the shared files of AWS.
    pub profile: Option<String>,
    pub role: Option<RoleSettings>,
    /// Tags that every resource gets. Declared tags are stronger.
    pub default_tags: BTreeMap<String, String>,
}

/// A role to assume.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RoleSettings {
    pub arn: String,
    #[serde(default)]
    pub external_id: Option<String>,
    #[serde(default)]
    pub session_name: Option<String>,
}

impl Settings {
    /// Reads the settings of a provider resource. Settings without a value count as left out.
    pub(crate) fn of(settings: &Map) -> Result<Settings, Refusal> {
        let given = settings.iter().filter(|(_, value)| **value != Value::Null);
        let given: Map = given.map(|(name, value)| (name.clone(), value.clone())).collect();
        // The text of the error may contain a value.
        serde_json::from_str(&Value::Map(given).to_json())
            .map_err(|_| Refusal::new("the settings of the provider are not those of `aws.Provider`"))
    }

    /// Returns these settings of a provider resource, with those of the target where they are left out.
    ///
    /// A profile or a role of its own replaces both of the target.
    pub(crate) fn or(self, target: &Settings) -> Settings {
        let own_identity = self.profile.is_some() || self.role.is_some();
        let inherited = |of: &Settings| match own_identity {
            true => (None, None),
            false => (of.profile.clone(), of.role.clone()),
        };
        let (profile, role) = inherited(target);
        Settings {
            region: self.region.or_else(|| target.region.clone()),
            endpoint: self.endpoint.or_else(|| target.endpoint.clone()),
            profile: self.profile.or(profile),
            role: self.role.or(role),
            default_tags: match self.default_tags.is_empty() {
                true => target.default_tags.clone(),
                false => self.default_tags,
            },
        }
    }

    pub(crate) fn options(&self) -> Options {
        let role = self.role.clone().map(|RoleSettings { arn, external_id, session_name }| AssumedRole {
            arn,
            external_id,
            session_name,
        });
        let (profile, region, endpoint) = (self.profile.clone(), self.region.clone(), self.endpoint.clone());
        Options { profile, region, endpoint, role }
    }
}
