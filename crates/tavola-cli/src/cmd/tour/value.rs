//! Values that show a reader whether they are whole, and who wrote them when.
//!
//! ```text
//! SPIRAL SHELL;So;0;ON;;;;;N;;;;;                                   as loaded: revision 0
//! SPIRAL SHELL;So;0;ON;;;;;N;;;;; rev=17 by=3 ***** sum=9ac3…       as edited by process p3
//! ```
//!
//! The stars make lengths differ from one revision to the next. The sum covers everything before
//! it, so that bytes of two revisions mixed would be noticed.

use std::io::Write;

const STARS: &[u8; 32] = b"********************************";
const SUM: &[u8] = b" sum=";
const SUM_DIGITS: usize = 16;

/// A text as its length and sum: all that a reader needs to know of it, in few cache lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fingerprint {
    len: usize,
    sum: u64,
}

impl Fingerprint {
    pub fn of(text: &str) -> Self {
        Self {
            len: text.len(),
            sum: checksum(0, text.as_bytes()),
        }
    }

    /// The revision a value holds, if it is whole, of this text, and by this seat.
    pub fn revision(self, seat: u32, value: &[u8]) -> Option<u32> {
        let (text, rest) = value.split_at_checked(self.len)?;
        if checksum(0, text) != self.sum {
            return None;
        }
        if rest.is_empty() {
            return Some(0);
        }
        let (stamp, sum) =
            rest.split_at_checked(rest.len().checked_sub(SUM.len() + SUM_DIGITS)?)?;
        if sum != sum_field(checksum(self.sum, stamp)) {
            return None;
        }
        let (revision, rest) = number(stamp.strip_prefix(b" rev=")?)?;
        let (by, _stars) = number(rest.strip_prefix(b" by=")?)?;
        if by == seat + 1 { Some(revision) } else { None }
    }
}

/// Writes the value of `revision` of a record to `out`.
pub fn compose(text: &str, seat: u32, revision: u32, out: &mut Vec<u8>) {
    out.clear();
    out.extend_from_slice(text.as_bytes());
    let written = write!(out, " rev={revision} by={} ", seat + 1);
    written.expect("a vector takes everything");
    out.extend_from_slice(&STARS[..revision as usize * 7 % STARS.len()]);
    let sum = checksum(checksum(0, text.as_bytes()), &out[text.len()..]);
    out.extend_from_slice(&sum_field(sum));
}

/// The value of an entry of the history: which record the edit of that number was made to.
pub fn history(key: &str, number: u64, out: &mut Vec<u8>) {
    out.clear();
    let sum = checksum(number, key.as_bytes());
    write!(out, "{key} {sum:016x}").expect("a vector takes everything");
}

fn sum_field(sum: u64) -> [u8; SUM.len() + SUM_DIGITS] {
    let digit = |at: usize| b"0123456789abcdef"[(sum >> (4 * (SUM_DIGITS - 1 - at)) & 15) as usize];
    std::array::from_fn(|at| {
        if at < SUM.len() {
            SUM[at]
        } else {
            digit(at - SUM.len())
        }
    })
}

/// The decimal number that bytes begin with, and what comes after it.
fn number(bytes: &[u8]) -> Option<(u32, &[u8])> {
    let digits = bytes
        .iter()
        .take_while(|byte| byte.is_ascii_digit())
        .count();
    let mut number = 0_u32;
    for digit in &bytes[..digits] {
        number = number
            .checked_mul(10)?
            .checked_add(u32::from(digit - b'0'))?;
    }
    if digits == 0 {
        None
    } else {
        Some((number, &bytes[digits..]))
    }
}

/// Mixes 8 bytes at a time: for accidents, not for attackers.
fn checksum(start: u64, bytes: &[u8]) -> u64 {
    let mut sum = start ^ bytes.len() as u64 ^ 0x9e37_79b9_7f4a_7c15;
    let (words, rest) = bytes.as_chunks::<8>();
    for word in words {
        sum = mixed(sum, u64::from_le_bytes(*word));
    }
    let last = rest
        .iter()
        .rev()
        .fold(0, |word, &byte| word << 8 | u64::from(byte));
    mixed(sum, last)
}

fn mixed(sum: u64, word: u64) -> u64 {
    let sum = (sum ^ word).wrapping_mul(0xd1b5_4a32_d192_ed03);
    sum ^ sum >> 29
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "SPIRAL SHELL;So;0;ON;;;;;N;;;;;";

    #[test]
    fn what_was_composed_is_recognised() {
        let (known, mut value) = (Fingerprint::of(TEXT), Vec::new());
        assert_eq!(known.revision(2, TEXT.as_bytes()), Some(0));
        for number in [1, 2, 9, 10, 77, u32::MAX] {
            compose(TEXT, 2, number, &mut value);
            assert!(value.starts_with(TEXT.as_bytes()));
            assert_eq!(known.revision(2, &value), Some(number));
            assert_eq!(known.revision(1, &value), None, "another seat wrote it");
            let other = Fingerprint::of("SPIRAL");
            assert_eq!(other.revision(2, &value), None, "another record");
        }
    }

    #[test]
    fn no_mixture_of_two_revisions_passes() {
        let (known, mut old, mut new) = (Fingerprint::of(TEXT), Vec::new(), Vec::new());
        compose(TEXT, 0, 41, &mut old);
        compose(TEXT, 0, 42, &mut new);
        for cut in 1..old.len().min(new.len()) {
            let torn = [&new[..cut], &old[cut..]].concat();
            if torn != old && torn != new {
                assert_eq!(known.revision(0, &torn), None, "cut at {cut}");
            }
        }
        for len in TEXT.len() + 1..new.len() {
            assert_eq!(
                known.revision(0, &new[..len]),
                None,
                "{len} bytes of {}",
                new.len()
            );
        }
    }

    #[test]
    fn no_flipped_bit_passes() {
        let (known, mut value) = (Fingerprint::of(TEXT), Vec::new());
        compose(TEXT, 0, 17, &mut value);
        for bit in 0..8 * value.len() {
            value[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(known.revision(0, &value), None, "bit {bit}");
            value[bit / 8] ^= 1 << (bit % 8);
        }
    }
}
