//! moto, the services of AWS in Python, on a free port. pip installs it into the cache.

use std::process::Command;

use crate::outside::{Server, python, script};

/// Package of Python, with what the services of the graph need.
const PYTHON: &str = "moto[server,sns,ssm]==5.2.5";

/// A server that ends with this value.
pub(super) struct Moto {
    _server: Server,
    pub(super) url: String,
}

impl Moto {
    pub(super) fn start() -> Result<Moto, String> {
        let script = script("moto", "serve.py", include_str!("moto/serve.py"))?;
        let (server, url) = Server::start(Command::new(python("moto", PYTHON)?).arg(script))?;
        Ok(Moto { _server: server, url })
    }
}
