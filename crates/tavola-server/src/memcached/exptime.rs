//! Expiry times as clients of memcached send them.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use tavola::Expiry;
use tavola::serving::coarse_unix_s;

/// The longest time from now; larger numbers are seconds since 1970.
const LONGEST_RELATIVE_S: u32 = 60 * 60 * 24 * 30;

/// Reads an expiry time: 0 never expires, a negative one expires at once, up to 30 days are seconds
/// from now, and more are seconds since 1970.
pub(super) fn signed(exptime: i32) -> Expiry {
    u32::try_from(exptime).map_or(Expiry::PAST, unsigned)
}

/// Reads an expiry time that is never negative.
pub(super) fn unsigned(exptime: u32) -> Expiry {
    let time = Duration::from_secs(exptime.into());
    match exptime {
        0 => Expiry::Never,
        1..=LONGEST_RELATIVE_S => Expiry::After(time),
        _ => Expiry::At(UNIX_EPOCH + time),
    }
}

/// Returns the seconds since 1970, by a clock that may be some milliseconds late: it is read for
/// each request, and reading the exact one takes five times as long.
pub(super) fn now_s() -> u64 {
    coarse_unix_s()
}

/// Returns the seconds that are left, rounded up, or `None` if the item does not expire.
pub(super) fn left_s(expiry: Expiry) -> Option<u32> {
    let left = match expiry {
        Expiry::After(left) => left,
        Expiry::At(time) => {
            let left = time.duration_since(SystemTime::now());
            left.unwrap_or(Duration::ZERO)
        }
        Expiry::Default | Expiry::Never => return None,
    };
    let seconds = left.as_millis().div_ceil(1000);
    Some(u32::try_from(seconds).unwrap_or(u32::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_beyond_thirty_days_is_a_date() {
        let month = LONGEST_RELATIVE_S as i32;
        let seconds = |seconds| Duration::from_secs(seconds);
        assert_eq!(signed(0), Expiry::Never);
        assert_eq!(signed(-1), Expiry::PAST);
        assert_eq!(signed(i32::MIN), Expiry::PAST);
        assert_eq!(signed(1), Expiry::After(seconds(1)));
        assert_eq!(signed(month), Expiry::After(seconds(2_592_000)));
        assert_eq!(
            signed(month + 1),
            Expiry::At(UNIX_EPOCH + seconds(2_592_001))
        );
        assert_eq!(
            unsigned(u32::MAX),
            Expiry::At(UNIX_EPOCH + seconds(4_294_967_295))
        );
    }

    #[test]
    fn the_time_left_is_given_in_whole_seconds() {
        assert_eq!(left_s(Expiry::Never), None);
        assert_eq!(left_s(Expiry::After(Duration::from_millis(1))), Some(1));
        assert_eq!(left_s(Expiry::After(Duration::from_millis(2000))), Some(2));
        assert_eq!(left_s(Expiry::After(Duration::MAX)), Some(u32::MAX));
        assert_eq!(left_s(Expiry::At(UNIX_EPOCH)), Some(0));
    }
}
