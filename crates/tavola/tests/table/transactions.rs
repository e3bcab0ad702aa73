//! Transactions, in one process.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;
use tavola::{Attributes, Begin, Error, Expiry, LeaseOptions, Leased, Options, Savepoint, Table};

pub(super) fn table() -> Table {
    Table::options().max_size(64 << 20).private().unwrap()
}

/// Tables of every kind that has transactions.
pub(super) fn tables() -> Vec<Table> {
    let options = || Table::options().max_size(64 << 20);
    [
        options(),
        options().shards(1),
        options().uids(true),
        options().versions(true),
        options().ttl(Duration::from_secs(3600)),
    ]
    .into_iter()
    .map(|options: Options| options.private().unwrap())
    .collect()
}

pub(super) fn get(table: &Table, key: &str) -> Option<String> {
    let value = table.get(key).unwrap();
    value.map(|value| String::from_utf8(value).unwrap())
}

pub(super) fn check(table: &Table) {
    let report = table.check().unwrap();
    assert!(report.is_clean(), "{report:?}");
}

#[test]
fn all_changes_happen_or_none() {
    for table in tables() {
        table.set("stays", "old").unwrap();
        table.set("goes", "old").unwrap();
        let changed: Result<(), Error> = table.transaction(|t| {
            t.set("stays", "new")?;
            t.set("comes", "new")?;
            assert!(t.remove("goes")? && !t.remove("never")?);
            assert_eq!(t.changes(), 4);
            assert_eq!(t.get("stays")?.unwrap(), b"new");
            assert!(t.contains("comes")? && !t.contains("goes")?);
            Ok(())
        });
        changed.unwrap();
        assert_eq!(get(&table, "stays").unwrap(), "new");
        assert_eq!(get(&table, "comes").unwrap(), "new");
        assert_eq!(get(&table, "goes"), None);
        assert_eq!(table.len().unwrap(), 2);
        let aborted = table.transaction(|t| {
            t.set("stays", "newer")?;
            t.remove("comes")?;
            Err::<(), _>(t.abort())
        });
        assert!(matches!(aborted, Err(Error::Aborted)));
        assert_eq!(get(&table, "stays").unwrap(), "new");
        assert_eq!(get(&table, "comes").unwrap(), "new");
        check(&table);
    }
}

#[test]
fn a_change_meanwhile_is_a_conflict() {
    for table in tables() {
        table.set("read", "1").unwrap();
        let mut changed = table.begin(Begin::Optimistic).unwrap();
        assert_eq!(changed.get("read").unwrap().unwrap(), b"1");
        changed.set("written", "x").unwrap();
        table.set("read", "2").unwrap();
        assert!(!changed.commit().unwrap());
        assert_eq!(get(&table, "written"), None);

        let mut appeared = table.begin(Begin::Optimistic).unwrap();
        assert_eq!(appeared.get("missing").unwrap(), None);
        appeared.set("written", "x").unwrap();
        table.set("missing", "").unwrap();
        assert!(!appeared.commit().unwrap());

        let mut removed = table.begin(Begin::Optimistic).unwrap();
        assert!(removed.contains("missing").unwrap());
        removed.set("written", "x").unwrap();
        table.remove("missing").unwrap();
        assert!(!removed.commit().unwrap());

        let mut flagged = table.begin(Begin::Optimistic).unwrap();
        assert!(flagged.contains("read").unwrap());
        flagged.set("written", "x").unwrap();
        table
            .set_with("read", "2", Attributes::default().with_flags(7))
            .unwrap();
        assert!(!flagged.commit().unwrap());

        // What was only written is no conflict, and neither is another key.
        let mut blind = table.begin(Begin::Optimistic).unwrap();
        blind.set("read", "3").unwrap();
        table.set("read", "4").unwrap();
        table.set("other", "4").unwrap();
        assert!(blind.commit().unwrap());
        assert_eq!(get(&table, "read").unwrap(), "3");
        check(&table);
    }
}

