//! Admission webhook: decides from marks whether a Kubernetes object may be deleted.

mod contents;
mod decide;
mod groups;
mod judge;
pub(crate) mod manifests;
mod near_miss;
pub(crate) mod object;
mod review;

pub use decide::Guard;
pub use groups::{ACK_SUFFIX, Groups};
pub use judge::PreventDelete;
pub(crate) use review::{Answer, BadReview, Request, answer, bad_review};
