//! Sizes, times, counts and ages, as all programs read and print them; here also live keys.

use tavola::LiveKeys;
pub use tavola_program::units::{age, count, counted, parse_size, parse_time, size};

/// The keys that a read finds and, if there are any, those that are over and take room still.
pub fn keys_in_words(keys: &LiveKeys) -> String {
    let about = if keys.is_estimate { "about " } else { "" };
    let live = count(keys.live);
    match keys.unreclaimed {
        0 => live,
        over => format!("{about}{live} live, {} not yet reclaimed", count(over)),
    }
}
