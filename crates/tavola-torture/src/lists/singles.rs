//! Single calls of one key: counters, and keys that are set, read and removed. Each key's history
//! must be linearizable, across the loss of memory.

use super::history::NEVER;
use crate::soak::history::{Event, check as check_register};
use std::collections::{BTreeMap, BTreeSet};

/// A call of one key.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Call {
    /// Adds one; the sum, if it returned.
    Incr(u64),
    /// Reads the sum.
    Count(u64),
    /// Sets a version.
    Set(u64),
    /// Reads a version; 0: the key is missing.
    Get(u64),
    Remove,
}

/// A call, and when it was made.
#[derive(Clone, Copy, Debug)]
pub(super) struct Single {
    pub(super) key: u64,
    pub(super) from: u64,
    /// [`NEVER`] if it had not returned.
    pub(super) until: u64,
    pub(super) call: Call,
}

impl Single {
    fn returned(&self) -> bool {
        self.until != NEVER
    }

    fn is_of_counter(&self) -> bool {
        matches!(self.call, Call::Incr(_) | Call::Count(_))
    }
}

/// All calls between two looks at all keys, and what they had; 0: missing.
pub(super) struct Singles {
    pub(super) before: BTreeMap<u64, u64>,
    pub(super) calls: Vec<Single>,
    pub(super) after: BTreeMap<u64, u64>,
    pub(super) is_lost: bool,
    pub(super) keeps_acknowledged: bool,
}

/// Checks the history of each key.
pub(super) fn check(all: &Singles) -> Result<(), String> {
    let keys: BTreeSet<u64> = all.calls.iter().map(|single| single.key).collect();
    for key in keys {
        let of_key = |single: &&Single| single.key == key;
        let calls: Vec<Single> = all.calls.iter().filter(of_key).copied().collect();
        let value = |map: &BTreeMap<u64, u64>| map.get(&key).copied().unwrap_or(0);
        let (before, after) = (value(&all.before), value(&all.after));
        let checked = match calls.iter().all(Single::is_of_counter) {
            true => check_counter(before, &calls, after, all),
            false => check_versions(before, &calls, after, all),
        };
        checked.map_err(|why| format!("key {key:x}: {why}"))?;
    }
    Ok(())
}

fn check_counter(before: u64, calls: &[Single], after: u64, all: &Singles) -> Result<(), String> {
    let (mut sums, mut unsure) = (BTreeSet::new(), 0);
    for single in calls {
        match single.call {
            Call::Incr(sum) if single.returned() => {
                let is_new = sum > before && sums.insert(sum);
                if !is_new {
                    return Err(format!("the sum {sum} came twice"));
                }
            }
            Call::Incr(_) => unsure += 1,
            _ => {}
        }
    }
    let most = before + sums.len() as u64 + unsure;
    let last = sums.last().copied().unwrap_or(before).max(before);
    let least = match all.is_lost && !all.keeps_acknowledged {
        true => 0,
        false => last,
    };
    if after < least || after > most || last > most {
        return Err(format!(
            "the counter is {after}: {last} was returned, {most} is the most possible"
        ));
    }
    in_order(calls)
}

/// Checks that no call that began after another had returned has a smaller sum.
fn in_order(calls: &[Single]) -> Result<(), String> {
    let sum_of = |single: &Single| match single.call {
        Call::Incr(sum) | Call::Count(sum) => sum,
        _ => 0,
    };
    let returned = |single: &&Single| single.returned();
    let mut ends: Vec<&Single> = calls.iter().filter(returned).collect();
    ends.sort_unstable_by_key(|single| single.until);
    let mut begins = ends.clone();
    begins.sort_unstable_by_key(|single| single.from);
    let (mut ended, mut most) = (ends.into_iter().peekable(), 0);
    for single in begins {
        while let Some(end) = ended.next_if(|end| end.until < single.from) {
            most = most.max(sum_of(end));
        }
        let is_more = u64::from(matches!(single.call, Call::Incr(_)));
        if sum_of(single) < most + is_more {
            return Err(format!("{single:?} although {most} was seen before"));
        }
    }
    Ok(())
}

