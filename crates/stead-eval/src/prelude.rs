//! The prelude: what runs before every program, as bytecode that `build.rs` made of `prelude/*.js`.

use rquickjs::module::Declared;
use rquickjs::{Ctx, Module};

include!(concat!(env!("OUT_DIR"), "/prelude.rs"));

/// The order in which built-ins are replaced: `sandbox` hides what the others need.
pub(crate) const START: &str = "import \"stead:runtime\"; import \"stead:text\"; import \"stead:builtins\"; \
    import \"stead:console\"; import \"stead:encoding\"; import \"stead:clone\"; import \"stead:limits\"; \
    import \"stead:url\"; import \"stead\"; import \"stead:guards\"; import \"stead:sandbox\";";

pub(crate) fn has(name: &str) -> bool {
    MODULES.iter().any(|(module, _)| *module == name)
}

/// A module of the prelude; `None` if it has no such one.
#[allow(unsafe_code, reason = "bytecode is trusted: this very engine wrote it when the crate was built")]
pub(crate) fn load<'js>(ctx: &Ctx<'js>, name: &str) -> Option<rquickjs::Result<Module<'js, Declared>>> {
    let (_, code) = MODULES.iter().find(|(module, _)| *module == name)?;
    // SAFETY: the bytes are those that `Module::write` of the same version of the engine gave.
    Some(unsafe { Module::load(ctx.clone(), code) })
}
