//! Host functions of the module `stead/test`, and the tests that a file has registered.

use rquickjs::{Ctx, Function, Object, Persistent, Value};
use stead_model::{Code, Computed, Diagnostic, Map, SIGNATURE_KEY, SourceRef, Value as Plain};

use super::{Compared, Difference, Refused, TestFailure};
use crate::engine::values::{define, to_js};
use crate::host::{Host, SharedSession};
use crate::unknown::computed;

/// Treatment of a registered test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TestMode {
    Run,
    Only,
    Skip,
    Todo,
}

#[derive(Clone, Debug)]
pub(crate) struct RegisteredTest {
    pub(crate) path: Vec<String>,
    pub(crate) mode: TestMode,
    pub(crate) place: Option<SourceRef>,
}

/// Tests of a file, and the failures of its assertions so far.
#[derive(Debug, Default)]
pub(crate) struct TestSession {
    pub(crate) pattern: Option<String>,
    pub(crate) registered: Vec<RegisteredTest>,
    /// Failures by number. The exception of a failed assertion carries the number.
    pub(crate) failures: Vec<TestFailure>,
    /// Name of the running test.
    pub(crate) running: String,
}

impl<'js> Host<'js> {
    pub(crate) fn tests(&self, ctx: &Ctx<'js>) -> rquickjs::Result<()> {
        self.object.set("signature", SIGNATURE_KEY)?;
        let pattern = self.session.borrow().tests.as_ref().and_then(|tests| tests.pattern.clone());
        match pattern {
            Some(pattern) => self.object.set("testPattern", pattern)?,
            None => self.object.set("testPattern", Value::new_undefined(ctx.clone()))?,
        }
        let session = self.session.clone();
        self.function("testRegister", move |path: Vec<String>, mode: String, stack: String| {
            register(&session, path, &mode, &stack)
        })?;
        let handles = self.handles.clone();
        self.function("testRunner", move |ctx: Ctx<'js>, function: Function<'js>| {
            handles.run_test.replace(Some(Persistent::save(&ctx, function)));
        })?;
        let handles = self.handles.clone();
        self.function("testSelect", move |ctx: Ctx<'js>, function: Function<'js>| {
            handles.select_test.replace(Some(Persistent::save(&ctx, function)));
        })?;
        let session = self.session.clone();
        self.function(
            "testFailure",
            move |message: String, expected: Option<String>, received: Option<String>, stack: String| {
                assertion(&session, message, expected.zip(received), &stack)
            },
        )?;
        let session = self.session.clone();
        self.function(
            "testAsk",
            move |ctx: Ctx<'js>, request: String, argument: Value<'js>, stack: String| {
                ask(&ctx, &session, &request, &argument, &stack)
            },
        )?;
        let session = self.session.clone();
        self.function("testSnapshot", move |ctx: Ctx<'js>, hint: String, value: Value<'js>, stack: String| {
            snapshot(&ctx, &session, &hint, &value, &stack)
        })
    }
}

fn register(session: &SharedSession, path: Vec<String>, mode: &str, stack: &str) -> usize {
    let mut session = session.borrow_mut();
    let place = session.locate_stack(stack).map(|place| place.at);
    let mode = match mode {
        "only" => TestMode::Only,
        "skip" => TestMode::Skip,
        "todo" => TestMode::Todo,
        _ => TestMode::Run,
    };
    let Some(tests) = &mut session.tests else { return 0 };
    tests.registered.push(RegisteredTest { path, mode, place });
    tests.registered.len() - 1
}

/// Records the failure of an assertion, and returns its number.
fn assertion(
    session: &SharedSession,
    message: String,
    sides: Option<(String, String)>,
    stack: &str,
) -> usize {
    let difference = sides.map(|(expected, received)| Difference { expected, received });
    let problem = Diagnostic::error(Code::EXPECTATION, message);
    let mut session = session.borrow_mut();
    let problem = session.label_stack(problem, stack);
    record(&mut session.tests, TestFailure { problems: vec![problem], difference })
}

fn record(tests: &mut Option<TestSession>, failure: TestFailure) -> usize {
    let Some(tests) = tests else { return 0 };
    tests.failures.push(failure);
    tests.failures.len() - 1
}

