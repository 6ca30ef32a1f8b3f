//! Host functions that read the project's files. Each returns an object with what it found, or with a `problem`.

use rquickjs::{Ctx, Object};
use stead_model::{Code, Diagnostic};

use super::{Host, Shared};
use crate::assets::{Answers, Asset, Unusable};
use crate::port::Port;
use crate::walk::define;

impl<'js> Host<'js> {
    pub(super) fn assets(&self) -> rquickjs::Result<()> {
        let session = self.session.clone();
        self.function("readText", move |ctx: Ctx<'js>, path: String, stack: String| {
            let answer = ask(&session, &stack, |answers, port, limit| answers.text(port, &path, limit));
            found(ctx, answer, |answer, text| define(answer, "text", text))
        })?;
        let session = self.session.clone();
        self.function("fileAsset", move |ctx: Ctx<'js>, path: String, stack: String| {
            let answer = ask(&session, &stack, |answers, port, limit| answers.file(port, &path, limit));
            found(ctx, answer, define_asset)
        })?;
        let session = self.session.clone();
        self.function("archiveAsset", move |ctx: Ctx<'js>, path: String, stack: String| {
            let answer = ask(&session, &stack, |answers, port, limit| answers.archive(port, &path, limit));
            found(ctx, answer, define_asset)
        })
    }
}

fn found<'js, T>(
    ctx: Ctx<'js>,
    answer: Result<T, String>,
    fill: impl FnOnce(&Object<'js>, T) -> rquickjs::Result<()>,
) -> rquickjs::Result<Object<'js>> {
    let object = Object::new(ctx)?;
    object.set_prototype(None)?;
    match answer {
        Ok(answer) => fill(&object, answer)?,
        Err(problem) => define(&object, "problem", problem)?,
    }
    Ok(object)
}

fn define_asset<'js>(object: &Object<'js>, asset: Asset) -> rquickjs::Result<()> {
    define(object, "path", asset.path)?;
    define(object, "hash", asset.hash)
}

/// Asks, and reports what cannot be answered at the place that the stack tells.
fn ask<T>(
    session: &Shared,
    stack: &str,
    read: impl FnOnce(&mut Answers, &Port, usize) -> Result<T, Unusable>,
) -> Result<T, String> {
    let mut session = session.borrow_mut();
    let (port, limit) = (session.port.clone(), session.limits.evaluation_heap);
    read(&mut session.answers, &port, limit).map_err(|why| {
        let code = if why.too_large { Code::EVALUATION_LIMIT } else { Code::PROGRAM_THREW };
        let problem = Diagnostic::error(code, why.message.clone());
        let place = session.stack_place(stack);
        let problem =
            place.into_iter().fold(problem, |problem, place| problem.at(place.at, place.length, "here"));
        session.report(problem.help(why.help));
        why.message
    })
}
