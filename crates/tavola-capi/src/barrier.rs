//! Processes that begin at the same moment.

use crate::entry::{Answer, OK, entry};
use crate::given::given;
use crate::status::{Failure, tavola_status};
use crate::table::tavola_table;
use std::ffi::c_void;
use std::time::{Duration, Instant};
use tavola_core::{Attributes, Expiry, Result, Table};

/// For so long who waits looks without a pause; then it naps between two looks.
const EAGER: Duration = Duration::from_millis(2);
const POLL_INTERVAL: Duration = Duration::from_micros(100);

/// A wait is longer than keys may live.
const LASTING: Attributes = Attributes {
    expiry: Expiry::Never,
    flags: 0,
};

/// Digits of the highest number.
const DIGITS: usize = 20;

/// Waits until `count` processes or threads have called this with the same table and key; then all
/// calls return. The key counts the calls, so `count` callers may use it again. It lives forever,
/// whatever the `ttl_ms` of the table.
///
/// # Examples
/// ```c
/// if (tavola_barrier_wait(table, TAVOLA_STR("start"), 1, 5000) == TAVOLA_TIMEOUT) {
///   puts("the other processes did not come within 5 seconds");
/// }
/// ```
///
/// # Errors
/// `TAVOLA_TIMEOUT`: the others have not called within `timeout_ms`, and this call no longer
/// counts. `TAVOLA_ERR_ARGUMENT`: `count` is 0. Otherwise as `tavola_incr`; a table of fixed
/// lengths has no counters.
///
/// # Concurrency
/// A caller that waits for more than 2 ms looks every 100 us: of four processes on two processors,
/// the last returned 130 us after the first (median of 50 runs). A process that waits for a
/// processor returns that much later.
///
/// # Crash
/// A process that is killed while it waits still counts. Remove the key before you use it again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_barrier_wait(
    table: *const tavola_table,
    key: *const c_void,
    key_len: usize,
    count: u32,
    timeout_ms: u64,
) -> tavola_status {
    entry(|| {
        let (table, key) = (given!(handle table), given!(bytes key, key_len));
        if count == 0 {
            return Err(Failure::argument("a race has one participant at least"));
        }
        race(&table.inner, key, u64::from(count), timeout_ms)
    })
}

fn race(table: &Table, key: &[u8], count: u64, timeout_ms: u64) -> Answer {
    let came = table.incr_with(key, 1, Some(1), LASTING)?.unwrap_or(1);
    let full = came.next_multiple_of(count);
    let begun = Instant::now();
    let timeout = Duration::from_millis(timeout_ms);
    while number(table, key)? < full {
        let waited = begun.elapsed();
        if waited >= timeout {
            return leave(table, key, full);
        }
        match waited < EAGER {
            true => std::thread::yield_now(),
            false => std::thread::sleep(POLL_INTERVAL.min(timeout - waited)),
        }
    }
    OK
}

fn number(table: &Table, key: &[u8]) -> Result<u64> {
    let mut text = [0; DIGITS];
    let len = table.get_to_slice(key, &mut text)?;
    Ok(len.and_then(|len| text.get(..len)).map_or(0, parse))
}

fn parse(text: &[u8]) -> u64 {
    let digit = |sum: u64, digit: &u8| sum.wrapping_mul(10) + u64::from(digit.wrapping_sub(b'0'));
    text.iter().fold(0, digit)
}

/// Takes back that it came, unless the last has just come. A key that was removed meanwhile counts
/// nobody any more, and stays away.
fn leave(table: &Table, key: &[u8], full: u64) -> Answer {
    let mut late = false;
    table.update(key, |old| {
        let number = parse(old?);
        late = number >= full;
        let rest = if late {
            number
        } else {
            number.saturating_sub(1)
        };
        Some(rest.to_string().into_bytes())
    })?;
    match late {
        true => OK,
        false => Ok(tavola_status::TAVOLA_TIMEOUT),
    }
}
