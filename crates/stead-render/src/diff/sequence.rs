//! Differences of two sequences, never quadratic in long ones.
//!
//! Long sequences are split at elements that occur once on both sides. A long part without such an element counts as
//! replaced as a whole.

use std::collections::HashMap;
use std::hash::Hash;
use std::ops::Range;

use similar::{Algorithm, DiffOp, capture_diff_slices};

/// Longest part, both sides together, that is compared element by element.
const MAX_COMPARED: usize = 6000;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Op {
    Equal {
        old: Range<usize>,
        new: Range<usize>,
    },
    /// One of the ranges may be empty.
    Changed {
        old: Range<usize>,
        new: Range<usize>,
    },
}

/// Returns ranges that cover both sequences in order. No two neighbours are of the same kind.
pub(crate) fn sequence<T: Hash + Eq>(old: &[T], new: &[T]) -> Vec<Op> {
    let mut ids: HashMap<&T, u32> = HashMap::new();
    let mut number = |item| {
        let next = u32::try_from(ids.len()).unwrap_or(u32::MAX);
        *ids.entry(item).or_insert(next)
    };
    let old: Vec<u32> = old.iter().map(&mut number).collect();
    let new: Vec<u32> = new.iter().map(&mut number).collect();
    let mut ops = Ops::default();
    split(&old, &new, 0..old.len(), 0..new.len(), &mut ops);
    ops.0
}

#[derive(Default)]
struct Ops(Vec<Op>);

impl Ops {
    fn equal(&mut self, old: Range<usize>, new: Range<usize>) {
        match self.0.last_mut() {
            _ if old.is_empty() => {}
            Some(Op::Equal { old: before, new: of }) => (before.end, of.end) = (old.end, new.end),
            _ => self.0.push(Op::Equal { old, new }),
        }
    }

    fn changed(&mut self, old: Range<usize>, new: Range<usize>) {
        match self.0.last_mut() {
            _ if old.is_empty() && new.is_empty() => {}
            Some(Op::Changed { old: before, new: of }) => (before.end, of.end) = (old.end, new.end),
            _ => self.0.push(Op::Changed { old, new }),
        }
    }
}

fn split(old: &[u32], new: &[u32], mut a: Range<usize>, mut b: Range<usize>, ops: &mut Ops) {
    let same = old[a.clone()].iter().zip(&new[b.clone()]).take_while(|(a, b)| a == b).count();
    ops.equal(a.start..a.start + same, b.start..b.start + same);
    (a.start, b.start) = (a.start + same, b.start + same);
    let ends = old[a.clone()].iter().rev().zip(new[b.clone()].iter().rev());
    let tail = ends.take_while(|(a, b)| a == b).count();
    (a.end, b.end) = (a.end - tail, b.end - tail);
    if a.is_empty() || b.is_empty() {
        ops.changed(a.clone(), b.clone());
    } else if a.len() + b.len() <= MAX_COMPARED {
        myers(old, new, &a, &b, ops);
    } else {
        let anchors = anchors(&old[a.clone()], &new[b.clone()]);
        if anchors.is_empty() {
            ops.changed(a.clone(), b.clone());
        } else {
            let (mut i, mut j) = (a.start, b.start);
            for (x, y) in anchors {
                let (x, y) = (a.start + x, b.start + y);
                split(old, new, i..x, j..y, ops);
                ops.equal(x..x + 1, y..y + 1);
                (i, j) = (x + 1, y + 1);
            }
            split(old, new, i..a.end, j..b.end, ops);
        }
    }
    ops.equal(a.end..a.end + tail, b.end..b.end + tail);
}

fn myers(old: &[u32], new: &[u32], a: &Range<usize>, b: &Range<usize>, ops: &mut Ops) {
    // Only the lengths of the ranges are used: an empty range may start elsewhere.
    let (mut i, mut j) = (a.start, b.start);
    for op in capture_diff_slices(Algorithm::Myers, &old[a.clone()], &new[b.clone()]) {
        let (x, y) = (i..i + op.old_range().len(), j..j + op.new_range().len());
        (i, j) = (x.end, y.end);
        match op {
            DiffOp::Equal { .. } => ops.equal(x, y),
            _ => ops.changed(x, y),
        }
    }
}

/// Returns positions of elements that occur once on each side, in an order that rises on both.
fn anchors(old: &[u32], new: &[u32]) -> Vec<(usize, usize)> {
    let once = |side: &[u32]| {
        let mut seen: HashMap<u32, Option<usize>> = HashMap::new();
        for (at, id) in side.iter().enumerate() {
            seen.entry(*id).and_modify(|first| *first = None).or_insert(Some(at));
        }
        seen
    };
    let (left, right) = (once(old), once(new));
    let position = |seen: &HashMap<u32, Option<usize>>, id: &u32| seen.get(id).copied().flatten();
    let pairs: Vec<(usize, usize)> =
        old.iter().filter_map(|id| Some((position(&left, id)?, position(&right, id)?))).collect();
    // Longest rising subsequence of the second positions: `piles` holds the index of the top of each pile.
    let (mut piles, mut before) = (Vec::<usize>::new(), vec![None; pairs.len()]);
    for (at, (_, y)) in pairs.iter().enumerate() {
        let pile = piles.partition_point(|top| pairs[*top].1 < *y);
        before[at] = pile.checked_sub(1).map(|pile| piles[pile]);
        piles.truncate(piles.len().max(pile));
        if pile == piles.len() { piles.push(at) } else { piles[pile] = at }
    }
    let mut chain = Vec::new();
    let mut at = piles.last().copied();
    while let Some(index) = at {
        chain.push(pairs[index]);
        at = before[index];
    }
    chain.reverse();
    chain
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn check(old: &[u32], new: &[u32]) {
        let (mut i, mut j) = (0, 0);
        for op in sequence(old, new) {
            match op {
                Op::Equal { old: a, new: b } => {
                    assert!(
                        a.start == i && b.start == j && !a.is_empty() && old[a.clone()] == new[b.clone()]
                    );
                    (i, j) = (a.end, b.end);
                }
                Op::Changed { old: a, new: b } => {
                    assert!(a.start == i && b.start == j && (!a.is_empty() || !b.is_empty()));
                    (i, j) = (a.end, b.end);
                }
            }
        }
        assert_eq!((i, j), (old.len(), new.len()));
    }

    proptest! {
        #[test]
        fn ranges_cover_both_sequences(
            old in proptest::collection::vec(0u32..6, 0..30),
            new in proptest::collection::vec(0u32..6, 0..30),
        ) {
            check(&old, &new);
        }
    }

    #[test]
    fn long_sequences_are_split_at_unique_elements() {
        let old: Vec<u32> = (0..50_000).collect();
        let mut new = old.clone();
        new.remove(40_000);
        new.insert(10_000, 77_777);
        new[20_000] = 88_888;
        check(&old, &new);
        let changed = sequence(&old, &new).iter().filter(|op| matches!(op, Op::Changed { .. })).count();
        assert_eq!(changed, 3);
        let (odd, even): (Vec<u32>, Vec<u32>) = ((0..20_000).map(|n| n % 7).collect(), vec![9; 20_000]);
        check(&odd, &even);
    }
}
