//! Calls deferred functions of the program once their arguments are known.
//!
//! The graph is delivered already; a deferred function cannot change it.

use rquickjs::{Array, Ctx, Error, Value};
use stead_model::{Computed, EvalError, FunctionRef, Input};

use crate::declare::input_reader::InputReader;
use crate::engine::exceptions;
use crate::host::{Giver, Handles, SharedSession, result_error};
use crate::unknown::computed::to_js;

/// Calls one deferred function and returns its result: plain data or `undefined`.
pub(crate) fn answer<'js>(
    ctx: &Ctx<'js>,
    session: &SharedSession,
    handles: &Handles,
    function: &FunctionRef,
    arguments: &[Computed],
    limit_state: &dyn Fn() -> exceptions::LimitState,
) -> Result<Computed, EvalError> {
    let threw = |message: String| EvalError::Threw { message, place: Some(function.source.clone()) };
    if function.ordinal >= session.borrow().deferred_functions {
        return Err(threw(
            "the program has no such function; it differs from the planned program".to_owned(),
        ));
    }
    session.borrow_mut().diagnostics.clear();
    let giver = match session.borrow().ephemeral_functions.contains(&function.ordinal) {
        true => Giver::Ephemeral,
        false => Giver::Apply,
    };
    let result = call(ctx, handles, function.ordinal, arguments);
    match result {
        Ok(value) => match result_error(ctx, session, handles, &value, giver) {
            Ok(None) => match plain(ctx, session, handles, &value) {
                Ok(Some(value)) => Ok(value),
                Ok(None) => Err(threw(format!("{} must return data", giver.function()))),
                Err(error) => Err(threw(error.to_string())),
            },
            Ok(Some((message, _))) => Err(threw(message)),
            Err(error) => Err(threw(error.to_string())),
        },
        Err(Error::Exception) => {
            let thrown = ctx.catch();
            Err(exceptions::thrown(ctx, session, handles, &thrown, &limit_state(), &function.source))
        }
        Err(error) => Err(threw(error.to_string())),
    }
}

fn call<'js>(
    ctx: &Ctx<'js>,
    handles: &Handles,
    ordinal: u32,
    arguments: &[Computed],
) -> rquickjs::Result<Value<'js>> {
    let all = Array::new(ctx.clone())?;
    for (index, argument) in arguments.iter().enumerate() {
        all.set(index, to_js(ctx, argument)?)?;
    }
    handles.run_deferred(ctx)?.call((ordinal, all))
}

fn plain<'js>(
    ctx: &Ctx<'js>,
    session: &SharedSession,
    handles: &Handles,
    value: &Value<'js>,
) -> rquickjs::Result<Option<Computed>> {
    if value.is_undefined() {
        return Ok(Some(Computed::Undefined(None)));
    }
    let intrinsics = handles.intrinsics(ctx)?;
    let mut reader = InputReader::new(&intrinsics, session.borrow().limits.property_bytes, None);
    Ok(reader.input(value)?.and_then(Input::into_known).map(Computed::Data))
}
