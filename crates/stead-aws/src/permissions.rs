//! The least permissions for a plan, from the permissions that the schemas list for each handler.
//!
//! Pure. A resource is named where the plan knows its ARN or its name; an action that lists or describes, or that belongs to
//! another service than the resource, is not narrowed, because many of these work on all resources only. Each set of
//! credentials has policies of its own.

mod caller;
mod resources;
mod roles;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::OnceLock;

use serde::Serialize;
use stead_model::{Map, TypeToken};
use stead_schema::cfn::{HandlerKind, Schema, permissions};
use stead_schema::{Catalog, Shape, type_name_of};

use self::caller::Caller;
pub use self::caller::UsedProvider;
pub use self::resources::known_by_id;
use self::resources::{arn, parts};
use self::roles::{Passed, passed};
use crate::Settings;

/// One use of a type in a plan.
#[derive(Clone, Debug)]
pub struct TypeUse {
    pub ty: TypeToken,
    pub handler: HandlerKind,
    /// Properties that are known: outputs of a record, or inputs of a new resource.
    pub known: Map,
    pub more: MoreProperties,
    /// Provider resource that serves it; `None` for the provider of the target.
    pub provider: Option<UsedProvider>,
}

/// Whether a resource has properties that are known only after apply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MoreProperties {
    None,
    Unknown,
}

/// Action that gives a role to a service.
const PASS_ROLE: &str = "iam:PassRole";

/// Action that assumes a role.
const ASSUME_ROLE: &str = "sts:AssumeRole";

/// Characters of a managed policy, without white space.
pub const MANAGED_POLICY: usize = 6144;

/// The policies of a plan, for each set of credentials that it uses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Permissions {
    /// By label: the empty one for the credentials of the target.
    by_caller: BTreeMap<String, Policies>,
}

/// Two IAM policies: one for making a plan, and one that a run needs besides to apply it.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Policies {
    read: Policy,
    change: Policy,
}

/// A policy in parts, each short enough for a managed policy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SplitPolicy {
    pub name: String,
    pub parts: Vec<Policy>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "PascalCase")]
pub struct Policy {
    pub version: &'static str,
    pub statement: Vec<Statement>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "PascalCase")]
pub struct Statement {
    pub effect: &'static str,
    pub action: Vec<String>,
    pub resource: Vec<String>,
}

impl Permissions {
    /// Returns the policies that have statements: `read` and `change` for the credentials of the target, and `read@LABEL` and
    /// `change@LABEL` for others.
    pub fn split(self) -> Vec<SplitPolicy> {
        let named = self.by_caller.into_iter().flat_map(|(label, Policies { read, change })| {
            let name = |kind: &str| match label.as_str() {
                "" => kind.to_owned(),
                label => format!("{kind}@{label}"),
            };
            [(name("read"), read), (name("change"), change)]
        });
        let split = named.map(|(name, policy)| SplitPolicy { name, parts: policy.parts() });
        split.filter(|policy| !policy.parts.is_empty()).collect()
    }
}

impl SplitPolicy {
    /// Returns the parts by name: `change`, or `change-1`, `change-2` and so on for a policy that is longer than a managed one can
    /// be.
    pub fn named(self) -> Vec<(String, Policy)> {
        let SplitPolicy { name, mut parts } = self;
        match parts.len() {
            1 => parts.pop().map(|whole| (name, whole)).into_iter().collect(),
            _ => parts.into_iter().zip(1..).map(|(part, n)| (format!("{name}-{n}"), part)).collect(),
        }
    }
}

impl Policy {
    fn of(statement: Vec<Statement>) -> Policy {
        Policy { version: "2012-10-17", statement }
    }

    /// Returns the number of characters that IAM counts.
    pub fn size(&self) -> usize {
        // The type contains only strings and lists, so that it always has a text.
        serde_json::to_string(self).unwrap_or_default().chars().count()
    }

    /// Splits the policy into policies that IAM accepts: none without a statement, and none that is too long.
    fn parts(self) -> Vec<Policy> {
        let mut parts: Vec<Policy> = Vec::new();
        for statement in self.statement.into_iter().flat_map(Statement::parts) {
            if let Some(last) = parts.last_mut() {
                last.statement.push(statement.clone());
                if last.size() <= MANAGED_POLICY {
                    continue;
                }
                last.statement.pop();
            }
            parts.push(Policy::of(vec![statement]));
        }
        parts
    }
}

impl Statement {
    /// Halves the longer list of the statement until it fits into a policy.
    fn parts(self) -> Vec<Statement> {
        let fits = Policy::of(vec![self.clone()]).size() <= MANAGED_POLICY;
        if fits || (self.action.len() < 2 && self.resource.len() < 2) {
            return vec![self];
        }
        let Statement { effect, mut action, mut resource } = self;
        let halves = match action.len() >= resource.len() {
            true => {
                let rest = action.split_off(action.len() / 2);
                [(action, resource.clone()), (rest, resource)]
            }
            false => {
                let rest = resource.split_off(resource.len() / 2);
                [(action.clone(), resource), (action, rest)]
            }
        };
        halves
            .into_iter()
            .flat_map(|(action, resource)| Statement { effect, action, resource }.parts())
            .collect()
    }
}

