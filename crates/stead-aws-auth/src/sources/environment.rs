//! `AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY` and `AWS_SESSION_TOKEN`.

use stead_world::World;

use crate::Credentials;
use crate::error::{Looked, Missing};

pub(super) fn look_up(world: &World) -> Looked<Credentials> {
    let variable = |name: &str| world.host.variables.get(name).filter(|value| !value.is_empty());
    match (variable("AWS_ACCESS_KEY_ID"), variable("AWS_SECRET_ACCESS_KEY")) {
        (Some(id), Some(secret)) => {
            Ok(Credentials::new(id, secret).with_token(variable("AWS_SESSION_TOKEN")))
        }
        (None, None) => Err(Missing::absent("AWS_ACCESS_KEY_ID is not set")),
        (Some(_), None) => {
            Err(Missing::misconfigured("AWS_ACCESS_KEY_ID is set, but AWS_SECRET_ACCESS_KEY is not"))
        }
        (None, Some(_)) => {
            Err(Missing::misconfigured("AWS_SECRET_ACCESS_KEY is set, but AWS_ACCESS_KEY_ID is not"))
        }
    }
}
