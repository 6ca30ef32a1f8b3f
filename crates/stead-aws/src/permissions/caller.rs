//! Credentials that the requests of a plan are made with. Policies are attached to them.

use stead_model::Map;

use super::MoreProperties;
use crate::Settings;

/// Provider resource that serves a use.
#[derive(Clone, Debug)]
pub struct UsedProvider {
    /// Name of the resource, for settings that are not known.
    pub name: String,
    /// Settings that are known.
    pub settings: Map,
    /// Whether the profile or the role is known only after apply.
    pub more: MoreProperties,
}

/// Credentials of a plan.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Caller {
    /// Credentials of the target.
    Target,
    Of {
        profile: Option<String>,
        /// ARN of the role that the profile, or the environment without one, assumes.
        role: Option<String>,
    },
    /// Credentials of a provider resource with this name, whose settings are not known.
    Unknown(String),
}

impl Caller {
    /// Returns the credentials of a provider resource, or of the target, with the region of the requests.
    pub(super) fn of(provider: Option<&UsedProvider>, target: &Settings) -> (Caller, Option<String>) {
        let Some(UsedProvider { name, settings, more }) = provider else {
            return (Caller::Target, target.region.clone());
        };
        match Settings::of(settings).map(|own| own.or(target)) {
            Ok(settings) if *more == MoreProperties::None => {
                (Caller::with(&settings, target), settings.region)
            }
            Ok(settings) => (Caller::Unknown(name.clone()), settings.region),
            Err(_) => (Caller::Unknown(name.clone()), target.region.clone()),
        }
    }

    fn with(settings: &Settings, target: &Settings) -> Caller {
        let of = |settings: &Settings| {
            let role = settings.role.as_ref().map(|role| role.arn.clone());
            (settings.profile.clone(), role)
        };
        let (profile, role) = of(settings);
        if of(target) == (profile.clone(), role.clone()) {
            Caller::Target
        } else {
            Caller::Of { profile, role }
        }
    }

    /// Returns the role of the credentials, and the credentials that assume it.
    pub(super) fn assumed(&self, target: &Settings) -> Option<(String, Caller)> {
        let (profile, role) = match self {
            Caller::Target => (target.profile.clone(), target.role.as_ref()?.arn.clone()),
            Caller::Of { profile, role } => (profile.clone(), role.clone()?),
            Caller::Unknown(_) => return None,
        };
        Some((role, Caller::with(&Settings { profile, ..Settings::default() }, target)))
    }

    /// Returns a label for the names of policies, which IAM accepts in a name. The credentials of the target have none.
    pub(super) fn label(&self) -> Option<String> {
        let label = match self {
            Caller::Target => return None,
            Caller::Of { profile: None, role: None } => "environment".to_owned(),
            Caller::Of { profile, role } => {
                let role = role.as_deref().map(|arn| {
                    let account = arn.split(':').nth(4).unwrap_or_default();
                    let name = arn.split_once(":role/").map_or(arn, |(_, name)| name);
                    format!("{account}-{name}")
                });
                profile.iter().cloned().chain(role).collect::<Vec<_>>().join("-")
            }
            Caller::Unknown(name) => name.clone(),
        };
        let accepted = |c: char| if c.is_ascii_alphanumeric() || "_+=,.@-".contains(c) { c } else { '-' };
        Some(label.chars().map(accepted).collect())
    }
}
