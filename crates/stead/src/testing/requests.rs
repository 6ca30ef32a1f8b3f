//! The requests of a test as data, read from the options that the test gives.

use std::collections::BTreeMap;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use stead_cloud::Fault;
use stead_eval::Refused;
use stead_model::{Code, Diagnostic, Map, Value};

/// Properties of existing resources, by type and id.
pub(super) type Lookups = BTreeMap<String, BTreeMap<String, Map>>;

/// The options of `declare`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub(super) struct DeclareOptions {
    pub(super) env: Option<String>,
    pub(super) namespace: Option<String>,
    pub(super) target: Option<String>,
    /// Values over the ones of `stead.toml`; null removes one.
    pub(super) config: Map,
    /// Another entry point than the one of `stead.toml`.
    pub(super) main: Option<String>,
    /// Texts of files, in place of the ones of the project.
    pub(super) files: BTreeMap<String, String>,
    pub(super) lookups: Lookups,
    /// Variables of the environment that `process.env` has.
    pub(super) environment: BTreeMap<String, String>,
    /// Outputs of other stacks, by project or `project:environment`.
    pub(super) stacks: BTreeMap<String, Map>,
    pub(super) allow_unknown_branches: bool,
}

/// A version of the program, or a state.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields, tag = "source")]
pub(super) enum Origin {
    /// A declared program, by its number in the test file.
    App {
        graph: usize,
    },
    Current,
    Git {
        #[serde(rename = "ref")]
        reference: String,
    },
    Folder {
        path: String,
    },
    State {
        path: String,
    },
    Nothing,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PlanRequest {
    pub(super) from: Origin,
    pub(super) to: Origin,
    pub(super) options: DeclareOptions,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FindRequest {
    pub(super) graph: usize,
    pub(super) name: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct AllRequest {
    pub(super) graph: usize,
    pub(super) filter: Filter,
}

/// The settings of `freshCloud`. Times are in milliseconds.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct CloudSettings {
    pub(super) seed: u64,
    pub(super) operations: u64,
    pub(super) consistency: u64,
    pub(super) rate: Option<u32>,
    pub(super) quotas: Option<bool>,
    pub(super) references: Option<bool>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct NewStack {
    pub(super) cloud: usize,
    pub(super) options: DeclareOptions,
}

/// A plan or a run on a stack.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RunRequest {
    pub(super) stack: usize,
    pub(super) to: Origin,
    pub(super) options: DeclareOptions,
    pub(super) how: RunFlags,
}

/// The flags of a run.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub(super) struct RunFlags {
    pub(super) refresh: bool,
    pub(super) update_pins: bool,
    pub(super) take_over: Vec<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RecordRequest {
    pub(super) stack: usize,
    #[serde(default)]
    pub(super) name: Option<String>,
}

/// A request about the resources of a cloud.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct CloudRequest {
    pub(super) cloud: usize,
    #[serde(default, rename = "type")]
    pub(super) ty: Option<String>,
    #[serde(default)]
    pub(super) id: Option<String>,
    /// Properties of a new resource.
    #[serde(default)]
    pub(super) properties: Map,
    /// Properties to set, or a JSON Patch.
    #[serde(default)]
    pub(super) change: Value,
    #[serde(default)]
    pub(super) count: u64,
}

/// Fault of the next calls of a cloud.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FaultRequest {
    pub(super) cloud: usize,
    pub(super) fault: Fault,
    #[serde(default)]
    pub(super) call: Option<String>,
    #[serde(default, rename = "type")]
    pub(super) ty: Option<String>,
    #[serde(default)]
    pub(super) times: Option<u32>,
}

/// Share of the calls of a cloud that fail.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FaultPlanRequest {
    pub(super) cloud: usize,
    pub(super) plan: Option<FaultShare>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FaultShare {
    pub(super) seed: u64,
    pub(super) rate: f64,
}

/// Conditions on resources; all of the given ones hold.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub(super) struct Filter {
    #[serde(rename = "type")]
    pub(super) ty: Option<String>,
    pub(super) module: Option<String>,
    pub(super) scope: Option<String>,
    pub(super) id: Option<String>,
    pub(super) pinned: Option<bool>,
    pub(super) group: Option<bool>,
}

/// Reads a request. An unknown option is a mistake of the test.
pub(super) fn read<T: DeserializeOwned>(what: &str, argument: &Value) -> Result<T, Refused> {
    serde_json::from_str(&argument.to_json()).map_err(|error| {
        let text = error.to_string();
        let text = text.split(" at line").next().unwrap_or(&text);
        misuse(format!("`{what}` cannot use these options: {text}"))
    })
}

pub(super) fn misuse(message: impl Into<String>) -> Refused {
    Refused::Misuse(Box::new(Diagnostic::error(Code::TEST_REQUEST, message)))
}

/// Refuses a request for one reason.
pub(super) fn refused(problem: Diagnostic) -> Refused {
    Refused::Expectable(vec![problem])
}
