//! Writer of `docs/aws-coverage.md`, the report of these results.

use std::fmt::Write as _;

use stead_schema::cfn::bundle;

use crate::census::{Census, STEAD, STRATEGIES, TWO_WAY};
use crate::rows::Row;
use crate::subject::Richness;

/// Start of the section behind the report.
pub(crate) const END: &str = "\n## End to end\n";

pub(crate) fn page(census: &Census) -> String {
    let origin = bundle::shipped().origin();
    let types = bundle::shipped().names().count();
    let mut page = format!(
        "# Coverage of AWS types\n\n\
         Written by the proof in `crates/stead-cloud/tests/proof`; `UPDATE=1 cargo test -p stead-cloud --test proof` \
         updates it. The last section, *End to end*, is written by another test.\n\n\
         The bundle has {types} types ({} {} of {}). {} can be created, read and deleted through Cloud Control; \
         {} of those can be updated, {} are replaced at any change.\n\n",
        origin.package,
        origin.version,
        origin.date,
        types - census.unmanageable.len(),
        census.updatable,
        census.fixed,
    );
    page.push_str(HOW);
    page.push_str("\n## Modest inputs\n\nRequired and up to five optional properties. This size gives *two-way* the results of an earlier simulation \
         (no change 23.8 %, scalar 55.6 %, nested 62.4 %, removal 60.2 %).\n\n");
    comparison(&mut page, census);
    page.push_str(
        "\n## Rich inputs\n\nRequired and all optional properties but one; lists have two elements.\n\n",
    );
    rich(&mut page, census);
    let values = &census.values;
    let _ = writeln!(
        page,
        "\nOf {} single values at all depths, changed one at a time, {} give a correct answer; {} cannot be \
         changed in place.",
        values.tried(),
        values.right,
        values.impossible.len()
    );
    failures(&mut page, census);
    impossible(&mut page, census);
    listed(&mut page, census);
    page
}

const HOW: &str = "\
For each type that can be updated, desired inputs are generated from its schema. The live resource adds read-only values at \
every depth, hides write-only values, reverses unordered lists, and fills in defaults and one more value. Then the inputs \
change. An answer is correct if a strict model of Cloud Control accepts it and the resource then has exactly the desired \
values: no other value changed, no write-only value lost. Some rows let the service behave oddly: it returns empty values \
that it refuses, rewrites texts, adds elements, omits properties or returns write-only ones.\n\n\
*Two-way* compares live and desired values, as in Radius' decision record on AWS updates; *never removing* is its successor. \
*Top-level* compares the inputs last applied and sends whole top-level properties. Each number counts the types with a \
correct answer.\n";

fn comparison(page: &mut String, census: &Census) {
    page.push_str("| change |");
    for strategy in STRATEGIES {
        let _ = write!(page, " {} |", strategy.name());
    }
    page.push_str(" possible in place |\n|---|");
    page.push_str(&"---:|".repeat(STRATEGIES.len() + 1));
    page.push('\n');
    let table = census.table(Richness::Modest);
    for row in Row::ALL {
        let _ = write!(page, "| {} |", row.title());
        for strategy in 0..STRATEGIES.len() {
            let tally = &table[&(strategy, row)];
            let _ = write!(page, " {} |", tally.right);
        }
        let tally = &table[&(TWO_WAY, row)];
        let _ = writeln!(
            page,
            " {} of {} |",
            tally.tried() - table[&(STEAD, row)].impossible.len(),
            tally.tried()
        );
    }
}

fn rich(page: &mut String, census: &Census) {
    page.push_str("| change | stead | possible in place |\n|---|---:|---:|\n");
    for row in Row::ALL {
        let tally = &census.table(Richness::Rich)[&(STEAD, row)];
        let possible = tally.tried() - tally.impossible.len();
        let _ = writeln!(page, "| {} | {} | {possible} of {} |", row.title(), tally.right, tally.tried());
    }
}

fn failures(page: &mut String, census: &Census) {
    let mut lines = Vec::new();
    for richness in Richness::ALL {
        for row in Row::ALL {
            for (name, why) in &census.table(richness)[&(STEAD, row)].wrong {
                lines.push(format!("- {name}, {}: {}\n", row.title(), plain(why)));
            }
        }
    }
    let values = census.values.wrong.iter();
    lines.extend(values.map(|(name, why)| format!("- {name}: {}\n", plain(why))));
    lines.sort();
    lines.dedup();
    page.push_str("\n## Wrong answers\n\n");
    match lines.is_empty() {
        true => page.push_str("Nothing: wherever an update is possible in place, stead makes it.\n"),
        false => page.push_str(&lines.concat()),
    }
}

/// Shortens a reason.
fn plain(why: &str) -> String {
    match why.char_indices().nth(140) {
        _ if why == "Nothing" => "nothing is sent".to_owned(),
        Some((end, _)) => format!("{}…", &why[..end]),
        None => why.to_owned(),
    }
}

/// Writes the changes that no patch can make, by type.
fn impossible(page: &mut String, census: &Census) {
    page.push_str(
        "\n## Changes that are impossible in place\n\n\
         The service refuses even the best possible patch, mostly because it requires a value that it neither returns \
         nor accepts again (required, create-only and write-only). stead reports this before it sends a request, except \
         for the changes in the last column: there only the service's refusal reveals it.\n\n| type | message of the service | not recognised |\n|---|---|---|\n",
    );
    let mut types = std::collections::BTreeMap::<(&str, &str), Vec<&str>>::new();
    for richness in Richness::ALL {
        for row in Row::ALL {
            let tally = &census.table(richness)[&(STEAD, row)];
            for (name, why) in &tally.impossible {
                let unseen = types.entry((name, why)).or_default();
                if tally.unseen.contains(name) && !unseen.contains(&row.title()) {
                    unseen.push(row.title());
                }
            }
        }
    }
    for ((name, why), unseen) in types {
        let _ = writeln!(page, "| {name} | {why} | {} |", unseen.join("; "));
    }
}

fn listed(page: &mut String, census: &Census) {
    page.push_str(
        "\n## Types that cannot be managed through Cloud Control\n\n\
         They lack the handlers to be created, read or deleted.\n\n",
    );
    for name in &census.unmanageable {
        let _ = writeln!(page, "- {name}");
    }
}
