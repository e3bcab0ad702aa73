//! The order of each list's elements, and the mistakes that show without a graph.

use super::history::{Fate, History, Lists, Op, Txn};
use std::collections::{BTreeMap, BTreeSet};

/// A list as a transaction saw it, without what it had appended itself.
#[derive(Clone, Debug)]
pub(super) struct Seen {
    pub(super) key: u64,
    pub(super) list: Vec<u64>,
}

/// The order of appends, as the lists show it.
pub(super) struct Orders {
    /// All elements of each list, in their order.
    pub(super) lists: Lists,
    /// The transaction that appended an element; the lists of the beginning have none.
    pub(super) writers: BTreeMap<u64, usize>,
    /// The values that each transaction saw.
    pub(super) seen: Vec<Vec<Seen>>,
    /// The transactions that committed: their call had returned, or an element of theirs was seen.
    pub(super) committed: BTreeSet<usize>,
    /// Those of them of which the end has nothing.
    pub(super) lost: BTreeSet<usize>,
}

/// Finds the order of each list.
pub(super) fn find_orders(history: &History) -> Result<Orders, String> {
    let txns = &history.txns;
    let writers = writers(history)?;
    let seen: Vec<Vec<Seen>> = txns
        .iter()
        .map(|txn| seen_by(txn).map_err(|why| format!("internal: {txn}: {why}")))
        .collect::<Result<_, _>>()?;
    let counts = |at: &usize| txns[*at].fate == Fate::Committed;
    let mut committed: BTreeSet<usize> = (0..txns.len()).filter(counts).collect();
    let mut lists = history.before.clone();
    for (key, list) in &history.after {
        extend(&mut lists, *key, list)?;
    }
    // A transaction whose fate is unknown has committed if its elements are seen. Then what it has
    // seen counts, too, and may show others.
    let mut counted = BTreeSet::new();
    loop {
        let next: Vec<usize> = committed.difference(&counted).copied().collect();
        for at in &next {
            for seen in &seen[*at] {
                extend(&mut lists, seen.key, &seen.list)?;
            }
        }
        counted.extend(next);
        let shown: BTreeSet<usize> = lists
            .values()
            .flatten()
            .filter_map(|element| writers.get(element).copied())
            .collect();
        if shown.is_subset(&committed) {
            break;
        }
        committed.extend(shown);
    }
    let aborted = |at: &&usize| txns[**at].fate == Fate::Aborted;
    if let Some(at) = committed.iter().find(aborted) {
        return Err(format!(
            "G1a: an aborted transaction was seen: {}",
            txns[*at]
        ));
    }
    let mut orders = Orders {
        lists,
        writers,
        seen,
        committed,
        lost: BTreeSet::new(),
    };
    orders.check_unknown_elements(history)?;
    orders.check_intermediate(history)?;
    orders.find_lost(history)?;
    Ok(orders)
}

fn writers(history: &History) -> Result<BTreeMap<u64, usize>, String> {
    let mut writers = BTreeMap::new();
    for (at, txn) in history.txns.iter().enumerate() {
        for (_, element) in txn.appends() {
            if writers.insert(element, at).is_some_and(|other| other != at) {
                return Err(format!("element {element:x} was appended twice"));
            }
        }
    }
    Ok(writers)
}

/// Returns what a transaction saw of others. Two reads of a list, and its own appends, must agree.
fn seen_by(txn: &Txn) -> Result<Vec<Seen>, String> {
    let mut own: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
    let mut seen: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
    for op in &txn.ops {
        match op {
            Op::Append { key, element } => own.entry(*key).or_default().push(*element),
            Op::Read { key, list } => {
                let own = own.get(key).map_or(&[][..], Vec::as_slice);
                let Some(others) = list.strip_suffix(own) else {
                    return Err(format!("its own elements are not in list {key:x}"));
                };
                let before = seen.entry(*key).or_insert_with(|| others.to_vec());
                // A transaction that did not commit may have seen two values.
                if before != others && txn.fate == Fate::Committed {
                    return Err(format!("list {key:x} changed between two reads"));
                }
            }
        }
    }
    Ok(seen
        .into_iter()
        .map(|(key, list)| Seen { key, list })
        .collect())
}

/// Notes a list that was seen: of two, one is the beginning of the other.
fn extend(lists: &mut Lists, key: u64, list: &[u64]) -> Result<(), String> {
    let known = lists.entry(key).or_default();
    let common = known.len().min(list.len());
    if let Some(at) = (0..common).find(|at| known[*at] != list[*at]) {
        return Err(format!(
            "incompatible orders: element {at} of list {key:x} was {:x} and {:x}",
            known[at], list[at]
        ));
    }
    if list.len() > known.len() {
        *known = list.to_vec();
    }
    Ok(())
}

impl Orders {
    fn check_unknown_elements(&self, history: &History) -> Result<(), String> {
        for (key, list) in &self.lists {
            let known = history.before.get(key).map_or(0, Vec::len);
            let mut all = BTreeSet::new();
            for (at, element) in list.iter().enumerate() {
                if at >= known && !self.writers.contains_key(element) {
                    return Err(format!(
                        "list {key:x} has {element:x}, which nobody appended"
                    ));
                }
                if !all.insert(element) {
                    return Err(format!("list {key:x} has {element:x} twice"));
                }
            }
        }
        Ok(())
    }

    /// G1b: a list was seen with some of what a transaction appended to it.
    fn check_intermediate(&self, history: &History) -> Result<(), String> {
        for at in &self.committed {
            for seen in &self.seen[*at] {
                let Some(writer) = seen.list.last().and_then(|last| self.writers.get(last)) else {
                    continue;
                };
                let of_list = |(key, element)| (key == seen.key).then_some(element);
                let all = history.txns[*writer].appends().filter_map(of_list);
                if all.last() != seen.list.last().copied() {
                    return Err(format!(
                        "G1b: {} saw a part of {}",
                        history.txns[*at], history.txns[*writer]
                    ));
                }
            }
        }
        Ok(())
    }

    /// Finds what the end has not. A transaction that had returned may be lost only if memory was,
    /// and if nothing else was promised; and each is lost as a whole.
    fn find_lost(&mut self, history: &History) -> Result<(), String> {
        let there: BTreeSet<u64> = history.after.values().flatten().copied().collect();
        for at in &self.committed {
            let txn = &history.txns[*at];
            let total = txn.appends().count();
            let found = txn.appends().filter(|(_, e)| there.contains(e)).count();
            if found == total {
                continue;
            }
            if found > 0 {
                return Err(format!(
                    "torn: {found} of {total} elements are left of {txn}"
                ));
            }
            let may_be_lost = txn.fate == Fate::Unknown || !history.keeps_acknowledged;
            if !history.is_lost || !may_be_lost {
                return Err(format!("lost: {txn}"));
            }
            self.lost.insert(*at);
        }
        Ok(())
    }
}
