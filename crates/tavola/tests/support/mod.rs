//! Tables for tests: in a directory of their own that goes with them, and on the heap.

#![allow(dead_code, reason = "each test takes what it needs")]

pub mod beside;
pub mod damage;
pub mod durable;
pub mod flips;
pub mod format;
pub mod leased;
pub mod logs;
pub mod mortal;
pub mod mount;
pub mod part;
pub mod patience;
pub mod process;
pub mod queues;
pub mod trial;

use std::path::{Path, PathBuf};
use tavola::{Hint, Options, Table};
use tavola_model::{Model, Uid};

/// A directory in shared memory, removed when dropped.
pub struct Dir(tempfile::TempDir);

impl Dir {
    pub fn new() -> Self {
        Self(
            tempfile::Builder::new()
                .prefix("tavola-test-")
                .tempdir_in("/dev/shm")
                .unwrap(),
        )
    }

    pub fn path(&self) -> &Path {
        self.0.path()
    }

    pub fn table(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }
}

/// How many of so many steps a test does: all in `make test-long`, a quarter otherwise.
pub fn rounds(all: u64) -> u64 {
    match std::env::var_os("TAVOLA_LONG") {
        _ if cfg!(miri) => all / 200,
        Some(_) => all,
        None => all / 4,
    }
}

/// Runs a test over every kind of table: mapped and private, few and many shards.
pub fn over_every_table(options: Options, mut test: impl FnMut(&Table)) {
    for shards in [1, 16] {
        let options = options.clone().shards(shards);
        if !cfg!(miri) {
            let dir = Dir::new();
            test(&options.create(dir.table("t")).unwrap());
        }
        test(&options.private().unwrap());
    }
}

/// The same numbers in every run: a test that failed fails again.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }

    pub fn below(&mut self, bound: u64) -> u64 {
        (self.next() >> 16) % bound
    }

    pub fn bytes(&mut self, len: usize) -> Vec<u8> {
        (0..len).map(|_| self.next() as u8).collect()
    }
}

/// A uid that was returned, with its generation or without; its key may be gone.
pub fn any_uid(random: &mut Random, model: &Model) -> Uid {
    let given = model.given();
    let nth = random.below(given.len().max(1) as u64) as usize;
    let hint = given.get(nth).copied().unwrap_or(Hint::from(0));
    let is_plain = random.below(3) == 0;
    Uid::Hint(if is_plain { hint.uid().into() } else { hint })
}

/// Bytes that only this key, version and length lead to, the version in front; 16 at least.
pub fn value_of(key: &[u8], version: u64, len: usize) -> Vec<u8> {
    let len = len.max(16);
    let seed = key.iter().fold(version ^ (len as u64) << 32, |sum, byte| {
        (sum ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01B3)
    });
    let mut random = Random::new(seed);
    let mut value = version.to_le_bytes().to_vec();
    while value.len() < len {
        value.extend(random.next().to_le_bytes());
    }
    value.truncate(len);
    value
}

/// Returns the version in a value from [`value_of`], or `None` if it is not of this key or not
/// whole.
pub fn version_of(key: &[u8], value: &[u8]) -> Option<u64> {
    let version = u64::from_le_bytes(value.get(..8)?.try_into().unwrap());
    (value == value_of(key, version, value.len())).then_some(version)
}

/// Panics unless a check finds nothing.
pub fn assert_clean(table: &Table) {
    let report = table.check().unwrap();
    assert!(report.is_clean(), "{:#?}", report.problems);
    assert_eq!(report.bytes_in_use, report.bytes_reachable);
}
