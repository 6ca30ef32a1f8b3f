//! Changes of lists: compared as the schema says, sent whole, with the live members of their elements merged in.

use std::collections::BTreeSet;

use stead_model::{Map, Text, Value};

use super::equivalence::equivalent;
use super::keyed::{is_keyed, pairs_by_key};
use super::merge::merged_elements;
use super::pairing::{pair_by_similarity, pairs, similarity};
use super::patch::{Comparison, may_be_absent, redacted_at};
use super::position::Position;

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
        let as_settled = comparison.is_settled(position, Some(&Value::from(live.to_vec())));
        let Parts { ours: live, others, keyed } = parts(comparison, position, last, live, want);
        let hidden_changed = position.contains_hidden() && comparison.hidden_changed(&position.path);
        let asked = redacted_at(comparison.wanted, position).and_then(Value::as_list);
        let unchanged = last.is_some() && last == asked && !hidden_changed;
        let rewritten = rewritten(comparison, position, last.unwrap_or_default(), &live);
        let explained = |index: usize, at: usize| {
            let asked = asked.and_then(|asked| asked.get(index));
            rewritten.iter().any(|(last, shown)| Some(*last) == asked && *shown == at)
        };
        let by_key = if keyed { pairs_by_key(position, want, &live) } else { None };
        let any_order = by_key.is_some() || position.is_unordered();
        let pairs = by_key.unwrap_or_else(|| pairs(position, want, &live, &explained));
        let met = |index: usize, at: usize| {
            (any_order || at == index)
                && (satisfies(&position.index(index), &want[index], &live[at]) || explained(index, at))
        };
        let all_met = want.len() == live.len()
            && pairs.iter().enumerate().all(|(index, pair)| pair.is_some_and(|at| met(index, at)));
        if (all_met || (unchanged && as_settled))
            && !hidden_changed
            && (unchanged || !drops_declared_member(position, last, &live, want, &pairs))
        {
            let hides = !comparison.wanted.under(&position.path).is_empty();
            if hides {
                let value = merged_elements(position, want, &live, last.unwrap_or_default(), &pairs);
                comparison.resend_hidden(position, Value::from([value, others].concat()));
            }
            return;
        }
        if position.contains_fixed() && changes_fixed(comparison, position, want, &live, &pairs, &explained) {
            return comparison
                .force_replacement(position, "an element has a part that can be set at creation only");
        }
        let why = if unchanged {
            "it was changed outside of stead"
        } else {
            "its declared value changed; lists are sent as a whole"
        };
        let value = merged_elements(position, want, &live, last.unwrap_or_default(), &pairs);
        comparison.add(position, Value::from([value, others].concat()), why);
    }
}

/// Live elements of a list, by owner.
pub(crate) struct Parts {
    pub(crate) ours: Vec<Value>,
    /// Elements that another writer or the service added, which stay.
    pub(crate) others: Vec<Value>,
    /// The elements are compared by key.
    pub(crate) keyed: bool,
}

pub(crate) fn parts(
    comparison: &Comparison<'_>,
    position: &Position<'_>,
    last: Option<&[Value]>,
    live: &[Value],
    want: &[Value],
) -> Parts {
    let live: Vec<Value> =
        live.iter().filter(|item| !is_reserved_tag(position, item, want)).cloned().collect();
    let foreign = foreign_by_key(position, last.unwrap_or_default(), &live, want);
    let keyed = foreign.is_some();
    let foreign = foreign
        .unwrap_or_else(|| added_by_service(comparison, position, last.unwrap_or_default(), &live, want));
    let (mut ours, mut others) = (Vec::new(), Vec::new());
    for (at, item) in live.into_iter().enumerate() {
        if foreign.contains(&at) { others.push(item) } else { ours.push(item) }
    }
    Parts { ours, others, keyed }
}

/// Returns the elements of a keyed list whose keys are declared neither now nor last time, or `None` for other lists.
pub(crate) fn foreign_by_key(
    position: &Position<'_>,
    last: &[Value],
    live: &[Value],
    want: &[Value],
) -> Option<BTreeSet<usize>> {
    if !is_keyed(position) {
        return None;
    }
    let (wanted, before) = (pairs_by_key(position, want, live)?, pairs_by_key(position, last, live)?);
    let declared: BTreeSet<usize> = wanted.into_iter().chain(before).flatten().collect();
    Some((0..live.len()).filter(|at| !declared.contains(at)).collect())
}

/// Returns the elements that were live after the last apply although they were not declared.
fn added_by_service(
    comparison: &Comparison<'_>,
    position: &Position<'_>,
    last: &[Value],
    live: &[Value],
    want: &[Value],
) -> BTreeSet<usize> {
    let Some(settled) = comparison.settled_elements(position) else { return BTreeSet::new() };
    let added = settled.len().saturating_sub(last.len());
    if added == 0 {
        return BTreeSet::new();
    }
    let element = position.index(0);
    let pairs = pairs(position, want, live, &|_, _| false);
    let met = pairs.iter().enumerate().filter_map(|(index, pair)| {
        pair.filter(|at| satisfies(&position.index(index), &want[index], &live[*at]))
    });
    let met: BTreeSet<usize> = met.collect();
    let ours = |at: &usize| met.contains(at) || last.iter().any(|last| satisfies(&element, last, &live[*at]));
    let unchanged = comparison.unchanged_elements(position, live);
    let mut left: Vec<usize> = (0..live.len()).filter(|at| unchanged[*at] && !ours(at)).collect();
    // The service may have rewritten a declared element, which then resembles it.
    left.sort_by_key(|at| last.iter().map(|last| similarity(last, &live[*at])).max());
    left.into_iter().take(added).collect()
}

