//! Limits are values, so that a test can stand at one and one above it.

/// What one stack may hold. `docs/limits.md` states the defaults.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    pub resources: usize,
    /// What depends on what, counted once a pair.
    pub edges: usize,
    /// Resources on the longest chain of dependencies.
    pub depth: usize,
    /// Bytes of JSON that one property of a resource may take.
    pub property_bytes: usize,
    /// Bytes of JSON that all inputs of a resource may take together.
    pub resource_bytes: usize,
    /// How long one evaluation may run, in interrupts of the interpreter: counted, not timed, so that the
    /// same program always ends the same way. One is roughly ten thousand branches and calls.
    pub evaluation_interrupts: u64,
    /// Heap of the evaluator, in bytes.
    pub evaluation_heap: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            resources: 100_000,
            edges: 1_000_000,
            depth: 10_000,
            property_bytes: 4 << 20,
            resource_bytes: 16 << 20,
            evaluation_interrupts: 1_000_000,
            evaluation_heap: 1 << 30,
        }
    }
}

/// How large a graph or a state is, in the measures that have limits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Extent {
    pub resources: usize,
    pub edges: usize,
    pub depth: usize,
}

impl Extent {
    /// `needs[n]` are the positions that the n-th resource waits for. What goes round in circles has no
    /// depth; that is another error, and somebody else's to find.
    pub fn of(needs: &[Vec<usize>]) -> Extent {
        let edges = needs.iter().map(Vec::len).sum();
        Extent { resources: needs.len(), edges, depth: depth(needs) }
    }
}

/// Resources on the longest chain. Not recursive: chains may be longer than a thread's stack.
fn depth(needs: &[Vec<usize>]) -> usize {
    let mut waiting: Vec<usize> = needs.iter().map(Vec::len).collect();
    let mut dependants: Vec<Vec<usize>> = vec![Vec::new(); needs.len()];
    for (at, needs) in needs.iter().enumerate() {
        needs.iter().for_each(|need| dependants[*need].push(at));
    }
    let mut depths = vec![1; needs.len()];
    let mut free: Vec<usize> = (0..needs.len()).filter(|at| waiting[*at] == 0).collect();
    while let Some(at) = free.pop() {
        for &dependant in &dependants[at] {
            depths[dependant] = depths[dependant].max(depths[at] + 1);
            waiting[dependant] -= 1;
            if waiting[dependant] == 0 {
                free.push(dependant);
            }
        }
    }
    depths.into_iter().max().unwrap_or(0)
}

impl Limits {
    /// What is too much, in words; `None`: it fits.
    pub fn exceeded(&self, extent: &Extent) -> Option<String> {
        let Extent { resources, edges, depth } = *extent;
        if resources > self.resources {
            Some(format!("{resources} resources; a stack holds at most {}", self.resources))
        } else if edges > self.edges {
            Some(format!("{edges} dependencies; a stack holds at most {}", self.edges))
        } else if depth > self.depth {
            Some(format!("a chain of {depth} dependencies; it may have at most {}", self.depth))
        } else {
            None
        }
    }

    /// The limits of what is recorded. While a run is under way, the old and the new are both there.
    #[must_use]
    pub fn of_state(&self) -> Limits {
        Limits { resources: 2 * self.resources, edges: 2 * self.edges, depth: 2 * self.depth, ..*self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chain(length: usize) -> Vec<Vec<usize>> {
        (0..length).map(|at| at.checked_sub(1).into_iter().collect()).collect()
    }

    #[test]
    fn each_limit_is_kept_and_one_above_is_refused() {
        let limits = Limits::default();
        let fits = |extent: Extent| limits.exceeded(&extent).is_none();
        for (at, above) in [
            (
                Extent { resources: 100_000, ..Extent::default() },
                Extent { resources: 100_001, ..Extent::default() },
            ),
            (
                Extent { edges: 1_000_000, ..Extent::default() },
                Extent { edges: 1_000_001, ..Extent::default() },
            ),
            (Extent::of(&chain(10_000)), Extent::of(&chain(10_001))),
        ] {
            assert!(fits(at) && !fits(above), "{above:?}");
        }
    }

    #[test]
    fn depth_counts_the_longest_chain() {
        assert_eq!(
            Extent::of(&[vec![], vec![0], vec![0, 1], vec![]]),
            Extent { resources: 4, edges: 3, depth: 3 }
        );
        assert_eq!(Extent::of(&[]), Extent::default());
    }
}
