//! The embedded cloud: accounts and regions with resources of all published types, behind Cloud Control's wire protocol.
//!
//! [`Cloud`] is the handle. Inside, `machine` is a state machine without I/O: `calls` are the eight calls, `handlers` carry
//! operations out when their time has come, `values` makes the values that services set, `references` knows which resources use others. `logs` and `metrics` are the
//! calls of CloudWatch that logs and figures need, `disk` keeps the state in a folder, `control` is the API of tests over HTTP, `sts` the calls that credentials need.

mod batches;
mod caller;
mod calls;
mod cloud;
mod control;
mod disk;
mod error;
mod faults;
mod handlers;
mod identity;
mod ids;
mod logs;
mod machine;
mod metrics;
mod outside;
mod place;
mod progress;
mod quotas;
mod rate;
mod references;
mod settings;
mod state;
mod sts;
mod values;
mod wire;

pub use cloud::Cloud;
pub use error::{ErrorKind, HandlerError, ServiceError};
pub use faults::{Fault, FaultPlan, Injected};
pub use logs::NewLogEvent;
pub use metrics::{MetricName, NewPoint};
pub use outside::{ResourceName, Snapshot};
pub use place::{DEFAULT_ACCOUNT, Place};
pub use settings::{Delay, ListedModels, Quotas, Rate, References, Settings};