/// Returns the elements last applied, each with the live element that the service made of it and that has not changed
/// since.
pub(crate) fn rewritten<'v>(
    comparison: &Comparison<'_>,
    position: &Position<'_>,
    last: &'v [Value],
    live: &[Value],
) -> Vec<(&'v Value, usize)> {
    if comparison.settled_elements(position).is_none() {
        return Vec::new();
    }
    let unchanged = comparison.unchanged_elements(position, live);
    let pairs = pairs(position, last, live, &|_, _| false);
    let pairs = last.iter().zip(pairs).filter_map(|(last, pair)| Some((last, pair?)));
    pairs.filter(|(_, at)| unchanged[*at]).collect()
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
        (Value::List(want), Value::List(live)) => all_satisfied(position, want, live),
        _ => false,
    }
}

/// Returns true if the live elements satisfy the desired ones, in the same order where order is significant.
fn all_satisfied(position: &Position<'_>, want: &[Value], live: &[Value]) -> bool {
    let met = |index: usize, at: usize| satisfies(&position.index(index), &want[index], &live[at]);
    if is_keyed(position)
        && let Some(pairs) = pairs_by_key(position, want, live)
    {
        return pairs.iter().enumerate().all(|(index, pair)| pair.is_some_and(|at| met(index, at)));
    }
    if want.len() != live.len() {
        return false;
    }
    if !position.is_unordered() {
        return (0..want.len()).all(|index| met(index, index));
    }
    let pairs = pairs(position, want, live, &|_, _| false);
    pairs.iter().enumerate().all(|(index, pair)| pair.is_some_and(|at| met(index, at)))
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
        (Some(before), Some(at)) => drops_member(&position.index(index), item, &last[before], &live[at]),
        _ => false,
    })
}

pub(crate) fn pairs_with_last(position: &Position<'_>, want: &[Value], last: &[Value]) -> Vec<Option<usize>> {
    let mut paired: Vec<Option<usize>> = vec![None; want.len()];
    if position.is_unordered() {
        pair_by_similarity(want, last, &mut paired);
    } else {
        paired.iter_mut().enumerate().for_each(|(index, pair)| *pair = (index < last.len()).then_some(index));
    }
    paired
}

/// Returns true if a value no longer declares a member, at any depth, that was declared last time and is still live.
pub(crate) fn drops_member(position: &Position<'_>, want: &Value, last: &Value, live: &Value) -> bool {
    match (want, last, live) {
        (Value::Map(want), Value::Map(last), Value::Map(live)) => last.iter().any(|(name, before)| {
            let inside = position.key(name);
            match (want.get(name), live.get(name)) {
                _ if inside.is_read_only() || *before == Value::Null => false,
                (None | Some(Value::Null), Some(live)) => *live != Value::Null,
                (Some(want), Some(live)) => drops_member(&inside, want, before, live),
                _ => false,
            }
        }),
        (Value::List(want), Value::List(last), Value::List(live)) => {
            let pairs = pairs(position, want, live, &|_, _| false);
            drops_declared_member(position, Some(last), live, want, &pairs)
                || drops_key(position, want, last, live)
        }
        _ => false,
    }
}

/// Returns true if a read-only or create-only part of an element would be added, changed or removed.
fn changes_fixed(
    comparison: &Comparison<'_>,
    position: &Position<'_>,
    want: &[Value],
    live: &[Value],
    pairs: &[Option<usize>],
    explained: &dyn Fn(usize, usize) -> bool,
) -> bool {
    let kept: BTreeSet<usize> = pairs.iter().flatten().copied().collect();
    let gone = (0..live.len()).filter(|at| !kept.contains(at));
    let mut gone = gone.map(|at| fixed_differs(comparison, &position.index(at), None, Some(&live[at])));
    let mut left = want.iter().enumerate().map(|(index, item)| {
        let settled = pairs[index].is_some_and(|at| explained(index, at));
        let live = pairs[index].map(|at| &live[at]);
        !settled && fixed_differs(comparison, &position.index(index), Some(item), live)
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
            let pairs = pairs(position, want, live, &|_, _| false);
            changes_fixed(comparison, position, want, live, &pairs, &|_, _| false)
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

/// Returns true if a keyed list no longer declares a key that was declared last time and is still live.
fn drops_key(position: &Position<'_>, want: &[Value], last: &[Value], live: &[Value]) -> bool {
    if !is_keyed(position) {
        return false;
    }
    let (kept, shown) = (pairs_by_key(position, last, want), pairs_by_key(position, last, live));
    let dropped = |(kept, shown): (Option<usize>, Option<usize>)| kept.is_none() && shown.is_some();
    kept.zip(shown).is_some_and(|(kept, shown)| kept.into_iter().zip(shown).any(dropped))
}
