//! Settings of the provider: where requests go, as whom, and which tags every resource gets.

use std::collections::BTreeMap;

use serde::Deserialize;
use stead_aws_auth::{AssumedRole, Options};

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
