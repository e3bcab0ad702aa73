//! The marks of an item (`ServeTable::mark`): facts about it that the server changes without a
//! change of its value.
//!
//! ```text
//! bit 0      one client was asked for a new value, and no other is
//! bit 1      the value is stale
//! bit 2      it was read since it was stored
//! bit 3      the client that stored it sent the key as base64
//! bits 4..24 when it was used: 0 if that is not known, else 1 and the number of units of 4 seconds
//!            since 1970, which begins again after 48 days
//! ```
//!
//! A mark is written only if it changes. A read changes marks if it is the first one of an item,
//! or if the last use was more than a minute ago: memcached does not notice more, either. Only
//! tables with versions have marks of use: in others an item has no room for marks, and a read
//! would have to copy the item.

use tavola::serving::Marks;

pub(super) const TOKEN_SENT: u32 = 1;
pub(super) const STALE: u32 = 1 << 1;
pub(super) const FETCHED: u32 = 1 << 2;
pub(super) const BASE64: u32 = 1 << 3;
const TIME_SHIFT: u32 = 4;
const TIMES: u64 = (1 << 20) - 1;
const TIME_MARKS: u32 = (TIMES as u32) << TIME_SHIFT;
/// The seconds of a unit of time.
const UNIT_S: u64 = 4;
/// The seconds after which the units begin again.
const ROUND_S: u64 = TIMES * UNIT_S;
/// The most seconds that a use may be in the future and still count as one of now, as clocks may be
/// set.
const AHEAD_S: u64 = 3600;
/// The seconds in which a further use is not noted.
const REST_S: u32 = 60;

/// The kinds of marks that a table can keep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kept {
    /// None, as items have no room beside their value.
    Nothing,
    /// Marks that a client stores or asks for with a flag of its own.
    Flags,
    /// All marks, those of use included.
    All,
}

/// Returns the marks of a time, rounded up, so that no item seems to be unused for longer than it
/// was.
pub(super) fn at(now_s: u64) -> u32 {
    let code = 1 + now_s.div_ceil(UNIT_S) % TIMES;
    (code as u32) << TIME_SHIFT
}

/// Returns how many seconds ago an item was used, or 0 if that is not known.
pub(super) fn idle_s(marks: u32, now_s: u64) -> u32 {
    let code = u64::from(marks >> TIME_SHIFT);
    if code == 0 {
        return 0;
    }
    let idle_s = (now_s % ROUND_S + ROUND_S - (code - 1) * UNIT_S) % ROUND_S;
    if idle_s > ROUND_S - AHEAD_S {
        0
    } else {
        idle_s as u32
    }
}

/// Returns when an item was used, in seconds since 1970, or 0 if that is not known.
pub(super) fn used_s(marks: u32, now_s: u64) -> u64 {
    match marks & TIME_MARKS {
        0 => 0,
        _ => now_s - u64::from(idle_s(marks, now_s)).min(now_s),
    }
}

/// Returns the marks that a read changes.
pub(super) fn used(marks: u32, now_s: u64) -> Marks {
    if marks & FETCHED == 0 {
        let is_known = marks & TIME_MARKS != 0;
        let set = FETCHED | if is_known { 0 } else { at(now_s) };
        return Marks { clear: 0, set };
    }
    if idle_s(marks, now_s) < REST_S && marks & TIME_MARKS != 0 {
        return Marks::default();
    }
    Marks {
        clear: TIME_MARKS,
        set: at(now_s),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW_S: u64 = 1_800_000_000;

    #[test]
    fn times_are_exact_to_a_few_seconds() {
        for now_s in NOW_S..NOW_S + 10 {
            let marks = at(now_s) | FETCHED | STALE;
            assert_eq!(idle_s(marks, now_s), 0);
            for later_s in [10, 1000, 86_400, 40 * 86_400] {
                let idle_s = u64::from(idle_s(marks, now_s + later_s));
                assert!((later_s - 3..=later_s).contains(&idle_s), "{idle_s}");
            }
            assert_eq!(idle_s(marks, now_s - 1000), 0);
        }
        assert_eq!(idle_s(FETCHED, NOW_S), 0);
        assert_eq!(at(u64::MAX / 2) & !TIME_MARKS, 0);
    }

    #[test]
    fn a_read_changes_marks_once_and_then_once_a_minute() {
        let mut marks = at(NOW_S) | BASE64;
        let mut read = |later_s| {
            let changed = used(marks, NOW_S + later_s);
            marks = marks & !changed.clear | changed.set;
            changed != Marks::default()
        };
        assert!(read(20));
        assert!(!read(30));
        assert!(read(64));
        assert!(!read(100));
        assert!(read(200));
        assert_eq!(marks & !TIME_MARKS, FETCHED | BASE64);
        assert_eq!(used(0, NOW_S).set, FETCHED | at(NOW_S));
        assert_eq!(used(FETCHED, NOW_S).set, at(NOW_S));
    }
}
