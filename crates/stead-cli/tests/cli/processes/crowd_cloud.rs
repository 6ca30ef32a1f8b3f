//! The served cloud of a crowd, which is killed and started again on the same folder and port.

use serde_json::{Value, json};

use crate::cloud::Serving;
use crate::project::Project;

/// Share of the calls that fail.
const RATE: f64 = 0.08;
/// Milliseconds of an operation, and for which reads may be stale.
const SLOW: [&str; 4] = ["--operations", "40", "--consistency", "40"];

pub(super) struct CrowdCloud {
    serving: Serving,
    /// Number of calls that killed servers answered, or lost.
    answered: u64,
}

impl CrowdCloud {
    pub(super) fn start(project: &Project, seed: u64) -> CrowdCloud {
        CrowdCloud { serving: serve(project, "0", seed), answered: 0 }
    }

    /// Kills the server and starts it again. Connections of this moment end without an answer.
    pub(super) fn restart(&mut self, project: &Project, seed: u64) {
        self.answered = self.calls();
        self.serving.kill();
        let port = self.serving.address.rsplit(':').next().unwrap().to_owned();
        self.serving = serve(project, &port, seed);
    }

    /// Lets a share of the calls fail from now on, or none.
    pub(super) fn set_faults(&self, seed: Option<u64>) {
        let plan = seed.map_or(Value::Null, |seed| json!({ "seed": seed, "rate": RATE }));
        assert_eq!(self.serving.send("/_stead/faults", "", &plan.to_string()), Some((200, json!({}))));
    }

    /// Returns type and identifier of everything in the cloud.
    pub(super) fn resources(&self) -> Vec<(String, String)> {
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        let all = self.serving.ask("resources");
        all.as_array()
            .unwrap()
            .iter()
            .map(|one| (text(&one["type_name"]), text(&one["identifier"])))
            .collect()
    }

    pub(super) fn calls(&self) -> u64 {
        let calls = self.serving.ask("calls");
        self.answered + calls.as_object().unwrap().values().filter_map(Value::as_u64).sum::<u64>()
    }

    /// Returns the variables with which stead reaches the cloud.
    pub(super) fn account(&self) -> [(&'static str, String); 4] {
        [
            ("AWS_ACCESS_KEY_ID", "111122223333".to_owned()),
            ("AWS_SECRET_ACCESS_KEY", "any".to_owned()),
            ("AWS_REGION", "eu-west-1".to_owned()),
            ("AWS_ENDPOINT_URL", format!("http://{}", self.serving.address)),
        ]
    }
}

impl Drop for CrowdCloud {
    fn drop(&mut self) {
        self.serving.kill();
    }
}

fn serve(project: &Project, port: &str, seed: u64) -> Serving {
    let faults = format!("{seed},{RATE}");
    let flags = [&["--state", "cloud", "--faults", faults.as_str()][..], &SLOW].concat();
    Serving::start_on(project, port, &flags)
}
