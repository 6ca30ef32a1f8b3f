//! The result as a Markdown page: one table, one line about the machine, a few notes.

use std::fmt::Write as _;
use std::time::Duration;

use super::aws::Aws;
use super::driver::{Row, Times};
use super::durable::Durability;
use super::evaluator::Figures;
use super::process::median;
use super::scale::Growth;
use super::secrets::SecretCost;

/// One side of the comparison.
pub(crate) struct Subject {
    pub(crate) version: String,
    pub(crate) times: Times,
}

#[derive(Default)]
pub(crate) struct Report {
    pub(crate) machine: String,
    pub(crate) stead: Option<Subject>,
    pub(crate) peer: Option<Subject>,
    pub(crate) notes: Vec<String>,
    pub(crate) evaluator: Option<Figures>,
    pub(crate) growth: Option<Growth>,
    pub(crate) durability: Option<Durability>,
    pub(crate) secrets: Option<SecretCost>,
    pub(crate) aws: Option<Aws>,
}

impl Report {
    pub(crate) fn page(&self) -> String {
        let mut page = String::from(
            "# Benchmarks\n\nMade by `cargo xtask bench --write`. Whole processes, wall time, median.\n\n",
        );
        let names = [&self.stead, &self.peer].map(|side| side.as_ref().map(|side| side.version.as_str()));
        let versions = names.into_iter().flatten().collect::<Vec<_>>().join(", ");
        // Writing to a string cannot fail, here and below.
        let _ = writeln!(page, "{}. {versions}.\n", self.machine);
        page.push_str("| | stead | terraform | ratio | bar | |\n|---|---:|---:|---:|---:|---|\n");
        for row in Row::ALL {
            let _ = writeln!(
                page,
                "| {} | {} | {} | {} | {:.0}× | {} |",
                row.label(),
                shown(time_of(self.stead.as_ref(), row)),
                shown(time_of(self.peer.as_ref(), row)),
                self.ratio(row).map_or_else(|| "–".to_owned(), |ratio| format!("{ratio:.1}×")),
                row.bar(),
                self.verdict(row),
            );
        }
        for note in &self.notes {
            let _ = writeln!(page, "\n{note}");
        }
        let sections = [
            self.growth.as_ref().map(Growth::section),
            self.durability.as_ref().map(Durability::section),
            self.secrets.as_ref().map(SecretCost::section),
            self.aws.as_ref().map(Aws::section),
            self.evaluator.as_ref().map(Figures::section),
        ];
        for section in sections.into_iter().flatten() {
            let _ = write!(page, "\n{section}");
        }
        page
    }

    /// Returns the number of rows that miss their bar.
    pub(crate) fn missed(&self) -> usize {
        let rows = Row::ALL.into_iter().filter(|row| self.verdict(*row) == "MISS").count();
        let growth = self.growth.as_ref().map_or(0, Growth::missed);
        let durability = self.durability.as_ref().map_or(0, Durability::missed);
        let secrets = self.secrets.as_ref().map_or(0, SecretCost::missed);
        let aws = self.aws.as_ref().map_or(0, Aws::missed);
        rows + growth + durability + secrets + aws + self.evaluator.as_ref().map_or(0, Figures::missed)
    }

    fn ratio(&self, row: Row) -> Option<f64> {
        let ours = time_of(self.stead.as_ref(), row)?;
        let theirs = time_of(self.peer.as_ref(), row)?;
        Some(theirs.as_secs_f64() / ours.as_secs_f64())
    }

    fn verdict(&self, row: Row) -> &'static str {
        match self.ratio(row) {
            None => "",
            Some(ratio) if ratio >= row.bar() => "PASS",
            Some(_) => "MISS",
        }
    }
}

/// Returns the page with a section in the place of the one with the same heading, or at the end.
pub(crate) fn with_section(page: &str, section: &str) -> String {
    let heading = section.lines().next().unwrap_or_default();
    let mut parts: Vec<String> = Vec::new();
    for line in page.lines() {
        match parts.last_mut() {
            Some(part) if !line.starts_with("## ") => part.push_str(&format!("{line}\n")),
            _ => parts.push(format!("{line}\n")),
        }
    }
    let is_same = |part: &String| part.lines().next() == Some(heading);
    match parts.iter().position(is_same) {
        Some(at) if at + 1 == parts.len() => parts[at] = section.to_owned(),
        Some(at) => parts[at] = format!("{section}\n"),
        None => parts.push(format!("\n{section}")),
    }
    parts.concat()
}

fn time_of(side: Option<&Subject>, row: Row) -> Option<Duration> {
    median(side?.times.get(&row)?)
}

pub(crate) fn shown(time: Option<Duration>) -> String {
    match time {
        None => "–".to_owned(),
        Some(time) if time < Duration::from_secs(1) => format!("{:.1} ms", time.as_secs_f64() * 1000.0),
        Some(time) => format!("{:.2} s", time.as_secs_f64()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn subject(version: &str, millis: [u64; 5]) -> Subject {
        let times = Row::ALL.into_iter().zip(millis);
        Subject {
            version: version.to_owned(),
            times: times.map(|(row, millis)| (row, vec![Duration::from_millis(millis)])).collect(),
        }
    }

    #[test]
    fn a_row_passes_at_its_bar_and_misses_below_it() {
        let report = Report {
            stead: Some(subject("stead 0.1.0", [5, 5, 500, 100, 1000])),
            peer: Some(subject("Terraform v1", [50, 49, 50_000, 4900, 100_000])),
            ..Report::default()
        };
        let verdicts = Row::ALL.map(|row| report.verdict(row));
        assert_eq!(verdicts, ["PASS", "MISS", "PASS", "MISS", "PASS"]);
        assert_eq!(report.missed(), 2);
        let page = report.page();
        assert!(
            page.contains("| start: print the version | 5.0 ms | 50.0 ms | 10.0× | 10× | PASS |"),
            "{page}"
        );
        assert!(page.contains("| 1.00 s | 100.00 s | 100.0× | 100× | PASS |"), "{page}");
    }

    #[test]
    fn without_a_peer_the_table_has_no_verdict() {
        let stead = subject("stead 0.1.0", [5, 5, 500, 100, 1000]);
        let report = Report { stead: Some(stead), notes: vec!["Alone.".into()], ..Report::default() };
        assert_eq!(report.missed(), 0);
        let page = report.page();
        assert!(page.contains("| 500.0 ms | – | – | 100× |  |"), "{page}");
        assert!(page.ends_with("\nAlone.\n"), "{page}");
    }

    #[test]
    fn section_replaces_the_one_with_its_heading_and_leaves_the_others() {
        let page = "# Page\n\ntext\n\n## One\n\nold\n\n### Inside\n\n## Two\n\nkept\n";
        let replaced = with_section(page, "## One\n\nnew\n");
        assert_eq!(replaced, "# Page\n\ntext\n\n## One\n\nnew\n\n## Two\n\nkept\n");
        let added = with_section(page, "## Three\n\nnew\n");
        assert_eq!(added, format!("{page}\n## Three\n\nnew\n"));
        assert_eq!(with_section(&replaced, "## Two\n\nlast\n"), replaced.replace("kept", "last"));
    }
}
