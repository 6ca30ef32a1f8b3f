//! Lists real resources of a type that can be imported.

use stead_model::{Code, Diagnostic, Hint, Map, Name, NextStep, PhysicalId, Resource, TypeToken, Uid};
pub use stead_provider::ListScope;
use stead_provider::{ListParent, Listed, Refusal};

use crate::ops::error::no_stack;
use crate::ops::places::Untold;
use crate::ops::{OpError, Workspace, find};

/// A real resource of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedResource {
    pub id: PhysicalId,
    /// The record of this stack that has it.
    pub recorded_as: Option<Name>,
    /// Why its mark cannot be read. A stack may own such a resource.
    pub unread: Option<String>,
}

impl Workspace {
    /// Returns the real resources of a type, sorted by id. `parent` has properties of the resource within which they are listed,
    /// `served_by` names a recorded provider resource.
    pub async fn list_resources(
        &self,
        ty: &str,
        scope: ListScope,
        parent: &Map,
        served_by: Option<&str>,
    ) -> Result<Vec<ListedResource>, OpError> {
        let ty = published(ty);
        let state = self.stack.load().await.ok();
        let record = match (served_by, &state) {
            (Some(name), Some(loaded)) => Some(find(&loaded.state, name)?),
            (Some(_), None) => return Err(no_stack(self)),
            (None, _) => None,
        };
        let provider = self.engine.served_by(&ty, record).map_err(|Refusal { message, help, .. }| {
            let problem = Diagnostic::error(Code::NO_PROVIDER, message);
            OpError::invalid(help.into_iter().fold(problem, Diagnostic::help))
        })?;
        let Some(listing) = provider.listing() else {
            let message = format!("the provider `{}` cannot list its resources", provider.name());
            return Err(OpError::invalid(Diagnostic::error(Code::CANNOT_READ, message)));
        };
        check_parent(&ty, &listing.parent(&ty), parent)?;
        if let Some(loaded) = state.as_ref().filter(|_| record.is_none()) {
            self.compare_places(&loaded.state, (None, &[]), Untold::Note).await?;
        }
        let listed = listing.list(&ty, scope, parent).await.map_err(|refusal| {
            let message = format!("cannot list {ty}: {}", refusal.message);
            let problem = Diagnostic::error(Code::CANNOT_READ, message);
            OpError::Read(vec![refusal.help.into_iter().fold(problem, Diagnostic::help)])
        })?;
        let recorded = |id: &PhysicalId| {
            let state = &state.as_ref()?.state;
            let holder = state.copies().find(|copy| {
                copy.ty == ty
                    && copy.id.as_ref() == Some(id)
                    && provider_of(copy) == record.map(|record| &record.uid)
            })?;
            Some(holder.name.clone())
        };
        let with_record = |Listed { id, unread }| ListedResource { recorded_as: recorded(&id), id, unread };
        let listed = listed.into_iter().map(with_record);
        Ok(listed.filter(|one| scope == ListScope::All || one.recorded_as.is_none()).collect())
    }
}

/// Fails if a list of the type needs properties of a parent that are not given.
fn check_parent(ty: &TypeToken, needed: &ListParent, parent: &Map) -> Result<(), OpError> {
    let missing: Vec<String> =
        needed.keys.iter().filter(|key| !parent.contains_key(key.as_str())).cloned().collect();
    if missing.is_empty() {
        return Ok(());
    }
    let message = format!("{ty} is listed within a parent: {} is needed", missing.join(" and "));
    let problem = Diagnostic::error(Code::USAGE, message);
    let problem = match &needed.of {
        Some((parent, properties)) => {
            problem.note(format!("The parent is an {parent}: {}.", properties.join(" and ")))
        }
        None => problem,
    };
    let keys = needed.keys.clone();
    Err(OpError::invalid(problem.help(Hint::from(NextStep::ListChildren { ty: ty.to_string(), keys }))))
}

/// Returns the provider resource of a copy; `None` for the default provider.
fn provider_of(copy: &Resource) -> Option<&Uid> {
    copy.ties.provider.as_ref().map(|provider| &provider.uid)
}

/// Returns the token of a type that may be written as AWS does, such as `AWS::S3::Bucket`.
fn published(ty: &str) -> TypeToken {
    stead_schema::token_of(ty).unwrap_or_else(|| TypeToken(ty.to_owned()))
}
