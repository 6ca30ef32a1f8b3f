//! Resource types: their properties, checks of inputs, differences between inputs, and TypeScript declarations.
//!
//! Pure. **Invariant:** no code here depends on a particular provider; types are data.

mod catalog;
pub mod cfn;
mod check;
mod declarations;
mod diff;
mod flatten;
mod identity;
mod members;
mod published;
mod secrecy;
mod types;

pub use catalog::Catalog;
pub use check::{Problem, check, check_value, warnings};
pub use declarations::declarations;
pub use diff::{Change, diff};
pub use flatten::{flatten, unflatten};
pub use identity::identity;
pub use members::{Member, WrongReference, proposal, wrong_references};
pub use published::{AWS_PROVIDER, list_parent_of, token_of, type_name_of};
pub use secrecy::Secrecy;
pub use types::{Access, Property, PublishedForm, ReplaceOrder, Shape, TypeSchema};
