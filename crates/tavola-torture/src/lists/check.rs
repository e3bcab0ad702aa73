//! The check of a history: is there one order of all transactions that explains all of it?

use super::graph::{Cycle, Graph, Kind, Kinds, REBUILD, RW, TIME, WR, WW};
use super::history::{Fate, History, NEVER};
use super::order::{Orders, find_orders};

/// How much was checked.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub(super) struct Checked {
    pub(super) committed: usize,
    /// Transactions of killed processes that had committed.
    pub(super) unreported: usize,
    /// Transactions that a loss of memory took away.
    pub(super) lost: usize,
}

/// Kinds of cycles, the worst ones first, by their names in the literature.
const CYCLES: [(&str, Kinds, bool); 9] = [
    ("G0", WW, false),
    ("G1c", WW | WR, false),
    ("G-single", WW | WR, true),
    ("G2", WW | WR | RW, false),
    ("G0 with time", WW | TIME, false),
    ("G1c with time", WW | WR | TIME, false),
    ("G-single with time", WW | WR | TIME, true),
    ("G2 with time", WW | WR | RW | TIME, false),
    ("not a prefix", WW | WR | RW | TIME | REBUILD, false),
];

/// Checks that a history is strictly serializable, and that what a rebuild has kept is a beginning
/// of the order.
pub(super) fn check(history: &History) -> Result<Checked, String> {
    let orders = find_orders(history)?;
    let graph = graph_of(history, &orders);
    for (name, kinds, is_single) in CYCLES {
        let found = match is_single {
            true => graph.find_single(kinds),
            false => graph.find_cycle(kinds),
        };
        if let Some(cycle) = found {
            return Err(format!("{name}: {}", explain(history, &cycle)));
        }
    }
    let is_unreported = |at: &&usize| history.txns[**at].fate == Fate::Unknown;
    Ok(Checked {
        committed: orders.committed.len(),
        unreported: orders.committed.iter().filter(is_unreported).count(),
        lost: orders.lost.len(),
    })
}

fn graph_of(history: &History, orders: &Orders) -> Graph {
    let mut graph = Graph::new(history.txns.len());
    let writer = |element: &u64| orders.writers.get(element).copied();
    for list in orders.lists.values() {
        for pair in list.windows(2) {
            if let (Some(one), Some(next)) = (writer(&pair[0]), writer(&pair[1])) {
                graph.add(one, next, Kind::Ww);
            }
        }
    }
    for at in &orders.committed {
        for seen in &orders.seen[*at] {
            if let Some(last) = seen.list.last().and_then(writer) {
                graph.add(last, *at, Kind::Wr);
            }
            let next = orders.lists[&seen.key].get(seen.list.len());
            if let Some(next) = next.and_then(writer) {
                graph.add(*at, next, Kind::Rw);
            }
        }
    }
    add_times(&mut graph, history, orders);
    if history.is_lost {
        let cut = graph.add_node();
        for at in &orders.committed {
            match orders.lost.contains(at) {
                true => graph.add(cut, *at, Kind::Rebuild),
                // A transaction that writes nothing may have seen values that do not survive.
                false if history.txns[*at].appends().next().is_some() => {
                    graph.add(*at, cut, Kind::Rebuild);
                }
                false => {}
            }
        }
    }
    graph
}

/// Adds the order of time: a node for each return, in a chain, so that there are few edges.
fn add_times(graph: &mut Graph, history: &History, orders: &Orders) {
    let mut returned: Vec<(u64, usize)> = orders
        .committed
        .iter()
        .map(|at| (history.txns[*at].until, *at))
        .filter(|(until, _)| *until != NEVER)
        .collect();
    returned.sort_unstable();
    let mut nodes: Vec<usize> = Vec::with_capacity(returned.len());
    for (_, at) in &returned {
        let node = graph.add_node();
        graph.add(*at, node, Kind::Time);
        if let Some(last) = nodes.last() {
            graph.add(*last, node, Kind::Time);
        }
        nodes.push(node);
    }
    for at in &orders.committed {
        let from = history.txns[*at].from;
        let before = returned.partition_point(|(until, _)| *until < from);
        if let Some(last) = before.checked_sub(1) {
            graph.add(nodes[last], *at, Kind::Time);
        }
    }
}

