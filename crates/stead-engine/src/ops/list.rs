//! Lists real resources of a type that can be imported.

use stead_model::{Code, Diagnostic, Name, PhysicalId, TypeToken};
pub use stead_provider::ListScope;

use crate::ops::places::Untold;
use crate::ops::{OpError, Workspace};

/// A real resource of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedResource {
    pub id: PhysicalId,
    /// The record of this stack that has it.
    pub recorded_as: Option<Name>,
}

impl Workspace {
    /// Returns the real resources of a type, sorted by id.
    pub async fn list_resources(&self, ty: &str, scope: ListScope) -> Result<Vec<ListedResource>, OpError> {
        let ty = published(ty);
        let Some(provider) = self.engine.providers.of(&ty) else {
            let problem = Diagnostic::error(Code::NO_PROVIDER, format!("no provider serves {ty}"));
            return Err(OpError::invalid(problem));
        };
        let Some(listing) = provider.listing() else {
            let message = format!("the provider `{}` cannot list its resources", provider.name());
            return Err(OpError::invalid(Diagnostic::error(Code::CANNOT_READ, message)));
        };
        let state = self.stack.load().await.ok();
        if let Some(loaded) = &state {
            self.compare_places(&loaded.state, (None, &[]), Untold::Note).await?;
        }
        let ids = listing.list(&ty, scope).await.map_err(|refusal| {
            let message = format!("cannot list {ty}: {}", refusal.message);
            let problem = Diagnostic::error(Code::CANNOT_READ, message);
            OpError::Read(vec![refusal.help.into_iter().fold(problem, Diagnostic::help)])
        })?;
        let recorded = |id: &PhysicalId| {
            let state = &state.as_ref()?.state;
            let holder = state
                .copies()
                .find(|copy| copy.ty == ty && copy.id.as_ref() == Some(id) && copy.ties.provider.is_none())?;
            Some(holder.name.clone())
        };
        let listed = ids.into_iter().map(|id| ListedResource { recorded_as: recorded(&id), id });
        Ok(listed.filter(|one| scope == ListScope::All || one.recorded_as.is_none()).collect())
    }
}

/// Returns the token of a type that may be written as AWS does, such as `AWS::S3::Bucket`.
fn published(ty: &str) -> TypeToken {
    stead_schema::token_of(ty).unwrap_or_else(|| TypeToken(ty.to_owned()))
}
