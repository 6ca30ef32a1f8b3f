//! The prelude: JavaScript modules that run before every program, as bytecode that `build.rs` compiles from `src/prelude`.

use rquickjs::module::Declared;
use rquickjs::{Ctx, Error, Module, Object};

include!(concat!(env!("OUT_DIR"), "/prelude.rs"));

/// Imports the prelude in order: `sandbox` comes last, because it removes globals that the others use.
pub(crate) const START: &str = "import \"stead:runtime\"; import \"stead:text\"; import \"stead:builtins\"; \
    import \"stead:console\"; import \"stead:encoding\"; import \"stead:clone\"; import \"stead:number\"; import \"stead:locale\"; \
    import \"stead:limits\"; import \"stead\"; import \"stead:guards\"; import \"stead:code\"; \
    import \"stead:sandbox\";";

pub(crate) fn has(name: &str) -> bool {
    MODULES.iter().any(|(module, _)| *module == name)
}

/// Loads a module of the prelude; `None` if the prelude has no module of that name.
#[allow(unsafe_code, reason = "bytecode is trusted: the same engine compiled it in build.rs")]
pub(crate) fn load<'js>(ctx: &Ctx<'js>, name: &str) -> Option<rquickjs::Result<Module<'js, Declared>>> {
    let (_, code) = MODULES.iter().find(|(module, _)| *module == name)?;
    // SAFETY: `Module::write` of the same engine version produced the bytes.
    Some(unsafe { Module::load(ctx.clone(), code) })
}

/// Runs a module that is needed only now, and returns its exports. The module must not wait for a promise.
pub(crate) fn load_now<'js>(ctx: &Ctx<'js>, name: &str) -> rquickjs::Result<Object<'js>> {
    let module = load(ctx, name).ok_or_else(|| Error::new_loading(name))??;
    let (module, done) = module.eval()?;
    if let Some(failed) = done.result::<rquickjs::Value<'js>>() {
        failed?;
    }
    module.namespace()
}
