//! Host functions that read project files. Each returns an object with the result or with a `problem`.

use rquickjs::{Ctx, Exception, Object, TypedArray};
use stead_model::{Code, Diagnostic, SourceRef, Value};

use super::errors::record;
use super::{Host, SharedSession, answer};
use crate::engine::values::define;
use crate::library::{Tree, read_toml, yaml};
use crate::program::files::{Asset, FileCache, FileError};
use crate::program::list;
use crate::program::requests::Requester;
use crate::program::specifier::join;

impl<'js> Host<'js> {
    /// Returns a function that counts the work of earlier requests for files, and throws if the limit is exceeded: the caller's
    /// thread answers them, and its time is not measured.
    pub(super) fn spend_work(&self) -> impl Fn(&Ctx<'js>) -> rquickjs::Result<()> + 'js {
        let (session, work) = (self.session.clone(), self.work.clone());
        move |ctx| match work(session.borrow().requester.take_work()) {
            false => Ok(()),
            true => Err(Exception::throw_message(ctx, "interrupted")),
        }
    }

    pub(super) fn files(&self) -> rquickjs::Result<()> {
        let (session, spend) = (self.session.clone(), self.spend_work());
        self.function("readText", move |ctx: Ctx<'js>, path: String, stack: String| {
            spend(&ctx)?;
            let read = ask(&session, &stack, |file_cache, requester, limit| {
                file_cache.text(requester, &path, limit)
            });
            answer(&ctx, read, |object, text| define(object, "text", text))
        })?;
        let (session, spend) = (self.session.clone(), self.spend_work());
        self.function("readBytes", move |ctx: Ctx<'js>, path: String, stack: String| {
            spend(&ctx)?;
            let read = ask(&session, &stack, |file_cache, requester, limit| {
                file_cache.bytes(requester, &path, limit)
            });
            answer(&ctx, read, |object, bytes| {
                define(object, "bytes", TypedArray::<u8>::new(ctx.clone(), bytes)?)
            })
        })?;
        let (session, spend) = (self.session.clone(), self.spend_work());
        self.function("listFiles", move |ctx: Ctx<'js>, pattern: String, stack: String| {
            spend(&ctx)?;
            let found = ask(&session, &stack, |_, requester, _| list::files(requester, &pattern));
            answer(&ctx, found, |object, files| define(object, "files", files))
        })?;
        let (session, spend) = (self.session.clone(), self.spend_work());
        self.function("readData", move |ctx: Ctx<'js>, path: String, format: String, stack: String| {
            spend(&ctx)?;
            let read = ask(&session, &stack, |file_cache, requester, limit| {
                file_cache.text(requester, &path, limit)
            });
            let data = read.and_then(|text| parse(&session, &path, &text, &format, &stack));
            answer(&ctx, data, |object, tree| define(object, "value", tree.to_js(&ctx)?))
        })?;
        self.function("projectPath", |path: String| join("", &path).unwrap_or(path))?;
        let (session, spend) = (self.session.clone(), self.spend_work());
        self.function("fileAsset", move |ctx: Ctx<'js>, path: String, stack: String| {
            spend(&ctx)?;
            let read = ask(&session, &stack, |file_cache, requester, limit| {
                file_cache.file(requester, &path, limit)
            });
            answer(&ctx, read, define_asset)
        })?;
        let (session, spend) = (self.session.clone(), self.spend_work());
        self.function("archiveAsset", move |ctx: Ctx<'js>, path: String, stack: String| {
            spend(&ctx)?;
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

/// Parses a file, and reports an error at its place in the file.
fn parse(session: &SharedSession, path: &str, text: &str, format: &str, stack: &str) -> Result<Tree, String> {
    let parsed = match format {
        "yaml" => yaml::read(text),
        "toml" => read_toml(text),
        _ => serde_json::from_str::<Value>(text).map(Tree::Value).map_err(|error| {
            let full = error.to_string();
            let message = full.split(" at line ").next().unwrap_or(&full).to_owned();
            yaml::YamlError {
                message,
                line: error.line().max(1) as u32,
                column: error.column().max(1) as u32,
            }
        }),
    };
    parsed.map_err(|error| {
        record(session, |session| {
            let file = join("", path).unwrap_or_else(|| path.to_owned());
            let message = format!("`{file}` cannot be read as {}: {}", format.to_uppercase(), error.message);
            let place = SourceRef { file, line: error.line, column: error.column };
            let problem = Diagnostic::error(Code::PROGRAM_THREW, message).at(place, 0, "here");
            match session.locate_stack(stack) {
                Some(place) => problem.at(place.at, place.length, "read here"),
                None => problem,
            }
        })
    })
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