#[test]
fn a_key_that_was_read_with_two_values_is_a_conflict() {
    for table in tables() {
        // With a write, with two keys that are read, and with one.
        for (writes, reads_another) in [(true, false), (false, true), (false, false)] {
            table.set("a", "1").unwrap();
            let mut t = table.begin(Begin::Optimistic).unwrap();
            assert_eq!(t.get("a").unwrap().unwrap(), b"1");
            table.set("a", "2").unwrap();
            assert_eq!(t.get("a").unwrap().unwrap(), b"2");
            if writes {
                t.add_number("a", 1).unwrap();
            }
            if reads_another {
                t.get("b").unwrap();
            }
            // It has the first value again when the commit compares.
            table.set("a", "1").unwrap();
            assert!(!t.commit().unwrap());
            assert_eq!(get(&table, "a").unwrap(), "1");
        }
    }
}

#[test]
fn in_a_table_with_versions_the_same_value_set_again_is_a_conflict() {
    for (has_versions, commits) in [(true, false), (false, true)] {
        let options = Table::options().max_size(1 << 20).versions(has_versions);
        let table = options.private().unwrap();
        table.set("a", "1").unwrap();
        let mut t = table.begin(Begin::Optimistic).unwrap();
        t.get("a").unwrap();
        t.set("b", "1").unwrap();
        table.set("a", "1").unwrap();
        assert_eq!(t.commit().unwrap(), commits);
    }
}

#[test]
fn a_function_runs_again_until_it_commits() {
    let table = table();
    let runs = AtomicU32::new(0);
    let sum = table.transaction(|t| {
        let sum = t.add_number("n", 1)?;
        // Eight conflicts, then the turn, which does not help against single calls.
        if runs.fetch_add(1, Ordering::Relaxed) < 10 {
            table.add_number("n", 10)?;
        }
        Ok::<_, Error>(sum)
    });
    assert_eq!(sum.unwrap(), 101);
    assert_eq!(runs.into_inner(), 11);
}

#[test]
fn an_error_from_what_was_never_there_does_not_count() {
    let table = table();
    table.set("a", "1").unwrap();
    table.set("b", "1").unwrap();
    let is_first = AtomicBool::new(true);
    let result: Result<(), Error> = table.view(|t| {
        let a = t.get("a")?;
        if is_first.swap(false, Ordering::Relaxed) {
            table.set("a", "2").unwrap();
            table.set("b", "2").unwrap();
        }
        match a == t.get("b")? {
            true => Ok(()),
            false => Err(Error::NotACounter),
        }
    });
    result.unwrap();
}

#[test]
fn a_transaction_knows_whether_it_has_seen_one_moment() {
    let table = table();
    table.set("a", "1").unwrap();
    table.set("b", "1").unwrap();
    let mut t = table.begin(Begin::Optimistic).unwrap();
    t.set("c", "1").unwrap();
    let _ = (t.get("a").unwrap(), t.get("b").unwrap());
    assert!(t.validate().unwrap());
    assert!(!table.contains("c").unwrap(), "it writes nothing");
    assert!(t.try_commit().unwrap());
    assert!(table.remove("c").unwrap());
    assert!(t.try_commit().unwrap(), "it has no changes any more");
    assert!(!table.contains("c").unwrap());
    let _ = (t.get("a").unwrap(), table.set("a", "2").unwrap());
    assert!(t.validate().unwrap(), "a single key was so at one moment");
    let _ = t.get("b").unwrap();
    assert!(!t.validate().unwrap());
    t.set("c", "1").unwrap();
    assert!(!t.try_commit().unwrap());
    assert!(!table.contains("c").unwrap());
}

#[test]
fn a_view_writes_nothing_and_holds_at_one_moment() {
    let table = table();
    let wrote = table.view(|t| t.set("a", "1"));
    assert!(matches!(wrote, Err(Error::ReadOnly)));
    let runs = AtomicU32::new(0);
    let pair = table.view(|t| {
        let a = t.get("a")?;
        if runs.fetch_add(1, Ordering::Relaxed) == 0 {
            table.transaction(|t| {
                t.set("a", "1")?;
                t.set("b", "1")
            })?;
        }
        Ok::<_, Error>((a, t.get("b")?))
    });
    assert_eq!(pair.unwrap(), (Some(b"1".to_vec()), Some(b"1".to_vec())));
    assert_eq!(runs.into_inner(), 2);
}

