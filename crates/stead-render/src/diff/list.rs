//! Differences of two lists: elements that are changed, moved, inserted or removed.

use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;

use stead_model::{PropertyPath, Secret};

use super::sequence::{Op, sequence};
use super::{Differ, Sign};
use crate::Detail;
use crate::node::Node;
use crate::visible::cut;

/// Keys that name an element among its siblings.
const NAMES: [&str; 10] = ["name", "Name", "id", "Id", "key", "Key", "Sid", "path", "Path", "arn"];

/// Largest number of element pairs that are compared to find the ones that belong together.
const MAX_PAIRS: usize = 10_000;

/// Characters of an unchanged element.
const MAX_CONTEXT: usize = 60;

impl Differ {
    pub(super) fn lists(&mut self, depth: usize, path: &PropertyPath, old: &[Node<'_>], new: &[Node<'_>]) {
        if old.is_empty() || new.is_empty() {
            return self.scalars_of_lists(depth, path, old, new);
        }
        let texts = |items: &[Node<'_>]| items.iter().map(Node::text).collect::<Vec<String>>();
        let (a, b) = (texts(old), texts(new));
        let mut known = Vec::new();
        let old_keys: Vec<ElementKey<'_>> = keys(&a, old, &mut known);
        let new_keys: Vec<ElementKey<'_>> = keys(&b, new, &mut known);
        let ops = sequence(&old_keys, &new_keys);
        let moves = Moves::of(&ops, &old_keys, &new_keys);
        let count =
            if a.len() == b.len() { String::new() } else { format!(" {} → {} elements", a.len(), b.len()) };
        if !path.0.is_empty() || !count.is_empty() {
            self.push(
                depth,
                Sign::Both,
                format!("{path}:{count}").trim_start_matches(':').trim_start().to_owned(),
            );
        }
        for (at, op) in ops.iter().enumerate() {
            match op {
                Op::Equal { new, .. } => {
                    let (first, last) = (at == 0, at + 1 == ops.len());
                    self.equal_elements(depth + 1, &b, new, usize::from(!first), usize::from(!last));
                }
                Op::Changed { old: x, new: y } => {
                    let sides = Sides { old, new, a: &a, b: &b };
                    self.changed_elements(depth + 1, &sides, x, y, &moves);
                }
            }
        }
    }

    fn scalars_of_lists(&mut self, depth: usize, path: &PropertyPath, old: &[Node<'_>], new: &[Node<'_>]) {
        let text = |items: &[Node<'_>]| {
            let items: Vec<String> = items.iter().map(Node::text).collect();
            format!("[{}]", items.join(","))
        };
        let (old, new) = (self.cut(&text(old)), self.cut(&text(new)));
        self.pair(depth, &path.to_string(), old, new);
    }

    fn equal_elements(
        &mut self,
        depth: usize,
        texts: &[String],
        range: &Range<usize>,
        before: usize,
        after: usize,
    ) {
        let hidden = range.len().saturating_sub(before + after);
        let all = hidden == 0 || self.detail == Detail::Full;
        let limit = if self.detail == Detail::Full { usize::MAX } else { MAX_CONTEXT };
        let (head, tail) =
            if all { (range.end, range.end) } else { (range.start + before, range.end - after) };
        let shown = |at: usize| format!("  [{at}] {}", cut(&texts[at], limit));
        (range.start..head).for_each(|at| self.push(depth, Sign::Both, shown(at)));
        if !all {
            self.push(depth, Sign::Both, format!("… {hidden} unchanged"));
        }
        (tail..range.end).for_each(|at| self.push(depth, Sign::Both, shown(at)));
    }

    fn changed_elements(
        &mut self,
        depth: usize,
        sides: &Sides<'_, '_>,
        old: &Range<usize>,
        new: &Range<usize>,
        moves: &Moves,
    ) {
        let removed: Vec<usize> = old.clone().filter(|at| !moves.from.contains_key(at)).collect();
        let inserted: Vec<usize> = new.clone().filter(|at| !moves.to.contains_key(at)).collect();
        let pairs = sides.pairs(&removed, &inserted);
        for at in removed.iter().filter(|at| !pairs.values().any(|of| of == *at)) {
            self.push(depth, Sign::Old, format!("[{at}] {}", self.cut(&sides.a[*at])));
        }
        for at in new.clone() {
            if let Some(from) = moves.to.get(&at) {
                let text = format!("[{from}] → [{at}] {}", self.cut(&sides.b[at]));
                self.push(depth, Sign::Moved, text);
            } else if let Some(from) = pairs.get(&at) {
                if *from != at {
                    self.push(depth, Sign::Both, format!("[{at}] was [{from}]"));
                }
                let path = PropertyPath::default().index(at);
                self.compare(depth, &path, &sides.old[*from], &sides.new[at]);
            } else {
                self.push(depth, Sign::New, format!("[{at}] {}", self.cut(&sides.b[at])));
            }
        }
    }
}

/// Identity of an element: its text, and the numbers of the secrets in it, which the text does not tell apart.
type ElementKey<'s> = (&'s str, Vec<usize>);

