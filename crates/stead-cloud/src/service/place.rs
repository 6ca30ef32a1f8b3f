//! Places: an account and a region. Every resource and every request belongs to one.

use serde::{Deserialize, Serialize};

/// Account of callers whose access key does not say another one.
pub const DEFAULT_ACCOUNT: &str = "000000000000";

/// Region under which resources of global services are kept.
const GLOBAL: &str = "aws-global";

/// Services whose resources are the same in every region of an account.
const GLOBAL_SERVICES: &[&str] =
    &["Budgets", "CloudFront", "GlobalAccelerator", "IAM", "Organizations", "Route53"];

/// An account and a region.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Place {
    pub account: String,
    pub region: String,
}

impl Place {
    pub fn new(account: impl Into<String>, region: impl Into<String>) -> Place {
        Place { account: account.into(), region: region.into() }
    }

    /// Returns the place where resources of a type are kept: resources of global services belong to no region.
    pub(crate) fn of_type(&self, type_name: &str) -> Place {
        match is_global(type_name) {
            true => Place::new(&*self.account, GLOBAL),
            false => self.clone(),
        }
    }

    /// Returns the partition of the region, the second part of an ARN.
    pub(crate) fn partition(&self) -> &'static str {
        match self.region.as_str() {
            region if region.starts_with("cn-") => "aws-cn",
            region if region.starts_with("us-gov-") => "aws-us-gov",
            _ => "aws",
        }
    }

    /// Returns the domain of the partition's endpoints.
    pub(crate) fn domain(&self) -> &'static str {
        match self.partition() {
            "aws-cn" => "amazonaws.com.cn",
            _ => "amazonaws.com",
        }
    }
}

/// Returns true for a type of a service without regions.
pub(crate) fn is_global(type_name: &str) -> bool {
    type_name.split("::").nth(1).is_some_and(|service| GLOBAL_SERVICES.contains(&service))
}
