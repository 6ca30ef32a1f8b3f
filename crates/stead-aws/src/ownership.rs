//! Owner marks: tags of the resources themselves.
//!
//! A create and an update write the mark with their own request, so that a claim needs none. A mark that nobody removes is
//! recognised as stale by the state that it names.

use async_trait::async_trait;
use stead_model::{Map, PhysicalIdentity, TypeToken};
use stead_provider::{Claim, MarksUnavailable, Occasion, OwnerMark, Ownership};

use crate::client::Place;
use crate::model::identifier;
use crate::{AwsProvider, provider_resource};

/// Separates the type from the identifier in an identity, and both from the place.
const SEPARATOR: char = ' ';
const PLACE: &str = " in ";

/// Services whose resources are the same in every region of an account.
const GLOBAL: &[&str] = &["iam", "route53", "cloudfront", "organizations", "budgets", "globalaccelerator"];

/// The type whose names are unique across all accounts.
const BUCKET: &str = "aws.s3.Bucket";

#[async_trait]
impl Ownership for AwsProvider {
    async fn identities(&self, described: Vec<(TypeToken, Map)>) -> Vec<Vec<PhysicalIdentity>> {
        let identified = |(token, inputs): &(TypeToken, Map)| {
            let served = self.served(token).ok().filter(|_| !provider_resource::is(token))?;
            identifier(served.schema, inputs)
        };
        let ids: Vec<Option<String>> = described.iter().map(identified).collect();
        if ids.iter().all(Option::is_none) {
            return ids.iter().map(|_| Vec::new()).collect();
        }
        let place = self.client.place().await.ok();
        let identity = |(token, id): (&TypeToken, String)| {
            let place = in_place(token, place);
            PhysicalIdentity::new(format!("{token}{SEPARATOR}{id}{place}"))
        };
        let named = described.iter().map(|(token, _)| token).zip(ids);
        named.map(|(token, id)| id.map(|id| identity((token, id))).into_iter().collect()).collect()
    }

    /// An identifier has one spelling, and its place would be a question to the service.
    fn has_spellings(&self) -> bool {
        false
    }

    async fn owners(&self, of: Vec<PhysicalIdentity>) -> Result<Vec<Option<OwnerMark>>, MarksUnavailable> {
        let mut found = Vec::with_capacity(of.len());
        for identity in &of {
            found.push(self.owner(identity).await?);
        }
        Ok(found)
    }

    async fn claim(
        &self,
        _identity: PhysicalIdentity,
        _owner: OwnerMark,
        _expected: Option<OwnerMark>,
        _occasion: Occasion,
    ) -> Result<Claim, MarksUnavailable> {
        Ok(Claim::Made)
    }

    async fn release(&self, _: PhysicalIdentity, _: OwnerMark) -> Result<(), MarksUnavailable> {
        Ok(())
    }

    fn marks_are_inside(&self) -> bool {
        true
    }

    async fn marks(&self) -> Result<Vec<(PhysicalIdentity, OwnerMark)>, MarksUnavailable> {
        Ok(Vec::new())
    }
}

impl AwsProvider {
    async fn owner(&self, identity: &PhysicalIdentity) -> Result<Option<OwnerMark>, MarksUnavailable> {
        let text = identity.as_str();
        let text = text.rsplit_once(PLACE).map_or(text, |(text, _)| text);
        let Some((token, id)) = text.split_once(SEPARATOR) else { return Ok(None) };
        let Ok(served) = self.served(&TypeToken(token.to_owned())) else { return Ok(None) };
        let Some(tags) = &served.tags else { return Ok(None) };
        match self.get(&served, id).await {
            Ok(found) => Ok(found.and_then(|found| tags.mark(&found.model))),
            Err(fault) => Err(MarksUnavailable(fault.message)),
        }
    }
}

/// Returns the place in which an identifier of the type is unique, as a part of the identity.
fn in_place(token: &TypeToken, place: Option<&Place>) -> String {
    let account = place.and_then(|place| place.account.as_deref()).unwrap_or("an unknown account");
    let service = token.as_str().split('.').nth(1).unwrap_or_default();
    match place.map(|place| place.region.as_str()) {
        _ if token.as_str() == BUCKET => String::new(),
        Some(region) if !GLOBAL.contains(&service) => format!("{PLACE}{account}, {region}"),
        _ => format!("{PLACE}{account}"),
    }
}
