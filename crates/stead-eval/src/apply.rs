//! Answers calls of the program's own functions once their arguments are known.
//!
//! The program has run through and its graph is delivered; nothing that a function does can change that.

use rquickjs::{Array, Ctx, Error, Value};
use stead_model::{EvalError, FunctionRef, Input, Value as Plain};

use crate::failure;
use crate::host::{Kept, Shared, result_problem};
use crate::walk::{Walker, to_js};

pub(crate) fn answer<'js>(
    ctx: &Ctx<'js>,
    session: &Shared,
    kept: &Kept,
    function: &FunctionRef,
    arguments: &[Plain],
    stops: &dyn Fn() -> failure::Stops,
) -> Result<Plain, EvalError> {
    let threw = |message: String| EvalError::Threw { message, place: Some(function.source.clone()) };
    if function.ordinal >= session.borrow().applied {
        return Err(threw("the program has no such function: it is not the one that was planned".to_owned()));
    }
    session.borrow_mut().diagnostics.clear();
    let result = call(ctx, kept, function.ordinal, arguments);
    match result {
        Ok(value) => match result_problem(ctx, session, kept, &value) {
            Ok(None) => plain(ctx, session, kept, &value).map_err(|error| threw(error.to_string())),
            Ok(Some((message, _))) => Err(threw(message)),
            Err(error) => Err(threw(error.to_string())),
        },
        Err(Error::Exception) => {
            let thrown = ctx.catch();
            Err(failure::thrown(ctx, session, kept, &thrown, &stops(), &function.source))
        }
        Err(error) => Err(threw(error.to_string())),
    }
}

fn call<'js>(ctx: &Ctx<'js>, kept: &Kept, ordinal: u32, arguments: &[Plain]) -> rquickjs::Result<Value<'js>> {
    let all = Array::new(ctx.clone())?;
    for (index, argument) in arguments.iter().enumerate() {
        all.set(index, to_js(ctx, argument)?)?;
    }
    kept.run_applied(ctx)?.call((ordinal, all))
}

fn plain<'js>(ctx: &Ctx<'js>, session: &Shared, kept: &Kept, value: &Value<'js>) -> rquickjs::Result<Plain> {
    let world = kept.world(ctx)?;
    let mut walker = Walker::new(&world, session.borrow().limits.property_bytes, None);
    let input = if value.is_undefined() { None } else { walker.input(value)? };
    Ok(input.and_then(Input::into_known).unwrap_or(Plain::Null))
}
