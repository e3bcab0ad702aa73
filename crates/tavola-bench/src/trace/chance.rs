//! Random numbers that are the same in every run.

/// Spreads a number over 64 bits, so that numbers beside each other have nothing in common: the
/// last step of splitmix64.
pub(super) fn spread(word: u64) -> u64 {
    let word = (word ^ word >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let word = (word ^ word >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ word >> 31
}

/// The upper bits of a number as a fraction, 0 to below 1.
pub(super) fn fraction(word: u64) -> f64 {
    (word >> 11) as f64 / (1_u64 << 53) as f64
}

/// The generator splitmix64.
pub(super) struct Chance {
    state: u64,
}

impl Chance {
    pub(super) fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    pub(super) fn word(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        spread(self.state)
    }

    /// A number below `bound`.
    pub(super) fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.word()) * u128::from(bound)) >> 64) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_fall_evenly_and_are_the_same_again() {
        let (mut one, mut other) = (Chance::new(1), Chance::new(1));
        let mut counts = [0; 10];
        let mut sum = 0.0;
        for _ in 0..10_000 {
            let word = one.word();
            assert_eq!(word, other.word());
            sum += fraction(word);
            counts[one.below(10) as usize] += 1;
            other.word();
        }
        assert!((sum / 10_000.0 - 0.5).abs() < 0.02, "{sum}");
        assert!(
            counts.iter().all(|count| (850..1150).contains(count)),
            "{counts:?}"
        );
    }
}