/// Returns the identities of elements. `known` numbers the secrets of both lists.
fn keys<'s>(texts: &'s [String], items: &'s [Node<'_>], known: &mut Vec<&'s Secret>) -> Vec<ElementKey<'s>> {
    let mut number = |secret: &'s Secret| {
        known.iter().position(|one| *one == secret).unwrap_or_else(|| {
            known.push(secret);
            known.len() - 1
        })
    };
    let numbers = items.iter().map(|item| item.secrets().into_iter().map(&mut number).collect());
    texts.iter().map(String::as_str).zip(numbers.collect::<Vec<_>>()).collect()
}

/// Two lists, as nodes and as texts.
struct Sides<'s, 'n> {
    old: &'s [Node<'n>],
    new: &'s [Node<'n>],
    a: &'s [String],
    b: &'s [String],
}

impl Sides<'_, '_> {
    /// Returns the removed element that each inserted one is a change of.
    fn pairs(&self, removed: &[usize], inserted: &[usize]) -> BTreeMap<usize, usize> {
        let mut pairs = BTreeMap::new();
        let mut open: Vec<usize> = removed.to_vec();
        if removed.len() * inserted.len() <= MAX_PAIRS {
            for at in inserted {
                let alike = open.iter().position(|from| alike(&self.old[*from], &self.new[*at]));
                if let Some(index) = alike {
                    pairs.insert(*at, open.remove(index));
                }
            }
        }
        let rest: Vec<usize> = inserted.iter().copied().filter(|at| !pairs.contains_key(at)).collect();
        if rest.len() == open.len() {
            let zipped = rest.into_iter().zip(open);
            pairs.extend(zipped.filter(|(at, from)| comparable(&self.old[*from], &self.new[*at])));
        }
        pairs
    }
}

/// Returns true if a comparison of the parts says more than both values do.
fn comparable(old: &Node<'_>, new: &Node<'_>) -> bool {
    match (old, new) {
        (Node::Map(old), Node::Map(new)) => {
            old.len() == new.len() && old.iter().zip(new).all(|((a, _), (b, _))| a == b)
        }
        _ => true,
    }
}

/// Returns true if two objects have the same name, or share half of their entries.
fn alike(old: &Node<'_>, new: &Node<'_>) -> bool {
    let (Node::Map(old), Node::Map(new)) = (old, new) else { return false };
    let get = |map: &[(&str, Node<'_>)], key: &str| {
        map.iter().find(|(name, _)| *name == key).map(|(_, node)| node.text())
    };
    for name in NAMES {
        match (get(old, name), get(new, name)) {
            (None, None) => {}
            (a, b) => return a == b,
        }
    }
    let equal = old.iter().filter(|(key, node)| get(new, key) == Some(node.text())).count();
    equal > 0 && equal * 2 >= old.len().max(new.len()).saturating_sub(1)
}

/// Elements that are removed in one place and inserted in another, unchanged.
struct Moves {
    /// New position by old position.
    from: BTreeMap<usize, usize>,
    to: BTreeMap<usize, usize>,
}

impl Moves {
    fn of(ops: &[Op], old: &[ElementKey<'_>], new: &[ElementKey<'_>]) -> Moves {
        let mut gone: BTreeMap<&ElementKey<'_>, VecDeque<usize>> = BTreeMap::new();
        for op in ops {
            if let Op::Changed { old: range, .. } = op {
                range.clone().for_each(|at| gone.entry(&old[at]).or_default().push_back(at));
            }
        }
        let (mut from, mut to) = (BTreeMap::new(), BTreeMap::new());
        for op in ops {
            let Op::Changed { new: range, .. } = op else { continue };
            for at in range.clone() {
                if let Some(left) = gone.get_mut(&new[at]).and_then(VecDeque::pop_front) {
                    from.insert(left, at);
                    to.insert(at, left);
                }
            }
        }
        Moves { from, to }
    }
}
