//! A served cloud: `stead cloud serve` on loopback, and its answers to questions about itself.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};

use crate::bench::stead::Stead;

/// Calls by name.
pub(super) type Calls = BTreeMap<String, u64>;

/// A served cloud that ends with this value.
pub(super) struct Served {
    child: Child,
    address: String,
}

impl Served {
    pub(super) fn start(stead: &Stead, flags: &[&str]) -> Result<Served, String> {
        let mut command = Command::new(&stead.binary);
        command.args(["cloud", "serve", "--port", "0"]).args(flags).stdout(Stdio::piped());
        let mut child = command.spawn().map_err(|error| format!("{command:?}: {error}"))?;
        let stdout = child.stdout.take();
        let mut served = Served { child, address: String::new() };
        let mut line = String::new();
        let stdout = stdout.ok_or("the cloud has no stdout")?;
        BufReader::new(stdout).read_line(&mut line).map_err(|error| error.to_string())?;
        let address = line.trim().strip_prefix("listening on http://");
        served.address = address.ok_or(format!("{command:?} printed {line:?}"))?.to_owned();
        Ok(served)
    }

    /// Sets the variables with which a command reaches the cloud.
    pub(super) fn reached_by(&self, command: &mut Command) {
        command
            .env("AWS_ENDPOINT_URL", format!("http://{}", self.address))
            .env("AWS_ACCESS_KEY_ID", "111122223333")
            .env("AWS_SECRET_ACCESS_KEY", "any")
            .env("AWS_REGION", "eu-west-1");
    }

    /// Returns the number of calls so far.
    pub(super) fn calls(&self) -> Result<Calls, String> {
        self.ask("calls")
    }

    /// Returns the number of calls so far that were refused because of their rate.
    pub(super) fn throttled(&self) -> Result<Calls, String> {
        self.ask("throttled")
    }

    pub(super) fn resources(&self) -> Result<usize, String> {
        self.ask::<Vec<serde_json::Value>>("resources").map(|all| all.len())
    }

    fn ask<T: serde::de::DeserializeOwned>(&self, about: &str) -> Result<T, String> {
        let failed = |error: std::io::Error| format!("the cloud does not answer: {error}");
        let mut stream = TcpStream::connect(&self.address).map_err(failed)?;
        let head = format!("GET /_stead/{about} HTTP/1.1\r\nhost: cloud\r\nconnection: close\r\n\r\n");
        stream.write_all(head.as_bytes()).map_err(failed)?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer).map_err(failed)?;
        let body = answer.split("\r\n\r\n").nth(1).unwrap_or_default();
        serde_json::from_str(body).map_err(|error| format!("the cloud answers {answer:?}: {error}"))
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        // The server may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
