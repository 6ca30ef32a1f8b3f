//! Pairing of the elements of two lists: by position where order is significant, else by content.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use stead_model::{Text, Value};

use super::lists::satisfies;
use super::position::Position;

/// Number of comparisons up to which the elements without a match are paired by similarity.
const MAX_SCORED: usize = 250_000;

/// Pairs each desired element with a live one. `explained` names further pairs that fit.
pub(crate) fn pairs(
    position: &Position<'_>,
    want: &[Value],
    live: &[Value],
    explained: &dyn Fn(usize, usize) -> bool,
) -> Vec<Option<usize>> {
    let element = position.index(0);
    let fits = |index: usize, at: usize| satisfies(&element, &want[index], &live[at]) || explained(index, at);
    let mut pairs: Vec<Option<usize>> = match position.is_unordered() {
        true => Matching::new(want, live).find(&fits),
        false => {
            (0..want.len()).map(|index| (index < live.len() && fits(index, index)).then_some(index)).collect()
        }
    };
    pair_by_similarity(want, live, &mut pairs);
    pairs
}

/// Maximum bipartite matching between desired elements and the live elements that fit them.
struct Matching<'a> {
    want: &'a [Value],
    live: &'a [Value],
    /// Desired element by the live element assigned to it.
    taken: BTreeMap<usize, usize>,
    /// Live element of each desired one.
    pairs: Vec<Option<usize>>,
}

impl<'a> Matching<'a> {
    fn new(want: &'a [Value], live: &'a [Value]) -> Matching<'a> {
        Matching { want, live, taken: BTreeMap::new(), pairs: vec![None; want.len()] }
    }

    /// Assigns most elements by a shared scalar, in nearly linear time, and the others by augmenting paths.
    fn find(mut self, fits: &dyn Fn(usize, usize) -> bool) -> Vec<Option<usize>> {
        self.assign_by_scalars(fits);
        let mut known: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for index in 0..self.want.len() {
            if self.pairs[index].is_none() {
                self.augment(index, &mut known, fits);
            }
        }
        self.pairs
    }

    fn assign(&mut self, index: usize, at: usize) {
        self.taken.insert(at, index);
        self.pairs[index] = Some(at);
    }

    /// Assigns each element to a free live one that shares its rarest scalar, if one fits.
    fn assign_by_scalars(&mut self, fits: &dyn Fn(usize, usize) -> bool) {
        let (want, live) = (self.want, self.live);
        let mut holders: BTreeMap<(Option<&Text>, String), Vec<usize>> = BTreeMap::new();
        for (at, item) in live.iter().enumerate() {
            scalars(item).for_each(|scalar| holders.entry(scalar).or_default().push(at));
        }
        for (index, item) in want.iter().enumerate() {
            let shared = scalars(item).filter_map(|scalar| holders.get(&scalar));
            let rarest = shared.min_by_key(|found| found.len());
            let mut free = rarest.into_iter().flatten().filter(|at| !self.taken.contains_key(*at));
            if let Some(at) = free.find(|at| fits(index, **at)) {
                self.assign(index, *at);
            }
        }
    }

    /// Finds a live element for one more desired element; others may move to another one that fits them.
    fn augment(
        &mut self,
        start: usize,
        known: &mut BTreeMap<usize, Vec<usize>>,
        fits: &dyn Fn(usize, usize) -> bool,
    ) {
        // Desired element that reached each live one.
        let mut reached: BTreeMap<usize, usize> = BTreeMap::new();
        let mut queue = VecDeque::from([start]);
        while let Some(index) = queue.pop_front() {
            let live = 0..self.live.len();
            let all = known.entry(index).or_insert_with(|| live.filter(|at| fits(index, *at)).collect());
            for &at in all.iter() {
                if reached.contains_key(&at) {
                    continue;
                }
                reached.insert(at, index);
                match self.taken.get(&at) {
                    Some(holder) => queue.push_back(*holder),
                    None => return self.shift(at, start, &reached),
                }
            }
        }
    }

    /// Moves each element on the path from a free live element back to the start.
    fn shift(&mut self, free: usize, start: usize, reached: &BTreeMap<usize, usize>) {
        let mut at = free;
        loop {
            let index = reached[&at];
            let former = self.pairs[index];
            self.assign(index, at);
            match former {
                Some(former) if index != start => at = former,
                _ => return,
            }
        }
    }
}

/// Returns the scalars of an element: itself, or its scalar members.
fn scalars(item: &Value) -> Box<dyn Iterator<Item = (Option<&Text>, String)> + '_> {
    match item {
        Value::Map(map) => Box::new(
            map.iter()
                .filter(|(_, value)| !matches!(value, Value::Map(_) | Value::List(_)))
                .map(|(name, value)| (Some(name), value.to_json())),
        ),
        Value::List(_) => Box::new(std::iter::empty()),
        scalar => Box::new(std::iter::once((None, scalar.to_json()))),
    }
}

/// Pairs the remaining elements by similarity, preferring the same position.
pub(crate) fn pair_by_similarity(want: &[Value], live: &[Value], pairs: &mut [Option<usize>]) {
    let taken: BTreeSet<usize> = pairs.iter().flatten().copied().collect();
    let mut free: BTreeSet<usize> = (0..live.len()).filter(|at| !taken.contains(at)).collect();
    let left: Vec<usize> = (0..want.len()).filter(|index| pairs[*index].is_none()).collect();
    if left.len() * free.len() > MAX_SCORED {
        // Only which members of others are kept depends on these pairs.
        left.iter().zip(free).for_each(|(index, at)| pairs[*index] = Some(at));
        return;
    }
    let mut scores: Vec<(usize, bool, usize, usize)> = Vec::new();
    for index in left {
        scores.extend(free.iter().map(|at| (similarity(&want[index], &live[*at]), index == *at, index, *at)));
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
pub(crate) fn similarity(want: &Value, live: &Value) -> usize {
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
