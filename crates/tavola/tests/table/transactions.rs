//! Transactions, in one process.

use crate::support::Dir;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;
use tavola::{Attributes, Begin, Error, Expiry, LeaseOptions, Leased, Options, Savepoint, Table};

fn table() -> Table {
    Table::options().max_size(64 << 20).private().unwrap()
}

/// Tables of every kind that has transactions.
fn tables() -> Vec<Table> {
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

fn get(table: &Table, key: &str) -> Option<String> {
    let value = table.get(key).unwrap();
    value.map(|value| String::from_utf8(value).unwrap())
}

fn check(table: &Table) {
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
fn values_of_every_size_are_changed() {
    for table in tables() {
        let sizes = [0_usize, 1, 8, 100, 5000, 16_000, 20_000, 100_000];
        let value = |size: usize, round: u8| vec![round; size];
        for round in 0..3 {
            let mut t = table.begin(Begin::Optimistic).unwrap();
            for size in sizes {
                t.set(size.to_le_bytes(), value(size, round)).unwrap();
                t.set((size as u32).to_le_bytes(), value(size, round))
                    .unwrap();
            }
            assert!(t.commit().unwrap());
            for size in sizes {
                let read = table.get(size.to_le_bytes()).unwrap().unwrap();
                assert!(read == value(size, round), "{size}");
            }
            check(&table);
        }
        let mut t = table.begin(Begin::Optimistic).unwrap();
        for size in sizes {
            assert!(t.take(size.to_le_bytes()).unwrap().is_some());
        }
        assert!(t.commit().unwrap());
        assert_eq!(table.len().unwrap(), sizes.len() as u64);
        check(&table);
    }
}

#[test]
fn a_table_of_fixed_lengths_has_transactions() {
    for uids in [false, true] {
        let options = Table::options().max_size(4 << 20).fixed(4, 16).uids(uids);
        let table = options.private().unwrap();
        table.set(b"key1", [1; 16]).unwrap();
        let mut t = table.begin(Begin::Optimistic).unwrap();
        t.set(b"key1", [2; 16]).unwrap();
        t.set(b"key2", [3; 16]).unwrap();
        assert!(matches!(
            t.set(b"key3", b"short"),
            Err(Error::Lengths { .. })
        ));
        assert!(t.commit().unwrap());
        assert_eq!(table.get(b"key1").unwrap().unwrap(), [2; 16]);
        let mut t = table.begin(Begin::Optimistic).unwrap();
        assert!(t.remove(b"key1").unwrap() && t.remove(b"key2").unwrap());
        assert!(t.commit().unwrap());
        assert_eq!(table.len().unwrap(), 0);
        check(&table);
    }
}

#[test]
fn a_key_keeps_its_uid() {
    let table = table();
    let uid = table.set_uid("a", "1").unwrap();
    let gone = table.set_uid("b", "1").unwrap();
    let mut t = table.begin(Begin::Optimistic).unwrap();
    t.set("a", "a longer value").unwrap();
    t.remove("b").unwrap();
    assert!(t.commit().unwrap());
    assert_eq!(table.get_by_uid(uid).unwrap().unwrap(), b"a longer value");
    assert_eq!(table.get_by_uid(gone).unwrap(), None);
    assert_eq!(table.uid_of("a").unwrap(), Some(uid));
    check(&table);
}

#[test]
fn a_large_transaction_fills_and_empties_a_table() {
    let table = table();
    let many = 60_000_u32;
    let mut t = table.begin(Begin::Optimistic).unwrap();
    for number in 0..many {
        t.set(number.to_le_bytes(), number.to_le_bytes()).unwrap();
    }
    assert!(t.commit().unwrap());
    assert_eq!(table.len().unwrap(), u64::from(many));
    for number in (0..many).step_by(997) {
        assert_eq!(
            table.get(number.to_le_bytes()).unwrap().unwrap(),
            number.to_le_bytes()
        );
    }
    check(&table);
    let mut t = table.begin(Begin::Optimistic).unwrap();
    for number in 0..many {
        assert!(t.remove(number.to_le_bytes()).unwrap());
    }
    assert!(t.commit().unwrap());
    assert_eq!(table.len().unwrap(), 0);
    check(&table);
}

#[test]
fn too_many_changes_are_refused() {
    let table = table();
    let mut t = table.begin(Begin::Optimistic).unwrap();
    for number in 0..65_536_u32 {
        t.set(number.to_le_bytes(), "").unwrap();
    }
    t.set(7_u32.to_le_bytes(), "again").unwrap();
    let refused = t.set(65_536_u32.to_le_bytes(), "");
    assert!(matches!(
        refused,
        Err(Error::TransactionTooLarge { limit: 65_536 })
    ));
    assert!(t.commit().unwrap());
    assert_eq!(table.len().unwrap(), 65_536);
}

#[test]
fn a_transaction_without_room_changes_nothing() {
    let table = Table::options().max_size(1 << 20).private().unwrap();
    table.set("before", "1").unwrap();
    for large in [false, true] {
        let mut t = table.begin(Begin::Optimistic).unwrap();
        t.set("before", "2").unwrap();
        t.remove("none").unwrap();
        let size = if large { 1_500_000 } else { 10_000 };
        for number in 0..if large { 1 } else { 200_u32 } {
            t.set(number.to_le_bytes(), vec![1; size]).unwrap();
        }
        assert!(matches!(t.commit(), Err(Error::Full { .. })));
        assert_eq!(get(&table, "before").unwrap(), "1");
        assert_eq!(table.len().unwrap(), 1);
        check(&table);
    }
    table.set("after", vec![1; 100_000]).unwrap();
}

#[test]
fn a_cache_and_a_read_only_table_refuse() {
    let cache = Table::options().max_size(4 << 20).capacity(1 << 20);
    let refused = cache.private().unwrap().transaction(|t| t.set("a", "1"));
    assert!(matches!(
        refused,
        Err(Error::BadOption {
            option: "transaction",
            ..
        })
    ));
    let dir = Dir::new();
    let path = dir.table("t");
    Table::create(&path).unwrap().set("a", "1").unwrap();
    let read_only = Table::open_read_only(&path).unwrap();
    assert!(matches!(
        read_only.transaction(|t| t.set("a", "2")),
        Err(Error::ReadOnly)
    ));
    assert_eq!(read_only.view(|t| t.get("a")).unwrap().unwrap(), b"1");
    assert!(matches!(
        read_only.view(|t| Ok((t.get("a")?, t.get("b")?))),
        Err(Error::ReadOnly)
    ));
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
