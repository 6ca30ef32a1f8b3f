//! Plausible values of properties that no table describes, from their names and types.

use stead_model::{Map, PropertyPath, Value};
use stead_schema::cfn::{Class, FormId, Schema};

use super::names::kind;
use super::template::Context;
use crate::service::place::is_global;

/// Values of a state in which a resource is ready, in order of preference.
const READY: &[&str] = &[
    "ACTIVE",
    "Active",
    "active",
    "AVAILABLE",
    "Available",
    "available",
    "READY",
    "Ready",
    "ENABLED",
    "Enabled",
    "RUNNING",
    "Running",
    "running",
    "CREATED",
    "Created",
    "COMPLETE",
    "COMPLETED",
    "SUCCEEDED",
    "DEPLOYED",
    "Deployed",
    "HEALTHY",
    "InService",
    "IN_SERVICE",
    "CREATE_COMPLETE",
    "STABLE",
    "ISSUED",
    "ASSOCIATED",
    "associated",
    "OK",
];

pub(super) struct Guess<'a> {
    schema: &'a Schema,
    context: Context<'a>,
    /// Identifier that all guesses of one resource share.
    id: String,
    /// Name that the resource was created with and keeps.
    name: Option<String>,
    /// The name after the names that it is unique within, such as that of the domain.
    path: Option<String>,
}

impl<'a> Guess<'a> {
    pub(super) fn new(schema: &'a Schema, model: &Map, context: Context<'a>) -> Guess<'a> {
        let id = id(schema, &mut *context.ids);
        let name = lasting_name(schema, model);
        let path = name.as_ref().map(|(property, name)| path(schema, model, property, name));
        Guess { schema, name: name.map(|(_, name)| name), path, context, id }
    }

    /// Returns a value for a property, or `None` to keep the sample.
    pub(super) fn value(&mut self, property: &str, form: Option<FormId>, sample: &Value) -> Option<Value> {
        let choices = form.and_then(|form| {
            self.schema
                .find(form, &mut Vec::new(), &|form| (!form.choices.is_empty()).then(|| form.choices.clone()))
        });
        if let Some(choices) = choices {
            let ready =
                READY.iter().find_map(|word| choices.iter().find(|choice| choice.as_str() == Some(word)));
            return ready.cloned();
        }
        match sample {
            Value::String(_) => self.text(property).map(Value::from),
            Value::Number(_) if is_time(property) => Some(Value::from((self.context.now.0 / 1000) as i64)),
            Value::Number(_) if property == "Port" => Some(Value::from(443)),
            Value::Number(_) if self.identifies(property) => {
                Some(Value::from((self.context.ids.draw() % 1_000_000) as i64))
            }
            Value::Number(_) if property.ends_with("Count") => Some(Value::from(0)),
            _ => None,
        }
    }

    fn text(&mut self, property: &str) -> Option<String> {
        let place = self.context.place;
        let ends = |suffix: &str| property.ends_with(suffix);
        let own = self.identifies(property);
        Some(match property {
            _ if ends("Arn") || ends("ARN") || ends("Arns") => self.arn(property),
            "AccountId" | "AwsAccountId" | "OwnerId" | "OwnerAccountId" | "OwnerAccount" | "Owner"
            | "ResourceOwner"
                if !own =>
            {
                place.account.clone()
            }
            "CreatedBy" | "LastModifiedBy" => {
                format!("arn:{}:iam::{}:root", place.partition(), place.account)
            }
            "Region" | "LastModifiedRegion" => place.region.clone(),
            "AvailabilityZone" => format!("{}a", place.region),
            "VpcId" if !own => format!("vpc-{}", self.context.ids.hex(17)),
            "SubnetId" if !own => format!("subnet-{}", self.context.ids.hex(17)),
            "Status" | "State" | "CurrentState" => "ACTIVE".to_owned(),
            "Version" | "VersionId" | "LatestVersion" | "Revision" | "VersionNumber" if !own => {
                "1".to_owned()
            }
            "ETag" => self.context.ids.upper(13),
            "PrivateIp" | "IpAddress" => self.context.address(),
            _ if is_time(property) => self.context.now.to_string(),
            _ if ends("Url") || ends("URL") || ends("Uri") || ends("URI") => {
                format!("https://{}", self.host())
            }
            _ if ends("Endpoint")
                || ends("DomainName")
                || ends("DnsName")
                || ends("DNSName")
                || ends("Dns")
                || ends("Address") =>
            {
                self.host()
            }
            _ if own => self.own_id(property),
            "Name" => {
                self.name.clone().unwrap_or_else(|| format!("{}-{}", kind(&self.schema.type_name), self.id))
            }
            _ if ends("Id") || ends("ID") || ends("Identifier") => self.context.ids.lower(12),
            _ => return None,
        })
    }

    /// Returns the identifier of the resource, or a fresh one if several properties identify it.
    fn own_id(&mut self, property: &str) -> String {
        let identifiers = self.schema.primary_identifier.iter();
        let first = identifiers.filter_map(|path| path.root()).find(|name| is_read_only(self.schema, name));
        if first == Some(property) { self.id.clone() } else { id(self.schema, &mut *self.context.ids) }
    }

    /// Returns true for a part of the primary identifier.
    fn identifies(&self, property: &str) -> bool {
        self.schema.primary_identifier.iter().any(|path| *path == PropertyPath::of(property))
    }

    fn service(&self) -> String {
        self.schema.type_name.split("::").nth(1).unwrap_or_default().to_lowercase()
    }

    fn arn(&mut self, property: &str) -> String {
        let place = self.context.place;
        let (partition, account) = (place.partition(), &place.account);
        let region = if is_global(&self.schema.type_name) { "" } else { place.region.as_str() };
        let kind = kind(&self.schema.type_name);
        let property = property.trim_end_matches('s');
        let stem = property.strip_suffix("Arn").or_else(|| property.strip_suffix("ARN")).unwrap_or_default();
        let own = stem.is_empty()
            || kind.replace('-', "").ends_with(&stem.to_lowercase())
            || self.identifies(property);
        let (kind, id) = match own {
            true => (kind, self.path.clone().unwrap_or_else(|| self.id.clone())),
            false => (stem.to_lowercase(), self.context.ids.lower(12)),
        };
        format!("arn:{partition}:{}:{region}:{account}:{kind}/{id}", self.service())
    }

    fn host(&self) -> String {
        let place = self.context.place;
        format!("{}.{}.{}.{}", self.id, self.service(), place.region, place.domain())
    }
}

