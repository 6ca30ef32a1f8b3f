//! Wraps and unwraps data keys with cloud managers, for conformance runs against real servers.
//!
//! Each line of stdin is `{"manager": …, "owner": …, "key": …}` with either `"wrap"` (32 letters) or `"unwrap"` (a wrapped key).
//! Each line of stdout is the result: `{"ok": …}` or `{"class": …, "message": …}`.

#![allow(clippy::print_stdout, reason = "an example prints its results")]

use std::io::BufRead as _;

use serde_json::{Value, json};
use stead_model::KeyId;
use stead_secrets::{DataKey, ManagerError, WrapContext, cloud_manager};
use stead_world::World;

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let world = World::real();
    for line in std::io::stdin().lock().lines().map_while(Result::ok) {
        let request: Value = serde_json::from_str(&line).unwrap_or_default();
        let answer = match answer(&world, &request).await {
            Ok(text) => json!({ "ok": text }),
            Err(error) => json!({ "class": format!("{:?}", error.class), "message": error.message }),
        };
        println!("{answer}");
    }
}

async fn answer(world: &World, request: &Value) -> Result<String, ManagerError> {
    let text = |name: &str| request[name].as_str().unwrap_or_default().to_owned();
    let malformed =
        || ManagerError::new(stead_secrets::ManagerErrorClass::NotConfigured, "malformed request");
    let manager = cloud_manager(world, &text("manager")).ok_or_else(malformed)??;
    let context = WrapContext { owner: text("owner"), key: KeyId(text("key")) };
    if let Some(plain) = request["wrap"].as_str() {
        let key = <[u8; 32]>::try_from(plain.as_bytes()).map_err(|_| malformed())?;
        return manager.wrap(&DataKey::new(key), &context).await;
    }
    let key = manager.unwrap(&text("unwrap"), &context).await?;
    Ok(String::from_utf8_lossy(key.expose()).into_owned())
}
