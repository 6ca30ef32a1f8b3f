//! The least permissions for a plan, from the permissions that the schemas list for each handler.
//!
//! Pure. A resource is named where the plan knows its ARN or its name; an action that lists or describes, or that belongs to
//! another service than the resource, is not narrowed, because many of these work on all resources only.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use stead_model::{Map, TypeToken, Value};
use stead_schema::cfn::{HandlerKind, permissions};
use stead_schema::type_name_of;

/// One use of a type in a plan.
#[derive(Clone, Debug)]
pub struct TypeUse {
    pub ty: TypeToken,
    pub handler: HandlerKind,
    /// Properties that are known: outputs of a record, or inputs of a new resource.
    pub known: Map,
    pub more: MoreProperties,
}

/// Whether a resource has properties that are known only after apply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MoreProperties {
    None,
    Unknown,
}

/// Action that gives a role to a service.
const PASS_ROLE: &str = "iam:PassRole";

/// Characters of a managed policy, without white space.
pub const MANAGED_POLICY: usize = 6144;

/// Two IAM policies: one for making a plan, and one that a run needs besides to apply it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Permissions {
    pub read: Policy,
    pub change: Policy,
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
    /// Returns the policies that have statements, by name: `read` and `change`, or `change-1`, `change-2` and so on for one that
    /// is longer than a managed policy can be.
    pub fn parts(self) -> BTreeMap<String, Policy> {
        let mut all = BTreeMap::new();
        for (name, policy) in [("read", self.read), ("change", self.change)] {
            let mut parts = policy.parts();
            match parts.len() {
                0 => {}
                1 => all.extend(parts.pop().map(|whole| (name.to_owned(), whole))),
                _ => all.extend(parts.into_iter().zip(1..).map(|(part, n)| (format!("{name}-{n}"), part))),
            }
        }
        all
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

/// Returns the least policies for these uses of types.
pub fn least(uses: &[TypeUse]) -> Permissions {
    let is_read = |used: &&TypeUse| matches!(used.handler, HandlerKind::Read | HandlerKind::List);
    let (mut reads, mut changes) = (Needs::default(), Needs::default());
    for used in uses.iter().filter(is_read) {
        reads.add(used);
    }
    for used in uses.iter().filter(|used| !is_read(used)) {
        changes.add(used);
    }
    Permissions { read: reads.policy(), change: changes.policy() }
}

/// Actions, each with the resources that it is needed for.
#[derive(Default)]
struct Needs(BTreeMap<String, BTreeSet<String>>);

impl Needs {
    fn add(&mut self, used: &TypeUse) {
        let Some(type_name) = type_name_of(&used.ty) else { return };
        self.need(call_of(used.handler), "*");
        if used.handler != HandlerKind::Read && used.handler != HandlerKind::List {
            self.need("cloudformation:GetResourceRequestStatus", "*");
        }
        let arn = arn(type_name, &used.known);
        for action in permissions(type_name, used.handler) {
            if action == PASS_ROLE {
                self.need_roles(used);
                continue;
            }
            match arn.as_deref().filter(|arn| can_be_narrowed(action, arn)) {
                Some(arn) => {
                    self.need(action, arn);
                    // Parts of the resource, such as the objects of a bucket or the streams of a log group.
                    if let Some(parts) = parts(type_name, arn) {
                        self.need(action, &parts);
                    }
                }
                None => self.need(action, "*"),
            }
        }
    }

    /// Adds the roles that the resource gets. All roles, if one of them is not known yet.
    fn need_roles(&mut self, used: &TypeUse) {
        let mut roles = BTreeSet::new();
        used.known.values().for_each(|value| roles_in(value, &mut roles));
        match roles.is_empty() || used.more == MoreProperties::Unknown {
            true => self.need(PASS_ROLE, "*"),
            false => roles.iter().for_each(|role| self.need(PASS_ROLE, role)),
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

/// Adds the ARNs of roles in a value.
fn roles_in(value: &Value, roles: &mut BTreeSet<String>) {
    match value {
        Value::String(text) if text.starts_with("arn:") && text.contains(":role/") => {
            roles.insert(text.to_string());
        }
        Value::List(items) => items.iter().for_each(|item| roles_in(item, roles)),
        Value::Map(map) => map.values().for_each(|item| roles_in(item, roles)),
        _ => {}
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

/// ARNs of resources whose names the program gives: type, property with the name, and the ARN with `{}` for the name.
const NAMED: &[(&str, &str, &str)] = &[
    ("AWS::S3::Bucket", "BucketName", "arn:aws:s3:::{}"),
    ("AWS::SQS::Queue", "QueueName", "arn:aws:sqs:*:*:{}"),
    ("AWS::SNS::Topic", "TopicName", "arn:aws:sns:*:*:{}"),
    ("AWS::DynamoDB::Table", "TableName", "arn:aws:dynamodb:*:*:table/{}"),
    ("AWS::Lambda::Function", "FunctionName", "arn:aws:lambda:*:*:function:{}"),
    ("AWS::IAM::Role", "RoleName", "arn:aws:iam::*:role/{}"),
    ("AWS::IAM::User", "UserName", "arn:aws:iam::*:user/{}"),
    ("AWS::IAM::Group", "GroupName", "arn:aws:iam::*:group/{}"),
    ("AWS::IAM::ManagedPolicy", "ManagedPolicyName", "arn:aws:iam::*:policy/{}"),
    ("AWS::Logs::LogGroup", "LogGroupName", "arn:aws:logs:*:*:log-group:{}"),
    ("AWS::ECR::Repository", "RepositoryName", "arn:aws:ecr:*:*:repository/{}"),
    ("AWS::Kinesis::Stream", "Name", "arn:aws:kinesis:*:*:stream/{}"),
    ("AWS::SSM::Parameter", "Name", "arn:aws:ssm:*:*:parameter/{}"),
    ("AWS::StepFunctions::StateMachine", "StateMachineName", "arn:aws:states:*:*:stateMachine:{}"),
    ("AWS::Events::Rule", "Name", "arn:aws:events:*:*:rule/{}"),
];

/// Returns the ARN of a resource, as far as it is known.
fn arn(type_name: &str, known: &Map) -> Option<String> {
    let given = known.get("Arn").and_then(Value::as_str).filter(|arn| arn.starts_with("arn:"));
    given.map(|arn| arn.trim_end_matches(":*").to_owned()).or_else(|| {
        let (_, property, pattern) = NAMED.iter().find(|(named, ..)| *named == type_name)?;
        let name = known.get(*property)?.as_str()?.trim_start_matches('/').to_owned();
        let whole = known.get(*property)?.as_str()?;
        // The ARN of a parameter has one slash before its name, that of a log group has the name as it is.
        let name = if pattern.contains("parameter/") { name.as_str() } else { whole };
        Some(pattern.replace("{}", name))
    })
}

fn parts(type_name: &str, arn: &str) -> Option<String> {
    match type_name {
        "AWS::S3::Bucket" | "AWS::DynamoDB::Table" => Some(format!("{arn}/*")),
        "AWS::Logs::LogGroup" => Some(format!("{arn}:*")),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn used(ty: &str, handler: HandlerKind, known: &str) -> TypeUse {
        let known = serde_json::from_str(known).unwrap();
        TypeUse { ty: TypeToken(ty.into()), handler, known, more: MoreProperties::None }
    }

    fn resources<'a>(policy: &'a Policy, action: &str) -> &'a [String] {
        let has = |statement: &&Statement| statement.action.iter().any(|one| one == action);
        policy.statement.iter().find(has).map(|statement| statement.resource.as_slice()).unwrap_or_default()
    }

    #[test]
    fn policy_names_resources_where_their_names_are_known() {
        let uses = [
            used("aws.sqs.Queue", HandlerKind::Create, r#"{"QueueName":"jobs"}"#),
            used("aws.sqs.Queue", HandlerKind::Read, r#"{"Arn":"arn:aws:sqs:eu-west-1:1:jobs"}"#),
        ];
        let Permissions { read, change } = least(&uses);
        assert_eq!(resources(&change, "sqs:CreateQueue"), ["arn:aws:sqs:*:*:jobs"]);
        assert_eq!(resources(&change, "cloudformation:CreateResource"), ["*"]);
        assert_eq!(resources(&read, "sqs:GetQueueAttributes"), ["arn:aws:sqs:eu-west-1:1:jobs"]);
        assert_eq!(resources(&read, "sqs:CreateQueue"), [""; 0]);
    }

    #[test]
    fn unknown_name_and_actions_that_list_need_all_resources() {
        let change = least(&[used("aws.sqs.Queue", HandlerKind::Create, "{}")]).change;
        assert_eq!(resources(&change, "sqs:CreateQueue"), ["*"]);
        assert!(!can_be_narrowed("logs:DescribeLogGroups", "arn:aws:logs:*:*:log-group:a"));
        assert!(!can_be_narrowed("iam:PassRole", "arn:aws:lambda:*:*:function:f"));
        // One unknown name makes the action one on all resources.
        let both = [
            used("aws.sqs.Queue", HandlerKind::Create, "{}"),
            used("aws.sqs.Queue", HandlerKind::Create, r#"{"QueueName":"jobs"}"#),
        ];
        assert_eq!(resources(&least(&both).change, "sqs:CreateQueue"), ["*"]);
    }

    #[test]
    fn only_the_roles_that_a_resource_gets_may_be_passed() {
        let role = r#"{"FunctionName":"f","Role":"arn:aws:iam::1:role/f"}"#;
        let function = used("aws.lambda.Function", HandlerKind::Create, role);
        assert_eq!(
            resources(&least(std::slice::from_ref(&function)).change, PASS_ROLE),
            ["arn:aws:iam::1:role/f"]
        );
        let unknown = TypeUse { more: MoreProperties::Unknown, ..function };
        assert_eq!(resources(&least(&[unknown]).change, PASS_ROLE), ["*"]);
    }

    #[test]
    fn policies_that_are_too_long_are_split_and_empty_ones_left_out() {
        let queue =
            |n: usize| used("aws.sqs.Queue", HandlerKind::Create, &format!(r#"{{"QueueName":"queue-{n}"}}"#));
        let few: Vec<TypeUse> = (0..3).map(queue).collect();
        assert_eq!(least(&few).parts().keys().collect::<Vec<_>>(), ["change"]);
        let many: Vec<TypeUse> = (0..400).map(queue).collect();
        let whole = least(&many);
        let parts = whole.clone().parts();
        assert!(parts.len() >= 2 && parts.contains_key("change-1"), "{:?}", parts.keys());
        assert!(parts.values().all(|part| part.size() <= MANAGED_POLICY));
        let pairs = |policies: &[&Policy]| {
            let statements = policies.iter().flat_map(|policy| &policy.statement);
            let pair = |one: &Statement| {
                let of = |action: &String| {
                    one.resource.iter().map(|to| (action.clone(), to.clone())).collect::<Vec<_>>()
                };
                one.action.iter().flat_map(of).collect::<Vec<_>>()
            };
            statements.flat_map(pair).collect::<BTreeSet<_>>()
        };
        assert_eq!(pairs(&parts.values().collect::<Vec<_>>()), pairs(&[&whole.change]));
        assert!(least(&[]).parts().is_empty());
    }

    #[test]
    fn bucket_includes_its_objects() {
        let change = least(&[used("aws.s3.Bucket", HandlerKind::Create, r#"{"BucketName":"b"}"#)]).change;
        assert_eq!(resources(&change, "s3:CreateBucket"), ["arn:aws:s3:::b", "arn:aws:s3:::b/*"]);
    }
}
