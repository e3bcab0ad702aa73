//! Values that are computed early: by how many of those who ask.

use std::time::Duration;
use tavola::{Attributes, LeaseOptions, Leased, Table};

const HOUR: Duration = Duration::from_secs(3600);
const KEY: &[u8] = b"the key";

/// What takes `times` as long as it is still fresh is computed early by one of e^(1/times) calls.
#[test]
fn early_ones_are_as_many_as_the_method_says() {
    const CALLS: u32 = 10_000;
    let table = Table::options().max_size(4 << 20).private().unwrap();
    // Any flags may be there: these mean 2047 times 2^21 microseconds.
    let attributes = Attributes::ttl(HOUR).with_flags(21 << 11 | 2047);
    table.set_with(KEY, b"old", attributes).unwrap();
    let even = HOUR.as_micros() as f64 / f64::from(2047u32 << 21);
    for times in [0.25, 0.5, 1.0, 2.0, 8.0] {
        let early = LeaseOptions::new(HOUR).early(times * even);
        let is_early = |_: &u32| !matches!(table.get_or_lease(KEY, early).unwrap(), Leased::Hit(_));
        let share = (0..CALLS).filter(is_early).count() as f64 / f64::from(CALLS);
        let expected = (-1.0 / times).exp();
        // Six standard deviations: one run in a hundred million is outside by chance. What
        // passes of the hour meanwhile is a hundredth of one.
        let spread = (expected * (1.0 - expected) / f64::from(CALLS)).sqrt();
        println!("{times} times: {share}, expected {expected:.4}, give or take {spread:.4}");
        assert!((share - expected).abs() < 6.0 * spread, "{times}: {share}");
    }
}
