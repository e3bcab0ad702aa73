//! What counts as a write of a cache, as a set or a remove, and as a change of a shard: calls that
//! set, change or remove a key, or try to, and nothing else.

use crate::support::Dir;
use crate::support::patience::let_pass;
use std::time::Duration;
use tavola::{Attributes, CasOutcome, Error, Expiry, LeaseOptions, Leased, Participant, Table};

const MIB: u64 = 1 << 20;
fn minute() -> LeaseOptions {
    LeaseOptions::new(Duration::from_secs(60))
}

/// Compares what was counted since it was asked last.
struct Counts<'a> {
    table: &'a Table,
    before: [u64; 5],
}

impl Counts<'_> {
    fn of(table: &Table) -> Counts<'_> {
        let mut counts = Counts {
            table,
            before: [0; 5],
        };
        counts.before = counts.now();
        counts
    }

    fn now(&self) -> [u64; 5] {
        let stats = self.table.stats().unwrap();
        let shards = self.table.shard_stats().unwrap();
        let changes = shards.iter().map(|one| one.writes).sum();
        assert_eq!(stats.writes, stats.sets + stats.removes);
        let of_all = self.table.participants().unwrap();
        for one in &of_all {
            assert_eq!(one.writes, one.sets + one.removes);
        }
        let sum = |count: fn(&Participant) -> u64| of_all.iter().map(count).sum::<u64>();
        assert_eq!(sum(|one| one.sets), stats.sets);
        assert_eq!(sum(|one| one.removes), stats.removes);
        [stats.hits, stats.misses, stats.sets, stats.removes, changes]
    }

    /// Hits, misses, sets, removes, and changes that the shards report.
    #[track_caller]
    fn are(&mut self, more: [u64; 5], what: &str) {
        let now = self.now();
        let counted: Vec<u64> = now.iter().zip(self.before).map(|(a, b)| a - b).collect();
        assert_eq!(counted, more, "{what}");
        self.before = now;
    }

    /// Returns the changes that the shards report since this was asked last.
    fn changes(&mut self) -> u64 {
        let now = self.now();
        let before = std::mem::replace(&mut self.before, now);
        now[4] - before[4]
    }
}

fn cache() -> Table {
    let options = Table::options().capacity(4 * MIB).max_size(16 * MIB);
    options.private().unwrap()
}

#[test]
fn each_call_counts_once() {
    let table = cache();
    let mut counts = Counts::of(&table);
    table.set(b"a", b"value").unwrap();
    table.set(b"a", b"other").unwrap();
    counts.are([0, 0, 2, 0, 2], "set");
    table.set(b"large", [1; 100_000]).unwrap();
    table.set(b"a word..", [1; 8]).unwrap();
    table.set(b"a word..", [2; 8]).unwrap();
    counts.are([0, 0, 3, 0, 3], "large values and words");
    assert!(!table.add(b"a", b"value").unwrap());
    assert!(!table.replace(b"none", b"value").unwrap());
    assert!(!table.remove(b"none").unwrap());
    counts.are([0, 0, 2, 1, 0], "tried in vain");
    assert!(table.remove(b"large").unwrap());
    counts.are([0, 0, 0, 1, 1], "removed");
    table.set_many(&[("b", "1"), ("c", "2")]).unwrap();
    counts.are([0, 0, 2, 0, 2], "many");
    table.incr(b"n", 1).unwrap();
    table.incr(b"n", 1).unwrap();
    table.incr_from(b"none", 1, None).unwrap();
    counts.are([0, 0, 3, 0, 2], "counted");
    table.append(b"a", b"more").unwrap();
    table.append(b"none", b"more").unwrap();
    table.take(b"c").unwrap();
    table.take(b"c").unwrap();
    counts.are([2, 2, 2, 2, 2], "by what was there");
    let minute = Expiry::After(Duration::from_secs(60));
    assert!(table.touch(b"b", minute).unwrap());
    assert!(!table.touch(b"none", minute).unwrap());
    counts.are([0, 0, 2, 0, 1], "touched");
    assert!(table.get_and_touch(b"b", minute).unwrap().is_some());
    assert!(table.get_and_touch(b"none", minute).unwrap().is_none());
    counts.are([1, 1, 2, 0, 1], "read and touched");
    assert!(table.set(b"", []).is_ok());
    counts.are([0, 0, 1, 0, 1], "nothing under no name");
    table.clear().unwrap();
    counts.are([0, 0, 0, 1, 0], "cleared, all shards of it");
    table.maintain(0).unwrap();
    counts.are([0; 5], "housekeeping");
}

