//! The calls of Cloud Control: signed, limited, and repeated by the class of a failure.
//!
//! Every call is safe to repeat: it changes nothing, or it has a client token. **Invariant:** a fault says that a request had
//! no effect only if no attempt at it can have had one.

use std::time::Duration;

use serde::Serialize;
use serde::de::DeserializeOwned;
use stead_aws_auth::{AwsAuth, Call, CallError, Repeat, Scope, ServiceErrorClass};
use stead_model::ProviderPlace;
use stead_world::{Effect, HttpRequest, Timestamp, World};
use tokio::sync::OnceCell;

use crate::fault::{Fault, FaultKind};
use crate::limiter::{Limiter, Limiters};
use crate::wire::{
    CreateResource, DeleteResource, Described, GetResource, GetResourceRequestStatus, ListResources, Listed,
    ProgressEvent, ResourceDescription, SERVICE, Started, Status, TARGET, UpdateResource,
};

/// Attempts at a request that the service refuses because there are too many.
const THROTTLED_ATTEMPTS: u32 = 20;

/// Pauses of a refused request that grow; later ones are as long as the last of them.
const THROTTLED_PAUSES: u32 = 2;

/// Attempts at a request without an answer, or with the answer that the service failed.
const UNANSWERED_ATTEMPTS: u32 = 7;

/// Pauses between attempts: the first one, and the longest one.
const FIRST_PAUSE_MS: u32 = 200;
const LONGEST_PAUSE_MS: u32 = 10_000;

/// Resources of one page of a list.
const PAGE: u32 = 100;

/// Largest number of pages that are read of a list.
const MAX_PAGES: usize = 10_000;

/// A service that speaks AWS JSON.
pub(crate) struct Service {
    /// Name in signatures and host names.
    pub(crate) name: &'static str,
    /// Prefix of the header `X-Amz-Target`.
    pub(crate) target: &'static str,
    pub(crate) content_type: &'static str,
}

const CLOUD_CONTROL: Service =
    Service { name: SERVICE, target: TARGET, content_type: "application/x-amz-json-1.0" };

/// A client of Cloud Control in one region.
pub(crate) struct Client {
    pub(crate) world: World,
    auth: AwsAuth,
    limiters: Limiters,
    /// The account that the credentials must belong to.
    expected: Option<String>,
    place: OnceCell<Place>,
}

/// Where requests go.
pub(crate) struct Place {
    url: String,
    pub(crate) region: String,
    /// The account of the credentials; `None` if STS does not answer.
    pub(crate) account: Option<String>,
    limiter: Limiter,
}

impl Place {
    /// Each service has a rate of its own in every account and region.
    fn new(limiters: &Limiters, url: String, region: String, account: Option<String>) -> Place {
        let limiter = limiters.of(&format!("{url} {region} {}", account.as_deref().unwrap_or("")));
        Place { url, region, account, limiter }
    }

    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    /// Returns the account, the region, and the URL of a cloud that is not AWS.
    pub(crate) fn described(&self, endpoint: Option<&str>) -> Option<ProviderPlace> {
        let account = self.account.clone()?;
        let endpoint = endpoint.map(|url| ("endpoint", url.to_owned()));
        let parts = [("account", account), ("region", self.region.clone())];
        Some(ProviderPlace::of(parts.into_iter().chain(endpoint)))
    }
}

/// Returns the URL of a cloud that is not AWS: its resources are not those of the account there.
pub(crate) fn own_endpoint(url: &str) -> Option<&str> {
    let host = url.split_once("://").map_or(url, |(_, rest)| rest);
    let host = host.split(['/', ':']).next().unwrap_or(host);
    let of_aws = [".amazonaws.com", ".amazonaws.com.cn", ".api.aws"].iter().any(|end| host.ends_with(end));
    (!of_aws).then(|| url.trim_end_matches('/'))
}

