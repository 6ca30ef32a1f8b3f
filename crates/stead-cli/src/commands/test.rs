//! `stead test`: runs the tests of the project and shows their results. Touches no state, lock or provider.

mod json;
mod junit;
mod pretty;
mod tap;

use std::time::Duration;

use stead::testing::{Outcome, SnapshotMode, TestReport, TestRequest, fingerprint};

use crate::args::{Reporter, TestArguments};
use crate::failure::{Failure, Kind};
use crate::session::Session;
use crate::ui::Ui;
use crate::wiring;

/// Time between two looks at the files.
const WATCH_INTERVAL: Duration = Duration::from_millis(300);

pub(crate) async fn test(session: &Session, arguments: &TestArguments, ui: &Ui) -> Result<u8, Failure> {
    let snapshots = match (arguments.update_snapshots, arguments.ci || wiring::is_ci()) {
        (true, _) => SnapshotMode::Update,
        (false, true) => SnapshotMode::Verify,
        (false, false) => SnapshotMode::Record,
    };
    let request = TestRequest {
        files: arguments.files.clone(),
        name: arguments.name.clone(),
        snapshots,
        parallel: wiring::processors(),
    };
    if arguments.watch {
        return watch(session, &request, arguments.reporter, ui).await;
    }
    run(session, &request, arguments.reporter, ui).await
}

/// Runs the tests once. The exit code is 1 if a test failed or a file did not load.
async fn run(session: &Session, request: &TestRequest, reporter: Reporter, ui: &Ui) -> Result<u8, Failure> {
    let catalog = session.workspace.engine.catalog.clone();
    let clock = &session.project.world().clock;
    let start = clock.monotonic();
    let report = stead::testing::test(&session.project, catalog, request).await.map_err(|problem| {
        let usage = problem.code == stead_model::Code::USAGE;
        Failure::new(if usage { Kind::Usage } else { Kind::Failed }, problem)
    })?;
    let took = clock.monotonic().saturating_sub(start);
    match reporter {
        _ if ui.is_json() => json::show(&report, ui),
        Reporter::Json => json::show(&report, ui),
        Reporter::Pretty => pretty::show(&report, took, ui),
        Reporter::Tap => ui.raw(&tap::text(&report, ui)),
        Reporter::Junit => ui.raw(&junit::text(&session.project.name, &report, ui)),
    }
    let counts = report.counts();
    Ok(u8::from(counts.failed + counts.unloaded > 0))
}

/// Runs the tests again after each change of a file, until an interrupt.
async fn watch(session: &Session, request: &TestRequest, reporter: Reporter, ui: &Ui) -> Result<u8, Failure> {
    let mut interrupts = wiring::interrupts();
    let clock = session.project.world().clock.clone();
    let mut seen = None;
    loop {
        let now = fingerprint(&session.project);
        if seen.as_ref() != Some(&now) {
            ui.clear_screen();
            let done = tokio::select! {
                biased;
                _ = interrupts.changed() => return Ok(Kind::Interrupted as u8),
                done = run(session, request, reporter, ui) => done,
            };
            if let Err(failure) = done {
                ui.report_failure(&failure);
            }
            ui.note("Watching the files of the project; Ctrl-C ends.");
            seen = Some(now);
        }
        tokio::select! {
            biased;
            _ = interrupts.changed() => return Ok(Kind::Interrupted as u8),
            () = clock.sleep(WATCH_INTERVAL) => {}
        }
    }
}

/// Returns the word for an outcome.
fn word(outcome: &Outcome) -> &'static str {
    match outcome {
        Outcome::Passed => "passed",
        Outcome::Failed(_) => "failed",
        Outcome::Skipped => "skipped",
        Outcome::Todo => "todo",
    }
}

/// Returns a sentence on the snapshots that a run wrote, and on those that no test uses.
fn snapshot_lines(report: &TestReport) -> Vec<String> {
    let all = || report.files.iter().map(|file| &file.snapshots);
    let counts = [
        (all().map(|one| one.written).sum::<usize>(), "recorded"),
        (all().map(|one| one.updated).sum(), "updated"),
        (all().map(|one| one.removed).sum(), "removed"),
    ];
    let counts: Vec<String> = counts
        .iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, verb)| format!("{count} {verb}"))
        .collect();
    let mut lines = Vec::new();
    if !counts.is_empty() {
        lines.push(format!("Snapshots: {}.", counts.join(", ")));
    }
    for file in report.files.iter().filter(|file| !file.snapshots.obsolete.is_empty()) {
        let obsolete = file.snapshots.obsolete.join("`, `");
        lines.push(format!("Obsolete snapshots of {}: `{obsolete}`. Option -u removes them.", file.path));
    }
    lines
}
