//! Lists: compared as the schema says, sent whole, with what is hidden in their elements carried over.

use std::collections::{BTreeMap, BTreeSet};

use stead_model::{Map, Value};

use super::patch::{Walk, is_silent, strip};
use super::place::Place;
use super::same::same_leaf;

/// More elements than this are paired by position: pairing by content takes the square of their number.
const MAX_PAIRED: usize = 300;

/// One list of a resource, on its three sides.
pub(crate) struct ListChange<'w, 'a, 'p> {
    pub(crate) walk: &'w mut Walk<'a>,
    pub(crate) place: &'p Place<'p>,
    pub(crate) last: Option<&'p [Value]>,
    pub(crate) live: &'p [Value],
    pub(crate) want: &'p [Value],
}

impl ListChange<'_, '_, '_> {
    pub(crate) fn decide(self) {
        let ListChange { walk, place, last, live, want } = self;
        let live: Vec<Value> =
            live.iter().filter(|item| !is_reserved_tag(place, item, want)).cloned().collect();
        let hidden_changed = place.hides() && walk.hidden_changed(&place.path);
        let asked = strip(walk.wanted, place).and_then(Value::as_list);
        let same_wish = last.is_some() && last == asked && !hidden_changed;
        let pairs = pairs(place, want, &live);
        let complete = all_met(place, want, &live, &pairs);
        if complete && !hidden_changed && (same_wish || !gives_up(place, last, &live, want, &pairs)) {
            let hides = !walk.wanted.under(&place.path).is_empty();
            if hides {
                let value = Value::List(carried_list(place, want, &live, last.unwrap_or_default()));
                walk.send_again(place, value);
            }
            return;
        }
        if place.fixes() && moves_fixed(walk, place, want, &live, &pairs) {
            return walk.force(place, "an element has a part that can be set at creation only");
        }
        let why = if same_wish { "it was changed outside" } else { "it changes; lists are sent as a whole" };
        let value = Value::List(carried_list(place, want, &live, last.unwrap_or_default()));
        walk.add(place, value, why);
    }
}

/// Tags of the service's own, which nobody can set.
fn is_reserved_tag(place: &Place<'_>, item: &Value, want: &[Value]) -> bool {
    let key = |item: &Value| {
        item.as_map().and_then(|map| map.get("Key")).and_then(Value::as_str).map(str::to_owned)
    };
    place.is_tags()
        && key(item).is_some_and(|name| {
            name.starts_with("aws:") && !want.iter().any(|item| key(item).as_ref() == Some(&name))
        })
}

/// Whether what is live is what is wanted, as far as a read can show.
pub(crate) fn meets(place: &Place<'_>, want: &Value, live: &Value) -> bool {
    if place.is_read_only() || place.is_hidden() || same_leaf(place, want, live) {
        return true;
    }
    match (want, live) {
        (Value::Map(want), Value::Map(live)) => want.iter().all(|(name, value)| {
            let inside = place.key(name);
            match live.get(name).filter(|value| **value != Value::Null) {
                Some(live) => meets(&inside, value, live),
                None => is_silent(&inside, value),
            }
        }),
        (Value::List(want), Value::List(live)) => all_met(place, want, live, &pairs(place, want, live)),
        _ => false,
    }
}

/// Whether the live elements are the wanted ones, in their order where that means something.
fn all_met(place: &Place<'_>, want: &[Value], live: &[Value], pairs: &[Option<usize>]) -> bool {
    let any_order = place.is_unordered();
    let met = |index: usize, at: usize| {
        (any_order || at == index) && meets(&place.index(index), &want[index], &live[at])
    };
    want.len() == live.len()
        && pairs.iter().enumerate().all(|(index, pair)| pair.is_some_and(|at| met(index, at)))
}