impl Client {
    pub(crate) fn new(world: World, auth: AwsAuth, limiters: Limiters, expected: Option<String>) -> Client {
        Client { world, auth, limiters, expected, place: OnceCell::new() }
    }

    /// Returns the time as the service sees it.
    pub(crate) fn now(&self) -> Timestamp {
        self.auth.now()
    }

    pub(crate) async fn create(
        &self,
        type_name: &str,
        desired_state: &str,
        client_token: &str,
    ) -> Result<ProgressEvent, Fault> {
        let body = CreateResource { type_name, desired_state, client_token };
        Ok(self.call::<Started>("CreateResource", &body).await?.progress_event)
    }

    pub(crate) async fn update(
        &self,
        type_name: &str,
        identifier: &str,
        patch_document: &str,
        client_token: &str,
    ) -> Result<ProgressEvent, Fault> {
        let body = UpdateResource { type_name, identifier, patch_document, client_token };
        Ok(self.call::<Started>("UpdateResource", &body).await?.progress_event)
    }

    pub(crate) async fn delete(
        &self,
        type_name: &str,
        identifier: &str,
        client_token: &str,
    ) -> Result<ProgressEvent, Fault> {
        let body = DeleteResource { type_name, identifier, client_token };
        Ok(self.call::<Started>("DeleteResource", &body).await?.progress_event)
    }

    pub(crate) async fn get(&self, type_name: &str, identifier: &str) -> Result<ResourceDescription, Fault> {
        let body = GetResource { type_name, identifier };
        Ok(self.call::<Described>("GetResource", &body).await?.resource_description)
    }

    pub(crate) async fn status(&self, request_token: &str) -> Result<Status, Fault> {
        self.call("GetResourceRequestStatus", &GetResourceRequestStatus { request_token }).await
    }

    /// Returns all resources of a type, in the order of the service.
    pub(crate) async fn list(
        &self,
        type_name: &str,
        parent: Option<&str>,
    ) -> Result<Vec<ResourceDescription>, Fault> {
        let (mut found, mut next_token) = (Vec::new(), None::<String>);
        for _ in 0..MAX_PAGES {
            let body = ListResources {
                type_name,
                max_results: PAGE,
                next_token: next_token.as_deref(),
                resource_model: parent,
            };
            let Listed { resource_descriptions, next_token: next } =
                self.call("ListResources", &body).await?;
            found.extend(resource_descriptions);
            match next.filter(|token| !token.is_empty()) {
                Some(next) => next_token = Some(next),
                None => return Ok(found),
            }
        }
        Err(Fault::unreadable("ListResources", "the list does not end"))
    }

    async fn call<T: DeserializeOwned>(&self, operation: &str, body: &impl Serialize) -> Result<T, Fault> {
        self.call_at(self.place().await?, &CLOUD_CONTROL, operation, body).await
    }

    /// Calls another service in the region, which must be safe to repeat.
    pub(crate) async fn call_service<T: DeserializeOwned>(
        &self,
        service: &Service,
        operation: &str,
        body: &impl Serialize,
    ) -> Result<T, Fault> {
        let place = self.place().await?;
        let (region, account) = (place.region.clone(), place.account.clone());
        let url = self.auth.endpoint(service.name, &region).await;
        let place = Place::new(&self.limiters, url, region, account);
        self.call_at(&place, service, operation, body).await
    }

