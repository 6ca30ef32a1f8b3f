//! The types of a cloud life: their inputs, and the property that tells which declared resource a real one is.
//!
//! A text that starts with `@` refers to another resource: `@7.Arn` is a property of the resource with the number 7.

use stead_model::{Map, Value};

/// A type with the references that its resources have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    Vpc,
    Subnet,
    SecurityGroup,
    Gateway,
    Bucket,
    Queue,
    Topic,
    Subscription,
    Role,
    Policy,
    RolePolicy,
    Function,
    LogGroup,
    Table,
    Secret,
    Key,
    Parameter,
}

/// How a kind appears in the cloud.
struct Appearance {
    token: &'static str,
    type_name: &'static str,
    /// Property whose text contains the number of the resource.
    marker: &'static str,
    /// Property with the tags, if the type has one.
    tags: Option<&'static str>,
}

/// Values of a resource that edits change.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Knobs {
    pub number: u64,
    /// Values that are changed in place.
    pub setting: u64,
    /// A write-only value, where the type has one.
    pub hidden: u64,
    /// A part of a create-only value: a change replaces the resource.
    pub version: u64,
    /// A create-only value beside a name that stays.
    pub layout: u64,
    /// The optional properties are declared.
    pub rich: bool,
    /// Tags are declared.
    pub tagged: bool,
    /// Resources that this one refers to.
    pub refers: Vec<u64>,
}

const POLICY: &str = r#"{"Version":"2012-10-17","Statement":[]}"#;

impl Knobs {
    /// Returns true if the write-only value is ephemeral.
    pub(super) fn is_ephemeral(&self) -> bool {
        self.number % 2 == 1
    }
}

impl Kind {
    pub(super) const ALL: [Kind; 17] = [
        Kind::Vpc,
        Kind::Subnet,
        Kind::SecurityGroup,
        Kind::Gateway,
        Kind::Bucket,
        Kind::Queue,
        Kind::Topic,
        Kind::Subscription,
        Kind::Role,
        Kind::Policy,
        Kind::RolePolicy,
        Kind::Function,
        Kind::LogGroup,
        Kind::Table,
        Kind::Secret,
        Kind::Key,
        Kind::Parameter,
    ];

    fn appearance(self) -> Appearance {
        let of = |token, type_name, marker, tags| Appearance { token, type_name, marker, tags };
        match self {
            Kind::Vpc => of("aws.ec2.VPC", "AWS::EC2::VPC", "CidrBlock", Some("Tags")),
            Kind::Subnet => of("aws.ec2.Subnet", "AWS::EC2::Subnet", "CidrBlock", Some("Tags")),
            Kind::SecurityGroup => {
                of("aws.ec2.SecurityGroup", "AWS::EC2::SecurityGroup", "GroupDescription", Some("Tags"))
            }
            Kind::Gateway => of("aws.ec2.InternetGateway", "AWS::EC2::InternetGateway", "Tags", Some("Tags")),
            Kind::Bucket => of("aws.s3.Bucket", "AWS::S3::Bucket", "BucketName", Some("Tags")),
            Kind::Queue => of("aws.sqs.Queue", "AWS::SQS::Queue", "QueueName", Some("Tags")),
            Kind::Topic => of("aws.sns.Topic", "AWS::SNS::Topic", "TopicName", Some("Tags")),
            Kind::Subscription => of("aws.sns.Subscription", "AWS::SNS::Subscription", "Endpoint", None),
            Kind::Role => of("aws.iam.Role", "AWS::IAM::Role", "RoleName", Some("Tags")),
            Kind::Policy => of("aws.iam.ManagedPolicy", "AWS::IAM::ManagedPolicy", "ManagedPolicyName", None),
            Kind::RolePolicy => of("aws.iam.RolePolicy", "AWS::IAM::RolePolicy", "PolicyName", None),
            Kind::Function => {
                of("aws.lambda.Function", "AWS::Lambda::Function", "FunctionName", Some("Tags"))
            }
            Kind::LogGroup => of("aws.logs.LogGroup", "AWS::Logs::LogGroup", "LogGroupName", Some("Tags")),
            Kind::Table => of("aws.dynamodb.Table", "AWS::DynamoDB::Table", "TableName", Some("Tags")),
            Kind::Secret => {
                of("aws.secretsmanager.Secret", "AWS::SecretsManager::Secret", "Name", Some("Tags"))
            }
            Kind::Key => of("aws.kms.Key", "AWS::KMS::Key", "Description", Some("Tags")),
            Kind::Parameter => of("aws.ssm.Parameter", "AWS::SSM::Parameter", "Name", None),
        }
    }

