//! Random numbers from a seed (splitmix64).

pub(super) struct Random(pub(super) u64);

impl Random {
    pub(super) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ mixed >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ mixed >> 31
    }

    /// Returns a number below `end`.
    pub(super) fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }

    /// Returns true once in so many times.
    pub(super) fn once_in(&mut self, count: u64) -> bool {
        self.below(count) == 0
    }

    /// Returns a delay: mostly short, sometimes long, seldom very long.
    pub(super) fn delay_us(&mut self) -> u64 {
        match self.below(400) {
            0 => self.below(250_000),
            1..20 => self.below(20_000),
            _ => self.below(600),
        }
    }
}
