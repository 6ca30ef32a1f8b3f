//! Directed acyclic graphs: which vertices are ready, in which order they come, and whether there is a cycle.
//!
//! Vertices are positions, counted from 0. Nothing here recurses, so that the length of a chain costs no stack, and every result
//! depends on the positions alone.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Kahn's algorithm under way: the vertices that are not finished, and how many dependencies each of them still waits for.
#[derive(Clone, Debug)]
pub struct Dag {
    dependents: Vec<Vec<usize>>,
    unmet: Vec<usize>,
}

impl Dag {
    /// Builds the graph from the dependencies of each vertex.
    ///
    /// A dependency that is listed twice counts twice, here and in [`finish`](Dag::finish). Panics if a dependency is not a vertex.
    pub fn new<N: IntoIterator<Item = usize>>(dependencies: impl IntoIterator<Item = N>) -> Dag {
        let mut dependents: Vec<Vec<usize>> = Vec::new();
        let mut unmet = Vec::new();
        for (vertex, dependencies) in dependencies.into_iter().enumerate() {
            let mut count = 0;
            for dependency in dependencies {
                if dependency >= dependents.len() {
                    dependents.resize(dependency + 1, Vec::new());
                }
                dependents[dependency].push(vertex);
                count += 1;
            }
            unmet.push(count);
        }
        assert!(dependents.len() <= unmet.len(), "a dependency that is not a vertex");
        dependents.resize(unmet.len(), Vec::new());
        Dag { dependents, unmet }
    }

    /// Returns the vertices that wait for no dependency, in order.
    pub fn ready(&self) -> impl Iterator<Item = usize> {
        self.unmet.iter().enumerate().filter(|(_, unmet)| **unmet == 0).map(|(vertex, _)| vertex)
    }

    /// Returns the vertices that depend on this one, in order.
    pub fn dependents(&self, vertex: usize) -> &[usize] {
        &self.dependents[vertex]
    }

    /// Finishes a ready vertex and passes on each dependent that becomes ready by it, in order.
    ///
    /// A vertex is finished once at most.
    pub fn finish(&mut self, vertex: usize, mut becomes_ready: impl FnMut(usize)) {
        for &dependent in &self.dependents[vertex] {
            self.unmet[dependent] -= 1;
            if self.unmet[dependent] == 0 {
                becomes_ready(dependent);
            }
        }
    }

    /// Finishes all vertices and returns them, each after its dependencies and the smallest ready one first.
    ///
    /// Vertices on a cycle or behind one are [blocked](Dag::is_blocked) and left out.
    pub fn order(&mut self) -> Vec<usize> {
        let mut ready: BinaryHeap<Reverse<usize>> = self.ready().map(Reverse).collect();
        let mut order = Vec::with_capacity(self.unmet.len());
        while let Some(Reverse(vertex)) = ready.pop() {
            order.push(vertex);
            self.finish(vertex, |dependent| ready.push(Reverse(dependent)));
        }
        order
    }

    /// Finishes all vertices that are not blocked, in linear time.
    pub fn finish_all(&mut self) {
        let mut ready: Vec<usize> = self.ready().collect();
        while let Some(vertex) = ready.pop() {
            self.finish(vertex, |dependent| ready.push(dependent));
        }
    }

    /// Finishes all vertices and returns how many are on the longest chain of dependencies.
    ///
    /// Chains end at a blocked vertex.
    pub fn longest_chain(&mut self) -> usize {
        let mut depths = vec![1; self.unmet.len()];
        let mut ready: Vec<usize> = self.ready().collect();
        while let Some(vertex) = ready.pop() {
            for &dependent in &self.dependents[vertex] {
                depths[dependent] = depths[dependent].max(depths[vertex] + 1);
            }
            self.finish(vertex, |dependent| ready.push(dependent));
        }
        depths.into_iter().max().unwrap_or(0)
    }

    /// Returns true if the vertex still waits for a dependency.
    ///
    /// After [`finish_all`](Dag::finish_all), [`order`](Dag::order) or [`longest_chain`](Dag::longest_chain) such a vertex is on a
    /// cycle or behind one.
    pub fn is_blocked(&self, vertex: usize) -> bool {
        self.unmet[vertex] > 0
    }

