//! Keys that expire or have flags, in tables that are damaged: some live for an hour, some forever
//! again, some have expired and their items are still there.

use super::damage::{key_of, value};
use std::ops::Range;
use std::time::Duration;
use tavola::{Attributes, Expiry, Table};

/// All of them; the last are counters.
pub const KEYS: Range<u64> = 3000..3078;
const COUNTERS: Range<u64> = 3072..3078;
/// Longer than any test takes.
pub const HOUR: Duration = Duration::from_secs(3600);

/// What a key has beside its value.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Timed,
    Flagged,
    Both,
    /// It has a field for its time, which says that it lives forever.
    Persisted,
    Expired,
    /// With flags.
    BothExpired,
}

fn kind_of(number: u64) -> Kind {
    match number % 6 {
        0 => Kind::Timed,
        1 => Kind::Flagged,
        2 => Kind::Both,
        3 => Kind::Persisted,
        4 => Kind::Expired,
        _ => Kind::BothExpired,
    }
}

/// Whether it is there.
pub fn lives(number: u64) -> bool {
    !matches!(kind_of(number), Kind::Expired | Kind::BothExpired)
}

fn flags_of(number: u64) -> u32 {
    match kind_of(number) {
        Kind::Flagged | Kind::Both | Kind::BothExpired => 0x5EED_0000 | number as u32,
        Kind::Timed | Kind::Persisted | Kind::Expired => 0,
    }
}

/// What it is stored with.
pub fn attributes_of(number: u64) -> Attributes {
    let expiry = match kind_of(number) {
        Kind::Flagged => Expiry::Never,
        _ => Expiry::After(HOUR),
    };
    Attributes {
        expiry,
        flags: flags_of(number),
    }
}

/// The value it has, or had.
pub fn value_at_first(number: u64) -> Vec<u8> {
    match COUNTERS.contains(&number) {
        true => number.to_string().into_bytes(),
        false => value(number, 1, number),
    }
}

/// Whether a key may have that: the flags it was stored with or none, and at most an hour.
pub fn may_have(number: u64, attributes: Attributes) -> bool {
    let is_short = match attributes.expiry {
        Expiry::After(left) => left <= HOUR,
        expiry => expiry == Expiry::Never,
    };
    is_short && [0, flags_of(number)].contains(&attributes.flags)
}

/// Stores them all; half of them get a uid, by a handle that gives one to each key.
pub fn build(table: &Table, naming: &Table) {
    // A thread that has written nothing yet: its first 63 writes search for no expired keys.
    let of_its_own = |step: &(dyn Fn() + Sync)| {
        std::thread::scope(|scope| scope.spawn(step).join().unwrap());
    };
    for number in KEYS {
        // Where all of an item is in pages, it is found by its uid alone.
        let is_named = number % 12 < 6 || number % 40 == 3;
        let table = if is_named { naming } else { table };
        let (key, attributes) = (key_of(number), attributes_of(number));
        if COUNTERS.contains(&number) {
            let count = table.incr_with(&key, 1, Some(number), attributes);
            assert_eq!(count.unwrap(), Some(number));
        } else {
            let value = value_at_first(number);
            table.set_with(&key, &value, attributes).unwrap();
        }
        if kind_of(number) == Kind::Persisted {
            assert!(table.persist(&key).unwrap());
        }
    }
    of_its_own(&|| {
        for number in KEYS.filter(|number| !lives(*number)) {
            let now = Expiry::PAST;
            assert!(table.touch(key_of(number), now).unwrap());
        }
    });
}
