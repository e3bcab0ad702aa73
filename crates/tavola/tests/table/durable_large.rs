//! Transactions of durable tables that change as many keys as they may.

use crate::support::durable::DurableDir;
use tavola::{Durability, Error, Table};

#[test]
fn a_transaction_of_the_most_keys_is_rebuilt_whole() {
    let dir = DurableDir::new();
    let sized = Table::options().max_size(256 << 20).shards(4);
    let table = sized.durable(Durability::Os).create(dir.path()).unwrap();
    let key = |index: u32| format!("{index:064}");
    let set = |count: u32| {
        table.transaction(|keys| {
            (0..count).try_for_each(|index| keys.set(key(index), index.to_le_bytes()))
        })
    };
    set(65_536).unwrap();
    let error = set(65_537).unwrap_err();
    assert!(
        matches!(error, Error::TransactionTooLarge { limit: 65_536 }),
        "{error}"
    );
    drop(table);
    dir.lose_memory();
    let table = Table::open(dir.path()).unwrap();
    assert_eq!(table.stats().unwrap().keys, 65_536);
    for index in [0, 1, 40_000, 65_535] {
        let value = table.get(key(index)).unwrap();
        assert_eq!(value.unwrap(), index.to_le_bytes());
    }
}

#[test]
fn a_transaction_that_is_too_large_for_the_journal_says_what_fits() {
    let dir = DurableDir::new();
    let sized = Table::options().max_size(4 << 20).shards(2);
    let table = sized.durable(Durability::Os).create(dir.path()).unwrap();
    let set = |count: u32| {
        table.transaction(|keys| {
            (0..count).try_for_each(|index| keys.set(format!("{index:016}"), index.to_le_bytes()))
        })
    };
    let Err(Error::TransactionTooLarge { limit }) = set(8_000) else {
        panic!("8,000 keys fit");
    };
    assert_eq!(table.stats().unwrap().keys, 0);
    assert!((2_000..8_000).contains(&limit), "{limit}");
    set(limit).unwrap();
    assert_eq!(table.stats().unwrap().keys, u64::from(limit));
}
