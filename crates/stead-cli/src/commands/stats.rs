//! `stead stats`: shows the figures of resources, as their providers measure them.

use std::time::Duration;

use serde::Serialize;
use stead::ops::{Moment, NamedStats, Series, Span, Statistic};
use stead_model::{Name, TypeToken};
use stead_render::Figure;

use super::logs::time;
use crate::args::StatsArguments;
use crate::failure::{Failure, Kind};
use crate::session::Session;
use crate::ui::Ui;

#[derive(Serialize)]
struct StatsLine<'a> {
    name: &'a Name,
    #[serde(rename = "type")]
    ty: &'a TypeToken,
    metric: &'a str,
    statistic: &'static str,
    unit: &'static str,
    from: String,
    to: String,
    /// Length of a period in seconds.
    period: u64,
    /// Figure of the whole span; `null` without data.
    total: Option<f64>,
    points: Vec<PointLine>,
}

#[derive(Serialize)]
struct PointLine {
    at: String,
    value: f64,
}

pub(crate) async fn stats(session: &Session, arguments: &StatsArguments, ui: &Ui) -> Result<u8, Failure> {
    let now = session.workspace.stack.world.clock.now();
    let span = Span { from: arguments.since.moment(now), to: Moment(now.0) };
    let all = session.workspace.stats(arguments.name.as_deref(), span).await?;
    let mut problems = Vec::new();
    for (at, NamedStats { name, ty, series }) in all.into_iter().enumerate() {
        match series {
            Ok(series) => {
                let text = shown(&name, &ty, &series, ui);
                ui.result(&if at == 0 { text } else { format!("\n{text}") });
                series.iter().for_each(|series| ui.json("stats", &line(&name, &ty, series)));
            }
            Err(problem) => problems.push(problem),
        }
    }
    if problems.is_empty() { Ok(0) } else { Err(Failure::with_problems(Kind::Failed, problems)) }
}

/// Renders the figures of a resource. Metrics with another span have a heading of their own.
fn shown(name: &Name, ty: &TypeToken, series: &[Series], ui: &Ui) -> String {
    let mut text = String::new();
    for part in series.chunk_by(|one, other| (one.span, one.period) == (other.span, other.period)) {
        let Some(first) = part.first() else { continue };
        let long = Duration::from_millis(first.span.to.0.saturating_sub(first.span.from.0));
        let remark = format!("{ty}, last {}, {} each", duration(long), duration(first.period));
        let figures: Vec<Figure<'_>> = part
            .iter()
            .map(|series| Figure {
                metric: &series.metric,
                statistic: series.statistic.name(),
                total: total(series),
                unit: series.unit.name(),
                points: periods(series),
            })
            .collect();
        text.push_str(&stead_render::stats(name.short(), &remark, &figures, &ui.out_style()));
    }
    text
}

fn line<'a>(name: &'a Name, ty: &'a TypeToken, series: &'a Series) -> StatsLine<'a> {
    StatsLine {
        name,
        ty,
        metric: &series.metric,
        statistic: series.statistic.name(),
        unit: series.unit.name(),
        from: time(series.span.from),
        to: time(series.span.to),
        period: series.period.as_secs(),
        total: total(series),
        points: series.points.iter().map(|(at, value)| PointLine { at: time(*at), value: *value }).collect(),
    }
}

/// Returns the figure of the whole span. The average is that of the periods.
fn total(series: &Series) -> Option<f64> {
    let figures = || series.points.iter().map(|(_, figure)| *figure);
    let count = series.points.len();
    let all = match series.statistic {
        Statistic::Sum => figures().sum::<f64>(),
        Statistic::Average => figures().sum::<f64>() / count as f64,
        Statistic::Minimum => figures().fold(f64::INFINITY, f64::min),
        Statistic::Maximum => figures().fold(f64::NEG_INFINITY, f64::max),
    };
    (count > 0).then_some(all)
}

/// Returns the figure of every period of the span.
fn periods(series: &Series) -> Vec<Option<f64>> {
    let period = (series.period.as_millis() as u64).max(1);
    let (first, end) = (series.span.from.0 - series.span.from.0 % period, series.span.to.0);
    let mut all = vec![None; end.saturating_sub(first).div_ceil(period) as usize];
    for (Moment(at), figure) in &series.points {
        if let Some(place) = all.get_mut((at.saturating_sub(first) / period) as usize) {
            *place = Some(*figure);
        }
    }
    all
}

/// Returns a duration in its largest unit.
fn duration(duration: Duration) -> String {
    let seconds = duration.as_secs();
    match seconds {
        s if s >= 86_400 && s.is_multiple_of(86_400) => format!("{} d", s / 86_400),
        s if s >= 3600 && s.is_multiple_of(3600) => format!("{} h", s / 3600),
        s if s >= 60 => format!("{} min", s / 60),
        s => format!("{s} s"),
    }
}
