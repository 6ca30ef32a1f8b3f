//! Quotas of services that are known: the default number of resources of a type per account and region.

use super::error::HandlerError;
use super::handlers::Failure;
use super::state::{ResourceKey, State};

/// Type, number, and the words of the service.
const QUOTAS: &[(&str, usize, &str)] = &[
    ("AWS::EC2::EIP", 5, "The maximum number of addresses has been reached."),
    ("AWS::EC2::InternetGateway", 5, "The maximum number of internet gateways has been reached."),
    ("AWS::EC2::VPC", 5, "The maximum number of VPCs has been reached."),
    ("AWS::DynamoDB::Table", 2500, "Subscriber limit exceeded: Account-level tables limit."),
    ("AWS::ECR::Repository", 100_000, "The maximum number of repositories has been reached."),
    ("AWS::IAM::Group", 300, "Cannot exceed quota for GroupsPerAccount: 300"),
    ("AWS::IAM::InstanceProfile", 1000, "Cannot exceed quota for InstanceProfilesPerAccount: 1000"),
    ("AWS::IAM::ManagedPolicy", 1500, "Cannot exceed quota for PoliciesPerAccount: 1500"),
    ("AWS::IAM::Role", 1000, "Cannot exceed quota for RolesPerAccount: 1000"),
    ("AWS::IAM::User", 5000, "Cannot exceed quota for UsersPerAccount: 5000"),
    ("AWS::S3::Bucket", 10_000, "You have attempted to create more buckets than allowed"),
];

/// Refuses a resource that would exceed the quota of its type.
pub(crate) fn allow(state: &State, key: &ResourceKey) -> Result<(), Failure> {
    let Some((name, most, why)) = QUOTAS.iter().find(|(name, ..)| *name == key.type_name) else {
        return Ok(());
    };
    if state.of_type(&key.place, name).count() < *most {
        return Ok(());
    }
    let message = format!("Limit exceeded for resource of type '{name}'. Reason: {why}");
    Err((HandlerError::ServiceLimitExceeded, message))
}
