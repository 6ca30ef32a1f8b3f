//! Changes of lists: compared as the schema says, sent whole, with the live members of their elements merged in.

use std::collections::{BTreeMap, BTreeSet};

use stead_model::{Map, Text, Value};

use super::equivalence::equivalent;
use super::patch::{Comparison, may_be_absent, redacted_at};
use super::position::Position;

/// Length above which elements are paired by position, because pairing by content takes quadratic time.
const MAX_PAIRED: usize = 300;

/// One list of a resource: as last applied, as live, and as desired.
pub(crate) struct ListChange<'w, 'a, 'p> {
    pub(crate) comparison: &'w mut Comparison<'a>,
    pub(crate) position: &'p Position<'p>,
    pub(crate) last: Option<&'p [Value]>,
    pub(crate) live: &'p [Value],
    pub(crate) want: &'p [Value],
}

impl ListChange<'_, '_, '_> {
    pub(crate) fn decide(self) {
        let ListChange { comparison, position, last, live, want } = self;
        let live: Vec<Value> =
            live.iter().filter(|item| !is_reserved_tag(position, item, want)).cloned().collect();
        let hidden_changed = position.contains_hidden() && comparison.hidden_changed(&position.path);
        let asked = redacted_at(comparison.wanted, position).and_then(Value::as_list);
        let unchanged = last.is_some() && last == asked && !hidden_changed;
        let pairs = pairs(position, want, &live);
        let complete = all_satisfied(position, want, &live, &pairs);
        if complete
            && !hidden_changed
            && (unchanged || !drops_declared_member(position, last, &live, want, &pairs))
        {
            let hides = !comparison.wanted.under(&position.path).is_empty();
            if hides {
                let value = Value::from(merged_list(position, want, &live, last.unwrap_or_default()));
                comparison.resend_hidden(position, value);
            }
            return;
        }
        if position.contains_fixed() && changes_fixed(comparison, position, want, &live, &pairs) {
            return comparison
                .force_replacement(position, "an element has a part that can be set at creation only");
        }
        let why = if unchanged {
            "it was changed outside of stead"
        } else {
            "its declared value changed; lists are sent as a whole"
        };
        let value = Value::from(merged_list(position, want, &live, last.unwrap_or_default()));
        comparison.add(position, value, why);
    }
}

/// Returns true for a tag that the service sets itself and users cannot set.
fn is_reserved_tag(position: &Position<'_>, item: &Value, want: &[Value]) -> bool {
    let key = |item: &Value| {
        item.as_map().and_then(|map| map.get("Key")).and_then(Value::as_str).map(str::to_owned)
    };
    position.is_tags()
        && key(item).is_some_and(|name| {
            name.starts_with("aws:") && !want.iter().any(|item| key(item).as_ref() == Some(&name))
        })
}

/// Returns true if the live value satisfies the desired one, as far as a read shows.
pub(crate) fn satisfies(position: &Position<'_>, want: &Value, live: &Value) -> bool {
    if position.is_read_only() || position.is_hidden() || equivalent(position, want, live) {
        return true;
    }
    match (want, live) {
        (Value::Map(want), Value::Map(live)) => want.iter().all(|(name, value)| {
            let inside = position.key(name);
            match live.get(name).filter(|value| **value != Value::Null) {
                Some(live) => satisfies(&inside, value, live),
                None => may_be_absent(&inside, value),
            }
        }),
        (Value::List(want), Value::List(live)) => {
            all_satisfied(position, want, live, &pairs(position, want, live))
        }
        _ => false,
    }
}

/// Returns true if the live elements satisfy the desired ones, in the same order where order is significant.
fn all_satisfied(position: &Position<'_>, want: &[Value], live: &[Value], pairs: &[Option<usize>]) -> bool {
    let any_order = position.is_unordered();
    let met = |index: usize, at: usize| {
        (any_order || at == index) && satisfies(&position.index(index), &want[index], &live[at])
    };
    want.len() == live.len()
        && pairs.iter().enumerate().all(|(index, pair)| pair.is_some_and(|at| met(index, at)))
}

