//! Owner marks behind the veil: identities are computed from revealed values, and no error shows a known secret.

use std::sync::Arc;

use async_trait::async_trait;
use stead_model::PhysicalIdentity;

use super::RunSecrets;
use super::marks::Marks;
use crate::{Claim, Description, MarksUnavailable, Occasion, OwnerMark, Ownership, Provider};

pub(super) struct VeiledOwnership {
    inner: Arc<dyn Provider>,
    known: RunSecrets,
}

impl VeiledOwnership {
    pub(super) fn new(inner: Arc<dyn Provider>, known: RunSecrets) -> VeiledOwnership {
        VeiledOwnership { inner, known }
    }

    /// Returns the reason without known secrets.
    fn shown(&self, MarksUnavailable(why): MarksUnavailable) -> MarksUnavailable {
        MarksUnavailable(self.known.text(&why).into_owned())
    }

    /// Returns the marks of the provider. The veil offers this object only if the provider has some.
    fn inner(&self) -> Result<&dyn Ownership, MarksUnavailable> {
        self.inner.ownership().ok_or_else(|| MarksUnavailable("the provider has no owner marks".to_owned()))
    }
}

#[async_trait]
impl Ownership for VeiledOwnership {
    async fn identities(&self, described: Vec<Description>) -> Vec<Vec<PhysicalIdentity>> {
        let Ok(inner) = self.inner() else { return described.iter().map(|_| Vec::new()).collect() };
        let revealed = described.into_iter().map(|one| {
            let marks = Marks::default().with(&one.properties);
            if marks.is_empty() {
                return one;
            }
            Description { properties: marks.revealed(&one.properties).into_owned(), ..one }
        });
        inner.identities(revealed.collect()).await
    }

    async fn owners(&self, of: Vec<PhysicalIdentity>) -> Vec<Result<Option<OwnerMark>, MarksUnavailable>> {
        let inner = match self.inner() {
            Ok(inner) => inner,
            Err(error) => return of.iter().map(|_| Err(error.clone())).collect(),
        };
        let found = inner.owners(of).await;
        found.into_iter().map(|mark| mark.map_err(|error| self.shown(error))).collect()
    }

    async fn claim(
        &self,
        identity: PhysicalIdentity,
        owner: OwnerMark,
        expected: Option<OwnerMark>,
        occasion: Occasion,
    ) -> Result<Claim, MarksUnavailable> {
        self.inner()?.claim(identity, owner, expected, occasion).await.map_err(|error| self.shown(error))
    }

    async fn release(&self, identity: PhysicalIdentity, owner: OwnerMark) -> Result<(), MarksUnavailable> {
        self.inner()?.release(identity, owner).await.map_err(|error| self.shown(error))
    }

    fn has_spellings(&self) -> bool {
        self.inner().is_ok_and(|inner| inner.has_spellings())
    }

    fn marks_are_inside(&self) -> bool {
        self.inner().is_ok_and(|inner| inner.marks_are_inside())
    }

    async fn marks(&self) -> Result<Vec<(PhysicalIdentity, OwnerMark)>, MarksUnavailable> {
        self.inner()?.marks().await.map_err(|error| self.shown(error))
    }
}
