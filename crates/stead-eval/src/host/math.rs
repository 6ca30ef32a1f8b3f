//! Replaces the functions of `Math` that the engine takes from the C library of the platform.

use rquickjs::function::Opt;
use rquickjs::{Coerced, Ctx, Function, Object};

use crate::math::{BINARY, UNARY};

/// Missing arguments are `undefined`, which is not a number.
fn number(argument: Opt<Coerced<f64>>) -> f64 {
    argument.0.map_or(f64::NAN, |Coerced(number)| number)
}

/// Installs the functions in a realm, before any code captures the engine's own.
pub(crate) fn install(ctx: &Ctx<'_>) -> rquickjs::Result<()> {
    let math: Object<'_> = ctx.globals().get("Math")?;
    for (name, function) in UNARY {
        let call = Function::new(ctx.clone(), move |x: Opt<Coerced<f64>>| function(number(x)))?;
        math.set(name, call.with_name(name)?.with_length(1)?)?;
    }
    for (name, function) in BINARY {
        let call = Function::new(ctx.clone(), move |x: Opt<Coerced<f64>>, y: Opt<Coerced<f64>>| {
            function(number(x), number(y))
        })?;
        math.set(name, call.with_name(name)?.with_length(2)?)?;
    }
    Ok(())
}
