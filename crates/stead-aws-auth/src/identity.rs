//! The identity behind credentials, as STS tells it.

use stead_world::HttpRequest;

use crate::call::{Call, CallError, Repeat};
use crate::escape::form;
use crate::service_error::element;
use crate::{AwsAuth, Scope, ServiceError};

/// Who signs the calls.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// Twelve digits.
    pub account: String,
    pub arn: String,
}

impl AwsAuth {
    /// Returns the identity, which STS is asked for once. The call needs no permission.
    pub async fn identity(&self, region: &str) -> Result<Identity, CallError> {
        self.identity.get_or_try_init(|| self.ask_identity(region)).await.cloned()
    }

    async fn ask_identity(&self, region: &str) -> Result<Identity, CallError> {
        let url = format!("{}/", self.endpoint("sts", region).await);
        let fields = [("Action", "GetCallerIdentity"), ("Version", "2011-06-15")];
        let request = HttpRequest::post(url, form(&fields))
            .header("content-type", "application/x-www-form-urlencoded; charset=utf-8");
        let call = Call { request, scope: Scope::new("sts", region), repeat: Repeat::Safe };
        let answer = self.send(&call).await?;
        let xml = String::from_utf8_lossy(&answer.body);
        let read = || Some(Identity { account: element(&xml, "Account")?, arn: element(&xml, "Arn")? });
        read().ok_or_else(|| {
            let message = "the answer to GetCallerIdentity has no account".to_owned();
            CallError::Service(ServiceError { status: answer.status, code: "NoIdentity".to_owned(), message })
        })
    }
}
