//! Kubernetes manifests, as YAML: the webhook with its deployment, and admission policies that need no server.
//!
//! Pure. The policies express in CEL the rules that `judge` has in Rust; a test compares both on every combination.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use thiserror::Error;

use super::groups::{ACK_SUFFIX, Groups};
use super::judge::PreventDelete;
use crate::tls::certificates;

/// Services of the AWS controllers, which the webhook must be allowed to list, because RBAC has no suffix matching.
const ACK_SERVICES: &[&str] = &[
    "acm",
    "acmpca",
    "apigateway",
    "apigatewayv2",
    "applicationautoscaling",
    "athena",
    "autoscaling",
    "backup",
    "bedrock",
    "bedrockagent",
    "bedrockagentcorecontrol",
    "cloudfront",
    "cloudtrail",
    "cloudwatch",
    "cloudwatchlogs",
    "codeartifact",
    "cognitoidentityprovider",
    "documentdb",
    "dynamodb",
    "ec2",
    "ecr",
    "ecrpublic",
    "ecs",
    "efs",
    "eks",
    "elasticache",
    "elbv2",
    "emrcontainers",
    "emrserverless",
    "eventbridge",
    "firehose",
    "glue",
    "iam",
    "kafka",
    "keyspaces",
    "kinesis",
    "kms",
    "lambda",
    "memorydb",
    "mq",
    "networkfirewall",
    "opensearchserverless",
    "opensearchservice",
    "organizations",
    "pipes",
    "prometheusservice",
    "ram",
    "rds",
    "recyclebin",
    "route53",
    "route53resolver",
    "s3",
    "s3control",
    "s3files",
    "s3tables",
    "sagemaker",
    "secretsmanager",
    "ses",
    "sfn",
    "sns",
    "sqs",
    "ssm",
    "ssoadmin",
    "wafv2",
];

/// Selection of manifests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Part {
    #[default]
    All,
    Webhook,
    Policy,
}

/// Parameters of the manifests.
#[derive(Clone, Debug)]
pub struct Manifests {
    pub part: Part,
    /// Namespace of the webhook.
    pub namespace: String,
    pub image: String,
    /// PEM file of the CA that signed the webhook's certificate. Without it, cert-manager adds the CA.
    pub ca_bundle: Option<Vec<u8>>,
    pub groups: Groups,
    pub prevent_delete: PreventDelete,
}

#[derive(Debug, Error, PartialEq, Eq)]
pub enum BadManifest {
    #[error("{0:?} cannot be the name of a namespace")]
    Namespace(String),
    #[error("{0:?} cannot be the name of an image")]
    Image(String),
    #[error("{0:?} cannot be the name of an API group")]
    Group(String),
    #[error("the CA bundle is not a PEM certificate")]
    CaBundle,
}

const WEBHOOK: &str = include_str!("manifests/webhook.yaml");
const POLICY: &str = include_str!("manifests/policy.yaml");

/// Returns the YAML documents.
pub fn manifests(wanted: &Manifests) -> Result<String, BadManifest> {
    let Manifests { part, namespace, image, ca_bundle, groups, prevent_delete } = wanted;
    let label = |text: &str, also: &[u8]| {
        let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || also.contains(&byte);
        !text.is_empty() && text.len() <= 253 && text.bytes().all(plain)
    };
    if !label(namespace, b"-") || namespace.len() > 63 {
        return Err(BadManifest::Namespace(namespace.clone()));
    }
    if !label(&image.to_ascii_lowercase(), b"-._/:@") {
        return Err(BadManifest::Image(image.clone()));
    }
    if let Some(group) = groups.further().iter().find(|group| !label(group, b"-.")) {
        return Err(BadManifest::Group(group.clone()));
    }
    let bundle = match ca_bundle {
        None => String::new(),
        Some(pem) if certificates(pem).is_some() => format!("\n      caBundle: {}", STANDARD.encode(pem)),
        Some(_) => return Err(BadManifest::CaBundle),
    };
    let injected = match ca_bundle {
        None => format!("\n  annotations:\n    cert-manager.io/inject-ca-from: {namespace}/stead-admission"),
        Some(_) => String::new(),
    };
    let template = match part {
        Part::All => format!("{WEBHOOK}---\n{POLICY}"),
        Part::Webhook => WEBHOOK.to_owned(),
        Part::Policy => POLICY.to_owned(),
    };
    let always = *prevent_delete == PreventDelete::Always;
    let flags: String = groups
        .further()
        .iter()
        .map(|group| format!("--group={group}"))
        .chain(always.then(|| "--prevent-delete".to_owned()))
        .map(|flag| format!("\n            - {flag}"))
        .collect();
    Ok(template
        .replace("{{namespace}}", namespace)
        .replace("{{image}}", image)
        .replace("{{caBundle}}", &bundle)
        .replace("{{injectedCa}}", &injected)
        .replace("{{flags}}", &flags)
        .replace("{{listedGroups}}", &listed_groups(groups))
        .replace("{{guarded}}", &guarded("request.resource.group", groups))
        .replace("{{guardedDefinition}}", &guarded("oldObject.spec.group", groups))
        .replace("{{always}}", if always { "true" } else { "false" }))
}

/// Returns the CEL expression that is true for a guarded group.
fn guarded(group: &str, groups: &Groups) -> String {
    let further: Vec<String> = groups.further().iter().map(|group| format!("'{group}'")).collect();
    match further.as_slice() {
        [] => format!("{group}.endsWith('{ACK_SUFFIX}')"),
        further => format!("({group}.endsWith('{ACK_SUFFIX}') || {group} in [{}])", further.join(", ")),
    }
}

fn listed_groups(groups: &Groups) -> String {
    let known = ACK_SERVICES.iter().map(|service| format!("{service}{ACK_SUFFIX}"));
    let all = known.chain(groups.further().iter().cloned());
    all.map(|group| format!("\n      - {group}")).collect()
}

#[cfg(test)]
mod tests;