/// Pairs each desired element with a live one: by position where order is significant, else by content.
fn pairs(position: &Position<'_>, want: &[Value], live: &[Value]) -> Vec<Option<usize>> {
    let by_position = |index: usize| (index < live.len()).then_some(index);
    if want.len().max(live.len()) > MAX_PAIRED {
        return (0..want.len()).map(by_position).collect();
    }
    let element = position.index(0);
    let fits: Vec<Vec<usize>> = want
        .iter()
        .enumerate()
        .map(|(index, item)| match position.is_unordered() {
            true => (0..live.len()).filter(|at| satisfies(&element, item, &live[*at])).collect(),
            false => {
                by_position(index).filter(|at| satisfies(&element, item, &live[*at])).into_iter().collect()
            }
        })
        .collect();
    let mut matching = Matching { fits: &fits, taken: BTreeMap::new() };
    for index in 0..want.len() {
        matching.assign(index, &mut BTreeSet::new());
    }
    let mut pairs: Vec<Option<usize>> = vec![None; want.len()];
    matching.taken.iter().for_each(|(at, index)| pairs[*index] = Some(*at));
    pair_by_similarity(want, live, &mut pairs);
    pairs
}

/// Maximum bipartite matching between desired elements and the live elements that satisfy them.
struct Matching<'a> {
    fits: &'a [Vec<usize>],
    /// Desired element by the live element assigned to it.
    taken: BTreeMap<usize, usize>,
}

impl Matching<'_> {
    fn assign(&mut self, index: usize, seen: &mut BTreeSet<usize>) -> bool {
        for &at in &self.fits[index] {
            if !seen.insert(at) {
                continue;
            }
            let free = match self.taken.get(&at).copied() {
                None => true,
                Some(other) => self.assign(other, seen),
            };
            if free {
                self.taken.insert(at, index);
                return true;
            }
        }
        false
    }
}

/// Pairs the remaining elements by similarity, preferring the same position.
fn pair_by_similarity(want: &[Value], live: &[Value], pairs: &mut [Option<usize>]) {
    let taken: BTreeSet<usize> = pairs.iter().flatten().copied().collect();
    let mut free: BTreeSet<usize> = (0..live.len()).filter(|at| !taken.contains(at)).collect();
    let mut scores: Vec<(usize, bool, usize, usize)> = Vec::new();
    for (index, item) in want.iter().enumerate().filter(|(index, _)| pairs[*index].is_none()) {
        scores.extend(free.iter().map(|at| (similarity(item, &live[*at]), index == *at, index, *at)));
    }
    scores.sort_by(|a, b| (b.0, b.1, a.2, a.3).cmp(&(a.0, a.1, b.2, b.3)));
    for (score, same_position, index, at) in scores {
        let last_pair = want.len() == live.len();
        if (score > 0 || same_position || last_pair) && pairs[index].is_none() && free.remove(&at) {
            pairs[index] = Some(at);
        }
    }
}

/// Counts the leaves that two elements share. A member that identifies the element weighs more.
fn similarity(want: &Value, live: &Value) -> usize {
    let names = |name: &str| ["Key", "Name", "Id", "Arn"].iter().any(|end| name.ends_with(end));
    match (want, live) {
        (Value::Map(want), Value::Map(live)) => want
            .iter()
            .filter_map(|(name, value)| Some((name, value, live.get(name)?)))
            .map(
                |(name, value, live)| {
                    if value == live && names(name) { 100 } else { similarity(value, live) }
                },
            )
            .sum(),
        (Value::List(want), Value::List(live)) => {
            want.iter().zip(live).map(|(want, live)| similarity(want, live)).sum()
        }
        (want, live) => usize::from(want == live),
    }
}

/// Returns true if an element no longer declares a member that was declared last time and is still live.
fn drops_declared_member(
    position: &Position<'_>,
    last: Option<&[Value]>,
    live: &[Value],
    want: &[Value],
    pairs: &[Option<usize>],
) -> bool {
    let Some(last) = last else { return false };
    let before = pairs_with_last(position, want, last);
    want.iter().enumerate().any(|(index, item)| match (before[index], pairs[index]) {
        (Some(before), Some(at)) => drops_member(item, &last[before], &live[at]),
        _ => false,
    })
}

fn pairs_with_last(position: &Position<'_>, want: &[Value], last: &[Value]) -> Vec<Option<usize>> {
    let mut paired: Vec<Option<usize>> = vec![None; want.len()];
    if position.is_unordered() {
        pair_by_similarity(want, last, &mut paired);
    } else {
        paired.iter_mut().enumerate().for_each(|(index, pair)| *pair = (index < last.len()).then_some(index));
    }
    paired
}

