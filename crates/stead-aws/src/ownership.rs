//! Owner marks: tags of the resources themselves.
//!
//! A create and an update write the mark with their own request, so that a claim needs none. A mark that nobody removes is
//! recognised as stale by the state that it names.

use async_trait::async_trait;
use futures_util::StreamExt as _;
use stead_model::{PhysicalIdentity, TypeToken};
use stead_provider::{Claim, Description, MarksUnavailable, Occasion, OwnerMark, Ownership};

use crate::client::Place;
use crate::model::identifier;
use crate::operations::PARALLEL_READS;
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
    async fn identities(&self, described: Vec<Description>) -> Vec<Vec<PhysicalIdentity>> {
        let ids: Vec<Vec<String>> = described.iter().map(|one| self.identifiers(one)).collect();
        if ids.iter().all(Vec::is_empty) {
            return ids.iter().map(|_| Vec::new()).collect();
        }
        let place = self.client.place().await.ok();
        let identity = |token: &TypeToken, id: String| {
            let place = in_place(token, place);
            PhysicalIdentity::new(format!("{token}{SEPARATOR}{id}{place}"))
        };
        let named = described.iter().zip(ids);
        named.map(|(one, ids)| ids.into_iter().map(|id| identity(&one.ty, id)).collect()).collect()
    }

    /// An identifier has one spelling, and its place would be a question to the service.
    fn has_spellings(&self) -> bool {
        false
    }

    async fn owners(&self, of: Vec<PhysicalIdentity>) -> Vec<Result<Option<OwnerMark>, MarksUnavailable>> {
        let asked = futures_util::stream::iter(of).map(async |identity| self.owner(&identity).await);
        asked.buffered(PARALLEL_READS).collect().await
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
    /// Returns the identifiers of a resource: the one that it has, and the one that its properties give it if that is spelled in
    /// another way.
    fn identifiers(&self, one: &Description) -> Vec<String> {
        let Some(served) = self.served(&one.ty).ok().filter(|_| !provider_resource::is(&one.ty)) else {
            return Vec::new();
        };
        let id = one.id.as_ref().map(|id| id.as_str().to_owned()).filter(|id| !id.is_empty());
        let given = identifier(served.schema, &one.properties).filter(|given| id.as_ref() != Some(given));
        id.into_iter().chain(given).collect()
    }

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
