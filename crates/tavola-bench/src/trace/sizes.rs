//! How many bytes the values have.

use super::chance::{fraction, spread};

/// Bytes of the values: all the same, or each item its own between two bounds, evenly in the
/// logarithm, so that of each doubling there are as many.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ValueBytes {
    /// The smallest; at least 1 when the largest is another.
    pub least: u32,
    /// The largest.
    pub most: u32,
}

impl ValueBytes {
    /// Those of an item's value: always the same for the same item.
    pub(super) fn of(self, id: u32) -> usize {
        if self.least == self.most {
            return self.least as usize;
        }
        let least = f64::from(self.least);
        // One above the largest, as fractions are below one and sizes are rounded down.
        let range = (f64::from(self.most) + 1.0) / least;
        let bytes = least * range.powf(fraction(spread(u64::from(id) + 1)));
        (bytes as u32).clamp(self.least, self.most) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_keep_to_their_bounds_and_each_doubling_has_as_many() {
        let (least, most) = (64, 1023);
        let sizes = ValueBytes { least, most };
        let mut counts = [0; 4];
        for id in 0..40_000 {
            let bytes = sizes.of(id);
            assert_eq!(bytes, sizes.of(id));
            counts[(bytes / 64).ilog2() as usize] += 1;
        }
        assert!(
            counts.iter().all(|count| (9_700..10_300).contains(count)),
            "{counts:?}"
        );
        let narrow = ValueBytes { least: 1, most: 2 };
        assert!((0..100).all(|id| (1..=2).contains(&narrow.of(id))));
    }

    #[test]
    fn equal_bounds_are_one_size() {
        let none = ValueBytes { least: 0, most: 0 };
        let hundred = ValueBytes {
            least: 100,
            most: 100,
        };
        assert!((0..9).all(|id| (none.of(id), hundred.of(id)) == (0, 100)));
    }
}