    pub(super) fn token(self) -> &'static str {
        self.appearance().token
    }

    pub(super) fn type_name(self) -> &'static str {
        self.appearance().type_name
    }

    /// Returns the property with the tags of a resource, if the owner's mark can be there.
    pub(super) fn tags(self) -> Option<&'static str> {
        self.appearance().tags
    }

    pub(super) fn of(type_name: &str) -> Option<Kind> {
        Kind::ALL.into_iter().find(|kind| kind.type_name() == type_name)
    }

    /// Returns the kinds that a resource may refer to. The first reference is required if `needs` says so.
    pub(super) fn refers_to(self) -> Option<Kind> {
        match self {
            Kind::Subnet | Kind::SecurityGroup => Some(Kind::Vpc),
            Kind::Queue => Some(Kind::Queue),
            Kind::Subscription => Some(Kind::Topic),
            Kind::Role => Some(Kind::Policy),
            Kind::RolePolicy | Kind::Function => Some(Kind::Role),
            _ => None,
        }
    }

    /// Returns true if a resource of this kind cannot exist without one that it refers to.
    pub(super) fn needs_reference(self) -> bool {
        self.refers_to().is_some() && !matches!(self, Kind::Queue | Kind::Role)
    }

    /// Returns the number of the declared resource that a real one is. Resources of others have none.
    pub(super) fn number(self, model: &Map) -> Option<u64> {
        let value = model.get(self.appearance().marker)?;
        let text = match (self, value) {
            (Kind::Gateway, tags) => tag(tags, "trial")?,
            (_, value) => value.as_str()?,
        };
        match self {
            Kind::Vpc | Kind::Subnet => {
                let mut parts =
                    text.strip_prefix("10.")?.split('.').map_while(|part| part.parse::<u64>().ok());
                Some(256 * parts.next()? + parts.next()?)
            }
            _ => text.strip_prefix('r')?.split(['-', '@']).next()?.parse().ok(),
        }
    }

    /// Returns the inputs of a resource as JSON.
    #[allow(clippy::too_many_lines, reason = "a table with one entry for each kind")]
    pub(super) fn inputs(self, knobs: &Knobs) -> Map {
        let Knobs { number, setting, hidden, version, layout, rich, tagged, refers } = knobs;
        let name = format!("r{number}-{version}");
        let first = refers.first().copied().unwrap_or_default();
        let network = format!("10.{}.{}.0", number / 256, number % 256);
        let optional = |text: String| if *rich { text } else { String::new() };
        let json = match self {
            Kind::Vpc => {
                let mask = 20 + version % 4;
                let dns = optional(format!(r#","EnableDnsSupport":{}"#, setting % 2 == 0));
                format!(r#"{{"CidrBlock":"{network}/{mask}"{dns}}}"#)
            }
            Kind::Subnet => {
                let mask = 24 + version % 4;
                let public = optional(format!(r#","MapPublicIpOnLaunch":{}"#, setting % 2 == 0));
                format!(r#"{{"VpcId":"@{first}.VpcId","CidrBlock":"{network}/{mask}"{public}}}"#)
            }
            Kind::SecurityGroup => {
                let rule = format!(
                    r#"{{"IpProtocol":"tcp","FromPort":{setting},"ToPort":{setting},"CidrIp":"10.0.0.0/8"}}"#
                );
                let rules = optional(format!(r#","SecurityGroupIngress":[{rule}]"#));
                format!(r#"{{"GroupDescription":"{name}","VpcId":"@{first}.VpcId"{rules}}}"#)
            }
            Kind::Gateway => format!(r#"{{"Tags":[{{"Key":"trial","Value":"r{number}-{setting}"}}]}}"#),
            Kind::Bucket => {
                let status = if setting % 2 == 0 { "Enabled" } else { "Suspended" };
                let versions = optional(format!(r#","VersioningConfiguration":{{"Status":"{status}"}}"#));
                format!(r#"{{"BucketName":"{name}"{versions}}}"#)
            }
            Kind::Queue => {
                let redrive = match refers.first() {
                    Some(to) => format!(
                        r#","RedrivePolicy":{{"deadLetterTargetArn":"@{to}.Arn","maxReceiveCount":{}}}"#,
                        1 + setting % 9
                    ),
                    None => String::new(),
                };
                let delay = optional(format!(r#","DelaySeconds":{}"#, setting % 900));
                format!(r#"{{"QueueName":"{name}"{delay}{redrive}}}"#)
            }
            Kind::Topic => {
                let display = optional(format!(r#","DisplayName":"d{setting}""#));
                format!(r#"{{"TopicName":"{name}"{display}}}"#)
            }
            Kind::Subscription => {
                let raw = optional(format!(r#","RawMessageDelivery":{}"#, setting % 2 == 0));
                format!(
                    r#"{{"TopicArn":"@{first}.TopicArn","Protocol":"email","Endpoint":"r{number}@v{version}.example"{raw}}}"#
                )
            }
            Kind::Role => {
                let description = optional(format!(r#","Description":"d{setting}""#));
                let attached = match refers.first() {
                    Some(to) => format!(r#","ManagedPolicyArns":["@{to}.PolicyArn"]"#),
                    None => String::new(),
                };
                format!(
                    r#"{{"RoleName":"{name}","AssumeRolePolicyDocument":{POLICY}{description}{attached}}}"#
                )
            }
            Kind::Policy => {
                let statement = format!(r#"{{"Effect":"Allow","Action":"s3:Get{setting}","Resource":"*"}}"#);
                format!(
                    r#"{{"ManagedPolicyName":"{name}","PolicyDocument":{{"Version":"2012-10-17","Statement":[{statement}]}}}}"#
                )
            }
            Kind::RolePolicy => {
                let statement = format!(r#"{{"Effect":"Allow","Action":"s3:Put{setting}","Resource":"*"}}"#);
                format!(
                    r#"{{"PolicyName":"{name}","RoleName":"@{first}.RoleName","PolicyDocument":{{"Version":"2012-10-17","Statement":[{statement}]}}}}"#
                )
            }
            Kind::Function => {
                let memory = optional(format!(r#","MemorySize":{}"#, 128 + setting % 64));
                format!(
                    r#"{{"FunctionName":"{name}","Role":"@{first}.Arn","Handler":"index.handler","Runtime":"nodejs22.x","Code":{{"ZipFile":"code {hidden}"}}{memory}}}"#
                )
            }
            Kind::LogGroup => {
                let days = [1, 3, 5, 7][(setting % 4) as usize];
                let retention = optional(format!(r#","RetentionInDays":{days}"#));
                format!(r#"{{"LogGroupName":"{name}"{retention}}}"#)
            }
            Kind::Table => {
                let class = if setting % 2 == 0 { "STANDARD" } else { "STANDARD_INFREQUENT_ACCESS" };
                let class = optional(format!(r#","TableClass":"{class}""#));
                format!(
                    r#"{{"TableName":"{name}","BillingMode":"PAY_PER_REQUEST","KeySchema":[{{"AttributeName":"k{layout}","KeyType":"HASH"}}],"AttributeDefinitions":[{{"AttributeName":"k{layout}","AttributeType":"S"}}]{class}}}"#
                )
            }
            Kind::Secret => {
                let description = optional(format!(r#","Description":"d{setting}""#));
                // A plan does not see that an ephemeral value changes.
                let hidden = if knobs.is_ephemeral() { number } else { hidden };
                format!(r#"{{"Name":"{name}","SecretString":"hidden {hidden}"{description}}}"#)
            }
            Kind::Key => format!(r#"{{"Description":"r{number}-{setting}","KeyPolicy":{POLICY}}}"#),
            Kind::Parameter => format!(r#"{{"Name":"{name}","Type":"String","Value":"v{setting}"}}"#),
        };
        let mut inputs: Map = serde_json::from_str(&json).unwrap_or_default();
        if *tagged
            && self != Kind::Gateway
            && let Some(tags) = self.tags()
        {
            let stage: Value = serde_json::from_str(&format!(r#"[{{"Key":"stage","Value":"s{setting}"}}]"#))
                .unwrap_or_default();
            inputs.insert(tags, stage);
        }
        inputs
    }
}

/// Returns the value of a tag.
pub(super) fn tag<'a>(tags: &'a Value, key: &str) -> Option<&'a str> {
    let has_key = |tag: &&Map| tag.get("Key").and_then(Value::as_str) == Some(key);
    tags.as_list()?.iter().filter_map(Value::as_map).find(has_key)?.get("Value")?.as_str()
}