#[test]
fn a_transaction_once_runs_once() {
    let table = table();
    let conflict = table.transaction_once(|t| {
        let sum = t.add_number("n", 1)?;
        table.set("n", "5")?;
        Ok::<_, Error>(sum)
    });
    assert!(matches!(conflict, Err(Error::Conflict)));
    assert_eq!(table.transaction_once(|t| t.add_number("n", 1)).unwrap(), 6);
    let nested = table.transaction_once(|_| table.transaction_once(|t| t.set("n", "1")));
    assert!(matches!(nested, Err(Error::Reentrant)));
    // The turn is free again, also after a panic.
    let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        table.transaction_once(|_| -> Result<(), Error> { panic!("in the function") })
    }));
    assert!(panicked.is_err());
    assert_eq!(table.transaction_once(|t| t.add_number("n", 1)).unwrap(), 7);
}

#[test]
fn those_with_the_turn_wait_for_each_other() {
    let table = table();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..200 {
                    table.transaction_once(|t| t.add_number("n", 1)).unwrap();
                }
            });
        }
    });
    assert_eq!(get(&table, "n").unwrap(), "800");
}

#[test]
fn savepoints_are_gone_back_to() {
    let table = table();
    table.set("a", "0").unwrap();
    let mut t = table.begin(Begin::Optimistic).unwrap();
    t.set("a", "1").unwrap();
    let first = t.savepoint();
    t.set("a", "2").unwrap();
    t.remove("b").unwrap();
    let second = t.savepoint();
    t.set("c", "3").unwrap();
    t.set("c", "4").unwrap();
    t.roll_back_to(second).unwrap();
    assert_eq!((t.get("c").unwrap(), t.changes()), (None, 2));
    t.set("d", "5").unwrap();
    t.roll_back_to(first).unwrap();
    assert_eq!(t.get("a").unwrap().unwrap(), b"1");
    assert_eq!(t.changes(), 1);
    assert!(matches!(
        t.roll_back_to(second),
        Err(Error::BadOption { .. })
    ));
    assert!(t.roll_back_to(Savepoint::of(9)).is_err());
    t.set("e", "6").unwrap();
    t.roll_back_to(Savepoint::of(first.number())).unwrap();
    assert!(t.commit().unwrap());
    assert_eq!(get(&table, "a").unwrap(), "1");
    assert_eq!(table.len().unwrap(), 1);
}

#[test]
fn attributes_are_given_and_kept() {
    let table = table();
    let hour = Attributes::ttl(Duration::from_secs(3600)).with_flags(7);
    table.set_with("has", "1", hour).unwrap();
    let set: Result<(), Error> = table.transaction(|t| {
        assert_eq!(t.append("has", "2")?, Some(2));
        assert_eq!(t.append("none", "2")?, None);
        t.set_with("new", "x", hour.with_flags(9))?;
        assert_eq!(t.append("new", "y")?, Some(2));
        assert_eq!(t.get_with_attributes("new")?.unwrap().1.flags, 9);
        assert_eq!(t.get_with_attributes("has")?.unwrap().1.flags, 7);
        t.set("plain", "z")?;
        assert!(t.add("added", "1")? && !t.add("added", "2")?);
        assert!(t.replace("added", "3")? && !t.replace("none", "3")?);
        assert_eq!(t.take("plain")?.unwrap(), b"z");
        Ok(())
    });
    set.unwrap();
    let has = |key: &str| table.get_entry(key).unwrap().unwrap();
    assert_eq!(
        (has("has").value, has("has").attributes.flags),
        (b"12".to_vec(), 7)
    );
    assert!(matches!(has("has").attributes.expiry, Expiry::After(_)));
    assert_eq!(
        (has("new").value, has("new").attributes.flags),
        (b"xy".to_vec(), 9)
    );
    assert_eq!(has("added").value, b"3");
    assert!(!table.contains("plain").unwrap());
    check(&table);
}