fn explain(history: &History, cycle: &Cycle) -> String {
    let name = |node: usize| history.txns.get(node).map(|txn| format!("[{txn}]"));
    let mut text = name(cycle.start).unwrap_or_default();
    for edge in &cycle.edges {
        match (name(edge.to), edge.kind) {
            (Some(txn), kind) => text += &format!(" {kind:?} {txn}"),
            (None, Kind::Rebuild) => text += " Rebuild",
            (None, _) => {}
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::super::history::{Lists, Op, Txn};
    use super::*;

    fn append(key: u64, element: u64) -> Op {
        Op::Append { key, element }
    }

    fn read(key: u64, list: &[u64]) -> Op {
        let list = list.to_vec();
        Op::Read { key, list }
    }

    fn txn(from: u64, until: u64, ops: &[Op]) -> Txn {
        let fate = match until {
            NEVER => Fate::Unknown,
            _ => Fate::Committed,
        };
        let ops = ops.to_vec();
        Txn {
            process: 0,
            from,
            until,
            fate,
            ops,
        }
    }

    fn history(txns: Vec<Txn>, after: &[(u64, &[u64])]) -> History {
        let after = after.iter().map(|(key, list)| (*key, list.to_vec()));
        History {
            before: Lists::new(),
            txns,
            after: after.collect(),
            is_lost: false,
            keeps_acknowledged: true,
        }
    }

    fn name_of(history: &History) -> String {
        match check(history) {
            Ok(_) => "fine".to_string(),
            Err(why) => why.split(':').next().unwrap_or_default().to_string(),
        }
    }

    #[test]
    fn histories_that_have_an_order_pass() {
        let side_by_side = vec![
            txn(1, 9, &[read(1, &[]), append(2, 20)]),
            txn(2, 8, &[read(2, &[20]), append(1, 10)]),
            txn(10, 11, &[read(1, &[10]), append(1, 11), read(1, &[10, 11])]),
        ];
        let fine = history(side_by_side, &[(1, &[10, 11]), (2, &[20])]);
        assert_eq!(name_of(&fine), "fine");
        // It was killed: it may have happened or not.
        for after in [&[10_u64][..], &[]] {
            let unsure = vec![txn(1, NEVER, &[append(1, 10)])];
            assert_eq!(name_of(&history(unsure, &[(1, after)])), "fine");
        }
    }

    #[test]
    fn mistakes_that_need_no_graph_are_named() {
        let mut aborted = history(
            vec![txn(1, 2, &[append(1, 10)]), txn(3, 4, &[read(1, &[10])])],
            &[(1, &[10])],
        );
        aborted.txns[0].fate = Fate::Aborted;
        assert_eq!(name_of(&aborted), "G1a");
        let part = vec![
            txn(1, 9, &[append(1, 10), append(1, 11)]),
            txn(3, 4, &[read(1, &[10])]),
        ];
        assert_eq!(name_of(&history(part, &[(1, &[10, 11])])), "G1b");
        let lost = vec![txn(1, 2, &[append(1, 10)])];
        assert_eq!(name_of(&history(lost, &[])), "lost");
        let torn = vec![txn(1, NEVER, &[append(1, 10), append(2, 20)])];
        assert_eq!(name_of(&history(torn, &[(1, &[10])])), "torn");
        let overwritten = vec![
            txn(1, 2, &[append(1, 10)]),
            txn(1, 2, &[append(1, 11)]),
            txn(1, 2, &[read(1, &[10])]),
        ];
        let found = name_of(&history(overwritten, &[(1, &[11])]));
        assert_eq!(found, "incompatible orders");
        let own = vec![txn(1, 2, &[append(1, 10), read(1, &[])])];
        assert_eq!(name_of(&history(own, &[(1, &[10])])), "internal");
        let twice = vec![txn(1, 2, &[read(1, &[]), read(1, &[10])])];
        assert_eq!(name_of(&history(twice, &[(1, &[10])])), "internal");
        let strange = history(Vec::new(), &[(1, &[10])]);
        assert!(check(&strange).unwrap_err().contains("nobody appended"));
    }

    #[test]
    fn cycles_are_named() {
        let lists: [(u64, &[u64]); 2] = [(1, &[10, 11]), (2, &[21, 20])];
        let crossed = vec![
            txn(1, 9, &[append(1, 10), append(2, 20)]),
            txn(1, 9, &[append(1, 11), append(2, 21)]),
        ];
        assert_eq!(name_of(&history(crossed, &lists)), "G0");
        let circular = vec![
            txn(1, 9, &[append(1, 10), read(2, &[20])]),
            txn(1, 9, &[append(2, 20), read(1, &[10])]),
        ];
        let lists: [(u64, &[u64]); 2] = [(1, &[10]), (2, &[20])];
        assert_eq!(name_of(&history(circular, &lists)), "G1c");
        let skewed = vec![
            txn(1, 9, &[read(1, &[]), append(2, 20)]),
            txn(1, 9, &[read(2, &[]), append(1, 10)]),
        ];
        assert_eq!(name_of(&history(skewed, &lists)), "G2");
        let half = vec![
            txn(1, 9, &[append(1, 10), append(2, 20)]),
            txn(1, 9, &[read(1, &[10]), read(2, &[])]),
        ];
        assert_eq!(name_of(&history(half, &lists)), "G-single");
        let late = vec![
            txn(1, 2, &[append(1, 10), append(2, 20)]),
            txn(3, 9, &[read(1, &[])]),
        ];
        assert_eq!(name_of(&history(late, &lists)), "G-single with time");
    }

    #[test]
    fn a_rebuild_leaves_a_beginning_of_the_order() {
        let txns = || {
            vec![
                txn(1, NEVER, &[append(1, 10)]),
                txn(1, NEVER, &[read(1, &[10]), append(2, 20)]),
                txn(1, 9, &[read(2, &[20])]),
            ]
        };
        let rebuilt = |after: &[(u64, &[u64])]| History {
            is_lost: true,
            ..history(txns(), after)
        };
        for after in [&[(1, &[10_u64][..]), (2, &[20])][..], &[(1, &[10])], &[]] {
            assert_eq!(name_of(&rebuilt(after)), "fine", "{after:?}");
        }
        assert_eq!(name_of(&rebuilt(&[(2, &[20])])), "not a prefix");
        let mut acknowledged = rebuilt(&[]);
        acknowledged.txns[0] = txn(1, 2, &[append(1, 10)]);
        assert_eq!(name_of(&acknowledged), "lost");
        acknowledged.keeps_acknowledged = false;
        assert_eq!(name_of(&acknowledged), "fine");
    }
}
