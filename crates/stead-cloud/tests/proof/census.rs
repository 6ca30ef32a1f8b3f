//! Results of every strategy on every type, computed once for all tests.

use std::collections::BTreeMap;
use std::sync::OnceLock;
use std::thread;

use stead_schema::cfn::{Schema, bundle};

use crate::judge::{Verdict, judge};
use crate::leaves::Leaf;
use crate::rows::{Row, leaves_of, single, wanted};
use crate::strategy::Strategy;
use crate::subject::{Richness, Subject, subject};
use crate::three_way::ThreeWay;
use crate::top_level::TopLevel;
use crate::two_way::TwoWay;

pub(crate) const STRATEGIES: [&(dyn Strategy + Sync); 4] =
    [&ThreeWay, &TopLevel, &TwoWay::Removing, &TwoWay::Keeping];
pub(crate) const STEAD: usize = 0;
pub(crate) const TOP_LEVEL: usize = 1;
pub(crate) const TWO_WAY: usize = 2;
pub(crate) const KEEPING: usize = 3;

/// Results of one strategy for one kind of change.
#[derive(Default)]
pub(crate) struct Tally {
    pub(crate) right: usize,
    /// Types with a wrong result, and the reason.
    pub(crate) wrong: Vec<(String, String)>,
    /// Types for which no patch can make this change, and the service's message.
    pub(crate) impossible: Vec<(String, String)>,
    /// Types of `impossible` that the strategy did not recognise.
    pub(crate) unseen: Vec<String>,
}

impl Tally {
    pub(crate) fn tried(&self) -> usize {
        self.right + self.wrong.len() + self.impossible.len()
    }

    /// Share of correct results among the types that have such a property.
    pub(crate) fn share(&self) -> f64 {
        self.right as f64 / self.tried() as f64
    }

    fn add(&mut self, type_name: &str, verdict: Verdict) {
        let name = type_name.to_owned();
        match verdict {
            Verdict::Right => self.right += 1,
            Verdict::Wrong(why) => self.wrong.push((name, why)),
            Verdict::NotPossible { service, seen } => {
                self.impossible.push((name.clone(), service));
                self.unseen.extend((!seen).then_some(name));
            }
        }
    }

    fn extend(&mut self, other: Tally) {
        self.right += other.right;
        self.wrong.extend(other.wrong);
        self.impossible.extend(other.impossible);
        self.unseen.extend(other.unseen);
    }
}

/// Results by strategy and kind of change.
pub(crate) type Table = BTreeMap<(usize, Row), Tally>;

pub(crate) struct Census {
    pub(crate) tables: [Table; 2],
    /// Single values from rich inputs, changed one at a time by stead.
    pub(crate) values: Tally,
    /// Types that Cloud Control cannot create, read and delete.
    pub(crate) unmanageable: Vec<String>,
    /// Types without an update handler.
    pub(crate) fixed: usize,
    /// Number of types tested.
    pub(crate) updatable: usize,
}

impl Census {
    pub(crate) fn table(&self, richness: Richness) -> &Table {
        &self.tables[richness as usize]
    }
}

pub(crate) fn schemas() -> &'static [Schema] {
    static SCHEMAS: OnceLock<Vec<Schema>> = OnceLock::new();
    SCHEMAS.get_or_init(|| {
        let bundle = bundle::shipped();
        bundle.names().filter_map(|name| bundle.schema(name)).collect()
    })
}

/// Returns the types with a read and an update handler.
pub(crate) fn updatable() -> Vec<&'static Schema> {
    let can_update = |schema: &&Schema| schema.handlers.read.is_some() && schema.handlers.update.is_some();
    schemas().iter().filter(can_update).collect()
}

pub(crate) fn census() -> &'static Census {
    static CENSUS: OnceLock<Census> = OnceLock::new();
    CENSUS.get_or_init(|| {
        let updatable = updatable();
        let unmanageable = schemas().iter().filter(|schema| !schema.is_manageable());
        let unmanageable: Vec<String> = unmanageable.map(|schema| schema.type_name.clone()).collect();
        let fixed =
            schemas().iter().filter(|schema| schema.is_manageable() && schema.handlers.update.is_none());
        let [modest, rich] = Richness::ALL.map(|richness| in_parts(&updatable, richness));
        Census {
            tables: [modest.table, rich.table],
            values: rich.values,
            fixed: fixed.count(),
            unmanageable,
            updatable: updatable.len(),
        }
    })
}

/// Results for one richness of inputs.
#[derive(Default)]
struct Findings {
    table: Table,
    values: Tally,
}

impl Findings {
    fn extend(&mut self, other: Findings) {
        for (key, tally) in other.table {
            self.table.entry(key).or_default().extend(tally);
        }
        self.values.extend(other.values);
    }
}

/// Runs the types in parallel, one part per worker, and merges the parts in order.
fn in_parts(schemas: &[&Schema], richness: Richness) -> Findings {
    let workers = thread::available_parallelism().map_or(1, usize::from);
    let size = schemas.len().div_ceil(workers).max(1);
    let mut whole = Findings::default();
    thread::scope(|scope| {
        let parts: Vec<_> =
            schemas.chunks(size).map(|part| scope.spawn(move || findings(part, richness))).collect();
        parts.into_iter().for_each(|part| whole.extend(part.join().unwrap()));
    });
    whole
}

fn findings(schemas: &[&Schema], richness: Richness) -> Findings {
    let mut findings = Findings::default();
    for schema in schemas {
        let subject = subject(schema, richness);
        let leaves = leaves_of(&subject);
        rows(&subject, &leaves, richness, &mut findings.table);
        if richness == Richness::Rich {
            values(&subject, &leaves, &mut findings.values);
        }
    }
    findings
}

fn rows(subject: &Subject<'_>, leaves: &[Leaf], richness: Richness, table: &mut Table) {
    for row in Row::ALL {
        let Some(wanted) = wanted(subject, leaves, row) else { continue };
        for (strategy, way) in STRATEGIES.iter().enumerate() {
            // Modest inputs are enough to see how strict the model is.
            if richness == Richness::Modest || strategy == STEAD {
                let verdict = judge(subject.schema, &wanted, *way);
                table.entry((strategy, row)).or_default().add(&subject.schema.type_name, verdict);
            }
        }
    }
}

/// Approximate number of values changed per type.
const VALUES: usize = 8;

fn values(subject: &Subject<'_>, leaves: &[Leaf], tally: &mut Tally) {
    for leaf in leaves.iter().step_by(leaves.len().div_ceil(VALUES).max(1)) {
        if let Some(wanted) = single(subject, leaf) {
            let name = format!("{}, `{}`", subject.schema.type_name, leaf.path);
            tally.add(&name, judge(subject.schema, &wanted, &ThreeWay));
        }
    }
}