    async fn call_at<T: DeserializeOwned>(
        &self,
        place: &Place,
        service: &Service,
        operation: &str,
        body: &impl Serialize,
    ) -> Result<T, Fault> {
        let bytes =
            serde_json::to_vec(body).map_err(|error| Fault::unreadable(operation, &error.to_string()))?;
        let request = HttpRequest::post(format!("{}/", place.url), bytes)
            .header("content-type", service.content_type)
            .header("x-amz-target", format!("{}.{operation}", service.target));
        let scope = Scope::new(service.name, place.region.as_str());
        let call = Call { request, scope, repeat: Repeat::ByCaller };
        let (mut attempt, mut effect) = (1, Effect::None);
        loop {
            let admission = place.limiter.admit().await;
            let error = match self.auth.send(&call).await {
                Ok(answer) => {
                    place.limiter.accepted(admission);
                    return serde_json::from_slice(&answer.body).map_err(|error| {
                        // The text of the error may contain a value; its place does not.
                        let place = format!("line {} column {}", error.line(), error.column());
                        Fault::unreadable(operation, &place)
                    });
                }
                Err(error) => error,
            };
            if error.effect() == Effect::Unknown {
                effect = Effect::Unknown;
            }
            let attempts = match class(&error) {
                ServiceErrorClass::Throttled => {
                    place.limiter.refused();
                    THROTTLED_ATTEMPTS
                }
                ServiceErrorClass::Transient => UNANSWERED_ATTEMPTS,
                // The service answered, so that there were not too many requests.
                _ => {
                    place.limiter.accepted(admission);
                    0
                }
            };
            if attempt >= attempts {
                return Err(Fault::of_call(&error, effect));
            }
            // The limiter slows all requests down. A refused one waits a moment more, and does not lose its turn for long.
            let longest = if attempts == THROTTLED_ATTEMPTS { THROTTLED_PAUSES } else { attempts };
            self.pause(attempt.min(longest)).await;
            attempt += 1;
        }
    }

    /// Returns where requests go. Fails if the credentials belong to another account than the expected one.
    pub(crate) async fn place(&self) -> Result<&Place, Fault> {
        let fault = |error: CallError| Fault::of_call(&error, Effect::None);
        let find = || async {
            let region = self.auth.region().await.map_err(|error| fault(CallError::Credentials(error)))?;
            let url = self.auth.endpoint(SERVICE, &region).await;
            let account = match (self.auth.identity(&region).await, &self.expected) {
                (Ok(identity), Some(expected)) if identity.account != *expected => {
                    return Err(other_account(expected, &identity.account));
                }
                (Ok(identity), _) => Some(identity.account),
                (Err(error @ CallError::Credentials(_)), _) | (Err(error), Some(_)) => {
                    return Err(fault(error));
                }
                // STS would tell the account a moment later.
                (Err(error), None) if is_passing(&error) => return Err(fault(error)),
                // A cloud without STS does not tell the account.
                (Err(_), None) => None,
            };
            Ok(Place::new(&self.limiters, url, region, account))
        };
        self.place.get_or_try_init(find).await
    }

    /// Waits before the next attempt: twice as long each time, half of it at random, so that parallel callers spread.
    pub(crate) async fn pause(&self, attempt: u32) {
        let longest = FIRST_PAUSE_MS.saturating_mul(1 << attempt.min(10)).min(LONGEST_PAUSE_MS);
        let half = longest / 2;
        let random = self.world.entropy.below(half).unwrap_or(half);
        self.world.clock.sleep(Duration::from_millis(u64::from(half + random))).await;
    }
}

fn other_account(expected: &str, account: &str) -> Fault {
    Fault {
        kind: FaultKind::Final,
        message: format!(
            "the credentials belong to account {account}, and the resources are in account {expected}"
        ),
        help: Some(format!("use credentials of account {expected}: its profile, or a role there")),
        effect: Effect::None,
    }
}

fn is_passing(error: &CallError) -> bool {
    matches!(class(error), ServiceErrorClass::Throttled | ServiceErrorClass::Transient)
}

/// Returns the class of an error. A request that did not arrive is like one that the service failed to answer.
fn class(error: &CallError) -> ServiceErrorClass {
    match error {
        CallError::Service(error) => error.class(),
        CallError::Http(stead_world::HttpError::NotSent { .. } | stead_world::HttpError::NoAnswer { .. }) => {
            ServiceErrorClass::Transient
        }
        CallError::Http(_) | CallError::Credentials(_) => ServiceErrorClass::Other,
    }
}
