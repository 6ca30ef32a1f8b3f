//! The type `aws.Provider`: an account and a region that a program names, with an instance of the provider for it.
//!
//! Nothing on AWS is created for it. A create and an update ask STS for the account, which is recorded. **Invariant:** an
//! instance with a recorded account makes no request with credentials of another one.

use std::sync::Arc;

use stead_model::{
    Digest, Input, Inputs, Map, PhysicalId, PropertyPath, Resource, Segment, TypeToken, Value,
};
use stead_provider::{
    Completeness, Configurable, Configuration, CreateRequest, Created, Diff, Provider, Receipt, Refusal,
    UpdateRequest, Updated,
};
use stead_schema::{AWS_PROVIDER, Change, Problem, TypeSchema};

use crate::client::own_endpoint;
use crate::{AwsProvider, Settings};

/// Outputs of a provider resource.
const ACCOUNT: &str = "accountId";
const REGION: &str = "region";

/// Characters that tell provider resources of one place apart in their ids.
const DISTINCTION: usize = 12;

/// Returns true for the type of provider resources.
pub(crate) fn is(resource: &TypeToken) -> bool {
    resource.as_str() == AWS_PROVIDER
}

pub(crate) fn not_real() -> Refusal {
    Refusal::new("a provider is declared, and does not exist on AWS").help("use `new aws.Provider({ … })`")
}

/// Checks the settings. Default tags are part of each plan, so they must be known when it is made.
pub(crate) fn check(ty: &TypeSchema, inputs: Inputs) -> Result<Inputs, Vec<Problem>> {
    let mut problems = stead_schema::check(ty, &inputs);
    let tags = inputs.get("defaultTags").filter(|tags| tags.as_known().is_none());
    problems.extend(tags.map(|_| Problem {
        path: PropertyPath::of("defaultTags"),
        message: "`defaultTags` must be known while planning, because they are part of every plan".to_owned(),
        help: Some("set a tag whose value a resource makes on the resources that need it".to_owned()),
    }));
    if problems.is_empty() { Ok(inputs) } else { Err(problems) }
}

/// Returns the changes of the settings. Another region, cloud or account is another place, and replaces the provider.
///
/// An account is known before the run only by the ARN of a role. For others an update compares it.
pub(crate) fn diff(ty: &TypeSchema, old: &Resource, inputs: &Inputs) -> Diff {
    let account = old.outputs.get(ACCOUNT).and_then(Value::as_str);
    let moves = |change: &Change| {
        let new = change.new.as_ref().map(Input::as_known);
        match root(&change.path) {
            "endpoint" => {
                let place = |url: Option<&Value>| {
                    url.and_then(Value::as_str).and_then(own_endpoint).map(str::to_owned)
                };
                new.is_some_and(|new| new.is_none()) || place(change.old.as_ref()) != place(new.flatten())
            }
            "role" => match (role_account(inputs), account) {
                (Some(wanted), Some(account)) => wanted != account,
                _ => false,
            },
            _ => change.replaces,
        }
    };
    let changes = stead_schema::diff(ty, &old.inputs, inputs);
    let changes = changes.into_iter().map(|change| Change { replaces: moves(&change), ..change }).collect();
    Diff { changes, ..Diff::default() }
}

fn root(path: &PropertyPath) -> &str {
    match path.0.first() {
        Some(Segment::Key(key)) => key,
        _ => "",
    }
}

/// Returns the account in the ARN of the role, if it is known.
fn role_account(inputs: &Inputs) -> Option<String> {
    let arn = match inputs.get("role")? {
        Input::Known(Value::Map(role)) => role.get("arn")?.as_str()?.to_owned(),
        Input::Map(role) => role.get("arn")?.as_known()?.as_str()?.to_owned(),
        _ => return None,
    };
    arn.split(':').nth(4).map(str::to_owned)
}

impl Configurable for AwsProvider {
    fn settings_type(&self) -> TypeToken {
        TypeToken(AWS_PROVIDER.to_owned())
    }

    fn configured(&self, configuration: &Configuration) -> Result<Arc<dyn Provider>, Refusal> {
        let recorded =
            |name: &str| configuration.outputs.get(name).and_then(Value::as_str).map(str::to_owned);
        let own = match configuration.completeness {
            Completeness::Whole => Settings::of(&configuration.settings)?,
            // Tags are known, and no request is made with the rest.
            Completeness::Partial => {
                let tags = configuration.settings.get("defaultTags").cloned();
                Settings::of(&tags.into_iter().map(|tags| ("defaultTags", tags)).collect())?
            }
        };
        // A region that the program leaves out stays the one of the first run.
        let own = Settings { region: own.region.or_else(|| recorded(REGION)), ..own };
        Ok(Arc::new(self.instance(own, recorded(ACCOUNT))))
    }
}

impl AwsProvider {
    fn instance(&self, own: Settings, expected: Option<String>) -> AwsProvider {
        AwsProvider::with(self.access.clone(), own.or(&self.settings), expected)
    }

    /// Asks STS for the account of the settings.
    pub(crate) async fn create_provider(
        &self,
        receipt: &Receipt,
        request: &CreateRequest<'_>,
    ) -> Result<Created, Refusal> {
        let (account, region) = self.identified(Settings::of(request.inputs)?).await?;
        let digest = Digest::of(receipt.idempotency_key().as_bytes());
        let own: String = digest.as_str().chars().take(DISTINCTION).collect();
        let id = PhysicalId(format!("{account}/{region}/{own}"));
        Ok(Created { id, outputs: outputs(account, region) })
    }

    /// Asks STS for the account of the new settings, which must be the recorded one.
    pub(crate) async fn update_provider(&self, request: &UpdateRequest<'_>) -> Result<Updated, Refusal> {
        let recorded = |name: &str| request.resource.outputs.get(name).and_then(Value::as_str);
        let own = Settings::of(&request.resource.inputs)?;
        let own = Settings { region: own.region.or_else(|| recorded(REGION).map(str::to_owned)), ..own };
        let (account, region) = self.identified(own).await?;
        match recorded(ACCOUNT).filter(|recorded| *recorded != account) {
            Some(recorded) => Err(Refusal::new(format!(
                "the new settings lead to account {account}, and the resources of this provider are in account {recorded}"
            ))
            .help("declare another provider for the other account; a resource that names it is replaced there")),
            None => Ok(Updated { outputs: outputs(account, region) }),
        }
    }

    async fn identified(&self, own: Settings) -> Result<(String, String), Refusal> {
        let instance = self.instance(own, None);
        let place = instance.client.place().await.map_err(|fault| fault.refusal())?;
        match &place.account {
            Some(account) => Ok((account.clone(), place.region.clone())),
            None => Err(Refusal::transient("STS does not tell the account of the credentials")
                .help("a provider needs an endpoint that answers `GetCallerIdentity`")),
        }
    }
}

fn outputs(account: String, region: String) -> Map {
    [(ACCOUNT, Value::from(account.as_str())), (REGION, Value::from(region.as_str()))].into_iter().collect()
}
