//! A cloud manager whose failures are searched for the key that it sent.
//!
//! A gateway may answer with the body of the request. **Invariant:** no message of a cloud manager contains a data key, in any form that
//! is searched for; it is cut only after the search, because a part of a key is not found.

use std::sync::Arc;

use async_trait::async_trait;
use zeroize::Zeroizing;

use crate::{Assurance, DataKey, KeyManager, ManagerError, Needles, WrapContext};

/// Most characters of a message, because a proxy may answer with a page.
const LONGEST_MESSAGE: usize = 600;

pub(super) struct Searched(pub(super) Arc<dyn KeyManager>);

#[async_trait]
impl KeyManager for Searched {
    fn name(&self) -> &str {
        self.0.name()
    }

    fn assurance(&self) -> Assurance {
        self.0.assurance()
    }

    async fn wrap(&self, key: &DataKey, context: &WrapContext) -> Result<String, ManagerError> {
        let wrapped = self.0.wrap(key, context).await;
        wrapped.map_err(|error| without(&Needles::new([key.expose()]), error))
    }

    async fn unwrap(&self, wrapped: &str, context: &WrapContext) -> Result<DataKey, ManagerError> {
        let unwrapped = self.0.unwrap(wrapped, context).await;
        unwrapped.map_err(|error| without(&Needles::default(), error))
    }
}

/// Returns the error with a message that has no secret and a bounded length. Hints are texts of Stead.
fn without(secrets: &Needles, error: ManagerError) -> ManagerError {
    let message = Zeroizing::new(error.message);
    let searched = secrets.redact(&message);
    let mut shown: String = searched.chars().take(LONGEST_MESSAGE).collect();
    if shown.len() < searched.len() {
        shown.push('…');
    }
    ManagerError { message: shown, ..error }
}
