//! The word that sets the clock by which keys expire.

/// Milliseconds by which the clock of keys is ahead of the machine's own (time since its start,
/// time asleep not included), for one start of the machine: `boot 22 | ahead 42`.
///
/// 0: nobody has asked for the time yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ClockWord {
    /// Names the start of the machine; never 0.
    pub(crate) boot: u32,
    pub(crate) ahead_ms: u64,
}

const AHEAD_BITS: u32 = 42;
const AHEAD_MASK: u64 = (1 << AHEAD_BITS) - 1;

impl ClockWord {
    /// The word for a start of the machine with this name.
    pub(crate) fn new(boot_id: &str, ahead_ms: u64) -> Self {
        let bytes: Vec<u64> = boot_id.trim().bytes().map(u64::from).collect();
        let sum = super::superblock::fold(&bytes);
        Self {
            boot: ((sum >> AHEAD_BITS) as u32).max(1),
            ahead_ms: ahead_ms & AHEAD_MASK,
        }
    }

    pub(crate) fn decode(word: u64) -> Self {
        Self {
            boot: (word >> AHEAD_BITS) as u32,
            ahead_ms: word & AHEAD_MASK,
        }
    }

    pub(crate) fn encode(self) -> u64 {
        u64::from(self.boot) << AHEAD_BITS | self.ahead_ms
    }
}

#[cfg(test)]
mod tests {
    use super::ClockWord;

    #[test]
    fn words_survive_and_tell_boots_apart() {
        let ids = [
            "a7d4eb2c-4e4f-4b0f-8d5d-3c0c3d3a8a11",
            "a7d4eb2c-4e4f-4b0f-8d5d-3c0c3d3a8a12",
        ];
        let words = ids.map(|id| ClockWord::new(id, 1_795_000_000_000));
        assert_ne!(words[0].boot, words[1].boot);
        for word in words {
            assert_eq!(ClockWord::decode(word.encode()), word);
            assert_ne!(word.boot, 0);
        }
        assert_eq!(
            ClockWord::new(&format!("{}\n", ids[0]), 7).boot,
            words[0].boot
        );
    }
}
