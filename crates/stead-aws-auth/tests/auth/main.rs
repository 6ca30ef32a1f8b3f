//! The chain of credentials and signed calls, against servers on loopback ports through the real HTTP client.

#![allow(clippy::disallowed_methods, clippy::disallowed_types, reason = "tests use the real machine")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod calls;
mod chain;
mod services;

use std::path::Path;

use stead_aws_auth::{AwsAuth, Credentials, CredentialsError, Options};
use stead_world::Timestamp;
use stead_world::testing::{FastClock, world};

/// 2026-11-18T04:00:00Z.
const NOW: Timestamp = Timestamp(1_794_974_400_000);

/// A machine with its own environment, home folder and clock.
struct Machine {
    clock: FastClock,
    home: tempfile::TempDir,
    variables: Vec<(String, String)>,
}

impl Machine {
    fn new() -> Machine {
        let variables = vec![("AWS_EC2_METADATA_DISABLED".to_owned(), "true".to_owned())];
        Machine { clock: FastClock::at(NOW), home: tempfile::tempdir().unwrap(), variables }
    }

    fn variable(mut self, name: &str, value: impl Into<String>) -> Machine {
        self.variables.retain(|(known, _)| known != name);
        self.variables.push((name.to_owned(), value.into()));
        self
    }

    fn file(self, path: &str, text: &str) -> Machine {
        let path = self.home.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
        self
    }

    fn config(self, text: &str) -> Machine {
        self.file(".aws/config", text)
    }

    fn home(&self) -> &Path {
        self.home.path()
    }

    fn with(&self, options: Options) -> AwsAuth {
        let variables: Vec<(&str, &str)> =
            self.variables.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        AwsAuth::new(world(&self.clock, &variables, Some(self.home())), options)
    }

    fn auth(&self) -> AwsAuth {
        self.with(Options::default())
    }

    async fn found(&self) -> Credentials {
        match self.auth().credentials().await {
            Ok(found) => found,
            Err(error) => panic!("{error}"),
        }
    }

    async fn error(&self) -> CredentialsError {
        self.auth().credentials().await.err().unwrap()
    }
}

fn parts(found: &Credentials) -> (&str, &str, Option<&str>) {
    let token = found.session_token.as_ref().map(|token| token.expose());
    (&found.access_key_id, found.secret_access_key.expose(), token)
}
