//! Figures of resources as a table, with a sparkline for each metric.

use std::fmt::Write as _;

use crate::visible;
use crate::{Paint, Style};

/// Heights of a sparkline, lowest first.
const BLOCKS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// One metric of a resource.
#[derive(Clone, Debug, PartialEq)]
pub struct Figure<'a> {
    pub metric: &'a str,
    /// Name of the statistic, such as `sum`.
    pub statistic: &'a str,
    /// Figure of the whole span; `None` without data.
    pub total: Option<f64>,
    /// Name of the unit, such as `bytes`.
    pub unit: &'a str,
    /// Figure of each period, oldest first.
    pub points: Vec<Option<f64>>,
}

/// Renders the figures of a resource under its heading, in columns. A sparkline is shown where colours are.
pub fn stats(heading: &str, remark: &str, figures: &[Figure<'_>], style: &Style) -> String {
    let mut out = format!("{}  {}\n", style.paint(Paint::Strong, heading), style.paint(Paint::Quiet, remark));
    let shown: Vec<String> = figures.iter().map(|figure| amount(figure.total, figure.unit)).collect();
    let width =
        |texts: &mut dyn Iterator<Item = &str>| texts.map(|text| text.chars().count()).max().unwrap_or(0);
    let metric = width(&mut figures.iter().map(|figure| figure.metric));
    let statistic = width(&mut figures.iter().map(|figure| figure.statistic));
    let number = width(&mut shown.iter().map(String::as_str));
    for (figure, shown) in figures.iter().zip(&shown) {
        let line = sparkline(&figure.points).filter(|_| style.colour);
        let line = line.map(|line| format!("  {}", style.paint(Paint::Good, &line))).unwrap_or_default();
        let name = format!("{:metric$}", figure.metric);
        let _ = writeln!(out, "  {name}  {:statistic$}  {shown:>number$}{line}", figure.statistic);
    }
    out
}

/// Returns a line of blocks, one for each period; `None` without data. The lowest block is zero or the least figure below it.
pub fn sparkline(points: &[Option<f64>]) -> Option<String> {
    let known = || points.iter().flatten().copied().filter(|figure| figure.is_finite());
    let most = known().fold(f64::NEG_INFINITY, f64::max);
    let least = known().fold(0.0, f64::min);
    if !most.is_finite() {
        return None;
    }
    let height = |figure: f64| {
        let share = if most > least { (figure - least) / (most - least) } else { 0.0 };
        BLOCKS[((share * 7.0).round() as usize).min(7)]
    };
    Some(points.iter().map(|point| point.map_or(' ', height)).collect())
}

/// Returns a figure with its unit, in three or four digits.
fn amount(figure: Option<f64>, unit: &str) -> String {
    let Some(figure) = figure else { return "no data".to_owned() };
    match unit {
        "bytes" => scaled(figure, 1024.0, &["B", "KiB", "MiB", "GiB", "TiB", "PiB"]),
        "milliseconds" if figure.abs() < 1000.0 => format!("{} ms", digits(figure)),
        "milliseconds" => format!("{} s", digits(figure / 1000.0)),
        "seconds" if figure.abs() < 1.0 => format!("{} ms", digits(figure * 1000.0)),
        "seconds" => format!("{} s", digits(figure)),
        "percent" => format!("{} %", digits(figure)),
        _ => scaled(figure, 1000.0, &["", "k", "M", "G", "T"]),
    }
}

fn scaled(figure: f64, step: f64, units: &[&str]) -> String {
    let (mut figure, mut at) = (figure, 0);
    // Whole numbers below ten thousand are shown as they are.
    while figure.abs() >= if step > 1000.0 { step } else { 10.0 * step } && at + 1 < units.len() {
        figure /= step;
        at += 1;
    }
    let unit = units.get(at).copied().unwrap_or_default();
    format!("{} {unit}", digits(figure)).trim_end().to_owned()
}

fn digits(figure: f64) -> String {
    match figure.abs() {
        size if figure.fract() == 0.0 || size >= 100.0 => format!("{figure:.0}"),
        size if size >= 10.0 => format!("{figure:.1}"),
        _ => format!("{figure:.2}"),
    }
}

/// Returns a line of a log for a terminal or a file: characters that a terminal obeys are escaped.
pub fn log_line(text: &str) -> String {
    if visible::is_plain(text) { text.to_owned() } else { visible::escaped(text).replace("\\u0009", "\t") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figure<'a>(metric: &'a str, statistic: &'a str, unit: &'a str, points: &[Option<f64>]) -> Figure<'a> {
        let total = points.iter().flatten().copied().reduce(|a, b| a + b);
        Figure { metric, statistic, total, unit, points: points.to_vec() }
    }

    #[test]
    fn figures_are_in_columns_with_a_sparkline_where_colours_are() {
        let figures = [
            figure("Invocations", "sum", "count", &[Some(0.0), None, Some(5.0), Some(10.0), Some(20_000.0)]),
            figure("Duration", "average", "milliseconds", &[Some(12.5)]),
            figure("Size", "average", "bytes", &[Some(3.0 * 1024.0 * 1024.0)]),
            figure("Errors", "sum", "count", &[None]),
        ];
        insta::assert_snapshot!(stats("orders", "last 3 h", &figures, &Style::default()), @r"
        orders  last 3 h
          Invocations  sum       20.0 k
          Duration     average  12.5 ms
          Size         average    3 MiB
          Errors       sum      no data
        ");
        let coloured = stats("orders", "", &figures[..1], &Style { colour: true, ..Style::default() });
        assert!(coloured.contains("▁ ▁▁█"), "{coloured}");
    }

    #[test]
    fn sparkline_starts_at_zero_and_leaves_gaps() {
        assert_eq!(sparkline(&[Some(0.0), Some(4.0), None, Some(7.0)]).as_deref(), Some("▁▅ █"));
        assert_eq!(sparkline(&[Some(3.0), Some(3.0)]).as_deref(), Some("██"));
        assert_eq!(sparkline(&[Some(0.0)]).as_deref(), Some("▁"));
        assert_eq!(sparkline(&[None, None]), None);
    }

    #[test]
    fn log_lines_cannot_move_the_cursor() {
        assert_eq!(log_line("plain ✓"), "plain ✓");
        assert_eq!(log_line("a\tb"), "a\tb");
        assert_eq!(log_line("\u{1b}[2Jx"), "\\u001b[2Jx");
    }
}