    /// Returns a cycle among the vertices that are still blocked, with its first vertex again at the end.
    ///
    /// `dependencies` are the ones that the graph was built from. The walk starts at the smallest blocked vertex and takes the
    /// first blocked dependency each time.
    pub fn cycle<N: IntoIterator<Item = usize>>(
        &self,
        dependencies: impl Fn(usize) -> N,
    ) -> Option<Vec<usize>> {
        let mut vertex = (0..self.unmet.len()).find(|vertex| self.is_blocked(*vertex))?;
        let mut visited = vec![false; self.unmet.len()];
        let mut path = Vec::new();
        while !visited[vertex] {
            visited[vertex] = true;
            path.push(vertex);
            vertex = dependencies(vertex).into_iter().find(|dependency| self.is_blocked(*dependency))?;
        }
        let start = path.iter().position(|visited| *visited == vertex)?;
        path.drain(..start);
        path.push(vertex);
        Some(path)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn dag(dependencies: &[&[usize]]) -> Dag {
        Dag::new(dependencies.iter().map(|vertex| vertex.iter().copied()))
    }

    #[test]
    fn order_has_dependencies_first_and_the_smallest_ready_vertex_next() {
        assert_eq!(dag(&[&[3], &[], &[1], &[]]).order(), [1, 2, 3, 0]);
        assert_eq!(dag(&[]).order(), [0usize; 0]);
    }

    #[test]
    fn vertices_behind_a_cycle_are_blocked_and_not_on_it() {
        // 0 waits for 1, which waits for itself by way of 2 and 3.
        let dependencies: [&[usize]; 5] = [&[1], &[2], &[3, 4], &[1], &[]];
        let mut dag = dag(&dependencies);
        assert_eq!(dag.order(), [4]);
        assert!((0..4).all(|vertex| dag.is_blocked(vertex)) && !dag.is_blocked(4));
        assert_eq!(dag.cycle(|vertex| dependencies[vertex].iter().copied()), Some(vec![1, 2, 3, 1]));
    }

    #[test]
    fn vertex_that_depends_on_itself_is_a_cycle() {
        let mut dag = dag(&[&[0]]);
        dag.finish_all();
        assert_eq!(dag.cycle(|_| [0]), Some(vec![0, 0]));
    }

    #[test]
    fn dependent_becomes_ready_with_its_last_dependency() {
        let mut dag = dag(&[&[], &[], &[0, 1]]);
        assert_eq!((dag.ready().collect::<Vec<_>>(), dag.dependents(1)), (vec![0, 1], &[2][..]));
        let mut ready = Vec::new();
        dag.finish(1, |vertex| ready.push(vertex));
        assert!(ready.is_empty());
        dag.finish(0, |vertex| ready.push(vertex));
        assert_eq!(ready, [2]);
    }

    #[test]
    fn longest_chain_counts_vertices_however_many_there_are() {
        assert_eq!(dag(&[&[], &[0], &[0, 1, 1], &[]]).longest_chain(), 3);
        assert_eq!(dag(&[]).longest_chain(), 0);
        let mut long = Dag::new((0..200_000_usize).map(|vertex| vertex.checked_sub(1)));
        assert_eq!(long.longest_chain(), 200_000);
    }

    #[test]
    #[should_panic(expected = "not a vertex")]
    fn dependency_outside_of_the_graph_is_refused() {
        dag(&[&[1]]);
    }

    proptest! {
        #[test]
        fn either_all_vertices_are_ordered_or_a_cycle_is_found(
            edges in proptest::collection::vec(proptest::collection::btree_set(0usize..12, 0..3), 12),
        ) {
            let mut dag = Dag::new(edges.iter().map(|vertex| vertex.iter().copied()));
            let order = dag.order();
            for (at, vertex) in order.iter().enumerate() {
                prop_assert!(edges[*vertex].iter().all(|dependency| order[..at].contains(dependency)));
            }
            match dag.cycle(|vertex| edges[vertex].iter().copied()) {
                None => prop_assert_eq!(order.len(), 12),
                Some(cycle) => {
                    prop_assert_eq!(cycle.first(), cycle.last());
                    prop_assert!(cycle.windows(2).all(|pair| edges[pair[0]].contains(&pair[1])));
                    prop_assert!(cycle.iter().all(|vertex| !order.contains(vertex)));
                }
            }
        }
    }
}
