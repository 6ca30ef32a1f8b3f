//! Similarity: the number of properties that a removed and a new resource share.
//!
//! Only values that few resources have are evidence, so candidates come from an index of rare values and not from
//! comparing each with each.

use std::collections::{BTreeMap, HashMap};

use stead_model::{NodeId, Resource, TypeToken, Uid};

use super::content::Content;
use super::suggest::{Confidence, Reason, Search};

/// A value is rare if at most this many resources have it.
const RARE: usize = 16;

/// Number of equal properties, and of all properties.
type Score = (usize, usize);

/// Suggests pairs in which each is the best candidate of the other.
pub(super) fn similar(search: &mut Search<'_, '_>) {
    let (scored, equally_good) = scores(search);
    let mut best_of_record: HashMap<&Uid, (Score, usize)> = HashMap::new();
    for (_, record, score) in &scored {
        let best = best_of_record.entry(&record.uid).or_insert((*score, 0));
        match better(score, &best.0) {
            std::cmp::Ordering::Greater => *best = (*score, 1),
            std::cmp::Ordering::Equal => best.1 += 1,
            std::cmp::Ordering::Less => {}
        }
    }
    let is_mutual = |record: &Resource, score: &Score| best_of_record.get(&record.uid) == Some(&(*score, 1));
    let (mutual, one_sided): (Vec<_>, Vec<_>) =
        scored.into_iter().partition(|(_, record, score)| is_mutual(record, score));
    let one_sided = one_sided.into_iter().map(|(id, record, _)| (id, vec![record]));
    for (id, records) in one_sided.chain(equally_good) {
        search.leave_unsettled(id, records);
    }
    for (id, record, (equal, of)) in mutual {
        let confidence = if 2 * equal > of { Confidence::Likely } else { Confidence::Weak };
        search.take(id, record, confidence, Reason::Similar { equal, of });
    }
}

/// The best candidate of each node that has one.
type Best<'a> = Vec<(NodeId, &'a Resource, Score)>;

/// The candidates of each node that has several equally good ones.
type EquallyGood<'a> = Vec<(NodeId, Vec<&'a Resource>)>;

fn scores<'a>(search: &Search<'_, 'a>) -> (Best<'a>, EquallyGood<'a>) {
    let mut index: HashMap<(&TypeToken, &str, Content), Vec<&'a Resource>> = HashMap::new();
    for record in search.records.values() {
        for (key, content) in search.contents.written(record, |_| true) {
            index.entry((&record.ty, key, content)).or_default().push(record);
        }
    }
    let (mut scored, mut equally_good) = (Vec::new(), Vec::new());
    for &id in &search.nodes {
        let node = &search.matching.graph.nodes[id.index()];
        let contents = search.contents.of_node(id);
        let mut equal: BTreeMap<&Uid, (&'a Resource, usize)> = BTreeMap::new();
        for (key, content) in &contents {
            let having = index.get(&(&node.ty, *key, content.clone()));
            for record in having
                .into_iter()
                .flatten()
                .take(RARE + 1)
                .filter(|_| having.is_some_and(|all| all.len() <= RARE))
            {
                equal.entry(&record.uid).or_insert((record, 0)).1 += 1;
            }
        }
        let mut candidates: Vec<(&'a Resource, Score)> = equal
            .into_values()
            .map(|(record, equal)| {
                let theirs = search.contents.written(record, |key| contents.contains_key(key));
                let extra = contents.keys().filter(|key| !theirs.contains_key(*key)).count();
                (record, (equal, theirs.len() + extra))
            })
            .collect();
        candidates.sort_by(|a, b| better(&b.1, &a.1).then_with(|| a.0.sort_key().cmp(&b.0.sort_key())));
        match candidates.as_slice() {
            [(record, score)] => scored.push((id, *record, *score)),
            [(record, score), (_, second), ..] if better(score, second).is_gt() => {
                scored.push((id, *record, *score))
            }
            [(_, best), ..] => {
                let good = candidates.iter().take_while(|(_, score)| better(best, score).is_eq());
                equally_good.push((id, good.map(|(record, _)| *record).collect()));
            }
            [] => {}
        }
    }
    (scored, equally_good)
}

fn better(a: &Score, b: &Score) -> std::cmp::Ordering {
    (a.0 * b.1).cmp(&(b.0 * a.1))
}