/// A cache has no transactions.
#[test]
fn a_transaction_is_one_change_of_each_key() {
    let table = Table::options().max_size(16 * MIB).private().unwrap();
    table.set(b"old", b"value").unwrap();
    table.set(b"word", [1; 8]).unwrap();
    let mut counts = Counts::of(&table);
    let set = table.transaction(|t| {
        t.set("new", "value")?;
        t.set("old", "first")?;
        t.set("old", "then")?;
        t.set("word", [2; 8])
    });
    set.unwrap();
    assert_eq!(counts.changes(), 3, "set");
    let removed = table.transaction(|t| Ok::<_, Error>((t.remove("old")?, t.take("word")?)));
    assert_eq!(removed.unwrap(), (true, Some(vec![2; 8])));
    assert_eq!(counts.changes(), 2, "removed");
    assert!(!table.transaction(|t| t.remove("none")).unwrap());
    assert_eq!(
        table.transaction(|t| t.get("new")).unwrap().unwrap(),
        b"value"
    );
    let aborted = table.transaction(|t| t.set("new", "other").and(Err::<(), _>(t.abort())));
    assert!(matches!(aborted, Err(Error::Aborted)));
    assert_eq!(counts.changes(), 0, "nothing, and aborted");
    assert_eq!(table.get(b"new").unwrap().unwrap(), b"value");
}

/// A counter whose key is too long to count in place is text.
#[test]
fn a_change_in_two_steps_counts_once() {
    let table = cache();
    let mut counts = Counts::of(&table);
    let long = [b'k'; 20_000];
    table.incr(long, 1).unwrap();
    counts.are([0, 1, 1, 0, 1], "a counter that is text");
    let hint = table.set_uid(b"key", b"text").unwrap();
    counts.are([0, 0, 1, 0, 1], "set, with a uid");
    assert!(table.set_by_uid(hint, [1; 8]).unwrap());
    assert!(table.set_by_uid(hint, b"longer than a word").unwrap());
    counts.are([0, 0, 2, 0, 2], "set by uid");
    assert!(table.remove_by_uid(hint).unwrap());
    assert!(!table.remove_by_uid(hint).unwrap());
    assert!(!table.set_by_uid(hint, [1; 8]).unwrap());
    counts.are([0, 0, 1, 2, 1], "removed by uid");
    table.set(b"key", b"1").unwrap();
    let (_, token) = table.get_with_token(b"key").unwrap().unwrap();
    counts.are([1, 0, 1, 0, 1], "set again, and read");
    for outcome in [CasOutcome::Swapped, CasOutcome::Changed] {
        assert_eq!(
            table.compare_and_swap(b"key", token, b"2").unwrap(),
            outcome
        );
    }
    assert_eq!(
        table.compare_and_swap(b"none", token, b"2").unwrap(),
        CasOutcome::NotFound
    );
    counts.are([2, 1, 3, 0, 1], "swapped, or not");
}

#[test]
fn what_removes_in_the_end_is_no_set() {
    let table = cache();
    let mut counts = Counts::of(&table);
    table.set(b"key", b"value").unwrap();
    table.update(b"key", |_| None).unwrap();
    counts.are([1, 0, 1, 1, 2], "set, and removed by an update");
    table.update(b"key", |_| None).unwrap();
    counts.are([0, 1, 1, 0, 0], "nothing is left to remove");
    let refused = table.try_update(b"key", |_| Err::<Option<Vec<u8>>, _>(Error::NotACounter));
    assert!(refused.is_err());
    counts.are([0, 1, 0, 0, 0], "left as it was");
    assert_eq!(table.swap(b"key", b"value").unwrap(), None);
    assert!(table.swap(b"key", b"other").unwrap().is_some());
    counts.are([1, 1, 2, 0, 2], "swapped");
    let leave = |_: &[u8]| Err(Error::NotACounter);
    assert!(table.try_take(b"key", &mut Vec::new(), leave).is_err());
    counts.are([1, 0, 0, 0, 0], "not taken");
    assert!(table.take(b"key").unwrap().is_some());
    counts.are([1, 0, 0, 1, 1], "taken");
    let soon = Attributes::ttl(Duration::from_millis(1));
    table.set_with(b"key", b"value", soon).unwrap();
    let_pass(Duration::from_millis(1));
    table.remove_expired().unwrap();
    assert_eq!(table.len().unwrap(), 0);
    let changes = counts.now()[4] - counts.before[4];
    counts.are([0, 0, 1, 0, changes], "what expired went by itself");
}