/// Sends a request of a test to the library.
///
/// The result is an object with the `value`, with a `misuse`, or with the number of the `failure` and its problems.
fn ask<'js>(
    ctx: &Ctx<'js>,
    session: &SharedSession,
    request: &str,
    argument: &Value<'js>,
    stack: &str,
) -> rquickjs::Result<Object<'js>> {
    let out = Object::new(ctx.clone())?;
    out.set_prototype(None)?;
    let argument = match from_js(argument) {
        Ok(argument) => argument,
        Err(why) => {
            let message = format!("an option is not data: {}", why.replacen("the result", "it", 1));
            let problem = Diagnostic::error(Code::TEST_REQUEST, message)
                .help("options are strings, numbers, booleans, lists and plain objects");
            define(&out, "misuse", misuse(session, problem, stack))?;
            return Ok(out);
        }
    };
    let requester = session.borrow().requester.clone();
    match requester.test(request, argument) {
        Ok(value) => define(&out, "value", to_js(ctx, &value)?)?,
        Err(Refused::Misuse(problem)) => define(&out, "misuse", misuse(session, *problem, stack))?,
        Err(Refused::Expectable(problems)) => {
            let refused = to_js(ctx, &refusal(session, problems, stack))?;
            if let Some(refused) = refused.as_object() {
                for property in refused.props::<String, Value<'js>>() {
                    let (key, value) = property?;
                    define(&out, key.as_str(), value)?;
                }
            }
        }
    }
    Ok(out)
}

fn misuse(session: &SharedSession, problem: Diagnostic, stack: &str) -> String {
    let mut session = session.borrow_mut();
    let message = problem.message.clone();
    let problem = session.label_stack(problem, stack);
    session.report(problem);
    message
}

/// Records a refusal, and describes it for the test.
fn refusal(session: &SharedSession, problems: Vec<Diagnostic>, stack: &str) -> Plain {
    let described = describe(&problems);
    let message = problems.first().map(|problem| problem.message.clone()).unwrap_or_default();
    let mut session = session.borrow_mut();
    let mut problems = problems;
    if let Some((place, first)) = session.locate_stack(stack).zip(problems.first_mut()) {
        *first = first.clone().at(place.at, place.length, "asked for by the test here");
    }
    let failure = TestFailure { problems, difference: None };
    let number = record(&mut session.tests, failure);
    let members =
        [("failure", Plain::from(number as i64)), ("message", Plain::from(message)), ("problems", described)];
    Plain::Map(members.into_iter().collect())
}

/// Returns problems as data: code, message and place of each.
pub(crate) fn describe(problems: &[Diagnostic]) -> Plain {
    let one = |problem: &Diagnostic| {
        let mut map = Map::new();
        map.insert("code", Plain::from(problem.code.as_str()));
        map.insert("message", Plain::from(problem.message.as_str()));
        if let Some(label) = problem.labels.first() {
            map.insert("file", Plain::from(label.place.file.as_str()));
            map.insert("line", Plain::from(i64::from(label.place.line)));
            map.insert("column", Plain::from(i64::from(label.place.column)));
        }
        Plain::Map(map)
    };
    problems.iter().map(one).collect()
}

fn snapshot<'js>(
    ctx: &Ctx<'js>,
    session: &SharedSession,
    hint: &str,
    value: &Value<'js>,
    stack: &str,
) -> rquickjs::Result<Object<'js>> {
    let out = Object::new(ctx.clone())?;
    let (requester, test) = {
        let session = session.borrow();
        let running = session.tests.as_ref().map(|tests| tests.running.clone());
        (session.requester.clone(), running.unwrap_or_default())
    };
    let compared = match from_js(value) {
        Ok(_) if test.is_empty() => {
            let message = "a snapshot belongs to a test: call `toMatchSnapshot` inside one".to_owned();
            Compared::Differs { message, difference: None }
        }
        Ok(value) => requester.snapshot(&test, hint, value),
        Err(why) => {
            let message = misuse(session, Diagnostic::error(Code::TEST_REQUEST, why), stack);
            Compared::Differs { message, difference: None }
        }
    };
    define(&out, "same", compared == Compared::Same)?;
    if let Compared::Differs { message, difference } = compared {
        define(&out, "message", message)?;
        if let Some(Difference { expected, received }) = difference {
            define(&out, "expected", expected)?;
            define(&out, "received", received)?;
        }
    }
    Ok(out)
}

/// Converts an option or a value of a snapshot; `undefined` becomes null, and a member that is `undefined` is left out.
fn from_js(value: &Value<'_>) -> Result<Plain, String> {
    computed::from_js(value).and_then(plain)
}

fn plain(value: Computed) -> Result<Plain, String> {
    match value {
        Computed::Data(value) => Ok(value),
        Computed::Undefined(_) => Ok(Plain::Null),
        Computed::Number(0.0) => Ok(Plain::from(0)),
        Computed::Number(number) => Err(format!("the result is {number}, which cannot be stored")),
        Computed::List(items) => items.into_iter().map(plain).collect(),
        Computed::Map(members) => {
            let members = members.into_iter().filter(|(_, member)| !member.is_undefined());
            let members = members.map(|(key, member)| Ok((key, plain(member)?)));
            members.collect::<Result<Map, String>>().map(Plain::Map)
        }
    }
}
