//! Whether what was done to a key, and what was seen of it, fits some order in time.
//!
//! Each write of a key has a version of its own. A version with all reads of it is a *cluster*; it
//! held from somewhere before the first answer that shows it (`first`) to somewhere after the last
//! question that was answered by it (`last`). If `first < last` the key held it all that time: then
//! no other cluster may have held between, and nothing that wholly lies between may have seen or
//! left anything else. For writes of distinct values this is all there is to it (Gibbons and
//! Korach, 1997). What holds no value (removed, missing) cannot be distinguished by a version: each
//! such event must fit by itself, and behind a removal that nothing certainly followed.

use std::collections::BTreeMap;

/// Later than anything.
pub(crate) const NEVER: u64 = u64::MAX;

/// One operation on a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Event {
    /// When it was begun.
    pub(crate) from: u64,
    /// When it had returned; [`NEVER`]: who did it was killed, it may have happened or not.
    pub(crate) until: u64,
    /// What it found: a version, or nothing. `None` if it did not read.
    pub(crate) found: Option<Option<u64>>,
    /// What it left: a version, or nothing. `None` if it left the key as it was.
    pub(crate) left: Option<Option<u64>>,
}

#[derive(Clone, Copy)]
struct Cluster {
    /// When its write began.
    begun: u64,
    first: u64,
    last: u64,
    /// Somebody saw it, or its write returned.
    is_certain: bool,
}

/// Checks one key's events, given what it held before all of them.
pub(crate) fn check(before: Option<u64>, events: &[Event]) -> Result<(), String> {
    let clusters = clusters(before, events)?;
    let mut held: Vec<(u64, u64, u64)> = Vec::new();
    let mut brief: Vec<(u64, u64)> = Vec::new();
    for (version, cluster) in &clusters {
        if cluster.first < cluster.last {
            held.push((cluster.first, cluster.last, *version));
        } else if cluster.is_certain {
            brief.push((cluster.last, cluster.first));
        }
    }
    held.sort_unstable();
    for pair in held.windows(2) {
        if pair[1].0 < pair[0].1 {
            return Err(format!(
                "versions {:x} and {:x} both held",
                pair[0].2, pair[1].2
            ));
        }
    }
    let nothing = |event: &&Event| event.found == Some(None) || event.left == Some(None);
    let certain = events.iter().filter(|event| event.until != NEVER);
    brief.extend(
        certain
            .filter(nothing)
            .map(|event| (event.from, event.until)),
    );
    for (from, until) in brief {
        let at = held.partition_point(|zone| zone.0 < from);
        if let Some((_, last, version)) = at.checked_sub(1).map(|at| held[at])
            && until < last
        {
            return Err(format!(
                "version {version:x} held, and something else within that time"
            ));
        }
    }
    missing(before, events)
}

fn clusters(before: Option<u64>, events: &[Event]) -> Result<BTreeMap<u64, Cluster>, String> {
    let mut clusters = BTreeMap::new();
    let mut begin = |version, from, until| {
        let cluster = Cluster {
            begun: from,
            first: until,
            last: from,
            is_certain: until != NEVER,
        };
        match clusters.insert(version, cluster) {
            None => Ok(()),
            Some(_) => Err(format!("version {version:x} was written twice")),
        }
    };
    if let Some(version) = before {
        begin(version, 0, 0)?;
    }
    for event in events {
        if let Some(Some(version)) = event.left {
            begin(version, event.from, event.until)?;
        }
    }
    for event in events {
        let Some(Some(version)) = event.found else {
            continue;
        };
        let Some(cluster) = clusters.get_mut(&version) else {
            return Err(format!("version {version:x} was read and never written"));
        };
        if event.until < cluster.begun {
            return Err(format!(
                "version {version:x} was read before it was written"
            ));
        }
        cluster.first = cluster.first.min(event.until);
        cluster.last = cluster.last.max(event.from);
        cluster.is_certain = true;
    }
    Ok(clusters)
}