/// For each wanted element, the live one that it is: by position where order means something, else by content.
fn pairs(place: &Place<'_>, want: &[Value], live: &[Value]) -> Vec<Option<usize>> {
    let by_position = |index: usize| (index < live.len()).then_some(index);
    if want.len().max(live.len()) > MAX_PAIRED {
        return (0..want.len()).map(by_position).collect();
    }
    let element = place.index(0);
    let fits: Vec<Vec<usize>> = want
        .iter()
        .enumerate()
        .map(|(index, item)| match place.is_unordered() {
            true => (0..live.len()).filter(|at| meets(&element, item, &live[*at])).collect(),
            false => by_position(index).filter(|at| meets(&element, item, &live[*at])).into_iter().collect(),
        })
        .collect();
    let mut matching = Matching { fits: &fits, taken: BTreeMap::new() };
    for index in 0..want.len() {
        matching.place(index, &mut BTreeSet::new());
    }
    let mut pairs: Vec<Option<usize>> = vec![None; want.len()];
    matching.taken.iter().for_each(|(at, index)| pairs[*index] = Some(*at));
    likeliest(want, live, &mut pairs);
    pairs
}

/// As many pairs as there can be, each fitting.
struct Matching<'a> {
    fits: &'a [Vec<usize>],
    /// Which wanted element has a live one.
    taken: BTreeMap<usize, usize>,
}

impl Matching<'_> {
    fn place(&mut self, index: usize, seen: &mut BTreeSet<usize>) -> bool {
        for &at in &self.fits[index] {
            if !seen.insert(at) {
                continue;
            }
            let free = match self.taken.get(&at).copied() {
                None => true,
                Some(other) => self.place(other, seen),
            };
            if free {
                self.taken.insert(at, index);
                return true;
            }
        }
        false
    }
}

/// What is left over is paired by what it has in common, the same position first.
fn likeliest(want: &[Value], live: &[Value], pairs: &mut [Option<usize>]) {
    let taken: BTreeSet<usize> = pairs.iter().flatten().copied().collect();
    let mut free: BTreeSet<usize> = (0..live.len()).filter(|at| !taken.contains(at)).collect();
    let mut scores: Vec<(usize, bool, usize, usize)> = Vec::new();
    for (index, item) in want.iter().enumerate().filter(|(index, _)| pairs[*index].is_none()) {
        scores.extend(free.iter().map(|at| (in_common(item, &live[*at]), index == *at, index, *at)));
    }
    scores.sort_by(|a, b| (b.0, b.1, a.2, a.3).cmp(&(a.0, a.1, b.2, b.3)));
    for (score, same_position, index, at) in scores {
        let last_pair = want.len() == live.len();
        if (score > 0 || same_position || last_pair) && pairs[index].is_none() && free.remove(&at) {
            pairs[index] = Some(at);
        }
    }
}

/// How many leaves two elements share; a member that names the element counts for many.
fn in_common(want: &Value, live: &Value) -> usize {
    let names = |name: &str| ["Key", "Name", "Id", "Arn"].iter().any(|end| name.ends_with(end));
    match (want, live) {
        (Value::Map(want), Value::Map(live)) => want
            .iter()
            .filter_map(|(name, value)| Some((name, value, live.get(name)?)))
            .map(
                |(name, value, live)| if value == live && names(name) { 100 } else { in_common(value, live) },
            )
            .sum(),
        (Value::List(want), Value::List(live)) => {
            want.iter().zip(live).map(|(want, live)| in_common(want, live)).sum()
        }
        (want, live) => usize::from(want == live),
    }
}

/// A member that the last wish had, and that is still there, is no longer wanted.
fn gives_up(
    place: &Place<'_>,
    last: Option<&[Value]>,
    live: &[Value],
    want: &[Value],
    pairs: &[Option<usize>],
) -> bool {
    let Some(last) = last else { return false };
    let before = pairs_with_last(place, want, last);
    want.iter().enumerate().any(|(index, item)| match (before[index], pairs[index]) {
        (Some(before), Some(at)) => lacks(item, &last[before], &live[at]),
        _ => false,
    })
}

fn pairs_with_last(place: &Place<'_>, want: &[Value], last: &[Value]) -> Vec<Option<usize>> {
    let mut paired: Vec<Option<usize>> = vec![None; want.len()];
    if place.is_unordered() {
        likeliest(want, last, &mut paired);
    } else {
        paired.iter_mut().enumerate().for_each(|(index, pair)| *pair = (index < last.len()).then_some(index));
    }
    paired
}

