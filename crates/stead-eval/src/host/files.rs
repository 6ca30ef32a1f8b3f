//! Host functions that read project files. Each returns an object with the result or with a `problem`.

use rquickjs::{Ctx, Object};
use stead_model::{Code, Diagnostic};

use super::{Host, SharedSession, answer};
use crate::engine::values::define;
use crate::program::files::{Asset, FileCache, FileError};
use crate::program::requests::Requester;

impl<'js> Host<'js> {
    pub(super) fn files(&self) -> rquickjs::Result<()> {
        let session = self.session.clone();
        self.function("readText", move |ctx: Ctx<'js>, path: String, stack: String| {
            let read = ask(&session, &stack, |file_cache, requester, limit| {
                file_cache.text(requester, &path, limit)
            });
            answer(&ctx, read, |object, text| define(object, "text", text))
        })?;
        let session = self.session.clone();
        self.function("fileAsset", move |ctx: Ctx<'js>, path: String, stack: String| {
            let read = ask(&session, &stack, |file_cache, requester, limit| {
                file_cache.file(requester, &path, limit)
            });
            answer(&ctx, read, define_asset)
        })?;
        let session = self.session.clone();
        self.function("archiveAsset", move |ctx: Ctx<'js>, path: String, stack: String| {
            let read = ask(&session, &stack, |file_cache, requester, limit| {
                file_cache.archive(requester, &path, limit)
            });
            answer(&ctx, read, define_asset)
        })
    }
}

fn define_asset<'js>(object: &Object<'js>, asset: Asset) -> rquickjs::Result<()> {
    define(object, "path", asset.path)?;
    define(object, "hash", asset.hash)
}

/// Reads a file through the cache, and reports an error at the innermost call of the stack trace.
fn ask<T>(
    session: &SharedSession,
    stack: &str,
    read: impl FnOnce(&mut FileCache, &Requester, usize) -> Result<T, FileError>,
) -> Result<T, String> {
    let mut session = session.borrow_mut();
    let (requester, limit) = (session.requester.clone(), session.limits.evaluation_heap);
    read(&mut session.file_cache, &requester, limit).map_err(|why| {
        let code = if why.too_large { Code::EVALUATION_LIMIT } else { Code::PROGRAM_THREW };
        let problem = Diagnostic::error(code, why.message.clone());
        let problem = session.label_stack(problem, stack).help(why.help);
        session.report(problem);
        why.message
    })
}