/// A read that found nothing found it behind a removal that no write certainly followed.
fn missing(before: Option<u64>, events: &[Event]) -> Result<(), String> {
    let mut removals: Vec<(u64, u64)> = events
        .iter()
        .filter(|event| event.left == Some(None))
        .map(|event| (event.from, event.until))
        .collect();
    if before.is_none() {
        removals.push((0, 0));
    }
    let mut writes: Vec<(u64, u64)> = events
        .iter()
        .filter(|event| matches!(event.left, Some(Some(_))) && event.until != NEVER)
        .map(|event| (event.until, event.from))
        .collect();
    running_max(&mut removals);
    running_max(&mut writes);
    for event in events.iter().filter(|event| event.found == Some(None)) {
        // An operation does not find nothing because of its own removal: it would not look again.
        let before = |list: &[(u64, u64)], time| {
            let at = list.partition_point(|entry| entry.0 < time);
            at.checked_sub(1).map(|at| list[at].1)
        };
        let Some(removed) = before(&removals, event.until) else {
            return Err("it was found missing before it was ever removed".to_owned());
        };
        if before(&writes, event.from).is_some_and(|written| written > removed) {
            return Err("it was found missing though a write had returned since".to_owned());
        }
    }
    Ok(())
}

/// Sorts by the first number and makes the second the largest so far.
fn running_max(list: &mut [(u64, u64)]) {
    list.sort_unstable();
    let mut most = 0;
    for entry in list {
        most = most.max(entry.1);
        entry.1 = most;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(version: u64, from: u64, until: u64) -> Event {
        let left = Some(Some(version));
        Event {
            from,
            until,
            found: None,
            left,
        }
    }

    fn read(version: u64, from: u64, until: u64) -> Event {
        let found = Some(Some(version));
        Event {
            from,
            until,
            found,
            left: None,
        }
    }

    fn remove(from: u64, until: u64) -> Event {
        Event {
            from,
            until,
            found: None,
            left: Some(None),
        }
    }

    fn miss(from: u64, until: u64) -> Event {
        Event {
            from,
            until,
            found: Some(None),
            left: None,
        }
    }

    #[test]
    fn orders_that_exist_are_found() {
        let fine: [(Option<u64>, Vec<Event>); 8] = [
            (None, vec![miss(1, 2), write(1, 3, 4), read(1, 5, 6)]),
            // Two writes at once, read in either order.
            (
                Some(1),
                vec![write(2, 1, 9), write(3, 1, 9), read(3, 2, 3), read(2, 4, 5)],
            ),
            (Some(1), vec![read(1, 1, 3), write(2, 2, 5), read(1, 3, 6)]),
            // A write of one that was killed may have happened, or not.
            (Some(1), vec![write(2, 1, NEVER), read(2, 5, 6)]),
            (Some(1), vec![write(2, 1, NEVER), read(1, 5, 6)]),
            (Some(1), vec![remove(1, NEVER), miss(5, 6)]),
            (Some(1), vec![remove(2, 3), write(2, 2, 4), miss(5, 6)]),
            (Some(1), vec![remove(2, 3), write(2, 2, 4), read(2, 5, 6)]),
        ];
        for (before, events) in fine {
            assert_eq!(check(before, &events), Ok(()), "{events:?}");
        }
    }

    #[test]
    fn impossible_orders_are_reported() {
        let wrong: [(Option<u64>, Vec<Event>); 10] = [
            // A write that had returned is lost.
            (Some(1), vec![write(2, 1, 2), read(1, 3, 4)]),
            // Seen, and then not any more.
            (Some(1), vec![write(2, 1, 9), read(2, 2, 3), read(1, 4, 5)]),
            (
                Some(1),
                vec![write(2, 1, NEVER), read(2, 2, 3), read(1, 4, 5)],
            ),
            // One, the other, the one again.
            (
                Some(1),
                vec![
                    write(2, 1, 9),
                    write(3, 1, 9),
                    read(2, 2, 3),
                    read(3, 4, 5),
                    read(2, 6, 7),
                ],
            ),
            (Some(1), vec![read(7, 1, 2)]),
            (Some(1), vec![read(2, 1, 2), write(2, 3, 4)]),
            (Some(1), vec![miss(1, 2)]),
            (Some(1), vec![remove(1, 2), write(2, 3, 4), miss(5, 6)]),
            (Some(1), vec![remove(1, 2), read(1, 3, 4)]),
            (None, vec![write(1, 1, 2), write(1, 3, 4)]),
        ];
        for (before, events) in wrong {
            assert!(check(before, &events).is_err(), "{events:?}");
        }
    }
}