#[test]
fn tags_of_a_transaction_are_invalidated() {
    let table = table();
    let tags = table.fetch_tags(&["home"]).unwrap();
    table
        .transaction(|t| {
            t.set_tagged("a", "1", Attributes::default(), &tags)?;
            t.set("b", "2")
        })
        .unwrap();
    table.invalidate_tag("home").unwrap();
    assert!(!table.contains("a").unwrap() && table.contains("b").unwrap());
    check(&table);
}

#[test]
fn a_removal_ends_the_lease_of_a_missing_key() {
    let table = table();
    let Leased::Won(lease) = table
        .get_or_lease("k", LeaseOptions::new(Duration::from_secs(60)))
        .unwrap()
    else {
        panic!("the key is missing");
    };
    let mut t = table.begin(Begin::Optimistic).unwrap();
    t.remove("k").unwrap();
    assert!(t.commit().unwrap());
    assert!(!lease.fill("made of what was there before").unwrap());
}

#[test]
fn money_is_neither_made_nor_lost() {
    const ACCOUNTS: u64 = 20;
    const EACH: i64 = 100;
    for table in tables() {
        for account in 0..ACCOUNTS {
            table.set(account.to_le_bytes(), EACH.to_string()).unwrap();
        }
        let is_over = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let mut movers = Vec::new();
            for thread in 1..4_u64 {
                let table = &table;
                movers.push(scope.spawn(move || {
                    for round in 0..400_u64 {
                        let from = (thread * 7 + round * 13) % ACCOUNTS;
                        let to = (from + 1 + round % (ACCOUNTS - 1)) % ACCOUNTS;
                        let by = (round % 9) as i64;
                        let moved = table.transaction(|t| {
                            t.add_number(from.to_le_bytes(), -by)?;
                            t.add_number(to.to_le_bytes(), by)
                        });
                        moved.unwrap();
                    }
                }));
            }
            scope.spawn(|| {
                while !is_over.load(Ordering::Relaxed) {
                    let sum = table.view(|t| {
                        let mut sum = 0;
                        for account in 0..ACCOUNTS {
                            let text = t.get(account.to_le_bytes())?.unwrap();
                            sum += std::str::from_utf8(&text).unwrap().parse::<i64>().unwrap();
                        }
                        Ok::<_, Error>(sum)
                    });
                    assert_eq!(sum.unwrap(), ACCOUNTS as i64 * EACH);
                }
            });
            movers.into_iter().for_each(|mover| mover.join().unwrap());
            is_over.store(true, Ordering::Relaxed);
        });
        check(&table);
    }
}

/// A reader that has seen one key of a transaction sees all of it, by single calls.
#[test]
fn single_reads_see_all_or_nothing() {
    for table in tables() {
        let keys: Vec<[u8; 4]> = (0..6_u32).map(u32::to_le_bytes).collect();
        let write = |round: u64| {
            let mut t = table.begin(Begin::Optimistic).unwrap();
            for key in &keys {
                t.set(key, round.to_string()).unwrap();
            }
            assert!(t.commit().unwrap());
        };
        write(0);
        let is_over = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                (1..3000).for_each(write);
                is_over.store(true, Ordering::Relaxed);
            });
            scope.spawn(|| {
                let mut least = 0;
                while !is_over.load(Ordering::Relaxed) {
                    for key in keys.iter().rev() {
                        let text = table.get(key).unwrap().unwrap();
                        let round = std::str::from_utf8(&text).unwrap().parse::<u64>().unwrap();
                        assert!(round >= least, "{round} after {least}");
                        least = round;
                    }
                    let met = table.iter().map(Result::unwrap).count();
                    assert!(met >= keys.len(), "{met}");
                }
            });
        });
        check(&table);
    }
}