fn drops_member(want: &Value, last: &Value, live: &Value) -> bool {
    let (Value::Map(want), Value::Map(last), Value::Map(live)) = (want, last, live) else { return false };
    last.iter().any(|(name, before)| match (want.get(name), live.get(name)) {
        (None, Some(_)) => true,
        (Some(want), Some(live)) => drops_member(want, before, live),
        _ => false,
    })
}

/// Returns true if a read-only or create-only part of an element would be added, changed or removed.
fn changes_fixed(
    comparison: &Comparison<'_>,
    position: &Position<'_>,
    want: &[Value],
    live: &[Value],
    pairs: &[Option<usize>],
) -> bool {
    let kept: BTreeSet<usize> = pairs.iter().flatten().copied().collect();
    let gone = (0..live.len()).filter(|at| !kept.contains(at));
    let mut gone = gone.map(|at| fixed_differs(comparison, &position.index(at), None, Some(&live[at])));
    let mut left = want.iter().enumerate().map(|(index, item)| {
        fixed_differs(comparison, &position.index(index), Some(item), pairs[index].map(|at| &live[at]))
    });
    gone.any(|differs| differs) || left.any(|differs| differs)
}

fn fixed_differs(
    comparison: &Comparison<'_>,
    position: &Position<'_>,
    want: Option<&Value>,
    live: Option<&Value>,
) -> bool {
    if position.is_read_only() || !position.contains_fixed() {
        return false;
    }
    if position.is_create_only() {
        return match (want, live) {
            _ if position.is_hidden() => comparison.hidden_changed(&position.path),
            (Some(want), Some(live)) => !satisfies(position, want, live),
            (None, None) => false,
            _ => true,
        };
    }
    match (want, live) {
        (Some(Value::List(want)), Some(Value::List(live))) => {
            changes_fixed(comparison, position, want, live, &pairs(position, want, live))
        }
        (want, live) => {
            let (want, live) = (want.and_then(Value::as_map), live.and_then(Value::as_map));
            let names: BTreeSet<&Text> = want.into_iter().chain(live).flat_map(Map::keys).collect();
            names.into_iter().any(|name| {
                let of = |map: Option<&'_ Map>| map.and_then(|map| map.get(name)).cloned();
                // A live create-only member that the inputs never mention is kept.
                let (want, live) = (of(want), of(live));
                let unrequested = want.is_none() && position.key(name).is_create_only() && live.is_some();
                !unrequested && fixed_differs(comparison, &position.key(name), want.as_ref(), live.as_ref())
            })
        }
    }
}

/// Returns the desired elements, each with the members of its live element that the service or another writer set.
fn merged_list(position: &Position<'_>, want: &[Value], live: &[Value], last: &[Value]) -> Vec<Value> {
    let (pairs, before) = (pairs(position, want, live), pairs_with_last(position, want, last));
    want.iter()
        .enumerate()
        .map(|(index, item)| {
            let live = pairs[index].map(|at| &live[at]);
            merged(&position.index(index), item, live, before[index].map(|at| &last[at]))
        })
        .collect()
}

fn merged(position: &Position<'_>, want: &Value, live: Option<&Value>, last: Option<&Value>) -> Value {
    match (want, live) {
        (Value::Map(want), Some(Value::Map(live))) => {
            let last = last.and_then(Value::as_map);
            let mut out = Map::new();
            for (name, value) in want {
                let inside = position.key(name);
                if !inside.is_unsendable() && *value != Value::Null {
                    let last = last.and_then(|last| last.get(name));
                    out.insert(name.clone(), merged(&inside, value, live.get(name), last));
                }
            }
            for (name, value) in live {
                let inside = position.key(name);
                let ours = last.is_some_and(|last| last.contains_key(name));
                if inside.is_read_only() || (!want.contains_key(name) && !ours) {
                    out.insert(name.clone(), value.clone());
                }
            }
            Value::Map(out)
        }
        (Value::List(want), Some(Value::List(live))) => {
            Value::from(merged_list(position, want, live, last.and_then(Value::as_list).unwrap_or_default()))
        }
        (Value::Map(want), _) => {
            // No live element to merge with. Members that an update cannot send are left out.
            let sent = want.iter().filter(|(name, _)| !position.key(name).is_unsendable());
            Value::Map(
                sent.map(|(name, value)| (name.clone(), merged(&position.key(name), value, None, None)))
                    .collect(),
            )
        }
        _ => want.clone(),
    }
}
