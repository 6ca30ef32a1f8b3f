//! In-process model of Cloud Control, as strict as the service: its operations on one resource, without network or clock.
//!
//! It knows schemas and the rules of the service, but not how stead computes patches: tests check stead's patches against
//! it. **Invariant:** pure; same bytes in, same bytes out.

mod expression;
mod guarded;
mod json_patch;
mod rejection;
mod resource;
mod sample;
mod service;
mod synthesis;
mod validate;
mod within;

pub use json_patch::apply;
pub use rejection::Rejection;
pub use resource::{creatable, create, read, update};
pub use sample::Sampler;
pub use service::{
    Cloud, DEFAULT_ACCOUNT, Delay, ErrorKind, Fault, FaultPlan, HandlerError, Injected, ListedModels,
    MetricName, NewLogEvent, NewPoint, Place, Quotas, Rate, References, ResourceName, ServiceError, Settings,
    Snapshot,
};
pub use synthesis::canonical;
pub use validate::validate;
