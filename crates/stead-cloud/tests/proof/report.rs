//! `docs/aws-coverage.md`: what the proof finds, for people.

use std::fmt::Write as _;

use stead_schema::cfn::bundle;

use crate::census::{Census, STEAD, STRATEGIES, TWO_WAY};
use crate::rows::Row;
use crate::subject::Wish;

pub(crate) fn page(census: &Census) -> String {
    let origin = bundle::shipped().origin();
    let types = bundle::shipped().names().count();
    let mut page = format!(
        "# Coverage of AWS types\n\n\
         Written by the proof in `crates/stead-cloud/tests/proof`; `UPDATE=1 cargo test -p stead-cloud --test proof` \
         writes it anew.\n\n\
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
    page.push_str("\n## Modest wishes\n\nWhat is required and up to five optional properties: chosen so that *two-way* fares as in an earlier simulation of it \
         (no change 23.8 %, scalar 55.6 %, nested 62.4 %, removal 60.2 %).\n\n");
    comparison(&mut page, census);
    page.push_str("\n## Rich wishes\n\nWhat is required and every optional property but one; lists have two elements.\n\n");
    rich(&mut page, census);
    let values = &census.values;
    let _ = writeln!(
        page,
        "\nOf {} single values from all over these wishes, changed one at a time, {} come out right; {} cannot be \
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
For each type that can be updated, a wish is made from its schema, and from the wish what lives in the cloud: read-only \
values added at every depth, write-only values hidden, lists whose order means nothing turned round, defaults filled in, \
one more value set by the service. Then the wish changes. An answer counts only if a strict model of Cloud Control takes \
it and afterwards keeps exactly what it should: no other value changed, no write-only value lost.\n\n\
*Two-way* compares live and wanted, as in Radius' decision record on AWS updates; *never removing* is what became of it. \
*Top-level* remembers the last wish and sends whole top-level properties. Each number is: right, of types that have \
something of the kind.\n";

fn comparison(page: &mut String, census: &Census) {
    page.push_str("| change |");
    for strategy in STRATEGIES {
        let _ = write!(page, " {} |", strategy.name());
    }
    page.push_str(" possible at all |\n|---|");
    page.push_str(&"---:|".repeat(STRATEGIES.len() + 1));
    page.push('\n');
    let table = census.table(Wish::Modest);
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
    page.push_str("| change | stead | possible at all |\n|---|---:|---:|\n");
    for row in Row::ALL {
        let tally = &census.table(Wish::Rich)[&(STEAD, row)];
        let possible = tally.tried() - tally.impossible.len();
        let _ = writeln!(page, "| {} | {} | {possible} of {} |", row.title(), tally.right, tally.tried());
    }
}

fn failures(page: &mut String, census: &Census) {
    let mut lines = Vec::new();
    for wish in Wish::ALL {
        for row in Row::ALL {
            for (name, why) in &census.table(wish)[&(STEAD, row)].wrong {
                lines.push(format!("- {name}, {}: {}\n", row.title(), plain(why)));
            }
        }
    }
    let values = census.values.wrong.iter();
    lines.extend(values.map(|(name, why)| format!("- {name}: {}\n", plain(why))));
    lines.sort();
    lines.dedup();
    page.push_str("\n## What goes wrong\n\n");
    match lines.is_empty() {
        true => page.push_str("Nothing: wherever an update is possible at all, stead makes it.\n"),
        false => page.push_str(&lines.concat()),
    }
}

/// Enough of a reason to know it.
fn plain(why: &str) -> String {
    match why.char_indices().nth(140) {
        _ if why == "Nothing" => "nothing is sent".to_owned(),
        Some((end, _)) => format!("{}…", &why[..end]),
        None => why.to_owned(),
    }
}

/// What no patch can do, type by type: the service refuses even the best one.
fn impossible(page: &mut String, census: &Census) {
    page.push_str(
        "\n## What nobody can do in place\n\n\
         Here the service refuses the best patch there could be, mostly because it asks for a value that it neither \
         shows nor takes again (required, create-only and write-only). stead says so before it sends anything, except \
         where marked: there it learns it from the service's refusal.\n\n| type | what the service says | not foreseen |\n|---|---|---|\n",
    );
    let mut types = std::collections::BTreeMap::<(&str, &str), Vec<&str>>::new();
    for wish in Wish::ALL {
        for row in Row::ALL {
            let tally = &census.table(wish)[&(STEAD, row)];
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
