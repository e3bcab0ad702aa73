//! Leases of keys that are missing or stale: won, filled, failed, given up, kept until death.

use super::case::Case;
use super::held::{Held, Life};
use super::op::{Effect, Op};
use crate::system::Stopwatch;
use std::time::Duration;
use tavola::{LeaseOptions, Leased, Result, Table};

/// A key that has failed when a case begins.
pub(super) const FAILED: &[u8] = b"failed";
const HOUR: Duration = Duration::from_secs(3600);
/// How long the lease of a dead one may take to pass on, with what else is to be done first.
const PATIENCE_NS: u64 = 2_000_000_000;

/// What is done with a lease.
#[derive(Clone, Debug)]
pub(crate) enum End {
    Fill(Vec<u8>),
    Fail,
    GiveUp,
    /// Nothing: it is its owner's until that dies.
    Keep,
}

/// A key that was stored for an hour is stale to these.
fn staler() -> LeaseOptions {
    LeaseOptions::new(HOUR).stale(3 * HOUR).lease(HOUR)
}

/// What fills leave.
fn life() -> Life {
    Life::Hours(4)
}

/// Wins the lease of a key and ends it so; false: it is not to be had.
pub(super) fn apply(table: &Table, key: &[u8], end: &End) -> Result<bool> {
    let lease = match table.get_or_lease(key, staler())? {
        Leased::Won(lease) => lease,
        Leased::Stale {
            lease: Some(lease), ..
        } => lease,
        _ => return Ok(false),
    };
    match end {
        End::Fill(value) => lease.fill(value),
        End::Fail => lease.fail(HOUR, b"no such thing"),
        End::GiveUp => {
            drop(lease);
            Ok(true)
        }
        End::Keep => {
            std::mem::forget(lease);
            Ok(true)
        }
    }
}

/// What it makes of a map.
pub(super) fn effect(key: &[u8], end: &End) -> Effect {
    match end {
        End::Fill(value) => vec![(key.into(), Held::with(value, life(), 0))],
        _ => Effect::new(),
    }
}

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

/// Whether there is a value, or a lease to be had, or that it failed is told.
fn is_free(table: &Table, key: &[u8], may_fail: bool) -> Result<bool> {
    Ok(match table.get_or_lease(key, staler())? {
        Leased::Hit(_) | Leased::Won(_) | Leased::Stale { lease: Some(_), .. } => true,
        Leased::Stale { lease: None, .. } => {
            std::thread::sleep(Duration::from_millis(1));
            may_fail
        }
        Leased::Failed { error, .. } => may_fail && error == b"no such thing",
        Leased::Wait(pending) => {
            pending.wait(Duration::from_secs(1))?;
            false
        }
    })
}
