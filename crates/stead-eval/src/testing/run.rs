//! Runs the tests of a loaded file one by one, each with the whole budget of an evaluation.

use rquickjs::promise::PromiseState;
use rquickjs::{Context, Ctx, Persistent, Promise, Runtime, Value};
use stead_model::{Code, Diagnostic};

use super::host::{RegisteredTest, TestMode};
use super::{TestFailure, TestFileResult, TestOutcome, TestResult};
use crate::engine::Engine;

impl Engine {
    /// Runs the tests that the file registered, after its top level has run.
    pub(crate) fn tests(&self, runtime: &Runtime, context: &Context) -> TestFileResult {
        let registered = self.registered();
        let chosen: Vec<bool> = registered.iter().map(|test| self.is_chosen(context, test)).collect();
        let problems = std::mem::take(&mut self.session.borrow_mut().diagnostics);
        let console = std::mem::take(&mut self.session.borrow_mut().console);
        let mut result = TestFileResult {
            problems,
            console,
            deselected: chosen.iter().filter(|chosen| !**chosen).count(),
            tests: Vec::new(),
        };
        if !result.problems.is_empty() {
            return result;
        }
        let only = registered.iter().any(|test| test.mode == TestMode::Only);
        let runs = |at: usize| {
            let mode = registered[at].mode;
            chosen[at] && (mode == TestMode::Only || (mode == TestMode::Run && !only))
        };
        for (at, test) in registered.iter().enumerate().filter(|(at, _)| chosen[*at]) {
            let outcome = match test.mode {
                _ if runs(at) => {
                    let next: Vec<usize> = (at + 1..registered.len()).filter(|at| runs(*at)).collect();
                    self.test(runtime, context, at, next)
                }
                TestMode::Todo => TestOutcome::Todo,
                _ => TestOutcome::Skipped,
            };
            let console = std::mem::take(&mut self.session.borrow_mut().console);
            result.tests.push(TestResult {
                path: test.path.clone(),
                place: test.place.clone(),
                outcome,
                console,
            });
        }
        result
    }

    fn registered(&self) -> Vec<RegisteredTest> {
        let session = self.session.borrow();
        session.tests.as_ref().map(|tests| tests.registered.clone()).unwrap_or_default()
    }

    /// Returns true if the pattern of the request matches the full name of a test.
    fn is_chosen(&self, context: &Context, test: &RegisteredTest) -> bool {
        let Some(select) = self.handles.select_test.borrow().clone() else { return true };
        let name = test.path.join(" ");
        context.with(|ctx| {
            select.restore(&ctx).and_then(|select| select.call::<_, bool>((name,))).unwrap_or(true)
        })
    }

    fn test(&self, runtime: &Runtime, context: &Context, at: usize, next: Vec<usize>) -> TestOutcome {
        self.renew_limits();
        self.name_running(at);
        let promise = context.with(|ctx| {
            let runner = self.handles.run_test.borrow().clone()?;
            let started = runner.restore(&ctx).and_then(|run| run.call::<_, Promise<'_>>((at, next)));
            self.caught(&ctx, started).map(|promise| Persistent::save(&ctx, promise))
        });
        self.run_jobs(runtime, context);
        let thrown = context.with(|ctx| promise.and_then(|promise| self.thrown_by(&ctx, promise)));
        let mut failures: Vec<TestFailure> = thrown.into_iter().collect();
        let mut problems = std::mem::take(&mut self.session.borrow_mut().diagnostics);
        for problem in &mut problems {
            problem.message = problem.message.replacen("the program threw", "the test threw", 1);
            problem.message =
                problem.message.replacen("the program runs too long", "the test runs too long", 1);
        }
        if !problems.is_empty() {
            failures.push(TestFailure { problems, difference: None });
        }
        if failures.is_empty() { TestOutcome::Passed } else { TestOutcome::Failed(failures) }
    }

    fn name_running(&self, at: usize) {
        if let Some(tests) = &mut self.session.borrow_mut().tests {
            tests.running = tests.registered[at].path.join(" > ");
            tests.failures.clear();
        }
    }

    /// Returns the recorded failure of an exception. Other exceptions are reported as problems.
    fn thrown_by<'js>(&self, ctx: &Ctx<'js>, promise: Persistent<Promise<'static>>) -> Option<TestFailure> {
        let promise = self.caught(ctx, promise.restore(ctx))?;
        self.report_rejections(ctx);
        match promise.state() {
            PromiseState::Resolved => {
                let value = self.caught(ctx, promise.finish::<Value<'js>>())?;
                let error = value.as_object()?.get::<_, Value<'js>>("error").ok()?;
                self.recorded(ctx, &error)
            }
            // The promise of the runner is rejected only where the engine ends a test.
            _ if self.exceeded().is_some() || !self.session.borrow().diagnostics.is_empty() => {
                if self.session.borrow().diagnostics.is_empty() {
                    self.failed(ctx, &Value::new_undefined(ctx.clone()));
                }
                None
            }
            _ => {
                self.never_settles();
                None
            }
        }
    }

    fn recorded<'js>(&self, ctx: &Ctx<'js>, error: &Value<'js>) -> Option<TestFailure> {
        let number = self.handles.failure_of(ctx, error);
        let session = self.session.borrow();
        let failure = number.zip(session.tests.as_ref());
        let failure = failure.and_then(|(number, tests)| tests.failures.get(number).cloned());
        drop(session);
        if failure.is_none() {
            self.failed(ctx, error);
        }
        failure
    }

    fn never_settles(&self) {
        let mut session = self.session.borrow_mut();
        let running = session.tests.as_ref().map(|tests| tests.running.clone()).unwrap_or_default();
        let place = session.tests.as_ref().and_then(|tests| {
            tests.registered.iter().find(|test| test.path.join(" > ") == running)?.place.clone()
        });
        let problem =
            Diagnostic::error(Code::PROGRAM_THREW, "the test waits for a promise that never settles")
                .help("the test itself must resolve every promise: there are no timers and no I/O");
        session.report(match place {
            Some(place) => problem.at(place, 0, "this test"),
            None => problem,
        });
    }
}
