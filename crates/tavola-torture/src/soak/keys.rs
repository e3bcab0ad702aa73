//! The keys all workers share.

use crate::value::{HEAD, Numbers, sealed};

/// Registers that everybody wants.
pub(crate) const HOT: u32 = 200;
/// Registers in all.
pub(crate) const REGISTERS: u32 = HOT + 20_000;
/// Counters.
pub(crate) const COUNTERS: usize = 16;
/// Values that only grow, by records.
pub(crate) const LOGS: usize = 16;
/// Bytes of a record: a value without filler.
pub(crate) const RECORD: usize = HEAD;

/// The key of a register; that of a hot one has 8 bytes, so that a word is changed in place.
pub(crate) fn register(number: u32) -> Vec<u8> {
    if number < HOT {
        format!("hot-{number:04}").into_bytes()
    } else {
        format!("cold-{number}").into_bytes()
    }
}

/// The flags of a register, if it has any; never 0.
pub(crate) fn flags(number: u32) -> u32 {
    !number
}

/// The number of a register's key.
pub(crate) fn register_of(key: &[u8]) -> Option<u32> {
    let text = std::str::from_utf8(key).ok()?;
    let number = text
        .strip_prefix("hot-")
        .or_else(|| text.strip_prefix("cold-"))?;
    number.parse().ok()
}

pub(crate) fn counter(number: usize) -> Vec<u8> {
    format!("counter-{number}").into_bytes()
}

pub(crate) fn log(number: usize) -> Vec<u8> {
    format!("log-{number}").into_bytes()
}

/// The record of a worker, by its number in one log.
pub(crate) fn record(worker: usize, number: u64) -> Vec<u8> {
    sealed(b"record", (worker as u64) << 48 | number, 0)
}

/// A register, a hot one half of the time.
pub(crate) fn any_register(numbers: &mut Numbers) -> u32 {
    let bound = if numbers.below(2) == 0 {
        HOT
    } else {
        REGISTERS
    };
    numbers.below(u64::from(bound)) as u32
}

/// The length of a filler: mostly short, at times of several kilobytes, now and then of pages.
pub(crate) fn any_length(numbers: &mut Numbers) -> usize {
    let most = match numbers.below(200) {
        0 => 40_000,
        1..5 => 5_000,
        _ => 200,
    };
    numbers.below(most + 1) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn registers_are_known_by_their_keys() {
        for number in [0, HOT - 1, HOT, REGISTERS - 1] {
            assert_eq!(register_of(&register(number)), Some(number));
        }
        assert_eq!(register_of(&counter(3)), None);
        assert_eq!(register_of(&log(3)), None);
    }
}