/// Returns an identifier in the form of the service.
fn id(schema: &Schema, ids: &mut crate::service::ids::Ids) -> String {
    if schema.type_name.starts_with("AWS::EC2::") {
        return format!("{}-{}", kind(&schema.type_name), ids.hex(17));
    }
    ids.lower(12)
}

/// Returns the name that a resource cannot change, and its property: it is then a part of the ARN.
fn lasting_name(schema: &Schema, model: &Map) -> Option<(String, String)> {
    let kind = schema.type_name.rsplit("::").next().unwrap_or_default();
    let create_only = schema.classes.of(Class::CreateOnly);
    let names = ["Name".to_owned(), format!("{kind}Name"), format!("{kind}Identifier")];
    names.into_iter().find_map(|property| {
        let name = model.get(property.as_str())?.as_str()?.to_owned();
        create_only.covers(&PropertyPath::of(&property)).then_some((property, name))
    })
}

/// Returns a name behind the other parts of the identifier.
fn path(schema: &Schema, model: &Map, property: &str, name: &str) -> String {
    let create_only = schema.classes.of(Class::CreateOnly);
    let parts = schema.additional_identifiers.iter().flatten().filter(|part| create_only.covers(part));
    let mut others: Vec<&str> =
        parts.filter_map(|part| part.root()).filter(|part| *part != property).collect();
    others.dedup();
    let text = |part: &str| {
        let text = model.get(part)?.as_str()?;
        Some(text.rsplit(['/', ':']).next().unwrap_or(text).to_owned())
    };
    others.into_iter().filter_map(text).chain([name.to_owned()]).collect::<Vec<_>>().join("/")
}

fn is_read_only(schema: &Schema, name: &str) -> bool {
    schema.classes.of(Class::ReadOnly).covers(&PropertyPath::of(name))
}

fn is_time(property: &str) -> bool {
    ["At", "Time", "Date", "Timestamp", "DateTime"].iter().any(|suffix| property.ends_with(suffix))
        || property == "LastModified"
}

/// Returns true for a property that explains a failure.
pub(super) fn is_reason(property: &str) -> bool {
    let reasons =
        ["StatusReason", "StatusReasons", "StatusMessage", "StateReason", "StateMessage", "ErrorMessage"];
    reasons.contains(&property) || property.starts_with("Failure")
}
