//! Transactions on tables and values of every kind, and what they refuse.

use super::transactions::{check, get, table, tables};
use crate::support::Dir;
use tavola::{Begin, Error, Table};

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
