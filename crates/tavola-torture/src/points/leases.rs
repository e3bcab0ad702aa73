//! Leases after a death.

use super::case::Case;
use crate::system::Stopwatch;
use std::time::Duration;
use tavola::{Leased, Result, Table};
use tavola_model::{End, LEASE_ERROR, Op, lease_options};

/// A key that has failed when a case begins.
pub(super) const FAILED: &[u8] = b"failed";
/// How long the lease of a dead one may take to pass on, with what else is to be done first.
const PATIENCE_NS: u64 = 2_000_000_000;

/// Nobody waits for the dead: what they were to compute another may.
pub(super) fn pass_on(table: &Table, case: &Case) -> std::result::Result<(), String> {
    for op in &case.ops {
        let Op::Lease(key, end) = op else { continue };
        let may_fail = matches!(end, End::Fail) || key == FAILED;
        let watch = Stopwatch::start();
        while !is_free(table, key, may_fail).map_err(|error| error.to_string())? {
            if watch.took_ns() > PATIENCE_NS {
                return Err(format!(
                    "the lease of {} does not pass on",
                    key.escape_ascii()
                ));
            }
        }
    }
    Ok(())
}

/// Whether there is a value, a free lease, or a stored failure.
fn is_free(table: &Table, key: &[u8], may_fail: bool) -> Result<bool> {
    Ok(match table.get_or_lease(key, lease_options())? {
        Leased::Hit(_) | Leased::Won(_) | Leased::Stale { lease: Some(_), .. } => true,
        Leased::Stale { lease: None, .. } => {
            std::thread::sleep(Duration::from_millis(1));
            may_fail
        }
        Leased::Failed { error, .. } => may_fail && error == LEASE_ERROR,
        Leased::Wait(pending) => {
            pending.wait(Duration::from_secs(1))?;
            false
        }
    })
}