fn lacks(want: &Value, last: &Value, live: &Value) -> bool {
    let (Value::Map(want), Value::Map(last), Value::Map(live)) = (want, last, live) else { return false };
    last.iter().any(|(name, before)| match (want.get(name), live.get(name)) {
        (None, Some(_)) => true,
        (Some(want), Some(live)) => lacks(want, before, live),
        _ => false,
    })
}

/// A part that only a creation may set would appear, change or go.
fn moves_fixed(
    walk: &Walk<'_>,
    place: &Place<'_>,
    want: &[Value],
    live: &[Value],
    pairs: &[Option<usize>],
) -> bool {
    let kept: BTreeSet<usize> = pairs.iter().flatten().copied().collect();
    let gone = (0..live.len()).filter(|at| !kept.contains(at));
    let mut gone = gone.map(|at| fixed_differs(walk, &place.index(at), None, Some(&live[at])));
    let mut left = want.iter().enumerate().map(|(index, item)| {
        fixed_differs(walk, &place.index(index), Some(item), pairs[index].map(|at| &live[at]))
    });
    gone.any(|differs| differs) || left.any(|differs| differs)
}

fn fixed_differs(walk: &Walk<'_>, place: &Place<'_>, want: Option<&Value>, live: Option<&Value>) -> bool {
    if place.is_read_only() || !place.fixes() {
        return false;
    }
    if place.is_create_only() {
        return match (want, live) {
            _ if place.is_hidden() => walk.hidden_changed(&place.path),
            (Some(want), Some(live)) => !meets(place, want, live),
            (None, None) => false,
            _ => true,
        };
    }
    match (want, live) {
        (Some(Value::List(want)), Some(Value::List(live))) => {
            moves_fixed(walk, place, want, live, &pairs(place, want, live))
        }
        (want, live) => {
            let (want, live) = (want.and_then(Value::as_map), live.and_then(Value::as_map));
            let names: BTreeSet<&String> = want.into_iter().chain(live).flat_map(Map::keys).collect();
            names.into_iter().any(|name| {
                let of = |map: Option<&'_ Map>| map.and_then(|map| map.get(name)).cloned();
                // What nobody asked for stays as it is.
                let (want, live) = (of(want), of(live));
                let carried = want.is_none() && place.key(name).is_create_only() && live.is_some();
                !carried && fixed_differs(walk, &place.key(name), want.as_ref(), live.as_ref())
            })
        }
    }
}

/// The wanted elements, each with what its live one has besides: set by the service, or asked for by nobody here.
fn carried_list(place: &Place<'_>, want: &[Value], live: &[Value], last: &[Value]) -> Vec<Value> {
    let (pairs, before) = (pairs(place, want, live), pairs_with_last(place, want, last));
    want.iter()
        .enumerate()
        .map(|(index, item)| {
            let live = pairs[index].map(|at| &live[at]);
            carried(&place.index(index), item, live, before[index].map(|at| &last[at]))
        })
        .collect()
}

fn carried(place: &Place<'_>, want: &Value, live: Option<&Value>, last: Option<&Value>) -> Value {
    match (want, live) {
        (Value::Map(want), Some(Value::Map(live))) => {
            let last = last.and_then(Value::as_map);
            let mut out = Map::new();
            for (name, value) in want {
                let inside = place.key(name);
                if !inside.is_unsendable() && *value != Value::Null {
                    let last = last.and_then(|last| last.get(name));
                    out.insert(name.clone(), carried(&inside, value, live.get(name), last));
                }
            }
            for (name, value) in live {
                let inside = place.key(name);
                let ours = last.is_some_and(|last| last.contains_key(name));
                if inside.is_read_only() || (!want.contains_key(name) && !ours) {
                    out.insert(name.clone(), value.clone());
                }
            }
            Value::Map(out)
        }
        (Value::List(want), Some(Value::List(live))) => {
            Value::List(carried_list(place, want, live, last.and_then(Value::as_list).unwrap_or_default()))
        }
        (Value::Map(want), _) => {
            // Nothing to carry; what only a creation may send is left out where a read would never show it.
            let sent = want.iter().filter(|(name, _)| !place.key(name).is_unsendable());
            Value::Map(
                sent.map(|(name, value)| (name.clone(), carried(&place.key(name), value, None, None)))
                    .collect(),
            )
        }
        _ => want.clone(),
    }
}