/// A reader that makes rates of them would take a step back for a count that began again.
#[test]
fn no_count_ever_goes_back() {
    let table = cache();
    std::thread::scope(|scope| {
        let writer = scope.spawn(|| {
            for _ in 0..20_000 {
                table.set(b"key", b"value").unwrap();
                table.remove(b"key").unwrap();
            }
        });
        let mut before = [0; 3];
        while !writer.is_finished() {
            let stats = table.stats().unwrap();
            let now = [stats.writes, stats.sets, stats.removes];
            assert_eq!(now[0], now[1] + now[2]);
            assert!((0..3).all(|i| now[i] >= before[i]), "{before:?}, {now:?}");
            before = now;
        }
    });
    let stats = table.stats().unwrap();
    assert_eq!((stats.sets, stats.removes), (20_000, 20_000));
}

/// Rounds that were lost do not count.
#[test]
fn under_contention_each_call_counts_once() {
    let table = cache();
    table.set(b"key", b"").unwrap();
    let before = Counts::of(&table).before;
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..200 {
                    let more = |old: Option<&[u8]>| {
                        std::thread::yield_now();
                        Some([old.unwrap_or_default(), b"x"].concat())
                    };
                    table.update(b"key", more).unwrap();
                }
            });
        }
    });
    let now = Counts::of(&table).before;
    assert_eq!(table.get(b"key").unwrap().unwrap().len(), 800);
    assert_eq!((now[2] - before[2], now[4] - before[4]), (800, 800));
    assert_eq!(now[3], before[3]);
}

#[test]
fn leases_are_no_writes() {
    let table = cache();
    let mut counts = Counts::of(&table);
    let computed = || Ok(b"value".to_vec());
    table.get_or_compute(b"key", minute(), computed).unwrap();
    counts.are([0, 1, 1, 0, 1], "computed and stored");
    table.get_or_compute(b"key", minute(), computed).unwrap();
    counts.are([1, 0, 0, 0, 0], "found");
    let Leased::Won(lease) = table.get_or_lease(b"other", minute()).unwrap() else {
        panic!("nobody has it");
    };
    counts.are([0, 1, 0, 0, 0], "won");
    assert!(lease.fail(Duration::from_secs(60), b"why").unwrap());
    counts.are([0, 0, 0, 0, 0], "failed");
    let answer = table.get_or_lease(b"other", minute()).unwrap();
    assert!(matches!(answer, Leased::Failed { .. }));
    drop(table.get_or_lease(b"third", minute()).unwrap());
    counts.are([0, 2, 0, 0, 0], "a failure; given up");
    let Leased::Won(lease) = table.get_or_lease(b"third", minute()).unwrap() else {
        panic!("it was given up");
    };
    table.remove(b"third").unwrap();
    assert!(!lease.fill(b"late").unwrap());
    counts.are([0, 1, 1, 1, 0], "removed; a fill that came late");
    table.repair().unwrap();
    counts.are([0; 5], "all leases are ended by a repair");
}

#[test]
fn tags_are_no_keys() {
    let dir = Dir::new();
    let options = Table::options().capacity(4 * MIB).shards(4);
    let table = options.create(dir.table("cache")).unwrap();
    let mut counts = Counts::of(&table);
    for number in 0..24u32 {
        let name = format!("tag {}", number.min(20));
        let tags = table.fetch_tags(&[name]).unwrap();
        let attributes = Attributes::default();
        table
            .set_tagged(number.to_le_bytes(), b"value", attributes, &tags)
            .unwrap();
    }
    counts.are([0, 0, 24, 0, 24], "24 keys, 21 tags");
    let shards = table.shard_stats().unwrap();
    assert_eq!(shards.iter().map(|one| one.keys).sum::<u64>(), 24);
    assert_eq!(table.len().unwrap(), 24);
    assert!(table.invalidate_tag(b"tag 20").unwrap());
    assert!(!table.invalidate_tag(b"tag 20").unwrap());
    counts.are([0, 0, 0, 2, 0], "invalidated, which removes keys");
    let computed = || Ok(b"value".to_vec());
    table
        .get_or_compute_tagged(b"key", minute(), &["one", "two"], computed)
        .unwrap();
    counts.are([0, 1, 1, 0, 1], "computed, with tags");
}
