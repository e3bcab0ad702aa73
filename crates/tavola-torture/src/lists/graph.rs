//! Dependencies of transactions, and cycles of them.

use std::collections::VecDeque;

/// Why one transaction is before another.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    /// The other one appended the next element of a list.
    Ww = 1,
    /// The other one saw its element.
    Wr = 2,
    /// It did not see the element that the other one appended next.
    Rw = 4,
    /// It had returned before the other one began.
    Time = 8,
    /// It survived a rebuild, and the other one did not.
    Rebuild = 16,
}

/// A set of kinds.
pub(super) type Kinds = u8;

pub(super) const WW: Kinds = Kind::Ww as Kinds;
pub(super) const WR: Kinds = Kind::Wr as Kinds;
pub(super) const RW: Kinds = Kind::Rw as Kinds;
pub(super) const TIME: Kinds = Kind::Time as Kinds;
pub(super) const REBUILD: Kinds = Kind::Rebuild as Kinds;

#[derive(Clone, Copy, Debug)]
pub(super) struct Edge {
    pub(super) to: usize,
    pub(super) kind: Kind,
}

/// The dependencies of all nodes.
pub(super) struct Graph {
    edges: Vec<Vec<Edge>>,
}

/// A way through the graph: the edges from a node back to itself.
pub(super) struct Cycle {
    pub(super) start: usize,
    pub(super) edges: Vec<Edge>,
}

impl Graph {
    pub(super) fn new(nodes: usize) -> Self {
        Self {
            edges: vec![Vec::new(); nodes],
        }
    }

    pub(super) fn add_node(&mut self) -> usize {
        self.edges.push(Vec::new());
        self.edges.len() - 1
    }

    pub(super) fn add(&mut self, from: usize, to: usize, kind: Kind) {
        if from != to {
            self.edges[from].push(Edge { to, kind });
        }
    }

    fn edges_of(&self, node: usize, kinds: Kinds) -> impl Iterator<Item = Edge> {
        let is_wanted = move |edge: &&Edge| edge.kind as Kinds & kinds != 0;
        self.edges[node].iter().filter(is_wanted).copied()
    }

    /// Finds a cycle of edges of these kinds.
    pub(super) fn find_cycle(&self, kinds: Kinds) -> Option<Cycle> {
        let components = self.components(kinds);
        let start = (0..self.edges.len()).find(|node| {
            let in_it = |edge: Edge| components[edge.to] == components[*node];
            self.edges_of(*node, kinds).any(in_it)
        })?;
        let edges = self.find_way(start, start, kinds)?;
        Some(Cycle { start, edges })
    }

    /// Finds a cycle of edges of these kinds and exactly one of [`Kind::Rw`].
    pub(super) fn find_single(&self, kinds: Kinds) -> Option<Cycle> {
        let components = self.components(kinds | RW);
        for start in 0..self.edges.len() {
            for edge in self.edges_of(start, RW) {
                if components[edge.to] == components[start]
                    && let Some(mut edges) = self.find_way(edge.to, start, kinds & !RW)
                {
                    edges.insert(0, edge);
                    return Some(Cycle { start, edges });
                }
            }
        }
        None
    }

    /// Returns the shortest way of at least one edge.
    fn find_way(&self, from: usize, to: usize, kinds: Kinds) -> Option<Vec<Edge>> {
        let mut came: Vec<Option<usize>> = vec![None; self.edges.len()];
        let mut by: Vec<Option<Edge>> = vec![None; self.edges.len()];
        let mut queue = VecDeque::from([from]);
        while let Some(node) = queue.pop_front() {
            for edge in self.edges_of(node, kinds) {
                if by[edge.to].is_some() {
                    continue;
                }
                came[edge.to] = Some(node);
                by[edge.to] = Some(edge);
                if edge.to != to {
                    queue.push_back(edge.to);
                    continue;
                }
                let mut way = Vec::new();
                let mut at = to;
                while let (Some(edge), Some(node)) = (by[at], came[at]) {
                    way.push(edge);
                    at = node;
                    if at == from {
                        break;
                    }
                }
                way.reverse();
                return Some(way);
            }
        }
        None
    }

    /// Returns the strongly connected component of each node (Tarjan, without recursion).
    fn components(&self, kinds: Kinds) -> Vec<usize> {
        let mut search = Search {
            graph: self,
            kinds,
            index: vec![usize::MAX; self.edges.len()],
            low: vec![0; self.edges.len()],
            component: vec![usize::MAX; self.edges.len()],
            stack: Vec::new(),
            next: 0,
        };
        for node in 0..self.edges.len() {
            if search.index[node] == usize::MAX {
                search.visit(node);
            }
        }
        search.component
    }
}

/// Tarjan's search.
struct Search<'g> {
    graph: &'g Graph,
    kinds: Kinds,
    index: Vec<usize>,
    low: Vec<usize>,
    component: Vec<usize>,
    stack: Vec<usize>,
    next: usize,
}

impl Search<'_> {
    fn begin(&mut self, node: usize) {
        self.index[node] = self.next;
        self.low[node] = self.next;
        self.next += 1;
        self.stack.push(node);
    }

    fn visit(&mut self, root: usize) {
        // Nodes on the way, and how many of their edges were followed.
        let mut way = vec![(root, 0)];
        self.begin(root);
        while let Some((node, followed)) = way.last_mut() {
            let node = *node;
            if let Some(edge) = self.graph.edges[node].get(*followed) {
                *followed += 1;
                if edge.kind as Kinds & self.kinds == 0 {
                    continue;
                }
                if self.index[edge.to] == usize::MAX {
                    self.begin(edge.to);
                    way.push((edge.to, 0));
                } else if self.component[edge.to] == usize::MAX {
                    self.low[node] = self.low[node].min(self.index[edge.to]);
                }
                continue;
            }
            way.pop();
            if let Some((parent, _)) = way.last() {
                self.low[*parent] = self.low[*parent].min(self.low[node]);
            }
            if self.low[node] == self.index[node] {
                while let Some(member) = self.stack.pop() {
                    self.component[member] = node;
                    if member == node {
                        break;
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cycles_are_found_by_their_kinds() {
        let mut graph = Graph::new(5);
        graph.add(0, 1, Kind::Ww);
        graph.add(1, 2, Kind::Wr);
        graph.add(2, 0, Kind::Rw);
        graph.add(3, 0, Kind::Ww);
        graph.add(2, 4, Kind::Time);
        assert!(graph.find_cycle(WW | WR).is_none());
        let cycle = graph.find_single(WW | WR).unwrap();
        assert_eq!((cycle.start, cycle.edges.len()), (2, 3));
        assert_eq!(graph.find_cycle(WW | WR | RW).unwrap().edges.len(), 3);
        assert!(graph.find_cycle(WW | RW | TIME | REBUILD).is_none());
        graph.add(4, 3, Kind::Rebuild);
        assert!(graph.find_cycle(WW | WR | TIME).is_none());
        let cycle = graph.find_cycle(WW | WR | TIME | REBUILD).unwrap();
        assert_eq!(cycle.edges.len(), 5);
        assert!(cycle.edges.iter().all(|edge| edge.kind != Kind::Rw));
    }

    #[test]
    fn two_edges_of_a_kind_are_not_single() {
        let mut graph = Graph::new(2);
        graph.add(0, 1, Kind::Rw);
        graph.add(1, 0, Kind::Rw);
        assert!(graph.find_single(WW | WR | TIME).is_none());
        assert!(graph.find_cycle(RW).is_some());
    }
}
