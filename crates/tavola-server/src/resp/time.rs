//! Expiry times as clients send and get them.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use tavola::Expiry;

/// The unit of a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unit {
    Seconds,
    Millis,
}

/// What a time is counted from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Origin {
    Now,
    /// 1970.
    Epoch,
}

/// Returns the milliseconds since 1970.
pub(super) fn now_ms() -> i64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    now.map_or(0, |now| i64::try_from(now.as_millis()).unwrap_or(i64::MAX))
}

/// Returns when a key expires for which a client has sent this number, or `None` if that is not a
/// time of 64 bits in milliseconds since 1970.
pub(super) fn expiry(number: i64, unit: Unit, from: Origin) -> Option<Expiry> {
    let ms = match unit {
        Unit::Seconds => number.checked_mul(1000)?,
        Unit::Millis => number,
    };
    if from == Origin::Now {
        ms.checked_add(now_ms())?;
    }
    let time = u64::try_from(ms).ok().filter(|ms| *ms > 0);
    Some(match (time.map(Duration::from_millis), from) {
        (None, _) => Expiry::PAST,
        (Some(time), Origin::Now) => Expiry::After(time),
        (Some(time), Origin::Epoch) => match UNIX_EPOCH.checked_add(time) {
            Some(date) if date > SystemTime::now() => Expiry::At(date),
            Some(_) => Expiry::PAST,
            None => Expiry::Never,
        },
    })
}

/// Returns the milliseconds that are left, or `None` if the key does not expire.
pub(super) fn left_ms(expiry: Expiry) -> Option<i64> {
    let left = match expiry {
        Expiry::After(left) => left,
        Expiry::At(date) => {
            let left = date.duration_since(SystemTime::now());
            left.unwrap_or(Duration::ZERO)
        }
        Expiry::Default | Expiry::Never => return None,
    };
    Some(i64::try_from(left.as_millis()).unwrap_or(i64::MAX))
}

/// Returns seconds, rounded as Redis rounds them.
pub(super) fn in_seconds(ms: i64) -> i64 {
    ms.saturating_add(500) / 1000
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_counted_from_now_or_from_1970() {
        let after = |ms| Some(Expiry::After(Duration::from_millis(ms)));
        assert_eq!(expiry(5, Unit::Seconds, Origin::Now), after(5000));
        assert_eq!(expiry(5, Unit::Millis, Origin::Now), after(5));
        assert_eq!(expiry(0, Unit::Millis, Origin::Now), Some(Expiry::PAST));
        assert_eq!(expiry(-1, Unit::Seconds, Origin::Epoch), Some(Expiry::PAST));
        assert_eq!(expiry(1, Unit::Seconds, Origin::Epoch), Some(Expiry::PAST));
        let date = UNIX_EPOCH + Duration::from_secs(40_000_000_000);
        let found = expiry(40_000_000_000, Unit::Seconds, Origin::Epoch);
        assert_eq!(found, Some(Expiry::At(date)));
        assert_eq!(expiry(i64::MAX / 999, Unit::Seconds, Origin::Epoch), None);
        assert_eq!(expiry(i64::MAX, Unit::Millis, Origin::Now), None);
        assert_eq!(in_seconds(1499), 1);
        assert_eq!(in_seconds(1500), 2);
    }
}