fn check_versions(before: u64, calls: &[Single], after: u64, all: &Singles) -> Result<(), String> {
    let version = |version: u64| (version != 0).then_some(version);
    let event = |single: &Single| {
        let (found, left) = match single.call {
            Call::Set(set) => (None, Some(version(set))),
            Call::Remove => (None, Some(None)),
            Call::Get(found) => (single.returned().then(|| version(found)), None),
            Call::Incr(_) | Call::Count(_) => (None, None),
        };
        Event {
            from: single.from,
            until: single.until,
            found,
            left,
        }
    };
    let last = |single: &Single| match single.returned() {
        true => single.until,
        false => single.from,
    };
    let end = calls.iter().map(last).max().unwrap_or(0) + 1;
    let in_the_end = Event {
        from: end,
        until: end + 1,
        found: Some(version(after)),
        left: None,
    };
    let mut events: Vec<Event> = calls.iter().map(event).collect();
    if !all.is_lost {
        events.push(in_the_end);
        return check_register(version(before), &events);
    }
    check_register(version(before), &events)?;
    if !all.keeps_acknowledged {
        return Ok(());
    }
    // Readers may have seen what was lost. What is left must follow from the writes alone.
    events.retain(|event| event.left.is_some());
    events.push(in_the_end);
    check_register(version(before), &events)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn single(from: u64, until: u64, call: Call) -> Single {
        let key = 1;
        Single {
            key,
            from,
            until,
            call,
        }
    }

    fn judge(before: u64, calls: &[Single], after: u64, is_lost: bool) -> Result<(), String> {
        check(&Singles {
            before: BTreeMap::from([(1, before)]),
            calls: calls.to_vec(),
            after: BTreeMap::from([(1, after)]),
            is_lost,
            keeps_acknowledged: true,
        })
    }

    #[test]
    fn counters_are_exact() {
        let incr = |from, until, sum| single(from, until, Call::Incr(sum));
        let calls = [incr(1, 2, 6), incr(3, NEVER, 0), incr(4, 5, 8)];
        assert_eq!(judge(5, &calls, 8, true), Ok(()));
        assert!(judge(5, &calls, 7, true).is_err(), "one is lost");
        assert!(judge(5, &calls, 9, true).is_err(), "one too many");
        assert!(judge(5, &calls[..2], 8, false).is_err());
        let twice = [incr(1, 4, 6), incr(2, 3, 6)];
        assert!(judge(5, &twice, 7, false).is_err());
        let back = [incr(1, 2, 7), incr(3, 4, 6)];
        assert!(judge(5, &back, 7, false).is_err());
        let stale = [incr(1, 2, 6), single(3, 4, Call::Count(5))];
        assert!(judge(5, &stale, 6, false).is_err());
    }

    #[test]
    fn a_rebuilt_key_has_what_was_acknowledged_last_or_what_may_have_followed() {
        let set = |from, until, version| single(from, until, Call::Set(version));
        let calls = [
            set(1, 2, 11),
            set(3, NEVER, 12),
            single(4, 5, Call::Get(12)),
        ];
        for after in [11, 12] {
            assert_eq!(judge(10, &calls, after, true), Ok(()), "{after}");
        }
        assert!(judge(10, &calls, 10, true).is_err());
        assert!(judge(10, &calls, 0, true).is_err());
        assert!(judge(10, &calls, 11, false).is_err(), "12 was seen");
        let unsure = [set(1, 2, 11), set(9, NEVER, 12)];
        for after in [11, 12] {
            assert_eq!(judge(10, &unsure, after, true), Ok(()), "{after}");
        }
        let removed = [set(1, 2, 11), single(3, NEVER, Call::Remove)];
        assert_eq!(judge(10, &removed, 0, true), Ok(()));
    }
}
