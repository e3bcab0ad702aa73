//! The word that sets the clock by which keys expire.
//!
//! That clock is the machine's monotonic clock plus an offset, so that setting the wall clock does
//! not expire keys. The word holds the offset, and names the start of the machine that it is valid
//! for.

/// By how many milliseconds the clock of keys is ahead of the machine's own (time since its start,
/// time asleep not included), for one start of the machine: `boot 14 | check 8 | ahead 42`.
///
/// The word is 0 until the first process asks for the time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ClockWord {
    /// Identifies the start of the machine; never 0.
    pub(crate) boot: u32,
    pub(crate) ahead_ms: u64,
}

const AHEAD_BITS: u32 = 42;
const AHEAD_MASK: u64 = (1 << AHEAD_BITS) - 1;
const BOOT_SHIFT: u32 = 50;

impl ClockWord {
    /// Returns the word for the start of the machine with this boot id.
    pub(crate) fn new(boot_id: &[u8], ahead_ms: u64) -> Self {
        let sum = boot_id
            .iter()
            .fold(0xCBF2_9CE4_8422_2325, |sum: u64, byte| {
                (sum ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01B3)
            });
        Self {
            // Without the multiplication, the last bytes would not reach the highest bits.
            boot: ((sum.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> BOOT_SHIFT) as u32).max(1),
            ahead_ms: ahead_ms & AHEAD_MASK,
        }
    }

    /// Decodes a word. Returns `None` if it was not set yet, or is damaged.
    pub(crate) fn decode(word: u64) -> Option<Self> {
        let clock = Self {
            boot: (word >> BOOT_SHIFT) as u32,
            ahead_ms: word & AHEAD_MASK,
        };
        (clock.boot != 0 && clock.encode() == word).then_some(clock)
    }

    pub(crate) fn encode(self) -> u64 {
        let word = u64::from(self.boot) << BOOT_SHIFT | self.ahead_ms;
        // Each flipped bit changes the check.
        let check = word.to_le_bytes().iter().fold(0, |all, byte| all ^ byte);
        word | u64::from(check) << AHEAD_BITS
    }
}

#[cfg(test)]
mod tests {
    use super::ClockWord;

    #[test]
    fn words_survive_differ_by_boot_and_show_every_flipped_bit() {
        let words =
            [b"a7d4eb2c-11", b"a7d4eb2c-12"].map(|id| ClockWord::new(id, 1_795_000_000_000));
        assert_ne!(words[0].boot, words[1].boot);
        for word in words {
            assert_eq!(ClockWord::decode(word.encode()), Some(word));
            for bit in 0..64 {
                assert_eq!(ClockWord::decode(word.encode() ^ 1 << bit), None);
            }
        }
        assert_eq!(ClockWord::decode(0), None);
    }
}