/// Returns the least policies for these uses of types, on a target with these settings.
pub fn least(uses: &[TypeUse], target: &Settings) -> Permissions {
    let mut needs: BTreeMap<Caller, (Needs, Needs)> = BTreeMap::new();
    for used in uses {
        let (caller, region) = Caller::of(used.provider.as_ref(), target);
        let (reads, changes) = needs.entry(caller).or_default();
        let is_read = matches!(used.handler, HandlerKind::Read | HandlerKind::List);
        (if is_read { reads } else { changes }).add(used, partition(region.as_deref()));
    }
    let is_used = |(caller, (reads, changes)): (&Caller, &(Needs, Needs))| {
        (!reads.0.is_empty() || !changes.0.is_empty()).then(|| caller.assumed(target)).flatten()
    };
    let assumed: Vec<(String, Caller)> = needs.iter().filter_map(is_used).collect();
    for (role, by) in assumed {
        needs.entry(by).or_default().0.need(ASSUME_ROLE, &role);
    }
    let mut by_caller = BTreeMap::new();
    for (caller, (reads, changes)) in needs {
        let mut label = caller.label().unwrap_or_default();
        while by_caller.contains_key(&label) {
            label.push('+');
        }
        by_caller.insert(label, Policies { read: reads.policy(), change: changes.policy() });
    }
    Permissions { by_caller }
}

/// Returns the partition of a region.
fn partition(region: Option<&str>) -> &'static str {
    let starts = [
        ("cn-", "aws-cn"),
        ("us-gov-", "aws-us-gov"),
        ("us-isob-", "aws-iso-b"),
        ("us-iso-", "aws-iso"),
        ("eu-isoe-", "aws-iso-e"),
        ("us-isof-", "aws-iso-f"),
        ("eusc-", "aws-eusc"),
    ];
    let of = |region: &str| starts.iter().find(|(start, _)| region.starts_with(start)).map(|(_, name)| *name);
    region.and_then(of).unwrap_or("aws")
}

/// Returns the published schema of a type.
fn schema(ty: &TypeToken) -> Option<&'static Schema> {
    static CATALOG: OnceLock<Catalog> = OnceLock::new();
    let ty = CATALOG.get_or_init(|| Catalog::default().with_published()).get(ty)?;
    match ty.properties.first().map(|property| &property.shape) {
        Some(Shape::Published(published)) => Some(&published.schema),
        _ => None,
    }
}

/// Actions, each with the resources that it is needed for.
#[derive(Default)]
struct Needs(BTreeMap<String, BTreeSet<String>>);

impl Needs {
    fn add(&mut self, used: &TypeUse, partition: &str) {
        let Some(type_name) = type_name_of(&used.ty) else { return };
        self.need(call_of(used.handler), "*");
        if used.handler != HandlerKind::Read && used.handler != HandlerKind::List {
            self.need("cloudformation:GetResourceRequestStatus", "*");
        }
        let schema = schema(&used.ty);
        let arn = arn(type_name, schema, &used.known, partition);
        for action in permissions(type_name, used.handler) {
            if action == PASS_ROLE {
                self.need_roles(&passed(used, schema, partition));
                continue;
            }
            match arn.as_deref().filter(|arn| can_be_narrowed(action, arn)) {
                Some(arn) => {
                    self.need(action, arn);
                    if let Some(parts) = parts(type_name, arn) {
                        self.need(action, &parts);
                    }
                }
                None => self.need(action, "*"),
            }
        }
    }

    fn need_roles(&mut self, passed: &Passed) {
        match passed {
            Passed::Unknown => self.need(PASS_ROLE, "*"),
            Passed::Roles(roles) => roles.iter().for_each(|role| self.need(PASS_ROLE, role)),
        }
    }

    fn need(&mut self, action: &str, resource: &str) {
        self.0.entry(action.to_owned()).or_default().insert(resource.to_owned());
    }

    /// Returns a statement for each set of resources.
    fn policy(self) -> Policy {
        let mut by_resources: BTreeMap<Vec<String>, Vec<String>> = BTreeMap::new();
        for (action, resources) in self.0 {
            let resources = match resources.contains("*") {
                true => vec!["*".to_owned()],
                false => resources.into_iter().collect(),
            };
            by_resources.entry(resources).or_default().push(action);
        }
        let statement = |(resource, action)| Statement { effect: "Allow", action, resource };
        Policy::of(by_resources.into_iter().map(statement).collect())
    }
}

/// Returns the action that Cloud Control itself asks for.
fn call_of(handler: HandlerKind) -> &'static str {
    match handler {
        HandlerKind::Create => "cloudformation:CreateResource",
        HandlerKind::Read => "cloudformation:GetResource",
        HandlerKind::Update => "cloudformation:UpdateResource",
        HandlerKind::Delete => "cloudformation:DeleteResource",
        HandlerKind::List => "cloudformation:ListResources",
    }
}

fn can_be_narrowed(action: &str, arn: &str) -> bool {
    let Some((service, verb)) = action.split_once(':') else { return false };
    let of_service = arn.split(':').nth(2) == Some(service);
    of_service && !verb.starts_with("List") && !verb.starts_with("Describe")
}
