//! Owner marks: tags of the resources themselves.
//!
//! A create and an update write the mark with their own request, so that a claim needs none. A mark that nobody removes is
//! recognised as stale by the state that it names.

use async_trait::async_trait;
use stead_model::{Map, TypeToken};
use stead_provider::{Claim, MarksUnavailable, Occasion, OwnerMark, Ownership, PhysicalIdentity};

use crate::AwsProvider;
use crate::model::identifier;

/// Separates the type from the identifier in an identity.
const SEPARATOR: char = ' ';

#[async_trait]
impl Ownership for AwsProvider {
    async fn identities(&self, described: Vec<(TypeToken, Map)>) -> Vec<Vec<PhysicalIdentity>> {
        let identity = |(token, inputs): &(TypeToken, Map)| {
            let served = self.served(token).ok()?;
            let id = identifier(served.schema, inputs)?;
            Some(PhysicalIdentity::new(format!("{token}{SEPARATOR}{id}")))
        };
        described.iter().map(|one| identity(one).into_iter().collect()).collect()
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
        let Some((token, id)) = identity.as_str().split_once(SEPARATOR) else { return Ok(None) };
        let Ok(served) = self.served(&TypeToken(token.to_owned())) else { return Ok(None) };
        let Some(tags) = &served.tags else { return Ok(None) };
        match self.get(&served, id).await {
            Ok(found) => Ok(found.and_then(|found| tags.mark(&found.model))),
            Err(fault) => Err(MarksUnavailable(fault.message)),
        }
    }
}
