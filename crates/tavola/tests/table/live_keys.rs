//! Live keys are distinguished from those that have expired or lost a tag and still take their
//! room.

use crate::support::over_every_table;
use std::time::Duration;
use tavola::{Attributes, Table};

#[test]
fn what_a_read_finds_is_live() {
    let keys = if cfg!(miri) { 100 } else { 20_000 };
    over_every_table(Table::options().max_size(64 << 20), |table| {
        assert_eq!(table.live_keys().unwrap(), tavola::LiveKeys::default());
        let tags = table.fetch_tags(&["group"]).unwrap();
        table.set(b"stays", b"value").unwrap();
        for number in 0..keys {
            let key = format!("key {number}");
            let attributes = Attributes::default();
            table
                .set_tagged(key.as_bytes(), b"value", attributes, &tags)
                .unwrap();
        }
        let before = table.live_keys().unwrap();
        assert_eq!((before.live, before.unreclaimed), (keys + 1, 0));
        assert!(table.invalidate_tag(b"group").unwrap());
        let found = table.iter().count() as u64;
        let after = table.live_keys().unwrap();
        assert!(!after.is_estimate);
        assert_eq!((found, after.live), (1, 1));
        assert_eq!(after.live + after.unreclaimed, table.len().unwrap());
        assert_eq!(table.stats().unwrap().keys, table.len().unwrap());
    });
}

#[test]
#[cfg_attr(miri, ignore = "time")]
fn what_has_expired_is_not_live() {
    over_every_table(Table::options().max_size(64 << 20), |table| {
        let soon = Attributes::ttl(Duration::from_millis(1));
        for number in 0..3000u32 {
            table.set(number.to_le_bytes(), b"value").unwrap();
            table
                .set_with([b"x", &number.to_le_bytes()[..]].concat(), b"", soon)
                .unwrap();
        }
        std::thread::sleep(Duration::from_millis(20));
        let keys = table.live_keys().unwrap();
        assert_eq!(keys.live, 3000);
        assert_eq!(keys.live + keys.unreclaimed, table.len().unwrap());
    });
}

/// Where many keys expire, a part of them is looked at.
#[test]
#[cfg_attr(miri, ignore = "many keys")]
fn of_many_keys_it_is_an_estimate() {
    let table = Table::options().max_size(256 << 20).private().unwrap();
    let tags = table.fetch_tags(&["group"]).unwrap();
    let each = 300_000u32;
    for number in 0..each {
        let key = number.to_le_bytes();
        table
            .set_tagged(key, b"v", Attributes::default(), &tags)
            .unwrap();
        table.set([b"x", &key[..]].concat(), b"v").unwrap();
    }
    table.invalidate_tag(b"group").unwrap();
    let (keys, all) = (table.live_keys().unwrap(), table.len().unwrap());
    assert!(keys.is_estimate);
    assert_eq!(keys.live + keys.unreclaimed, all);
    let error = keys.live.abs_diff(u64::from(each));
    assert!(error < u64::from(each) / 20, "{keys:?}");
}
