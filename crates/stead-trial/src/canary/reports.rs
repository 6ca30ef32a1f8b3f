//! Everything that a process reports, as every front end shows it: text, JSON stream, `{:?}` and the log at its finest level.

use std::fmt::Write as _;
use std::sync::{Arc, Mutex};

use stead_engine::ops::{Approval, OpError, OpEvent, Proposal, Report};
use stead_journal::JournalError;
use stead_model::{CopyRef, Diagnostic, Environment, TypeToken};
use stead_render::{
    Detail, Header, Style, View, diagnostic, json_line, outputs, plan, plan_json, progress_line,
};
use tracing::field::{Field, Visit};
use tracing::span;

use super::provider::held;

const STYLE: Style = Style { detail: Detail::Full, colour: false, width: 80, wrap: stead_render::Wrap::No };

/// Texts that were reported.
#[derive(Clone, Default)]
pub(super) struct Reports(Arc<Mutex<Vec<String>>>);

impl Reports {
    pub(super) fn add(&self, text: impl Into<String>) {
        held(&self.0).push(text.into());
    }

    /// Returns the texts since the last call.
    pub(super) fn take(&self) -> Vec<String> {
        std::mem::take(&mut held(&self.0))
    }

    pub(super) fn event(&self, event: &OpEvent) {
        self.add(format!("{event:?}"));
        if let OpEvent::Run(event) = event {
            self.add(json_line("event", event));
            self.add(progress_line(event, &Environment::new("dev"), &STYLE).unwrap_or_default());
        }
    }

    pub(super) fn proposal(&self, proposal: &Proposal) {
        let (base, schema) = (proposal.base(), super::provider::schema());
        let view = View {
            header: Header { project: "shop", environment: &Environment::new("dev"), target: "sim" },
            record: &|copy: &CopyRef| base.copy(copy),
            schema: &|_: &TypeToken| Some(&schema),
            unchanged: &[],
            style: STYLE,
        };
        self.add(plan(proposal.plan(), &view));
        self.add(json_line("plan", &plan_json(proposal.plan(), &view)));
        self.add(json_line("plan", &plan_json(&proposal.plan().blinded(), &view)));
        self.add(format!("{:?} {:?}", proposal.plan(), proposal.drift()));
    }

    /// Adds the part of a saved plan that the engine makes. Its file holds the sources as well, encrypted with the key of the stack.
    pub(super) fn approval(&self, approval: &Result<Approval, OpError>) {
        match approval {
            Ok(approval) => self.add(serde_json::to_string(approval).unwrap_or_default()),
            Err(error) => self.error(error),
        }
    }

    pub(super) fn report(&self, report: &Report) {
        report.problems.iter().for_each(|problem| self.problem(problem));
        self.add(outputs(&report.outputs));
        self.add(json_line("outputs", &report.outputs));
        self.add(format!("{:?} {:?}", report.outputs, report.marks_unavailable));
        if let Err(error) = &report.closed {
            self.journal_error(error);
        }
    }

    pub(super) fn error(&self, error: &OpError) {
        self.add(format!("{error} {error:?}"));
        error.problems().iter().for_each(|problem| self.problem(problem));
        if let OpError::Stack(error) = error {
            self.journal_error(error);
        }
    }

    /// Adds the error, and the answers that are stored nowhere, which a front end prints.
    fn journal_error(&self, error: &JournalError) {
        self.add(format!("{error} {error:?}"));
        if let JournalError::Unrecorded { answers, .. } = error {
            answers.iter().for_each(|answer| {
                self.add(String::from_utf8_lossy(&answer.answer.encode()));
            });
        }
    }

    fn problem(&self, problem: &Diagnostic) {
        self.add(diagnostic(problem, &|_| None, &STYLE));
        self.add(json_line("problem", problem));
    }
}

/// Takes log lines of every level with their fields.
impl tracing::Subscriber for Reports {
    fn enabled(&self, _: &tracing::Metadata<'_>) -> bool {
        true
    }

    fn new_span(&self, attributes: &span::Attributes<'_>) -> span::Id {
        let mut line = Line::default();
        attributes.record(&mut line);
        self.add(line.0);
        span::Id::from_u64(1)
    }

    fn record(&self, _: &span::Id, values: &span::Record<'_>) {
        let mut line = Line::default();
        values.record(&mut line);
        self.add(line.0);
    }

    fn record_follows_from(&self, _: &span::Id, _: &span::Id) {}

    fn event(&self, event: &tracing::Event<'_>) {
        let mut line = Line::default();
        event.record(&mut line);
        self.add(line.0);
    }

    fn enter(&self, _: &span::Id) {}

    fn exit(&self, _: &span::Id) {}
}

/// A line of the log.
#[derive(Default)]
struct Line(String);

impl Visit for Line {
    fn record_debug(&mut self, field: &Field, value: &dyn std::fmt::Debug) {
        // Writing to a string cannot fail.
        let _ = write!(self.0, "{field}={value:?} ");
    }
}
